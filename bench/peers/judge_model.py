"""The judge of every file alike, with ONNX Runtime on the CPU and one thread. Prints JSON.

    python judge_model.py read MODEL LINES.npz KEYS.txt          lines read exactly right; what the file holds
    python judge_model.py time PUBLISHED MODEL LINES.npz ROUNDS  milliseconds of both, run in turns

It knows nothing of infer-opt: the runtime is the Python one, not the one that infer-opt timed with.
"""

import collections
import json
import os
import sys
import time

import numpy as np
import onnxruntime as ort

WARM_UP = 5


def open_model(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def read(path, lines, keys):
    import onnx

    data = np.load(lines)
    texts = ["".join(map(chr, row[row > 0])) for row in data["labels"]]
    with open(keys, encoding="utf8") as file:
        characters = [""] + [key for key in file.read().split("\n") if key] + [" "]
    session = open_model(path)
    right = 0
    for x, text in zip(data["x"], texts):
        classes = session.run(None, {"x": x[None]})[0][0].argmax(-1)
        changed = np.r_[True, classes[1:] != classes[:-1]]
        right += "".join(characters[c] for c in classes[changed]).strip() == text
    types = collections.Counter(node.op_type for node in onnx.load(path).graph.node)
    quantized = sum(types[name] for name in ("QuantizeLinear", "DynamicQuantizeLinear", "MatMulNBits"))
    return {"right": right, "lines": len(texts), "bytes": os.path.getsize(path), "quantizing_nodes": quantized}


def take_times(published, path, lines, rounds):
    sessions = [open_model(published), open_model(path)]
    x = np.load(lines)["x"][:rounds]
    times = [[], []]
    for turn in range(-WARM_UP, rounds):
        feeds = {"x": x[turn % len(x)][None]}
        # Who goes first alternates, so that neither always follows the other.
        for which in (0, 1) if turn % 2 else (1, 0):
            start = time.perf_counter()
            sessions[which].run(None, feeds)
            if turn >= 0:
                times[which].append(1000 * (time.perf_counter() - start))
    return {"published_ms": times[0], "model_ms": times[1]}


if __name__ == "__main__":
    command, *args = sys.argv[1:]
    if command == "read":
        print(json.dumps(read(*args)))
    else:
        print(json.dumps(take_times(*args[:3], int(args[3]))))
