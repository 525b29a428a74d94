"""Bins of histograms come from the engine as rows, and each stands with its group afterwards."""

from __future__ import annotations

from array import array
from math import nan

import pytest

from dpsql.engines.duckdb.row_encoding import decode_rows, gathered, written


def _bins(*pairs: tuple[int, int]) -> tuple[array[int], array[int]]:
    return array("q", [each for each, _ in pairs]), array("q", [count for _, count in pairs])


def test_each_bin_stands_with_its_group_and_histogram() -> None:
    rows = [
        ("b", None, 1, 4, 40),
        ("a", 1, None, None, None),
        ("a", None, 0, 9, 90),
        ("b", 2, None, None, None),
        ("a", None, 0, 3, 30),
        ("gone", None, 0, 7, 70),
    ]
    assert gathered(rows, 1, 2) == [
        ("a", 1, _bins((3, 30), (9, 90)), None),
        ("b", 2, None, _bins((4, 40))),
    ]


def test_a_group_has_bins_in_each_histogram() -> None:
    rows = [
        ("a", 1, None, None, None),
        ("a", None, 0, 9, 90),
        ("a", None, 1, 4, 40),
        ("a", None, 0, 3, 30),
    ]
    assert gathered(rows, 1, 2) == [("a", 1, _bins((3, 30), (9, 90)), _bins((4, 40)))]


@pytest.mark.parametrize("key", [nan, None, -0.0, "", True])
def test_keys_are_those_that_group_by_takes_for_equal(key: object) -> None:
    rows = [
        (key, 1, None, None, None),
        (float("nan") if key is nan else 0.0 if key == 0 else key, None, 0, 1, 2),
    ]
    ((found, cell, bins),) = gathered(rows, 1, 1)
    assert found is key and cell == 1 and bins == _bins((1, 2))


def test_without_keys_there_is_one_group() -> None:
    assert gathered([(None, None, None)], 0, 1) == [(None,)]
    assert gathered([(0, 5, 6), (None, None, None)], 0, 1) == [(_bins((5, 6)),)]


def test_they_come_through_the_pipe_as_they_are() -> None:
    rows = [("a", _bins((3, 30), (9, 2**62))), ("b", None), ("c", _bins())]
    assert decode_rows(*written(rows)) == rows
    assert decode_rows(*written([(None,)])) == [(None,)]


def test_bins_of_other_sizes_than_are_told_are_no_column() -> None:
    description, columns = written([(_bins((3, 30), (9, 90)),)])
    with pytest.raises(ValueError):
        decode_rows([1, [["b", len(columns[0]) - 8]]], [columns[0][:-8]])
    assert description == [1, [["b", len(columns[0])]]]
