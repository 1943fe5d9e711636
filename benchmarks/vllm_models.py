"""Tiny models of vLLM, each as the few lines of config from which vLLM makes it with random weights."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SIZES: dict[str, Any] = {
    "vocab_size": 1000, "hidden_size": 256, "intermediate_size": 256, "num_hidden_layers": 2, "head_dim": 128,
    "num_attention_heads": 2, "num_key_value_heads": 2, "max_position_embeddings": 1024, "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0, "hidden_act": "silu", "torch_dtype": "bfloat16", "tie_word_embeddings": False,
    "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip
_EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
_MLA = {
    "num_attention_heads": 16, "num_key_value_heads": 16, "kv_lora_rank": 512, "q_lora_rank": None,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 4, "n_shared_experts": 1,
    "num_experts_per_tok": 2, "moe_intermediate_size": 128, "first_k_dense_replace": 1, "topk_method": "greedy",
    "n_group": 1, "topk_group": 1, "norm_topk_prob": False, "routed_scaling_factor": 1.0, "scoring_func": "softmax",
}  # fmt: skip
_GEMMA = {
    "query_pre_attn_scalar": 128, "sliding_window": 128, "hidden_activation": "gelu_pytorch_tanh", "tie_word_embeddings": True,
}  # fmt: skip


def _model(architecture: str, model_type: str, **sizes: Any) -> dict[str, Any]:
    return {"architectures": [architecture], "model_type": model_type, **sizes}


MODELS: dict[str, dict[str, Any]] = {
    "deepseek_v2": _model("DeepseekV2ForCausalLM", "deepseek_v2", **_MLA),
    "deepseek_v3": _model(
        "DeepseekV3ForCausalLM", "deepseek_v3",
        **_MLA | {"q_lora_rank": 128, "topk_method": "noaux_tc", "scoring_func": "sigmoid", "n_group": 2, "norm_topk_prob": True},
    ),
    "falcon_h1": _model(
        "FalconH1ForCausalLM", "falcon_h1", mamba_d_ssm=512, mamba_n_heads=8, mamba_d_head=64, mamba_n_groups=1,
        mamba_d_state=128, mamba_d_conv=4, mamba_expand=2, mamba_chunk_size=256,
    ),
    "gemma2": _model("Gemma2ForCausalLM", "gemma2", attn_logit_softcapping=50.0, final_logit_softcapping=30.0, **_GEMMA),
    "gemma3": _model("Gemma3ForCausalLM", "gemma3_text", **_GEMMA),
    "glm": _model("GlmForCausalLM", "glm", partial_rotary_factor=0.5),
    "glm4": _model("Glm4ForCausalLM", "glm4", partial_rotary_factor=0.5),
    "gpt_oss": _model("GptOssForCausalLM", "gpt_oss", sliding_window=128, **_EXPERTS),
    "jamba": _model(
        "JambaForCausalLM", "jamba", attn_layer_period=2, attn_layer_offset=1, expert_layer_period=2, expert_layer_offset=1,
        num_experts=4, num_experts_per_tok=2, mamba_d_state=16, mamba_d_conv=4, mamba_expand=2, mamba_dt_rank=16,
    ),
    "llama": _model("LlamaForCausalLM", "llama"),
    "mamba2": _model(
        "Mamba2ForCausalLM", "mamba2", intermediate_size=512, state_size=128, num_heads=8, head_dim=64, n_groups=1,
        chunk_size=16, expand=2, conv_kernel=4, layer_norm_epsilon=1e-5,
    ),
    "mixtral": _model("MixtralForCausalLM", "mixtral", **_EXPERTS),
    "phi": _model("PhiForCausalLM", "phi", partial_rotary_factor=0.5, layer_norm_eps=1e-5, hidden_act="gelu_new"),
    "phi3": _model("Phi3ForCausalLM", "phi3"),
    "qwen3": _model("Qwen3ForCausalLM", "qwen3"),
    "qwen3_moe": _model(
        "Qwen3MoeForCausalLM", "qwen3_moe", num_experts=4, num_experts_per_tok=2, moe_intermediate_size=128,
        decoder_sparse_step=1, mlp_only_layers=[], norm_topk_prob=True,
    ),
}  # fmt: skip
EMBEDDING: dict[str, dict[str, Any]] = {
    "bert (embedding)": _model(
        "BertModel", "bert", hidden_act="gelu", layer_norm_eps=1e-12, type_vocab_size=2, position_embedding_type="absolute",
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    ),
    "qwen3 (embedding)": MODELS["qwen3"],
}  # fmt: skip

RANK = 8  # of an adapter
IMAGE_SIDE = 56  # pixels
IMAGE_TOKENS = {"<|vision_start|>": 990, "<|vision_end|>": 991, "<|image_pad|>": 992, "<|video_pad|>": 993}
VISION: dict[str, dict[str, Any]] = {
    "qwen2_vl (images)": _model(
        "Qwen2VLForConditionalGeneration", "qwen2_vl", image_token_id=992, video_token_id=993, vision_start_token_id=990,
        vision_end_token_id=991, rope_scaling={"type": "mrope", "rope_type": "default", "mrope_section": [16, 24, 24], "rope_theta": 10000.0},
        vision_config={
            "model_type": "qwen2_vl", "depth": 2, "embed_dim": 128, "hidden_size": 256, "num_heads": 2, "mlp_ratio": 2, "in_channels": 3,
            "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2,
        },
    ),
}  # fmt: skip


def config(name: str) -> dict[str, Any]:
    """Return the whole config of a model."""
    return SIZES | (MODELS | EMBEDDING | VISION)[name]


def lora_target(name: str) -> tuple[str, int, int] | None:
    """Return the linear layer that an adapter changes in each layer of the model, and its sizes; None for no such layer."""
    sizes = config(name)
    if name in ("mamba2", "bert (embedding)", *VISION):
        return None
    heads = sizes["num_attention_heads"]
    width = heads * sizes.get("v_head_dim", sizes["head_dim"])
    return f"self_attn.{'dense' if name == 'phi' else 'o_proj'}", width, sizes["hidden_size"]


def layers_of_attention(name: str) -> list[int]:
    """Return the numbers of the layers that have attention."""
    return [1] if name == "jamba" else list(range(config(name)["num_hidden_layers"]))


def write_adapter(name: str, folder: Path) -> None:
    """Write an adapter with random weights for one linear layer of each layer with attention."""
    import torch  # noqa: PLC0415 (only where a model runs)
    from safetensors.torch import save_file  # noqa: PLC0415 (only where a model runs)

    target = lora_target(name)
    assert target is not None
    layer, width, out = target
    folder.mkdir()
    weights = {}
    for number in layers_of_attention(name):
        place = f"base_model.model.model.layers.{number}.{layer}"
        weights[f"{place}.lora_A.weight"] = torch.randn(RANK, width, device="cpu")
        weights[f"{place}.lora_B.weight"] = torch.randn(out, RANK, device="cpu")
    save_file(weights, folder / "adapter_model.safetensors")
    said = {
        "peft_type": "LORA",
        "r": RANK,
        "lora_alpha": RANK,
        "target_modules": [layer.rpartition(".")[2]],
    }
    (folder / "adapter_config.json").write_text(json.dumps(said), encoding="utf-8")
