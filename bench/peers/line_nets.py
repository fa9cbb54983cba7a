"""Nets along a line, that normalize first, or that kernels are slow for: modules of make_line_nets.py, random weights, small."""

import torch
from torch import nn
from torch.nn import functional as F


def conv1d(i, o, k=3, s=1, d=1, g=1):
    return nn.Conv1d(i, o, k, s, (k - 1) // 2 * d, d, g)


class Ecapa(nn.Module):
    """Who speaks: Res2Net blocks with gates, pooled by attention. [N,80,T] -> [N,96]"""

    class Block(nn.Module):
        def __init__(self, channels, d, parts=4):
            super().__init__()
            self.width = channels // parts
            self.first = nn.Sequential(conv1d(channels, channels, 1), nn.ReLU(), nn.BatchNorm1d(channels))
            self.parts = nn.ModuleList(conv1d(self.width, self.width, 3, 1, d) for _ in range(parts - 1))
            self.norms = nn.ModuleList(nn.BatchNorm1d(self.width) for _ in range(parts - 1))
            self.last = nn.Sequential(conv1d(channels, channels, 1), nn.ReLU(), nn.BatchNorm1d(channels))
            self.gate = nn.Sequential(nn.Conv1d(channels, channels // 4, 1), nn.ReLU(), nn.Conv1d(channels // 4, channels, 1), nn.Sigmoid())

        def forward(self, x):
            first, *rest = torch.split(self.first(x), self.width, 1)
            made, last = [first], 0
            for part, conv, norm in zip(rest, self.parts, self.norms, strict=True):
                last = norm(F.relu(conv(part + last)))
                made.append(last)
            y = self.last(torch.cat(made, 1))
            return x + y * self.gate(y.mean(2, keepdim=True))

    def __init__(self, channels=128):
        super().__init__()
        self.stem = nn.Sequential(conv1d(80, channels, 5), nn.ReLU(), nn.BatchNorm1d(channels))
        self.blocks = nn.ModuleList(self.Block(channels, d) for d in (2, 3, 4))
        self.merge = nn.Sequential(conv1d(3 * channels, 256, 1), nn.ReLU())
        self.attend = nn.Sequential(conv1d(256, 64, 1), nn.Tanh(), conv1d(64, 256, 1), nn.Softmax(2))
        self.head = nn.Linear(512, 96)

    def forward(self, x):
        x, made = self.stem(x), []
        for block in self.blocks:
            x = block(x)
            made.append(x)
        x = self.merge(torch.cat(made, 1))
        weights = self.attend(x)
        mean = (weights * x).sum(2)
        return self.head(torch.cat([mean, ((weights * x * x).sum(2) - mean * mean).clamp(min=1e-4).sqrt()], 1))


class Vocoder(nn.Module):
    """HiFi-GAN's generator. [N,80,T] -> [N,1,16T]"""

    def __init__(self):
        super().__init__()
        self.first, self.last = conv1d(80, 128, 7), conv1d(32, 1, 7)
        self.up = nn.ModuleList([nn.ConvTranspose1d(128, 64, 8, 4, 2), nn.ConvTranspose1d(64, 32, 8, 4, 2)])
        self.blocks = nn.ModuleList(nn.ModuleList(conv1d(c, c, 3, 1, d) for d in (1, 3, 5)) for c in (64, 32))

    def forward(self, x):
        x = self.first(x)
        for up, block in zip(self.up, self.blocks, strict=True):
            x = up(F.leaky_relu(x, 0.1))
            for conv in block:
                x = x + conv(F.leaky_relu(x, 0.1))
        return torch.tanh(self.last(F.leaky_relu(x)))


class Speech(nn.Module):
    """QuartzNet: separable convolutions with long kernels. [N,64,T] -> [N,T,29]"""

    def __init__(self, channels=128):
        super().__init__()

        def separable(i, o, k):
            return nn.Sequential(conv1d(i, i, k, g=i), nn.Conv1d(i, o, 1, bias=False), nn.BatchNorm1d(o))

        self.first = nn.Sequential(separable(64, channels, 33), nn.ReLU())
        self.blocks = nn.ModuleList(
            nn.Sequential(separable(channels, channels, k), nn.ReLU(), separable(channels, channels, k)) for k in (33, 39)
        )
        self.last = nn.Sequential(separable(channels, channels, 51), nn.ReLU(), nn.Conv1d(channels, 29, 1))

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = F.relu(x + block(x))
        return F.log_softmax(self.last(x).transpose(1, 2), -1)


class Separator(nn.Module):
    """Demucs: a U-Net of a wave, gated, with an LSTM in the middle. [N,T] -> [N,1,T]"""

    def __init__(self):
        super().__init__()
        sizes = [1, 32, 64, 96]
        pairs = list(zip(sizes, sizes[1:], strict=False))
        self.down = nn.ModuleList(nn.Sequential(nn.Conv1d(a, b, 8, 4), nn.ReLU(), nn.Conv1d(b, 2 * b, 1), nn.GLU(1)) for a, b in pairs)
        self.lstm = nn.LSTM(96, 96, batch_first=True)
        self.up = nn.ModuleList(
            nn.Sequential(nn.Conv1d(b, 2 * b, 1), nn.GLU(1), nn.ConvTranspose1d(b, a, 8, 4), *([nn.ReLU()] if a > 1 else []))
            for a, b in reversed(pairs)
        )

    def forward(self, x):
        x, kept = x.unsqueeze(1), []
        for down in self.down:
            x = down(x)
            kept.append(x)
        x = self.lstm(x.transpose(1, 2))[0].transpose(1, 2)
        for up in self.up:
            x = up(x + kept.pop())
        return x


class Heart(nn.Module):
    """A ResNet of twelve leads. [N,12,T] -> [N,5]"""

    class Block(nn.Module):
        def __init__(self, i, o, stride):
            super().__init__()
            self.main = nn.Sequential(
                conv1d(i, o, 15, stride), nn.BatchNorm1d(o), nn.ReLU(), conv1d(o, o, 15), nn.BatchNorm1d(o)
            )
            self.side = nn.Sequential(nn.Conv1d(i, o, 1, stride), nn.BatchNorm1d(o))

        def forward(self, x):
            return F.relu(self.main(x) + self.side(x))

    def __init__(self):
        super().__init__()
        stem = [conv1d(12, 32, 15, 2), nn.BatchNorm1d(32), nn.ReLU(), nn.MaxPool1d(3, 2, 1)]
        blocks = [self.Block(32, 32, 1), self.Block(32, 64, 2), self.Block(64, 96, 2)]
        self.net = nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(96, 5))

    def forward(self, x):
        return self.net(x)


class Face(nn.Module):
    """ArcFace's ResNet: normalization first, and slopes for each channel. [N,3,112,112] -> [N,128]"""

    class Block(nn.Module):
        def __init__(self, i, o, stride):
            super().__init__()
            first = [nn.BatchNorm2d(i), nn.Conv2d(i, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o), nn.PReLU(o)]
            self.main = nn.Sequential(*first, nn.Conv2d(o, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o))
            self.side = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o)) if stride > 1 else nn.Identity()

        def forward(self, x):
            return self.main(x) + self.side(x)

    def __init__(self):
        super().__init__()
        stem = [nn.Conv2d(3, 32, 3, 1, 1, bias=False), nn.BatchNorm2d(32), nn.PReLU(32)]
        blocks = [self.Block(i, o, 2 if k == 0 else 1) for i, o in ((32, 32), (32, 64), (64, 128)) for i, k in ((i, 0), (o, 1))]
        self.net = nn.Sequential(*stem, *blocks, nn.BatchNorm2d(128), nn.Flatten(), nn.Linear(128 * 196, 128), nn.BatchNorm1d(128))
        for module in self.modules():
            if isinstance(module, nn.PReLU):
                module.weight.data.uniform_(0.05, 0.4)

    def forward(self, x):
        return self.net((x - 0.5) / 0.25)


