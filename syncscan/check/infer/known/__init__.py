"""What is known of the project so far: cells, who contributes to each, and who reads it."""
