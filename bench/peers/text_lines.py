"""Rendered text lines with labels, for PP-OCR recognition.

    python text_lines.py OUT.npz --seed 101 --count 400 [--labels]

Writes `x`, float32 [count, 3, 48, 320]: blue, green, red, each (v / 255 - 0.5) / 0.5, as PP-OCR is fed. A line is
scaled to a height of 48 and filled up with zeros on the right. With --labels also `labels`, int32 [count, length]:
code points, filled up with 0.

The same seed gives the same lines with the same versions of Pillow and of the fonts.
Fonts: Debian packages fonts-dejavu-core, fonts-liberation, fonts-freefont-ttf.
"""

import argparse
import io
import random
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

HEIGHT, WIDTH = 48, 320

FONT_FOLDER = Path("/usr/share/fonts/truetype")
FONTS = [
    "dejavu/DejaVuSans.ttf",
    "dejavu/DejaVuSans-Bold.ttf",
    "dejavu/DejaVuSerif.ttf",
    "liberation/LiberationSans-Regular.ttf",
    "liberation/LiberationSans-Bold.ttf",
    "liberation/LiberationSans-Italic.ttf",
    "liberation/LiberationSerif-Regular.ttf",
    "freefont/FreeSans.ttf",
    "freefont/FreeSerif.ttf",
    "freefont/FreeSerifBold.ttf",
]

WORDS = """
anchor basket bridge candle carpet cellar chimney copper corner cotton engine export factory feather ferry forest
garden granite hammer harbour island journey kettle ladder lantern leather library machine market meadow mirror
museum needle orchard packet paper pepper platform pocket river saddle silver station stone summer ticket timber
tower tunnel valley velvet village walnut window winter wooden yellow
""".split()
UNITS = ["kg", "km", "cm", "ml", "pcs", "kWh"]


def phrase(r):
    return " ".join(r.choice(WORDS) for _ in range(r.randint(1, 3)))


def title(r):
    return " ".join(r.choice(WORDS).capitalize() for _ in range(2))


def sign(r):
    return f"{r.choice(WORDS).upper()}-{r.randint(1, 999)}"


def date(r):
    return f"{r.randint(1, 31):02d}.{r.randint(1, 12):02d}.{r.randint(1990, 2029)}"


def clock(r):
    return f"{r.randint(0, 23):02d}:{r.randint(0, 59):02d}:{r.randint(0, 59):02d}"


def quantity(r):
    return f"{r.randint(0, 9999)}.{r.randint(0, 99):02d}{r.choice(UNITS)}"


def part_number(r):
    letters = "".join(r.choice("ABCDEFGHKLMNPRSTUVWXYZ") for _ in range(3))
    return f"{letters}-{r.randint(1000, 9999)}-{r.randint(10, 99)}"


# Spaces only between words: next to digits the model drops many of them, before any quantization.
KINDS = [phrase, phrase, title, title, sign, date, clock, quantity, part_number]


def make_text(r):
    """One line, short enough to stay legible when it is squeezed into the width."""
    while True:
        text = r.choice(KINDS)(r)
        if len(text) <= 20:
            return text


def draw(r, text):
    """The line as an RGB image: dark on light or the other way round, a little slanted, blurred, noisy, sometimes a JPEG."""
    font = ImageFont.truetype(str(FONT_FOLDER / r.choice(FONTS)), r.randint(24, 42))
    left, top, right, bottom = font.getbbox(text)
    margin = r.randint(5, 11)
    size = (right - left + 2 * margin, bottom - top + 2 * margin)
    paper = [r.randint(185, 255) for _ in range(3)]
    ink = [r.randint(0, 80) for _ in range(3)]
    if r.random() < 0.15:
        paper, ink = ink, paper
    image = Image.new("RGB", size, tuple(paper))
    ImageDraw.Draw(image).text((margin - left, margin - top), text, font=font, fill=tuple(ink))
    slant = r.uniform(-0.08, 0.08)
    image = image.transform(
        size, Image.Transform.AFFINE, (1, slant, -slant * size[1] / 2, 0, 1, 0),
        Image.Resampling.BILINEAR, fillcolor=tuple(paper),
    )
    if r.random() < 0.35:
        image = image.filter(ImageFilter.GaussianBlur(r.uniform(0.3, 1.1)))
    pixels = np.asarray(image, dtype=np.float32)
    shade = np.linspace(1.0, r.uniform(0.8, 1.0), size[0], dtype=np.float32)[None, :, None]
    noise = np.random.RandomState(r.getrandbits(31)).normal(0.0, r.uniform(0.0, 10.0), pixels.shape)
    image = Image.fromarray((pixels * shade + noise).clip(0, 255).astype(np.uint8))
    if r.random() < 0.3:
        packed = io.BytesIO()
        image.save(packed, "JPEG", quality=r.randint(40, 90))
        image = Image.open(packed).convert("RGB")
    return image


def to_input(image):
    """float32 [3, 48, 320]."""
    width = min(WIDTH, max(1, round(image.width * HEIGHT / image.height)))
    pixels = np.asarray(image.resize((width, HEIGHT), Image.Resampling.BILINEAR), dtype=np.float32)
    x = np.zeros((3, HEIGHT, WIDTH), np.float32)
    x[:, :, :width] = ((pixels / 255 - 0.5) / 0.5)[:, :, ::-1].transpose(2, 0, 1)
    return x


def make_lines(seed, count):
    """float32 [count, 3, 48, 320] and the texts."""
    r = random.Random(seed)
    texts = [make_text(r) for _ in range(count)]
    return np.stack([to_input(draw(r, text)) for text in texts]), texts


def code_points(texts):
    """int32 [lines, length of the longest]."""
    rows = np.zeros((len(texts), max(map(len, texts))), np.int32)
    for row, text in zip(rows, texts):
        row[: len(text)] = [ord(character) for character in text]
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--labels", action="store_true")
    args = parser.parse_args()
    missing = [font for font in FONTS if not (FONT_FOLDER / font).exists()]
    if missing:
        parser.error(
            f"{FONT_FOLDER / missing[0]} is missing: apt-get install fonts-dejavu-core fonts-liberation fonts-freefont-ttf"
        )
    x, texts = make_lines(args.seed, args.count)
    np.savez(args.out, x=x, **({"labels": code_points(texts)} if args.labels else {}))


if __name__ == "__main__":
    main()
