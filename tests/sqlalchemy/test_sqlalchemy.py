"""SQLAlchemy through ``dpsql://``: statements, reflection, prices, pools;
every answer is charged as anywhere else.
"""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest
import sqlalchemy as sa
from forks import exit_code_of_fork
from sqlalchemy.dialects import registry
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    NoSuchTableError,
    NotSupportedError,
    OperationalError,
)
from sqlalchemy.exc import ProgrammingError as AlchemyProgrammingError
from sqlalchemy.pool import NullPool

import dpsql
from dpsql.sqlalchemy import DpsqlDialect

PROJECT = Path(__file__).parents[2]
URL = "dpsql:///schemas/nafld.toml?analyst=ada"

if not entry_points(group="sqlalchemy.dialects", name="dpsql"):  # a checkout that is not installed
    registry.register("dpsql", "dpsql.sqlalchemy", "DpsqlDialect")


@pytest.fixture
def engine(checkout: Path) -> Iterator[sa.Engine]:
    engine = sa.create_engine(URL)
    yield engine
    engine.dispose()


@pytest.fixture
def patients(engine: sa.Engine) -> sa.Table:
    return sa.Table("patients", sa.MetaData(), autoload_with=engine)


def left(engine: sa.Engine) -> Fraction:
    with engine.connect() as connection:
        return dpsql_connection(connection).remaining.epsilon


def dpsql_connection(connection: sa.Connection) -> dpsql.Connection:
    found = connection.connection.dbapi_connection
    assert isinstance(found, dpsql.Connection)
    return found


def test_the_entry_point_is_the_dialect() -> None:
    declared = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "entry-points"
    ]
    points = declared["sqlalchemy.dialects"]
    assert set(points) == {"dpsql", "dpsql.dpsql"}
    for name, value in points.items():
        assert EntryPoint(name, value, "sqlalchemy.dialects").load() is DpsqlDialect


def test_a_grouped_answer_is_charged_once(engine: sa.Engine, patients: sa.Table) -> None:
    mean = sa.func.avg(patients.c.bmi).label("bmi")
    statement = sa.select(patients.c.male, sa.func.count().label("n"), mean).group_by(
        patients.c.male
    )
    before = left(engine)
    with engine.connect() as connection:
        result = connection.execute(statement.where(patients.c.age >= 18).order_by(patients.c.male))
        cursor = result.cursor
        assert isinstance(cursor, dpsql.Cursor) and cursor.price.charged == Fraction(1, 10)
        intervals, rows = cursor.intervals, result.all()
    assert [row.male for row in rows] == [False, True] and list(result.keys()) == [
        "male",
        "n",
        "bmi",
    ]
    for row, (key, of_n, of_bmi) in zip(rows, intervals, strict=True):
        assert key is None and of_n is not None and of_bmi is not None
        assert 6000 < row.n < 10000 and of_bmi[0] <= row.bmi <= of_bmi[1]
    assert left(engine) < before


def test_rows_of_people_are_refused_with_what_to_write(
    engine: sa.Engine, patients: sa.Table
) -> None:
    before = left(engine)
    with engine.connect() as connection, pytest.raises(NotSupportedError) as refused:
        connection.execute(sa.select(patients.c.bmi))
    original = refused.value.orig
    assert (
        isinstance(original, dpsql.Refused)
        and original.sqlstate == "42501"
        and "only aggregates" in str(original)
    )
    assert left(engine) == before


@pytest.mark.parametrize(
    "write",
    [
        lambda patients: patients.insert().values(patient_id=5),
        lambda patients: patients.update().values(age=5),
        lambda patients: patients.delete(),
        lambda patients: sa.schema.CreateTable(
            sa.Table("new", sa.MetaData(), sa.Column("a", sa.Integer))
        ),
        lambda patients: sa.schema.DropTable(patients),
    ],
    ids=["insert", "update", "delete", "create", "drop"],
)
def test_nothing_is_written(engine: sa.Engine, patients: sa.Table, write: object) -> None:
    with engine.begin() as connection, pytest.raises(DBAPIError) as refused:
        connection.execute(write(patients))  # type: ignore[operator]
    assert isinstance(refused.value.orig, (dpsql.Refused, dpsql.StatementError))


