"""A suppression that suppresses nothing, or that cannot be understood, hides the next defect on its line.

`# syncscan: ignore[SYN101] reason` on a line, or alone on the line above it, silences the findings of that
code there; `# syncscan: file-ignore[SYN101] reason` does so in the whole file. A prefix such as `SYN1` names
a group. This rule reports a comment that

- silences nothing, because the finding is gone or has another code;
- names no code, or one that does not exist;
- gives no reason, where `require-reason = true` is set.

The fix removes codes that suppress nothing. The fix is safe, because it changes a comment alone.
"""

import ast

from syncscan.model import UNUSED_SUPPRESSION
from syncscan.rule import Facts, Match, Rule


class UnusedSuppression(Rule):
    code = UNUSED_SUPPRESSION
    name = "unused-suppression"
    summary = "a `# syncscan: ignore[...]` comment that suppresses nothing"
    instead = "remove the comment, or name the code of the finding on the line"
    nodes = ()
    examples = ()

    def match(self, node: ast.AST, facts: Facts) -> Match | None:  # noqa: ARG002 (comments are no nodes)
        """Decide nothing: ``syncscan.check.suppress`` reads comments, which no rule sees."""
        return None
