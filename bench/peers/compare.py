"""Compares infer-opt with other quantizers on a list of models, and says which of their points are not dominated.

    python bench/peers/compare.py --cases nets/cases.json --work DIR --python-nncf OTHER/bin/python

The list is JSON; paths are relative to it:

    {"name": "resnet", "model": "resnet.onnx", "calibration": "c.npz", "limit": "l.npz", "evaluation": "e.npz",
     "metric": "top1" | "lines" | "cosine" | "sqnr" | "largest", "kind": "cnn" | "transformer" | "rnn"}

All tools calibrate with `calibration`. infer-opt checks its own limit on `limit`, and nobody sees `evaluation`. Optional:
"keys" (metric lines: the list of characters), "carry" ("stateN=state": an output that the next sample gets), "limit_metric" (what
infer-opt is told as --metric; a module beside the list, or a name).

What was done already in DIR is not done again, unless a case's model or samples are others now. `--judge-only` makes nothing and
times what is there anew.
"""

import argparse
import fnmatch
import hashlib
import json
import os
import sys
from pathlib import Path

import machine
import points_page
import watch_process

HERE = Path(__file__).resolve().parent
ORIGINAL = points_page.ORIGINAL
# What users would say; the first three are the ones to compare with, the others show the other ends.
OWN = {
    "infer-opt none": ["--max-drop", "none"],
    "infer-opt 0.5%": ["--max-drop", "0.5%"],
    "infer-opt 0.1%": ["--max-drop", "0.1%"],
    "infer-opt runtime-specific": ["--max-drop", "none", "--runtime-specific"],
    "infer-opt dynamic": ["--max-drop", "none", "--mode", "dynamic"],
    "infer-opt weights": ["--max-drop", "none", "--mode", "weights", "--goal", "size"],
    "infer-opt weights4": ["--max-drop", "none", "--mode", "weights", "--bits", "4", "--goal", "size"],
    "infer-opt size": ["--goal", "size"],
}
QUICK_OWN = ["infer-opt none", "infer-opt 0.5%", "infer-opt runtime-specific"]
# Settings that make another file only of models of some kinds.
OWN_OF_KINDS = {
    "infer-opt runtime-specific": {"rnn"},
    "infer-opt dynamic": {"transformer", "rnn"},
    "infer-opt weights4": {"transformer", "rnn"},
}
PEERS = [
    "ort-minmax",
    "ort-minmax-conv-matmul",
    "ort-percentile",
    "ort-entropy",
    "ort-dynamic",
    "nncf",
    "onnxsim-mse",
    "onnxsim-mse-full",
    "onnxsim-auto-full",
]
# Ways that the tools document for models made of MatMul.
MATMUL_PEERS = ["ort-transformer-dynamic", "ort-nbits4", "ort-nbits8", "ort-hqq4", "nncf-transformer", "nncf-int4"]
QUICK_PEERS = ["ort-minmax", "ort-dynamic", "nncf", "nncf-transformer", "onnxsim-mse-full"]
# The runtime's tool that fuses encoders imports torch, and so does its HQQ.
NEED_TORCH = ("nncf", "ort-transformer", "ort-hqq")
RAISED = "opset17"
# Tools that quantize per channel need this; older models get it from onnx.version_converter.
PER_CHANNEL_OPSET = 13
# Recorded for a command that did what it should and wrote nothing: the user goes on with the original.
KEPT_CODES = {10: "limit missed", 11: "limit missed", 12: "no gain", 13: "inconclusive"}


