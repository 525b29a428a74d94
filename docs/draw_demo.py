"""Draws docs/demo.svg: the head of the demo as a terminal shows it.

Run it as ``python docs/draw_demo.py``.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI

from dpsql.cli.demo import QUESTIONS, WIDTH, run

TARGET = Path(__file__).with_name("demo.svg")


def draw() -> str:
    """The picture: the schema, four of the questions and the refusal,
    on a fresh draw of the noise.
    """
    console = Console(
        record=True, width=WIDTH, file=io.StringIO(), highlight=False, force_terminal=True
    )
    run(console=console, questions=QUESTIONS[1:5])
    svg = console.export_svg(title="dpsql demo", theme=MONOKAI)
    without_web_fonts = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in without_web_fonts.splitlines()) + "\n"


if __name__ == "__main__":
    TARGET.write_text(draw(), encoding="utf-8")
