"""How the page of a report looks, on light screens, on dark ones and on paper."""

from __future__ import annotations

from typing import Final

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