class Inception(nn.Module):
    """GoogLeNet's first half, with local response normalization. [N,3,128,128] -> [N,100]"""

    class Block(nn.Module):
        def __init__(self, i, a, b, c, d, e, f):
            super().__init__()

            def conv(*sizes):
                return nn.Sequential(nn.Conv2d(*sizes), nn.ReLU())

            five, pooled = nn.Sequential(conv(i, d, 1), conv(d, e, 5, 1, 2)), nn.Sequential(nn.MaxPool2d(3, 1, 1), conv(i, f, 1))
            self.parts = nn.ModuleList([conv(i, a, 1), nn.Sequential(conv(i, b, 1), conv(b, c, 3, 1, 1)), five, pooled])

        def forward(self, x):
            return torch.cat([part(x) for part in self.parts], 1)

    def __init__(self):
        super().__init__()

        def response():
            return nn.LocalResponseNorm(5, 1e-4, 0.75, 1.0)

        def pool():
            return nn.MaxPool2d(3, 2, 1)

        stem = [nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), pool(), response(), nn.Conv2d(64, 64, 1), nn.ReLU()]
        stem += [nn.Conv2d(64, 192, 3, 1, 1), nn.ReLU(), response(), pool()]
        blocks = [self.Block(192, 64, 96, 128, 16, 32, 32), self.Block(256, 128, 128, 192, 32, 96, 64), pool()]
        self.net = nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(480, 100))

    def forward(self, x):
        return self.net(x)


