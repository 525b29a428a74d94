"""The prompt: several lines until a semicolon, a history file, completion, colours,
and the budget in the toolbar.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import ThreadedCompleter
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from dpsql.errors import Error
from dpsql.errors.deadline import Deadline, within
from dpsql.repl.background import BackgroundSession
from dpsql.repl.completion import SchemaCompleter
from dpsql.repl.input import is_finished
from dpsql.repl.prices import meter

if TYPE_CHECKING:
    from dpsql.schema import Schema

#: A path, or ``off``.
VARIABLE = "DPSQL_HISTORY"


def history() -> History:
    """The history to use; in memory only if it is switched off or its file cannot be created."""
    file = history_file()
    if file is None:
        return InMemoryHistory()
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)
    except OSError:
        return InMemoryHistory()
    return FileHistory(file)


def history_file() -> Path | None:
    """The file that is named by DPSQL_HISTORY,
    or the one in the state folder of the XDG rules; None if off.
    """
    named = os.environ.get(VARIABLE)
    if named is not None:
        return (
            None if named.strip().lower() in ("", "off", "none", "0") else Path(named).expanduser()
        )
    state = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(state) if Path(state).is_absolute() else Path.home() / ".local" / "state"
    return folder / "dpsql" / "history"


#: How long a figure in the toolbar may be old, in seconds: others spend of the same budget.
_FRESH = 1.0
#: Seconds for which drawing it waits for the ledger,
#: and after which one that did not answer is #: asked again.
_SHOWN = 0.3
_LATER = 10.0
_STYLE = Style.from_dict(
    {
        "bottom-toolbar": "noreverse bg:#303030 #d0d0d0",
        "meter.name": "bold",
        "meter.full": "#5faf5f",
        "meter.half": "#d7af5f",
        "meter.low": "#d75f5f",
        "prompt": "bold",
        "pygments.keyword": "bold ansicyan",
        "pygments.name.builtin": "ansicyan",
        "pygments.literal.string": "ansigreen",
        "pygments.literal.number": "ansimagenta",
        "pygments.comment": "ansibrightblack",
    }
)


class Toolbar:
    """The line under the prompt, read from the ledger at most once a second."""

    def __init__(self, opening: BackgroundSession) -> None:
        self._opening = opening
        self._read = float("-inf")
        self._line = list[tuple[str, str]]()

    def __call__(self) -> StyleAndTextTuples:
        session = self._opening.ready
        if session is None:
            return [("class:meter", " opening the database … ")]
        if time.monotonic() - self._read > _FRESH:
            later = 0.0
            try:
                with within(Deadline(_SHOWN)):
                    self._line = meter(session)
            except Error:
                self._line = [("class:meter.low", " the ledger cannot be read ")]
                later = _LATER
            self._read = time.monotonic() + later
        return [*self._line]

    def refresh(self) -> None:
        """Read the ledger again when the line is next drawn."""
        self._read = float("-inf")


class Prompt:
    """Asks a person for the next text."""

    def __init__(self, schema: Schema, opening: BackgroundSession, *, colour: bool) -> None:
        from pygments.lexers.sql import PostgresLexer

        self._single = False
        self._name = schema.name
        self._toolbar = Toolbar(opening)
        self._opening = opening
        self._session: PromptSession[str] = PromptSession(
            history=history(),
            multiline=True,
            lexer=PygmentsLexer(PostgresLexer) if colour else None,
            completer=ThreadedCompleter(
                SchemaCompleter(lambda: opening.ready.schema if opening.ready else schema)
            ),
            complete_while_typing=True,
            auto_suggest=AutoSuggestFromHistory(),
            bottom_toolbar=self._toolbar,
            refresh_interval=_FRESH,
            key_bindings=self._keys(),
            style=_STYLE,
            include_default_pygments_style=False,
            color_depth=None if colour else ColorDepth.DEPTH_1_BIT,
            prompt_continuation=lambda width, line, wrapped: " " * max(width - 3, 0) + "-> ",
            enable_open_in_editor=True,
        )
        opening.failed = self._stop

    def ask(self, draft: str = "") -> str:
        """The next text; KeyboardInterrupt for Ctrl-C, EOFError for Ctrl-D,
        the session's error where none opens.
        """
        self._toolbar.refresh()
        if self._opening.error is not None:
            raise self._opening.error
        return self._session.prompt([("class:prompt", f"{self._name}=> ")], default=draft)

    def _stop(self) -> None:
        app = self._session.app
        error = self._opening.error
        if app.is_running and app.loop is not None and error is not None:
            app.loop.call_soon_threadsafe(
                lambda: app.exit(exception=error) if not app.is_done else None
            )

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @Condition
        def finished() -> bool:
            buffer = self._session.default_buffer
            return self._single or is_finished(buffer.text)

        @Condition
        def choosing() -> bool:
            state = self._session.default_buffer.complete_state
            return state is not None and state.current_completion is not None

        @keys.add("enter", filter=choosing & ~finished)
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.complete_state = None

        @keys.add("enter", filter=finished)
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.validate_and_handle()

        @keys.add("enter", filter=~finished & ~choosing)
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.complete_state = None
            event.current_buffer.newline(copy_margin=not event.app.paste_mode())

        @keys.add("f3")
        def _(event: KeyPressEvent) -> None:
            self._single = not self._single

        @keys.add("f4")
        def _(event: KeyPressEvent) -> None:
            vi = event.app.editing_mode == EditingMode.VI
            event.app.editing_mode = EditingMode.EMACS if vi else EditingMode.VI

        return keys