class Comparison:
    def __init__(self, args):
        self.args = args
        self.work = Path(args.work).resolve()
        self.facts_path = self.work / "facts.json"
        self.work.mkdir(parents=True, exist_ok=True)
        self.facts = json.loads(self.facts_path.read_text()) if self.facts_path.exists() else {}
        self.infer_opt = [args.node, str(Path(args.infer_opt).resolve())]

    def run(self):
        self.facts["machine"] = machine.describe(self.infer_opt, self.args.python, self.args.python_nncf)
        for path in self.args.cases:
            base = Path(path).resolve().parent
            for case in json.loads(Path(path).read_text()):
                if not self.args.only or case["name"] in self.args.only:
                    self.run_case(case, base)
        self.save()
        page = points_page.render(self.facts)
        Path(self.args.results).write_text(page)
        print("\n".join(points_page.undominated(points_page.cases_of(self.facts))))
        print(f"written: {self.args.results}")

    def run_case(self, case, base):
        folder = self.work / case["name"]
        folder.mkdir(exist_ok=True)
        original = base / case["model"]
        fact = self.known(case, base, folder)
        fact |= {"metric": case["metric"], "bytes": original.stat().st_size}
        if not self.args.judge_only:
            self.make_all(case, base, folder, fact)
        files = {ORIGINAL: original, **{path.stem: path for path in sorted(folder.glob("*.onnx"))}}
        new = False
        for name, path in files.items():
            # Scores of other samples are no scores to compare with.
            judged = {"sha256": digest(path), "evaluation": digest(base / case["evaluation"]), "samples": self.args.samples}
            if not judged.items() <= fact["score"].get(name, {}).items():
                new = True
                fact["score"][name] = self.score(case, base, original, path) | judged
                self.save()
        fact["score"] = {name: score for name, score in fact["score"].items() if name in files}
        if self.args.emulate:
            fact["emulated"] = {"cpu": self.args.emulate, "score": {}}
            for name, path in files.items():
                fact["emulated"]["score"][name] = self.score(case, base, original, path, self.args.emulate)
                self.save()
        if new or self.args.judge_only or not fact["time"]:
            fact["time"] = []
            good = {name: path for name, path in files.items() if "failed" not in fact["score"][name]}
            for _ in range(self.args.processes):
                fact["time"].append(self.take_times(base / case["evaluation"], good))
            self.save()

    def known(self, case, base, folder):
        """What is on record of the case; nothing, and no file, of another model or other samples under the same name."""
        made_from = {part: digest(base / case[part]) for part in ("model", "calibration", "limit") if part in case}
        cases = self.facts.setdefault("cases", {})
        fact = cases.get(case["name"])
        if not fact or fact.get("made_from") != made_from:
            left = [*folder.glob("*.onnx"), *self.work.glob(f"{case['name']}-{RAISED}.onnx")]
            if left and self.args.judge_only:
                sys.exit(f"{folder} holds what was made from another model or other samples: run without --judge-only")
            for path in left:
                path.unlink()
            fact = cases[case["name"]] = {"made_from": made_from, "made": {}, "score": {}, "time": []}
        return fact

    def make_all(self, case, base, folder, fact):
        import onnx

        original, calibration = base / case["model"], base / case["calibration"]
        peers = [*PEERS, *(MATMUL_PEERS if case["kind"] != "cnn" else [])]
        own = {name: flags for name, flags in OWN.items() if case["kind"] in OWN_OF_KINDS.get(name, {case["kind"]})}
        if self.args.quick:
            peers, own = [peer for peer in peers if peer in QUICK_PEERS], {name: own[name] for name in QUICK_OWN if name in own}
        if self.args.tools:
            own = {name: flags for name, flags in OWN.items() if self.asked_for(name)}
            peers = list(filter(self.asked_for, peers))
        for name, flags in own.items():
            report = folder / f"{name}.json"
            command = [*self.infer_opt, "quantize", original, "-o", folder / f"{name}.onnx", "--threads=1", "--quiet"]
            command += ["--calibration", calibration, "--report", report, *flags]
            if "limit" in case:
                metric = case.get("limit_metric", case["metric"] if case["metric"] == "top1" else "cosine")
                command += ["--eval", base / case["limit"], "--metric", metric]
            self.make(fact, folder, name, command, base, KEPT_CODES)
        sources = {"": original}
        opset = next(s.version for s in onnx.load(original, load_external_data=False).opset_import if s.domain in ("", "ai.onnx"))
        if opset < PER_CHANNEL_OPSET:
            raised = self.work / f"{case['name']}-{RAISED}.onnx"
            if not raised.exists():
                self.watch(self.peer_command("onnx-version-converter", original, raised, calibration), base)
            sources[f" {RAISED}"] = raised
        for peer in peers:
            for suffix, source in sources.items():
                out = folder / f"{peer}{suffix}.onnx"
                self.make(fact, folder, out.stem, self.peer_command(peer, source, out, calibration), base, {})

    def asked_for(self, tool):
        return any(fnmatch.fnmatch(tool, pattern) for pattern in self.args.tools)

    def peer_command(self, recipe, source, out, calibration):
        python = self.args.python_nncf if recipe.startswith(NEED_TORCH) else self.args.python
        return [python, HERE / "quantize_with_peer.py", recipe, source, out, calibration]

    def make(self, fact, folder, name, command, cwd, kept):
        out = folder / f"{name}.onnx"
        made = fact["made"].get(name)
        # A file that was taken away is made again: without it the page would say that the tool made nothing.
        if made and (out.exists() or "kept" in made or "failed" in made):
            return
        print(f"{folder.name}: {name} ...", flush=True)
        out.unlink(missing_ok=True)
        watched = self.watch(command, cwd)
        made = {
            "seconds": watched.seconds,
            "cpu_seconds": watched.cpu_seconds,
            "tree_bytes": watched.peak_tree_bytes,
            "code": watched.code,
        }
        if watched.code in kept and not out.exists():
            made["kept"] = kept[watched.code]
        elif watched.code != 0:
            made["failed"] = last_line(watched)
            if "No module named" in watched.stderr:
                made["missing"] = True
            out.unlink(missing_ok=True)
        fact["made"][name] = made
        for leftover in folder.glob("*.onnx"):
            if leftover.stem.endswith((".prepared", ".fused", "-inferred")):
                leftover.unlink()
        self.save()

    def watch(self, command, cwd):
        return watch_process.run(list(map(str, command)), cwd=cwd, most_bytes=self.args.max_memory * 1e9)

    def score(self, case, base, original, path, cpu=None):
        emulator = ["qemu-x86_64", "-cpu", cpu] if cpu else []
        command = [*emulator, self.args.python, HERE / "judge_case.py", "score", original, path, base / case["evaluation"]]
        if "keys" in case:
            command += ["--keys", base / case["keys"]]
        if "carry" in case:
            command += ["--carry", case["carry"]]
        count = self.args.emulated_samples if cpu else self.args.samples
        if count:
            command += ["--samples", count]
        print(f"{case['name']}: judge {path.stem}{f' on {cpu}' if cpu else ''}", flush=True)
        watched = self.watch(command, base)
        return {"failed": last_line(watched)} if watched.code else json.loads(watched.stdout)

    def take_times(self, data, files):
        print(f"{data.stem}: time {len(files)} files in turns", flush=True)
        command = [self.args.python, HERE / "judge_case.py", "time", data, self.args.rounds, *files.values()]
        watched = self.watch(command, self.work)
        if watched.code:
            return {"failed": last_line(watched)}
        names = {str(path): name for name, path in files.items()}
        return {
            unit: {names[path]: times for path, times in found.items()} for unit, found in json.loads(watched.stdout).items()
        }

    def save(self):
        self.facts_path.write_text(json.dumps(self.facts))


