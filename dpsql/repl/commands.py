r"""What each backslash command does, ``\\copy`` among them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from dpsql.errors import DataError, Refused
from dpsql.output import Rows, chart, plain, reserved, write
from dpsql.repl import describe
from dpsql.repl.budget_display import budget_lines, cost_lines
from dpsql.repl.command_list import find, listed, nearest
from dpsql.repl.input import Command
from dpsql.repl.repl_session import ReplSession
from dpsql.repl.screen import said_of

#: The style of a file, by what its name ends in.
_STYLES: Final = {
    ".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".md": "markdown",
    ".parquet": "parquet", ".txt": "table",
}  # fmt: skip
#: Words of COPY that change nothing here.
_IDLE: Final = frozenset({"with", "format", "header", "true"})
_COPY = re.compile(
    r"(?P<what>\(.*\)|[\w.\"]*)\s*\b(?P<way>to|from)\b\s*(?P<file>'[^']+'|[^\s']+)(?P<options>.*)",
    re.IGNORECASE | re.DOTALL,
)


def copy(talk: ReplSession, command: Command) -> None:
    """Write one result to the file that the command names, and say so; the file is opened before anything is paid."""
    found = _COPY.fullmatch(command.argument)
    if found is None:
        raise DataError("write \\copy (SELECT …) TO 'file.csv', or \\copy TO 'file.csv' for the last result")
    if found["way"].lower() == "from":
        raise Refused("E_STMT", "dpsql never changes data: \\copy only writes TO a file")
    file = Path(found["file"].strip("'")).expanduser()
    style, rows = _style_of(found["options"], file), talk.rows
    with reserved(None if talk.rules.dry else file):
        if found["what"]:
            what = found["what"].strip()
            text = what[1:-1] if what.startswith("(") and what.endswith(")") else f"SELECT * FROM {what}"
            if talk.rules.dry:
                return talk.ask(text)
            answer = talk.answer(text)
            talk.last, rows = text, answer.rows
            talk.rows = rows
            talk.say_price(answer)
        with said_of(file):
            write(rows, style, talk.display.intervals, file)
    talk.screen.says(f"{len(rows.rows)} {'row' if len(rows.rows) == 1 else 'rows'} written to {file}")


def _style_of(options: str, file: Path) -> str:
    words = [word for word in re.findall(r"[a-z]+", options.lower()) if word not in _IDLE]
    known = set(_STYLES.values())
    if any(word not in known for word in words) or len(words) > 1:
        raise DataError(f"\\copy writes {', '.join(sorted(known))}: WITH (FORMAT csv)")
    return words[0] if words else _STYLES.get(file.suffix.lower(), "csv")


_KEYS: Final = (
    "Statements end with ;         F3 lets Enter run a line without it",
    "Ctrl-C stops a statement      F4 switches to the keys of vi, and back",
    "docs/sql.md says which SQL is answered",
)


def obey(talk: ReplSession, command: Command) -> None:
    """Do what the command says; DataError where it does not exist or cannot be done."""
    described = find(command.name)
    if described is None:
        raise DataError(f"there is no \\{command.name}; {nearest(command.name)}")
    if described.refused:
        raise Refused("E_STMT", f"\\{command.name} is not done: {described.refused}")
    _ACTIONS[described.names[0]](talk, command)


def _d(talk: ReplSession, command: Command) -> None:
    if not command.argument:
        return _dt(talk, command)
    for name in describe.named(talk.session.schema, command.argument):
        rows, about = describe.columns(talk.session.schema, name)
        if name != command.argument:
            talk.screen.says(f"table {name}")
        talk.show_rows(rows)
        for line in about:
            talk.screen.says(line)


def _dt(talk: ReplSession, command: Command) -> None:
    talk.show_rows(describe.tables(talk.session.schema, command.argument))


def _df(talk: ReplSession, command: Command) -> None:
    talk.show_rows(describe.allowed(command.argument))


def _dn(talk: ReplSession, command: Command) -> None:
    talk.show_rows(Rows.exact(["schema"], [("public",)]))


def _l(talk: ReplSession, command: Command) -> None:
    schema = talk.session.schema
    talk.show_rows(Rows.exact(["database", "comment"], [(schema.name, schema.comment or "")]))


def _conninfo(talk: ReplSession, command: Command) -> None:
    schema, analyst = talk.session.schema, talk.session.analyst
    talk.screen.says(f'database "{schema.name}" as analyst "{plain(analyst)}"; protected: one {schema.privacy.unit}')


def _budget(talk: ReplSession, command: Command) -> None:
    for line in budget_lines(talk.session, talk.paid, talk.statements):
        talk.screen.says(line)


def _cost(talk: ReplSession, command: Command) -> None:
    for line in cost_lines(talk.explained(_statement(talk, command))):
        talk.screen.says(line)


def _explain(talk: ReplSession, command: Command) -> None:
    talk.screen.result(f"{talk.explained(_statement(talk, command))}\n", talk.display.pager)


def _chart(talk: ReplSession, command: Command) -> None:
    if command.before:
        talk.ask(command.before, "chart")
        return
    if not talk.rows.names:
        raise DataError("there is no result to draw yet; ask something first")
    talk.screen.result(chart(talk.rows, talk.screen.width, command.argument or None), talk.display.pager)


def _g(talk: ReplSession, command: Command) -> None:
    talk.ask(_statement(talk, command))


def _gx(talk: ReplSession, command: Command) -> None:
    talk.ask(_statement(talk, command), "vertical")


def _p(talk: ReplSession, command: Command) -> None:
    talk.screen.says(_statement(talk, command))


def _r(talk: ReplSession, command: Command) -> None:
    talk.screen.says("thrown away; the last statement is kept")


def _e(talk: ReplSession, command: Command) -> None:
    import click

    if not talk.screen.interactive:
        raise DataError("\\e needs a terminal")
    editor = os.environ.get("DPSQL_EDITOR") or None
    try:
        if command.argument:
            file = Path(command.argument).expanduser()
            click.edit(filename=str(file), editor=editor)
            with said_of(file):
                talk.draft = file.read_text(encoding="utf-8")
        else:
            talk.draft = click.edit(command.before or talk.last, editor=editor, extension=".sql") or ""
    except click.ClickException as error:
        raise DataError(error.message) from None


def _i(talk: ReplSession, command: Command) -> None:
    talk.run_file(Path(_required(command, "a file")))


def _o(talk: ReplSession, command: Command) -> None:
    if command.argument.startswith("|"):
        raise DataError("\\o writes to a file, not to a program")
    talk.screen.write_to(Path(command.argument).expanduser() if command.argument else None)


def _echo(talk: ReplSession, command: Command) -> None:
    talk.screen.result(f"{command.argument}\n", False)


def _x(talk: ReplSession, command: Command) -> None:
    _set(talk, "expanded", command.argument)


def _timing(talk: ReplSession, command: Command) -> None:
    _set(talk, "timing", command.argument)


def _pset(talk: ReplSession, command: Command) -> None:
    name, _, value = command.argument.partition(" ")
    if name:
        return _set(talk, name, value.strip())
    for option, said in talk.display.said():
        talk.screen.says(f"{option:<10} {said}")


def _set(talk: ReplSession, name: str, value: str) -> None:
    talk.display = talk.display.with_option(name.lower(), value)
    talk.screen.says(f"{name.lower()} is {dict(talk.display.said())[name.lower()]}")


def _help(talk: ReplSession, command: Command) -> None:
    lines = [f"{typed:<34} {does}" for typed, does in listed()]
    lines += ["", *_KEYS]
    talk.screen.result("".join(f"{line}\n" for line in lines), talk.display.pager)


def _q(talk: ReplSession, command: Command) -> None:
    talk.over = True


def _statement(talk: ReplSession, command: Command) -> str:
    """The statement that a command means: behind it, before it, or the last one."""
    text = command.before or command.argument or talk.last
    if not text:
        raise DataError(f"which statement? Write it behind \\{command.name}")
    return text


def _required(command: Command, what: str) -> str:
    if not command.argument:
        raise DataError(f"\\{command.name} needs {what}")
    return command.argument


_ACTIONS: Final[dict[str, Callable[[ReplSession, Command], None]]] = {
    "d": _d, "dt": _dt, "df": _df, "dn": _dn, "l": _l, "conninfo": _conninfo, "budget": _budget, "cost": _cost,
    "explain": _explain, "chart": _chart, "g": _g, "gx": _gx, "p": _p, "r": _r, "e": _e, "i": _i, "o": _o,
    "copy": copy, "echo": _echo, "x": _x, "timing": _timing, "pset": _pset, "?": _help, "q": _q,
}  # fmt: skip
