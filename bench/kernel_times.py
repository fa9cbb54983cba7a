"""Times ONNX Runtime's kernels of random shapes, in float and as integers; kernel-times.mjs holds the table of quantize against them.

    pip install onnx onnxruntime numpy
    python bench/kernel_times.py --out times.json --shapes 400 --rounds 4

Each Conv stands between two others and each MatMul between a QuantizeLinear and a DequantizeLinear, in a model of its own, on one
thread. What counts of a round is the lower quartile of the profile's runs, and of the rounds the second least: machines are uneven.
"""

import argparse
import json
import random
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

CHANNELS = [8, 16, 24, 32, 40, 48, 64, 72, 96, 112, 128, 144, 160, 192, 240, 256, 320, 384, 512, 576, 768, 960, 1024, 2048]
SIZES = [5, 7, 10, 14, 20, 28, 40, 56, 80, 112]
IMAGES = [48, 96, 112, 160, 224]
KINDS = ["point", "point", "window", "window", "depthwise", "depthwise", "grouped", "image", "product", "product"]
TIMED = "timed"
ACTIVATION_SCALE = 0.02
# Weights of which two products never leave 16 bits: processors without VNNI are given such.
LARGEST_WEIGHT = 63


class Net:
    """A model in float, or the same with Q/DQ around activations and weights of integers."""

    def __init__(self, integers, seed):
        self.integers = integers
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, op, inputs, name="", **attributes):
        output = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], name=name, **attributes))
        return output

    def activation(self, value, zero_point=0):
        if not self.integers:
            return value
        parts = [self.constant(np.float32(ACTIVATION_SCALE)), self.constant(np.uint8(zero_point))]
        return self.add("DequantizeLinear", [self.add("QuantizeLinear", [value, *parts]), *parts])

    def widened(self, integers, scales, axis):
        zeros = np.zeros(len(scales), integers.dtype)
        return self.add("DequantizeLinear", [self.constant(each) for each in (integers, scales, zeros)], axis=axis)

    def weights(self, dims, axis):
        values = self.rng.normal(0, 1 / np.sqrt(np.prod(dims) / dims[axis]), dims).astype(np.float32)
        bias = self.rng.normal(0, 0.1, dims[axis]).astype(np.float32)
        if not self.integers:
            return self.constant(values), self.constant(bias)
        others = tuple(i for i in range(len(dims)) if i != axis)
        scales = np.abs(values).max(axis=others, keepdims=True) / LARGEST_WEIGHT
        flat = scales.reshape(-1).astype(np.float32)
        steps = flat * np.float32(ACTIVATION_SCALE)
        return (
            self.widened(np.rint(values / scales).astype(np.int8), flat, axis),
            self.widened(np.rint(bias / steps).astype(np.int32), steps, 0),
        )

    def conv(self, value, channels, depth, kernel, stride=1, groups=1, name=""):
        weights = self.weights((channels, depth // groups, kernel, kernel), 0)
        shape = dict(kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4, group=groups)
        return self.activation(self.add("Relu", [self.add("Conv", [value, *weights], name, **shape)]))

    def write(self, value, dims, path):
        self.nodes.append(helper.make_node("Identity", [value], ["out"]))
        ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", dims), ("out", None))]
        graph = helper.make_graph(self.nodes, "net", ports[:1], ports[1:], self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def draw(rng):
    """A shape, or None where it would take too long or be over at once."""
    kind = rng.choice(KINDS)
    if kind == "product":
        shape = dict(kind=kind, rows=rng.choice([1, 4, 8, 16, 32, 64, 128, 197, 512]), depth=rng.choice(CHANNELS), columns=rng.choice(CHANNELS))
        work = shape["rows"] * shape["depth"] * shape["columns"]
        return shape | {"work": work} if 2e4 < work < 4e8 else None
    depth = rng.choice([1, 3, 3, 3, 4] if kind == "image" else CHANNELS)
    channels = depth if kind == "depthwise" else rng.choice(CHANNELS)
    groups = depth if kind == "depthwise" else rng.choice([2, 4, 8, 16, 32]) if kind == "grouped" else 1
    size = rng.choice(IMAGES if kind == "image" else SIZES)
    kernel = 1 if kind == "point" else rng.choice([3, 3, 3, 5, 7])
    stride = rng.choice([1, 1, 1, 2])
    if depth % groups or channels % groups or (kind == "grouped" and depth // groups < 2):
        return None
    written = (size + 2 * (kernel // 2) - kernel) // stride + 1
    work = written**2 * channels * depth // groups * kernel**2
    if not 5e4 < work < 3e8 or max(depth * size**2, channels * written**2) > 2e6:
        return None
    return dict(kind=kind, channels=channels, depth=depth, kernel=kernel, stride=stride, groups=groups, size=size, written=written, work=work)


def build(net, shape):
    kind = shape["kind"]
    value = net.activation("x", 128)
    if kind == "product":
        weights, _ = net.weights((shape["depth"], shape["columns"]), 1)
        return net.activation(net.add("MatMul", [value, weights], TIMED), 128), [shape["rows"], shape["depth"]]
    own = [shape[part] for part in ("channels", "depth", "kernel", "stride", "groups")]
    inputs = shape["depth"] if kind == "image" else 8
    if kind != "image":
        value = net.conv(value, shape["depth"], inputs, 1)
    value = net.conv(net.conv(value, *own, name=TIMED), 8, shape["channels"], 1)
    return value, [1, inputs, shape["size"], shape["size"]]


def profile(path, dims, runs, place):
    """Microseconds of the product at `place` among those of the model: the runtime gives nodes new names."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_profiling = True
    options.profile_file_prefix = f"{path}.profile"
    options.log_severity_level = 3
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    values = np.random.default_rng(1).normal(0, 1, dims).astype(np.float32)
    for _ in range(runs):
        session.run(None, {"x": values})
    written = Path(session.end_profiling())
    times = {}
    for event in json.loads(written.read_text()):
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time") and event["args"]["op_name"].endswith(("Conv", "MatMul")):
            times.setdefault(event["name"], []).append(event["dur"])
    written.unlink()
    return float(np.quantile(list(times.values())[place][2:], 0.25))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shapes", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=4)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    shapes = []
    while len(shapes) < args.shapes:
        shape = draw(rng)
        if shape:
            shapes.append(shape)
    times = [{"float": [], "integer": []} for _ in shapes]
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.rounds):
            for seed, (shape, found) in enumerate(zip(shapes, times)):
                runs = int(min(40, max(8, 4e8 / max(shape["work"], 1e6))))
                for form, taken in found.items():
                    net = Net(form == "integer", seed)
                    value, dims = build(net, shape)
                    path = f"{folder}/{form}.onnx"
                    net.write(value, dims, path)
                    taken.append(profile(path, dims, runs, 0 if shape["kind"] in ("image", "product") else 1))
    second = {form: [sorted(found[form])[min(1, args.rounds - 1)] for found in times] for form in ("float", "integer")}
    rows = [shape | {"floatUs": a, "integerUs": b} for shape, a, b in zip(shapes, second["float"], second["integer"])]
    Path(args.out).write_text(json.dumps(rows, indent=1))
    print(f"{len(rows)} shapes, onnxruntime {ort.__version__}")


if __name__ == "__main__":
    main()