def digest(path):
    """Of a file, or of the names and contents of all files in a folder."""
    if path.is_dir():
        parts = [f"{part.relative_to(path)} {digest(part)}" for part in sorted(path.rglob("*")) if part.is_file()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def last_line(watched):
    if watched.code == -9:
        return "killed: too much memory"
    return (watched.stderr.strip().splitlines() or [f"exit code {watched.code}"])[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", required=True)
    parser.add_argument("--work", required=True, help="folder for all that is made")
    parser.add_argument("--only", nargs="+", help="names of cases")
    parser.add_argument("--tools", nargs="+", help="names of tools, or patterns: 'infer-opt *'")
    parser.add_argument("--quick", action="store_true", help="five recipes of the peers, two of infer-opt (three for recurrent models)")
    parser.add_argument("--judge-only", action="store_true", help="make nothing; judge new files and time all again")
    parser.add_argument("--python", default=sys.executable, help="interpreter with onnxruntime, onnx, onnxsim")
    parser.add_argument("--python-nncf", default=sys.executable, help="interpreter with nncf, torch, onnxruntime, onnx")
    parser.add_argument("--node", default="node")
    parser.add_argument("--infer-opt", default=HERE.parents[1] / "bin" / "infer-opt.js")
    parser.add_argument("--samples", type=int, help="judge accuracy on no more than these")
    parser.add_argument("--emulate", metavar="CPU", help="judge accuracy also on that one: EPYC-Milan has AVX2 and no VNNI (qemu-user)")
    parser.add_argument("--emulated-samples", type=int, default=64)
    parser.add_argument("--processes", type=int, default=3, help="fresh processes in which a case is timed")
    parser.add_argument("--rounds", type=int, default=15, help="rounds in each of them")
    parser.add_argument("--max-memory", type=float, default=16, help="GB that a command may take before it is killed")
    parser.add_argument("--results", default=HERE / "QUANTIZE.md")
    args = parser.parse_args()
    # Commands run in folders of their own. A link in a virtual environment is not followed: it would be another interpreter.
    args.python, args.python_nncf = (os.path.abspath(each) if os.sep in each else each for each in (args.python, args.python_nncf))
    Comparison(args).run()


if __name__ == "__main__":
    main()
