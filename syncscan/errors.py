"""The errors that a user can mend, and the exit statuses that scripts can trust."""

from collections.abc import Iterable
from difflib import SequenceMatcher

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_ERROR = 2
EXIT_NOT_EXECUTABLE = 126
EXIT_NOT_FOUND = 127
EXIT_INTERRUPTED = 130

_ALIKE = 0.6  # of 1; below it, a suggestion is more often a surprise than a help


class SyncscanError(Exception):
    """What went wrong and what to do, in one line; printed to stderr without a traceback."""

    exit_status = EXIT_ERROR


class ConfigError(SyncscanError):
    """A setting, on the command line or in ``pyproject.toml``, that syncscan does not understand."""


class InterruptError(SyncscanError):
    """Ctrl-C."""

    exit_status = EXIT_INTERRUPTED


def nearest(word: str, valid: Iterable[str], otherwise: str = "") -> str:
    """The half-sentence that names the valid word most like a mistaken one.

    A word that begins like the mistaken one wins. Where none is like it, ``otherwise`` says what to write,
    or all valid words are named.
    """

    def likeness(candidate: str) -> tuple[bool, float]:
        mistaken, right = word.casefold(), candidate.casefold()
        return right.startswith(mistaken), SequenceMatcher(None, right, mistaken).ratio()

    known = list(valid)
    best = max(known, key=likeness, default=None)
    if best is None or likeness(best)[1] < _ALIKE:
        return otherwise or f"it is one of {', '.join(known)}"
    return f"did you mean {best!r}?"
