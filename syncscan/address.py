"""Where syncscan lives: the one place for its address, from which ``docs/generate.py`` writes it elsewhere."""

REPOSITORY = "https://github.com/OWNER/syncscan"
BRANCH = "main"


def rule_address(code: str) -> str:
    """The page of a rule."""
    return f"{REPOSITORY}/blob/{BRANCH}/docs/rules/{code}.md"
