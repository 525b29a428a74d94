"""What tests of several rooms need: real data, the command,
and noise that is the same each time.
"""

from __future__ import annotations

import gc
import hashlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command_runs import Dpsql, Run
from hypothesis import settings

import dpsql
from dpsql import cli
from dpsql.engines.duckdb import opening
from dpsql.privacy.sampling import entropy

#: Most tests have their engines in this process, which is quicker; DPSQL_ENGINE=process gives each
#: one of its own, as real use has. tests/engines asks both.
opening.OWN_PROCESS = os.environ.get("DPSQL_ENGINE") == "process"

#: A Python that a test starts imports nothing from the folder where it starts:
#: it has the package #: that the tests have.
os.environ["PYTHONSAFEPATH"] = "1"


class Reproducible:
    """What the kernel gives in this process while tests run: bytes of the test's name and
    DPSQL_SEED, so that a test that passed once passes again. Other values of DPSQL_SEED find the
    tests that pass by luck.
    """

    def __init__(self) -> None:
        self.begin("")

    def begin(self, test: str) -> None:
        """The first bytes of this test come next."""
        self.test, self.calls = f"{os.environ.get('DPSQL_SEED', '0')}/{test}", 0

    def urandom(self, n: int) -> bytes:
        self.calls += 1
        return hashlib.shake_256(f"{self.test}/{self.calls}".encode()).digest(n)


KERNEL = Reproducible()
entropy.os = SimpleNamespace(urandom=KERNEL.urandom)  # type: ignore[attr-defined]

#: The examples that Hypothesis draws are the same each time too,
#: and none is refused for the time #: that it takes.
settings.register_profile("dpsql", deadline=None, derandomize="DPSQL_SEED" not in os.environ)
settings.load_profile("dpsql")

#: What tests remember of ledgers; each in a folder of its own.
STATE, NUMBERS = Path(tempfile.mkdtemp(prefix="dpsql-state-")), itertools.count()

TESTS, PROJECT = Path(__file__).parent, Path(__file__).parents[1]
#: The package that is tested: the one that is installed,
#: or this checkout's where the installation #: is editable.
HOME = Path(dpsql.__file__).parent
#: The tests that take three quarters of the time, by their folder: what they try, smaller ones try
#: in part. `pytest` leaves them out and the slow ones, unless a file is named; `pytest -m ""` runs
#: all, and so does `.ci/run`.
_THOROUGH = {
    "attacks": "attacks work_oracles",
    "audit": "audit audit_epsilon audit_lockdown audit_neighbours audit_samplers",
    "benchmarks": "benchmarks_run",
    "cli": "cli_budget cli_ledger cli_tune cli_tune_resumed ctrl_c first_hour",
    "clients": "charts",
    "corpus": "corpus large_price mutations",
    "dbapi": "forks notebooks",
    "docs": "accountants_page",
    "engines": "copied_tables engine_errors process_death process_end process_silent process_stuck public_bounds "
    "read_again slow_openings spilling types versions",
    "planning": "averaged_limits calibration constructs moment_cells targeted",
    "planning/estimators": "around moments",
    "planning/workload": "blocks parallel parallel_blocks",
    "postprocessing": "possible",
    "postprocessing/intervals": "date_intervals interval_coverage",
    "privacy": "privacy_loss_distributions privacy_loss_lattice",
    "privacy/ledger": "ledger_kills ledger_races ledger_server ledger_stuck window_model",
    "privacy/mechanism": "clipping_bound",
    "release": "cube presence",
    "repl": "at_the_prompt",
    "schema": "granularity",
    "server": "crowd deployed fuzz neighbours new_data stuck thousands",
    "server/authentication": "guesses",
    "session": "count_costs database price_range replay responses text_alone",
    "session/answer_store": "answers answers_shared",
    "session/pricing": "expected",
    "sql/analysis": "work",
    "sql/binder": "subquery_ties",
    "sql/faithful": "random_statements relations",
    "sql/functions": "automata total",
}
THOROUGH = {
    f"{folder}/test_{name}.py" for folder, names in _THOROUGH.items() for name in names.split()
}
QUICK = "not slow and not thorough and not clients"
#: The TPC-H scale factor of the tests: about 1,500 customers and 60,000 order lines.
TPCH_SCALE = "0.01"

#: Statements are trees of many small objects:
#: a collection after each 700 of them takes a tenth of #: the tests' time.
gc.set_threshold(50_000, 20, 50)

