"""Workloads: theorems hold for what they are used for, and a block is charged before it is read."""

from __future__ import annotations

from planted.fault import Fault

LOSS = "tests/privacy/test_privacy_loss_distributions.py"
DOMINANCE = "tests/privacy/test_privacy_loss_dominance.py"
LATTICE = "tests/privacy/test_privacy_loss_lattice.py"
BLOCKS, OFFERS = "tests/planning/workload/test_blocks.py", "tests/planning/workload/test_offers.py"
PARALLEL, LOSSES = (
    "tests/planning/workload/test_parallel.py",
    "tests/planning/workload/test_plan_losses.py",
)
MEETING = f"{PARALLEL}::test_units_that_may_meet_both_conditions_are_not_parted"
ROWS = f"{PARALLEL}::test_rows_that_are_apart_are_not_units_that_are"
PARTED = f"{PARALLEL}::test_units_that_conditions_part_cost_the_most_of_them"
BLOCK = "dpsql/planning/workload/block.py"
DISJOINT = "dpsql/planning/workload/disjoint.py"


def units_of_block(seed: int) -> tuple[str, ...]:
    """The generated blocks, first those of the world on which the fault was seen."""
    file = "tests/planning/workload/test_parallel_blocks.py"
    return f"{file}::test_no_unit_moves_more_of_a_block_than_is_charged_for_it[{seed}]", file


