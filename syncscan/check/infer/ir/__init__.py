"""The intermediate representation: one flat list of instructions for each function, over slots.

Each instruction defines one slot, whose number is its place in the list. It is plain data: numbers, texts and tuples, and no
node of a syntax tree.
"""
