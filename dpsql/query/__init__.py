"""The only room that speaks sqlglot: text in, understood statements and engine SQL out; it sees no data and draws no noise."""
