"""Makes ResNet-50 and MobileNetV2 with random weights and live BatchNorm statistics, with data, from one seed; compare.py judges tools on them.

    pip install torch onnx transformers
    python bench/peers/make_deep_nets.py --out deep --seed 40 --labels 2

Both nets in four settings: noise or smooth images of 224 x 224, and statistics that follow the batches with the usual momentum, after a few
of them or many, or are the means of all. Writes NAME.onnx as exported (opset 17, free batch; BatchNormalization is folded into Conv, as the
exporter does unless told otherwise, or left with --unfolded), two disjoint sets of samples and cases.json, the list that compare.py takes.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import torch
import transformers
from torch import nn
from torch.nn import functional as F

KINDS = {"resnet50": "ResNet", "mobilenetv2": "MobileNetV2"}
SETTINGS = [
    {"images": "noise", "statistics": "momentum", "batches": 5},
    {"images": "noise", "statistics": "momentum", "batches": 30},
    {"images": "smooth", "statistics": "momentum", "batches": 30},
    {"images": "smooth", "statistics": "exact", "batches": 8},
]
BATCH, SAMPLES, SIZE = 8, 64, 224


def smooth(count, rng):
    """Colour fields at several scales, about zero mean and unit spread."""
    fields = [
        F.interpolate(torch.tensor(rng.normal(0, s, (count, 3, k, k)), dtype=torch.float32), size=(SIZE, SIZE), mode="bicubic")
        for k, s in ((3, 1.0), (8, 0.5), (20, 0.3), (50, 0.15))
    ]
    return sum(fields) * torch.tensor(rng.uniform(0.5, 1.3, (count, 1, 1, 1)), dtype=torch.float32)


def noise(count, rng):
    return torch.tensor(rng.normal(0, 1, (count, 3, SIZE, SIZE)), dtype=torch.float32)


class Logits(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, pixel_values):
        return self.net(pixel_values).logits


def live(net, draw, statistics, batches):
    """BatchNorm statistics of some batches; nothing is learned."""
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d) and statistics == "exact":
            module.momentum = None
    net.train()
    for module in net.modules():
        if isinstance(module, nn.Dropout):
            module.eval()
    with torch.no_grad():
        for _ in range(batches):
            net(draw(BATCH))
    return net.eval()


def make(out, kind, labels, seed, is_folded, images, statistics, batches):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    of = KINDS[kind]
    net = getattr(transformers, f"{of}ForImageClassification")(getattr(transformers, f"{of}Config")(num_labels=labels))

    def draw(count):
        return (smooth if images == "smooth" else noise)(count, rng)

    name = f"{kind}-{labels}-{images}-{statistics}{batches}"
    torch.onnx.export(
        Logits(live(net, draw, statistics, batches)),
        (draw(1),),
        out / f"{name}.onnx",
        input_names=["pixel_values"],
        output_names=["logits"],
        opset_version=17,
        dynamo=False,
        do_constant_folding=is_folded,
        dynamic_axes={"pixel_values": {0: "batch"}, "logits": {0: "batch"}},
    )
    for part in ("calibration", "evaluation"):
        np.savez(out / f"{name}-{part}.npz", pixel_values=draw(SAMPLES).numpy())
    print(f"{name}: {(out / f'{name}.onnx').stat().st_size} bytes", flush=True)
    # No limit is declared for them: the set for it is never judged by.
    sets = {"calibration": "calibration", "limit": "calibration", "evaluation": "evaluation"}
    return {
        **{"name": name, "model": f"{name}.onnx", "metric": "sqnr", "kind": "cnn"},
        **{use: f"{name}-{part}.npz" for use, part in sets.items()},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=40)
    parser.add_argument("--labels", type=int, default=2)
    parser.add_argument("--unfolded", action="store_true", help="leave BatchNormalization nodes")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    args.out.mkdir(parents=True, exist_ok=True)
    cases = [
        make(args.out, kind, args.labels, args.seed + i, not args.unfolded, **setting)
        for kind in KINDS
        for i, setting in enumerate(SETTINGS)
    ]
    (args.out / "cases.json").write_text(json.dumps(cases, indent=1))


if __name__ == "__main__":
    main()
