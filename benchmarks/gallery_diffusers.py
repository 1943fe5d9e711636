"""Tabulate what blocks for each denoising step of two pipelines of diffusers, a UNet and a DiT, by scheduler.

    python -m benchmarks.gallery_diffusers                 write the part of docs/gallery.md
    python -m benchmarks.gallery_diffusers --gpu -o FILE   keep the rows of a real GPU
    python -m benchmarks.gallery_diffusers --compare FILE  hold them against the simulated GPU

The GPU is simulated, nothing is downloaded, and models are tiny with random weights. The prompt is given as embeddings.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.gallery import Rows, cell, compare, rates_of, runs_of, total
from benchmarks.gallery_page import agreement, write_part

ON_GPU = Path(__file__).with_name("gallery_diffusers_h200.json")
SCHEDULERS = {
    "DDIM": "DDIMScheduler", "DDPM": "DDPMScheduler", "PNDM": "PNDMScheduler", "Euler": "EulerDiscreteScheduler",
    "DPM-Solver++": "DPMSolverMultistepScheduler", "UniPC": "UniPCMultistepScheduler",
}  # fmt: skip
SIDE = 8  # of the latents
WIDTH = 32


def _autoencoder() -> Any:
    from diffusers import AutoencoderKL  # noqa: PLC0415 (only where it runs)

    return AutoencoderKL(
        down_block_types=["DownEncoderBlock2D"] * 2, up_block_types=["UpDecoderBlock2D"] * 2, block_out_channels=[WIDTH] * 2,
        latent_channels=4, norm_num_groups=8, sample_size=2 * SIDE,
    )  # fmt: skip


def stable_diffusion(scheduler: Any) -> Any:
    """Return a pipeline from text to image around a UNet; its text encoder is left out."""
    from diffusers import StableDiffusionPipeline, UNet2DConditionModel  # noqa: PLC0415 (only where it runs)

    unet = UNet2DConditionModel(
        sample_size=SIDE, block_out_channels=[WIDTH, WIDTH], layers_per_block=1, cross_attention_dim=WIDTH, norm_num_groups=8,
        down_block_types=["DownBlock2D", "CrossAttnDownBlock2D"], up_block_types=["CrossAttnUpBlock2D", "UpBlock2D"],
    )  # fmt: skip
    return StableDiffusionPipeline(
        vae=_autoencoder(), text_encoder=None, tokenizer=None, unet=unet, scheduler=scheduler, safety_checker=None,
        feature_extractor=None, requires_safety_checker=False,
    )  # fmt: skip


def dit(scheduler: Any) -> Any:
    """Return a pipeline from class to image around a diffusion transformer."""
    from diffusers import DiTPipeline, DiTTransformer2DModel  # noqa: PLC0415 (only where it runs)

    transformer = DiTTransformer2DModel(
        sample_size=SIDE, num_layers=2, attention_head_dim=8, num_attention_heads=4, in_channels=4, out_channels=8,
    )  # fmt: skip
    return DiTPipeline(transformer, _autoencoder(), scheduler)


def _draw(pipeline: Any, steps: int) -> None:
    import torch  # noqa: PLC0415 (only where it runs)

    torch.manual_seed(0)
    asked: dict[str, Any] = {"class_labels": [1, 2]}
    if hasattr(pipeline, "unet"):
        prompt = torch.randn(1, 4, WIDTH, device="cuda")
        asked = {"prompt_embeds": prompt, "negative_prompt_embeds": torch.zeros_like(prompt)}
    pipeline(**asked, num_inference_steps=steps)


PIPELINES: dict[str, Callable[[Any], Any]] = {"Stable Diffusion (UNet)": stable_diffusion, "DiT": dit}


def made(name: str, mode: str) -> Any:
    """Return a pipeline with a scheduler, on the GPU."""
    import diffusers  # noqa: PLC0415 (only where it runs)
    import torch  # noqa: PLC0415 (only where it runs)

    torch.manual_seed(0)
    pipeline = PIPELINES[name](getattr(diffusers, SCHEDULERS[mode])()).to("cuda")
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def rows_of(*, on_gpu: bool) -> Rows:
    """Return the synchronizations per step of each line."""
    return {
        name: {mode: rates_of(partial(made, name, mode), _draw, on_gpu=on_gpu) for mode in SCHEDULERS}
        for name in PIPELINES
    }


def part(rows: Rows, seconds: float) -> str:
    """Return the part of the page for diffusers."""
    import diffusers  # noqa: PLC0415 (only where it runs)
    import torch  # noqa: PLC0415 (only where it runs)

    said, _ = agreement(runs_of(json.loads(ON_GPU.read_text(encoding="utf-8"))), runs_of(rows))
    head = f"""\
Written by `python -m benchmarks.gallery_diffusers` in {seconds:.0f} s on the simulated GPU, without a GPU: diffusers {diffusers.__version__}, torch {torch.__version__}.
A rate counts the synchronizations per further denoising step, in lines of the library. Models are tiny and have random weights; schedulers have
their defaults.

{said} That was on an H200 with torch 2.11 and the same diffusers (`benchmarks/gallery_diffusers_h200.json`; `--gpu` makes it, `--compare` repeats the comparison).

| pipeline | scheduler | rate | lines |
|---|---|---|---|
"""
    return head + "".join(
        f"| {name} | {mode} | {total(found)} | {cell(found)} |\n"
        for name, row in rows.items()
        for mode, found in row.items()
    )


def main() -> None:
    """Write the part, keep rows, or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gpu", action="store_true", help="on a real one")
    parser.add_argument("-o", "--output", type=Path, help="keep the rows as JSON")
    parser.add_argument("--compare", type=Path, help="rows of a GPU")
    options = parser.parse_args()
    start = time.monotonic()
    rows = rows_of(on_gpu=options.gpu)
    if options.compare:
        compare(json.loads(options.compare.read_text(encoding="utf-8")), rows)
    elif options.output:
        options.output.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    else:
        write_part("diffusers", part(rows, time.monotonic() - start))


if __name__ == "__main__":
    main()
