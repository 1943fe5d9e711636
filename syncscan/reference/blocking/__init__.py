"""The forms that the components of ``syncscan.reference`` replaced: the same names, and the host blocks.

A line that blocks ends in the code of the rule that finds it. ``syncscan recipe diff NAME`` shows these
beside the sync-free forms; nothing here is meant to be used.
"""
