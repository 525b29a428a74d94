"""A planted fault replaces one piece of a module, whatever its layout, and nothing else."""

from __future__ import annotations

import ast

import pytest
from anchors import AnchorError, planted_source
from planted import Fault, InString

MODULE = '''
"""A module, whose docstring has SELECT in it."""

MOST_ROWS, LEAST = 100, 5
LIMITS = {"rows": MOST_ROWS, **OTHERS, exp.Sum: "double"}


class Clip:
    """Limits rows."""

    most: int = 5

    @cached
    def rows(self, most: int = 7) -> int:
        if self.ε and most > 7:
            return min(most, 7)
        elif most > 8 and self.open and self.left:
            # a remark: most > 9
            count(self)
        else:
            release(
                limit,  # the limit
                norm='L2', **LIMITS
            )
        with closing(self) as opened, \\
                suppress(ValueError):
            try:
                yield any(row for row in (opened))
            except KeyError as error:
                raise OSError from error
        return -(most + 1) * 2

    def text(self, kind: str):
        match kind:
            case "a" | "b" if self:
                sql = f"SELECT {self.rows:{self.most}} FROM t "
                sql += (
                    "WHERE a = \\"'b\\" "  # it's a remark
                    f'ORDER BY {kind}'
                )
            case _:
                sql = "SELECT"

        def inner():
            return kind

        return sql + inner()
'''

REPLACED = {
    "an expression": ("Clip.rows", "min( most,7 )", "most", "min(most, 7)", "most"),
    "in parentheses": ("Clip.rows", "most+1", "most or 2", "most + 1", "(most or 2)"),
    "beside other letters than ASCII": ("Clip.rows", "most > 7", "True", "most > 7", "True"),
    "a part of a chain": (
        "Clip.rows",
        "most > 8 and self.open",
        "most",
        "most > 8 and self.open",
        "most",
    ),
    "the end of a chain": (
        "Clip.rows",
        "self.open and self.left",
        "self.left",
        "self.open and self.left",
        "self.left",
    ),
    "a statement": ("Clip.rows", "return min(most, 7)", "pass", "return min(most, 7)", "pass"),
    "a call": (
        "Clip.rows",
        "count(self)",
        "a = 1\nreturn a",
        "count(self)",
        "a = 1\n            return a",
    ),
    "an argument": (
        "Clip.rows",
        "limit",
        "",
        "                limit,  # the limit\n",
        "                # the limit\n",
    ),
    "a keyword argument": (
        "Clip.rows",
        'norm="L2"',
        'norm="L1", a=1',
        "norm='L2'",
        'norm="L1", a=1',
    ),
    "several keyword arguments": ("Clip.rows", "**LIMITS", "", "norm='L2', **LIMITS", "norm='L2'"),
    "the first line of a statement": (
        "Clip.rows",
        "if self.ε and most > 7: ...",
        "if a: ...",
        "if self.ε and most > 7:",
        "if a:",
    ),
    "the first line of another branch": (
        "Clip.rows",
        "if most > 8 and self.open and self.left: ...",
        "if a: ...",
        "elif most > 8 and self.open and self.left:",
        "elif a:",
    ),
    "a longer first line": (
        "Clip.rows",
        "with closing(self) as opened, suppress(ValueError): ...",
        "a()\nif True: ...",
        "with closing(self) as opened, \\\n                suppress(ValueError):",
        "a()\n        if True:",
    ),
    "an exception": (
        "Clip.rows",
        "except KeyError as error: ...",
        "except OSError: ...",
        "except KeyError as error:",
        "except OSError:",
    ),
    "a generator": (
        "Clip.rows",
        "(row for row in opened)",
        "opened",
        "(row for row in (opened))",
        "(opened)",
    ),
    "a case": (
        "Clip.text",
        'case "a" | "b" if self: ...',
        'case "a": ...',
        'case "a" | "b" if self:',
        'case "a":',
    ),
    "a case and what it does": (
        "Clip.text",
        'case _:\n    sql = "SELECT"',
        "case _:\n    a()",
        'case _:\n                sql = "SELECT"',
        "case _:\n                a()",
    ),
    "a function with its decorator": (
        "Clip",
        "@cached\ndef rows(self, most: int = 7) -> int: ...",
        "def rows(self, most: int = 8) -> int: ...",
        "@cached\n    def rows(self, most: int = 7) -> int:",
        "def rows(self, most: int = 8) -> int:",
    ),
    "a function in a function": ("Clip.text.inner", "kind", "sql", "return kind", "return sql"),
    "a class's variable": ("Clip.most", "5", "6", "most: int = 5", "most: int = 6"),
    "a module's constant": ("LEAST", "100", "10", "100, 5", "10, 5"),
    "an item of a dict": (
        "LIMITS",
        "'rows': MOST_ROWS",
        '"rows": 1, "all": 2',
        '"rows": MOST_ROWS',
        '"rows": 1, "all": 2',
    ),
    "an item with a name": ("", 'exp.Sum: "double"', "", ', exp.Sum: "double"', ""),
    "the items of another dict": ("LIMITS", "**OTHERS", "", "**OTHERS, ", ""),
    "a string": ("Clip.text", '"SELECT"', '"a"', 'sql = "SELECT"', 'sql = "a"'),
    "a part of an f-string": (
        "Clip.text",
        InString("{self.most}} FROM t"),
        "2}",
        "{self.most}} FROM t",
        "2}",
    ),
}


@pytest.mark.parametrize(
    ("within", "old", "new", "before", "after"), REPLACED.values(), ids=REPLACED
)
def test_one_piece_is_replaced(
    within: str, old: str | InString, new: str, before: str, after: str
) -> None:
    assert MODULE.count(before) == 1
    planted = planted_source(Fault("", "clip.py", within, old, new, ()), MODULE)
    assert planted == MODULE.replace(before, after)
    ast.parse(planted)


def test_strings_side_by_side_are_one() -> None:
    fault = Fault("", "clip.py", "Clip.text", InString("""'b\\" ORDER BY {kind}"""), "c", ())
    planted = planted_source(fault, MODULE)
    assert planted == MODULE.replace('\'b\\" "', 'c"').replace("ORDER BY {kind}", "")


@pytest.mark.parametrize(
    ("within", "old"),
    [
        ("Clip.rows", "most"),
        ("Clip.rows", "most > 9"),
        ("Clip.row", "min(most, 7)"),
        ("Clip.text", "min(most, 7)"),
        ("Clip.rows", InString("SELECT")),
        ("Clip.text", InString("SELECT")),
    ],
)
def test_what_does_not_occur_exactly_once_is_refused(within: str, old: str | InString) -> None:
    with pytest.raises(AnchorError, match=r"occurs \d+ times"):
        planted_source(Fault("", "clip.py", within, old, "1", ()), MODULE)
