"""Times two models in a plain loop of Python's onnxruntime, blocks in turns: the ratio of their medians, as one number.

    python bench/trust/speedup.py BASELINE CANDIDATE ROWS,WIDTH SECONDS
"""
import sys
import time

import numpy as np
import onnxruntime as ort


def opened(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


baseline, candidate, dims, seconds = sys.argv[1:]
x = np.random.default_rng(1).standard_normal([int(d) for d in dims.split(",")]).astype(np.float32)
sessions = [opened(baseline), opened(candidate)]
times = [[], []]
for session in sessions:
    for _ in range(20):
        session.run(None, {"x": x})
until = time.perf_counter() + float(seconds)
while time.perf_counter() < until:
    for i, session in enumerate(sessions):
        for _ in range(2):
            started = time.perf_counter()
            session.run(None, {"x": x})
            times[i].append(time.perf_counter() - started)
print(np.median(times[0]) / np.median(times[1]))