FAULTS = (
    Fault(
        "parallel composition over rows that are apart, not units",
        DISJOINT,
        "_demanded",
        "of_unit_table and column.relation == scan.alias",
        "column.relation == scan.alias",
        (ROWS, f"{PARALLEL}::test_columns_of_the_units_table_need_a_key_that_was_checked"),
    ),
    Fault(
        "parallel composition over texts of which one part reads less than another",
        DISJOINT,
        "_meets_the_cut",
        "len(text) >= characters",
        "len(text) > characters",
        (f"{PARALLEL}::test_a_long_text_may_be_in_two_parts_where_one_of_them_reads_less_of_it",),
    ),
    Fault(
        "parallel composition over a key that nobody checked",
        DISJOINT,
        "determined",
        "schema.tables[schema.unit_table].key == (schema.unit_column,)",
        "schema.tables[schema.unit_table].max_rows_per_unit == 1",
        (f"{PARALLEL}::test_columns_of_the_units_table_need_a_key_that_was_checked",),
    ),
    Fault(
        "the unit's key is not checked when the data are opened",
        "dpsql/schema/model.py",
        "Schema.unique",
        "columns.add(self.unit)",
        "pass",
        (f"{PARALLEL}::test_columns_of_the_units_table_need_a_key_that_was_checked",),
    ),
    Fault(
        "a row without a partner is taken for one of a unit without a value",
        DISJOINT,
        "_collect",
        'case Join(left=first, right=second, kind="inner", condition=condition): ...',
        "case Join(left=first, right=second, condition=condition): ...",
        (ROWS, f"{PARALLEL}::test_no_person_moves_cores_that_cost_more_than_the_block"),
    ),
    Fault(
        "the ON of a LEFT JOIN is a demand on its left rows",
        DISJOINT,
        "_collect",
        'case Join(left=outer, kind="left"):\n    _collect(outer, known, scans, subqueries)',
        'case Join(left=outer, kind="left", condition=condition):\n'
        "    known.extend(conjuncts(condition))\n"
        "    _collect(outer, known, scans, subqueries)",
        units_of_block(3),
    ),
    Fault(
        "no unit has NULL where texts part the units",
        DISJOINT,
        "points",
        "[*dict.fromkeys(constant for constant in constants if isinstance(constant, str)), _OTHER, "
        "None]",
        "[*dict.fromkeys(constant for constant in constants if isinstance(constant, str)), _OTHER]",
        units_of_block(7),
    ),
    Fault(
        "no unit has a text that no condition names",
        DISJOINT,
        "points",
        "[*dict.fromkeys(constant for constant in constants if isinstance(constant, str)), _OTHER, "
        "None]",
        "[*dict.fromkeys(constant for constant in constants if isinstance(constant, str)), None]",
        units_of_block(11),
    ),
    Fault(
        "no unit has NULL where numbers part the units",
        DISJOINT,
        "points",
        "[*numbers, *between, *ends, None]",
        "[*numbers, *between, *ends]",
        units_of_block(5),
    ),
    Fault(
        "no unit lies between two constants",
        DISJOINT,
        "points",
        "*between",
        "",
        units_of_block(0),
    ),
    Fault(
        "no unit lies beyond all constants",
        DISJOINT,
        "points",
        "*ends",
        "",
        units_of_block(0),
    ),
    Fault(
        "a boolean that parts the units is never NULL",
        DISJOINT,
        "points",
        "[True, False, None]",
        "[True, False]",
        units_of_block(9),
    ),
    Fault(
        "IN is true of its first value alone",
        DISJOINT,
        "_truth",
        '[_compared("=", column, point, option) for option in options]',
        '[_compared("=", column, point, option) for option in options[:1]]',
        units_of_block(1),
    ),
    Fault(
        "a long IN is false where one of its values is another",
        DISJOINT,
        "_one_of",
        "all(side == {False} for side in sides)",
        "any(side == {False} for side in sides)",
        units_of_block(4),
    ),
    Fault(
        "a comparison that is turned round keeps its sign",
        DISJOINT,
        "_TURNED",
        '"<": ">", "<=": ">=", ">": "<", ">=": "<="',
        '"<": "<", "<=": "<=", ">": ">", ">=": ">="',
        units_of_block(14),
    ),
    Fault(
        "what is unknown on one side of OR is unknown",
        DISJOINT,
        "_joined",
        "decides in known",
        "decides in known and None not in known",
        units_of_block(0),
    ),
    Fault(
        "texts are compared in the order of their classes",
        DISJOINT,
        "_compared",
        'if function not in ("=", "<>"):\n    return _ANY',
        "pass",
        units_of_block(0),
    ),
    Fault(
        "only the first part of a block says which units there are",
        BLOCK,
        "parallel_cost",
        "points(demanded, name)",
        "points(demanded[:1], name)",
        units_of_block(1),
    ),
    Fault(
        "a column of any table is one of the unit's own",
        DISJOINT,
        "_demanded",
        "of_unit_table and column.relation == scan.alias",
        "of_unit_table",
        units_of_block(0),
    ),
    Fault(
        "texts that a collation holds for equal part the units",
        DISJOINT,
        "_compared",
        "{True, False}",
        '{function == "="}',
        (MEETING,),
    ),
    Fault(
        "a unit that is replaced is in one part alone",
        BLOCK,
        "parallel_cost",
        'schema.privacy.neighbours == "replace"',
        "False",
        (f"{PARALLEL}::test_a_unit_that_is_replaced_may_be_in_two_parts",),
    ),
    Fault(
        "a block is charged the least of its statements",
        BLOCK,
        "_larger",
        "max(one.epsilon, other.epsilon)",
        "min(one.epsilon, other.epsilon) or other.epsilon",
        (f"{PARALLEL}::test_statements_of_one_part_are_added_up",),
    ),
    Fault(
        "a block is charged one of its statements",
        "dpsql/privacy/accountants/composition_rule.py",
        "LedgerSums.block_cost",
        "sum_of(releases.costs)",
        "releases.costs[0]",
        (f"{OFFERS}::test_prices_are_those_of_the_theorems",),
    ),
    Fault(
        "the loss of a count is that of continuous noise",
        "dpsql/privacy/privacy_loss_distributions.py",
        "_distribution",
        "library.from_discrete_laplace_mechanism(_above(rate), sensitivity=distance, **settings)",
        "library.from_laplace_mechanism(1 / (_above(rate) * distance), **settings)",
        (f"{LOSS}::test_composition_is_from_above_and_tight",),
    ),
    Fault(
        "losses are composed optimistically",
        "dpsql/privacy/privacy_loss_distributions.py",
        "_distribution",
        '"pessimistic_estimate": True',
        '"pessimistic_estimate": False',
        (f"{LOSS}::test_composition_is_from_above_and_tight",),
    ),
    Fault(
        "a large distance is rounded down",
        "dpsql/privacy/privacy_loss_distributions.py",
        "LaplaceLoss.coarse",
        "-(-self.distance // FINEST)",
        "self.distance // FINEST",
        (f"{DOMINANCE}::test_a_large_distance_is_rounded_up_and_stretched",),
    ),
    Fault(
        "a threshold leaks nothing in a block",
        "dpsql/privacy/accountants/renyi.py",
        "Renyi.block_cost",
        "delta + leaks",
        "delta",
        (f"{OFFERS}::test_thresholds_are_part_of_what_a_block_leaks",),
    ),
    Fault(
        "the losses of a histogram's levels are forgotten",
        "dpsql/planning/workload/block.py",
        "_of_tree",
        "[_of_noise(tree.node, alone=False)] * tree.levels",
        "[_of_noise(tree.node, alone=False)]",
        (f"{LOSSES}::test_losses_cover_every_release_of_a_plan",),
    ),
    Fault(
        "Gaussian noise on many groups is taken for that on one number",
        "dpsql/planning/workload/block.py",
        "_of_noise",
        "alone and variance <= WIDEST_GAUSSIAN**2",
        "True",
        (f"{LOSSES}::test_gaussian_losses_are_of_the_distance_and_the_noise_of_every_release",),
    ),
    Fault(
        "noise on a lattice is taken for noise on the line",
        "dpsql/privacy/privacy_loss_distributions.py",
        "GaussianVectorLoss.line",
        "self.variance - smoothing(self.l2_squared)",
        "self.variance",
        (f"{LATTICE}::test_the_epsilon_of_vectors_is_not_below_that_of_their_lattice",),
    ),
    Fault(
        "Gaussian releases of a block are composed as if they were one",
        "dpsql/privacy/privacy_loss_distributions.py",
        "epsilon_of_losses",
        "sum((loss.square * times for loss, times in lines), Fraction(0))",
        "max(loss.square for loss, times in lines)",
        (f"{LATTICE}::test_the_wider_the_noise_the_nearer_is_the_lattice_to_the_line",),
    ),
    Fault(
        "rounding to integers is seen of many",
        "dpsql/privacy/privacy_loss_distributions.py",
        "smoothing",
        "l2_squared.bit_length() + 62",
        "62",
        (f"{LATTICE}::test_what_is_rounded_to_integers_is_not_seen",),
    ),
    Fault(
        "advanced composition of statements of several prices",
        "dpsql/privacy/accountants/advanced.py",
        "_block_epsilon",
        "others or price is None",
        "price is None",
        (f"{OFFERS}::test_each_accountant_says_why_it_is_not_valid",),
    ),
    Fault(
        "a workload is charged after it was read",
        "dpsql/session/answering.py",
        "WorkloadAnswering.run",
        "charges = {} if block is None else execution.charged_together(block)",
        "from dpsql.privacy import accountant as mint\n"
        "\n"
        "made = (mint.Charge(mint._MINT, each, each.cost, 1) for each in workload.bought)\n"
        "charges = {id(each.plan): each for each in made}",
        (f"{BLOCKS}::test_a_block_is_charged_once_and_before_a_row_is_read",),
    ),
    Fault(
        "what a block has paid is told as free where another bought it meanwhile",
        "dpsql/session/answering.py",
        "WorkloadAnswering.run",
        "stored=False",
        "",
        (f"{BLOCKS}::test_what_another_buys_while_the_block_is_charged_was_paid_for_in_the_block",),
    ),
    Fault(
        "a charge of a block is divided as often as one likes",
        "dpsql/privacy/accountant.py",
        "divided",
        "charge.redeem()",
        "charge.plan",
        (f"{BLOCKS}::test_a_charge_is_divided_once",),
    ),
    Fault(
        "an accountant that does not hold is charged by",
        "dpsql/session/answering.py",
        "offered",
        "offer is not None and not offer.valid",
        "False",
        (f"{BLOCKS}::test_one_that_does_not_hold_is_refused_and_nothing_is_charged",),
    ),
    Fault(
        "what was approximate is charged without its delta",
        "dpsql/privacy/accountants/composition_theorem.py",
        "approximate_cost",
        "Cost(epsilon, pure_rho(epsilon), delta)",
        "Cost(epsilon, pure_rho(epsilon))",
        (f"{OFFERS}::test_prices_are_those_of_the_theorems",),
    ),
    Fault(
        "moments are compared by their day",
        DISJOINT,
        "_point",
        "case datetime(): ...",
        "case datetime() if False: ...",
        (
            "tests/planning/workload/test_parallel.py::test_units_that_may_meet_both_conditions_are_not_parted",
        ),
    ),
)
