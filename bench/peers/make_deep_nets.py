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
from random_nets import Logits, live, smooth_images

KINDS = {"resnet50": "ResNet", "mobilenetv2": "MobileNetV2"}
SETTINGS = [
    {"images": "noise", "statistics": "momentum", "batches": 5},
    {"images": "noise", "statistics": "momentum", "batches": 30},
    {"images": "smooth", "statistics": "momentum", "batches": 30},
    {"images": "smooth", "statistics": "exact", "batches": 8},
]
BATCH, SAMPLES, SIZE = 8, 64, 224


def noise(count, rng):
    return torch.tensor(rng.normal(0, 1, (count, 3, SIZE, SIZE)), dtype=torch.float32)


def make(args, kind, setting, seed):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    of = KINDS[kind]
    net = getattr(transformers, f"{of}ForImageClassification")(getattr(transformers, f"{of}Config")(num_labels=args.labels))
    images, statistics, steps = setting["images"], setting["statistics"], setting["batches"]

    def draw(count):
        return smooth_images(count, SIZE, rng) if images == "smooth" else noise(count, rng)

    name = f"{kind}-{args.labels}-{images}-{statistics}{steps}"
    batches = ((draw(BATCH),) for _ in range(steps))
    torch.onnx.export(
        Logits(live(net, batches, is_mean=statistics == "exact", drops=False)),
        (draw(1),),
        args.out / f"{name}.onnx",
        input_names=["pixel_values"],
        output_names=["logits"],
        opset_version=17,
        dynamo=False,
        do_constant_folding=not args.unfolded,
        dynamic_axes={"pixel_values": {0: "batch"}, "logits": {0: "batch"}},
    )
    for part in ("calibration", "evaluation"):
        np.savez(args.out / f"{name}-{part}.npz", pixel_values=draw(SAMPLES).numpy())
    print(f"{name}: {(args.out / f'{name}.onnx').stat().st_size} bytes", flush=True)
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
    cases = [make(args, kind, setting, args.seed + i) for kind in KINDS for i, setting in enumerate(SETTINGS)]
    (args.out / "cases.json").write_text(json.dumps(cases, indent=1))


if __name__ == "__main__":
    main()
