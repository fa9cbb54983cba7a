"""Makes eleven nets that transform signals or images to spectra, or back, with data, from one seed; compare.py judges tools on them.

    pip install torch onnx onnxruntime onnxscript
    python bench/peers/make_spectral_nets.py --out spectra --seed 1501

The nets of spectral_nets.py with random weights, by either exporter. Writes NAME.onnx, three disjoint sets of samples and cases.json, the
list that compare.py takes. All are compared with the float model.
"""

import spectral_nets
import torch
from cases import folder_and_seed
from make_line_nets import write_nets
from make_varied_nets import images, smooth, sound

WORDS = 2000


def waves(length):
    return lambda count, rng: {"x": sound(count, length, rng).reshape(count, length)}


def mels(count, rng):
    return {"x": smooth(count, 1, 40, 50, rng)[:, 0]}


def walks(count, rng):
    return {"x": torch.randn(count, 96, 7, generator=rng).cumsum(1) / 4}


def words(count, rng):
    return {"ids": torch.randint(3, WORDS, (count, 60), generator=rng)}


def keywords(**options):
    return lambda: spectral_nets.Keywords(**options)


# Name: what makes the net, samples, opset (18 and later by the newer exporter), kind.
NETS = {
    "keywords": (keywords(), waves(16000), 18, "cnn"),
    "keywords-real": (keywords(complex_=False), waves(16000), 17, "cnn"),
    "keywords-400": (keywords(length=400, mels=80), waves(16000), 18, "cnn"),
    "keywords-400-real": (keywords(length=400, complex_=False, centered=False), waves(12000), 17, "cnn"),
    "keywords-1024": (keywords(length=1024, hop=256, window=1024), waves(22050), 18, "cnn"),
    "inpaint": (spectral_nets.Inpaint, images(96, "x"), 18, "cnn"),
    "filters": (spectral_nets.Filters, images(112, "x"), 18, "transformer"),
    "mixer": (lambda: spectral_nets.Mixer(WORDS), words, 18, "transformer"),
    "forecast": (spectral_nets.Forecast, walks, 18, "transformer"),
    "voice": (spectral_nets.Voice, mels, 18, "cnn"),
    "denoise": (spectral_nets.Denoise, waves(16384), 18, "rnn"),
}


def main():
    options = folder_and_seed(1501)
    write_nets([(name, *net) for name, net in NETS.items()], options.out, options.seed)


if __name__ == "__main__":
    main()
