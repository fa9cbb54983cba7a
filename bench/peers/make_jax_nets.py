"""Makes ten nets of JAX as jax2onnx exports them, with data, from one seed; compare.py judges tools on them.

    pip install jax2onnx flax onnx
    python bench/peers/make_jax_nets.py --out jax --seed 1302

Small nets of Flax (channels last, fast variances, Gelu, attention with a mask) and cells under `lax.scan`, a free batch, random
weights and live BatchNormalization statistics. Writes NAME.onnx, three disjoint sets of samples and cases.json, the list that
compare.py takes. What has no labels is compared with the float model.
"""

import jax
import jax.numpy as jnp
import numpy as np
import onnx
from cases import COUNTS, add_unlabelled, folder_and_seed, walks
from flax import nnx
from jax2onnx import to_onnx


def images(size):
    def samples(count, rng):
        coarse = jnp.asarray(rng.normal(size=(count, 5, 5, 3)), jnp.float32)
        fine = jax.image.resize(coarse, (count, size, size, 3), "cubic")
        return np.asarray(fine + 0.15 * rng.normal(size=fine.shape), np.float32)

    return samples


def tokens(length, words):
    return lambda count, rng: rng.integers(0, words, size=(count, length)).astype(np.int32)


class Normalized(nnx.Module):
    """A convolution without biases, its BatchNorm and what follows."""

    def __init__(self, rngs, inputs, outputs, kernel, stride=1, groups=1, act=nnx.relu):
        self.conv = nnx.Conv(
            inputs, outputs, kernel, stride, padding="SAME", feature_group_count=groups, use_bias=False, rngs=rngs
        )
        self.norm = nnx.BatchNorm(outputs, rngs=rngs)
        self.act = act

    def __call__(self, x):
        return self.act(self.norm(self.conv(x)))


class Chain(nnx.Module):
    def __init__(self, *steps):
        self.steps = nnx.List(steps)

    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return x


class Residual(nnx.Module):
    def __init__(self, rngs, inputs, outputs, stride):
        self.first = Normalized(rngs, inputs, outputs, (3, 3), stride)
        self.second = Normalized(rngs, outputs, outputs, (3, 3), act=lambda x: x)
        self.short = Normalized(rngs, inputs, outputs, (1, 1), stride, act=lambda x: x)

    def __call__(self, x):
        return nnx.relu(self.second(self.first(x)) + self.short(x))


class Pooled(nnx.Module):
    def __init__(self, rngs, channels, classes, pool=jnp.mean):
        self.dense = nnx.Linear(channels, classes, rngs=rngs)
        self.pool = pool

    def __call__(self, x):
        return self.dense(self.pool(x, tuple(range(1, x.ndim - 1))))


def resnet(rngs):
    sizes = ((32, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2), (128, 128, 1))
    return Chain(Normalized(rngs, 3, 32, (3, 3), 2), *[Residual(rngs, *size) for size in sizes], Pooled(rngs, 128, 100))


def mobilenet(act):
    def make(rngs):
        steps = [Normalized(rngs, 3, 16, (3, 3), 2, act=act)]
        for inputs, outputs, stride in ((16, 24, 2), (24, 32, 1), (32, 64, 2), (64, 96, 1), (96, 160, 2)):
            wide = 4 * inputs
            steps += [Normalized(rngs, inputs, wide, (1, 1), act=act)]
            steps += [Normalized(rngs, wide, wide, (3, 3), stride, wide, act=act)]
            steps += [Normalized(rngs, wide, outputs, (1, 1), act=lambda x: x)]
        return Chain(*steps, Pooled(rngs, 160, 100))

    return make


def lines(rngs):
    sizes = ((40, 64, 1), (64, 64, 2), (64, 128, 1), (128, 128, 2))
    return Chain(*[Normalized(rngs, i, o, (5,), s, act=nnx.leaky_relu) for i, o, s in sizes], Pooled(rngs, 128, 20, jnp.max))


class Patches(nnx.Module):
    def __init__(self, rngs, width):
        self.conv = nnx.Conv(3, width, (16, 16), (16, 16), padding="VALID", rngs=rngs)

    def __call__(self, x):
        y = self.conv(x)
        return y.reshape(y.shape[0], 64, -1)


class Attends(nnx.Module):
    def __init__(self, rngs, width, heads, mask=None):
        self.norms = nnx.List([nnx.LayerNorm(width, rngs=rngs) for _ in range(2)])
        self.attention = nnx.MultiHeadAttention(heads, width, decode=False, rngs=rngs)
        self.up, self.down = nnx.Linear(width, 4 * width, rngs=rngs), nnx.Linear(4 * width, width, rngs=rngs)
        self.mask = mask

    def __call__(self, x):
        y = self.norms[0](x)
        mask = None if self.mask is None else nnx.make_causal_mask(jnp.ones((1, self.mask)))
        x = x + self.attention(y, y, y, mask=mask)
        return x + self.down(nnx.gelu(self.up(self.norms[1](x))))


class Mixes(nnx.Module):
    def __init__(self, rngs, rows, width):
        self.norms = nnx.List([nnx.LayerNorm(width, rngs=rngs) for _ in range(2)])
        sizes = ((rows, 128), (128, rows), (width, 512), (512, width))
        self.dense = nnx.List([nnx.Linear(i, o, rngs=rngs) for i, o in sizes])

    def __call__(self, x):
        along, back, up, down = self.dense
        x = x + back(nnx.gelu(along(self.norms[0](x).swapaxes(1, 2)))).swapaxes(1, 2)
        return x + down(nnx.gelu(up(self.norms[1](x))))


def vit(rngs):
    return Chain(Patches(rngs, 128), *[Attends(rngs, 128, 4) for _ in range(4)], Pooled(rngs, 128, 100))


