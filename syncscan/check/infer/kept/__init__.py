"""What is known of a project as plain data, and back: so that a later run goes on where an earlier one ended.

`names` gives what the source defines a number, `values` writes values and their evidence, `knowledge` cells and evaluations.
What is read again is read when it is asked for, for an edit touches little of it.
"""
