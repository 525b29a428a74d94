"""The folder into which an engine may write what its memory does not hold, and how much of that there may be.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import shutil
import tempfile

from dpsql.engines.files.private_folders import private_folder
from dpsql.engines.source import ResourceLimits


def most_spilled(wanted: int | None) -> int:
    """The bytes that may be spilled: as many as are wanted, else the half of what is free when the data are opened."""
    if wanted is not None:
        return wanted
    try:
        return shutil.disk_usage(tempfile.gettempdir()).free // 2
    except OSError:
        return 0


def spill_folder(limits: ResourceLimits) -> str | None:
    """A new folder that nobody else may look into; None where nothing may be spilled."""
    return private_folder("spill") if limits.spill else None
