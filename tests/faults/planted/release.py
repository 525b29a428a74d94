"""Engine, release, session and what was paid for already."""

from __future__ import annotations

from planted.fault import Fault
from planted.finders import ANSWERS, DEPARTURE, ERRORS, KEPT, RELEASED

FAULTS = (
    Fault(
        "released rows in the engine's order",
        "dpsql/release.py",
        "rows = sorted(rows, key=lambda",
        "rows = list(rows) or sorted(rows, key=lambda",
        (RELEASED,),
    ),
    Fault(
        "charge after release",
        "dpsql/session/river.py",
        "            charge = pay(plan)\n            departure.begin()\n"
        "            released = told_nothing(lambda: self._measured(charge, shell, running))\n",
        "            from dpsql.privacy.accountant import _MINT\n\n            departure.begin()\n"
        "            charge = Charge(_MINT, plan, plan.cost, 0)\n"
        "            released = told_nothing(lambda: self._measured(charge, shell, running))\n"
        "            charge = pay(plan)\n",
        ("tests/engines/test_untouched.py::test_answering_touches_the_engine_after_the_charge",),
    ),
    Fault(
        "trouble after the charge is told as it is",
        "dpsql/session/trouble.py",
        "    except Exception:\n        pass\n",
        "    except ArithmeticError:\n        pass\n",
        (f"{ERRORS}::test_trouble_anywhere_after_the_charge_is_the_same_and_leads_nowhere",),
    ),
    Fault(
        "the trace of an error leads to the engine",
        "dpsql/session/trouble.py",
        "    raise said\n",
        "        raise said\n",
        (f"{ERRORS}::test_trouble_anywhere_after_the_charge_is_the_same_and_leads_nowhere",),
    ),
    Fault(
        "the time runs from the end of the reading",
        "dpsql/session/river.py",
        "            departure.begin()\n            released = told_nothing(lambda: self._measured("
        "charge, shell, running))\n",
        "            released = told_nothing(lambda: self._measured(charge, shell, running))\n"
        "            departure.begin()\n",
        (f"{DEPARTURE}::test_an_answer_leaves_at_the_next_multiple_after_the_charge",),
    ),
    Fault(
        "an answer leaves when it is made",
        "dpsql/session/departure.py",
        "        leaves = self._begun + self._bucket * max(1, math.ceil(passed / self._bucket))\n",
        "        leaves = self._begun + passed\n",
        (f"{DEPARTURE}::test_an_answer_leaves_at_the_next_multiple_after_the_charge",),
    ),
    Fault(
        "a failure leaves at once",
        "dpsql/session/departure.py",
        "        if kind is None or issubclass(kind, Exception):\n",
        "        if kind is None:\n",
        (f"{DEPARTURE}::test_a_failure_leaves_when_an_answer_would",),
    ),
    Fault(
        "an interrupted answer is kept",
        "dpsql/session/river.py",
        "        running.check()  # what was ended before",
        "        # what was ended before",
        (f"{DEPARTURE}::test_what_was_interrupted_leaves_when_an_answer_would_and_is_not_kept",),
    ),
    Fault(
        "the engine's words reach the analyst",
        "dpsql/engines/duckdb.py",
        "        with suppress(Exception):\n            rows = self._rows(",
        "        if True:\n            rows = self._rows(",
        (f"{ERRORS}::test_the_engine_itself_says_nothing",),
    ),
    Fault(
        "no cross-check",
        "dpsql/engines/cross_check.py",
        "    if not sql.isascii() or not sql.isprintable():",
        "    if True:\n        return\n    if not sql.isascii() or not sql.isprintable():",
        ("tests/engines/test_cross_check.py",),
    ),
    Fault(
        "derived tables are not compared in the cross-check",
        "dpsql/engines/cross_check.py",
        "or made != derived or",
        "or",
        ("tests/engines/test_cross_check.py",),
    ),
    Fault(
        "a reading runs a stage again",
        "dpsql/engines/duckdb.py",
        "stage = self._stages.pop(0)",
        "stage = self._stages[0]",
        ("tests/frontends/test_types.py::test_an_unpaid_plan_is_not_read",),
    ),
    Fault(
        "tables are not compared in the cross-check",
        "dpsql/engines/cross_check.py",
        "if read != planned or made",
        "if made",
        ("tests/engines/test_cross_check.py",),
    ),
    Fault(
        "expressions of every kind pass the cross-check",
        "dpsql/engines/cross_check.py",
        """if not {each["class"] for each in nodes if "class" in each} <= _CLASSES:""",
        "if False:",
        ("tests/engines/test_cross_check.py",),
    ),
    Fault(
        "a planned table need not be read",
        "dpsql/engines/cross_check.py",
        "if read != planned or made",
        "if not read <= planned or made",
        ("tests/engines/test_cross_check.py",),
    ),
    Fault(
        "the engine is not locked",
        "dpsql/engines/opened.py",
        '        self._connected.execute("SET lock_configuration = true")',
        "        pass",
        ("tests/engines/test_lockdown.py",),
    ),
    Fault(
        "exact rows are shown",
        "dpsql/engines/exact.py",
        '    def __repr__(self) -> str:\n        raise TypeError("exact rows are not shown")',
        "    def __repr__(self) -> str:\n        return repr(self._cores)",
        ("tests/engines/test_exact_rows.py",),
    ),
    Fault(
        "planning reads public rows",
        "dpsql/session/compiler.py",
        "told = shell.describe(",
        "_ = [shell._sandbox._public_rows(table) for table in query.public]; told = shell.describe(",
        ("tests/engines/test_untouched.py",),
    ),
    Fault(
        "a mode is chosen by exact counts",
        "dpsql/release.py",
        "return tuple(count * contribution.step for count in noisy.children(1, 0))",
        "return tuple(Fraction(dict(zip(bins, counts, strict=True)).get(place, 0)) for place in range(tree.bins))",
        ("tests/properties/test_targeted.py::test_a_mode_is_chosen_by_noisy_counts",),
    ),
    Fault(
        "the key of an answer leaves out the noise",
        "dpsql/answers/key.py",
        "    cores = [[core.sql, canonical(core)] for core in plan.cores]",
        "    cores = [core.sql for core in plan.cores]",
        (f"{ANSWERS}::test_another_price_is_another_release",),
    ),
    Fault(
        "the key of an answer leaves out the data",
        "dpsql/answers/key.py",
        '["dpsql answer", FORMAT, version, ',
        '["dpsql answer", FORMAT, ',
        (f"{ANSWERS}::test_changed_data_are_paid_for",),
    ),
    Fault(
        "an answer is found by the text of its statement",
        "dpsql/answers/key.py",
        "    cores = [[core.sql, canonical(core)] for core in plan.cores]",
        "    cores = [plan.statement]",
        (f"{ANSWERS}::test_another_price_is_another_release", f"{ANSWERS}::test_noise_cannot_be_averaged_away"),
    ),
    Fault(
        "an answer is kept that no entry has paid for",
        "dpsql/answers/paid.py",
        "            return self._keep(key, entry, released, plan, version)",
        "            return self._keep(key, entry - 1, released, plan, version)",
        (f"{KEPT}::test_the_charge_is_in_the_ledger_before_the_answer_is_kept",),
    ),
    Fault(
        "an answer is kept of data that changed while they were read",
        "dpsql/answers/paid.py",
        "            if self._version() != version:",
        "            if False:",
        (f"{KEPT}::test_data_that_change_while_they_are_read_are_not_kept",),
    ),
    Fault(
        "the sandbox's words reach clients",
        "dpsql/shell/faults.py",
        'return StatementError("E_SHELL", _UNFIT)',
        'return StatementError("E_SHELL", words)',
        ("tests/shell/test_shell_faults.py::test_what_does_not_fit_is_said_before_it_is_paid",),
    ),
    Fault(
        "what fails over released rows quotes the value",
        "dpsql/shell/faults.py",
        'ShellFailed("22023", "a function was given a value that it does not take")',
        'ShellFailed("22023", words)',
        ("tests/shell/test_shell_faults.py::test_what_fails_on_a_value_does_not_quote_it",),
    ),
    Fault(
        "the sandbox's optimizer decides by statistics",
        "dpsql/shell/sealed.py",
        "    **CAREFUL,\n",
        "",
        ("tests/shell/test_sealed.py::test_statistics_decide_nothing",),
    ),
    Fault(
        "a fork takes down the engine that it inherits",
        "dpsql/instance.py",
        "        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))\n        _INHERITED.add(connection)\n",
        "        pass\n",
        ("tests/frontends/test_forks.py::test_a_fork_ends_as_it_should[drops]",),
    ),
    Fault(
        "the spread of a total forgets the levels above",
        "dpsql/least_squares.py",
        "        normal += (level.group[:, None] == level.group[None, :]) / level.variance\n",
        "        normal += (level.group[:, None] == level.group[None, :]) / (2 * level.variance)\n",
        ("tests/accuracy/test_expected.py::test_the_spread_of_least_squares_is_that_of_its_estimate",),
    ),
)
