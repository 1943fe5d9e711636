"""What `benchmarks/robustness.py` checks, and how it judges what comes of it."""
