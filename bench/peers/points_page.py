"""The page of compare.py: every point (accuracy, speedup) of a model, and who dominates whom.

A point of a peer counts as beaten
- "dominated": a file of ours has at least its accuracy and at least its speedup, as measured;
- "within the noise": for a file of ours neither difference is one that repeating could not give: the 95 % intervals of the
  paired differences (bootstrap over samples for the accuracy, over processes and rounds for the speed) reach zero.
Everything else is not dominated. A file that is neither as accurate nor as fast as the original is counted by itself: whoever
has it had better keep the original, unless it is for the size. A command of ours that says "no gain" leaves the user the original, which is such a file.
"""

import math
import random
import statistics

ORIGINAL = "original"
OURS = "infer-opt"
RESAMPLES = 400
USELESS = "worse than the original"
UNITS = {"top1": "right", "lines": "lines right", "cosine": "mean cosine", "sqnr": "SQNR, dB", "largest": "largest difference"}


class Case:
    def __init__(self, name, fact):
        self.name = name
        self.fact = fact
        self.metric = fact["metric"]
        self.scores = {key: score for key, score in fact["score"].items() if "failed" not in score}
        self.emulated = fact.get("emulated")
        self.times = [times["cpu_ms"] for times in fact["time"] if "failed" not in times]
        count = len(next(iter(self.scores.values()))["cosine"])
        r = random.Random(1)
        self.picks = [r.choices(range(count), k=count) for _ in range(RESAMPLES)]

    def accuracy(self, name, pick=None):
        """Higher is better, for every metric."""
        return self.accuracy_of(self.scores[name], pick)

    def accuracy_of(self, score, pick=None):
        rows = score[{"top1": "right", "lines": "right", "sqnr": "noise"}.get(self.metric, self.metric)]
        if not score["finite"]:
            return -math.inf
        pick = pick or range(len(rows))
        if self.metric == "largest":
            return -max(rows[i] for i in pick)
        if self.metric == "sqnr":
            noise = sum(rows[i] for i in pick)
            return 10 * math.log10(sum(score["signal"][i] for i in pick) / noise) if noise else math.inf
        return statistics.fmean(rows[i] for i in pick)

    def not_worse(self, own, peer):
        """Whether the interval of the paired difference in accuracy reaches zero."""
        if self.metric == "largest":
            return False
        worse = sum(self.accuracy(own, pick) < self.accuracy(peer, pick) for pick in self.picks)
        return worse < 0.975 * RESAMPLES

    def speedup(self, name, over=ORIGINAL):
        """Median over all rounds of the ratio within a round, and its 95 % interval."""
        ratios = [[a / b for a, b in zip(times[over], times[name])] for times in self.times if over in times and name in times]
        if not ratios:
            return None
        r = random.Random(2)
        drawn = []
        for _ in range(RESAMPLES):
            groups = r.choices(ratios, k=len(ratios))
            drawn.append(statistics.median(ratio for group in groups for ratio in r.choices(group, k=len(group))))
        drawn.sort()
        middle = statistics.median(ratio for group in ratios for ratio in group)
        return middle, drawn[RESAMPLES // 40], drawn[-1 - RESAMPLES // 40]

    def own(self):
        """Names of our files, and the original where a command of ours left the user that."""
        kept = any("kept" in made for name, made in self.fact["made"].items() if name.startswith(OURS))
        return [name for name in self.scores if name.startswith(OURS)] + ([ORIGINAL] if kept else [])

    def peers(self):
        return [name for name in self.scores if name != ORIGINAL and not name.startswith(OURS)]

    def at_least(self, own, peer):
        return self.accuracy(own) >= self.accuracy(peer), self.speedup(own)[0] >= self.speedup(peer)[0]

    def beats(self, own, peer):
        return self.speedup(peer) is not None and all(self.at_least(own, peer))

    def verdict(self, peer):
        """(what, by which of ours)"""
        if self.beats(ORIGINAL, peer):
            return USELESS, None
        within = None
        for own in self.own():
            if self.speedup(own) is None or self.speedup(peer) is None:
                continue
            if self.beats(own, peer):
                return "dominated", own
            more, faster = self.at_least(own, peer)
            if (more or self.not_worse(own, peer)) and (faster or self.speedup(own, over=peer)[2] >= 1):
                within = within or own
        return ("within the noise", within) if within else ("not dominated", None)

    def problem(self, name):
        made = self.fact["made"].get(name, {})
        if made.get("missing"):
            return "the tool is missing: not compared"
        if "kept" in made:
            return f"{made['kept']}: the original is kept"
        if "failed" in made:
            return f"fails: `{short(made['failed'])}`"
        score = self.fact["score"].get(name, {})
        if "failed" in score:
            return f"writes a file that does not load: `{short(score['failed'])}`"
        if score and not score["quantizing_nodes"]:
            return "quantizes nothing"
        return ""

    def rows(self):
        more = f" on {self.emulated['cpu']} |" if self.emulated else ""
        yield f"| tool | {UNITS[self.metric]} |{more} speedup | 95 % interval | size | time (CPU) | peak memory | |"
        yield f"| --- | --: |{' --: |' if more else ''} --: | --- | --: | --: | --: | --- |"
        yield self.row(ORIGINAL, "")
        names = list(dict.fromkeys([*self.fact["made"], *self.scores]))
        for name in sorted(names, key=lambda name: not name.startswith(OURS)):
            if name == ORIGINAL:
                continue
            remark = self.problem(name)
            if not remark and name in self.peers():
                what, by = self.verdict(name)
                remark = f"{what} ({by})" if by else what if what == USELESS else f"**{what}**"
            yield self.row(name, remark)

    def row(self, name, remark):
        made = self.fact["made"].get(name)
        cost = f"{made['seconds']:.1f} s ({made['cpu_seconds']:.1f}) | {made['tree_bytes'] / 1e6:.0f} MB" if made else " | "
        if name not in self.scores:
            return f"| {name} | - |{' |' if self.emulated else ''} | | | {cost} | {remark} |"
        speed = self.speedup(name)
        shown = f"{speed[0]:.2f} | {speed[1]:.2f} to {speed[2]:.2f}" if speed else "not timed | "
        there = ""
        if self.emulated:
            score = self.emulated["score"].get(name, {"failed": True})
            there = f" {'-' if 'failed' in score else self.format(self.accuracy_of(score))} |"
        return f"| {name} | {self.shown(name)} |{there} {shown} | {self.scores[name]['bytes'] / 1e6:.2f} MB | {cost} | {remark} |"

    def shown(self, name):
        return self.format(self.accuracy(name))

    def format(self, value):
        if self.metric == "sqnr":
            return f"{value:.1f}"
        return f"{abs(value):.4f}"


def cases_of(facts):
    """Those of which the published file itself could be judged."""
    return [Case(name, fact) for name, fact in facts["cases"].items() if "failed" not in fact["score"].get(ORIGINAL, {"failed": 1})]


def undominated(cases):
    """How many points of peers there are of each kind, and the table of those that nothing of ours dominates."""
    every = [(case, peer, case.verdict(peer)[0]) for case in cases for peer in case.peers() if not case.problem(peer)]
    kinds = ("dominated", "within the noise", USELESS, "not dominated")
    return [
        f"{len(every)} points of peers: " + ", ".join(f"{sum(what == kind for *_, what in every)} {kind}" for kind in kinds) + ".\n",
        "## Not dominated\n",
        "| model | tool | accuracy | speedup | nearest of ours |",
        "| --- | --- | --: | --: | --- |",
        *(
            f"| {case.name} | {peer} | {case.shown(peer)} | {pace(case, peer)} | {nearest(case, peer)} |"
            for case, peer, what in every
            if what == "not dominated"
        ),
    ]


def render(facts):
    cases = cases_of(facts)
    machine = facts["machine"]
    lines = [
        "# Quantizing: infer-opt and others\n",
        "Written by `compare.py`; [README.md](../README.md) says how to repeat it and what counts as dominated.\n",
        f"{machine['cpu']} ({', '.join(machine['flags'])}), {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}.",
        f"infer-opt {machine['infer_opt']}, Node {machine['node']}; Python {machine['python']}: {machine['peers']}; "
        f"for NNCF: {machine['nncf']}.\n",
        "Speedup against the published file: CPU time of the one thread that runs it, all files of a model in turns. "
        "Time and memory of making: all processes of the command.\n",
        *undominated(cases),
    ]
    for case in cases:
        lines += [f"\n## {case.name}\n", *case.rows()]
    return "\n".join([*lines, ""])


def pace(case, name):
    speed = case.speedup(name)
    return f"{speed[0]:.2f}" if speed else "-"


def nearest(case, peer):
    """Of ours: the fastest that is as accurate, and the most accurate that is as fast."""
    named = []
    accurate = [own for own in case.own() if case.accuracy(own) >= case.accuracy(peer)]
    if accurate:
        named.append(max(accurate, key=lambda own: case.speedup(own)[0]))
    fast = [own for own in case.own() if case.speedup(own)[0] >= case.speedup(peer)[0]]
    if fast:
        named.append(max(fast, key=case.accuracy))
    return ", ".join(f"{own} {case.shown(own)} at {pace(case, own)}x" for own in dict.fromkeys(named)) or "none"


def short(text):
    text = text.replace("|", "/").replace("`", "'")
    return text if len(text) <= 100 else f"{text[:40]} ... {text[-55:]}"
