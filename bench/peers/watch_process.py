"""Runs a command and measures it from outside: wall time, and memory of its whole tree of processes (Linux).

Memory is sampled from /proc every 20 ms: the resident sizes of all processes of the tree, summed. Pages that two of
them share count twice. A peak shorter than that can be missed, so `largest_process` is told too, which the kernel keeps.
"""

import os
import resource
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

PERIOD_S = 0.02
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Watched:
    code: int
    stdout: str
    stderr: str
    seconds: float
    peak_tree_bytes: int
    largest_process_bytes: int
    cpu_seconds: float


def run(command, cwd=None, env=None, most_bytes=None):
    """Raises OSError when the command cannot be started; a failing command is a result.

    With `most_bytes`, a tree that takes more than that is killed.
    """
    start = time.monotonic()
    used = children_cpu_seconds()
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace"
    )
    sampler = Sampler(process.pid, most_bytes)
    sampler.start()
    stdout, stderr = process.communicate()
    sampler.stop()
    return Watched(
        process.returncode,
        stdout,
        stderr,
        time.monotonic() - start,
        sampler.peak_tree,
        sampler.largest_process,
        children_cpu_seconds() - used,
    )


def children_cpu_seconds():
    """Of the processes waited for so far: what other work on the machine does not change."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def busy_cores(seconds=1.0):
    """How many cores all processes together keep busy, over that long."""
    start = stat_ticks()
    time.sleep(seconds)
    return sum(after - before for before, after in zip(start, stat_ticks())) / os.sysconf("SC_CLK_TCK") / seconds


def stat_ticks():
    user, nice, system, _idle, _waiting, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    return user, nice, system, irq, softirq, steal


def wait_until_quiet(limit, patience_s):
    """Waits until others keep less than `limit` cores busy, and not for ever; gives what they do then."""
    end = time.monotonic() + patience_s
    while (busy := busy_cores()) > limit and time.monotonic() < end:
        pass
    return busy


class Sampler(threading.Thread):
    def __init__(self, root, most_bytes=None):
        super().__init__(daemon=True)
        self.root = root
        self.most_bytes = most_bytes
        self.peak_tree = 0
        self.largest_process = 0
        self._done = threading.Event()

    def run(self):
        while not self._done.wait(PERIOD_S):
            tree = descendants(self.root)
            self.peak_tree = max(self.peak_tree, sum(map(resident_bytes, tree)))
            self.largest_process = max([self.largest_process, *map(high_water_bytes, tree)])
            if self.most_bytes and self.peak_tree > self.most_bytes:
                for pid in tree:
                    kill(pid)

    def stop(self):
        self._done.set()
        self.join()


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # Ended in the meantime: what was wanted.


def descendants(root):
    """The process and all that it started, directly or not."""
    found = []
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        for thread in threads(pid):
            waiting.extend(map(int, read(Path(f"/proc/{pid}/task/{thread}/children")).split()))
    return found


def threads(pid):
    """None when the process has ended in the meantime."""
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


def resident_bytes(pid):
    fields = read(Path(f"/proc/{pid}/statm")).split()
    return int(fields[1]) * PAGE if fields else 0


def high_water_bytes(pid):
    for line in read(Path(f"/proc/{pid}/status")).splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def read(path):
    """Empty when the process has ended in the meantime."""
    try:
        return path.read_text()
    except OSError:
        return ""
