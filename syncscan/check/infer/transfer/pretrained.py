"""Pretrained models: ``device_map`` places them on the GPU when they are loaded."""

from __future__ import annotations

from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import FUNCTIONS, register
from syncscan.model import Confidence, Device, Kind
from syncscan.ops.inferred import device_named

_MODELS = (
    "AudioClassification", "CTC", "CausalLM", "DepthEstimation", "ImageClassification", "ImageSegmentation",
    "ImageTextToText", "MaskGeneration", "MaskedLM", "MultipleChoice", "NextSentencePrediction", "ObjectDetection",
    "PreTraining", "QuestionAnswering", "SemanticSegmentation", "Seq2SeqLM", "SequenceClassification", "SpeechSeq2Seq",
    "TextToSpectrogram", "TextToWaveform", "TokenClassification", "UniversalSegmentation", "VideoClassification",
    "Vision2Seq", "VisualQuestionAnswering", "ZeroShotImageClassification", "ZeroShotObjectDetection",
)  # fmt: skip


@register(
    FUNCTIONS,
    "transformers.AutoModel.from_pretrained",
    *(f"transformers.AutoModelFor{name}.from_pretrained" for name in _MODELS),
)
def _loaded(at: Point, call: Call) -> AbstractValue:
    """Return a model on the GPU where ``device_map`` says so; otherwise nothing is known until the model moves."""
    given = call.kwargs.get("device_map", BOTTOM)
    if not any(map(_names_gpu, given.options)):
        return BOTTOM
    at.origin("{} places the model on the GPU by its `device_map`")
    return AbstractValue(Kind.MOVED, Device.CUDA, Confidence.INFERRED)


def _names_gpu(value: AbstractValue) -> bool:
    """Return whether a ``device_map`` is that of the library, or names a GPU."""
    if value.kind is Kind.STRING and value.payload in {"auto", "balanced", "balanced_low_0", "sequential"}:
        return True
    return device_named(value) is Device.CUDA
