"""The errors that a user can correct, and the exit statuses that scripts can trust."""

from collections.abc import Iterable
from difflib import SequenceMatcher

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_ERROR = 2
EXIT_NOT_EXECUTABLE = 126
EXIT_NOT_FOUND = 127
EXIT_INTERRUPTED = 130
EXIT_UNREAD = 141  # the reader of the output left early; as of a command that SIGPIPE ended

_ALIKE = 0.65  # of 1; below it, a suggestion is more often a surprise than a help


class SyncscanError(Exception):
    """An error that a user can correct, in one line; printed to stderr without a traceback."""

    exit_status = EXIT_ERROR


class ConfigError(SyncscanError):
    """A setting, on the command line or in ``pyproject.toml``, that syncscan does not understand."""


class InterruptError(SyncscanError):
    """Ctrl-C."""

    exit_status = EXIT_INTERRUPTED


def closest(word: str, valid: Iterable[str]) -> str | None:
    """Return the valid word most like a mistaken one, or None where none is like it.

    A word that begins like the mistaken one wins.
    """

    def likeness(candidate: str) -> tuple[bool, float]:
        mistaken, right = word.casefold(), candidate.casefold()
        return right.startswith(mistaken), SequenceMatcher(None, right, mistaken).ratio()

    best = max(valid, key=likeness, default=None)
    return best if best is not None and likeness(best)[1] >= _ALIKE else None


def suggestion(word: str, valid: Iterable[str], otherwise: str = "") -> str:
    """Return the half-sentence that names the `closest` of the valid words.

    ``otherwise``, or a list of all valid words, stands in if none is like the mistaken one.
    """
    known = list(valid)
    best = closest(word, known)
    return f"did you mean {best!r}?" if best else otherwise or f"it is one of {', '.join(known)}"
