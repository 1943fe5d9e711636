"""Detection with torchvision, diffusion with diffusers and classification with timm, by tiny models of random weights.

    python -m benchmarks.vision [PROGRAM ...]

PROGRAM is `detect` (Faster R-CNN, RetinaNet, SSD, FCOS and Mask R-CNN find nothing in two images), `train_detector` (three steps),
`diffuse` (a text-free pipeline by two schedulers, and latents through a decoder), `classify` (eight architectures of timm, under
autocast, by its loader), `features` (of the same) or `train_classifier` (with timm's mixup, optimizers, schedulers, scaler, average of
weights and meters). It needs torchvision, diffusers and timm, each where a program is of it, and a GPU, real or simulated, and downloads nothing. It is there for others to watch:
`syncscan trace --simulate -o DIR -- python -m benchmarks.vision`. It prints which programs went through.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
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


CLASSIFIERS: dict[str, dict[str, Any]] = {
    "resnet18": {},
    "efficientnet_b0": {},
    "mobilenetv3_small_050": {},
    "regnetx_002": {},
    "convnext_atto": {},
    "vit_tiny_patch16_224": {"img_size": 64, "patch_drop_rate": 0.25},
    "swin_tiny_patch4_window7_224": {"img_size": 64, "window_size": 4, "drop_path_rate": 0.1},
    "eva02_tiny_patch14_224": {"img_size": 56},
}
CLASSES = 5


def classifier(name: str, **options: Any) -> Any:
    """One of timm's models on the GPU."""
    import timm  # noqa: PLC0415 (as above)

    return timm.create_model(
        name, pretrained=False, num_classes=CLASSES, **{**CLASSIFIERS[name], **options}
    ).to("cuda")


def batches(size: int) -> Any:
    """Two batches of four squares and their classes, as timm's loader brings them to the GPU."""
    from timm.data.loader import PrefetchLoader, fast_collate  # noqa: PLC0415 (as above)

    numbers = np.random.default_rng(0)
    squares = [(numbers.integers(0, 256, (3, size, size), dtype=np.uint8), i % CLASSES) for i in range(8)]
    # A list is a dataset for torch, if not for its annotation.
    loader = torch.utils.data.DataLoader(squares, batch_size=4, collate_fn=fast_collate, pin_memory=True)  # type: ignore[arg-type]
    return PrefetchLoader(loader, device=torch.device("cuda"))


def classify() -> None:
    """Two batches through each model under autocast, and how often it is right."""
    from timm import utils  # noqa: PLC0415 (as above)

    for name, options in CLASSIFIERS.items():
        model = classifier(name).eval()
        right, losses = utils.AverageMeter(), utils.AverageMeter()
        for squares, classes in batches(options.get("img_size", 64)):
            with torch.no_grad(), torch.autocast("cuda", torch.float16):
                scores = model(squares)
                loss = torch.nn.functional.cross_entropy(scores, classes)
            first, _ = utils.accuracy(scores, classes, topk=(1, 2))
            right.update(first.item(), len(squares))
            losses.update(loss.item(), len(squares))
        print(f"{name}: {right.count} classified")


def features() -> None:
    """What each model makes on the way: by its pyramid, by its own method, and before its head."""
    for name, options in CLASSIFIERS.items():
        size = options.get("img_size", 64)
        squares = torch.rand(2, 3, size, size).to("cuda", non_blocking=True)
        with torch.inference_mode():
            model = classifier(name).eval()
            pooled = model.forward_head(model.forward_features(squares), pre_logits=True)
            _, between = model.forward_intermediates(squares)
            pyramid = classifier(name, features_only=True).eval()(squares)
        print(f"{name}: {tuple(pooled.shape)}, {len(between)} and {len(pyramid)} maps")


def train_classifier() -> None:
    """Four steps of each model as timm's own script does them, by one optimizer after the other."""
    from timm import data, loss, optim, scheduler, utils  # noqa: PLC0415 (as above)

    optimizers = ("sgd", "adamw", "lamb", "rmsproptf", "lion", "adafactor", "nadamw", "madgrad")
    clips = ("norm", "value", "agc", None)
    for index, (name, options) in enumerate(CLASSIFIERS.items()):
        model = classifier(name).train()
        average = utils.ModelEmaV3(model, decay=0.99, use_warmup=True)
        optimizer = optim.create_optimizer_v2(model, opt=optimizers[index], lr=1e-4, weight_decay=0.01)
        plan = scheduler.CosineLRScheduler(optimizer, t_initial=4, warmup_t=1, t_in_epochs=False)
        mixup = data.Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=CLASSES)
        criterion, scaler, losses = loss.SoftTargetCrossEntropy(), utils.NativeScaler(), utils.AverageMeter()
        for step, (squares, classes) in enumerate(2 * list(batches(options.get("img_size", 64)))):
            mixed, targets = mixup(squares, classes)
            with torch.autocast("cuda", torch.float16):
                wrong = criterion(model(mixed), targets)
            clip = clips[index % len(clips)]
            scaler(
                wrong,
                optimizer,
                clip_grad=clip and 1.0,
                clip_mode=clip or "norm",
                parameters=model.parameters(),
            )
            optimizer.zero_grad()
            average.update(model, step=step)
            losses.update(wrong.item(), len(squares))
            plan.step_update(num_updates=step + 1)
        average.eval()(squares)
        print(f"{name}: trained by {optimizers[index]}")


PROGRAMS: dict[str, Callable[[], None]] = {
    "detect": detect,
    "train_detector": train_detector,
    "diffuse": diffuse,
    "classify": classify,
    "features": features,
    "train_classifier": train_classifier,
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
