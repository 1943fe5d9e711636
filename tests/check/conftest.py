"""The programs of the corpus are checked, and never run."""

collect_ignore = ["corpus"]
