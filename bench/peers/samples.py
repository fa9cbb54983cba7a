"""Samples for a model, from FILE.npz or from a folder of test_data_set_*: a list of feeds, each with a batch of one.

Labels are an array of the npz by that name. Everything else in it is an input.
"""

from pathlib import Path

import numpy as np


def load(path):
    """(feeds, labels); labels is None where there are none."""
    if Path(path).is_dir():
        return load_folders(Path(path)), None
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    labels = arrays.pop("labels", None)
    count = len(next(iter(arrays.values())))
    return [{name: array[i : i + 1] for name, array in arrays.items()} for i in range(count)], labels


def load_folders(path):
    import onnx
    from onnx import numpy_helper

    feeds = []
    for folder in sorted(path.glob("test_data_set_*"), key=lambda folder: int(folder.name.rsplit("_", 1)[1])):
        feed = {}
        for file in sorted(folder.glob("input_*.pb")):
            tensor = onnx.TensorProto.FromString(file.read_bytes())
            feed[tensor.name] = numpy_helper.to_array(tensor)
        feeds.append(feed)
    return feeds
