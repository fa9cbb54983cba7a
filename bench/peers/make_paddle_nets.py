"""Makes twelve nets of PaddlePaddle as paddle2onnx exports them, with data, from one seed; compare.py judges tools on them.

    pip install paddlepaddle paddle2onnx packaging
    python bench/peers/make_paddle_nets.py --out paddle --seed 1301

Nets of `paddle.vision` and small ones of what readers of text are built of (PP-LCNet, DB, CRNN, SVTR), a free batch, random weights
and live BatchNorm statistics. Writes NAME.onnx, three disjoint sets of samples and cases.json, the list that compare.py takes.
What has no labels is compared with the float model.
"""

import numpy as np
import paddle
from cases import COUNTS, add_unlabelled, folder_and_seed, walks
from paddle import nn
from paddle.static import InputSpec
from paddle.vision import models


def images(height, width):
    def samples(count, rng):
        coarse = paddle.to_tensor(rng.normal(size=(count, 3, 5, 5 * width // height)).astype(np.float32))
        fine = nn.functional.interpolate(coarse, size=[height, width], mode="bicubic").numpy()
        return (fine + 0.15 * rng.normal(size=fine.shape)).astype(np.float32)

    return samples


def normalized(inputs, outputs, kernel=3, stride=1, groups=1, act=nn.ReLU):
    conv = nn.Conv2D(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias_attr=False)
    return [conv, nn.BatchNorm2D(outputs), act()]


class Recurrent(nn.Layer):
    def __init__(self, kind, hidden):
        super().__init__()
        self.cells = getattr(nn, kind)(40, hidden, 2, direction="bidirect")
        self.dense = nn.Linear(2 * hidden, 20)

    def forward(self, x):
        return nn.functional.softmax(self.dense(self.cells(x)[0]))


class Encoder(nn.Layer):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, activation="gelu", normalize_before=True)
        self.encoder = nn.TransformerEncoder(layer, 3)
        self.dense = nn.Linear(128, 30)

    def forward(self, x):
        return self.dense(self.encoder(x))


class Crnn(nn.Layer):
    def __init__(self):
        super().__init__()
        pools = [nn.MaxPool2D(2, 2), nn.MaxPool2D(2, 2), nn.MaxPool2D((2, 1), (2, 1)), nn.MaxPool2D((4, 1), (4, 1))]
        sizes = ((3, 32), (32, 64), (64, 128), (128, 256))
        self.maps = nn.Sequential(*[step for size, pool in zip(sizes, pools) for step in (*normalized(*size), pool)])
        self.cells = nn.LSTM(256, 96, 1, direction="bidirect")
        self.dense = nn.Linear(192, 97)

    def forward(self, x):
        return self.dense(self.cells(self.maps(x).squeeze(2).transpose([0, 2, 1]))[0])


class Squeeze(nn.Layer):
    def __init__(self, channels):
        super().__init__()
        self.down, self.up = nn.Conv2D(channels, channels // 4, 1), nn.Conv2D(channels // 4, channels, 1)

    def forward(self, x):
        y = nn.functional.relu(self.down(nn.functional.adaptive_avg_pool2d(x, 1)))
        return x * nn.functional.hardsigmoid(self.up(y), slope=0.2, offset=0.5)


class LcNet(nn.Layer):
    def __init__(self):
        super().__init__()
        steps = normalized(3, 16, 3, 2, act=nn.Hardswish)
        sizes = ((16, 32, 3, 1), (32, 64, 3, 2), (64, 64, 3, 1), (64, 128, 3, 2), (128, 128, 3, 1), (128, 256, 3, 2))
        for i, o, k, s in (*sizes, (256, 256, 5, 1), (256, 256, 5, 1), (256, 512, 5, 2), (512, 512, 5, 1)):
            steps += normalized(i, i, k, s, i, nn.Hardswish)
            steps += [Squeeze(i)] if i == 512 or o == 512 else []
            steps += normalized(i, o, 1, act=nn.Hardswish)
        self.maps = nn.Sequential(*steps)
        self.dense = nn.Linear(512, 100)

    def forward(self, x):
        return self.dense(nn.functional.adaptive_avg_pool2d(self.maps(x), 1).flatten(1))


class Detector(nn.Layer):
    """A pyramid of maps, and where text is."""

    def __init__(self, size):
        super().__init__()
        self.stem = nn.Sequential(*normalized(3, 16, 3, 2))
        self.stages = nn.LayerList([nn.Sequential(*normalized(i, 2 * i, 3, 2)) for i in (16, 32, 64)])
        self.sides = nn.LayerList([nn.Conv2D(channels, 48, 1) for channels in (32, 64, 128)])
        self.smooth = nn.LayerList([nn.Conv2D(48, 16, 3, padding=1) for _ in range(3)])
        up = [nn.Conv2DTranspose(16, 16, 2, 2), nn.BatchNorm2D(16), nn.ReLU(), nn.Conv2DTranspose(16, 1, 2, 2)]
        self.head = nn.Sequential(*normalized(48, 16), *up, nn.Sigmoid())
        self.sizes = [[size // part] * 2 for part in (4, 8)]

    def forward(self, x):
        grown = lambda map, size: nn.functional.interpolate(map, size=size, mode="nearest")
        maps = [self.stem(x)]
        for stage in self.stages:
            maps.append(stage(maps[-1]))
        fine, middle, coarse = [side(map) for side, map in zip(self.sides, maps[1:])]
        middle = middle + grown(coarse, self.sizes[1])
        fine = fine + grown(middle, self.sizes[0])
        smooth = [layer(map) for layer, map in zip(self.smooth, (fine, middle, coarse))]
        return self.head(paddle.concat([smooth[0], *[grown(map, self.sizes[0]) for map in smooth[1:]]], 1))


class Svtr(nn.Layer):
    def __init__(self, width=64):
        super().__init__()
        stem = normalized(3, width // 2, 3, 2, act=nn.GELU) + normalized(width // 2, width, 3, 2, act=nn.GELU)
        self.stem = nn.Sequential(*stem)
        dense = lambda *sizes: nn.LayerList([nn.Linear(*sizes) for _ in range(3)])
        self.norms = nn.LayerList([nn.LayerNorm(width) for _ in range(6)])
        self.parts, self.joins = dense(width, 3 * width), dense(width, width)
        self.up, self.down = dense(width, 4 * width), dense(4 * width, width)
        self.last = nn.Linear(width, 80)
        self.width = width

    def forward(self, x):
        y = self.stem(x)
        height, width = y.shape[2:]
        y = y.flatten(2).transpose([0, 2, 1])
        for i in range(3):
            parts = self.parts[i](self.norms[2 * i](y)).reshape([0, -1, 3, 4, self.width // 4])
            q, k, v = parts.transpose([2, 0, 3, 1, 4]).unbind(0)
            weights = nn.functional.softmax((q * (self.width // 4) ** -0.5).matmul(k.transpose([0, 1, 3, 2])))
            y = y + self.joins[i](weights.matmul(v).transpose([0, 2, 1, 3]).reshape([0, -1, self.width]))
            y = y + self.down[i](nn.functional.gelu(self.up[i](self.norms[2 * i + 1](y))))
        return self.last(y.transpose([0, 2, 1]).reshape([0, self.width, height, width]).mean(2).transpose([0, 2, 1]))


# Name: net, samples, kind.
NETS = {
    "resnet": (models.resnet18, images(128, 128), "cnn"),
    "mobilenetv2": (models.mobilenet_v2, images(128, 128), "cnn"),
    "mobilenetv3": (models.mobilenet_v3_small, images(160, 160), "cnn"),
    "shufflenet": (models.shufflenet_v2_swish, images(128, 128), "cnn"),
    "densenet": (models.densenet121, images(96, 96), "cnn"),
    "lcnet": (LcNet, images(160, 160), "cnn"),
    "detector": (lambda: Detector(192), images(192, 192), "cnn"),
    "crnn": (Crnn, images(32, 160), "rnn"),
    "svtr": (Svtr, images(32, 160), "transformer"),
    "encoder": (Encoder, walks(40, 128), "transformer"),
    "lstm": (lambda: Recurrent("LSTM", 96), walks(60, 40), "rnn"),
    "gru": (lambda: Recurrent("GRU", 64), walks(60, 40), "rnn"),
}


def live(net, sample):
    """Factors as after training, and statistics of what layers really see."""
    for layer in net.sublayers(include_self=True):
        if isinstance(layer, nn.BatchNorm2D):
            layer.weight.set_value(paddle.uniform(layer.weight.shape, min=0.6, max=1.4))
            layer.bias.set_value(paddle.normal(0, 0.2, layer.bias.shape))
            layer._momentum = 0.5
    net.train()
    for _ in range(6):
        net(sample)
    net.eval()
    return net


def main():
    options = folder_and_seed(1301)
    paddle.set_device("cpu")
    for index, (name, (make, samples, kind)) in enumerate(NETS.items()):
        paddle.seed(options.seed + index)
        rng = np.random.default_rng(1000 * options.seed + index)
        sample = samples(8, rng)
        net = live(make(), paddle.to_tensor(sample))
        free = InputSpec([None, *sample.shape[1:]], "float32", name="x")
        paddle.onnx.export(net, str(options.out / name), input_spec=[free], opset_version=13)
        add_unlabelled(options.out, name, kind, {use: {"x": samples(count, rng)} for use, count in COUNTS.items()})
        print(name, flush=True)


if __name__ == "__main__":
    main()
