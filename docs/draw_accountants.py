"""Writes the tables of ``accountants.md`` and draws ``accountants.svg``:
equal statements under each accountant.

Run ``python docs/draw_accountants.py``;
``tests/docs/test_accountants_page.py`` fails when the page is stale.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from dpsql.privacy.accountants.advanced import AdvancedComposition, advanced
from dpsql.privacy.accountants.basic_and_zcdp import Basic, Concentrated, Hybrid
from dpsql.privacy.accountants.composition_rule import CompositionRule
from dpsql.privacy.accountants.renyi import Renyi, renyi_of, renyi_total
from dpsql.privacy.budget import Budget
from dpsql.privacy.filter import FilterState
from dpsql.privacy.measure import FREE, Cost, epsilon_of_rho
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.privacy.privacy_loss_distributions import (
    GaussianLoss,
    LaplaceLoss,
    Loss,
    epsilon_of_losses,
)

PAGE = Path(__file__).with_name("accountants.md")
PICTURE = Path(__file__).with_name("accountants.svg")
#: What one statement costs under Laplace noise, the δ of the promise,
#: and all of it for #: conversions.
EACH, DELTA, WHOLE = Fraction(1, 10), Fraction(1, 10**6), Fraction(1)
#: A count under Laplace noise, and one under Gaussian noise of the same standard deviation, 14.1.
LAPLACE, GAUSSIAN = Laplace.for_epsilon(1, EACH), Gaussian(1, Fraction(200))
COUNTS, BUDGETS = (1, 10, 20, 50, 100, 1000), (1, 2, 3)
MUCH = Fraction(10**6)


def by_renyi(cost: Cost, count: int) -> Fraction:
    """ε of so many equal costs at the order that is best for them."""
    return min(
        count * renyi_of(cost, order) + MUCH - renyi_total(MUCH, DELTA, order)
        for order in range(2, 400)
    )


def after(cost: Cost, loss: Loss, count: int) -> list[Fraction | None]:
    """ε after so many statements: basic, advanced, zCDP, Rényi, losses."""
    pure = cost.epsilon
    return [
        None if pure is None else count * pure,
        None if pure is None else advanced(count, pure, DELTA),
        epsilon_of_rho(count * cost.rho, DELTA),
        by_renyi(cost, count),
        epsilon_of_losses([loss] * count, DELTA),
    ]


def answered(rule: CompositionRule, cost: Cost, epsilon: Fraction) -> int:
    """How many statements of this cost a filter admits in all."""
    return FilterState(None, Budget(epsilon, DELTA, WHOLE, rule), FREE).affordable(cost)


def answered_by_losses(loss: Loss, epsilon: Fraction) -> int:
    """How many statements of one block stay within ε by their losses."""
    low, high = 0, 8
    while epsilon_of_losses([loss] * high, DELTA) <= epsilon:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (middle, high)
            if epsilon_of_losses([loss] * middle, DELTA) <= epsilon
            else (low, middle)
        )
    return low


FILTERS: tuple[CompositionRule, ...] = (
    Basic(),
    AdvancedComposition(10**6, EACH),
    Concentrated(),
    Renyi(),
    Hybrid(),
)


def tables() -> str:
    """Both tables, as Markdown."""
    lines = [
        "| statements | basic | advanced | zCDP | Rényi, best order | losses (PLD) |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for name, cost, loss in (
        ("Laplace", LAPLACE.cost, LaplaceLoss(EACH, 1)),
        ("Gaussian", GAUSSIAN.cost, GaussianLoss(GAUSSIAN.variance, 1)),
    ):
        for count in COUNTS:
            cells = [
                "—" if each is None else f"{float(each):.4f}" for each in after(cost, loss, count)
            ]
            lines.append(f"| {count} {name} | {' | '.join(cells)} |")
    lines += [
        "",
        "| total ε | noise | basic | advanced | zcdp | rdp | **hybrid** | pld, as one block |",
    ]
    lines.append("|--:|---|--:|--:|--:|--:|--:|--:|")
    for epsilon in map(Fraction, BUDGETS):
        for name, cost, loss in (
            ("Laplace", LAPLACE.cost, LaplaceLoss(EACH, 1)),
            ("Gaussian", GAUSSIAN.cost, GaussianLoss(GAUSSIAN.variance, 1)),
        ):
            found = [answered(rule, cost, epsilon) for rule in FILTERS]
            cells = [str(each) if each else "—" for each in found]
            cells[-1] = f"**{cells[-1]}**"
            lines.append(
                f"| {epsilon} | {name} | {' | '.join(cells)} | {answered_by_losses(loss, epsilon)} |"
            )
    return "\n".join(lines)


def draw(path: Path) -> None:
    """Statements answered against the total ε, under both kinds of noise."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "dpsql", "svg.fonttype": "none", "font.size": 10}):
        _draw(path)


