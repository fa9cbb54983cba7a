"""Small nets of many kinds for 28x28 images, from one seed: what make_nets.py trains on digits."""

import torch
from torch import nn
from torch.nn import functional as F


def conv(inputs, outputs, size=3, stride=1, groups=1, act=nn.ReLU):
    layers = [nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([act()] if act else []))


class Head(nn.Module):
    def __init__(self, features, width):
        super().__init__()
        self.features = features
        self.out = nn.Linear(width, 10)

    def forward(self, x):
        return self.out(self.features(x).mean((2, 3)))


class Plus(nn.Module):
    """x + branch(x), and an activation after it where one is given."""

    def __init__(self, *branch, act=None):
        super().__init__()
        self.branch = nn.Sequential(*branch)
        self.act = act() if act else None

    def forward(self, x):
        y = x + self.branch(x)
        return self.act(y) if self.act else y


class Squeeze(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, width // 4, 1), nn.SiLU(), nn.Conv2d(width // 4, width, 1), nn.Sigmoid()
        )

    def forward(self, x):
        return x * self.gate(x)


def vgg():
    return nn.Sequential(
        conv(1, 24), conv(24, 24), nn.MaxPool2d(2), conv(24, 48), conv(48, 48), nn.MaxPool2d(2), conv(48, 64),
        nn.Flatten(), nn.Linear(64 * 49, 96), nn.ReLU(), nn.Dropout(0.2), nn.Linear(96, 10),
    )


def resnext():
    def block(width):
        return Plus(conv(width, width, 1), conv(width, width, 3, groups=8), conv(width, width, 1, act=None), act=nn.ReLU)

    return Head(nn.Sequential(conv(1, 32, 5, 2), block(32), conv(32, 64, 3, 2), block(64), block(64)), 64)


def senet():
    def block(width):
        return Plus(conv(width, width, act=nn.SiLU), conv(width, width, act=None), Squeeze(width))

    return Head(nn.Sequential(conv(1, 24, act=nn.SiLU), conv(24, 32, 3, 2), block(32), conv(32, 48, 3, 2), block(48)), 48)


def separable(act):
    def step(inputs, outputs, stride=1):
        return nn.Sequential(conv(inputs, inputs, 3, stride, inputs, act), conv(inputs, outputs, 1, act=act))

    return Head(nn.Sequential(conv(1, 24, 3, 2, act=act), step(24, 48), step(48, 64, 2), step(64, 64), step(64, 96)), 96)


class DenseNet(nn.Module):
    """BatchNormalization before each convolution, and results that grow by concatenation."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 24, 3, 2, 1)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(24 + 12 * i), nn.ReLU(), nn.Conv2d(24 + 12 * i, 12, 3, 1, 1)) for i in range(5)
        )
        self.out = nn.Linear(24 + 60, 10)

    def forward(self, x):
        x = self.stem(x)
        for layer in self.layers:
            x = torch.cat([x, layer(x)], 1)
        return self.out(F.avg_pool2d(F.relu(x), 2).mean((2, 3)))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, mask=None):
        batch, steps, width = x.shape
        q, k, v = self.qkv(x).reshape(batch, steps, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) * (width // self.heads) ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask[:, None, None, :] == 0, -1e4)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, steps, width))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, mask=None):
        x = x + self.attention(self.before(x), mask)
        return x + self.mlp(self.between(x))


class Vit(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.patches = nn.Conv2d(1, width, 4, 4)
        self.place = nn.Parameter(torch.randn(1, 49, width) * 0.02)
        self.layers = nn.Sequential(Layer(width, 4), Layer(width, 4))
        self.out = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 10))

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2) + self.place
        return self.out(self.layers(x).mean(1))


class Rows(nn.Module):
    """Reads the rows of the image one after the other."""

    def __init__(self, cell, width=96):
        super().__init__()
        self.cell = cell(28, width, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * width, 10)

    def forward(self, x):
        return self.out(self.cell(x.squeeze(1))[0].mean(1))


def mlp():
    return nn.Sequential(
        nn.Flatten(), nn.Linear(784, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 128), nn.Tanh(), nn.Linear(128, 10)
    )


class UNet(nn.Module):
    """Takes noise away from a digit; the output is an image."""

    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([conv(1, 16), conv(16, 32, 3, 2), conv(32, 48, 3, 2, act=nn.LeakyReLU)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(48, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)])
        self.mix = nn.ModuleList([conv(64, 32), conv(32, 16)])
        self.out = nn.Conv2d(16, 1, 1)

    def forward(self, x):
        a = self.down[0](x)
        b = self.down[1](a)
        y = self.mix[0](torch.cat([self.up[0](self.down[2](b)), b], 1))
        y = self.mix[1](torch.cat([self.up[1](y), a], 1))
        return torch.sigmoid(self.out(y))


class Text(nn.Module):
    """Says which of four words occurs most in a sequence of tokens."""

    def __init__(self, words=512, width=128):
        super().__init__()
        self.words, self.place = nn.Embedding(words, width), nn.Embedding(48, width)
        self.layers = nn.ModuleList([Layer(width, 4), Layer(width, 4)])
        self.out = nn.Linear(width, 4)

    def forward(self, input_ids, attention_mask):
        x = self.words(input_ids) + self.place(torch.arange(input_ids.shape[1], device=input_ids.device))
        for layer in self.layers:
            x = layer(x, attention_mask)
        weight = attention_mask[:, :, None].to(x.dtype)
        return self.out((x * weight).sum(1) / weight.sum(1))


# Name, how to make it, and whether the newer exporter writes it.
DIGIT_NETS = {
    "vgg": (vgg, False),
    "resnext": (resnext, True),
    "senet": (senet, False),
    "separable-relu6": (lambda: separable(nn.ReLU6), False),
    "separable-hardswish": (lambda: separable(nn.Hardswish), True),
    "densenet": (DenseNet, False),
    "vit": (Vit, True),
    "lstm": (lambda: Rows(nn.LSTM), False),
    "gru": (lambda: Rows(nn.GRU), False),
    "mlp": (mlp, False),
}
