"""Puts nets that other scripts made into forms that models are published in; compare.py judges tools on them.

    pip install onnx onnxruntime numpy sympy
    python bench/peers/make_other_forms.py --out forms --nets varied/cases.json deep/cases.json --form half --only gpt2 swin

    half           float16 throughout but for inputs and outputs, by ONNX Runtime's converter
    extended       what ONNX Runtime makes of them when it loads them, without what is for one processor
    transformers   what onnxruntime.transformers makes of a BERT and its like

Writes NAME-FORM.onnx, the sets of samples of the nets and cases.json. What is compared with is the net in that form.
"""

import argparse
import json
import shutil
from pathlib import Path

import onnx
import onnxruntime
from cases import add_case


def half(source, target):
    from onnxruntime.transformers.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(source), keep_io_types=True), target)


def extended(source, target):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(target)
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def transformers(source, target):
    from onnxruntime.transformers.optimizer import optimize_model

    optimize_model(str(source), model_type="bert", num_heads=0, hidden_size=0, opt_level=0).save_model_to_file(str(target))


FORMS = {"half": half, "extended": extended, "transformers": transformers}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--nets", type=Path, nargs="+", required=True, help="their cases.json")
    parser.add_argument("--form", choices=FORMS, required=True)
    parser.add_argument("--only", nargs="*", help="by name")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for cases in options.nets:
        for case in json.loads(cases.read_text()):
            if options.only and case["name"] not in options.only:
                continue
            name = f"{case['name']}-{options.form}"
            FORMS[options.form](cases.parent / case["model"], options.out / f"{name}.onnx")
            sets = {use: case[use] for use in ("calibration", "limit", "evaluation") if use in case}
            for file in sets.values():
                shutil.copy(cases.parent / file, options.out / Path(file).name)
            files = {use: Path(file).name for use, file in sets.items()}
            add_case(options.out, {**case, "name": name, "model": f"{name}.onnx", **files})
            print(name, flush=True)


if __name__ == "__main__":
    main()
