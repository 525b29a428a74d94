"""Aggregate functions over private rows, as they are spelled and as they are measured."""
