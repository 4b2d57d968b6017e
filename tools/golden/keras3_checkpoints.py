"""Checkpoints of models by Keras 3, for packages/layers: python tools/golden/keras3_checkpoints.py"""

import json
import os
import pathlib
import shutil
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden/keras3"

X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 4, 3)


def sequential():
    layers = keras.layers
    return keras.Sequential([keras.Input((4, 3)), layers.Dense(3, activation="tanh"), layers.BatchNormalization(), layers.Flatten(), layers.Dense(1)])


def tiny():
    return keras.Sequential([keras.Input((4, 3)), keras.layers.Flatten(), keras.layers.Dense(1)])


def functional():
    layers = keras.layers
    x = keras.Input((4, 3))
    y = layers.MultiHeadAttention(2, 2)(x, x)
    y = layers.LayerNormalization()(layers.Add()([x, y]))
    y = layers.LSTM(2)(y)
    return keras.Model(x, layers.Dense(1)(y))


TEXTS = ["a b", "c"]


def text():
    """With a vocabulary, of which the file has no variable, and stacked cells, whose weights only the optimizer has in it."""
    layers = keras.layers
    vectorize = layers.TextVectorization(output_sequence_length=3)
    vectorize.adapt(["a b c"])
    x = keras.Input((), dtype="string")
    y = layers.Dropout(0.1, seed=1)(layers.Embedding(5, 3)(vectorize(x)))
    y = layers.RNN([layers.LSTMCell(2), layers.GRUCell(2)], return_sequences=True)(y)
    y = layers.RNN([layers.GRUCell(2), layers.GRUCell(2)])(y)
    return keras.Model(x, layers.Dense(1)(y))


def write_text(result):
    for name, loss in (("text", "mse"), ("text-without-optimizer", None)):
        keras.utils.set_random_seed(5)
        model = text()
        if loss is not None:
            model.compile(optimizer=keras.optimizers.Adam(0.05), loss=loss)
            for _ in range(3):
                model.train_on_batch(tf.constant(TEXTS), np.array([[0.5], [-0.25]], np.float32))
        tf.train.Checkpoint(model=model).write(str(OUT / name))
        result["models"][name] = {"before": model.predict(tf.constant(TEXTS), verbose=0).ravel().tolist(), "after": []}
        kernel = model.layers[-1].kernel
        result["models"][name]["kernel"] = kernel.numpy().ravel().tolist()


if __name__ == "__main__":
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    result = {"x": X.ravel().tolist(), "models": {}}
    optimizers = keras.optimizers
    for name, make, optimizer in (
        ("sgd", tiny, optimizers.SGD(0.05, momentum=0.9, gradient_accumulation_steps=2)),
        ("adagrad", tiny, optimizers.Adagrad(0.05)),
        ("adadelta", tiny, optimizers.Adadelta(0.5)),
        ("adamax", tiny, optimizers.Adamax(0.05)),
        ("ftrl", tiny, optimizers.Ftrl(0.05)),
        ("lion", tiny, optimizers.Lion(0.02)),
        ("nadam", tiny, optimizers.Nadam(0.05, use_ema=True)),
        ("adafactor", sequential, optimizers.Adafactor(0.05)),
        ("muon", sequential, optimizers.Muon(0.02)),
        ("sequential", sequential, optimizers.Adam(0.05)),
        ("functional", functional, optimizers.Adam(0.05)),
        ("rmsprop", sequential, optimizers.RMSprop(0.01, momentum=0.5, centered=True)),
    ):
        keras.utils.set_random_seed(5)
        model = make()
        model.compile(optimizer=optimizer, loss="mse")
        y = np.array([[0.5], [-0.25]], np.float32)
        for _ in range(3):
            model.train_on_batch(X, y)
        tf.train.Checkpoint(model=model).write(str(OUT / name))
        before = model.predict(X, verbose=0).ravel().tolist()
        model.train_on_batch(X, y)
        after = model.predict(X, verbose=0).ravel().tolist()
        result["models"][name] = {"before": before, "after": after}
    write_text(result)
    with tempfile.TemporaryDirectory() as folder:
        model.export(folder, verbose=False)
        shutil.copytree(pathlib.Path(folder) / "variables", OUT / "exported" / "variables")
        (OUT / "exported" / "saved_model.pb").write_bytes(b"")
    result["versions"] = {"tensorflow": tf.__version__, "keras": keras.__version__, "numpy": np.__version__}
    (OUT / "models.json").write_text(json.dumps(result, indent=1) + "\n")
