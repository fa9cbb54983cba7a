"""The judge of every file alike, for any model: ONNX Runtime on the CPU, one thread. Prints JSON.

    python judge_case.py score ORIGINAL MODEL DATA [--keys KEYS.txt] [--carry OUTPUT=INPUT] [--samples N]
    python judge_case.py time DATA ROUNDS ORIGINAL MODEL...

`score` tells of each sample what compare.py needs for paired intervals: whether the answer is right (with labels), the cosine,
the energy of the original's first output and of the difference to it, and the largest difference. With --keys labels are lines
of text, read by greedy CTC decoding; with --carry each sample gets an output of the sample before, as streams do.

`time` runs all models in turns within each round, in an order that changes. Each turn is one run that fills the caches, which
the model before emptied, and then runs that count. Times are those of the thread (its CPU time), which other work on the
machine prolongs little, and by the clock.

It knows nothing of infer-opt: the runtime is the Python one, not the one that infer-opt timed with.
"""

import argparse
import collections
import json
import math
import os
import random
import time

import numpy as np
import samples

COUNTED_RUNS = 3
# Of onnx.TensorProto: uint8, int8, uint16, int16, uint4, int4.
SMALL_INTEGERS = {2, 3, 4, 5, 21, 22}
QUANTIZING = {
    "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulNBits", "QLinearConv", "QLinearMatMul", "QGemm",
    "ConvInteger", "MatMulInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM", "QAttention",
    "GatherBlockQuantized", "QEmbedLayerNormalization", "QLinearAdd",
}


def open_model(path):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


class Reader:
    """Greedy CTC: the best class of each step, repeats joined, blanks dropped."""

    def __init__(self, keys):
        with open(keys, encoding="utf8") as file:
            self.characters = [""] + [key for key in file.read().split("\n") if key] + [" "]

    def right(self, output, label):
        classes = output[0].argmax(-1)
        changed = np.r_[True, classes[1:] != classes[:-1]]
        return "".join(self.characters[c] for c in classes[changed]).strip() == "".join(map(chr, label[label > 0]))


def outputs_of(path, feeds, carry):
    session = open_model(path)
    names = [port.name for port in session.get_outputs()]
    wanted = {port.name for port in session.get_inputs()}
    carried = {}
    for feed in feeds:
        found = session.run(None, {name: value for name, value in {**feed, **carried}.items() if name in wanted})
        if carry:
            source, target = carry.split("=")
            carried = {target: found[names.index(source)]}
        yield found[0]


def score(original, model, data, keys, carry, limit):
    feeds, labels = samples.load(data)
    feeds = feeds[:limit]
    reader = Reader(keys) if keys else None
    rows = collections.defaultdict(list)
    pairs = zip(outputs_of(original, feeds, carry), outputs_of(model, feeds, carry))
    for index, (expected, found) in enumerate(pairs):
        a, b = expected.astype(np.float64).ravel(), found.astype(np.float64).ravel()
        lengths = np.linalg.norm(a) * np.linalg.norm(b)
        rows["cosine"].append(float(a @ b / lengths) if lengths else float(lengths == np.linalg.norm(a - b)))
        rows["signal"].append(float(a @ a))
        rows["noise"].append(float((a - b) @ (a - b)))
        rows["largest"].append(float(np.abs(a - b).max()))
        rows["agree"].append(int(a.argmax() == b.argmax()))
        if labels is not None:
            right = reader.right(found, labels[index]) if reader else found.ravel().argmax() == labels[index]
            rows["right"].append(int(right))
    return {**rows, "finite": bool(np.isfinite(rows["noise"]).all()), **file_facts(model)}


def file_facts(path):
    import onnx

    model = onnx.load(path, load_external_data=False)
    beside = {
        entry.value for tensor in model.graph.initializer for entry in tensor.external_data if entry.key == "location"
    }
    folder = os.path.dirname(os.path.abspath(path))
    types = collections.Counter(kind for graph in graphs(model.graph) for kind in (node.op_type for node in graph.node))
    return {
        "bytes": os.path.getsize(path) + sum(os.path.getsize(os.path.join(folder, name)) for name in beside),
        "quantizing_nodes": sum(count for kind, count in types.items() if kind in QUANTIZING) + integer_weights(model.graph),
        "nodes": sum(types.values()),
        "contrib": any(node.domain == "com.microsoft" for graph in graphs(model.graph) for node in graph.node),
    }


def integer_weights(graph):
    """Weights that are widened by other operators than those above."""
    tensors = [tensor for each in graphs(graph) for tensor in each.initializer]
    return sum(tensor.data_type in SMALL_INTEGERS and math.prod(tensor.dims) >= 1024 for tensor in tensors)


def graphs(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for body in [attribute.g, *attribute.graphs]:
                if body.node:
                    yield from graphs(body)


def take_times(data, rounds, paths):
    feeds = samples.load(data)[0]
    sessions = [open_model(path) for path in paths]
    cpu, clock = [[] for _ in paths], [[] for _ in paths]
    order = list(range(len(paths)))
    for turn in range(-1, rounds):
        random.Random(turn).shuffle(order)
        feed = feeds[turn % len(feeds)]
        for which in order:
            wanted = {port.name: feed[port.name] for port in sessions[which].get_inputs()}
            sessions[which].run(None, wanted)
            spans = []
            for _ in range(COUNTED_RUNS):
                start = time.thread_time(), time.perf_counter()
                sessions[which].run(None, wanted)
                spans.append((1000 * (time.thread_time() - start[0]), 1000 * (time.perf_counter() - start[1])))
            if turn >= 0:
                cpu[which].append(min(span[0] for span in spans))
                clock[which].append(min(span[1] for span in spans))
    return {"cpu_ms": dict(zip(paths, cpu)), "clock_ms": dict(zip(paths, clock))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    scoring = commands.add_parser("score")
    scoring.add_argument("original")
    scoring.add_argument("model")
    scoring.add_argument("data")
    scoring.add_argument("--keys")
    scoring.add_argument("--carry")
    scoring.add_argument("--samples", type=int)
    timing = commands.add_parser("time")
    timing.add_argument("data")
    timing.add_argument("rounds", type=int)
    timing.add_argument("models", nargs="+")
    args = parser.parse_args()
    if args.command == "score":
        result = score(args.original, args.model, args.data, args.keys, args.carry, args.samples)
    else:
        result = take_times(args.data, args.rounds, args.models)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
