"""Keeps released answers, so that asking again costs nothing (`docs/proofs/answers.md`)."""

from dpsql.session.answer_store.partial_answers import PartAnswer
from dpsql.session.answer_store.store import AnswerStore, PaidRelease
from dpsql.session.answer_store.view_answers import ViewAnswer

__all__ = ["AnswerStore", "PaidRelease", "PartAnswer", "ViewAnswer"]
