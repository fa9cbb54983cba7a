"""What became of a model: nodes, and whether it still is valid and computes the same.

Both files run in ONNX Runtime with its own optimizer off, on the inputs of the model's test_data_set_* folders where
it has some, and on seeded inputs at two sizes of its open dimensions otherwise.
"""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as rt
from onnx import numpy_helper

RTOL = 1e-3
ATOL = 1e-5
SIZES = (2, 3, 1, 4, 8)
DTYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(int16)": np.int16,
    "tensor(int8)": np.int8,
    "tensor(uint8)": np.uint8,
    "tensor(uint16)": np.uint16,
    "tensor(uint32)": np.uint32,
    "tensor(uint64)": np.uint64,
    "tensor(bool)": np.bool_,
}


def session(path):
    options = rt.SessionOptions()
    options.graph_optimization_level = rt.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return rt.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def count_nodes(model):
    """Nodes of the graph, of its bodies and of functions that are called; constants in the form of a node are no work."""

    def within(nodes):
        total = 0
        for node in nodes:
            total += not (node.op_type == "Constant" and node.domain in ("", "ai.onnx"))
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    total += within(attribute.g.node)
                total += sum(within(graph.node) for graph in attribute.graphs)
        return total

    return within(model.graph.node) + sum(within(function.node) for function in model.functions)


def random_feeds(inputs, size, seed):
    rng = np.random.default_rng(seed)
    feeds = {}
    for port in inputs:
        dtype = DTYPES[port.type]
        dims = [dim if isinstance(dim, int) else size for dim in port.shape]
        values = rng.standard_normal(dims) if np.issubdtype(dtype, np.floating) else rng.integers(0, 2, dims)
        feeds[port.name] = np.asarray(values, dtype=dtype)
    return feeds


def suite_feeds(path, inputs):
    """Inputs that come with the model."""
    found = []
    for folder in sorted(Path(path).parent.glob("test_data_set_*")):
        files = sorted(folder.glob("input_*.pb"), key=lambda file: int(file.stem.split("_")[1]))
        tensors = []
        for file in files:
            tensor = onnx.TensorProto()
            tensor.ParseFromString(file.read_bytes())
            tensors.append(numpy_helper.to_array(tensor))
        if tensors and len(tensors) == len(inputs):
            found.append({port.name: tensor for port, tensor in zip(inputs, tensors)})
    return found


class Reference:
    """The original, run once; raises when it cannot be loaded or run at all."""

    def __init__(self, path, given=None):
        """`given`: inputs to run with in place of made-up ones."""
        self.path = path
        self.session = session(path)
        inputs = self.session.get_inputs()
        self.runs = []
        for feeds in [given] if given else suite_feeds(path, inputs):
            self._try(feeds)
        if not self.runs:
            for size in SIZES:
                self._try(random_feeds(inputs, size, size))
                if len(self.runs) == 2:
                    break
        if not self.runs:
            raise ValueError("the original does not run on made-up inputs")
        again = self.session.run(None, self.runs[0][0])
        if difference(self.runs[0][1], again, 0, 0) is not None:
            raise ValueError("two runs of the original differ")

    def _try(self, feeds):
        try:
            results = self.session.run(None, feeds)
        except Exception:
            return
        if all(isinstance(result, np.ndarray) for result in results):
            self.runs.append((feeds, results))

    def is_sensitive(self):
        """Whether noise of a few roundings in the inputs moves the results beyond the tolerance."""
        rng = np.random.default_rng(1)
        # In a graph with float16 anywhere, where it is rounded depends on which nodes stand side by side.
        size = 5e-4 if self.has_float16() else 1e-6
        for feeds, results in self.runs:
            for _ in range(4):
                noisy = {
                    name: np.asarray(value * (1 + size * rng.standard_normal(value.shape)), dtype=value.dtype)
                    if np.issubdtype(value.dtype, np.floating)
                    else value
                    for name, value in feeds.items()
                }
                if difference(results, self.session.run(None, noisy), RTOL, ATOL) is not None:
                    return True
        return False

    def has_float16(self):
        model = onnx.load(str(self.path))
        casts = (a.i for node in model.graph.node if node.op_type == "Cast" for a in node.attribute if a.name == "to")
        ports = [*model.graph.input, *model.graph.output]
        types = [port.type.tensor_type.elem_type for port in ports] + [each.data_type for each in model.graph.initializer]
        return onnx.TensorProto.FLOAT16 in [*types, *casts]

    def judge(self, candidate):
        """(state, reason): equal, wrong, invalid, ports where inputs or outputs went, sensitive where rounding explains it."""
        try:
            model = onnx.load(str(candidate))
            if checks(self.path):
                onnx.checker.check_model(model)
            other = session(candidate)
        except Exception as error:
            return "invalid", first_line(error)
        names = [port.name for port in self.session.get_inputs()]
        if [port.name for port in other.get_inputs()] != names:
            return "ports", f"inputs were {names}, are {[port.name for port in other.get_inputs()]}"
        names = [port.name for port in self.session.get_outputs()]
        if [port.name for port in other.get_outputs()] != names:
            return "ports", f"outputs were {names}, are {[port.name for port in other.get_outputs()]}"
        for feeds, wanted in self.runs:
            try:
                got = other.run(None, feeds)
            except Exception as error:
                return "invalid", first_line(error)
            found = difference(wanted, got, RTOL, ATOL)
            if found is not None:
                return ("sensitive" if self.is_sensitive() else "wrong"), found
        return "equal", ""


def checks(path):
    try:
        onnx.checker.check_model(onnx.load(str(path)))
        return True
    except Exception:
        return False


def difference(wanted, got, rtol, atol):
    for index, (a, b) in enumerate(zip(wanted, got)):
        if not isinstance(b, np.ndarray) or a.dtype != b.dtype or a.shape != b.shape:
            return f"output {index} was {a.dtype}{a.shape}, is {getattr(b, 'dtype', '?')}{getattr(b, 'shape', '?')}"
        if not np.issubdtype(a.dtype, np.floating):
            if not np.array_equal(a, b):
                return f"output {index} differs"
            continue
        x, y = a.astype(np.float64), b.astype(np.float64)
        finite = np.isfinite(x)
        if not np.array_equal(np.isnan(x), np.isnan(y)):
            return f"output {index} is NaN elsewhere"
        if not finite.any():
            continue
        allowed = rtol * (20 if a.dtype == np.float16 else 1) * np.abs(x[finite]).max() + atol
        if not np.all(np.abs(x[finite] - y[finite]) <= allowed):
            return f"output {index} differs by {np.abs(x[finite] - y[finite]).max():.3g} of {np.abs(x[finite]).max():.3g}"
    return None


def first_line(error):
    return " ".join(str(error).split())[:240]
