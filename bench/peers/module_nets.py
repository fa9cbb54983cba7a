"""Nets of modules that papers build on, which exporters write out in many nodes: of make_module_nets.py, random weights, small."""

import torch
from torch import nn
from torch.nn import functional as F


def block(i, o, k=3, s=1, d=1, g=1, act=nn.ReLU):
    return nn.Sequential(nn.Conv2d(i, o, k, s, k // 2 * d, d, g, bias=False), nn.BatchNorm2d(o), act())


class Salient(nn.Module):
    """U2-Net: U-Nets within a U-Net. [N,3,H,W] -> [N,1,H,W]"""

    class Inner(nn.Module):
        def __init__(self, i, middle, o, depth):
            super().__init__()
            self.first, self.deepest = block(i, o), block(middle, middle, d=2)
            self.down = nn.ModuleList(block(o if level == 0 else middle, middle) for level in range(depth))
            self.up = nn.ModuleList(block(2 * middle, middle if level else o) for level in range(depth))

        def forward(self, x):
            x = self.first(x)
            y, made = x, []
            for level, down in enumerate(self.down):
                y = down(F.max_pool2d(y, 2, 2, ceil_mode=True) if level else y)
                made.append(y)
            y = self.deepest(y)
            for level in reversed(range(len(self.up))):
                y = self.up[level](torch.cat([y, made[level]], 1))
                if level:
                    y = F.interpolate(y, size=made[level - 1].shape[2:], mode="bilinear", align_corners=False)
            return x + y

    def __init__(self):
        super().__init__()
        self.outer, self.inner, self.back = self.Inner(3, 16, 32, 4), self.Inner(32, 16, 64, 3), self.Inner(96, 16, 32, 4)
        self.head = nn.Conv2d(32, 1, 3, 1, 1)

    def forward(self, x):
        first = self.outer(x)
        second = F.interpolate(self.inner(F.max_pool2d(first, 2)), scale_factor=2, mode="bilinear")
        return torch.sigmoid(self.head(self.back(torch.cat([second, first], 1))))


class ChannelNorm(nn.Module):
    """Layer normalization of channels, as ConvNeXt, SAM and Restormer write it out."""

    def __init__(self, channels):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(1, channels, 1, 1)), nn.Parameter(torch.zeros(1, channels, 1, 1))

    def forward(self, x):
        mean = x.mean(1, keepdim=True)
        return (x - mean) / ((x - mean).pow(2).mean(1, keepdim=True) + 1e-6).sqrt() * self.scale + self.shift


class Deblur(nn.Module):
    """NAFNet: halves of channels multiply each other, no other activation. [N,3,H,W] -> [N,3,H,W]"""

    class Block(nn.Module):
        def __init__(self, c):
            super().__init__()
            self.norms = nn.ModuleList([ChannelNorm(c), ChannelNorm(c)])
            self.widen, self.spread = nn.Conv2d(c, 2 * c, 1), nn.Conv2d(2 * c, 2 * c, 3, 1, 1, groups=2 * c)
            self.gate, self.narrow = nn.Conv2d(c, c, 1), nn.Conv2d(c, c, 1)
            self.first, self.last = nn.Conv2d(c, 2 * c, 1), nn.Conv2d(c, c, 1)

        def forward(self, x):
            a, b = self.spread(self.widen(self.norms[0](x))).chunk(2, 1)
            y = a * b
            x = x + self.narrow(y * self.gate(F.adaptive_avg_pool2d(y, 1))) / 2
            a, b = self.first(self.norms[1](x)).chunk(2, 1)
            return x + self.last(a * b) / 2

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 24, 3, 1, 1), nn.Conv2d(24, 3, 3, 1, 1)
        self.outer, self.behind = nn.Sequential(self.Block(24), self.Block(24)), self.Block(24)
        self.down = nn.Conv2d(24, 48, 2, 2)
        self.middle = nn.Sequential(*(self.Block(48) for _ in range(3)))
        self.up = nn.Sequential(nn.Conv2d(48, 96, 1, bias=False), nn.PixelShuffle(2))

    def forward(self, x):
        y = self.outer(self.first(x))
        return x + self.last(self.behind(y + self.up(self.middle(self.down(y)))))


