"""Transfer functions: the value of each instruction, from its operands and the cells that it reads.

Transfer functions are monotone and know no rules. The modules of this package register them in tables
(`registry`).
"""
