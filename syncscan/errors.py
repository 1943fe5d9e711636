"""The errors that a user can mend, and the exit statuses that scripts can trust."""

from collections.abc import Iterable
from difflib import SequenceMatcher

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_ERROR = 2
EXIT_NOT_EXECUTABLE = 126
EXIT_NOT_FOUND = 127
EXIT_INTERRUPTED = 130

_ALIKE = 0.65  # of 1; below it, a suggestion is more often a surprise than a help


class SyncscanError(Exception):
    """What went wrong and what to do, in one line; printed to stderr without a traceback."""

    exit_status = EXIT_ERROR


class ConfigError(SyncscanError):
    """A setting, on the command line or in ``pyproject.toml``, that syncscan does not understand."""


class InterruptError(SyncscanError):
    """Ctrl-C."""

    exit_status = EXIT_INTERRUPTED


def closest(word: str, valid: Iterable[str]) -> str | None:
    """The valid word most like a mistaken one, or None where none is like it.

    A word that begins like the mistaken one wins.
    """

    def likeness(candidate: str) -> tuple[bool, float]:
        mistaken, right = word.casefold(), candidate.casefold()
        return right.startswith(mistaken), SequenceMatcher(None, right, mistaken).ratio()

    best = max(valid, key=likeness, default=None)
    return best if best is not None and likeness(best)[1] >= _ALIKE else None


def suggestion(word: str, valid: Iterable[str], otherwise: str = "") -> str:
    """The half-sentence that names the `closest` of the valid words.

    Where none is like the mistaken one, ``otherwise`` says what to write, or all valid words are named.
    """
    known = list(valid)
    best = closest(word, known)
    return f"did you mean {best!r}?" if best else otherwise or f"it is one of {', '.join(known)}"
