"""Puts nets that other scripts made into half precision, as ONNX Runtime's own converter does; compare.py judges tools on them.

    pip install onnx onnxruntime numpy
    python bench/peers/make_half_nets.py --out half --nets varied/cases.json deep/cases.json --only gpt2 swin

Inputs and outputs stay float32. Writes NAME-half.onnx, the sets of samples of the nets and cases.json. What is compared with is the net in half precision.
"""

import argparse
import json
import shutil
from pathlib import Path

import onnx
from cases import add_case
from onnxruntime.transformers.float16 import convert_float_to_float16


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--nets", type=Path, nargs="+", required=True, help="their cases.json")
    parser.add_argument("--only", nargs="*", help="by name")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for cases in options.nets:
        for case in json.loads(cases.read_text()):
            if options.only and case["name"] not in options.only:
                continue
            name = f"{case['name']}-half"
            model = convert_float_to_float16(onnx.load(cases.parent / case["model"]), keep_io_types=True)
            onnx.save(model, options.out / f"{name}.onnx")
            sets = {use: case[use] for use in ("calibration", "limit", "evaluation")}
            for file in sets.values():
                shutil.copy(cases.parent / file, options.out / Path(file).name)
            files = {use: Path(file).name for use, file in sets.items()}
            add_case(options.out, {**case, "name": name, "model": f"{name}.onnx", **files})
            print(name, flush=True)


if __name__ == "__main__":
    main()
