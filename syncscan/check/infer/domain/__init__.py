"""Abstract values: what they are made of, their lattice, and what becomes of them across functions."""
