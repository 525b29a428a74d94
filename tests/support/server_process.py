"""A server in a process of its own, as an owner starts it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager


@contextmanager
def started(
    command: Sequence[str], environment: Mapping[str, str], seconds: float = 40
) -> Iterator[int]:
    """The port of a server that the command starts;
    within so many seconds of SIGTERM it ends with code 0.
    """
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    lines: list[str] = []
    assert process.stderr is not None
    reading = threading.Thread(target=lambda: lines.extend(process.stderr or ()), daemon=True)
    reading.start()
    try:
        port = None
        until = time.monotonic() + 60
        while port is None and process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
            port = next(
                (
                    int(said[1])
                    for line in lines
                    if (said := re.search(r"serves .* port (\d+)$", line))
                ),
                None,
            )
        assert port is not None, "".join(lines)
        yield port
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(seconds) == 0, "".join(lines)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        reading.join(10)
        process.stderr.close()
