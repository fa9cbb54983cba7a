"""The list of nets that compare.py takes, which scripts add to."""

import json

import numpy as np

# Samples of each set.
COUNTS = {"calibration": 32, "limit": 32, "evaluation": 48}


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
