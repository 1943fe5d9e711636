"""The effect of packages outside the project on the GPU: the functions that are known not to look at their arguments.

A function of a package that is named nowhere here is an unknown callee. Each name was chosen by its documentation; that
none of them reads a value from the GPU is what a proof rests on.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

# Modules of the standard library whose functions run no argument, and read arguments on the host alone.
_STDLIB = frozenset(
    {"abc", "argparse", "ast", "atexit", "base64", "binascii", "bisect", "calendar", "cmath", "collections", "contextlib",
     "copy", "ctypes", "dataclasses", "datetime", "decimal", "difflib", "enum", "errno", "fnmatch", "fractions", "functools",
     "gc", "getpass", "glob", "gzip", "hashlib", "heapq", "html", "importlib", "inspect", "io", "itertools", "json", "keyword",
     "linecache", "locale", "logging", "math", "mimetypes", "numbers", "operator", "os", "pathlib", "platform", "pprint",
     "queue", "random", "re", "secrets", "shlex", "shutil", "signal", "socket", "stat", "statistics", "string", "struct",
     "subprocess", "sys", "sysconfig", "tempfile", "textwrap", "threading", "time", "timeit", "tomllib", "traceback", "types",
     "typing", "typing_extensions", "unicodedata", "urllib", "uuid", "warnings", "weakref", "zipfile", "zlib"}
)  # fmt: skip
# Functions and classes that store their arguments unread.
_KEEP = frozenset(
    {"collections.OrderedDict", "collections.defaultdict", "collections.deque", "collections.ChainMap",
     "contextlib.nullcontext", "contextlib.suppress", "contextvars.ContextVar", "contextvars.ContextVar.get",
     "contextvars.ContextVar.reset", "contextvars.ContextVar.set", "copy.copy",
     "dataclasses.dataclass", "dataclasses.field", "dataclasses.fields", "dataclasses.is_dataclass", "dataclasses.replace",
     "functools.cache", "functools.cached_property", "functools.lru_cache", "functools.partial", "functools.wraps",
     "gc.collect", "gc.disable", "gc.enable", "inspect.isfunction", "inspect.signature", "itertools.chain",
     "itertools.chain.from_iterable", "itertools.count", "itertools.cycle", "itertools.islice", "itertools.product",
     "itertools.repeat", "itertools.zip_longest", "operator.attrgetter", "operator.itemgetter", "sys.getrefcount",
     "sys.getsizeof", "threading.Condition", "threading.Event", "threading.Lock", "threading.RLock", "threading.Thread",
     "threading.local", "types.MethodType", "types.SimpleNamespace", "typing.TypeVar", "typing.NamedTuple",
     "weakref.WeakKeyDictionary", "weakref.WeakValueDictionary", "weakref.proxy", "weakref.ref"}
)  # fmt: skip
# Modules whose functions and objects hold no object of the program.
_OF_VALUES = frozenset(
    {"base64", "binascii", "calendar", "datetime", "getpass", "glob", "hashlib", "json", "locale", "math", "os", "packaging",
     "pathlib", "platform", "posixpath", "random", "re", "secrets", "shlex", "shutil", "socket", "string", "struct", "sys",
     "tempfile", "textwrap", "time", "unicodedata", "urllib", "uuid", "zlib"}
)  # fmt: skip
_LOGGING = frozenset({"debug", "info", "warning", "error", "exception", "critical", "log"})
# Modules that pass their arguments on, and functions of other packages on numbers and texts.
_PASSING = frozenset({"abc", "contextlib", "enum", "functools", "types", "typing", "typing_extensions"})
_ON_HOST = frozenset(
    {"packaging.version.parse", "packaging.version.Version", "triton.cdiv", "triton.next_power_of_2"}
)
_TESTS = frozenset(
    f"builtins.{name}" for name in (
        "callable", "getattr", "hasattr", "hash", "id", "isinstance", "issubclass", "len", "object.__new__", "print", "repr",
        "str", "type",
    )
)  # fmt: skip
_CASTS = frozenset({"typing.cast", "typing_extensions.cast"})
HARMLESS_CONTEXTS = frozenset(
    {"builtins.open", "contextlib.nullcontext", "contextlib.suppress", "contextlib.contextmanager",
     "threading.Condition", "threading.Lock", "threading.RLock", "tempfile.TemporaryDirectory", "warnings.catch_warnings",
     "torch.amp.autocast", "torch.autocast", "torch.autograd.profiler.record_function", "torch.autograd.set_grad_enabled",
     "torch.cpu.amp.autocast", "torch.cuda.Stream", "torch.cuda.amp.autocast", "torch.cuda.device", "torch.cuda.device_of",
     "torch.cuda.nvtx.range", "torch.cuda.stream", "torch.device", "torch.enable_grad", "torch.inference_mode",
     "torch.no_grad", "torch.profiler.record_function", "torch.random.fork_rng", "torch.set_grad_enabled"}
)  # fmt: skip
# Names of torch that are not in the operation table, and do nothing on the GPU.
HARMLESS_TORCH = frozenset(
    {"torch.Generator", "torch.Size", "torch.are_deterministic_algorithms_enabled", "torch.autograd._profiler_enabled",
     "torch.compiler.is_compiling", "torch.compiler.disable", "torch.compiler.is_dynamo_compiling", "torch.compiler.is_exporting", "torch.finfo", "torch.get_autocast_gpu_dtype", "torch.get_default_device",
     "torch.get_default_dtype", "torch.get_num_threads", "torch.iinfo", "torch.is_autocast_enabled", "torch.is_complex",
     "torch.is_floating_point", "torch.is_grad_enabled", "torch.is_inference_mode_enabled", "torch.is_storage",
     "torch.is_tensor", "torch.jit.is_scripting", "torch.jit.is_tracing", "torch.promote_types", "torch.result_type",
     "torch.set_grad_enabled", "torch.set_num_threads", "torch.cuda.is_available", "torch.cuda.is_initialized",
     "torch.cuda.nvtx.mark", "torch.cuda.nvtx.range_pop", "torch.cuda.nvtx.range_push", "torch.distributed.is_available",
     "torch._dynamo.mark_static_address", "torch.utils._pytree.register_pytree_node", "torch.xpu.is_current_stream_capturing",
     "torch.distributed.get_backend", "torch.backends.cuda.is_built", "torch.version.cuda"}
)  # fmt: skip
# Layers of torch whose constructor and call launch only kernels of fixed sizes.
HARMLESS_LAYERS = frozenset(
    f"torch.nn.{name}"
    for name in [
        "AvgPool1d",
        "AvgPool2d",
        "AvgPool3d",
        "Conv1d",
        "Conv2d",
        "Conv3d",
        "ConvTranspose1d",
        "ConvTranspose2d",
        "Dropout",
        "Embedding",
        "Flatten",
        "GELU",
        "GLU",
        "GroupNorm",
        "Hardswish",
        "Identity",
        "LayerNorm",
        "LeakyReLU",
        "Linear",
        "Mish",
        "PReLU",
        "RMSNorm",
        "ReLU",
        "ReLU6",
        "SELU",
        "SiLU",
        "Sigmoid",
        "Softmax",
        "Softplus",
        "Tanh",
        "Unflatten",
    ]
)
CONTAINERS_OF_MODULES = frozenset({"torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.Sequential"})
TRANSPARENT_DECORATORS = frozenset(
    {"abc.abstractmethod", "enum.unique", "functools.total_ordering", "typing.runtime_checkable", "builtins.classmethod", "builtins.property", "builtins.staticmethod", "contextlib.contextmanager",
     "dataclasses.dataclass", "functools.cache", "functools.cached_property", "functools.lru_cache", "functools.wraps",
     "torch.amp.custom_bwd", "torch.amp.custom_fwd", "torch.cuda.amp.custom_bwd", "torch.cuda.amp.custom_fwd",
     "torch.compiler.disable", "torch.enable_grad", "torch.inference_mode", "torch.jit.export", "torch.jit.ignore",
     "torch.jit.unused", "torch.no_grad", "typing.final", "typing.no_type_check", "typing.overload", "typing.override",
     "typing_extensions.override", "typing_extensions.overload", "typing_extensions.deprecated", "warnings.deprecated"}
)  # fmt: skip
# Classes of torch whose own methods launch nothing.
_BASES_OF_TORCH = frozenset(
    {
        "torch._opaque_base.OpaqueBase",
        "torch.autograd.Function",
        "torch.nn.Module",
        "torch.nn.modules.module.Module",
    }
)
_BASES = frozenset({"abc", "builtins", "collections", "enum", "typing", "typing_extensions"})

_HOLDING = frozenset({
    "ChainMap", "Counter", "DefaultDict", "Deque", "Dict", "List", "Mapping", "MutableMapping", "OrderedDict", "UserDict",
    "TypedDict", "UserList", "defaultdict", "deque", "dict", "frozenset", "list", "set", "tuple",
})  # fmt: skip
# The names of exceptions alone; other classes share the other names of exceptions, such as `ProcessGroup`.
_ERRORS = ("Error", "Exception", "Warning")


def root_of(name: str) -> str:
    """Return the package of a full name."""
    return name.partition(".")[0]


def is_standard(name: str) -> bool:
    """Return whether a full name is of the standard library."""
    return root_of(name) in sys.stdlib_module_names


def looks_on_the_host(name: str) -> bool:
    """Return whether a function runs none of its arguments, and reads data on the host alone."""
    return root_of(name) in _STDLIB or name in _ON_HOST


def gives_values(name: str) -> bool:
    """Return whether a function's result, or a variable, holds no object of the program."""
    return (root_of(name) in _OF_VALUES and name != "sys.modules") or name in _ON_HOST


