"""How long a process has worked: what tells one that says nothing and works from one that stands
still.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress

#: Linux names the clock of what a process has run by the bits of its number, moved by so many,
#: and #: by a kind.
_MOVED = 3
_SCHEDULED = 2


def processor_seconds(pid: int) -> float | None:
    """The seconds of processor that all threads of a process have had;
    None if the system does not tell it.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            return time.clock_gettime(~pid << _MOVED | _SCHEDULED)
        return None
    return of_ps(pid)


def of_ps(pid: int) -> float | None:
    """The same as `ps` tells it, which every Unix has; on macOS in hundredths of a second.

    None if there is no `ps`, or no such process.
    """
    with suppress(OSError, subprocess.SubprocessError, ValueError):
        command = ["ps", "-o", "time=", "-p", str(pid)]
        stdout = subprocess.run(
            command, capture_output=True, text=True, timeout=5, check=True
        ).stdout
        days, _, clock = stdout.strip().rpartition("-")
        seconds = 0.0
        for number in clock.split(":"):
            seconds = seconds * 60 + float(number)
        return int(days or 0) * 86_400 + seconds
    return None
