"""Forks of a process that runs tests.

Each ends with its work: one that went on would be a second test runner.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable


def begin_fork(work: Callable[[], object]) -> int:
    """The process that does the work, and then ends with 0; with 1 where the work raises."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def exit_code_of_fork(work: Callable[[], object]) -> int:
    """The exit code of a fork that did the work, below 0 where a signal ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(begin_fork(work), 0)[1])
