"""The proof that no call reachable from an entry point synchronizes, or the obstacles to it.

The check reports what it believes: a value of which nothing is known is silent. A proof asks for the opposite. Here such
a value may be anything, and a call that cannot be resolved is an obstacle with its text.

    entry -> reachability -> walk of each function (statements, expressions, calls) -> obstacles -> certificate

A walk reads the syntax tree of a function, so that nothing is left out that the lowering of the check leaves out.
`source` is the only module that asks the check's inference for something.
"""
