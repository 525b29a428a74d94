"""Answers that were paid for: found again at no cost (`docs/proofs/answers.md`)."""

from dpsql.session.answer_store.store import AnswerStore, Paid

__all__ = ["AnswerStore", "Paid"]
