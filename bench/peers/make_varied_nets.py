"""Makes twenty nets of kinds that nobody tuned a quantizer on, with data, from one seed; compare.py judges tools on them.

    pip install torch onnx onnxruntime onnxscript transformers
    python bench/peers/make_varied_nets.py --out varied --seed 11

Small configurations of `transformers` classes (Swin, SegFormer, MobileViT, PoolFormer, LeViT, wav2vec2, Whisper, T5, GPT-2, ALBERT,
DeBERTa) and the modules of varied_nets.py, with random weights and live BatchNorm statistics, by either exporter. Writes NAME.onnx,
three disjoint sets of samples and cases.json, the list that compare.py takes. What has no labels is compared with the float model.
"""

import argparse
import logging
import warnings
from pathlib import Path

import numpy as np
import torch
import transformers
import varied_nets
from cases import COUNTS, add_case
from random_nets import live
from torch import nn
from torch.nn import functional as F

WORDS = 3000


class Called(nn.Module):
    """A net of `transformers`, by what of it is the answer."""

    def __init__(self, net, answer):
        super().__init__()
        self.net, self.answer = net, answer

    def forward(self, *inputs):
        return self.answer(self.net, *inputs)


def classified(kind, task="ImageClassification", **config):
    net = getattr(transformers, f"{kind}For{task}")(getattr(transformers, f"{kind}Config")(**config))
    return Called(net, lambda net, x: net(x).logits)


def encoded(kind, model=None, **config):
    net = getattr(transformers, model or f"{kind}Model")(getattr(transformers, f"{kind}Config")(vocab_size=WORDS, **config))
    return Called(net, lambda net, ids, mask: net(input_ids=ids, attention_mask=mask).last_hidden_state)


def whisper():
    sizes = dict(d_model=128, encoder_layers=3, decoder_layers=1, encoder_ffn_dim=384, decoder_ffn_dim=384)
    heads = dict(encoder_attention_heads=4, decoder_attention_heads=4)
    config = transformers.WhisperConfig(**sizes, **heads, num_mel_bins=80, max_source_positions=300)
    return Called(transformers.WhisperModel(config).encoder, lambda net, x: net(x).last_hidden_state)


def gpt2():
    sizes = dict(n_embd=160, n_layer=4, n_head=5, n_positions=128, vocab_size=WORDS)
    net = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, use_cache=False, attn_implementation="eager"))
    return Called(net, lambda net, ids: net(input_ids=ids, use_cache=False).logits)


def wav2vec2():
    sizes = dict(hidden_size=144, num_hidden_layers=3, num_attention_heads=4, intermediate_size=384, conv_dim=(64,) * 7)
    positions = dict(num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4)
    return classified("Wav2Vec2", "CTC", **sizes, **positions, vocab_size=32)


