"""Which group keys may be shown when the owner has not declared them; proof in `docs/proofs/selection.md`."""

from dpsql.privacy.selection.threshold import Threshold, beyond

__all__ = ["Threshold", "beyond"]
