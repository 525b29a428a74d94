"""A server that loads its application and then forks: the child may drop,
close and leave what it inherits.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

#: DuckDB's threads are not in the child,
#: and taking an instance down there without care is a #: segmentation fault.
_OPENED = """
import gc, os, sys
import sqlalchemy as sa
from sqlalchemy.dialects import registry
import dpsql
from dpsql.server.catalogue.store.catalogue_store import CatalogueStore, store_of
from dpsql.session.database import open_database

registry.register("dpsql", "dpsql.sqlalchemy", "DpsqlDialect")
SQL = "SELECT male, COUNT(*) FROM patients GROUP BY male"
engine = sa.create_engine("dpsql:///schemas/nafld.toml?analyst=ada")
with engine.connect() as found:
    found.execute(sa.text(SQL)).all()
connection = dpsql.connect("schemas/nafld.toml", analyst="ada")
rows = connection.execute(SQL).fetchall()
database = open_database("schemas/nafld.toml")
store = CatalogueStore(database.schema, "nafld")
store_of(database.schema, "nafld")  # the process closes it at its end
child = os.fork()
if child:
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert connection.execute(SQL).fetchall() == rows
    assert connection.execute(f"{SQL} ORDER BY 1 DESC, COUNT(*)").fetchall()  # paid for, and read
    assert connection.execute(SQL.replace("COUNT(*)", "COUNT(*), AVG(age)")).fetchall()
    sys.exit(status)
"""

_ANSWERED = """
assert dpsql.connect("schemas/nafld.toml", analyst="ada").execute(SQL).fetchall() == rows
"""


@pytest.mark.parametrize(
    "then",
    [
        "pass",
        "connection.close(); database.close(); store.close()",
        "del connection, database, store, engine; gc.collect()",
        "engine.dispose(); connection.close(); del connection; gc.collect()",
    ],
    ids=["leaves", "closes", "drops", "disposes"],
)
def test_a_fork_ends_as_it_should(checkout: Path, then: str) -> None:
    script = "\n".join((_OPENED, then, _ANSWERED))
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=checkout, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
