"""Nets of random weights that signals get through, and made-up images for them: what make_*.py have in common."""

import torch
from torch import nn
from torch.nn import functional as F


class Logits(nn.Module):
    """An image classifier of `transformers`, by its logits alone."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, pixel_values):
        return self.net(pixel_values=pixel_values).logits


def smooth_images(count, size, rng):
    """Colour fields at several scales, about zero mean and unit spread. `rng` is numpy's."""
    fields = [
        F.interpolate(torch.tensor(rng.normal(0, s, (count, 3, k, k)), dtype=torch.float32), size=(size, size), mode="bicubic")
        for k, s in ((3, 1.0), (8, 0.5), (20, 0.3), (50, 0.15))
    ]
    return sum(fields) * torch.tensor(rng.uniform(0.5, 1.3, (count, 1, 1, 1)), dtype=torch.float32)


def live(net, batches, is_mean=True, drops=True):
    """BatchNorm statistics of these batches, each the inputs of a run; nothing is learned.

    `is_mean`: they are the means of all batches, or else follow them with the usual momentum. `drops`: Dropout drops meanwhile.
    """
    for module in net.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and is_mean:
            module.momentum = None
            module.reset_running_stats()
    net.train()
    for module in net.modules():
        if isinstance(module, nn.Dropout) and not drops:
            module.eval()
    with torch.no_grad():
        for inputs in batches:
            net(*inputs)
    return net.eval()
