"""Transfer functions: what each instruction makes of the values of its operands, and of the cells that it reads.

They are monotone, know nothing of rules, and stand in tables (`registry`) that the modules of this package fill.
"""
