"""What a comparison ran on: the processor, the system, and the versions of all tools."""

import os
import platform
import subprocess
from pathlib import Path

FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_int8")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def versions(python, *packages):
    """A package that is not there is told as missing."""
    code = (
        "import sys, importlib.metadata as m\n"
        "def version(p):\n"
        "    try: return m.version(p)\n"
        "    except m.PackageNotFoundError: return 'missing'\n"
        "print(*(p + ' ' + version(p) for p in sys.argv[1:]), sep=', ')"
    )
    return output(python, "-c", code, *packages)


def describe(infer_opt, python, python_nncf, more=()):
    cpuinfo = Path("/proc/cpuinfo").read_text()
    model = next(line.split(":")[1].strip() for line in cpuinfo.splitlines() if line.startswith("model name"))
    flags = next(line for line in cpuinfo.splitlines() if line.startswith("flags")).split()
    return {
        "cpu": model,
        "flags": [flag for flag in FLAGS if flag in flags],
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "system": f"{platform.system()} {platform.release().split('-')[0]}, {' '.join(platform.libc_ver())}",
        "node": output(infer_opt[0], "--version"),
        "infer_opt": output(*infer_opt, "--version"),
        "python": platform.python_version(),
        "peers": versions(python, "onnxruntime", "onnx", "onnxsim", *more),
        "nncf": versions(python_nncf, "nncf", "onnxruntime", "onnx"),
    }
