"""The shell: public SQL over released rows, in a sandbox that has never seen a private row (`docs/proofs/river.md`)."""

from dpsql.shell.answer import Result, Shell

__all__ = ["Result", "Shell"]
