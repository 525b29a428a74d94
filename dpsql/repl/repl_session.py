"""The terminal's conversation: statements asked through a session,
their answers shown with what they cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.errors import (
    BudgetExhausted,
    DataError,
    Error,
    ExecutionFailed,
    InternalError,
    OperationalError,
    PostProcessingFailed,
    PostProcessingStopped,
    QueryCancelled,
)
from dpsql.output import OutputRows, as_text, os_error_text, write
from dpsql.privacy.measure import shown
from dpsql.repl.background import interruptibly
from dpsql.repl.command_list import ends_statement
from dpsql.repl.display import DisplaySettings
from dpsql.repl.input import BackslashCommand, InputPiece, SqlStatement, joined, listing, whole
from dpsql.repl.prices import PriceList, left, price_line, require_within
from dpsql.repl.screen import Screen, complaint, file_errors
from dpsql.repl.statement_execution import ReplAnswer, answer, planned, purchase_of

if TYPE_CHECKING:
    from dpsql.planning.plan import Plan
    from dpsql.session import Session
    from dpsql.session.explanation import Explanation
    from dpsql.session.named_releases.statements import NamedPrice

#: How deep files may run files.
DEEPEST = 16


@dataclass(frozen=True)
class RunOptions:
    """How a conversation is held: ``most`` is what it may cost in all,
    ``dry`` tells prices and runs nothing.
    """

    stop: bool = False
    dry: bool = False
    most: Fraction | None = None
    quiet: bool = False


class PriceDeclined(OperationalError):
    """The person did not agree to the price; nothing was charged."""

    sqlstate = "57014"

    def __init__(self) -> None:
        super().__init__("not run, and nothing was charged")


class ReplSession:
    """One sitting at a session: display settings, the last statement and rows, what was paid,
    the first error.
    """

    def __init__(
        self,
        session: Callable[[], Session],
        screen: Screen,
        display: DisplaySettings,
        rules: RunOptions | None = None,
    ) -> None:
        self._session = session
        self.screen = screen
        self.display = display
        self.rules = rules or RunOptions()
        self.last = ""
        self.rows = OutputRows.exact([], [])
        self.paid = Fraction(0)
        self.statements = 0
        self.prices = PriceList()
        self.failure: Error | None = None
        self.over = False
        self.draft = ""
        self._depth = 0
        self._parquet = False
        self._asked = ""

    @property
    def session(self) -> Session:
        """The session, which may still be opening when it is first wanted."""
        return self._session()

    def feed(self, text: str, source: str = "") -> None:
        """Run all pieces of the text, also a last statement without a semicolon.

        An unfinished statement before a command that does not use it continues after the command;
        at a prompt it is the draft. ``source`` names the text's file.
        """
        draft = ""
        line = 1
        for piece in whole(text):
            if self.over:
                return
            piece = joined(draft, piece)
            draft = (
                piece.before
                if isinstance(piece, BackslashCommand) and not ends_statement(piece.name)
                else ""
            )
            line = piece.line
            self.take(piece, source)
        if draft and not self.over:
            if self.screen.interactive and not source:
                self.draft = draft
            else:
                self.take(SqlStatement(draft, line), source)

    def take(self, piece: InputPiece, source: str = "") -> None:
        """Run one piece; what is wrong with it is said, and the first such error is kept."""
        from dpsql.repl.commands import obey

        self._asked = ""
        try:
            match piece:
                case SqlStatement(text=text) if (command := listing(text)) is not None:
                    obey(self, command)
                case SqlStatement(text=text):
                    self.ask(text)
                case BackslashCommand():
                    obey(self, piece)
        except Error as error:
            self._complain(error, piece, source)
        except BrokenPipeError:
            raise
        except OSError as error:
            self._complain(DataError(os_error_text(error)), piece, source)
        except Exception:
            self._complain(
                InternalError("E_INTERNAL a fault of dpsql; what it cost stays charged"),
                piece,
                source,
            )

    def run_file(self, file: Path) -> None:
        """Run the pieces of a file; files may name others, to some depth."""
        if self._depth >= DEEPEST:
            raise DataError(f"{file}: files run files more than {DEEPEST} deep")
        with file_errors(file):
            text = file.expanduser().read_text(encoding="utf-8-sig")
        self._depth += 1
        try:
            self.feed(text, str(file))
        finally:
            self._depth -= 1

    def ask(self, text: str, style: str | None = None) -> None:
        """Answer one statement and show it; in a dry run, find its price."""
        self.last = self._asked = text
        if self.rules.dry:
            plan = planned(self.session, text)
            if plan is None:
                self.answer(text)
                return None
            self.prices.add(plan, purchase_of(self.session, plan), self.session.remaining)
            return require_within(self.rules.most, self.prices.epsilon, Fraction(0))
        self.show(self.answer(text), style)

    def answer(self, text: str) -> ReplAnswer:
        """The answer to one statement, which is paid for when this returns."""
        self._asked = text
        result = answer(self.session, text, self._consent)
        self.paid += result.result.price.charged
        self.statements += result.result.price.charged > 0
        return result

    def show(self, answered: ReplAnswer, style: str | None = None) -> None:
        """Show rows in the style that is set, or in this one, and say what they cost."""
        rows = answered.rows
        if rows.names:
            self.rows = rows
            self._show_rows(rows, style, answered.prose)
        elif self.screen.interactive:
            self.screen.notify(answered.word)
        self.say_price(answered)

    def show_rows(self, rows: OutputRows) -> None:
        """Show rows that cost nothing, such as a list of tables."""
        self._show_rows(rows, None, None)

    def _show_rows(self, rows: OutputRows, style: str | None, prose: list[str] | None) -> None:
        style = style or self._style(rows)
        if style == "parquet":
            self._write_parquet(rows)
        elif prose is not None and style in ("table", "vertical"):
            self.screen.result("".join(f"{line}\n" for line in prose), self.display.pager)
        else:
            text = as_text(
                rows, style, self.display.intervals, self.display.null, width=self.screen.width
            )
            self.screen.result(text, self.display.pager)

    def _style(self, rows: OutputRows) -> str:
        """The style that is set, with records under one another where that is wanted."""
        display = self.display
        if display.format != "table" or display.expanded == "off":
            return display.format
        if display.expanded == "on":
            return "vertical"
        header = (
            as_text(rows, "table", display.intervals, display.null)
            .partition("\n")[2]
            .partition("\n")[0]
        )
        return "vertical" if len(header) > self.screen.width else "table"

    def _write_parquet(self, rows: OutputRows) -> None:
        target = self.screen.target
        if target is None or self._parquet:
            raise DataError(
                "Parquet holds one result and is no text; name a file for each with -o FILE or \\copy"
            )
        write(rows, "parquet", self.display.intervals, target)
        self._parquet = True

    def say_price(self, answered: ReplAnswer) -> None:
        """Say how many rows a query gave, what it cost and what is left."""
        if not answered.query or self.rules.quiet:
            return
        display = self.display
        count = len(answered.result.rows) if display.footer and answered.result.columns else None
        seconds = answered.seconds if display.timing else None
        line = price_line(
            count, answered.result.price, answered.private, self.session, seconds=seconds
        )
        self.screen.notify(line, "price")
        for notice in answered.result.notices:
            self.screen.notify(notice, "price")

    def explained(self, text: str) -> Explanation:
        """What is known of a statement before it runs; it costs nothing."""
        self._asked = text
        return interruptibly(lambda: self.session.explain(text), self.session.interrupt)

    def _consent(self, plan: Plan | NamedPrice, charged: Fraction) -> None:
        """Let the rules and, above the price that is set,
        the person agree to what the statement costs.
        """
        bought = purchase_of(self.session, plan)
        ask = self.display.ask
        price = Fraction(0) if bought is None else bought.price
        if self.rules.dry:
            raise PriceDeclined
        require_within(self.rules.most, self.paid + charged, price)
        if bought is None or ask is None or price <= ask:
            return
        if not self.screen.interactive:
            cost = f"the statement costs ε = {shown(price)}, which is above ε = {shown(ask)}"
            raise BudgetExhausted(f"{cost}, and nobody is there to be asked")
        remaining = self.session.remaining
        for standing in remaining.standings:
            standing.require(bought.cost)
        answers = remaining.answers_left(bought.cost)
        if not self.screen.confirms(
            f"This one takes {answers.part}; {answers}{remaining.renewed}. Pay?"
        ):
            raise PriceDeclined

    def _complain(self, error: Error, piece: InputPiece, source: str) -> None:
        where = f"{source}:{piece.line}: " if source else ""
        message = str(error) if isinstance(error, PriceDeclined) else complaint(error, self._asked)
        self.screen.notify(where + message, "error")
        if isinstance(
            error, ExecutionFailed | QueryCancelled | PostProcessingFailed | PostProcessingStopped
        ):
            self.screen.notify(left(self.session), "price")
        self.failure = self.failure or error
        if not self.screen.interactive and (self.rules.stop or isinstance(error, QueryCancelled)):
            self.over = True
