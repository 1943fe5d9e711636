"""The execution frequency of a function by its name, its class and its decorators."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from syncscan.check.frequency.closures import is_argument, is_handed_out
from syncscan.check.frequency.epochs import LOOPS, reads_batches, reads_parts
from syncscan.check.frequency.guards import CONSTRUCTORS
from syncscan.check.frequency.regions import loops_of, names_a_step, runs_models
from syncscan.check.infer.source.hardware import runs_on_other_hardware
from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.source.indexer import blocks_of
from syncscan.check.infer.source.syntax import path_of, walk

_OWNERS = ("torch.", "torch.autograd.", "torch.autograd.grad_mode.", "")
_INFERENCE = frozenset(f"{owner}inference_mode" for owner in _OWNERS)
_WITHOUT_GRADIENTS = _INFERENCE | {f"{owner}no_grad" for owner in _OWNERS}

_CACHES = frozenset({"functools.cache", "functools.lru_cache", "lru_cache"})
_RUNS = re.compile(r"sample|generate|decode|denoise|forward|infer|predict|evaluate|step|update|__call__")
# Functions that change the weights of a model, under `no_grad`.
_TREATS = re.compile(
    r"(^|_)((de)?quantiz|(un|re)?pack|calibrat|convert|fuse|(un)?merge|prune|rotat|smooth|materializ|tune)"
)
# Names are matched without their leading underscores.
_ONCE = re.compile(
    r"""(re)?load(_(all_)?(model|modules?|weights?|state|states|checkpoints?|pretrained|params?|parameters|tensors?|adapters?
        |loras?|lora_.*|from_.*|in_.*|.*(weights?|model|checkpoint|state_dict|pretrained)))?
    |.*(weights?|pretrained|checkpoint|model)_loader | from_pretrained.* | .*_pretrained(_.*)?
    |(re)?init(ialize)?(_(all_)?(weights?|model|parameters|buffers|empty.*|missing.*|distributed.*|process_group.*|device.*|kv_cache.*))?
    | (lazy|late)_init.*
    |reset_parameters | rebalance.* | rearrange(_experts?.*)? | .*reshuffle(_.*)? | release_.*graphs? | pre_?compute.*
    |.*weights?_(after|post)_load(ing)? | process_weights.* | post_load.* | .*after_load(ing)?
    |(pre)?warm_?up.* | .*_warm_?up | .*dummy.* | capture.* | .*_capture(_cuda_graph)? | profile.* | .*_profile | probe(_.*)? | compile.* | .*autotune.*
    |calibrate.* | (de)?quantize_(weights?|model|params?|module|layers?|blocks?) | export.* | convert_(weights?|model|checkpoint|module).*
    |repack.* | save(_(?!kv).*)? | dump.* | .*checkpoint.* | (load_)?state_dict.* | (get|set|load)_(model_|optimizer_)?state(_dict)?
    |(add_)?(cli_)?args? | parse_args.* | (manual_)?seed(_.*)? | set_(random_|rng_)?seed | (get|set)_rng_state.*
    |destroy.* | shutdown.* | close | sleep | wake_up | (.*_)?(un)?(fuse|merge)_(.*_)?(weights?|adapters?|loras?).*
    |(add|pin|set|reset|remove|activate|deactivate)_(lora|adapter)s?
    |(update|sync|transfer|receive|send|broadcast)_weights?.* | get_named_param.* | benchmark.* | validate_(args|config).*
    |plot(_.*)? | visuali[sz]e(_.*)? | (create|write|make)_logs? | (train|eval|test|val)_log | log_(images?|figures?|media|videos?|audio)(_.*)?
    |(on_)?(\w+_)?epoch_(start|begin|end) | extra_repr | __(repr|str|del|reduce|getstate|setstate|init_subclass|deepcopy|copy|format|hash)__""",
    re.VERBOSE,
)
# Functions of a server that run once for each request: steps follow, and are none of them.
_OF_A_REQUEST = re.compile(
    r"""(add|admit|abort|cancel|finish|free|insert|preempt|release|remove|retract)_(?!.*(to|from|in)_)(\w+_)?(requests?|reqs?)
    |(abort|finish|free|preempt)_(\w+_)?(sequences?|seqs?)""",
    re.VERBOSE,
)
_PROGRAM = re.compile(r"_*(main|.*_cli)")
_MAYBE_ONCE = re.compile(
    r"""(re)?init(ialize)?(_.*)? | .*_init | set_?up.* | configure.* | create_(?!.*(batch|mask|metadata|inputs?|attn|attention|causal)).*
    |register.* | prepare_model.* | allocate.* | (build|make|get)_(model|tokenizer|processor|optimizer|scheduler|data_?loader|dataset).*
    |train | fit | evaluate_model | assert_.* | convert | convert_.*(module|weights?|adapters?|lora).* | .*prune_.*""",
    re.VERBOSE,
)
# Packages and modules that convert checkpoints.
_CONVERTS = re.compile(r"conversions?|convert(ers?|_.*)?")
_BUILDS = re.compile(r"build(_.*)?")
_BUILDER = re.compile(r".*((Metadata|Attention|Attn)\w*Builder|AttentionBackend|AttnBackend)")
_PROCESSOR = re.compile(
    r".*(LogitsProcessor|LogitsWarper|StoppingCriteria|Optimizer|Scheduler|Metric|Loss|Drafter|Proposer)"
)
_METRIC = re.compile(r".*Metric")
_LIVES_LONG = re.compile(
    r".*(Communicator|Manager|Worker|Runner|Executor|Engine|Connector|Server|Pool|Loader|Builder|Backend|Allocator|Trainer)"
)
# Functions, classes and modules that evaluate, export or debug a model.
_EVALUATES = re.compile(
    r"""(.*_)?eval(s|uate|uation|uator|uators)?(_.*)? | validat(e|or) | validate_(model|step|batch|(one_)?epoch)
    | ((on|before|after|run|do|perform|log|process|compute)_)?(validation(?!.*_(check|error|failure|rule)s?$)(_.*)? | (val|test)_(step|batch|epoch|iter|loop)(_.*)?)
    | log_val(_.*)? | prediction_step | .*(Eval|Evaluator|Evaluation|Validator|Validation|Exporter)([A-Z]\w*)?
    |export(s|er|ers)? | debug(_.*)?""",
    re.VERBOSE,
)
_PIPELINE = re.compile(r".*Pipeline")
# A public function may do so for each request of a user, whatever the project calls it for.
_ANSWERS = re.compile(
    r"(?!.*(weight|state|checkpoint|param|config|model$))(classify|decode|detect|embed|encode|generate|infer|predict|recogni[sz]e|sample|score|segment|transcribe|transform|translate)(_.*)?"
)
_MODULES = re.compile(r".*(Module|Model|Layer|Network|Net|Block|Mixin|Base|Pipeline|Loss)")


def is_once(function: Function) -> bool:
    """Return whether a function runs once by its name: it loads, saves, captures, warms up, prints, starts a program."""
    if function.owner is not None and function.owner.is_module and function.name == "__init__":
        return True
    if _is_named_once(function.name) or _separates(function) or starts_a_program(function):
        return True
    return _reports_an_error(function)


def _reports_an_error(function: Function) -> bool:
    """Return whether a function ends with an exception on each path: callers ask it to prepare the message."""
    body = [] if isinstance(function.node, ast.Lambda) else function.node.body
    ends = body and isinstance(body[-1], ast.Raise)
    return bool(ends) and not any(isinstance(node, (ast.Return, ast.Yield)) for node in walk(function.node))


def _separates(function: Function) -> bool:
    """Return whether a method takes a weight apart that another method of its class has merged: adapters switch so, and no step does."""
    return function.name == "unmerge" and function.owner is not None and "merge" in function.owner.methods


def starts_a_program(function: Function) -> bool:
    """Return whether a function is a command line by its name: it runs once, and all that its program does is below it."""
    return _PROGRAM.fullmatch(function.name) is not None


@functools.lru_cache(maxsize=65536)
def _is_named_once(name: str) -> bool:
    return _ONCE.fullmatch(name if name.startswith("__") else name.lstrip("_")) is not None


def _is_of_a_request(function: Function) -> bool:
    is_of_a_module = function.owner is not None and function.owner.is_module
    return not is_of_a_module and _OF_A_REQUEST.fullmatch(function.name.lstrip("_")) is not None


def is_named_test(function: Function) -> bool:
    """Return whether a function is a test by its name; `test_net`, which the program calls, is none."""
    return function.name.startswith("test_")


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
    if function.name == "_forward":  # by which a pipeline of transformers answers one request
        return _denoises(function.owner) and not function.owner.is_module
    return function.name.lstrip("_") == "generate"


def _denoises(cls: Class) -> bool:
    """Return whether a class is a pipeline that runs a model in a loop, as diffusion pipelines do."""
    is_pipeline = any(map(_PIPELINE.fullmatch, _names_of(cls)))
    return is_pipeline and any(loop for method in _methods_of(cls) for loop in loops_of(method))


def caches_results(function: Function) -> bool:
    """Return whether a function is a decorator that caches the results of others: it calls ``functools.lru_cache(...)(fn)``."""
    is_of_the_module = function.parent is None and function.owner is None
    if not is_of_the_module or not isinstance(function.node, ast.FunctionDef):
        return False
    if not function.module.lines.mention("functools"):
        return False
    calls = (each for each in walk(function.node) if isinstance(each, ast.Call) and len(each.args) == 1)
    return any(
        path_of(_called_first(each)) in _CACHES and isinstance(each.args[0], ast.Name) for each in calls
    )


def _called_first(call: ast.Call) -> ast.expr:
    return call.func.func if isinstance(call.func, ast.Call) else call.func


def runs_stages(function: Function) -> bool:
    """Return whether an object calls its parts one after the other when it is called: ``for block in self.blocks: x = block(x)``.

    A module does not count: its ``forward`` runs per step, and so do its layers.
    """
    if function.name != "__call__" or function.owner is None or is_module_like(function.owner):
        return False
    return any(
        isinstance(loop, ast.For) and reads_parts(loop) and _names_in(loop.target) & _called_in(loop)
        for loop in walk(function.node)
    )


def _names_in(target: ast.expr) -> set[str]:
    return {each.id for each in walk(target) if isinstance(each, ast.Name)}


def _called_in(loop: ast.For) -> set[str]:
    calls = (each.func for each in walk(loop) if isinstance(each, ast.Call))
    return {called.id for called in calls if isinstance(called, ast.Name)}


def samples(function: Function) -> bool:
    """Return whether a function only runs a model, and does so in a loop of its own: a sampler, or the evaluation of a data set.

    The loop has the steps, and the rest of the function runs once for all of them.
    """
    if function.name in CONSTRUCTORS or not runs_a_model(function) or is_named_step(function):
        return False
    loops = (node for node in walk(function.node) if isinstance(node, LOOPS))
    return any(reads_batches(loop) or runs_models(loop) for loop in loops)


def is_step(function: Function) -> bool:
    """Return whether a framework calls a function for each batch, by its name, class and decorators.

    A decorator alone says too little: weights are quantized, packed and merged under `no_grad` too.
    """
    if not _may_be_step(function):
        return False
    if runs_a_model(function):
        is_of_a_request = function.owner is not None and _denoises(function.owner)  # outside of its loops
        runs = _RUNS.search(function.name) is not None and not may_be_once(function)
        return runs and (not is_of_a_request or is_named_step(function))
    return is_named_step(function) or computes_gradients(function)


def only_runs_a_model(function: Function) -> bool:
    """Return whether a function runs a model under `no_grad`, and its name does not say that it runs per step."""
    is_free = _may_be_step(function) and runs_a_model(function) and not may_be_once(function)
    treats = _TREATS.search(function.name) is not None
    return is_free and not treats and not is_named_step(function) and not computes_gradients(function)


def _may_be_step(function: Function) -> bool:
    if is_once(function) or function.is_cached or is_generation(function) or samples(function):
        return False
    return function.name not in CONSTRUCTORS  # the purpose of the class decides, not its decorators


def computes_gradients(function: Function) -> bool:
    """Return whether a function calls ``backward`` once: it is the step of a training, whatever calls it.

    ``accelerator.backward(loss)`` serves training alone. Beside ``loss.backward()`` the file also clears gradients or takes
    steps: elsewhere the gradients are for display, or choose a feature. A ``backward`` that does neither only hands on.
    """
    lines = function.module.lines
    if isinstance(function.node, ast.Lambda) or not lines.mention("backward"):
        return False
    calls = [*_calls_of_backward(function.node.body)]
    if function.name == "backward":
        return bool(calls) and any(_trains(node) for node in walk(function.node))
    trains = lines.mention("zero_grad") or lines.mention(".step(")
    return any(call.args or trains for call in calls)


def _trains(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in {"zero_grad", "step"}


def _calls_of_backward(body: Iterable[ast.stmt]) -> Iterator[ast.Call]:
    """Yield the statements outside of loops that call ``backward``."""
    for node in body:
        if isinstance(
            node, (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        ):
            continue
        call = node.value if isinstance(node, ast.Expr) else None
        called = call.func if isinstance(call, ast.Call) else None
        if (
            isinstance(call, ast.Call)
            and isinstance(called, ast.Attribute)
            and called.attr.endswith("backward")
        ):
            yield call
        for inner in blocks_of(node):
            yield from _calls_of_backward(inner)


def answers_users(function: Function) -> bool:
    """Return whether users may call a function for each request by its name: a public ``predict`` of a public class."""
    if _ANSWERS.fullmatch(function.name) is None:
        return False
    return not any(part.startswith("_") for part in function.qualname.split("."))


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
    """Return whether a framework calls a method for each batch, by its name and class, or a function that programs hand to Megatron."""
    owner, name = function.owner, function.name.lstrip("_")
    if owner is None:
        return function.name == "forward_step"
    if names_a_step(name):
        return name != "forward" or is_module_like(owner)
    if _BUILDS.fullmatch(function.name) is not None:  # public functions reach the private ones
        return any(_BUILDER.fullmatch(cls) for cls in _names_of(owner))
    if function.name in {"__call__", "apply", "step", "update", "compute", "sample"}:
        return not _sums_up(function) and any(_PROCESSOR.fullmatch(cls) for cls in _names_of(owner))
    return function.name == "backward" and function.is_static


def _sums_up(function: Function) -> bool:
    """Return whether a method sums up at the end of an epoch what ``update`` has gathered in its steps: ``compute`` of a metric."""
    owner = function.owner
    return function.name == "compute" and owner is not None and any(map(_METRIC.fullmatch, _names_of(owner)))


def drives_models(name: str) -> bool:
    """Return whether a function of this name is what a framework calls for each batch, whichever model that runs."""
    plain = name.lstrip("_")
    is_named_so = names_a_step(plain) or _BUILDS.fullmatch(plain) is not None
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
    only_runs_a_model: bool
    is_generation: bool
    samples: bool  # runs many steps in its own loop
    is_once: bool
    may_be_once: bool
    may_run_a_model: bool
    starts_a_program: bool
    runs_elsewhere: bool  # on other hardware
    is_passed_over: bool  # runs at most once in a program, or for a request
    evaluates: bool  # or exports or debugs a model
    is_argument: bool  # a lambda that a call passes to a function
    is_named_test: bool
    answers_users: bool
    is_handed_out: bool  # the function that defines it returns it, or keeps it in an attribute
    runs_stages: bool  # calls the parts of its object one after the other
    caches_results: bool  # of the functions that it decorates

    @classmethod
    def of(cls, function: Function) -> FunctionFrequency:
        """Return the nature of a function."""
        once, elsewhere = is_once(function), runs_on_other_hardware(function)
        return cls(
            is_step(function),
            is_step(function) and (is_named_step(function) or computes_gradients(function)),
            only_runs_a_model(function),
            is_generation(function),
            samples(function),
            once,
            may_be_once(function),
            may_run_a_model(function),
            starts_a_program(function),
            elsewhere,
            function.is_cached
            or function.module.is_outside
            or once
            or elsewhere
            or _is_of_a_request(function),
            evaluates(f"{function.module.name}.{function.qualname}"),
            function.is_lambda and is_argument(function),
            is_named_test(function),
            answers_users(function),
            is_handed_out(function),
            runs_stages(function),
            caches_results(function),
        )
