"""The source model: modules, classes, functions and the meaning of names, immutable once linked."""
