"""Makes fourteen nets of modules that papers build on, with data, from one seed; compare.py judges tools on them.

    pip install torch onnx onnxruntime onnxscript transformers
    python bench/peers/make_module_nets.py --out modules --seed 801

The modules of module_nets.py, and three text encoders of `transformers` that are written with Einsum, with random weights and live
BatchNorm statistics, by either exporter, each with a free batch. Writes NAME.onnx, three disjoint sets of samples and cases.json, the
list that compare.py takes. What has no labels is compared with the float model.
"""

import module_nets
import torch
import transformers
from cases import folder_and_seed
from make_line_nets import write_nets
from make_varied_nets import images, smooth, words
from torch import nn

WORDS = 4000


class Encoder(nn.Module):
    """A text encoder of `transformers`, by its last hidden states alone."""

    def __init__(self, kind, part="", **config):
        super().__init__()
        own = getattr(transformers, f"{kind}Config")(vocab_size=WORDS, **config)
        self.net = getattr(transformers, f"{kind}{part}Model")(own)

    def forward(self, input_ids, attention_mask):
        return self.net(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def joints(count, rng):
    return {"x": smooth(count, 3, 64, 17, rng)}


def film(count, rng):
    return {"x": smooth(4 * count, 3, 80, 80, rng).reshape(count, 4, 3, 80, 80).transpose(1, 2).contiguous()}


def noise(count, rng):
    return {"x": torch.randn(count, 4, 16, 16, generator=rng), "t": 1000 * torch.rand(count, generator=rng)}


def boards(count, rng):
    return {"x": (torch.rand(count, 17, 19, 19, generator=rng) < 0.2).float()}


# Name: what makes the net, samples, opset (18 and later by the newer exporter), kind.
NETS = {
    "salient": (module_nets.Salient, images(160, "x"), 18, "cnn"),
    "deblur": (module_nets.Deblur, images(96, "x"), 17, "cnn"),
    "restore": (module_nets.Restore, images(64, "x"), 17, "cnn"),
    "skeleton": (module_nets.Skeleton, joints, 17, "cnn"),
    "sentences": (module_nets.Sentences, words(64, masked=False, name="ids", most=3000), 18, "cnn"),
    "gates": (lambda: module_nets.Attentive(module_nets.Gates), images(112, "x"), 17, "cnn"),
    "coordinates": (lambda: module_nets.Attentive(module_nets.Coordinates), images(112, "x"), 17, "cnn"),
    "centers": (module_nets.Centers, images(192, "x"), 18, "cnn"),
    "moving": (module_nets.Moving, film, 18, "cnn"),
    "diffuse": (module_nets.Diffuse, noise, 17, "transformer"),
    "go": (module_nets.Go, boards, 17, "cnn"),
    "xlnet": (lambda: Encoder("XLNet", d_model=192, n_layer=3, n_head=6, d_inner=512), words(48, most=WORDS), 17, "transformer"),
    "funnel": (
        lambda: Encoder("Funnel", "Base", block_sizes=[2, 2], d_model=192, n_head=6, d_head=32, d_inner=512),
        words(48, most=WORDS), 17, "transformer",
    ),
    "long-t5": (
        lambda: Encoder("LongT5", "Encoder", d_model=192, d_kv=32, d_ff=512, num_layers=3, num_heads=6, local_radius=16),
        words(96, most=WORDS), 17, "transformer",
    ),
}  # fmt: skip


def main():
    options = folder_and_seed(801)
    write_nets([(name, *net) for name, net in NETS.items()], options.out, options.seed)


if __name__ == "__main__":
    main()
