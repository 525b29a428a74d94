"""The only room that speaks sqlglot: text in, understood statements and engine SQL out; no data, no noise."""
