"""Detection with torchvision and diffusion with diffusers, by tiny models of random weights.

    python -m benchmarks.vision [PROGRAM ...]

PROGRAM is `detect` (Faster R-CNN, RetinaNet, SSD, FCOS and Mask R-CNN find nothing in two images), `train_detector` (three steps),
or `diffuse` (a text-free pipeline by two schedulers, and latents through a decoder). It needs torchvision, and diffusers for the
last, and a GPU, real or simulated, and downloads nothing. It is there for others to watch:
`syncscan trace --simulate -o DIR -- python -m benchmarks.vision`. It prints which programs went through.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import torch

DETECTORS = {
    "fasterrcnn_mobilenet_v3_large_320_fpn": {"min_size": 96, "max_size": 128},
    "retinanet_resnet50_fpn": {"min_size": 96, "max_size": 128},
    "ssdlite320_mobilenet_v3_large": {},
    "fcos_resnet50_fpn": {"min_size": 96, "max_size": 128},
    "maskrcnn_resnet50_fpn": {"min_size": 96, "max_size": 128},
}


def detector(name: str) -> Any:
    """A detector for 5 classes on the GPU."""
    import torchvision  # noqa: PLC0415 (only where a program needs it)

    make = getattr(torchvision.models.detection, name)
    return make(weights=None, weights_backbone=None, num_classes=5, **DETECTORS[name]).to("cuda")


def images() -> list[torch.Tensor]:
    """Two of different sizes."""
    return [torch.rand(3, 96, 128).to("cuda"), torch.rand(3, 80, 100).to("cuda")]


def detect() -> None:
    """Three batches through each detector."""
    for name in DETECTORS:
        model = detector(name).eval()
        with torch.inference_mode():
            for _ in range(3):
                found = model(images())
        print(f"{name}: {[len(one['boxes']) for one in found]} boxes")


def train_detector() -> None:
    """Three steps of Faster R-CNN and RetinaNet on boxes that are given."""
    for name in ("fasterrcnn_mobilenet_v3_large_320_fpn", "retinanet_resnet50_fpn"):
        model = detector(name).train()
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
        for _ in range(3):
            targets = [
                {
                    "boxes": torch.tensor([[4.0, 4.0, 40.0, 40.0], [20.0, 10.0, 70.0, 60.0]]).to("cuda"),
                    "labels": torch.tensor([1, 2]).to("cuda"),
                }
                for _ in range(2)
            ]
            loss = sum(model(images(), targets).values())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"{name}: trained")


def diffuse() -> None:
    """Pixels by DDPM and DDIM, latents by a transformer with DPM-Solver and Euler, and an image of latents."""
    import diffusers  # noqa: PLC0415 (as above)

    sizes: dict[str, Any] = {"block_out_channels": (32, 64), "norm_num_groups": 8, "layers_per_block": 1}
    unet = diffusers.UNet2DModel(
        sample_size=16, in_channels=3, out_channels=3, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"), **sizes,
    )  # fmt: skip
    for pipeline, scheduler in (("DDPMPipeline", "DDPMScheduler"), ("DDIMPipeline", "DDIMScheduler")):
        pipe = getattr(diffusers, pipeline)(unet, getattr(diffusers, scheduler)()).to("cuda")
        pipe.set_progress_bar_config(disable=True)
        pipe(batch_size=2, num_inference_steps=6, output_type="np")
    transformer = diffusers.DiTTransformer2DModel(
        num_attention_heads=2, attention_head_dim=16, in_channels=4, out_channels=8, num_layers=2, sample_size=8,
    )  # fmt: skip
    vae = diffusers.AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2, latent_channels=4, **sizes,
    )  # fmt: skip
    for name in ("DPMSolverMultistepScheduler", "DDIMScheduler", "EulerDiscreteScheduler"):
        pipe = diffusers.DiTPipeline(transformer, vae, getattr(diffusers, name)()).to("cuda")
        pipe.set_progress_bar_config(disable=True)
        pipe(class_labels=[1, 2], num_inference_steps=6, output_type="np")
    print("diffused")


PROGRAMS: dict[str, Callable[[], None]] = {
    "detect": detect,
    "train_detector": train_detector,
    "diffuse": diffuse,
}


def main() -> None:
    """Run the programs that are named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    for name in parser.parse_args().programs or PROGRAMS:
        torch.manual_seed(0)
        try:
            PROGRAMS[name]()
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:150]}", flush=True)
        else:
            print(f"{name}: done", flush=True)


if __name__ == "__main__":
    main()
