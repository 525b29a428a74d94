"""Answers that were paid for: found again at no cost (`docs/proofs/answers.md`)."""

from dpsql.session.answer_store.paid import Answers, Paid

__all__ = ["Answers", "Paid"]
