"""Simplifies models with several tools and compares nodes, time, memory, and what ONNX Runtime makes of the results.

    python simplify_models.py --work DIR MODEL.onnx[=SAMPLE.npz] ... [--tools A,B] [--rounds 30] [--json FILE]

SAMPLE.npz holds inputs by name; where an array has one row more than the model wants, the first is taken. Without it,
open dimensions are 1 and values random. Time (by the clock, and of the CPU) and peak memory are of the whole process
(watch_process.py). Latency and
the time to open a session are measured with everything that the runtime optimizes by itself, one thread, original and
result in turns, and the least of each counts; a ratio above 1 means that the result is faster.
"""

import argparse
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as rt

import watch_process
from judge_simplified import DTYPES, Reference, count_nodes, first_line

HERE = Path(__file__).parent
OURS = {
    "infer-opt": [],
    "infer-opt --verify none": ["--verify", "none"],
    "infer-opt --runtime-specific": ["--runtime-specific"],
}
PEERS = ["onnxsim", "onnxslim", "onnxoptimizer", "onnxscript", "ort-basic", "ort-extended"]


def command(tool, model, out):
    if tool in OURS:
        cli = str(HERE.parent.parent / "bin" / "infer-opt.js")
        return ["node", cli, "fuse", model, "-o", out, "--threads", "1", "--quiet", *OURS[tool]]
    return [sys.executable, str(HERE / "simplify_with_peer.py"), tool, model, out]


def optimized(path):
    options = rt.SessionOptions()
    options.graph_optimization_level = rt.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    start = time.perf_counter()
    made = rt.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return made, time.perf_counter() - start


def feeds_of(session, sample):
    rng = np.random.default_rng(0)
    stored = np.load(sample) if sample else {}
    feeds = {}
    for port in session.get_inputs():
        if port.name in stored:
            value = stored[port.name]
            # One sample where several are stored.
            many = value.ndim > 0 and len(value) > 1 and (not isinstance(port.shape[0], int) or port.shape[0] == 1)
            feeds[port.name] = value[:1] if many else value
            continue
        dims = [dim if isinstance(dim, int) else 1 for dim in port.shape]
        dtype = DTYPES[port.type]
        values = rng.standard_normal(dims) if np.issubdtype(dtype, np.floating) else np.full(dims, 16000)
        feeds[port.name] = np.asarray(values, dtype=dtype)
    return feeds


def in_turns(original, candidate, sample, rounds):
    """(latency ratio, ratio of opening a session): least times of the original over those of the candidate."""
    opened = {original: [], candidate: []}
    for _ in range(max(rounds // 6, 5)):
        for path in opened:
            _, seconds = optimized(path)
            opened[path].append(seconds)
    sessions = {path: optimized(path)[0] for path in opened}
    feeds = feeds_of(sessions[original], sample)
    ran = {path: [] for path in opened}
    for index in range(rounds + 3):
        for path in list(ran) if index % 2 else list(ran)[::-1]:
            start = time.perf_counter()
            sessions[path].run(None, feeds)
            if index >= 3:
                ran[path].append(time.perf_counter() - start)

    def ratio(times):
        return min(times[original]) / min(times[candidate])

    return ratio(ran), ratio(opened)


def cpu_seconds():
    """Of all children so far: what a busy machine does not change."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def examine(tool, model, sample, work, rounds):
    out = str(Path(work) / f"{Path(model).stem}-{tool.replace(' ', '')}.onnx")
    Path(out).unlink(missing_ok=True)
    before = cpu_seconds()
    watched = watch_process.run(command(tool, model, out))
    record = {"seconds": watched.seconds, "cpu_seconds": cpu_seconds() - before, "peak_mb": watched.peak_tree_bytes / 1e6}
    if watched.code != 0:
        return {**record, "state": "crashed", "reason": watched.stderr[-300:]}
    record["nodes"] = count_nodes(onnx.load(out, load_external_data=False))
    try:
        reference = Reference(model, feeds_of(optimized(model)[0], sample))
        record["state"], record["reason"] = reference.judge(out)
        reference = None
    except Exception as error:
        record["state"], record["reason"] = "not judged", first_line(error)
    record["latency_ratio"], record["session_ratio"] = in_turns(model, out, sample, rounds)
    return record


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="+")
    parser.add_argument("--work", required=True)
    parser.add_argument("--tools", default=",".join([*OURS, *PEERS]))
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json")
    given = parser.parse_args()
    Path(given.work).mkdir(parents=True, exist_ok=True)
    results = {}
    for text in given.models:
        model, _, sample = text.partition("=")
        name = Path(model).stem
        results[name] = {"nodes": count_nodes(onnx.load(model, load_external_data=False))}
        print(f"{name} ({results[name]['nodes']} nodes)", flush=True)
        for tool in given.tools.split(","):
            record = results[name][tool] = examine(tool, model, sample or None, given.work, given.rounds)
            shown = {key: round(value, 3) if isinstance(value, float) else value for key, value in record.items()}
            print(f"  {tool}: {shown}", flush=True)
            if given.json:
                Path(given.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