def smooth(count, channels, height, width, rng):
    """Fields with a grain of 16 pixels, and a little noise."""
    coarse = torch.randn(count, channels, height // 16 + 2, width // 16 + 2, generator=rng)
    field = F.interpolate(coarse, size=(height, width), mode="bicubic")
    return field + 0.1 * torch.randn(count, channels, height, width, generator=rng)


def sound(count, length, rng):
    """Three tones in a little noise."""
    time = torch.arange(length) / 16000
    pitch = 100 + 900 * torch.rand(count, 3, 1, generator=rng)
    loudness = torch.rand(count, 3, 1, generator=rng)
    tones = (loudness * torch.sin(2 * np.pi * pitch * time)).sum(1)
    return 0.3 * (tones + 0.02 * torch.randn(count, length, generator=rng))


def images(size, name="pixel_values"):
    return lambda count, rng: {name: smooth(count, 3, size, size, rng)}


def words(length, masked=True, name="input_ids", most=WORDS):
    def make(count, rng):
        ids = torch.randint(3, most, (count, length), generator=rng)
        return {name: ids, **({"attention_mask": torch.ones_like(ids)} if masked else {})}

    return make


def frames(count, rng):
    return {"x": smooth(8 * count, 3, 48, 48, rng).reshape(count, 8, 3, 48, 48).transpose(1, 2).contiguous()}


def columns(count, rng):
    return {"x": torch.randn(count, 64, generator=rng) * torch.linspace(0.1, 30, 64)}


def mel(count, rng):
    return {"input_features": smooth(count, 1, 80, 608, rng)[:, 0, :, :600].contiguous()}


# Name: how the net is made, its data, whether the newer exporter writes it, and what kind NNCF is to take it for.
NETS = {
    "swin": (
        lambda: classified("Swin", image_size=112, patch_size=4, embed_dim=48, depths=[2, 2, 4], num_heads=[2, 4, 8], window_size=7, num_labels=50),
        images(112), False, "transformer",
    ),
    "segformer": (
        lambda: classified("Segformer", "SemanticSegmentation", num_labels=12, hidden_sizes=[32, 48, 96, 128], depths=[2] * 4, decoder_hidden_size=96),
        images(128), False, "transformer",
    ),
    "mobilevit": (
        lambda: classified("MobileViT", image_size=128, hidden_sizes=[64, 80, 96], neck_hidden_sizes=[16, 32, 48, 64, 80, 96, 320], num_labels=50),
        images(128), False, "transformer",
    ),
    "poolformer": (
        lambda: classified("PoolFormer", hidden_sizes=[32, 64, 128, 160], depths=[2] * 4, num_labels=50),
        images(128), False, "transformer",
    ),
    "levit": (
        lambda: classified("Levit", image_size=128, hidden_sizes=[96, 160, 224], num_attention_heads=[3, 5, 7], depths=[2] * 3, num_labels=50),
        images(128), True, "transformer",
    ),
    "wav2vec2": (wav2vec2, lambda count, rng: {"input_values": sound(count, 16000, rng)}, False, "transformer"),
    "whisper-encoder": (whisper, mel, True, "transformer"),
    "t5-encoder": (
        lambda: encoded("T5", "T5EncoderModel", d_model=160, d_kv=32, d_ff=512, num_layers=4, num_heads=5),
        words(40), False, "transformer",
    ),
    "gpt2": (gpt2, words(32, masked=False), True, "transformer"),
    "albert": (
        lambda: encoded("Albert", hidden_size=192, num_attention_heads=4, intermediate_size=512, num_hidden_layers=4, embedding_size=64),
        words(32), True, "transformer",
    ),
    "deberta": (
        lambda: encoded("DebertaV2", hidden_size=160, num_hidden_layers=3, num_attention_heads=4, intermediate_size=384, relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=16),
        words(24), False, "transformer",
    ),
    "shuffle": (varied_nets.Shuffle, images(96, "x"), True, "cnn"),
    "diffusion": (varied_nets.Diffusion, images(32, "x"), True, "cnn"),
    "wave": (varied_nets.Wave, lambda count, rng: {"x": sound(count, 4000, rng)}, True, "cnn"),
    "video": (varied_nets.Video, frames, True, "cnn"),
    "inception": (varied_nets.Inception, images(96, "x"), True, "cnn"),
    "tagger": (varied_nets.Tagger, words(30, masked=False, name="x", most=2000), False, "rnn"),
    "super-resolution": (varied_nets.SuperResolution, images(64, "x"), True, "cnn"),
    "table": (varied_nets.Table, columns, True, "cnn"),
    "detector": (varied_nets.Detector, images(160, "x"), True, "cnn"),
}  # fmt: skip


def with_random_scales(net):
    for module in net.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            nn.init.uniform_(module.weight, 0.5, 1.5)
    return net


def export(net, path, inputs, dynamo):
    names = dict(input_names=list(inputs), output_names=["y"])
    if dynamo:
        torch.onnx.export(net, tuple(inputs.values()), path, **names, opset_version=18, dynamo=True, external_data=False, verbose=False)
    else:
        free = {name: {0: "batch"} for name in inputs}
        torch.onnx.export(net, tuple(inputs.values()), path, **names, opset_version=17, dynamo=False, dynamic_axes=free)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", help="names of nets")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    for index, (name, (make, data, dynamo, kind)) in enumerate(NETS.items()):
        if args.only and name not in args.only:
            continue
        torch.manual_seed(args.seed)
        rng = torch.Generator().manual_seed(1000 * args.seed + index)
        net = live(with_random_scales(make()), [tuple(data(24, rng).values())])
        path = out / f"{name}.onnx"
        export(net, path, data(1, rng), dynamo)
        uses = {}
        for use, count in COUNTS.items():
            uses[use] = f"{name}-{use}.npz"
            np.savez_compressed(out / uses[use], **{key: value.numpy() for key, value in data(count, rng).items()})
        add_case(out, {"name": name, "model": path.name, **uses, "metric": "sqnr", "kind": kind})
        print(f"{name}: {path.stat().st_size} bytes", flush=True)


if __name__ == "__main__":
    main()
