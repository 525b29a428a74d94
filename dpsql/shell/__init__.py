"""The shell: public SQL over released rows, in a sandbox that has never seen a private row (`docs/proofs/river.md`)."""

from dpsql.shell.answer import NOTHING, Result, Shell

__all__ = ["NOTHING", "Result", "Shell"]
