"""The schema file read and validated."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from dpsql.errors import SchemaError
from dpsql.schema.column import Column
from dpsql.schema.model import Schema
from dpsql.schema.privacy import Analyst, Privacy
from dpsql.schema.table import Table

#: What each level of the file is called in a message, and which model it is read as.
_LEVELS: Mapping[str, tuple[str, type[BaseModel]]] = {
    "tables": ("table", Table),
    "columns": ("column", Column),
    "patterns": ("pattern", Column),
    "analysts": ("analyst", Analyst),
}


def load(path: str | PathLike[str]) -> Schema:
    """The schema of a TOML file; SchemaError names the file, the table, the column and the mend."""
    file = Path(path)
    return loads(read_text(file), file)


def read_text(file: Path) -> str:
    """The text of a schema file; raises SchemaError if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SchemaError(
            f"{file}: there is no such file; `dpsql schema init SOURCE` drafts one"
        ) from None
    except (OSError, UnicodeDecodeError):
        mend = "a schema file is TOML, and `dpsql schema init SOURCE` drafts one"
        raise SchemaError(f"{file}: cannot be read as UTF-8 text; {mend}") from None


def loads(text: str, path: Path | None = None) -> Schema:
    """The schema of a TOML text, with ``path`` as the file it came from."""
    name = str(path or "schema")
    return validated(parsed(text, name), name).read_from(path)


def parsed(text: str, name: str) -> dict[str, Any]:
    """The TOML document; raises SchemaError, with the file's name, if the text is none."""
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"{name}: is not valid TOML: {error}") from None


def validated(document: Mapping[str, Any], name: str) -> Schema:
    """The schema of a parsed TOML document.

    Raises SchemaError with the file's name and a line for each fault.
    """
    try:
        return Schema.model_validate(document)
    except ValidationError as error:
        faults = [f"{name}: {line}" for fault in error.errors() for line in _lines(fault)]
        raise SchemaError("\n".join(faults)) from None


def _lines(fault: Mapping[str, Any]) -> Iterator[str]:
    where, model = _location_of_fault(fault["loc"])
    field = fault["loc"][-1] if fault["loc"] else ""
    match fault["type"]:
        case "extra_forbidden":
            near = get_close_matches(str(field), model.model_fields, n=1)
            mend = (
                f"did you mean `{near[0]}`?"
                if near
                else f"known are {', '.join(model.model_fields)}"
            )
            yield f"{where}: there is no such field; {mend}"
        case "missing":
            described = model.model_fields[str(field)].description or ""
            yield f"{where}: is missing; add it. {described}".rstrip()
        case "model_type" | "model_attributes_type" | "dict_type":
            example = '{ type = "integer" }' if model is Column else "{ field = … }"
            yield f"{where}: must be a table of fields; write it as {example}"
        case _:
            for line in fault["msg"].removeprefix("Value error, ").splitlines():
                yield f"{where}: {line}" if where else line


def _location_of_fault(location: tuple[str | int, ...]) -> tuple[str, type[BaseModel]]:
    """A place in the file in words, and the model that has, or lacks, its last field."""
    words: list[str] = []
    model: type[BaseModel] = Schema
    parts = iter(location)
    for part_name in parts:
        name = next(parts, None) if part_name in _LEVELS and model in (Schema, Table) else None
        if name is not None:
            word, model = _LEVELS[str(part_name)]
            words.append(f"{word} {name}")
        else:
            words.append(str(part_name))
            model = Privacy if location[:1] == ("privacy",) and len(location) > 1 else model
    return ", ".join(words), model
