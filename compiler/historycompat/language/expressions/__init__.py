"""Expr → callables: what an expression is known to be, how it is computed, and which places it names."""