def mixer(rngs):
    return Chain(Patches(rngs, 128), *[Mixes(rngs, 64, 128) for _ in range(4)], Pooled(rngs, 128, 100))


class Gpt(nnx.Module):
    def __init__(self, rngs, length=48, width=192):
        self.words, self.places = nnx.Embed(500, width, rngs=rngs), nnx.Embed(length, width, rngs=rngs)
        self.blocks = Chain(*[Attends(rngs, width, 6, length) for _ in range(4)], nnx.LayerNorm(width, rngs=rngs))
        self.length = length

    def __call__(self, x):
        return self.words.attend(self.blocks(self.words(x) + self.places(jnp.arange(self.length))))


class UNet(nnx.Module):
    def __init__(self, rngs):
        def twice(inputs, outputs):
            return Chain(
                nnx.Conv(inputs, outputs, (3, 3), rngs=rngs), nnx.GroupNorm(outputs, num_groups=8, rngs=rngs), nnx.silu
            )

        self.down = nnx.List([twice(3, 16), twice(16, 32), twice(32, 64)])
        self.grow = nnx.List([nnx.ConvTranspose(i, o, (2, 2), (2, 2), rngs=rngs) for i, o in ((64, 32), (32, 16))])
        self.up = nnx.List([twice(64, 32), twice(32, 16)])
        self.last = nnx.Conv(16, 2, (1, 1), rngs=rngs)

    def __call__(self, x):
        halves = {"window_shape": (2, 2), "strides": (2, 2)}
        a = self.down[0](x)
        b = self.down[1](nnx.max_pool(a, **halves))
        c = self.down[2](nnx.avg_pool(b, **halves))
        d = self.up[0](jnp.concatenate([self.grow[0](c), b], -1))
        return self.last(self.up[1](jnp.concatenate([self.grow[1](d), a], -1)))


class Scanned(nnx.Module):
    """A cell written by hand, as scans are."""

    def __init__(self, rngs, cell, inputs=40, hidden=64):
        gates = {"lstm": 4, "gru": 3}[cell]
        part = lambda *shape: nnx.Param(jax.random.normal(rngs.params(), shape) / 8)
        self.w, self.u, self.b = part(inputs, gates * hidden), part(hidden, gates * hidden), part(gates * hidden)
        self.cell, self.hidden = cell, hidden
        self.dense = nnx.Linear(hidden, 20, rngs=rngs)

    def __call__(self, x):
        w, u, b = self.w[...], self.u[...], self.b[...]

        def lstm(state, row):
            h, memory = state
            enter, forget, fresh, out = jnp.split(row @ w + h @ u + b, 4, -1)
            memory = jax.nn.sigmoid(forget) * memory + jax.nn.sigmoid(enter) * jnp.tanh(fresh)
            h = jax.nn.sigmoid(out) * jnp.tanh(memory)
            return (h, memory), h

        def gru(h, row):
            (xr, xz, xn), (hr, hz, hn) = jnp.split(row @ w + b, 3, -1), jnp.split(h @ u, 3, -1)
            z = jax.nn.sigmoid(xz + hz)
            h = (1 - z) * jnp.tanh(xn + jax.nn.sigmoid(xr + hr) * hn) + z * h
            return h, h

        zeros = jnp.zeros((x.shape[0], self.hidden))
        rows = x.swapaxes(0, 1)
        _, y = jax.lax.scan(lstm, (zeros, zeros), rows) if self.cell == "lstm" else jax.lax.scan(gru, zeros, rows)
        return self.dense(y.swapaxes(0, 1))


# Name: net, samples, kind.
NETS = {
    "resnet": (resnet, images(96), "cnn"),
    "mobilenet": (mobilenet(nnx.relu6), images(128), "cnn"),
    "mobilenet-swish": (mobilenet(nnx.swish), images(128), "cnn"),
    "lines": (lines, walks(120, 40), "cnn"),
    "vit": (vit, images(128), "transformer"),
    "mixer": (mixer, images(128), "transformer"),
    "gpt": (Gpt, tokens(48, 500), "transformer"),
    "u-net": (UNet, images(96), "cnn"),
    "lstm": (lambda rngs: Scanned(rngs, "lstm"), walks(50, 40), "rnn"),
    "gru": (lambda rngs: Scanned(rngs, "gru"), walks(50, 40), "rnn"),
}


def live(net, sample, rng):
    """Factors as after training, and statistics of what layers really see."""
    for _, module in nnx.iter_modules(net):
        if isinstance(module, nnx.BatchNorm | nnx.LayerNorm | nnx.GroupNorm):
            module.scale[...] = jnp.asarray(rng.uniform(0.6, 1.4, module.scale.shape), jnp.float32)
            module.bias[...] = jnp.asarray(rng.normal(0, 0.2, module.bias.shape), jnp.float32)
        if isinstance(module, nnx.BatchNorm):
            module.momentum = 0.5
    net.train()
    for _ in range(8):
        net(sample)
    net.eval()
    return net


def main():
    options = folder_and_seed(1302)
    for index, (name, (make, samples, kind)) in enumerate(NETS.items()):
        rng = np.random.default_rng(1000 * options.seed + index)
        sample = jnp.asarray(samples(16, rng))
        net = live(make(nnx.Rngs(options.seed + index)), sample, rng)
        free = jax.ShapeDtypeStruct(("B", *sample.shape[1:]), sample.dtype)
        onnx.save(to_onnx(net, [free], input_names=["x"], return_mode="proto"), options.out / f"{name}.onnx")
        add_unlabelled(options.out, name, kind, {use: {"x": samples(count, rng)} for use, count in COUNTS.items()})
        print(name, flush=True)


if __name__ == "__main__":
    main()