class Restore(nn.Module):
    """Restormer: attention among channels, and gates. [N,3,H,W] -> [N,3,H,W]"""

    class Attention(nn.Module):
        def __init__(self, c, heads):
            super().__init__()
            self.heads = heads
            self.parts, self.spread = nn.Conv2d(c, 3 * c, 1), nn.Conv2d(3 * c, 3 * c, 3, 1, 1, groups=3 * c)
            self.warmth, self.out = nn.Parameter(torch.ones(heads, 1, 1)), nn.Conv2d(c, c, 1)

        def forward(self, x):
            q, k, v = (part.reshape(x.shape[0], self.heads, -1, x.shape[2] * x.shape[3]) for part in self.spread(self.parts(x)).chunk(3, 1))
            scores = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1) * self.warmth
            return self.out((scores.softmax(-1) @ v).reshape(x.shape))

    class Gated(nn.Module):
        def __init__(self, c):
            super().__init__()
            self.first, self.last = nn.Conv2d(c, 4 * c, 1), nn.Conv2d(2 * c, c, 1)
            self.spread = nn.Conv2d(4 * c, 4 * c, 3, 1, 1, groups=4 * c)

        def forward(self, x):
            a, b = self.spread(self.first(x)).chunk(2, 1)
            return self.last(F.gelu(a) * b)

    def __init__(self, c=48):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, c, 3, 1, 1), nn.Conv2d(c, 3, 3, 1, 1)
        self.blocks = nn.ModuleList(
            nn.ModuleList([ChannelNorm(c), self.Attention(c, 2), ChannelNorm(c), self.Gated(c)]) for _ in range(2)
        )

    def forward(self, x):
        y = self.first(x)
        for norm, attention, other, gated in self.blocks:
            y = y + attention(norm(y))
            y = y + gated(other(y))
        return x + self.last(y)


class Skeleton(nn.Module):
    """ST-GCN: convolutions over the graph of joints by Einsum. [N,3,T,17] -> [N,12]"""

    def __init__(self):
        super().__init__()
        links = (torch.rand(3, 17, 17) < 0.2).float() + torch.eye(17)
        self.register_buffer("links", links / links.sum(1, keepdim=True))
        sizes = [(3, 48), (48, 48), (48, 96)]
        self.space = nn.ModuleList(nn.Conv2d(i, 3 * o, 1) for i, o in sizes)
        self.time = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(o), nn.ReLU(), nn.Conv2d(o, o, (9, 1), 1, (4, 0)), nn.BatchNorm2d(o)) for _, o in sizes
        )
        self.across = nn.ModuleList(nn.Sequential(nn.Conv2d(i, o, 1), nn.BatchNorm2d(o)) for i, o in sizes)
        self.head = nn.Linear(96, 12)

    def forward(self, x):
        for space, time, across in zip(self.space, self.time, self.across, strict=True):
            n, _, t, joints = x.shape
            y = torch.einsum("nkctv,kvw->nctw", space(x).reshape(n, 3, -1, t, joints), self.links)
            x = F.relu(time(y) + across(x))
        return self.head(x.mean((2, 3)))


class Sentences(nn.Module):
    """A CNN for text, with convolutions right behind the table of words. [N,T] -> [N,6]"""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(3000, 128)
        self.convs = nn.ModuleList(nn.Conv1d(128, 100, k) for k in (3, 4, 5))
        self.head = nn.Linear(300, 6)

    def forward(self, ids):
        x = self.table(ids).transpose(1, 2)
        return self.head(torch.cat([F.relu(conv(x)).max(2)[0] for conv in self.convs], 1))


class Gates(nn.Module):
    """CBAM: a gate for each channel, and one for each place."""

    def __init__(self, c):
        super().__init__()
        self.channels = nn.Sequential(nn.Conv2d(c, c // 8, 1), nn.ReLU(), nn.Conv2d(c // 8, c, 1))
        self.places = nn.Conv2d(2, 1, 7, 1, 3)

    def forward(self, x):
        x = x * torch.sigmoid(self.channels(F.adaptive_avg_pool2d(x, 1)) + self.channels(F.adaptive_max_pool2d(x, 1)))
        return x * torch.sigmoid(self.places(torch.cat([x.max(1, keepdim=True)[0], x.mean(1, keepdim=True)], 1)))


class Coordinates(nn.Module):
    """Coordinate attention: gates for rows and for columns."""

    def __init__(self, c):
        super().__init__()
        self.both = nn.Sequential(nn.Conv2d(c, 16, 1), nn.BatchNorm2d(16), nn.Hardswish())
        self.rows, self.columns = nn.Conv2d(16, c, 1), nn.Conv2d(16, c, 1)

    def forward(self, x):
        rows, columns = x.mean(3, keepdim=True), x.mean(2, keepdim=True).transpose(2, 3)
        rows, columns = self.both(torch.cat([rows, columns], 2)).split([x.shape[2], x.shape[3]], 2)
        return x * torch.sigmoid(self.rows(rows)) * torch.sigmoid(self.columns(columns.transpose(2, 3)))


class Attentive(nn.Module):
    """A small ResNet with such a module in each block. [N,3,H,W] -> [N,50]"""

    class Block(nn.Module):
        def __init__(self, module, i, o, s):
            super().__init__()
            self.inner = nn.Sequential(block(i, o, 3, s), nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o), module(o))
            self.across = nn.Sequential(nn.Conv2d(i, o, 1, s, bias=False), nn.BatchNorm2d(o))

        def forward(self, x):
            return F.relu(self.inner(x) + self.across(x))

    def __init__(self, module):
        super().__init__()
        blocks = [self.Block(module, i, o, s) for i, o, s in ((32, 32, 1), (32, 64, 2), (64, 128, 2))]
        self.net = nn.Sequential(block(3, 32, 3, 2), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 50))

    def forward(self, x):
        return self.net(x)


