"""The proof that no call reachable from an entry point synchronizes, or the obstacles to the proof.

The check reports definite values: an unknown value is silent. A proof asks for the opposite. Here an unknown value may be
anything, and a call that cannot be resolved is an obstacle with its text.

    entry -> reachability -> walk of each function (statements, expressions, calls) -> obstacles -> certificate

A walk reads the syntax tree of a function, so that the proof misses no node that the lowering of the check skips. `source`
is the only module that queries the check's inference.
"""
