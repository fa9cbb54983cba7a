"""The list of nets that compare.py takes, which scripts add to."""

import argparse
import json
from pathlib import Path

import numpy as np

# Samples of each set.
COUNTS = {"calibration": 32, "limit": 32, "evaluation": 48}


def folder_and_seed(seed):
    """What a script that makes nets is told: `out`, which is there then, and `seed`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=seed)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    return options


def walks(*shape):
    """Samples of random walks along the first axis: a function of how many and of a generator of numpy."""
    return lambda count, rng: np.cumsum(rng.normal(size=(count, *shape)), 1).astype(np.float32) / 4


def add_case(out, case):
    """Takes the place of one of the same name: those that are not made anew stay."""
    path = out / "cases.json"
    cases = json.loads(path.read_text()) if path.exists() else []
    path.write_text(json.dumps([other for other in cases if other["name"] != case["name"]] + [case], indent=1))


def add_unlabelled(out, name, kind, sets):
    """A net NAME.onnx that is compared with itself in float, and its sets of samples: arrays by input, by use."""
    files = {use: f"{name}-{use}.npz" for use in sets}
    for use, arrays in sets.items():
        np.savez_compressed(out / files[use], **arrays)
    add_case(out, {"name": name, "model": f"{name}.onnx", **files, "metric": "sqnr", "kind": kind})
