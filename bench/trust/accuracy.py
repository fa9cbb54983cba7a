"""Share of labelled samples that each model gets right, with numpy and Python's onnxruntime: a JSON list.

    python bench/trust/accuracy.py DATA.npz MODEL.onnx...
"""
import json
import sys

import numpy as np
import onnxruntime as ort

data, *models = sys.argv[1:]
arrays = np.load(data)
shares = []
for path in models:
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    right = 0
    for image, label in zip(arrays[name], arrays["labels"]):
        (scores,) = session.run(None, {name: image[None]})
        right += int(scores[0].argmax() == label)
    shares.append(right / len(arrays["labels"]))
print(json.dumps(shares))
