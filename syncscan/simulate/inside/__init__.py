"""The part of the simulation that runs inside the program.

The package imports the standard library, torch and itself, and never the rest of syncscan. It supports every
Python version that torch 2.4 supports. A traced program loads this folder under another package name, and
receives the operation table as plain data (see `conditions`). `gpu` is the state that all other modules
share; `simulation` puts the modules together.
"""
