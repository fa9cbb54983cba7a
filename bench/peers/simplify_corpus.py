"""Lets tools simplify every model under some folders, with their defaults, and judges what they make of it.

    python simplify_corpus.py --json RESULT.json [--tools A,B] [--ours FOLDER] FOLDER...

--ours names a folder that bench/corpus.mjs --out wrote for the same folders; it is judged as the tool "infer-opt".
Each tool has a process of its own, which is started again when it dies. RESULT.json is continued where it exists.
"""

import argparse
import json
import multiprocessing
import os
import tempfile
import time
from pathlib import Path

TIMEOUT_S = 60


def work(connection, tool, ours):
    os.environ["OMP_NUM_THREADS"] = "1"
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)
    import onnx

    from judge_simplified import Reference, count_nodes, first_line
    from simplify_with_peer import TOOLS

    while True:
        path, name = connection.recv()
        try:
            reference = Reference(path)
        except Exception as error:
            connection.send({"state": "left out", "reason": first_line(error)})
            continue
        connection.send("runs")
        record = {"before": count_nodes(onnx.load(path))}
        with tempfile.TemporaryDirectory() as scratch:
            out = Path(scratch) / "out.onnx"
            start = time.perf_counter()
            try:
                if tool == "infer-opt":
                    out = Path(ours) / name
                    if not out.exists():
                        raise RuntimeError("there is no output")
                else:
                    TOOLS[tool](path, str(out))
            except Exception as error:
                connection.send({**record, "state": "crashed", "reason": first_line(error)})
                continue
            record["seconds"] = round(time.perf_counter() - start, 4)
            state, reason = reference.judge(out)
            if state != "invalid":
                record["after"] = count_nodes(onnx.load(str(out)))
            connection.send({**record, "state": state, "reason": reason})


class Worker:
    def __init__(self, tool, ours):
        self.tool, self.ours, self.process = tool, ours, None

    def run(self, path, name):
        if self.process is None:
            self.connection, theirs = multiprocessing.Pipe()
            self.process = multiprocessing.Process(target=work, args=(theirs, self.tool, self.ours), daemon=True)
            self.process.start()
            theirs.close()
        self.connection.send((path, name))
        runs = False
        try:
            while True:
                if not self.connection.poll(TIMEOUT_S):
                    self.stop()
                    return {"state": "crashed" if runs else "left out", "reason": f"no end after {TIMEOUT_S} s"}
                answer = self.connection.recv()
                if answer != "runs":
                    return answer
                runs = True
        except EOFError:
            self.stop()
            return {"state": "crashed" if runs else "left out", "reason": "the process died"}

    def stop(self):
        self.process.kill()
        self.process.join()
        self.process = None


def summary(records):
    judged = [r for r in records.values() if r["state"] != "left out"]
    states = {state: sum(r["state"] == state for r in judged) for state in ("equal", "wrong", "invalid", "crashed", "ports", "sensitive")}
    # What a tool fails at stays as it was.
    before = sum(r.get("before", 0) for r in judged)
    after = sum(r.get("after", r.get("before", 0)) for r in judged)
    share = 100 * (after / before - 1) if before else 0
    return f"{len(judged)} judged, {states}, nodes {before} -> {after} ({share:+.1f} %)"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--json", required=True)
    parser.add_argument("--tools", default="onnxsim,onnxslim,onnxoptimizer,onnxscript,ort-basic")
    parser.add_argument("--ours")
    given = parser.parse_args()
    result = json.loads(Path(given.json).read_text()) if Path(given.json).exists() else {}
    models = sorted((f, p) for f in given.folders for p in Path(f).rglob("*.onnx"))
    tools = [tool for tool in given.tools.split(",") if tool] + (["infer-opt"] if given.ours else [])
    for tool in tools:
        worker = Worker(tool, given.ours)
        records = {} if tool == "infer-opt" else result.get(tool, {})
        for index, (folder, path) in enumerate(models):
            name = str(Path(Path(folder).name) / path.relative_to(folder))
            if name not in records:
                records[name] = worker.run(str(path), name)
            if index % 100 == 99:
                result[tool] = records
                Path(given.json).write_text(json.dumps(result))
        if worker.process:
            worker.stop()
        result[tool] = records
        Path(given.json).write_text(json.dumps(result))
        print(f"{tool}: {summary(records)}", flush=True)


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    main()
