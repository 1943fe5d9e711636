"""Abstract values: their fields, their lattice, and their form on the other side of a call."""