def keeps_only(name: str) -> bool:
    """Return whether a function stores its arguments unread."""
    return name in _KEEP or root_of(name) in _PASSING


def is_logging(bases: Sequence[str], name: str) -> bool:
    """Return whether a method is one of `logging.Logger` by which programs log, if that is the only base outside."""
    return [*bases] == ["logging.Logger"] and name in _LOGGING


def is_of_logger(name: str) -> bool:
    """Return whether loggers have a method of a name, which a subclass then replaces."""
    return hasattr(logging.Logger, name) and name != "__init__"


def only_looks(name: str) -> bool:
    """Return whether a function calls none of the functions and classes that it is given."""
    return name in _CASTS or name in _TESTS


def is_cast(name: str) -> bool:
    """Return whether a function gives its second argument back."""
    return name in _CASTS


def holds_items(name: str) -> bool:
    """Return whether a base outside of the project is a container, whose text and comparison are those of its items."""
    return name.rpartition(".")[2] in _HOLDING and root_of(name) in _BASES


def is_exception(name: str) -> bool:
    """Return whether a name is that of an exception of Python, or of a class by the names of such."""
    return name.endswith((*_ERRORS, "Group", "Exit", "Interrupt", "Iteration"))


def is_harmless_base(name: str) -> bool:
    """Return whether creating an object of a class outside of the project, and the class's own methods, never block."""
    if name in _BASES_OF_TORCH or name.endswith(_ERRORS):
        return True
    return root_of(name) in _BASES or name in {"object", "threading.local", "threading.Thread", "nn.Module"}
