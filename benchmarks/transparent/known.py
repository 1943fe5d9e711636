"""The differences that are known, each with its reason.

An entry takes its text out of both runs, and what is left must be equal. So it hides nothing but that text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """Text by which a program may differ in an aspect; all but the reason are regular expressions."""

    programs: str
    aspect: str
    text: str
    reason: str

    def concerns(self, program: str, aspect: str) -> bool:
        """Return whether an aspect of a program may differ by this text."""
        return bool(re.fullmatch(self.programs, program) and re.fullmatch(self.aspect, aspect))

    def without(self, said: str) -> str:
        """Return what was said, less the text."""
        return re.sub(self.text, "", said)


TRACED = (
    Known(
        "(start|processes:) .*|.* before torch.*",
        "state",
        "'ImportWatch', ",
        "a finder waits for the import of torch",
    ),
    Known(
        "start -S",
        "state",
        "'[^']*/trace/hook', ",
        "no sitecustomize takes the folder of the hook off the path",
    ),
    Known(
        "processes: .*fork.*",
        "stderr",
        "fake_cuda: left subscribed at exit\n",
        "the stand-in of CUDA complains in a forked child, where CUDA works no more and is left alone",
    ),
    Known(
        "processes: fork on .*",
        "stderr",
        r".*DeprecationWarning: This process .* is multi-threaded, .*\n  if not os.fork\(\):\n",
        "the thread that writes; on a GPU the driver has threads of its own",
    ),
    Known(
        "processes: a group of its own",
        "status|stdout|stderr",
        r"(?s)\A(Traceback .*PermissionError: .*|True\n|[01])\Z",
        "the command does not lead its group, and so may make one",
    ),
    Known(
        "limit NOFILE .*",
        "stderr",
        r'  File "<frozen importlib\._bootstrap_external>", line [0-9]+, in exec_module\n',
        "where torch itself cannot be read, the traceback has one frame more of the import system",
    ),
    Known(
        "tool an import hook",
        "stdout",
        r"find (?:_?json.*|re(?:\..*)?|_sre|copyreg|enum|fnmatch|warnings)\n",
        "the hook imports json and a few other modules with torch, as torch itself does",
    ),
    Known(
        ".* faulthandler.*",
        "stderr",
        r'Thread 0x[^\n]*\n(?:  <no Python frame>\n|(?:  File "[^"]*/_syncscan_hook/[^\n]*\n)+)\n',
        "the thread that writes, which only a dump of all threads shows",
    ),
)

# Python runs the handler before the first statement of a function, so before one that could catch anything.
ENTERED = Known(
    "signals: .*",
    "stderr|stdout",
    r'  File "[^"]*/simulate/inside/\w+\.py", line [0-9]+, in \w+\n    (?:def |@functools\.wraps).*\n\s*?\n',
    "a handler that raises as a function of the simulation begins has that function's first line in the traceback",
)
CALLED_TWICE = "torch calls its functions in Python twice where a function mode is active"
TWICE = (
    r'  File "[^"]*/torch/[^"]*", line [0-9]+, in \w+\n(?:    .*\n)+'
    r'  File "[^"]*/torch/overrides\.py", line [0-9]+, in handle_torch_function\n(?:    .*\n)+'
)
SCRIPTED = Known(
    "torch raises: a function that is scripted",
    "stdout|stderr",
    r"(?m)(?<=RuntimeError:)(?: mat1 and mat2 shapes cannot be multiplied \(2x3 and 2x3\)| )?$",
    "TorchScript loses the message of an error that comes through a dispatch mode",
)
SIMULATED = (
    *TRACED,
    Known(
        "files: a folder for temporary files that vanishes before torch",
        "status|stderr",
        r"(?s)\A([01]|Traceback .*: Torch not compiled with CUDA enabled\n)\Z",
        "the operation table lay in this folder",
    ),
    Known(
        ".*",
        "state",
        r"'PatchFinder', |module torch\.utils\._device\n",
        "a finder waits for modules that the program may import, and this one of torch names its constructors",
    ),
    Known("torch raises: .*", "stdout|stderr", TWICE, CALLED_TWICE),
    ENTERED,
    SCRIPTED,
)

IN_PYTEST = (
    SCRIPTED,
    Known("torch raises: .*", "stdout|stderr", TWICE, CALLED_TWICE),
    Known(
        "torch raises: .*",
        "stdout",  # in the form of pytest
        r"\S*/torch/\S*:[0-9]+: in \w+\n(?:    .*\n)+"
        r"\S*/torch/overrides\.py:[0-9]+: in handle_torch_function\n(?:    .*\n)+",
        CALLED_TWICE,
    ),
    Known(
        "end by a (finaliser|destructor at the end)",
        "stdout",
        "(gone|end)\n",
        "the collector of cycles runs at another moment, for the simulation makes objects too",
    ),
    Known("look at context", "stdout", "[0-9]+\n", "the plugin counts by variables of the context"),
    Known(
        "end by a thread",
        "stdout",
        r"0\.0\n",
        "the thread, which nothing waits for, prints before or after pytest does",
    ),
    Known(
        "signals: a timer that raises to the end",
        "stdout",
        r"(?:program\.py:[0-9]+|<string>:1): KeyboardInterrupt\n",
        "the alarm may come in a constructor that the simulation calls",
    ),
    Known(
        "look at modules before torch|limit NOFILE 3",  # with so few files, torch cannot be imported
        "status|stdout|stderr",
        r"(?s)\A.*\Z",
        "the plugin has imported torch before the program begins",
    ),
)
KNOWN = {"trace": TRACED, "simulate": SIMULATED, "pytest": IN_PYTEST}


def reduced(program: str, aspect: str, said: tuple[str, str], way: str) -> tuple[tuple[str, str], list[str]]:
    """Return the observations of two runs without the known differences, and the reasons for the differences."""
    reasons = []
    for known in KNOWN[way]:
        if known.concerns(program, aspect):
            less = known.without(said[0]), known.without(said[1])
            if less != said:
                said = less
                reasons.append(known.reason)
    return said, reasons
