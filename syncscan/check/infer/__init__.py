"""Device inference: where every value of a project lives."""
