"""What keeps an in-memory DuckDB from files, extensions and the network."""

from __future__ import annotations

from typing import Any

SEALED: dict[str, Any] = {
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "enable_external_access": "false",
    "memory_limit": "1GB",
    "threads": 1,
    "max_expression_depth": "250",
}
