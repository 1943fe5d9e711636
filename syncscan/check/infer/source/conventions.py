"""Naming conventions: the device and dtype that a tensor's name promises, names of dtypes, and contexts that allow synchronization."""

from __future__ import annotations

import functools
import re
from fnmatch import translate

from syncscan.model import Conventions, Device

# The one dtype vocabulary of the analysis: by the last part of a dtype's name.
_DTYPES = {
    "bool": "bool",
    "uint8": "uint8",  # apart from the other integers: as an index it is a mask
    **dict.fromkeys(("int", "int8", "int16", "int32", "int64", "long", "short", "uint32", "uint64"), "int"),
    **dict.fromkeys(("float", "float16", "float32", "float64", "double", "half", "bfloat16"), "float"),
}
_MASK = re.compile(r"(^|_)masks?($|_)")
_ALLOWED = re.compile(r"allow_((gpu|cuda|device)_)?syncs?|((gpu|cuda|device)_)?syncs?_allowed")
_ASKS = re.compile(r"_?(is|on|has|use|uses|supports|to|from|no|num)_")  # a flag or a function, not a tensor
_INDEX = re.compile(r"(^|_)(idx|idxs|index|indices|ids|mapping|slots|loc|locs|lens|offsets)$")

_LOADER = re.compile(r"_?(.*_)?(data_?)?loader(_\w+)?|.*_dl")
# Loaders of something else, and what is about a loader.
_OTHER_LOADER = re.compile(
    r"(.*_)?(weights?|models?|checkpoint|ckpt|images?|img|video|audio|file|module|plugin|config|lora|template|class|lazy|tensorizer|kv|param)_loader(_.*)?"
    r"|.*loader_(cls|class|config|cfg|args?|kwargs|params|fn|func|type|name|len|length|size|path|info|state|iter|workers|num_.*)"
)
# Parameters of models; others, such as ``labels``, are lists of texts elsewhere.
_INPUTS = frozenset(
    {"attention_mask", "cache_position", "input_features", "input_ids", "inputs_embeds", "pixel_values", "position_ids", "token_type_ids"}
)  # fmt: skip
_LOSS = re.compile(r"(.*_)?loss(es)?(_?\d+|_(mean|sum|total|val|value))?")
_OF_MODELS = _INPUTS | frozenset(
    {"labels", "attentions", "end_logits", "hidden_states", "image_embeds", "images", "last_hidden_state", "latents", "logits",
     "logits_per_image", "logits_per_text", "loss", "pooler_output", "pred_boxes", "pred_masks", "prev_sample", "sample",
     "sequences", "start_logits", "text_embeds"}
)  # fmt: skip

_PREPARES = re.compile(
    r".*(ImageProcessor|ImageProcessing|VideoProcessor|VideoProcessing|FeatureExtractor|FeatureExtraction|Tokenizer"
    r"|ProcessorMixin|MultiModalProcessor|DataCollator|ImageReader)(Base|Mixin|Fast|Pil)?"
)
# Classes of frameworks that projects extend, where the source of the framework is not at hand.
_MODULES = re.compile(
    r"torch\.nn\..*"
    r"|(accelerate|allennlp|anomalib|audiocraft|dgl|diffusers|e3nn|espnet2?|fairscale|fairseq2?|fla|flash_attn|gpytorch|kornia|lightning"
    r"|mamba_ssm|megatron|mm(action|cls|cv|det|det3d|engine|pose|pretrain|seg)|monai|nemo|open_clip|peft|pyro|pytorch_lightning"
    r"|segmentation_models_pytorch|sentence_transformers|sglang|speechbrain|tensordict|timm|torch_geometric|torchaudio|torchmetrics|torchrl"
    r"|torchtitan|torchtune|torchvision|transformer_engine|transformers|vllm|xformers)\.(?!.*(DataModule|DataCollator|BaseMetric|OpenAI|JSON|Text"
    r"|\.(data|dataio|dataloading|datasets?|entrypoints|evaluat\w+|transforms|core\.block)\.)).*"
    r"(Attention|Backbone|Block|Conv|Decoder|Detector|Discriminator|Embeddings?|Encoder|For[A-Z]\w+|Generator|Head|Kernel|Layer|Linear|Loss"
    r"|MLP|MessagePassing|Metric|Mlp|Model|ModelMixin|Module|Net|Norm|Transformer)"
)
_AFTER = re.compile(r"_*(post_?process|(batch_)?decode).*")


def prepares_inputs(name: str) -> bool:
    """Return whether a class of this name prepares model inputs on the host: an image processor, a tokenizer."""
    return _PREPARES.fullmatch(name) is not None


@functools.lru_cache(maxsize=4096)
def is_module_class(name: str) -> bool:
    """Return whether a class outside of the project is an ``nn.Module``, by its full name."""
    return _MODULES.fullmatch(name) is not None


def reads_outputs(name: str) -> bool:
    """Return whether a method of this name, in such a class, processes the outputs of a model."""
    return _AFTER.fullmatch(name) is not None


def place_of(conventions: Conventions, name: str) -> Device:
    """Return the device that a name promises; the CPU where patterns for both devices match."""
    if _any_of(conventions.host_names).match(name):
        return Device.CPU
    if _any_of(conventions.gpu_names).match(name) and not _ASKS.match(name):
        return Device.CUDA
    return Device.UNKNOWN


@functools.lru_cache(maxsize=64)
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Return a regular expression for any of these shell patterns."""
    return re.compile("|".join(map(translate, patterns)) or "(?!)")


@functools.lru_cache(maxsize=65536)
def dtype_of(name: str) -> str | None:
    """Return the dtype that a tensor's name promises: "bool" for "mask", "int" for "indices" and "mask_ids", or None."""
    if _INDEX.search(name):
        return "int"
    return "bool" if _MASK.search(name) else None


def dtype_class(name: str) -> str | None:
    """Return the dtype class of a name by its last part: "bool", "uint8", "int" or "float", or None."""
    return _DTYPES.get(name.rpartition(".")[2])


def is_tensor_of_models(name: str) -> bool:
    """Return whether model libraries use this name for a tensor in inputs or outputs."""
    return name in _OF_MODELS


def is_input_of_models(name: str) -> bool:
    """Return whether model libraries use this name for a parameter that is a tensor."""
    return name in _INPUTS


@functools.lru_cache(maxsize=65536)
def is_loader(name: str) -> bool:
    """Return whether a name is that of a loader of batches: ``train_loader``."""
    return _LOADER.fullmatch(name) is not None and _OTHER_LOADER.fullmatch(name) is None


@functools.lru_cache(maxsize=65536)
def is_loss(name: str) -> bool:
    """Return whether a name is that of a loss, which programs compute where their model is."""
    return _LOSS.fullmatch(name) is not None


def allows_waits(name: str) -> bool:
    """Return whether a context manager of this name allows synchronization: ``allow_sync``, ``gpu_sync_allowed``."""
    return _ALLOWED.fullmatch(name.strip("_")) is not None
