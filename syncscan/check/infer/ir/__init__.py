"""The intermediate representation (IR): one flat list of instructions for each function, over slots.

Each instruction defines one slot, whose number is its index in the list. The IR is plain data: numbers, texts
and tuples, without nodes of a syntax tree.
"""
