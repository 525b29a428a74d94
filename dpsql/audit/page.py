"""The report as one HTML file, which loads nothing: a summary, how much of each claim was used, and every check."""

from __future__ import annotations

from html import escape

from dpsql.audit.report import FOR_THE_OWNER, WITH_FIGURES, Check, Figure, Report, Room
from dpsql.audit.style import STYLE

_MARKS = {"passed": "✓", "failed": "✗", "note": "·", "skipped": "○"}
#: Lists longer than this are folded.
_FOLDED = 30


def page(report: Report, details: bool) -> str:
    """The whole file; figures of the data, and the chart of them, only with ``details``."""
    verdict = "passed" if report.passed else "failed"
    versions = " · ".join(f"{escape(name)} {escape(version)}" for name, version in report.versions)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Audit of {escape(report.schema)}</title>
<style>{STYLE}</style>
</head>
<body>
<header>
<p class="marking">{escape(WITH_FIGURES if details else FOR_THE_OWNER)}</p>
<h1>Audit of {escape(report.schema)}</h1>
<p class="promise">{escape(report.promise)}</p>
<p class="closing {verdict}">{_MARKS[verdict]} {escape(report.closing)}</p>
<p class="small">{report.at:%Y-%m-%d %H:%M} UTC · {versions}</p>
</header>
<nav>{"".join(map(_card, report.rooms))}</nav>
<main>
{_chart(report) if details else ""}
{"".join(_section(room) for room in report.rooms)}
</main>
</body>
</html>
"""


def _card(room: Room) -> str:
    failed, passed = room.count("failed"), room.count("passed")
    notes, skipped = room.count("note"), room.count("skipped")
    rest = [f"{notes} to weigh or know"] * (notes > 0) + [f"{skipped} not looked at"] * (skipped > 0)
    verdict = "failed" if failed else "passed"
    told = f"{failed} of {failed + passed} failed" if failed else f"{passed} passed"
    return (
        f'<a class="card {verdict}" href="#{_anchor(room)}"><b>{_MARKS[verdict]} {escape(room.name)}</b>'
        f"<span>{told}</span><small>{escape(', '.join(rest))}</small></a>"
    )


def _section(room: Room) -> str:
    rows = "".join(map(_row, room.checks))
    table = f"<table>{rows}</table>"
    if len(room.checks) > _FOLDED:
        loud = "".join(_row(check) for check in room.checks if check.verdict != "passed")
        table = (f"<table>{loud}</table>" if loud else "") + (
            f"<details><summary>All {len(room.checks)} checks</summary>{table}</details>"
        )
    return (
        f'<section id="{_anchor(room)}"><h2>{escape(room.name)}</h2><p class="shows">{escape(room.shows)}.</p>'
        f"{table}</section>\n"
    )


def _row(check: Check) -> str:
    return (
        f'<tr class="{check.verdict}"><td class="mark" title="{check.verdict}">{_MARKS[check.verdict]}</td>'
        f'<td class="what">{escape(check.what)}</td><td>{escape(check.said)}</td></tr>'
    )


def _chart(report: Report) -> str:
    """A bar for each claim: what was seen as a part of what is claimed, which ends at the line."""
    groups = "".join(
        f'<div class="group"><p>{escape(check.what)}</p>{"".join(map(_bar, check.figures))}</div>'
        for room in report.rooms
        for check in room.checks
        if check.figures
    )
    if not groups:
        return ""
    return (
        '<section id="figures"><h2>how much of each claim was seen</h2><p class="shows">A bar that reaches the line '
        "is a claim that a unit of the data uses up; none may go beyond it. For ε, it is what the outputs prove, "
        f"beside what is claimed.</p>{groups}</section>\n"
    )


def _bar(figure: Figure) -> str:
    share = figure.value / figure.most
    width = min(max(100 * share, 0.0), 125.0)
    state = "failed" if share > 1 else "passed"
    return (
        f'<div class="bar"><span>{escape(figure.name)}</span><i><b class="{state}" style="width:{width:.2f}%"></b></i>'
        f"<em>{100 * share:.3g} %</em></div>"
    )


def _anchor(room: Room) -> str:
    return "".join(letter if letter.isascii() and letter.isalpha() else "-" for letter in room.name)
