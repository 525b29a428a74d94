"""Public SQL over released rows, in a sandbox that has never seen a private row.

See `docs/proofs/execution.md`.
"""

import dpsql.sql  # noqa: F401  first, as it refuses a parser that does not fit
from dpsql.postprocessing.answer import UNCHARGED, PostProcessor, Price, Result, ResultRows
from dpsql.postprocessing.pool import PostProcessors

__all__ = ["UNCHARGED", "PostProcessor", "PostProcessors", "Price", "Result", "ResultRows"]
