"""The execution frequency of a function by its own source: its name, its decorators, its loops and its guards."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from syncscan.check.frequency.closures import is_argument, is_handed_out
from syncscan.check.frequency.counters import counters_of, rarely_behind
from syncscan.check.frequency.epochs import (
    LOOPS,
    TRAINS,
    Loop,
    called_name,
    is_of_an_epoch,
    outside_loops,
    per_epoch,
    reads_batches,
)
from syncscan.check.frequency.flags import first_iteration, with_answers
from syncscan.check.frequency.guards import CONSTRUCTORS, Body, once_behind
from syncscan.check.frequency.transfers import moved_by
from syncscan.check.infer.source.hardware import runs_on_other_hardware
from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.source.indexer import blocks_of
from syncscan.check.infer.source.syntax import last_name, path_of, walk
from syncscan.model import When

_OWNERS = ("torch.", "torch.autograd.", "torch.autograd.grad_mode.", "")
_INFERENCE = frozenset(f"{owner}inference_mode" for owner in _OWNERS)
_WITHOUT_GRADIENTS = _INFERENCE | {f"{owner}no_grad" for owner in _OWNERS}

_RUNS = re.compile(r"sample|generate|decode|denoise|forward|infer|predict|evaluate|step")
# Names are matched without their leading underscores.
_ONCE = re.compile(
    r"""(re)?load(_(all_)?(model|modules?|weights?|state|states|checkpoints?|pretrained|params?|parameters|tensors?|adapters?
        |loras?|lora_.*|from_.*|in_.*|.*(weights?|model|checkpoint|state_dict|pretrained)))?
    |.*(weights?|pretrained|checkpoint|model)_loader | from_pretrained.* | .*_pretrained(_.*)?
    |(re)?init(ialize)?(_(all_)?(weights?|model|parameters|buffers|empty.*|missing.*|distributed.*|process_group.*|device.*|kv_cache.*))?
    | (lazy|late)_init.* | .*_init
    |reset_parameters | rebalance.* | rearrange(_experts?.*)? | .*reshuffle(_.*)? | release_.*graphs? | pre_?compute.*
    |.*weights?_(after|post)_load(ing)? | process_weights.* | post_load.* | .*after_load(ing)?
    |(pre)?warm_?up.* | .*_warm_?up | .*dummy.* | capture.* | .*_capture(_cuda_graph)? | profile.* | .*_profile | compile.* | .*autotune.*
    |calibrate.* | (de)?quantize_(weights?|model|params?|module|layers?|blocks?) | export.* | convert_(weights?|model|checkpoint|module).*
    |repack.* | save(_(?!kv).*)? | dump.* | .*checkpoint.* | (load_)?state_dict.* | (get|set|load)_(model_|optimizer_)?state(_dict)?
    |(add_)?(cli_)?args? | parse_args.* | (manual_)?seed(_.*)? | set_(random_|rng_)?seed | (get|set)_rng_state.*
    |destroy.* | shutdown.* | close | sleep | wake_up | (.*_)?(un)?(fuse|merge)_(.*_)?(weights?|adapters?|loras?).*
    |(add|pin|set|reset|remove|activate|deactivate)_(lora|adapter)s?
    |(update|sync|transfer|receive|send|broadcast)_weights?.* | get_named_param.* | benchmark.* | test_.* | validate_(args|config).*
    |plot(_.*)? | visuali[sz]e(_.*)? | (create|write|make)_logs? | (train|eval|test|val)_log | log_(images?|figures?|media|videos?|audio)(_.*)?
    |(on_)?((train|training|fit|val|validation|test|predict|eval)_)?epoch_(start|begin|end)|extra_repr | __(repr|str|del|reduce|getstate|setstate|init_subclass|deepcopy|copy|format|hash)__""",
    re.VERBOSE,
)
_PROGRAM = re.compile(r"_*(main|.*_cli)")
_MAYBE_ONCE = re.compile(
    r"""(re)?init(ialize)?(_.*)? | set_?up.* | configure.* | create_(?!.*(batch|mask|metadata|inputs?|attn|attention|causal)).*
    |register.* | prepare_model.* | allocate.* | (build|make|get)_(model|tokenizer|processor|optimizer|scheduler|data_?loader|dataset).*
    |train | fit | evaluate_model | assert_.* | convert | convert_.*(module|weights?|adapters?|lora).* | .*prune_.*""",
    re.VERBOSE,
)
# Packages and modules that convert checkpoints.
_CONVERTS = re.compile(r"conversions?|convert(ers?|_.*)?")
_MODEL = re.compile(
    r"(?!_*(get|set|load|build|make|create|init|save|register|prepare|check|is|wrap|update)_)(\w+_)?(model|decoder)"
)
# Functions that a framework calls for each batch.
_STEP = re.compile(
    r"""forward(_.*)? | execute_(model|fn|batch).* | sample_tokens | prepare_(inputs?|decode(?!r)|prefill).* | update_(?!.*expert).*metadata(_.*)?
    |(train|training|validation|val|test|predict|prediction|inference|eval|evaluation|decode|prefill|generation|engine)_step(_.*)?
    |(inner_)?(train|training)_(one_)?(step|epoch|batch) | (run|process|prefill|decode|extend)_(step|batch)(_.*)? | (on_)?(train_|validation_)?batch_(start|end)
    |compute_loss | init_forward_metadata.* | init_new | propose(_.*)? | apply_logits_processors?""",
    re.VERBOSE,
)
_BUILDS = re.compile(r"build(_.*)?")
_BUILDER = re.compile(r".*((Metadata|Attention|Attn)\w*Builder|AttentionBackend|AttnBackend)")
_PROCESSOR = re.compile(
    r".*(LogitsProcessor|LogitsWarper|StoppingCriteria|Optimizer|Scheduler|Metric|Loss|Drafter|Proposer)"
)
_LIVES_LONG = re.compile(
    r".*(Communicator|Manager|Worker|Runner|Executor|Engine|Connector|Server|Pool|Loader|Builder|Backend|Allocator|Trainer)"
)
# Functions, classes and modules that evaluate, export or debug a model.
_EVALUATES = re.compile(
    r"""(.*_)?eval(s|uate|uation|uator|uators)?(_.*)? | validat(e|ion|or) | validate_(model|step|batch|(one_)?epoch) | validation_.*
    |(on_)?(val|test)_(step|batch|epoch|loop)(_.*)? | .*(Eval|Evaluator|Evaluation|Validator|Validation|Exporter)([A-Z]\w*)?
    |export(s|er|ers)? | debug(_.*)?""",
    re.VERBOSE,
)
_RUN = re.compile(r"(\w+_)?(step|forward)|\w+_sample")
_PIPELINE = re.compile(r".*Pipeline")
_MODULES = re.compile(r".*(Module|Model|Layer|Network|Net|Block|Mixin|Base|Pipeline|Loss)")


def is_once(function: Function) -> bool:
    """Return whether a function runs once by its name: it loads, saves, captures, warms up, prints, starts a program."""
    if function.owner is not None and function.owner.is_module and function.name == "__init__":
        return True
    return _is_named_once(function.name) or _separates(function) or starts_a_program(function)


def _separates(function: Function) -> bool:
    """Return whether a method takes a weight apart that another method of its class has merged: adapters switch so, and no step does."""
    return function.name == "unmerge" and function.owner is not None and "merge" in function.owner.methods


def starts_a_program(function: Function) -> bool:
    """Return whether a function is a command line by its name: it runs once, and all that its program does is below it."""
    return _PROGRAM.fullmatch(function.name) is not None


@functools.lru_cache(maxsize=65536)
def _is_named_once(name: str) -> bool:
    return _ONCE.fullmatch(name if name.startswith("__") else name.lstrip("_")) is not None


def may_be_once(function: Function) -> bool:
    """Return whether a function runs once by its name unless a step reaches it: it makes something."""
    name = function.name
    plain = name if name.startswith("__") else name.lstrip("_")
    if name in CONSTRUCTORS and function.owner is not None:
        # A constructor runs once if the methods of its class serve many steps.
        return any(map(_serves, _methods_of(function.owner))) or lives_long(function.owner)
    if any(_CONVERTS.fullmatch(part) for part in function.module.name.split(".")):
        return True
    return is_once(function) or function.is_cached or _MAYBE_ONCE.fullmatch(plain) is not None


def lives_long(cls: Class) -> bool:
    """Return whether the objects of a class live as long as the program, as modules and their parts do."""
    return cls.is_module or any(_LIVES_LONG.fullmatch(name) for name in _names_of(cls))


def _methods_of(cls: Class) -> Iterator[Function]:
    for each in cls.mro():
        yield from each.methods.values()


def _serves(function: Function) -> bool:
    return is_step(function) or is_generation(function) or samples(function)


def is_generation(function: Function) -> bool:
    """Return whether a function runs many steps of a model for one request: the loops in it and in its callees."""
    if function.owner is None:
        return False
    if function.name == "__call__":
        return runs_a_model(function) and _denoises(function.owner)
    return function.name.lstrip("_") == "generate"


def _denoises(cls: Class) -> bool:
    """Return whether a class is a pipeline that runs a model in a loop, as diffusion pipelines do."""
    is_pipeline = any(map(_PIPELINE.fullmatch, _names_of(cls)))
    return is_pipeline and any(loop for method in _methods_of(cls) for loop in loops_of(method))


def samples(function: Function) -> bool:
    """Return whether a function only runs a model, and does so in a loop of its own: a sampler, or the evaluation of a data set.

    The loop has the steps, and the rest of the function runs once for all of them.
    """
    if function.name in CONSTRUCTORS or not runs_a_model(function) or is_named_step(function):
        return False
    loops = (node for node in walk(function.node) if isinstance(node, LOOPS))
    return any(reads_batches(loop) or any(map(_runs_a_model, _calls_in(loop))) for loop in loops)


def is_step(function: Function) -> bool:
    """Return whether a framework calls a function for each batch, by its name, class and decorators."""
    if is_once(function) or function.is_cached or is_generation(function) or samples(function):
        return False
    if function.name in CONSTRUCTORS:  # the purpose of the class decides, not its decorators
        return False
    if runs_a_model(function):
        return not may_be_once(function)
    return is_named_step(function) or computes_gradients(function)


def computes_gradients(function: Function) -> bool:
    """Return whether a function calls ``backward`` once: it is the step of a training, whatever calls it."""
    if isinstance(function.node, ast.Lambda) or not function.module.lines.mention("backward"):
        return False
    return any(_calls_backward(function.node.body))


def _calls_backward(body: Iterable[ast.stmt]) -> Iterator[bool]:
    """Yield whether a statement outside of loops calls ``backward``."""
    for node in body:
        if isinstance(
            node, (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        ):
            continue
        call = node.value if isinstance(node, ast.Expr) else None
        called = call.func if isinstance(call, ast.Call) else None
        yield isinstance(called, ast.Attribute) and called.attr.endswith("backward")
        for inner in blocks_of(node):
            yield from _calls_backward(inner)


def runs_a_model(function: Function) -> bool:
    """Return whether a decorator says that a function only runs a model."""
    if function.owner is None and _RUNS.search(function.name) is None:
        # Conversions of weights run under `no_grad` too.
        return not function.decorators.isdisjoint(_INFERENCE)
    return not function.decorators.isdisjoint(_WITHOUT_GRADIENTS)


def may_run_a_model(function: Function) -> bool:
    """Return whether a function only runs a model, or prepares one: its decorator leaves both open."""
    return not function.decorators.isdisjoint(_WITHOUT_GRADIENTS) and not may_be_once(function)


def is_named_step(function: Function) -> bool:
    """Return whether a framework calls a method for each batch, by its name and class."""
    owner, name = function.owner, function.name.lstrip("_")
    if owner is None:
        return False
    if _STEP.fullmatch(name) is not None:
        return name != "forward" or is_module_like(owner)
    if _BUILDS.fullmatch(function.name) is not None:  # public functions reach the private ones
        return any(_BUILDER.fullmatch(cls) for cls in _names_of(owner))
    if function.name in {"__call__", "apply", "step", "update", "compute", "sample"}:
        return any(_PROCESSOR.fullmatch(cls) for cls in _names_of(owner))
    return function.name == "backward" and function.is_static


def drives_models(name: str) -> bool:
    """Return whether a function of this name is what a framework calls for each batch, whichever model that runs."""
    plain = name.lstrip("_")
    is_named_so = _STEP.fullmatch(plain) is not None or _BUILDS.fullmatch(plain) is not None
    return is_named_so and not plain.startswith("forward")


def evaluates(name: str) -> bool:
    """Return whether a dotted name has a part that says that it evaluates, exports or debugs a model."""
    return any(map(_is_named_evaluation, name.split(".")))


@functools.lru_cache(maxsize=65536)
def _is_named_evaluation(part: str) -> bool:
    return _EVALUATES.fullmatch(part.lstrip("_")) is not None


def is_module_like(cls: Class) -> bool:
    """Return whether a class is an ``nn.Module``, or has a base out of sight that is one by its name."""
    if cls.is_module:
        return True
    bases = [name.rpartition(".")[2] for each in cls.mro() for name in each.external_bases]
    return any(_MODULES.fullmatch(base) for base in bases) or any("Function" in base for base in bases)


def _names_of(cls: Class) -> list[str]:
    own = [each.name for each in cls.mro()]
    return own + [name.rpartition(".")[2] for each in cls.mro() for name in each.external_bases]


@dataclass(frozen=True, slots=True)
class FunctionFrequency:
    """The execution frequency of a function by its name, class and decorators."""

    is_step: bool
    is_named_step: bool  # the name is that of a step; code without gradients may be part of a loop over steps
    is_generation: bool
    samples: bool  # runs many steps in its own loop
    is_once: bool
    may_be_once: bool
    may_run_a_model: bool
    starts_a_program: bool
    runs_elsewhere: bool  # on other hardware
    is_passed_over: bool  # runs at most once in a program
    evaluates: bool  # or exports or debugs a model
    is_argument: bool  # a lambda that a call passes to a function
    is_handed_out: bool  # the function that defines it returns it, or keeps it in an attribute

    @classmethod
    def of(cls, function: Function) -> FunctionFrequency:
        """Return the nature of a function."""
        once, elsewhere = is_once(function), runs_on_other_hardware(function)
        return cls(
            is_step(function),
            is_step(function) and (is_named_step(function) or computes_gradients(function)),
            is_generation(function),
            samples(function),
            once,
            may_be_once(function),
            may_run_a_model(function),
            starts_a_program(function),
            elsewhere,
            function.is_cached or function.module.is_outside or once or elsewhere,
            evaluates(f"{function.module.name}.{function.qualname}"),
            function.is_lambda and is_argument(function),
            is_handed_out(function),
        )


@dataclass(frozen=True, slots=True)
class Region:
    """Lines of a function that run at another time than the rest, and the names of what they call.

    `_with_own_calls` leaves out the names that a region calls at other times. ``moved`` is an attribute that a line copies to
    the GPU: once, if nothing else is put there. ``is_of_self`` is for a guard that tests an attribute of the object of a method.
    """

    when: When
    lines: range
    calls: frozenset[str]
    moved: str = ""
    is_of_self: bool = False


_REGISTERS = frozenset({"register_buffer", "register_parameter", "register_module", "add_module"})
# Errors of the GPU, of numerics and of the system; other exceptions, such as StopIteration and KeyError, are answers.
_ERRORS = frozenset({
    "AcceleratorError", "AssertionError", "FloatingPointError", "KeyboardInterrupt", "LinAlgError", "MemoryError", "OSError",
    "OutOfMemoryError", "OverflowError", "RuntimeError", "SystemExit", "ZeroDivisionError",
})  # fmt: skip


def regions_of(function: Function) -> list[Region]:
    """Return the loops of a function, steps among them, its guards, and its transfers of attributes; outer ones first."""
    if isinstance(function.node, ast.Lambda):
        return []
    body = function.node.body
    regions = [*map(_in_few_steps, per_epoch(body))] if is_of_an_epoch(function.name) else []
    regions += _regions(body, function, frozenset(), None)
    return _with_own_calls(regions, regions, function)


def loops_of(function: Function) -> list[Region]:
    """Return the loops of a function that go on until something is found, or that run a model in each iteration."""
    loops = []
    for node in walk(function.node):
        if isinstance(node, LOOPS):
            calls = _calls_in(node)
            if isinstance(node, ast.While) or any(map(_runs_a_model, calls)):
                loops.append(Region(When.STEP, _lines(node), calls))
    return _with_own_calls(loops, regions_of(function), function) if loops else []


def _with_own_calls(regions: list[Region], all_regions: list[Region], function: Function) -> list[Region]:
    """Return regions without the names that they call at other times.

    A guard leaves out names that are called outside of guards too, and a loop those that it calls behind guards alone.
    """
    guards = [region for region in all_regions if region.when is When.ONCE and not region.moved]
    if not guards:
        return regions
    free = [
        node
        for node in walk(function.node)
        if isinstance(node, ast.Call) and not any(node.lineno in guard.lines for guard in guards)
    ]
    elsewhere = _names_called(free)
    found = []
    for region in regions:
        own = region.calls
        if region in guards:
            own -= elsewhere
        elif region.when is not When.ONCE:
            own = _names_called(call for call in free if call.lineno in region.lines)
        found.append(replace(region, calls=own))
    return found


def _runs_a_model(name: str) -> bool:
    """Return whether a call in the loop of a pipeline runs a model, or advances the scheduler."""
    plain = name.lstrip("_")
    return name == "self" or any(each.fullmatch(plain) for each in (_MODEL, _STEP, _RUN))


def _running_a_model(loop: Loop) -> Loop | None:
    """Return a loop that runs a model, or passes a model to a function, which may run it; None for other loops."""
    calls = [each for each in walk(loop) if isinstance(each, ast.Call)]
    given = [each.id for call in calls for each in call.args if isinstance(each, ast.Name)]
    runs = any(map(_runs_a_model, _names_called(calls)))
    return loop if runs or any(_MODEL.fullmatch(name) is not None for name in given) else None


def _is_step(function: Function) -> bool:
    """Return whether a function is one step by its name, so that the loops in it are parts of the step."""
    return _STEP.fullmatch(function.name.lstrip("_")) is not None


def _regions(
    body: list[ast.stmt], function: Function, counters: frozenset[str], loop: Loop | None
) -> Iterator[Region]:
    """Yield the regions of some statements; ``loop`` is the innermost one around that runs a model in each iteration."""
    for position, (before, node) in enumerate(zip([None, *body], body, strict=False), 1):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        around = _running_a_model(node) if isinstance(node, LOOPS) else loop
        if isinstance(node, LOOPS):
            yield from _of_loop(node)
            counters |= counters_of(node) if reads_batches(node) else frozenset()
        elif isinstance(node, ast.If):
            yield from _behind(node, before, body[position:], function, counters)
            yield from map(_rare, () if _is_step(function) else first_iteration(node, loop))
            yield from map(_of_a_script, outside_loops(node.body)) if _is_for_a_script(node.test) else ()
        elif isinstance(node, ast.Try):
            yield from map(_handling, filter(_handles_an_error, node.handlers))
        elif _sets_up(node):
            yield Region(When.ONCE, _lines(node), _calls_in(node))
        elif isinstance(node, ast.Assign) and function.owner is not None and (name := moved_by(node)):
            yield Region(When.ONCE, _lines(node), frozenset(), name)
        for inner in blocks_of(node):
            yield from _regions(inner, function, counters, around)


def _of_loop(loop: Loop) -> Iterator[Region]:
    """Yield a loop, and its statements beside the loops over batches in it."""
    calls, reads = _calls_in(loop), reads_batches(loop)
    trains = reads or not TRAINS.isdisjoint(calls)
    yield Region(When.STEP if trains else When.UNKNOWN, _lines(loop), calls)
    if trains and not reads:
        yield from map(_in_few_steps, per_epoch(loop.body))


def _is_for_a_script(test: ast.expr) -> bool:
    """Return whether a test asks if the file runs as a script."""
    return (
        isinstance(test, ast.Compare) and path_of(test.left) == "__name__" and isinstance(test.ops[0], ast.Eq)
    )


def _of_a_script(node: ast.stmt) -> Region:
    """Return a statement outside loops at the end of a script, which runs once.

    The region names no callees, because a loop of another file may call the same functions per step.
    """
    return Region(When.ONCE, _lines(node), frozenset())


def _behind(
    node: ast.If, before: ast.stmt | None, after: Body, function: Function, counters: frozenset[str]
) -> Iterator[Region]:
    """Yield what a test lets run once or rarely."""
    answered = with_answers(node.test, function.node)
    if answered is not node.test:
        node = ast.If(answered, node.body, node.orelse)
    for once in once_behind(node, before, after, function):
        yield Region(When.ONCE, span(once), _calls_in(*once), is_of_self=_asks_self(node.test))
    yield from map(_rare, rarely_behind(node, after, counters))


def _rare(body: Body) -> Region:
    return Region(When.ONCE, span(body), _calls_in(*body))


def _sets_up(node: ast.stmt) -> bool:
    """Return whether a statement registers a part of a module, which a second one would replace, or loads a file of tensors."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call) and last_name(node.value.func) in _REGISTERS
    call = node.value if isinstance(node, (ast.Assign, ast.Return)) else None
    return isinstance(call, ast.Call) and path_of(call.func) == "torch.load"


def _handles_an_error(handler: ast.ExceptHandler) -> bool:
    """Return whether what a handler is for is an error, and no way to ask, such as ``except StopIteration``."""
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return all(each is not None and last_name(each) in _ERRORS for each in types)


def _handling(handler: ast.ExceptHandler) -> Region:
    return Region(When.ONCE, span(handler.body), _calls_in(*handler.body))


def _in_few_steps(node: ast.stmt) -> Region:
    return Region(When.ONCE, _lines(node), _calls_in(node))


def _asks_self(test: ast.expr) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == "self" for inner in walk(test))


def span(body: Body) -> range:
    """Return the lines of several statements."""
    return range(body[0].lineno, (body[-1].end_lineno or 0) + 1)


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _calls_in(*nodes: ast.AST) -> frozenset[str]:
    return _names_called(inner for node in nodes for inner in walk(node) if isinstance(inner, ast.Call))


def _names_called(calls: Iterable[ast.Call]) -> frozenset[str]:
    return frozenset(map(called_name, calls))
