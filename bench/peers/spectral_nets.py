"""Nets that transform signals and images to their spectra, or back, in the forms in which papers and libraries have them."""

import torch
import torch.nn.functional as F
from torch import nn


class Keywords(nn.Module):
    """A classifier of sound behind the logarithm of a mel spectrum."""

    def __init__(self, length=512, hop=160, window=400, mels=40, complex_=True, centered=True):
        super().__init__()
        self.length, self.hop, self.width, self.complex, self.centered = length, hop, window, complex_, centered
        self.register_buffer("window", torch.hann_window(window))
        bins = length // 2 + 1
        self.register_buffer("filters", torch.rand(bins, mels) * (torch.rand(bins, mels) > 0.9))
        self.layers = nn.Sequential(
            nn.Conv1d(mels, 64, 3, padding=1), nn.BatchNorm1d(64), nn.ReLU(),
            nn.Conv1d(64, 64, 3, padding=1, stride=2), nn.BatchNorm1d(64), nn.ReLU(),
            nn.Conv1d(64, 96, 3, padding=1), nn.BatchNorm1d(96), nn.ReLU(),
        )  # fmt: skip
        self.head = nn.Linear(96, 12)

    def forward(self, x):
        spectrum = torch.stft(
            x, self.length, self.hop, self.width, self.window, center=self.centered, return_complex=self.complex
        )
        power = spectrum.abs() ** 2 if self.complex else spectrum.pow(2).sum(-1)
        mel = torch.log(power.transpose(1, 2) @ self.filters + 1e-6)
        return self.head(self.layers(mel.transpose(1, 2)).mean(-1))


class FourierUnit(nn.Module):
    """A Conv on the spectrum (LaMa: Suvorov et al., 2022)."""

    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(2 * channels, 2 * channels, 1, bias=False)
        self.norm = nn.BatchNorm2d(2 * channels)

    def forward(self, x):
        batch, channels, height, width = x.shape
        spectrum = torch.fft.rfftn(x, dim=(-2, -1), norm="ortho")
        parts = torch.stack((spectrum.real, spectrum.imag), -1).permute(0, 1, 4, 2, 3)
        parts = F.relu(self.norm(self.conv(parts.reshape(batch, 2 * channels, height, width // 2 + 1))))
        parts = parts.reshape(batch, channels, 2, height, width // 2 + 1).permute(0, 1, 3, 4, 2)
        return torch.fft.irfftn(torch.complex(parts[..., 0], parts[..., 1]), s=(height, width), dim=(-2, -1), norm="ortho")


class Inpaint(nn.Module):
    def __init__(self, channels=24):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 5, padding=2, stride=2)
        self.units = nn.ModuleList([FourierUnit(channels) for _ in range(3)])
        self.local = nn.ModuleList([nn.Conv2d(channels, channels, 3, padding=1) for _ in range(3)])
        self.out = nn.ConvTranspose2d(channels, 3, 4, 2, 1)

    def forward(self, x):
        x = self.stem(x)
        for unit, local in zip(self.units, self.local):
            x = x + F.relu(local(x) + unit(x))
        return torch.sigmoid(self.out(x))


class GlobalFilter(nn.Module):
    """A block of GFNet (Rao et al., 2021)."""

    def __init__(self, width, side):
        super().__init__()
        self.side = side
        self.filter = nn.Parameter(0.1 * torch.randn(side, side // 2 + 1, width, 2))
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, count, width = x.shape
        y = self.norm1(x).view(batch, self.side, self.side, width)
        y = torch.fft.rfft2(y, dim=(1, 2), norm="ortho") * torch.view_as_complex(self.filter)
        y = torch.fft.irfft2(y, s=(self.side, self.side), dim=(1, 2), norm="ortho").reshape(batch, count, width)
        return x + self.mlp(self.norm2(y))


class Filters(nn.Module):
    def __init__(self, width=64, side=14):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, 8)
        self.blocks = nn.Sequential(*[GlobalFilter(width, side) for _ in range(4)])
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.blocks(self.patches(x).flatten(2).transpose(1, 2)).mean(1))


class Mixer(nn.Module):
    """FNet (Lee-Thorp et al., 2021)."""

    def __init__(self, words, width=128, layers=4):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(2 * layers)])
        self.mlps = nn.ModuleList(
            [nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(layers)]
        )

    def forward(self, ids):
        x = self.embed(ids)
        for layer, mlp in enumerate(self.mlps):
            x = self.norms[2 * layer](x + torch.fft.fftn(x, dim=(1, 2)).real)
            x = self.norms[2 * layer + 1](x + mlp(x))
        return x


class Correlation(nn.Module):
    """Attention by correlation with what was before (Autoformer: Wu et al., 2021)."""

    def __init__(self, width):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        q, k = (torch.fft.rfft(project(x).transpose(1, 2), dim=-1) for project in (self.q, self.k))
        weights = torch.softmax(torch.fft.irfft(q * torch.conj(k), n=x.shape[1], dim=-1), -1)
        return x + self.o(weights.transpose(1, 2) * self.v(x))


class Forecast(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(7, width), *[Correlation(width) for _ in range(3)], nn.Linear(width, 7))

    def forward(self, x):
        return self.layers(x)


def overlapped(frames, hop):
    """[batch, length, frames], added up where they lie one over the other."""
    _, length, count = frames.shape
    return F.fold(frames, (1, (count - 1) * hop + length), (1, length), stride=(1, hop))[:, 0, 0]


class Voice(nn.Module):
    """A vocoder that ends with the way back from spectra (Vocos: Siuzdak, 2023)."""

    def __init__(self, length=1024, hop=256, width=96):
        super().__init__()
        self.length, self.hop = length, hop
        self.embed = nn.Conv1d(40, width, 7, padding=3)
        self.blocks = nn.ModuleList(
            [
                nn.Sequential(
                    nn.Conv1d(width, width, 7, padding=3, groups=width),
                    nn.Conv1d(width, 3 * width, 1), nn.GELU(), nn.Conv1d(3 * width, width, 1),
                )
                for _ in range(4)
            ]
        )  # fmt: skip
        self.out = nn.Conv1d(width, length + 2, 1)
        self.register_buffer("window", torch.hann_window(length))

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = x + block(x)
        magnitude, phase = self.out(x).chunk(2, 1)
        magnitude = torch.exp(magnitude).clip(max=1e2)
        spectrum = torch.complex(magnitude * torch.cos(phase), magnitude * torch.sin(phase))
        return overlapped(torch.fft.irfft(spectrum, self.length, dim=1) * self.window[None, :, None], self.hop)


class Denoise(nn.Module):
    """A mask for each bin of each frame, there and back."""

    def __init__(self, length=512, hop=128, width=64):
        super().__init__()
        self.length, self.hop = length, hop
        self.register_buffer("window", torch.hann_window(length))
        bins = length // 2 + 1
        self.inner = nn.GRU(bins, width, batch_first=True)
        self.mask = nn.Linear(width, bins)

    def forward(self, x):
        spectrum = torch.stft(x, self.length, self.hop, self.length, self.window, return_complex=True)
        mask = torch.sigmoid(self.mask(self.inner(spectrum.abs().transpose(1, 2))[0])).transpose(1, 2)
        frames = torch.fft.irfft(spectrum * mask, self.length, dim=1)
        return overlapped(frames * self.window[None, :, None], self.hop)
