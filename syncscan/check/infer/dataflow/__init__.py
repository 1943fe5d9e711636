"""The state of the analysis: cells, the state of each function, and the context that all instructions share."""
