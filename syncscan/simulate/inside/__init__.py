"""The part of the simulation that runs inside the program.

It imports the standard library, torch and itself, never the rest of syncscan, and runs on every Python that torch
2.4 runs on; a traced program loads this folder under a name of its own. The operation table reaches it as plain
data (see `conditions`). `gpu` is what every other part asks; `simulation` puts them together.
"""
