"""Writes an audit report as one self-contained HTML file.

It has a summary, the use of each claim, and every check.
"""

from __future__ import annotations

from html import escape
from typing import Final

from dpsql.audit.report import (
    FOR_THE_OWNER,
    WITH_FIGURES,
    AuditCheck,
    AuditReport,
    CheckGroup,
    PrivateFigure,
)

STYLE: Final = """
:root { --ink: #1b2430; --soft: #5b6776; --paper: #fbfbfa; --card: #ffffff; --line: #dfe3e8;
  --good: #1f7a4d; --bad: #b3261e; --open: #8a6100; --tint: #e4f2ea; --alarm: #fbe6e4; --bar: #3b82c4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa6b5; --paper: #14181e; --card: #1c222b;
  --line: #313a46; --good: #6fd3a0; --bad: #ff8a80; --open: #e5b94e; --tint: #1b3327; --alarm: #40201e;
  --bar: #5aa2e6; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { margin: .2rem 0 0; font-size: 1.9rem; letter-spacing: -.01em; }
h2 { margin: 2.4rem 0 .2rem; font-size: 1.15rem; }
h2::first-letter, .shows::first-letter { text-transform: uppercase; }
.marking { display: inline-block; margin: 0; padding: .15rem .7rem; border: 1px solid var(--open); border-radius: 99px;
  color: var(--open); font-size: .82rem; }
.promise, .shows, .small { color: var(--soft); margin: .25rem 0; }
.small { font-size: .82rem; }
.closing { display: inline-block; margin: .7rem 0 .3rem; padding: .45rem .9rem; border-radius: .5rem;
  font-weight: 600; }
.closing.passed { background: var(--tint); color: var(--good); }
.closing.failed { background: var(--alarm); color: var(--bad); }
nav { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem; margin: 1.5rem 0 0; }
.card { display: flex; flex-direction: column; padding: .75rem .9rem; border: 1px solid var(--line);
  border-radius: .6rem; border-left: 4px solid var(--good); background: var(--card); color: inherit;
  text-decoration: none; }
.card.failed { border-left-color: var(--bad); background: var(--alarm); }
.card small { color: var(--soft); min-height: 1.2em; }
table { width: 100%; border-collapse: collapse; margin-top: .6rem; background: var(--card); }
td { padding: .4rem .6rem; border-top: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
.mark { width: 1.8rem; font-weight: 700; text-align: center; }
.what { width: 46%; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .84rem; }
tr.passed .mark { color: var(--good); }
tr.failed .mark, tr.failed td { color: var(--bad); }
tr.note .mark, tr.skipped .mark { color: var(--open); }
details { margin-top: .6rem; }
summary { cursor: pointer; color: var(--soft); }
.group { margin-top: .9rem; padding: .6rem .9rem .8rem; border: 1px solid var(--line); border-radius: .6rem;
  background: var(--card); }
.group p { margin: 0 0 .4rem; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .84rem;
  overflow-wrap: anywhere; }
.bar { display: grid; grid-template-columns: 9rem 1fr 9rem; gap: .75rem; align-items: center; font-size: .84rem; }
.bar i { display: block; height: .8rem; margin: .18rem 20% .18rem 0; background: var(--line);
  border-right: 2px solid var(--ink); }
.bar i b { display: block; height: 100%; background: var(--bar); }
.bar i b.failed { background: var(--bad); }
.bar em { font-style: normal; color: var(--soft); font-variant-numeric: tabular-nums; }
@media (max-width: 40rem) { .bar { grid-template-columns: 6rem 1fr; } .bar em { display: none; } .what { width: 50%; } }
@media print { body { max-width: none; } details > * { display: table; } }
"""


_MARKS = {"passed": "✓", "failed": "✗", "note": "·", "skipped": "○"}
#: Lists longer than this are folded.
_FOLDED = 30


def page(report: AuditReport, details: bool) -> str:
    """The HTML file; figures of the data and their chart only with ``details``."""
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
<nav>{"".join(map(_card, report.groups))}</nav>
<main>
{_chart(report) if details else ""}
{"".join(_section(group) for group in report.groups)}
</main>
</body>
</html>
"""


def _card(group: CheckGroup) -> str:
    failed = group.count("failed")
    passed = group.count("passed")
    notes = group.count("note")
    skipped = group.count("skipped")
    rest = [f"{notes} to weigh or know"] * (notes > 0) + [f"{skipped} not looked at"] * (
        skipped > 0
    )
    verdict = "failed" if failed else "passed"
    summary = f"{failed} of {failed + passed} failed" if failed else f"{passed} passed"
    return (
        f'<a class="card {verdict}" href="#{_anchor(group)}"><b>{_MARKS[verdict]} {escape(group.name)}</b>'
        f"<span>{summary}</span><small>{escape(', '.join(rest))}</small></a>"
    )


def _section(group: CheckGroup) -> str:
    rows = "".join(map(_row, group.checks))
    table = f"<table>{rows}</table>"
    if len(group.checks) > _FOLDED:
        loud = "".join(_row(check) for check in group.checks if check.verdict != "passed")
        table = (f"<table>{loud}</table>" if loud else "") + (
            f"<details><summary>All {len(group.checks)} checks</summary>{table}</details>"
        )
    return (
        f'<section id="{_anchor(group)}"><h2>{escape(group.name)}</h2><p class="shows">{escape(group.shows)}.</p>'
        f"{table}</section>\n"
    )


def _row(check: AuditCheck) -> str:
    return (
        f'<tr class="{check.verdict}"><td class="mark" title="{check.verdict}">{_MARKS[check.verdict]}</td>'
        f'<td class="what">{escape(check.what)}</td><td>{escape(check.said)}</td></tr>'
    )


def _chart(report: AuditReport) -> str:
    """A bar for each claim: how much of it was used; the line marks the whole claim."""
    groups = "".join(
        f'<div class="group"><p>{escape(check.what)}</p>{"".join(map(_bar, check.figures))}</div>'
        for group in report.groups
        for check in group.checks
        if check.figures
    )
    if not groups:
        return ""
    return (
        '<section id="figures"><h2>how much of each claim was seen</h2><p class="shows">A bar that reaches the line '
        "is a claim that a unit of the data uses up; none may go beyond it. For ε, it is what the outputs prove, "
        f"beside what is claimed.</p>{groups}</section>\n"
    )


def _bar(figure: PrivateFigure) -> str:
    share = figure.value / figure.most
    width = min(max(100 * share, 0.0), 125.0)
    state = "failed" if share > 1 else "passed"
    return (
        f'<div class="bar"><span>{escape(figure.name)}</span><i><b class="{state}" style="width:{width:.2f}%"></b></i>'
        f"<em>{100 * share:.3g} %</em></div>"
    )


def _anchor(group: CheckGroup) -> str:
    return "".join(
        letter if letter.isascii() and letter.isalpha() else "-" for letter in group.name
    )
