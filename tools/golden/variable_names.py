"""Makes packages/eagre/golden/variable-names.json: names and paths of the variables of Keras on TensorFlow.

Run: KERAS_BACKEND=tensorflow python tools/golden/variable_names.py
packages/eagre/tests/variable-names.test.ts makes the same objects, each of the same name.
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import tensorflow as tf
from keras import layers, metrics, optimizers

OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden/variable-names.json"


class Inner(layers.Layer):
    def build(self, shape):
        self.first = self.add_weight(shape=(2,))
        self.second = self.add_weight(shape=(2,))
        self.dense = layers.Dense(2, name="proj")
        self.dense.build(shape)

    def call(self, x):
        return self.dense(x)


class Outer(layers.Layer):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.early = self.add_weight(shape=(1,), name="early")
        self.dropout = layers.Dropout(0.5)

    def call(self, x):
        return self.dropout(self.inner(x))


class Own(metrics.Metric):
    def __init__(self):
        super().__init__(name="own")
        self.sum = self.add_weight(shape=(), initializer="zeros", name="sum")
        self.inner = metrics.Mean()

    def update_state(self, value):
        pass

    def result(self):
        return self.sum


def built(layer, *shape):
    layer.build(shape)
    return layer


def nested():
    outer = Outer()
    outer(tf.ones((1, 2)))
    return outer.variables


def sequential():
    return keras.Sequential([layers.Input((3,)), layers.Dense(2), layers.BatchNormalization(), layers.Dropout(0.1)])


def late():
    return built(keras.Sequential([layers.Dense(2), layers.Dense(1, name="last")]), None, 3).variables


def functional():
    x = keras.Input((3,))
    inner = keras.Model(x, layers.Dense(2)(x), name="inner")
    return keras.Model(x, layers.Dense(1)(inner(x))).variables


def training():
    model = sequential()
    model.compile("adam", "mse", metrics=["mae", metrics.AUC(num_thresholds=3, name="a/b")])
    model.fit(tf.ones((4, 3)), tf.ones((4, 2)), verbose=0)
    return model.optimizer.variables + model.metrics_variables


def of_optimizer(make):
    dense = built(layers.Dense(2), None, 3)
    optimizer = make()
    optimizer.build(dense.trainable_variables)
    return optimizer.variables


def quantized():
    dense = built(layers.Dense(2), None, 4)
    dense.quantize("int8")
    return dense.variables


def adapted():
    dense = built(layers.Dense(2), None, 4)
    dense.enable_lora(1)
    return dense.variables


def attention():
    layer = layers.MultiHeadAttention(2, 2)
    layer.build((None, 3, 4), (None, 3, 4))
    return layer.variables


CASES = {
    "nested layers": nested,
    "a sequential model": lambda: sequential().variables,
    "a sequential model built late": late,
    "a functional model": functional,
    "training": training,
    "stacked cells": lambda: built(layers.RNN([layers.LSTMCell(2), layers.GRUCell(2)]), None, 3, 2).variables,
    "both directions": lambda: built(layers.Bidirectional(layers.LSTM(2)), None, 3, 2).variables,
    "attention": attention,
    "time distributed": lambda: built(layers.TimeDistributed(layers.Dense(2)), None, 3, 4).variables,
    "spectral normalization": lambda: built(layers.SpectralNormalization(layers.Dense(2)), None, 4).variables,
    "normalization": lambda: built(layers.Normalization(), None, 4).variables,
    "noise": lambda: layers.GaussianNoise(0.1, seed=1).variables,
    "a seed generator": lambda: [keras.random.SeedGenerator(1).state, keras.random.SeedGenerator(1, name="mine").state],
    "int8": quantized,
    "LoRA": adapted,
    "SGD": lambda: of_optimizer(lambda: optimizers.SGD(momentum=0.9, use_ema=True, gradient_accumulation_steps=2)),
    "Adam": lambda: of_optimizer(lambda: optimizers.Adam(amsgrad=True, name="mine")),
    "RMSprop": lambda: of_optimizer(lambda: optimizers.RMSprop(momentum=0.9, centered=True)),
    "Ftrl": lambda: of_optimizer(optimizers.Ftrl),
    "Nadam": lambda: of_optimizer(optimizers.Nadam),
    "Adadelta": lambda: of_optimizer(optimizers.Adadelta),
    "LossScaleOptimizer": lambda: of_optimizer(lambda: keras.mixed_precision.LossScaleOptimizer(optimizers.SGD(momentum=0.9))),
    "a metric": lambda: Own().variables,
    "MeanIoU": lambda: metrics.MeanIoU(2).variables,
    "Precision": lambda: metrics.Precision(name="p").variables,
}


def main():
    cases = {}
    for name, make in CASES.items():
        keras.backend.clear_session()
        cases[name] = [[v.name, v.path] for v in make()]
    data = {"versions": {"keras": keras.__version__, "tensorflow": tf.__version__}, "cases": cases}
    OUT.write_text(json.dumps(data, separators=(",", ":")) + "\n")


main()
