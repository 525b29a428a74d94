r"""What each backslash command does, ``\\copy`` among them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from dpsql.errors import DataError, Refused
from dpsql.output import OutputRows, chart, plain, reserved, write
from dpsql.repl import describe
from dpsql.repl.command_list import find, listed, nearest
from dpsql.repl.input import BackslashCommand
from dpsql.repl.prices import budget_lines, cost_lines
from dpsql.repl.repl_session import ReplSession
from dpsql.repl.screen import file_errors

#: The style of a file, by what its name ends in.
_STYLES: Final = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".md": "markdown",
    ".parquet": "parquet",
    ".txt": "table",
}
#: Words of COPY that change nothing here.
_IDLE: Final = frozenset({"with", "format", "header", "true"})
_COPY = re.compile(
    r"(?P<what>\(.*\)|[\w.\"]*)\s*\b(?P<way>to|from)\b\s*(?P<file>'[^']+'|[^\s']+)(?P<options>.*)",
    re.IGNORECASE | re.DOTALL,
)


def copy(repl: ReplSession, command: BackslashCommand) -> None:
    """Write one result to the file that the command names, and say so;
    the file is opened before anything is paid.
    """
    match = _COPY.fullmatch(command.argument)
    if match is None:
        raise DataError(
            "write \\copy (SELECT …) TO 'file.csv', or \\copy TO 'file.csv' for the last result"
        )
    if match["way"].lower() == "from":
        raise Refused("E_STMT", "dpsql never changes data: \\copy only writes TO a file")
    file = Path(match["file"].strip("'")).expanduser()
    style = _style_of(match["options"], file)
    rows = repl.rows
    with reserved(None if repl.rules.dry else file):
        if match["what"]:
            source = match["what"].strip()
            text = (
                source[1:-1]
                if source.startswith("(") and source.endswith(")")
                else f"SELECT * FROM {source}"
            )
            if repl.rules.dry:
                return repl.ask(text)
            result = repl.answer(text)
            rows = result.rows
            repl.last = text
            repl.rows = rows
            repl.say_price(result)
        with file_errors(file):
            write(rows, style, repl.display.intervals, file)
    repl.screen.notify(
        f"{len(rows.rows)} {'row' if len(rows.rows) == 1 else 'rows'} written to {file}"
    )


def _style_of(options: str, file: Path) -> str:
    words = [word for word in re.findall(r"[a-z]+", options.lower()) if word not in _IDLE]
    known = set(_STYLES.values())
    if any(word not in known for word in words) or len(words) > 1:
        raise DataError(f"\\copy writes {', '.join(sorted(known))}: WITH (FORMAT csv)")
    return words[0] if words else _STYLES.get(file.suffix.lower(), "csv")


_KEYS: Final = (
    "A dot at the beginning of a line does what a backslash does: .tables, .schema patients, .help, .exit",
    "Statements end with ;         F3 lets Enter run a line without it",
    "Ctrl-C stops a statement      F4 switches to the keys of vi, and back",
    "docs/sql.md says which SQL is answered",
)


def obey(repl: ReplSession, command: BackslashCommand) -> None:
    """Run the command. Raises DataError if it does not exist or fails."""
    described = find(command.name)
    if described is None:
        raise DataError(f"there is no \\{command.name}; {nearest(command.name)}")
    if described.refused:
        raise Refused("E_STMT", f"\\{command.name} is not done: {described.refused}")
    _ACTIONS[described.names[0]](repl, command)


def _d(repl: ReplSession, command: BackslashCommand) -> None:
    if not command.argument:
        return _dt(repl, command)
    for name in describe.named(repl.session.schema, command.argument):
        rows, about = describe.columns(repl.session.schema, name)
        if name != command.argument:
            repl.screen.notify(f"table {name}")
        repl.show_rows(rows)
        for line in about:
            repl.screen.notify(line)


def _dt(repl: ReplSession, command: BackslashCommand) -> None:
    repl.show_rows(
        describe.tables(repl.session.schema, command.argument, repl.session.named.synopses())
    )


def _df(repl: ReplSession, command: BackslashCommand) -> None:
    repl.show_rows(describe.allowed(command.argument))


def _dn(repl: ReplSession, command: BackslashCommand) -> None:
    repl.show_rows(OutputRows.exact(["schema"], [("public",)]))


def _l(repl: ReplSession, command: BackslashCommand) -> None:
    schema = repl.session.schema
    repl.show_rows(OutputRows.exact(["database", "comment"], [(schema.name, schema.comment or "")]))


def _conninfo(repl: ReplSession, command: BackslashCommand) -> None:
    schema = repl.session.schema
    analyst = repl.session.analyst
    repl.screen.notify(
        f'database "{schema.name}" as analyst "{plain(analyst)}"; protected: one {schema.privacy.unit}'
    )


def _budget(repl: ReplSession, command: BackslashCommand) -> None:
    if command.argument not in ("", "details"):
        raise DataError("write \\budget, or \\budget details")
    for line in budget_lines(repl.session, repl.paid, repl.statements, bool(command.argument)):
        repl.screen.notify(line)


def _cost(repl: ReplSession, command: BackslashCommand) -> None:
    for line in cost_lines(repl.explained(_statement(repl, command))):
        repl.screen.notify(line)


def _explain(repl: ReplSession, command: BackslashCommand) -> None:
    word, _, rest = command.argument.partition(" ")
    verbose = word.lower() == "verbose"
    text = _statement(repl, replace(command, argument=rest.strip()) if verbose else command)
    repl.screen.result(f"{replace(repl.explained(text), verbose=verbose)}\n", repl.display.pager)


def _chart(repl: ReplSession, command: BackslashCommand) -> None:
    if command.before:
        repl.ask(command.before, "chart")
        return
    if not repl.rows.names:
        raise DataError("there is no result to draw yet; ask something first")
    repl.screen.result(
        chart(repl.rows, repl.screen.width, command.argument or None), repl.display.pager
    )


def _g(repl: ReplSession, command: BackslashCommand) -> None:
    repl.ask(_statement(repl, command))


def _gx(repl: ReplSession, command: BackslashCommand) -> None:
    repl.ask(_statement(repl, command), "vertical")


def _p(repl: ReplSession, command: BackslashCommand) -> None:
    repl.screen.notify(_statement(repl, command))


def _r(repl: ReplSession, command: BackslashCommand) -> None:
    repl.screen.notify("thrown away; the last statement is kept")


def _e(repl: ReplSession, command: BackslashCommand) -> None:
    import click

    if not repl.screen.interactive:
        raise DataError("\\e needs a terminal")
    editor = os.environ.get("DPSQL_EDITOR") or None
    try:
        if command.argument:
            file = Path(command.argument).expanduser()
            click.edit(filename=str(file), editor=editor)
            with file_errors(file):
                repl.draft = file.read_text(encoding="utf-8")
        else:
            repl.draft = (
                click.edit(command.before or repl.last, editor=editor, extension=".sql") or ""
            )
    except click.ClickException as error:
        raise DataError(error.message) from None


def _i(repl: ReplSession, command: BackslashCommand) -> None:
    repl.run_file(Path(_required(command, "a file")))


def _o(repl: ReplSession, command: BackslashCommand) -> None:
    if command.argument.startswith("|"):
        raise DataError("\\o writes to a file, not to a program")
    repl.screen.write_to(Path(command.argument).expanduser() if command.argument else None)


def _echo(repl: ReplSession, command: BackslashCommand) -> None:
    repl.screen.result(f"{command.argument}\n", False)


def _x(repl: ReplSession, command: BackslashCommand) -> None:
    _set(repl, "expanded", command.argument)


def _timing(repl: ReplSession, command: BackslashCommand) -> None:
    _set(repl, "timing", command.argument)


def _pset(repl: ReplSession, command: BackslashCommand) -> None:
    name, _, value = command.argument.partition(" ")
    if name:
        return _set(repl, name, value.strip())
    for option, text in repl.display.option_texts():
        repl.screen.notify(f"{option:<10} {text}")


def _set(repl: ReplSession, name: str, value: str) -> None:
    repl.display = repl.display.with_option(name.lower(), value)
    repl.screen.notify(f"{name.lower()} is {dict(repl.display.option_texts())[name.lower()]}")


def _help(repl: ReplSession, command: BackslashCommand) -> None:
    lines = [f"{typed:<34} {does}" for typed, does in listed()]
    lines += ["", *_KEYS]
    repl.screen.result("".join(f"{line}\n" for line in lines), repl.display.pager)


def _q(repl: ReplSession, command: BackslashCommand) -> None:
    repl.over = True


def _statement(repl: ReplSession, command: BackslashCommand) -> str:
    """The statement that a command applies to: its argument, the draft before it, or the last one."""
    text = command.before or command.argument or repl.last
    if not text:
        raise DataError(f"which statement? Write it behind \\{command.name}")
    return text


def _required(command: BackslashCommand, argument: str) -> str:
    if not command.argument:
        raise DataError(f"\\{command.name} needs {argument}")
    return command.argument


_ACTIONS: Final[dict[str, Callable[[ReplSession, BackslashCommand], None]]] = {
    "d": _d,
    "dt": _dt,
    "df": _df,
    "dn": _dn,
    "l": _l,
    "conninfo": _conninfo,
    "budget": _budget,
    "cost": _cost,
    "explain": _explain,
    "chart": _chart,
    "g": _g,
    "gx": _gx,
    "p": _p,
    "r": _r,
    "e": _e,
    "i": _i,
    "o": _o,
    "copy": copy,
    "echo": _echo,
    "x": _x,
    "timing": _timing,
    "pset": _pset,
    "?": _help,
    "q": _q,
}
