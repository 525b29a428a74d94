"""Keeps released answers, so that asking again costs nothing (`docs/proofs/answers.md`)."""

from dpsql.session.answer_store.store import AnswerStore, PaidRelease

__all__ = ["AnswerStore", "PaidRelease"]
