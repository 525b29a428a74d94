"""The terminal from start to end: with a person at a prompt, or over texts."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.errors import Error
from dpsql.repl.background import BackgroundSession, opened
from dpsql.repl.display import DisplaySettings
from dpsql.repl.input import BackslashCommand, word
from dpsql.repl.repl_session import ReplSession, RunOptions
from dpsql.repl.screen import Screen, has_colour

if TYPE_CHECKING:
    from dpsql.repl.prompt import Prompt
    from dpsql.schema import Schema


@dataclass(frozen=True)
class ReplConnection:
    """Which database is asked in whose name, and what a statement costs;
    None is what the schema says.
    """

    schema: Path
    analyst: str
    epsilon: Fraction | None = None


def run_texts(
    database: ReplConnection,
    texts: Iterable[str | Path],
    display: DisplaySettings,
    rules: RunOptions,
    target: Path | None,
) -> Error | None:
    """Run texts, and files of them, one after the other; the first error in them,
    or None where all went well.

    The file ``-`` is standard input. Results go to the file ``target``, or to standard output;
    DataError where that file cannot be written.
    """
    screen = Screen(interactive=False)
    screen.write_to(None if rules.dry else target)
    session = opened(database.schema, database.analyst, database.epsilon)
    try:
        repl = ReplSession(lambda: session, screen, display, rules)
        for text in texts:
            if repl.over:
                break
            if text == Path("-"):
                repl.feed(sys.stdin.read(), "stdin")
            elif isinstance(text, Path):
                repl.take(BackslashCommand("i", str(text), 1))
            else:
                repl.feed(text)
        if rules.dry:
            repl.show_rows(repl.prices.rows)
            screen.notify(repl.prices.summary, "price")
        return repl.failure
    finally:
        screen.write_to(None)
        session.close()


def run_prompt(
    database: ReplConnection, display: DisplaySettings, rules: RunOptions, ask: bool
) -> None:
    """Hold a conversation with the person at the terminal until it is over.

    ``ask`` sets the price above which a statement is asked about to what the schema suggests.
    """
    from dpsql.schema import load

    declared = load(database.schema)
    prompt_display = replace(display, ask=worth_asking(declared)) if ask else display
    screen = Screen(interactive=True)
    screen.notify(welcome(declared, prompt_display))
    from dpsql.repl.prompt import Prompt

    opening = BackgroundSession(declared, database.analyst, database.epsilon)
    prompt = Prompt(declared, opening, colour=has_colour(sys.stdout))
    opening.start()
    try:
        run_loop(ReplSession(opening.session, screen, prompt_display, rules), prompt)
        screen.write_to(None)
    finally:
        opening.close()


def run_loop(repl: ReplSession, prompt: Prompt) -> None:
    """Take what is typed until the person leaves; Ctrl-C throws away what is typed,
    Ctrl-D leaves.
    """
    while not repl.over:
        draft = repl.draft
        repl.draft = ""
        try:
            text = prompt.ask(draft)
            typed = word(text)
            if typed is not None:
                repl.take(typed)
            else:
                repl.feed(text)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def worth_asking(schema: Schema) -> Fraction:
    """The price above which a person is asked first: a tenth of the budget,
    and never less than a usual statement.
    """
    return max(schema.privacy.epsilon / 10, schema.privacy.query_epsilon)


def welcome(schema: Schema, display: DisplaySettings) -> str:
    """What stands above the first prompt."""
    import dpsql

    comment = f": {schema.comment}" if schema.comment else ""
    asked = (
        ""
        if display.ask is None
        else f"You are asked before a statement above ε = {float(display.ask):g}.\n"
    )
    return (
        f"dpsql {dpsql.__version__}, {schema.name}{comment}\n"
        f"Protected: all rows of one {schema.privacy.unit}. Every answer is a little off, by what ± says.\n"
        f"{asked}"
        "End a statement with ;   \\d lists tables   \\cost tells a price   \\? helps   \\q leaves"
    )