class Centers(nn.Module):
    """CenterNet: objects as peaks of heat maps. [N,3,H,W] -> three maps of [N,.,H/4,W/4]"""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(*(block(i, o, 3, 2) for i, o in ((3, 32), (32, 64), (64, 128), (128, 192))))
        ups = [nn.Sequential(nn.ConvTranspose2d(i, o, 4, 2, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU()) for i, o in ((192, 96), (96, 64))]
        self.up = nn.Sequential(*ups)
        self.heads = nn.ModuleList(nn.Sequential(nn.Conv2d(64, 64, 3, 1, 1), nn.ReLU(), nn.Conv2d(64, o, 1)) for o in (20, 2, 2))

    def forward(self, x):
        heat, size, offset = (head(features) for features in [self.up(self.down(x))] for head in self.heads)
        heat = torch.sigmoid(heat)
        return heat * (heat == F.max_pool2d(heat, 3, 1, 1)).float(), size, offset


class Moving(nn.Module):
    """X3D: depthwise convolutions in time and space. [N,3,T,H,W] -> [N,20]"""

    class Block(nn.Module):
        def __init__(self, i, o, s):
            super().__init__()
            self.is_same = i == o and s == 1
            wide = 2 * o
            self.net = nn.Sequential(
                *(nn.Conv3d(i, wide, 1, bias=False), nn.BatchNorm3d(wide), nn.ReLU()),
                *(nn.Conv3d(wide, wide, 3, (1, s, s), 1, groups=wide, bias=False), nn.BatchNorm3d(wide), nn.SiLU()),
                *(nn.Conv3d(wide, o, 1, bias=False), nn.BatchNorm3d(o)),
            )

        def forward(self, x):
            return x + self.net(x) if self.is_same else self.net(x)

    def __init__(self):
        super().__init__()
        stem = [nn.Conv3d(3, 24, (1, 3, 3), (1, 2, 2), (0, 1, 1), bias=False), nn.BatchNorm3d(24), nn.ReLU()]
        blocks = [self.Block(i, o, s) for i, o, s in ((24, 24, 2), (24, 24, 1), (24, 48, 2), (48, 48, 1))]
        self.net = nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(48, 20))

    def forward(self, x):
        return self.net(x)


class Diffuse(nn.Module):
    """DiT: a transformer whose normalizations a time moves and scales. [N,4,16,16], [N] -> [N,4,16,16]"""

    class Block(nn.Module):
        def __init__(self, d, heads):
            super().__init__()
            self.heads, self.norm = heads, nn.LayerNorm(d, elementwise_affine=False)
            self.parts, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
            self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU("tanh"), nn.Linear(4 * d, d))
            self.moves = nn.Sequential(nn.SiLU(), nn.Linear(d, 6 * d))

        def forward(self, x, c):
            n, length, d = x.shape
            move = self.moves(c)[:, None].chunk(6, -1)
            parts = self.parts(self.norm(x) * (1 + move[1]) + move[0]).reshape(n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            attended = F.scaled_dot_product_attention(*parts.unbind(0)).transpose(1, 2).reshape(n, length, d)
            x = x + move[2] * self.out(attended)
            return x + move[5] * self.mlp(self.norm(x) * (1 + move[4]) + move[3])

    def __init__(self, d=192):
        super().__init__()
        self.patches, self.place = nn.Conv2d(4, d, 2, 2), nn.Parameter(0.2 * torch.randn(1, 64, d))
        self.time = nn.Sequential(nn.Linear(64, d), nn.SiLU(), nn.Linear(d, d))
        self.blocks, self.last = nn.ModuleList(self.Block(d, 6) for _ in range(3)), nn.Linear(d, 16)

    def forward(self, x, t):
        y = self.patches(x).flatten(2).transpose(1, 2) + self.place
        angles = t[:, None] * torch.exp(torch.arange(32) / -3.5)
        c = self.time(torch.cat([angles.cos(), angles.sin()], -1))
        for each in self.blocks:
            y = each(y, c)
        return self.last(y).reshape(-1, 8, 8, 2, 2, 4).permute(0, 5, 1, 3, 2, 4).reshape(-1, 4, 16, 16)


class Go(nn.Module):
    """AlphaZero: a policy and a value of a board. [N,17,19,19] -> [N,362], [N,1]"""

    def __init__(self, c=64):
        super().__init__()
        self.first = block(17, c)
        self.blocks = nn.ModuleList(
            nn.Sequential(block(c, c), nn.Conv2d(c, c, 3, 1, 1, bias=False), nn.BatchNorm2d(c)) for _ in range(4)
        )
        self.policy = nn.Sequential(block(c, 2, 1), nn.Flatten(), nn.Linear(722, 362))
        self.value = nn.Sequential(block(c, 1, 1), nn.Flatten(), nn.Linear(361, 128), nn.ReLU(), nn.Linear(128, 1), nn.Tanh())

    def forward(self, x):
        x = self.first(x)
        for each in self.blocks:
            x = F.relu(x + each(x))
        return self.policy(x), self.value(x)
