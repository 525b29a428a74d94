"""The folder into which an engine may write what its memory does not hold: its owner's alone, and gone when it ends.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import shutil
import tempfile

from dpsql.engines.source import Limits


def spill_folder(limits: Limits) -> str | None:
    """A new folder that nobody else may look into; None where nothing may be spilled."""
    return tempfile.mkdtemp(prefix="dpsql-") if limits.spill else None


def remove_folder(folder: str | None) -> None:
    """Remove the folder with what is in it."""
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
