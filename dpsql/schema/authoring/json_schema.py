"""The published JSON Schema of the schema file."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from dpsql.schema.model import Schema


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the schema file, for editors that complete and check TOML."""
    document = _as_toml(Schema.model_json_schema(schema_generator=_ExactDefaults))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **document, "title": "dpsql schema file"}


class _ExactDefaults(GenerateJsonSchema):
    """Writes an exact default, which JSON lacks, as the decimal number that the file would have."""

    def encode_default(self, dft: Any) -> Any:
        return float(dft) if isinstance(dft, Fraction) else super().encode_default(dft)


def _as_toml(node: Any) -> Any:
    """The node without what no TOML file can hold (null) and without titles, which only repeat the names."""
    if isinstance(node, list):
        return [_as_toml(item) for item in node]
    if not isinstance(node, dict):
        return node
    plain = {key: _as_toml(value) for key, value in node.items() if key != "title" or not isinstance(value, str)}
    if plain.get("default", 0) is None:
        del plain["default"]
    if "anyOf" in plain:
        choices = [choice for choice in plain.pop("anyOf") if choice != {"type": "null"}]
        plain |= choices[0] if len(choices) == 1 else {"anyOf": choices}
    return plain
