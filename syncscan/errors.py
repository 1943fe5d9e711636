"""The errors that a user can mend, and the exit statuses that scripts can trust."""

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_ERROR = 2
EXIT_NOT_EXECUTABLE = 126
EXIT_NOT_FOUND = 127
EXIT_INTERRUPTED = 130


class SyncscanError(Exception):
    """What went wrong and what to do, in one line; printed to stderr without a traceback."""

    exit_status = EXIT_ERROR


class ConfigError(SyncscanError):
    """A setting, on the command line or in ``pyproject.toml``, that syncscan does not understand."""


class InterruptError(SyncscanError):
    """Ctrl-C."""

    exit_status = EXIT_INTERRUPTED
