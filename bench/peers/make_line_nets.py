"""Makes nine nets along a line, or of layers that runtimes are slow at, with data, from one seed; compare.py judges tools on them.

    pip install torch onnx onnxruntime onnxscript transformers
    python bench/peers/make_line_nets.py --out lines --seed 401

The modules of line_nets.py with random weights and live BatchNorm statistics, by either exporter, each with a free batch. Writes
NAME.onnx, three disjoint sets of samples and cases.json, the list that compare.py takes. What has no labels is compared with the float model.
"""

import logging
import warnings

import line_nets
import torch
from cases import COUNTS, add_unlabelled, folder_and_seed
from make_varied_nets import images, smooth, sound, with_random_scales
from random_nets import live


def spectra(channels, length):
    return lambda count, rng: {"x": smooth(count, 1, channels, length, rng).view(count, channels, length)}


def walks(channels, length):
    return lambda count, rng: {"x": torch.randn(count, channels, length, generator=rng).cumsum(2) / 8}


def waves(length):
    return lambda count, rng: {"x": sound(count, length, rng)}


# Name: module, samples, opset (18 and later by the newer exporter), kind.
NETS = {
    "ecapa": (line_nets.Ecapa, spectra(80, 200), 17, "cnn"),
    "vocoder": (line_nets.Vocoder, spectra(80, 60), 17, "cnn"),
    "speech": (line_nets.Speech, spectra(64, 200), 18, "cnn"),
    "separator": (line_nets.Separator, waves(3412), 17, "rnn"),
    "heart": (line_nets.Heart, walks(12, 1000), 13, "cnn"),
    "face": (line_nets.Face, images(112, "x"), 13, "cnn"),
    "inception": (line_nets.Inception, images(128, "x"), 13, "cnn"),
    "detector": (line_nets.Detector, images(128, "x"), 17, "cnn"),
    "preactivated": (line_nets.Preactivated, images(128, "x"), 18, "cnn"),
}


def export(net, sample, path, opset):
    names, values = list(sample), tuple(sample.values())
    if opset >= 18:
        batch = {name: {0: torch.export.Dim("batch")} for name in names}
        options = dict(dynamo=True, external_data=False, dynamic_shapes=tuple(batch.values()), verbose=False)
    else:
        options = dict(dynamo=False, dynamic_axes={name: {0: "batch"} for name in names})
    torch.onnx.export(net, values, path, input_names=names, opset_version=opset, **options)


def write_nets(nets, out, seed):
    """Each of (name, what makes the net, samples, opset, kind) with data, and cases.json."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    for index, (name, make, samples, opset, kind) in enumerate(nets):
        torch.manual_seed(seed + index)
        rng = torch.Generator().manual_seed(1000 * seed + index)
        net = live(with_random_scales(make()), [tuple(samples(8, rng).values())])
        export(net, samples(2, rng), out / f"{name}.onnx", opset)
        sets = {use: samples(count, rng) for use, count in COUNTS.items()}
        add_unlabelled(out, name, kind, {use: {key: value.numpy() for key, value in each.items()} for use, each in sets.items()})
        print(name, flush=True)


def main():
    options = folder_and_seed(401)
    write_nets([(name, *net) for name, net in NETS.items()], options.out, options.seed)


if __name__ == "__main__":
    main()
