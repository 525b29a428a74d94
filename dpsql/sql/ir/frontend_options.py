"""What a front end may choose where SQL leaves it open, or where tools need another answer than people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class FrontendOptions:
    """How statements of a session are read; nothing here changes what may be released.

    ``raw_select`` says what a SELECT of single rows gives: an error; no rows where it has LIMIT 1, by which tools learn
    columns (``probe``); or always no rows (``empty``).
    ``declared_ranges`` answers MIN and MAX of whole columns by their declared bounds, as tools ask for the ends of a
    filter: that costs nothing and is what the schema says, not what the data hold.
    """

    raw_select: Literal["error", "probe", "empty"] = "error"
    declared_ranges: bool = False


#: What people get who write SQL, and what tools get that take dpsql for PostgreSQL.
PEOPLE, TOOLS = FrontendOptions(), FrontendOptions("probe", declared_ranges=True)
