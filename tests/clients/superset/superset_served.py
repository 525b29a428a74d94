"""dpsql on NAFLD with the budget that the study's schema has, and what Superset makes of it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from servers import POOR, Certificates, Server, dpsql_server
from superset_application import Superset

_SCHEMA = Path(__file__).parents[3] / "schemas" / "nafld.toml"

#: Dates are days after an index date in NAFLD;
#: the dataset counts them from a day that everybody #: may know.
LABS_BY_DATE = (
    "SELECT test, value, patient_id, DATE '2000-01-01' + day AS measured FROM labs WHERE "
    "day BETWEEN 0 AND 3652"
)


@dataclass(frozen=True)
class Served:
    """dpsql on the study, with a ledger of its own and the log of what it was asked."""

    server: Server
    log: Path

    def statements(self) -> int:
        """The number of statements that were answered or refused."""
        return self.log.read_text("utf-8").count(" took=")

    def connections(self) -> int:
        return self.log.read_text("utf-8").count(" connected\n")


@dataclass(frozen=True)
class Datasets:
    """The numbers that Superset gave to the database and to the datasets made of it."""

    database: int
    patients: int
    diagnoses: int
    labs_by_date: int


@contextlib.contextmanager
def serving(folder: Path, data: Path, tls: Certificates) -> Iterator[Served]:
    """`Served` with the schema of the repository, whose budget it keeps,
    and an analyst who can pay for nothing.
    """
    declared = re.sub(
        r"(?m)^source = .*$",
        f'source = "{data}"\nledger = "nafld.ledger"',
        _SCHEMA.read_text("utf-8"),
    )
    schema = folder / "nafld.toml"
    schema.write_text(f"{declared}\n[analysts.{POOR}]\nepsilon = 0.05\n", "utf-8")
    with dpsql_server(schema, tls) as server:
        yield Served(server, schema.with_name("server.log"))


def added(superset: Superset, server: Server) -> Datasets:
    """The database added to Superset, two of its tables as datasets, and a virtual dataset;
    all for nothing.
    """
    with server.charges(0):
        database = superset.add_database(f"NAFLD on port {server.port}", server.url())
        patients = superset.add_dataset(database, "patients")
        diagnoses = superset.add_dataset(database, "diagnoses")
        labs = superset.add_dataset(database, "labs_by_date", LABS_BY_DATE)
    return Datasets(database, patients, diagnoses, labs)
