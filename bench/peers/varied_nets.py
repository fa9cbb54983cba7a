"""Nets of kinds that are rare among benchmarks of quantizers, small, with random weights: PyTorch modules without `transformers`."""

import torch
from torch import nn
from torch.nn import functional as F


def conv_bn(inputs, outputs, kernel, stride=1, groups=1, padding=None):
    padding = kernel // 2 if padding is None else padding
    conv = nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs))


class Shuffle(nn.Module):
    """Halves of the channels, mixed by Reshape and Transpose, as ShuffleNetV2 has them."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(conv_bn(3, 32, 3, 2), nn.ReLU())
        self.blocks = nn.ModuleList(
            nn.Sequential(conv_bn(32, 32, 1), nn.ReLU(), conv_bn(32, 32, 3, groups=32), conv_bn(32, 32, 1), nn.ReLU())
            for _ in range(6)
        )
        self.widen = nn.Sequential(conv_bn(32, 64, 1), nn.ReLU())
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        x = self.widen(self.stem(x))
        for block in self.blocks:
            left, right = x.chunk(2, 1)
            x = torch.cat([left, block(right)], 1)
            n, c, h, w = x.shape
            x = x.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)
        return self.head(x.mean((2, 3)))


class Diffusion(nn.Module):
    """A U-Net with GroupNorm, SiLU, ConvTranspose and attention in the middle."""

    def __init__(self, width=32):
        super().__init__()

        def block(inputs, outputs):
            return nn.Sequential(nn.GroupNorm(8, inputs), nn.SiLU(), nn.Conv2d(inputs, outputs, 3, 1, 1))

        self.begin = nn.Conv2d(3, width, 3, 1, 1)
        self.down = block(width, 2 * width)
        self.shrink = nn.Conv2d(2 * width, 2 * width, 3, 2, 1)
        self.middle = block(2 * width, 4 * width)
        self.attention = nn.MultiheadAttention(4 * width, 4, batch_first=True)
        self.enlarge = nn.ConvTranspose2d(4 * width, 2 * width, 4, 2, 1)
        self.up = block(4 * width, width)
        self.end = block(width, 3)

    def forward(self, x):
        whole = self.down(self.begin(x))
        half = self.middle(self.shrink(whole))
        n, c, h, w = half.shape
        tokens = half.flatten(2).transpose(1, 2)
        tokens = tokens + self.attention(tokens, tokens, tokens, need_weights=False)[0]
        half = tokens.transpose(1, 2).reshape(n, c, h, w)
        return self.end(self.up(torch.cat([self.enlarge(half), whole], 1)))


class Wave(nn.Module):
    """Dilated Conv1d with gates, as WaveNet has them."""

    def __init__(self, width=48, layers=7):
        super().__init__()

        def dilated(layer):
            return nn.Conv1d(width, width, 3, padding=2**layer, dilation=2**layer)

        self.begin = nn.Conv1d(1, width, 3, padding=1)
        self.values = nn.ModuleList(dilated(layer) for layer in range(layers))
        self.gates = nn.ModuleList(dilated(layer) for layer in range(layers))
        self.mixes = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(layers))
        self.end = nn.Conv1d(width, 20, 1)

    def forward(self, x):
        x, skipped = self.begin(x[:, None]), 0
        for value, gate, mix in zip(self.values, self.gates, self.mixes):
            out = mix(torch.tanh(value(x)) * torch.sigmoid(gate(x)))
            x, skipped = x + out, skipped + out
        return self.end(F.relu(skipped))


class Video(nn.Module):
    """Conv3d over frames."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv3d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm3d(16), nn.ReLU(),
            nn.Conv3d(16, 32, 3, 1, 1, bias=False), nn.BatchNorm3d(32), nn.ReLU(),
            nn.MaxPool3d(2), nn.Conv3d(32, 64, 3, 1, 1), nn.ReLU(),
        )  # fmt: skip
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3, 4)))


