"""Makes sixteen nets of Keras as tf2onnx exports them, with data, from one seed; compare.py judges tools on them.

    pip install tensorflow-cpu tf2onnx
    python bench/peers/make_keras_nets.py --out keras --seed 502

Nets of `keras.applications` and small ones of layers that are exported in ways of their own (Conv1D, SeparableConv1D, LSTM, GRU, SimpleRNN, cells,
attention, UpSampling2D, PReLU), channels last, a free batch, random weights and live BatchNormalization statistics. Writes NAME.onnx, three disjoint
sets of samples and cases.json, the list that compare.py takes. What has no labels is compared with the float model.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
import tf2onnx
from cases import COUNTS, add_unlabelled, folder_and_seed, walks
from keras import applications, layers


def images(size, middle=0.0, spread=1.0):
    def samples(count, rng):
        coarse = rng.normal(size=(count, 5, 5, 3)).astype(np.float32)
        fine = tf.image.resize(coarse, (size, size), method="bicubic").numpy()
        return (middle + spread * (fine + 0.15 * rng.normal(size=fine.shape))).astype(np.float32)

    return samples


def chain(shape, *steps):
    x = given = keras.Input(shape)
    for step in steps:
        x = step(x)
    return keras.Model(given, x)


def normalized(layer):
    return [layer, layers.BatchNormalization(), layers.ReLU()]


def lines():
    sizes = ((64, 5, 1), (64, 5, 2), (128, 3, 1), (128, 3, 2))
    steps = [step for f, k, s in sizes for step in normalized(layers.Conv1D(f, k, s, padding="same", use_bias=False))]
    return chain((200, 40), *steps, layers.GlobalAveragePooling1D(), layers.Dense(20, activation="softmax"))


def separable_lines():
    block = [layers.SeparableConv1D(96, 9, padding="same"), layers.BatchNormalization(), layers.Activation("swish")]
    steps = [type(step).from_config(step.get_config() | {"name": f"{step.name}_{k}"}) for k in range(3) for step in block]
    return chain((200, 64), *steps, layers.GlobalMaxPooling1D(), layers.Dense(10))


def recurrent():
    return chain((60, 24), layers.Bidirectional(layers.LSTM(64, return_sequences=True)), layers.LSTM(64), layers.Dense(8))


def attention():
    x = given = keras.Input((48, 96))
    for _ in range(3):
        y = layers.LayerNormalization(epsilon=1e-6)(x)
        x = layers.Add()([x, layers.MultiHeadAttention(4, 24)(y, y)])
        y = layers.LayerNormalization(epsilon=1e-6)(x)
        # The other form of Gelu has an operator that tf2onnx does not know.
        y = layers.Dense(384, activation=lambda t: keras.activations.gelu(t, approximate=True))(y)
        x = layers.Add()([x, layers.Dense(96)(y)])
    x = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))
    return keras.Model(given, layers.Dense(10)(x))


def u_net():
    def twice(x, filters):
        for _ in range(2):
            x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        return x

    x = given = keras.Input((96, 96, 3))
    kept = []
    for filters in (16, 32, 64):
        x = twice(x, filters)
        kept.append(x)
        x = layers.MaxPooling2D()(x)
    x = twice(x, 128)
    for filters in (64, 32, 16):
        x = layers.Conv2DTranspose(filters, 2, strides=2, padding="same")(x)
        x = twice(layers.Concatenate()([x, kept.pop()]), filters)
    return keras.Model(given, layers.Conv2D(1, 1, activation="sigmoid")(x))


def enlarging():
    x = given = keras.Input((96, 96, 3))
    kept = []
    for filters in (16, 32, 64, 128):
        kept.append(x)
        x = layers.MaxPooling2D()(x) if filters > 16 else x
        for layer in normalized(layers.Conv2D(filters, 3, padding="same", use_bias=False)):
            x = layer(x)
    for filters in (64, 32, 16):
        x = layers.Concatenate()([layers.UpSampling2D()(x), kept.pop()])
        for layer in normalized(layers.Conv2D(filters, 3, padding="same", use_bias=False)):
            x = layer(x)
    return keras.Model(given, layers.Conv2D(2, 1, activation="softmax")(x))


def denoiser():
    x = given = keras.Input((100, 42))
    dense = layers.Dense(24, activation="tanh")(x)
    voice = layers.GRU(24, return_sequences=True)(dense)
    noise = layers.GRU(48, activation="relu", return_sequences=True)(layers.Concatenate()([dense, voice, x]))
    whole = layers.GRU(96, return_sequences=True)(layers.Concatenate()([voice, noise, x]))
    return keras.Model(given, [layers.Dense(22, activation="sigmoid")(whole), layers.Dense(1, activation="sigmoid")(voice)])


def cells():
    x = given = keras.Input((60, 24))
    x = layers.Bidirectional(layers.SimpleRNN(48, return_sequences=True))(x)
    x = layers.RNN([layers.GRUCell(64, reset_after=False), layers.LSTMCell(32)])(x)
    return keras.Model(given, layers.Dense(8)(x))


def generator():
    down = [layers.Conv2D(32, 3, 2, padding="same"), layers.LeakyReLU(0.2), layers.Conv2D(64, 3, 2, padding="same")]
    middle = [layers.BatchNormalization(), layers.LeakyReLU(0.2), layers.UpSampling2D(interpolation="bilinear")]
    slopes = layers.PReLU(shared_axes=[1, 2], alpha_initializer=keras.initializers.RandomUniform(0.05, 0.4))
    up = [layers.Conv2D(32, 3, padding="same"), slopes, layers.UpSampling2D()]
    return chain((64, 64, 3), *down, *middle, *up, layers.Conv2D(3, 3, padding="same", activation="tanh"))


def classifier(name, size, **options):
    return lambda: getattr(applications, name)(input_shape=(size, size, 3), weights=None, classes=100, **options)


# Name: net, samples, opset, kind.
NETS = {
    "mobilenet": (classifier("MobileNet", 128, alpha=0.5), images(128), 13, "cnn"),
    "mobilenetv2": (classifier("MobileNetV2", 128, alpha=0.5), images(128), 17, "cnn"),
    "mobilenetv3": (classifier("MobileNetV3Small", 128), images(128, 127, 60), 17, "cnn"),
    "nasnet": (classifier("NASNetMobile", 128), images(128), 13, "cnn"),
    "densenet": (classifier("DenseNet121", 96), images(96), 17, "cnn"),
    "xception": (classifier("Xception", 96), images(96), 13, "cnn"),
    "resnetv2": (classifier("ResNet50V2", 96), images(96), 13, "cnn"),
    "lines": (lines, walks(200, 40), 13, "cnn"),
    "separable-lines": (separable_lines, walks(200, 64), 17, "cnn"),
    "recurrent": (recurrent, walks(60, 24), 15, "rnn"),
    "attention": (attention, walks(48, 96), 17, "transformer"),
    "u-net": (u_net, images(96), 13, "cnn"),
    "generator": (generator, images(64), 18, "cnn"),
    "enlarging": (enlarging, images(96), 15, "cnn"),
    "denoiser": (denoiser, walks(100, 42), 15, "rnn"),
    "cells": (cells, walks(60, 24), 15, "rnn"),
}


def live(net, sample):
    """Statistics of what layers really see, as after some steps of training."""
    for layer in net._flatten_layers():
        if isinstance(layer, layers.BatchNormalization):
            layer.momentum = 0.5
    for _ in range(6):
        net(sample, training=True)
    return net


def main():
    options = folder_and_seed(502)
    for index, (name, (make, samples, opset, kind)) in enumerate(NETS.items()):
        keras.utils.set_random_seed(options.seed + index)
        rng = np.random.default_rng(1000 * options.seed + index)
        sample = samples(24, rng)
        net = live(make(), sample)
        signature = [tf.TensorSpec((None, *sample.shape[1:]), sample.dtype, name="x")]
        call = tf.function(lambda x, net=net: net(x, training=False), input_signature=signature)
        tf2onnx.convert.from_function(call, signature, opset=opset, output_path=str(options.out / f"{name}.onnx"))
        add_unlabelled(options.out, name, kind, {use: {"x": samples(count, rng)} for use, count in COUNTS.items()})
        print(name, flush=True)


if __name__ == "__main__":
    main()
