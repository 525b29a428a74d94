"""How each kind of scalar node is read into the closed union.

It serves `dpsql.sql.binder.expressions.expression_reader`.
"""
