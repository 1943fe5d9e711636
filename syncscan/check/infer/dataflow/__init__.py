"""What the analysis keeps: cells, the state of each function, and what all instructions of a project share."""
