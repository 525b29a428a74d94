"""``dpsql demo``: the main job on packaged real data."""

from __future__ import annotations

import click


@click.command()
@click.option("--compare", is_flag=True, help="Show true answers beside: a switch of this demo alone, for its owner.")
def demo(compare: bool) -> None:
    """Ask a medical study ten questions and watch the budget go down."""
    from dpsql.cli.demonstration import run

    run(compare=compare)
