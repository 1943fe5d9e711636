"""Persistence of the inference: the state of a project as plain data, from which a later run continues.

`names` numbers the definitions of the source, `values` serialises abstract values, and `knowledge` cells and
evaluations. The reader deserialises each piece on its first use, because an edit touches few pieces.
"""