class Detector(nn.Module):
    """RetinaNet: a pyramid, with heads that all levels share. [N,3,128,128] -> [N,boxes,24]"""

    def __init__(self):
        super().__init__()

        def conv(i, o, k=3):
            return nn.Sequential(nn.Conv2d(i, o, k, 2, k // 2, bias=False), nn.BatchNorm2d(o), nn.ReLU())

        def same(o=64):
            return nn.Conv2d(64, o, 3, 1, 1)

        self.trunk = nn.ModuleList([nn.Sequential(conv(3, 32, 7), conv(32, 48), conv(48, 64)), conv(64, 96), conv(96, 128)])
        self.sides = nn.ModuleList(nn.Conv2d(i, 64, 1) for i in (64, 96, 128))
        self.smooth = nn.ModuleList(same() for _ in range(3))
        self.classes = nn.Sequential(same(), nn.ReLU(), same(), nn.ReLU(), same(9 * 20), nn.Sigmoid())
        self.boxes = nn.Sequential(same(), nn.ReLU(), same(36))

    def forward(self, x):
        levels = []
        for block, side in zip(self.trunk, self.sides, strict=True):
            x = block(x)
            levels.append(side(x))
        for i in (1, 0):
            levels[i] = levels[i] + F.interpolate(levels[i + 1], size=levels[i].shape[2:], mode="nearest")
        levels = [conv(level) for conv, level in zip(self.smooth, levels, strict=True)]

        def rows(head, size):
            made = [head(level).permute(0, 2, 3, 1) for level in levels]
            return torch.cat([each.reshape(each.shape[0], -1, size) for each in made], 1)

        return torch.cat([rows(self.classes, 20), rows(self.boxes, 4)], 2)


class Preactivated(nn.Module):
    """A ResNet that normalizes before it convolves. [N,3,128,128] -> [N,100]"""

    class Block(nn.Module):
        def __init__(self, i, o, stride):
            super().__init__()
            narrow = o // 4
            self.norm = nn.Sequential(nn.BatchNorm2d(i), nn.ReLU())
            self.main = nn.Sequential(
                nn.Conv2d(i, narrow, 1, bias=False),
                *[nn.BatchNorm2d(narrow), nn.ReLU(), nn.Conv2d(narrow, narrow, 3, stride, 1, bias=False)],
                *[nn.BatchNorm2d(narrow), nn.ReLU(), nn.Conv2d(narrow, o, 1)],
            )
            self.side = nn.Conv2d(i, o, 1, stride) if i != o else None

        def forward(self, x):
            y = self.norm(x)
            return self.main(y) + (self.side(y) if self.side else x)

    def __init__(self):
        super().__init__()
        sizes = ((32, 128, 1), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 256, 1))
        blocks = [self.Block(*each) for each in sizes]
        end = [nn.BatchNorm2d(256), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 100)]
        self.net = nn.Sequential(nn.Conv2d(3, 32, 7, 2, 3), nn.MaxPool2d(3, 2, 1), *blocks, *end)

    def forward(self, x):
        return self.net(x)
