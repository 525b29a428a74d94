"""Completes statements and backslash commands from the schema and the allow-lists alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from dpsql.repl.command_list import COMMANDS
from dpsql.repl.display import OPTIONS
from dpsql.repl.input import split
from dpsql.schema import Schema, Value

_NAME = r'(?:"[^"]*"|[A-Za-z_][A-Za-z_0-9]*)'
_SOURCE = re.compile(
    rf"\b(?:from|join)\s+(?:\w+\.)?({_NAME})(?:\s+(?:as\s+)?({_NAME}))?", re.IGNORECASE
)
_AFTER_TABLE_WORD = re.compile(r"\b(?:from|join)\s+[\w\"]*\Z", re.IGNORECASE)
_QUALIFIED = re.compile(rf"({_NAME})\.([A-Za-z_0-9]*)\Z")
_SETTING = re.compile(r"^\s*(?:set|show|reset)\s+([\w.]*)\Z", re.IGNORECASE)
_COMPARED = re.compile(
    rf"(?:({_NAME})\.)?({_NAME})\s*(?:=|<>|!=|\bnot\s+in\s*\(|\bin\s*\()(?:\s*(?:'[^']*'|[\w.]+)\s*,)*\s*('[^']*|[\w.-]*)\Z",
    re.IGNORECASE,
)
_SWITCHES = ("on", "off")


class SchemaCompleter(Completer):
    """Completes tables, columns, declared values, functions,
    settings and commands of the schema of now.
    """

    def __init__(self, current: Callable[[], Schema]) -> None:
        self._current = current
        self._paths = PathCompleter(expanduser=True)

    @property
    def _schema(self) -> Schema:
        return self._current()

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """The completions at the cursor, the likeliest first."""
        from dpsql.session.request.completion_words import SHOWN

        before = split(document.text_before_cursor)[1]
        if _is_command(document, before):
            yield from self._of_command(document, complete_event)
            return
        setting = _SETTING.match(before)
        if setting is not None:
            yield from _matching(setting[1], SHOWN, "setting")
            return
        yield from self._of_statement(before, document.text)

    def _of_statement(self, before: str, statement: str) -> Iterator[Completion]:
        from dpsql.session.request.completion_words import KEYWORDS, functions

        sources = self._sources(statement)
        values = list(self._values(before, sources))
        if values or _inside_text(before):
            yield from values
            return
        if _AFTER_TABLE_WORD.search(before):
            yield from _matching(
                _last_word(before), (*self._schema.tables, "dpsql.budget"), "table"
            )
            return
        qualified = _QUALIFIED.search(before)
        if qualified is not None:
            name = qualified[1].strip('"').lower()
            # A table's own name is completed before it stands behind FROM.
            table = sources.get(name, name)
            yield from self._columns([table] if table in self._schema.tables else [], qualified[2])
            return
        typed = _last_word(before)
        if not typed and not before.endswith((" ", "(", ",")):
            return
        yield from self._columns(
            list(dict.fromkeys(sources.values())) or list(self._schema.tables), typed
        )
        if typed:
            yield from _matching(typed, self._schema.tables, "table")
            yield from _matching(typed, KEYWORDS, "keyword", upper=not typed.islower())
            calls = [f"{function.name}(" for function in functions()]
            yield from _matching(typed, calls, "function", upper=not typed.islower())

    def _sources(self, text: str) -> dict[str, str]:
        """The tables of the statement, by name and alias."""
        from dpsql.session.request.completion_words import KEYWORDS

        result: dict[str, str] = {}
        for name, alias in _SOURCE.findall(text):
            table = name.strip('"').lower()
            if table in self._schema.tables:
                result[table] = table
                if alias and alias.upper() not in KEYWORDS:
                    result[alias.strip('"').lower()] = table
        return result

    def _columns(self, tables: Sequence[str], typed: str) -> Iterator[Completion]:
        offered: set[str] = set()
        for table in tables:
            for name, column in self._schema.tables[table].columns.items():
                if name not in offered and name.startswith(typed.lower()):
                    offered.add(name)
                    yield Completion(
                        _quoted(name), -len(typed), display_meta=f"{column.type} · {table}"
                    )

    def _values(self, before: str, sources: dict[str, str]) -> Iterator[Completion]:
        """The declared values of the column that is compared at the cursor."""
        compared = _COMPARED.search(before)
        if compared is None:
            return
        alias, name, typed = compared.groups()
        tables = (
            [sources.get(alias.strip('"').lower())]
            if alias
            else list(dict.fromkeys(sources.values()))
        )
        for table in tables:
            column = self._schema.tables[table].column(name.strip('"')) if table else None
            for value in column.values or () if column is not None else ():
                literal = _literal(value)
                if literal.lower().startswith(typed.lower()):
                    yield Completion(literal, -len(typed), display_meta=f"value of {name}")

    def _of_command(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        line = document.current_line_before_cursor.lstrip()
        name, blank, rest = line[1:].partition(" ")
        if not blank:
            for command in COMMANDS:
                for other in command.names:
                    if other.startswith(name):
                        yield Completion(f"{line[0]}{other}", -len(line), display_meta=command.help)
            return
        match name:
            case "d" | "dt" | "schema" | "tables":
                yield from _matching(rest, self._schema.tables, "table")
            case "pset":
                yield from _of_pset(rest)
            case "x" | "timing":
                yield from _matching(rest, (*_SWITCHES, "auto") if name == "x" else _SWITCHES, "")
            case "i" | "o" | "e":
                yield from self._paths.get_completions(Document(rest), event)
            case "cost" | "explain" | "copy":
                words = (
                    re.sub(r"^verbose\s+", "", rest, flags=re.IGNORECASE)
                    if name == "explain"
                    else rest
                )
                yield from self._of_statement(words, words)
            case _:
                return


def _is_command(document: Document, before: str) -> bool:
    """Whether the cursor is in a command: after a backslash, or after a dot that starts a statement."""
    line = document.current_line_before_cursor.lstrip()
    return line.startswith("\\") or (line.startswith(".") and before.strip() in ("", "."))


def _of_pset(rest: str) -> Iterator[Completion]:
    from dpsql.output import STYLES

    option, blank, value = rest.partition(" ")
    if not blank:
        yield from _matching(option, OPTIONS, "option")
    elif option == "format":
        yield from _matching(value, [style for style in STYLES if style != "parquet"], "format")
    elif option == "expanded":
        yield from _matching(value, (*_SWITCHES, "auto"), "")
    elif option == "ask":
        yield from _matching(value, ("off",), "")
    elif option != "null":
        yield from _matching(value, _SWITCHES, "")


def _matching(
    typed: str, words: Iterable[str], kind: str, upper: bool = False
) -> Iterator[Completion]:
    for word in words:
        if word.lower().startswith(typed.lower()):
            yield Completion(
                word.upper() if upper else word.lower(), -len(typed), display_meta=kind
            )


def _last_word(before: str) -> str:
    match = re.search(r"[A-Za-z_0-9]*\Z", before)
    return match[0] if match else ""


def _inside_text(before: str) -> bool:
    """Whether the cursor is inside a string or a comment, where nothing is completed."""
    bare = re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"", "", before)
    return (
        "'" in bare
        or '"' in bare
        or "--" in bare.rpartition("\n")[2]
        or bare.count("/*") > bare.count("*/")
    )


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[a-z_][a-z_0-9]*", name) else f'"{name}"'


def _literal(value: Value) -> str:
    match value:
        case bool() | int():
            return str(value).lower()
        case str():
            return "'" + value.replace("'", "''") + "'"
        case _:
            return str(value) if not hasattr(value, "isoformat") else f"'{value.isoformat()}'"