def _draw(path: Path) -> None:
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(10, 4.6), sharey=True, layout="constrained")
    grid = [Fraction(step, 20) for step in range(2, 101)]
    blocks = [Fraction(step, 4) for step in range(1, 21)]
    # colours of Okabe and Ito, told apart by dashes too
    styles: dict[str, tuple[str, object]] = {
        "basic": ("#000000", ":"),
        "advanced": ("#CC79A7", "-."),
        "zcdp": ("#0072B2", "--"),
        "rdp": ("#009E73", (0, (5, 1, 1, 1))),
        "hybrid": ("#D55E00", "-"),
        "pld": ("#1B86BF", (0, (1, 0.6))),
    }
    for panel, title, cost, loss in (
        (panels[0], "Laplace noise, ε = 0.1 a statement", LAPLACE.cost, LaplaceLoss(EACH, 1)),
        (
            panels[1],
            "Gaussian noise as wide (standard deviation 14.1)",
            GAUSSIAN.cost,
            GaussianLoss(Fraction(200), 1),
        ),
    ):
        ends: list[tuple[float, str]] = []

        def line(name: str, budgets: list[Fraction], count: Callable[[Fraction], int]) -> None:
            colour, dashes = styles[name]
            found = [count(each) for each in budgets]
            width = 2.6 if name == "hybrid" else 1.6
            panel.plot(  # noqa: B023
                [float(each) for each in budgets],
                found,
                color=colour,
                linestyle=dashes,
                linewidth=width,
            )
            ends.append((found[-1], name))  # noqa: B023

        for rule in reversed(FILTERS):  # the others over the default, which they meet in places
            if cost.epsilon is None and rule.name in ("basic", "advanced"):
                continue
            line(rule.name, grid, lambda each, rule=rule: answered(rule, cost, each))  # type: ignore[misc]  # noqa: B023
        line("pld", blocks, lambda each: answered_by_losses(loss, each))  # noqa: B023
        panel.set_title(title, fontsize=11, loc="left")
        panel.set_xlabel("total ε, at δ = 10⁻⁶")
        panel.set_xlim(0, 6.4)
        panel.set_xticks(range(6))
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="y", color="#dddddd", linewidth=0.6)
        _label(panel, ends, styles)
    panels[0].set_ylabel("statements answered")
    panels[0].set_ylim(0, 225)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def _label(
    panel: object, ends: list[tuple[float, str]], styles: dict[str, tuple[str, object]]
) -> None:
    """A name beside the end of each line; those too near to one another are moved apart."""
    words = {"pld": "pld (one block)", "hybrid": "hybrid (default)"}
    last = -100.0
    for end, name in sorted(ends):
        place = max(end, last + 10)
        last = place
        panel.text(
            5.08, place, words.get(name, name), color=styles[name][0], va="center", fontsize=9
        )  # type: ignore[attr-defined]


def write() -> None:
    """The page with its tables made anew."""
    text = PAGE.read_text("utf-8")
    before, rest = text.split("<!-- tables -->\n", 1)
    after_tables = rest.split("<!-- end of tables -->", 1)[1]
    PAGE.write_text(
        f"{before}<!-- tables -->\n\n{tables()}\n\n<!-- end of tables -->{after_tables}", "utf-8"
    )


if __name__ == "__main__":
    write()
    draw(PICTURE)