#: A test's forked child leaves alone what other tests left:
#: it would fault on DuckDB instances that #: they opened.
os.register_at_fork(after_in_child=gc.freeze)


@pytest.fixture(scope="session")
def nafld_folder() -> Path:
    """The packaged NAFLD study as a folder of Parquet."""
    return HOME / "data" / "nafld"


@pytest.fixture(scope="session")
def tpch_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """TPC-H as a folder of Parquet, generated by tpchgen-cli."""
    beside = Path(sys.executable).with_name("tpchgen-cli")
    command = str(beside) if beside.exists() else shutil.which("tpchgen-cli")
    assert command is not None, 'tpchgen-cli is not installed; pip install ".[test]"'
    folder = tmp_path_factory.mktemp("tpch")
    subprocess.run(
        [command, "parquet", "--scale-factor", TPCH_SCALE, "--output-dir", str(folder)],
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's schemas and packaged data, copied, as the working directory:
    no test spends another's budget.
    """
    shutil.copytree(PROJECT / "schemas", tmp_path / "schemas")
    without_ledgers = shutil.ignore_patterns("*.ledger*")
    shutil.copytree(HOME / "data", tmp_path / "dpsql" / "data", ignore=without_ledgers)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(name="dpsql")
def command(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Dpsql:
    """The command in a checkout of its own; ``stdin`` is what is piped into it."""

    def run(*arguments: str, stdin: str = "") -> Run:
        (checkout / "piped").write_text(stdin, encoding="utf-8")
        with (checkout / "piped").open(encoding="utf-8") as piped, monkeypatch.context() as patch:
            patch.setattr("sys.stdin", piped)
            with pytest.raises(SystemExit) as ended:
                cli.commands(list(arguments), prog_name="dpsql")
        streams = capsys.readouterr()
        assert "Traceback" not in streams.out + streams.err
        return Run(int(ended.value.code or 0), streams.out, streams.err)

    return run


def pytest_configure(config: pytest.Config) -> None:
    """Without ``-m`` the quick tests run, or where files are named all of them,
    but for clients that pip lacks.
    """
    assert all((TESTS / file).is_file() for file in THOROUGH), "a thorough test has another place"
    if hasattr(config, "workerinput"):
        config.option.markexpr = config.workerinput["markexpr"]
    elif not any(each.startswith("-m") for each in config.invocation_params.args):
        config.option.markexpr = "not clients" if _are_files(config.args) else QUICK


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """The workers choose as this process does."""
    node.workerinput["markexpr"] = node.config.option.markexpr


def pytest_report_header(config: pytest.Config) -> str | None:
    if config.option.markexpr != QUICK:
        return None
    return (
        'the quick tests, about six minutes on two cores; pytest -m "" runs all, with clients '
        "that pip does not bring"
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    for item in items:
        if os.path.relpath(item.path, TESTS) in THOROUGH:
            item.add_marker("thorough")
    yield
    _keep_part(config, items)


def _keep_part(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of each file keep the tests that ``--part K/N`` names;
    with ``:MARK`` all others too that lack the mark.
    """
    if not (asked := config.getoption("--part")):
        return
    part, _, mark = asked.partition(":")
    first, parts = map(int, part.split("/"))
    seen, kept, left_out = Counter[Path](), list[pytest.Item](), list[pytest.Item]()
    for item in items:
        if mark and item.get_closest_marker(mark) is None:
            kept.append(item)
            continue
        (left_out if (seen[item.path] - first) % parts else kept).append(item)
        seen[item.path] += 1
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Noise begins anew with each test, and what is remembered of ledgers."""
    KERNEL.begin(item.nodeid)
    os.environ["DPSQL_STATE"] = str(STATE / str(next(NUMBERS)))


def pytest_unconfigure() -> None:
    shutil.rmtree(STATE, ignore_errors=True)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """No workers where each argument names a file; otherwise as many as there are cores."""
    return 0 if _are_files(config.args) else None


def _are_files(arguments: list[str]) -> bool:
    return all(argument.partition("::")[0].endswith(".py") for argument in arguments)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--update-golden`` writes anew what statements become and which are refused;
    the difference is to be read.

    ``--part 1/3`` asks a third of each file, and ``--part 1/3:thorough`` of what is thorough alone.
    """
    parser.addoption(
        "--update-golden", action="store_true", help="write golden, refused and corpus files anew"
    )
    parser.addoption(
        "--part",
        metavar="K/N[:MARK]",
        help="of each file, or of its tests with a mark, the tests K, K + N, K + 2 N, …",
    )
