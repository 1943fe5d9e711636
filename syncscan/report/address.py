"""The address of the repository: the one place for it, from which ``docs/generate.py`` writes it elsewhere.

Without an address, reports, the editor and the metadata of the package have no links.
"""

from __future__ import annotations

REPOSITORY = ""  # such as "https://github.com/NAME/syncscan"
BRANCH = "main"


def rule_address(code: str) -> str | None:
    """Return the address of a rule's page; None where the repository has no address."""
    return f"{REPOSITORY}/blob/{BRANCH}/docs/rules/{code}.md" if REPOSITORY else None