def test_reflection_is_the_owners_schema_and_is_free(engine: sa.Engine) -> None:
    before = left(engine)
    inspector = sa.inspect(engine)
    assert inspector.default_schema_name == "public" and inspector.get_schema_names() == ["public"]
    assert inspector.get_table_names() == ["patients", "labs", "diagnoses", "conditions"]
    assert (
        inspector.get_view_names()
        == inspector.get_sequence_names()
        == inspector.get_table_names("other")
        == []
    )
    columns = {column["name"]: column for column in inspector.get_columns("patients")}
    assert (
        isinstance(columns["age"]["type"], sa.BIGINT)
        and columns["age"]["comment"] == "Years at entry"
    )
    assert isinstance(columns["male"]["type"], sa.BOOLEAN) and columns["bmi"]["nullable"] is True
    assert inspector.get_pk_constraint("patients")["constrained_columns"] == ["patient_id"]
    assert inspector.get_pk_constraint("conditions", "public")["constrained_columns"] == [
        "diagnosis"
    ]
    (key,) = inspector.get_foreign_keys("labs")
    assert (key["constrained_columns"], key["referred_table"], key["referred_columns"]) == (
        ["patient_id"],
        "patients",
        ["patient_id"],
    )
    assert inspector.get_indexes("labs") == inspector.get_unique_constraints("labs") == []
    assert inspector.get_table_comment("labs") == {"text": "A laboratory result or measurement"}
    assert inspector.has_table("labs") and not inspector.has_table("ledger")
    for schema, name in ((None, "ledger"), ("other", "other.labs")):
        with pytest.raises(NoSuchTableError, match=f"^{name}$"):
            inspector.get_columns(name.rpartition(".")[2], schema)
    assert left(engine) == before


def test_every_declared_type_is_reflected(checkout: Path) -> None:
    engine = sa.create_engine(f"dpsql:///{_every_type(checkout)}")
    found = {column["name"]: str(column["type"]) for column in sa.inspect(engine).get_columns("t")}
    assert found == {
        "i": "BIGINT",
        "b": "BOOLEAN",
        "n": "NUMERIC(10, 2)",
        "f": "DOUBLE PRECISION",
        "s": "VARCHAR",
        "d": "DATE",
        "t": "TIMESTAMP",
    }
    with engine.connect() as connection:
        table = sa.Table("t", sa.MetaData(), autoload_with=connection)
        row = connection.execute(sa.select(table)).one()
        assert tuple(row) == (
            7,
            True,
            Decimal("1.25"),
            0.5,
            "x",
            date(2020, 2, 29),
            datetime(2020, 2, 29, 12, 30),
        )
        sums = sa.select(
            sa.func.sum(table.c.n), sa.func.sum(table.c.i), sa.cast(table.c.f, sa.Numeric(10, 3))
        )
        assert connection.execute(sums.group_by(table.c.f)).one() == (
            Decimal("1.25"),
            7,
            Decimal("0.500"),
        )


def _every_type(folder: Path) -> Path:
    import duckdb

    with duckdb.connect(str(folder / "types.duckdb")) as owner:
        owner.execute("CREATE TABLE guests (id INTEGER)")
        owner.execute(
            "CREATE TABLE t (i BIGINT, b BOOLEAN, n DECIMAL(10,2), f DOUBLE, s VARCHAR, d DATE, t TIMESTAMP)"
        )
        owner.execute(
            "INSERT INTO t VALUES (7, true, 1.25, 0.5, 'x', '2020-02-29', '2020-02-29 12:30')"
        )
    file = folder / "types.toml"
    file.write_text(
        'name = "types"\nsource = "types.duckdb"\n[privacy]\nunit = "guests.id"\nepsilon = 1\ndelta = 1e-6\n'
        '[tables.guests]\nmax_rows_per_unit = 1\n[tables.guests.columns]\nid = { type = "integer" }\n'
        "[tables.t]\npublic = true\n"
    )
    return file


def test_statements_are_compiled_once(engine: sa.Engine, patients: sa.Table) -> None:
    compiled: list[str] = []
    cached = engine.execution_options(compiled_cache=(cache := {}))
    with cached.connect() as connection:
        for name in ("Stroke", "Hypertension", "no such"):
            conditions = sa.table("conditions", sa.column("name"))
            found = connection.execute(
                sa.select(conditions.c.name).where(conditions.c.name == name)
            ).all()
            compiled += [row.name for row in found]
    assert compiled == ["Stroke", "Hypertension"] and len(cache) == 1


