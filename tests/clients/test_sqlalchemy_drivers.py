"""SQLAlchemy's own PostgreSQL dialect over four drivers: Core, ORM, streams and its Inspector."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from client_statements import TESTS, count, counts, near
from servers import Server
from sqlalchemy import orm
from sqlalchemy.ext.asyncio import create_async_engine

DRIVERS = ("psycopg", "psycopg2", "pg8000")


@pytest.fixture(params=DRIVERS)
def engine(server: Server, request: pytest.FixtureRequest) -> Iterator[sa.Engine]:
    engine = sa.create_engine(server.url(f"postgresql+{request.param}"))
    yield engine
    engine.dispose()


def test_connecting_costs_nothing(server: Server, engine: sa.Engine) -> None:
    with server.charges(0), engine.connect() as connection:
        assert connection.dialect.server_version_info >= (15,)  # type: ignore[operator]
        assert connection.dialect.default_schema_name == "public"
        assert connection.get_isolation_level() == "READ COMMITTED"
        assert connection.scalar(sa.select(1)) == 1


def test_core(server: Server, engine: sa.Engine) -> None:
    labs = sa.table("labs", sa.column("test"), sa.column("day"), sa.column("value"))
    n = sa.func.count().label("n")
    wanted = (
        sa.select(labs.c.test, n, sa.cast(sa.func.avg(labs.c.value), sa.Float).label("mean"))
        .where(labs.c.day > -8000 - server.fresh(), labs.c.test.in_(["hdl", "sbp"]))
        .group_by(labs.c.test)
        .having(n > 5)
        .order_by(n.desc())
        .limit(1)
    )
    with server.charges(1), engine.connect() as connection:
        rows = connection.execute(wanted).all()
    assert len(rows) == 1 and rows[0].test in ("hdl", "sbp") and rows[0].n > 10_000


def test_the_orm(server: Server, engine: sa.Engine) -> None:
    class Base(orm.DeclarativeBase):
        pass

    class Patient(Base):
        __tablename__ = "patients"
        patient_id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
        age: orm.Mapped[int]
        male: orm.Mapped[bool]

    class Lab(Base):
        __tablename__ = "labs"
        patient_id: orm.Mapped[int] = orm.mapped_column(
            sa.ForeignKey("patients.patient_id"), primary_key=True
        )
        test: orm.Mapped[str] = orm.mapped_column(primary_key=True)

    with server.charges(2), orm.Session(engine) as session:
        number = server.fresh()
        assert near(
            session.scalar(
                sa.select(sa.func.count()).select_from(Patient).where(Patient.age > -number)
            )
        )
        joined = (
            sa.select(Patient.male, sa.func.count())
            .join(Lab)
            .where(Lab.test == "hdl", Patient.age > -number)
        )
        assert len(session.execute(joined.group_by(Patient.male)).all()) == 2


def test_streams(server: Server, engine: sa.Engine) -> None:
    with (
        server.charges(1),
        engine.connect().execution_options(stream_results=True, max_row_buffer=1) as connection,
    ):
        assert [row.test for row in connection.execute(sa.text(counts(server.fresh())))] == list(
            TESTS
        )


def test_savepoints(server: Server, engine: sa.Engine) -> None:
    with server.charges(1), engine.begin() as connection:
        with pytest.raises(sa.exc.DBAPIError), connection.begin_nested():
            connection.execute(sa.text("SELECT COUNT(*) FROM no_such_table"))
        assert near(connection.scalar(sa.text(count(server.fresh()))))


def test_a_connection_that_is_only_for_reading(server: Server, engine: sa.Engine) -> None:
    options = {"isolation_level": "REPEATABLE READ"}
    if engine.driver != "pg8000" or not server.private:
        options["postgresql_readonly"] = True  # type: ignore[assignment]
    with engine.connect().execution_options(**options) as connection:
        assert connection.scalar(sa.text("SHOW transaction_isolation")) in (
            "repeatable read",
            "read committed",
        )


def test_the_inspector_tells_what_the_schema_declares(server: Server, engine: sa.Engine) -> None:
    with server.charges(0):
        inspector = sa.inspect(engine)
        assert inspector.default_schema_name == "public"
        assert "public" in inspector.get_schema_names()
        assert sorted(inspector.get_table_names()) == [
            "conditions",
            "diagnoses",
            "labs",
            "patients",
        ]
        assert inspector.get_view_names() == []
        assert inspector.has_table("labs") and not inspector.has_table("lab")
        columns = {each["name"]: each for each in inspector.get_columns("patients")}
        names = "patient_id age male weight height bmi case_id followup_days died"
        assert list(columns) == names.split()
        assert isinstance(columns["age"]["type"], sa.BIGINT) and isinstance(
            columns["male"]["type"], sa.BOOLEAN
        )
        assert repr(columns["bmi"]["type"]) == "NUMERIC(precision=5, scale=2)"
        assert columns["bmi"]["nullable"] and not columns["age"]["nullable"]
        assert columns["bmi"]["comment"] == "Kilograms per square metre"
        assert inspector.get_table_comment("labs") == {"text": "A laboratory result or measurement"}
        assert inspector.get_pk_constraint("patients")["constrained_columns"] == ["patient_id"]
        foreign = {
            each["constrained_columns"][0]: each for each in inspector.get_foreign_keys("diagnoses")
        }
        assert {name: each["referred_table"] for name, each in foreign.items()} == {
            "patient_id": "patients",
            "diagnosis": "conditions",
        }
        assert (
            inspector.get_unique_constraints("labs") == []
            and inspector.get_check_constraints("labs") == []
        )
        assert inspector.get_indexes("labs") == []


def test_all_tables_are_reflected_at_once(server: Server, engine: sa.Engine) -> None:
    with server.charges(0):
        found = sa.MetaData()
        found.reflect(engine, views=True)
    assert sorted(found.tables) == ["conditions", "diagnoses", "labs", "patients"]
    assert [column.name for column in found.tables["patients"].primary_key] == ["patient_id"]
    joined = sa.select(sa.func.count().label("n")).select_from(
        found.tables["labs"].join(found.tables["patients"])
    )
    with server.charges(1), engine.connect() as connection:
        assert (
            connection.scalar(joined.where(found.tables["labs"].c.day > -9000 - server.fresh()))
            > 100_000
        )


def test_asyncpg_through_sqlalchemy(server: Server) -> None:
    async def whole() -> None:
        engine = create_async_engine(server.url("postgresql+asyncpg"))
        async with engine.connect() as connection:
            with server.charges(1):
                rows = (await connection.execute(sa.text(counts(server.fresh())))).all()
            assert [row.test for row in rows] == list(TESTS)
            with server.charges(0):
                names = await connection.run_sync(
                    lambda plain: sa.inspect(plain).get_columns("labs")
                )
            assert [each["name"] for each in names] == ["patient_id", "day", "test", "value"]
        await engine.dispose()

    asyncio.run(whole())
