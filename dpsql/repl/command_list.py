"""The backslash commands: their names, what follows them, and what they do in one line."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True)
class CommandHelp:
    """One backslash command as ``\\?`` shows it; those that are refused say why in ``refused``."""

    names: tuple[str, ...]
    argument: str
    help: str
    refused: str = ""


COMMANDS = (
    CommandHelp(("d", "schema"), "[PATTERN]", "tables, or the columns of those that fit"),
    CommandHelp(("dt", "tables"), "[PATTERN]", "tables"),
    CommandHelp(("df",), "[PATTERN]", "functions that are allowed"),
    CommandHelp(("dn",), "", "schemas"),
    CommandHelp(("l",), "", "databases: this one"),
    CommandHelp(("conninfo",), "", "which database, and as whom"),
    CommandHelp(
        ("budget",), "[details]", "what is left, in answers; with details in ε, ρ and δ too"
    ),
    CommandHelp(("cost",), "[SQL]", "the price and the expected error of a statement, at no cost"),
    CommandHelp(
        ("explain",),
        "[verbose] [SQL]",
        "price, errors, what is hidden; verbose: SQL and noise, too",
    ),
    CommandHelp(
        ("chart",), "[COLUMN]", "the last result, or the statement before it, drawn with error bars"
    ),
    CommandHelp(("g",), "", "run the statement before it, or the last one again"),
    CommandHelp(("gx",), "", "the same, with one record under the other"),
    CommandHelp(("p",), "", "print the statement before it, or the last one"),
    CommandHelp(("r",), "", "throw away what is typed so far"),
    CommandHelp(("e",), "[FILE]", "edit the last statement, or a file, in $EDITOR"),
    CommandHelp(("i",), "FILE", "run the statements of a file"),
    CommandHelp(("o",), "[FILE]", "write results to a file; without one, to the terminal again"),
    CommandHelp(
        ("copy",),
        "(SELECT …) TO 'FILE'",
        "write one result as CSV, TSV, JSON, JSONL, Markdown or Parquet",
    ),
    CommandHelp(("echo",), "TEXT", "print the text"),
    CommandHelp(("x",), "[on|off|auto]", "records under one another instead of a table"),
    CommandHelp(("timing",), "[on|off]", "say how long statements take"),
    CommandHelp(
        ("pset",), "[OPTION [VALUE]]", "show or change a setting: format, intervals, ask, pager …"
    ),
    CommandHelp(
        ("watch",),
        "",
        "refused",
        "each round would spend budget; run the statement again when you need it",
    ),
    CommandHelp(("?", "h", "help"), "", "this list"),
    CommandHelp(("q", "quit", "exit"), "", "leave; so does Ctrl-D"),
)

#: Commands that use the statement in front of them, or end it.
_ENDING = frozenset({"cost", "explain", "chart", "g", "gx", "r", "e", "watch"})
_BY_NAME = {name: command for command in COMMANDS for name in command.names}


def find(name: str) -> CommandHelp | None:
    """The command of that name, or None.

    >>> find("dt").help
    'tables'
    """
    return _BY_NAME.get(name)


def ends_statement(name: str) -> bool:
    """Whether the command uses up an unfinished statement before it.

    Otherwise the statement continues after the command.

    >>> ends_statement("g"), ends_statement("timing")
    (True, False)
    """
    command = find(name)
    return command is not None and command.names[0] in _ENDING


def nearest(name: str) -> str:
    """The advice for a command that does not exist.

    >>> nearest("timming")
    'try \\\\timing; \\\\? lists all commands'
    """
    close = get_close_matches(name, _BY_NAME, n=1)
    return (f"try \\{close[0]}; " if close else "") + "\\? lists all commands"


def listed() -> list[tuple[str, str]]:
    """Each command as it is typed, and what it does."""
    return [
        (f"\\{command.names[0]} {command.argument}".rstrip(), command.help or command.refused)
        for command in COMMANDS
    ]
