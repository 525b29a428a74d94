"""How each kind of scalar node is read into the closed union, for
`dpsql.sql.binder.expressions.expression_reader`.
"""
