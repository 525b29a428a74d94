"""The prompt does not wait for the compiler or the engine,
which load while a person reads and types.
"""

from __future__ import annotations

import subprocess
import sys

BEFORE_THE_PROMPT = "import dpsql.cli, dpsql.repl.run, dpsql.repl.prompt, dpsql.schema"


def test_what_is_slow_to_import_comes_after_the_prompt() -> None:
    script = f"{BEFORE_THE_PROMPT}, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert not {"sqlglot", "duckdb", "numpy", "cli_helpers"} & set(loaded.stdout.split())


def test_dpsql_itself_loads_nothing_of_the_terminal() -> None:
    script = "import dpsql, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert not {"prompt_toolkit", "pygments", "cli_helpers", "rich", "click"} & set(
        loaded.stdout.split()
    )