def test_the_price_of_a_connection_goes_back_to_the_pool_unchanged(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        dear = connection.execution_options(dpsql_epsilon=0.25)
        assert dpsql_connection(dear).epsilon == Fraction(1, 4)
        cursor = dear.execute(sa.text("SELECT COUNT(*) FROM patients")).cursor
        assert isinstance(cursor, dpsql.Cursor) and cursor.price.charged == Fraction(1, 4)
    with engine.connect() as connection:
        assert dpsql_connection(connection).epsilon == Fraction(1, 10)
    with pytest.raises(dpsql.DataError), engine.connect() as connection:
        connection.execution_options(dpsql_epsilon=99)


def test_transactions_take_nothing_back(engine: sa.Engine) -> None:
    before = left(engine)
    with engine.connect() as connection:
        assert connection.get_isolation_level() == "AUTOCOMMIT"
        connection.execution_options(isolation_level="AUTOCOMMIT")
        with connection.begin() as transaction:
            connection.execute(sa.text("SELECT COUNT(*) FROM patients")).all()
            transaction.rollback()
    assert left(engine) < before


@pytest.mark.parametrize("pool", [sa.QueuePool, NullPool])
def test_sixteen_threads_share_an_engine(checkout: Path, pool: type[sa.Pool]) -> None:
    sizes = {"pool_size": 16} if pool is sa.QueuePool else {}
    engine = sa.create_engine(URL, poolclass=pool, **sizes)
    start = threading.Barrier(16)

    def ask(_: int) -> int:
        start.wait()
        with engine.connect() as connection:
            text = sa.text("SELECT COUNT(*) FROM patients WHERE age > :age")
            return int(connection.execute(text, {"age": 40}).scalar_one())

    before = left(engine)
    with ThreadPoolExecutor(16) as threads:
        counts = list(threads.map(ask, range(16)))
    assert all(5000 < count < 20000 for count in counts)
    assert left(engine) < before
    engine.dispose()


def test_the_budget_ends_for_everybody(checkout: Path) -> None:
    older = sa.text("SELECT COUNT(*) FROM patients WHERE age > :age")
    with sa.create_engine(URL, execution_options={"dpsql_epsilon": 0.25}).connect() as connection:
        with pytest.raises(OperationalError) as ended:
            for age in range(20, 60):
                connection.execute(older, {"age": age}).all()
        assert isinstance(ended.value.orig, dpsql.BudgetExhausted)
    bob = sa.create_engine(
        "dpsql:///schemas/nafld.toml?analyst=bob", execution_options={"dpsql_epsilon": 0.25}
    )
    with bob.connect() as connection:
        with pytest.raises(OperationalError):
            connection.execute(older, {"age": 99}).all()
        assert connection.execute(older, {"age": 20}).scalar_one() > 0  # was paid for by another


def test_a_fork_connects_again(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        connection.execute(sa.text("SELECT 1"))

    def connect_again() -> None:
        with engine.connect() as connection, pytest.raises(DBAPIError) as refused:
            connection.execute(sa.text("SELECT 1"))
        with engine.connect() as connection:
            answer = connection.execute(sa.text("SELECT 1")).scalar_one()
        assert refused.value.connection_invalidated and answer == 1

    assert exit_code_of_fork(connect_again) == 0


def test_a_pool_that_asks_first_gets_a_connection_that_lives(checkout: Path) -> None:
    engine = sa.create_engine(URL, pool_pre_ping=True)
    with engine.connect() as connection:
        connection.execute(sa.text("SELECT 1"))
        stale = dpsql_connection(connection)
    stale.close()
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT 1")).scalar_one() == 1


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("dpsql://schemas/nafld.toml", "three slashes"),
        ("dpsql://", "schema file"),
        ("dpsql:///schemas/nafld.toml?epsilon=5", "no option 'epsilon'"),
        ("dpsql://ada@/schemas/nafld.toml?analyst=bob", "once"),
        ("dpsql:///schemas/nafld.toml?analyst=a&analyst=b", "once"),
    ],
)
def test_an_address_that_says_something_else_is_refused(
    checkout: Path, url: str, said: str
) -> None:
    with pytest.raises(ArgumentError, match=said):
        sa.create_engine(url).connect()


def test_the_user_of_an_address_is_the_analyst(checkout: Path) -> None:
    with sa.create_engine("dpsql://bob@/schemas/nafld.toml").connect() as connection:
        assert dpsql_connection(connection).analyst == "bob"
    with pytest.raises(DBAPIError, match="there is no such file"):
        sa.create_engine("dpsql:///schemas/missing.toml").connect()


def test_words_that_duckdb_reserves_are_quoted(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        words = sa.select(
            *(
                sa.literal(place).label(word)
                for place, word in enumerate(("qualify", "pivot", "show"))
            )
        )
        assert connection.execute(words).one()._asdict() == {"qualify": 0, "pivot": 1, "show": 2}
        with pytest.raises(AlchemyProgrammingError):
            connection.execute(sa.text("SELECT nowhere FROM conditions"))
