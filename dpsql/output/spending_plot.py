"""Draws the spending of a budget over time with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from textwrap import wrap
from typing import Any

from dpsql.errors import DataError

#: The kinds of file that a picture is written to, by the end of their names.
KINDS = (".svg", ".png", ".pdf")
#: How many letters of a caption stand side by side.
LINE = 110


@dataclass(frozen=True)
class SpendingCurve:
    """What one holder of a budget had used after each charge, in answers,
    and the most that it may use.
    """

    name: str
    used: Sequence[tuple[datetime, int]]
    most: int


def draw_spending(
    title: str, total: SpendingCurve, analysts: Sequence[SpendingCurve], path: Path, caption: str
) -> None:
    """Write a picture with a step curve for the total and each analyst, a line at each limit,
    and a caption.

    The suffix of the path chooses the format. Raises DataError if it is not one of `KINDS`, if
    nothing was spent, or if matplotlib is not installed.
    """
    if path.suffix.lower() not in KINDS:
        raise DataError(f"a picture is written to a file that ends in {', '.join(KINDS)}")
    if not total.used:
        raise DataError("nothing was spent yet, so there is nothing to draw")
    try:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
        from matplotlib.figure import Figure
    except ImportError:
        raise DataError('a picture needs matplotlib; pip install ".[plot]"') from None
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes: Any = figure.add_subplot()
    end = total.used[-1][0]
    stairs = []
    for holder in (total, *analysts):
        times = [at for at, _ in holder.used]
        used = [used for _, used in holder.used]
        strong = {"color": "black", "linewidth": 2} if holder is total else {}
        (stair,) = axes.step([times[0], *times, end], [0, *used, used[-1]], where="post", **strong)
        stairs.append(stair)
        if holder is total or holder.most < total.most:
            axes.axhline(holder.most, color=stair.get_color(), linestyle=":", linewidth=1)
    axes.set(title=title.replace("$", r"\$"), ylabel="answers used (dotted: the limit)")
    axes.set_ylim(0, max(total.most, 1) * 1.05)
    locator = AutoDateLocator()
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    names = [holder.name.replace("$", r"\$") for holder in (total, *analysts)]
    figure.legend(stairs, names, loc="outside right upper", frameon=False)
    figures = caption.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    figure.supxlabel("\n".join(wrap(figures.replace("$", r"\$"), LINE)), fontsize="small")
    figure.savefig(path)
