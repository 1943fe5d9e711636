"""Simulated ground truth: which lines of libraries synchronize under their own tests, and what the check finds of them."""
