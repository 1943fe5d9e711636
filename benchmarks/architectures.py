"""Tiny models of 20 architectures of transformers, of random weights, and what is done with them.

    python -m benchmarks.architectures PROGRAM [ARCHITECTURE ...]

PROGRAM is `generate` (greedy, sampled, with a static cache), `compiled` (with a static cache, the decoding step compiled), `train` (steps of AdamW with clipped gradients), `beams`, or
`assisted` (a second model drafts). It needs transformers and a GPU, real or simulated, and downloads nothing. It is there
for others to watch: `syncscan facts record --simulate -- python -m benchmarks.architectures generate` gives facts, and
`syncscan trace --lines -- python -m benchmarks.architectures train` what waits. It prints which architectures went
through, and why another did not.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import torch
import transformers

SIZES = {
    "vocab_size": 128, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 128, "bos_token_id": 1, "eos_token_id": 2,
    "pad_token_id": 0,
}  # fmt: skip
OLDER = {  # what the architectures before grouped heads are given
    key: SIZES[key] for key in SIZES if key not in {"intermediate_size", "num_key_value_heads", "head_dim"}
}
EXPERTS = {
    "num_local_experts": 4, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 32,
}  # fmt: skip
SEQ2SEQ = {
    "vocab_size": 128, "d_model": 32, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "decoder_start_token_id": 0, "forced_eos_token_id": None,
}  # fmt: skip
ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    **dict.fromkeys(
        ("llama", "mistral", "gemma2", "qwen2", "qwen3", "phi3", "olmo2", "starcoder2", "stablelm"),
        ("AutoModelForCausalLM", SIZES),
    ),
    **dict.fromkeys(("gpt2", "bloom", "falcon", "phi", "gpt_neox"), ("AutoModelForCausalLM", OLDER)),
    "opt": ("AutoModelForCausalLM", {**OLDER, "ffn_dim": 64, "word_embed_proj_dim": 32}),
    "mixtral": ("AutoModelForCausalLM", SIZES | EXPERTS),
    "qwen2_moe": ("AutoModelForCausalLM", SIZES | EXPERTS),
    "t5": ("AutoModelForSeq2SeqLM", {**SEQ2SEQ, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}),
    "bart": (
        "AutoModelForSeq2SeqLM",
        {
            **SEQ2SEQ, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64,
            "encoder_attention_heads": 4, "decoder_attention_heads": 4,
        },
    ),
    "bert": ("AutoModelForMaskedLM", OLDER),
}  # fmt: skip


def main() -> None:
    """Run the program over each architecture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", choices=sorted(PROGRAMS))
    parser.add_argument("architectures", nargs="*", help="only these")
    options = parser.parse_args()
    names = options.architectures or ARCHITECTURES
    for name in names:
        torch.manual_seed(0)
        try:
            PROGRAMS[options.program](name)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:150]}", flush=True)
        else:
            print(f"{name}: done", flush=True)


def model_of(name: str) -> Any:
    """A model of random weights on the GPU."""
    auto, sizes = ARCHITECTURES[name]
    return (
        getattr(transformers, auto).from_config(transformers.AutoConfig.for_model(name, **sizes)).to("cuda")
    )


def batch() -> dict[str, torch.Tensor]:
    """Two rows of tokens, the first padded on the left."""
    tokens = torch.randint(3, 128, (2, 10))
    tokens[0, :3] = 0
    return {"input_ids": tokens.to("cuda"), "attention_mask": (tokens != 0).long().to("cuda")}


def generate(name: str) -> None:
    """Greedy, sampled, and with a static cache; a model that generates nothing runs once."""
    model = model_of(name).eval()
    if name == "bert":
        with torch.no_grad():
            model(**batch())
        return
    model.generate(**batch(), max_new_tokens=6)
    model.generate(**batch(), max_new_tokens=6, do_sample=True, top_p=0.9, top_k=20, repetition_penalty=1.1)
    if ARCHITECTURES[name][0] == "AutoModelForCausalLM":
        model.generate(**batch(), max_new_tokens=6, cache_implementation="static", disable_compile=True)


def compiled(name: str) -> None:
    """Greedy and sampled, with a static cache and each step of decoding compiled."""
    if ARCHITECTURES[name][0] != "AutoModelForCausalLM":
        return
    model = model_of(name).eval()
    model.generation_config.compile_config = transformers.CompileConfig(mode="default", fullgraph=False)
    for options in ({}, {"do_sample": True, "top_p": 0.9, "top_k": 20}):
        model.generate(**batch(), max_new_tokens=6, cache_implementation="static", **options)


def train(name: str) -> None:
    """Three steps, with the loss that the model computes."""
    model = model_of(name).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(3):
        inputs = batch()
        labels = inputs["input_ids"].masked_fill(inputs["attention_mask"] == 0, -100)
        loss = model(**inputs, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    print(float(loss.detach()) > 0)


def beams(name: str) -> None:
    """Beam search, also for several results of a row, and without repeated pairs."""
    if name == "bert":
        return
    model = model_of(name).eval()
    model.generate(**batch(), max_new_tokens=6, num_beams=3)
    model.generate(**batch(), max_new_tokens=6, num_beams=4, num_return_sequences=2, no_repeat_ngram_size=2)


def assisted(name: str) -> None:
    """One row, for which a second model of the same sort drafts."""
    if name == "bert":
        return
    model, drafts = model_of(name).eval(), model_of(name).eval()
    row = {key: value[1:] for key, value in batch().items()}
    model.generate(**row, max_new_tokens=8, assistant_model=drafts, do_sample=False)


PROGRAMS: dict[str, Callable[[str], None]] = {
    "generate": generate,
    "compiled": compiled,
    "train": train,
    "beams": beams,
    "assisted": assisted,
}

if __name__ == "__main__":
    main()