class Inception(nn.Module):
    """Branches of many kernels, averages, PReLU and LeakyReLU."""

    def __init__(self):
        super().__init__()

        def relu(*sizes, **options):
            return nn.Sequential(conv_bn(*sizes, **options), nn.ReLU())

        def branches(inputs):
            wide = nn.Sequential(
                relu(inputs, 24, 1), relu(24, 48, (1, 7), padding=(0, 3)), relu(48, 48, (7, 1), padding=(3, 0))
            )
            pooled = nn.Sequential(nn.AvgPool2d(3, 1, 1), relu(inputs, 32, 1))
            sloped = nn.Sequential(relu(inputs, 16, 1), nn.Conv2d(16, 16, 3, 1, 1), nn.PReLU(16))
            return nn.ModuleList([relu(inputs, 32, 1), wide, pooled, sloped])

        self.stem = nn.Sequential(nn.Conv2d(3, 32, 5, 2, 2), nn.LeakyReLU(0.1))
        self.blocks = nn.ModuleList(branches(inputs) for inputs in (32, 128, 128))
        self.head = nn.Linear(128, 50)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = torch.cat([branch(x) for branch in block], 1)
        return F.log_softmax(self.head(F.adaptive_avg_pool2d(x, 1).flatten(1)), 1)


class Tagger(nn.Module):
    """A bidirectional GRU over words."""

    def __init__(self, words=2000):
        super().__init__()
        self.table = nn.Embedding(words, 96)
        self.body = nn.GRU(96, 128, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(256, 30)

    def forward(self, x):
        return self.head(self.body(self.table(x))[0])


class SuperResolution(nn.Module):
    """PixelShuffle on top of a bilinear Resize."""

    def __init__(self):
        super().__init__()
        inner = [layer for _ in range(4) for layer in (nn.Conv2d(24, 24, 3, 1, 1), nn.PReLU())]
        self.body = nn.Sequential(
            nn.Conv2d(3, 48, 5, 1, 2), nn.PReLU(), nn.Conv2d(48, 24, 1), nn.PReLU(), *inner,
            nn.Conv2d(24, 48, 1), nn.PReLU(), nn.Conv2d(48, 12, 3, 1, 1), nn.PixelShuffle(2),
        )  # fmt: skip

    def forward(self, x):
        return self.body(x) + F.interpolate(x, scale_factor=2.0, mode="bilinear")


class Table(nn.Module):
    """A residual MLP over columns whose spreads are a factor of 300 apart."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(64)
        self.begin = nn.Linear(64, 512)
        self.layers = nn.ModuleList(nn.Linear(512, 512) for _ in range(2))
        self.head = nn.Linear(512, 3)

    def forward(self, x):
        x = F.gelu(self.begin(self.norm(x)))
        for layer in self.layers:
            x = x + F.gelu(layer(x))
        return torch.softmax(self.head(x), 1)


class Detector(nn.Module):
    """Pooling pyramid, a Resize with nearest neighbours, and boxes beside scores in one output."""

    def __init__(self):
        super().__init__()

        def silu(*sizes):
            return nn.Sequential(conv_bn(*sizes), nn.SiLU())

        self.first, self.second, self.third = silu(3, 32, 3, 2), silu(32, 64, 3, 2), silu(64, 128, 3, 2)
        self.pyramid, self.mix = nn.Conv2d(512, 128, 1), silu(192, 64, 3)
        self.boxes, self.scores = nn.Conv2d(64, 4, 1), nn.Conv2d(64, 8, 1)

    def forward(self, x):
        fine = self.second(self.first(x))
        pooled = [self.third(fine)]
        for _ in range(3):
            pooled.append(F.max_pool2d(pooled[-1], 5, 1, 2))
        coarse = F.interpolate(self.pyramid(torch.cat(pooled, 1)), scale_factor=2.0, mode="nearest")
        x = self.mix(torch.cat([coarse, fine], 1))
        return torch.cat([8 * self.boxes(x).exp().flatten(2), self.scores(x).sigmoid().flatten(2)], 1)
