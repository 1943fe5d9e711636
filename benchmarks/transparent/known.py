"""The differences that are known, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Sequence

# (programs, aspect, lines that the trace adds or changes, why); all but the last are regular expressions.
KNOWN = [
    (
        "(start|processes:) .*|.* before torch.*",
        "state",
        r"\[.*'ImportWatch'.*\]",
        "a finder waits for the import of torch",
    ),
    (
        "start -S",
        "state",
        r"\['.*/trace/hook'.*\]",
        "no sitecustomize takes the folder of the hook off the path",
    ),
    (
        "processes: .*fork.*",
        "stderr",
        "fake_cuda: left subscribed at exit",
        "the stand-in of CUDA complains in a forked child, where CUDA works no more and is left alone",
    ),
    (
        "processes: fork on .*",
        "stderr",
        r".*DeprecationWarning: This process .* is multi-threaded, .*|  if not os.fork\(\):",
        "the thread that writes; on a GPU the driver has threads of its own",
    ),
    (
        "processes: a group of its own",
        "status|stdout|stderr",
        "0|True",
        "the command does not lead its group, and so may make one",
    ),
    (
        "limit NOFILE .*",
        "stderr",
        r'  File "<frozen importlib._bootstrap_external>", line .*, in exec_module',
        "where torch itself cannot be read, the traceback has one frame more of the import system",
    ),
    ("tool an import hook", "stdout", "", "the hook imports json with torch, as torch itself does"),
    (
        ".* faulthandler.*",
        "stderr",
        r"|Thread 0x.*|  <no Python frame>",
        "the thread that writes, which only a dump of all threads shows",
    ),
]

# On a simulated GPU too; a torch that is simulated is no torch that is left alone.
SIMULATED = [
    (
        ".*",
        "state",
        r"\[.*'PatchFinder'.*\]|module torch\..*",
        "the simulation imports parts of torch, and waits for modules that the program may import",
    ),
    (
        ".*",
        "stderr",
        r'  File ".*/syncscan/.*", line [0-9]+ in .*',
        "a dump of all frames shows those of the plugin, or of the simulation",
    ),
    (
        "end by a (finaliser|destructor at the end)",
        "stdout",
        "gone|end",
        "the collector of cycles runs at another moment, for the simulation makes objects too",
    ),
    (
        "limit NOFILE .*",
        "stdout",
        ".*",
        "the plugin has imported torch before the program forbids itself to open files",
    ),
    (
        "end by a recursion that is caught",
        "stdout",
        "[0-9]+",
        "the frames of the plugin and of the simulation count for the limit too",
    ),
]


def reason(name: str, aspect: str, lines: Sequence[str], way: str = "trace") -> str | None:
    """Return why a program may differ in an aspect by these lines of a diff; None where it may not."""
    added = [line[1:] for line in lines if line.startswith("+") and not line.startswith("+++")]
    for names, aspects, texts, why in [*KNOWN, *(SIMULATED if way != "trace" else ())]:
        matches = re.fullmatch(names, name) and re.fullmatch(aspects, aspect)
        if matches and all(re.fullmatch(texts, line) for line in added):
            return why
    return None
