"""What nets of random weights have in common: images to see, and an export that answers with one tensor."""

import torch
from torch import nn
from torch.nn import functional as F


def smooth(count, size, rng):
    """Colour fields at several scales, about zero mean and unit spread."""
    fields = [
        F.interpolate(torch.tensor(rng.normal(0, s, (count, 3, k, k)), dtype=torch.float32), size=(size, size), mode="bicubic")
        for k, s in ((3, 1.0), (8, 0.5), (20, 0.3), (50, 0.15))
    ]
    return sum(fields) * torch.tensor(rng.uniform(0.5, 1.3, (count, 1, 1, 1)), dtype=torch.float32)


class Logits(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, pixel_values):
        return self.net(pixel_values=pixel_values).logits
