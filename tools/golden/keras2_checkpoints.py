"""Checkpoints of models by Keras 2 with its newer optimizers, for packages/layers: python tools/golden/keras2_checkpoints.py"""

import json
import os
import pathlib
import shutil

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf
import tf_keras as keras

OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden/keras2"

X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 4, 3)
Y = np.array([[0.5], [-0.25]], np.float32)


def sequential():
    layers = keras.layers
    return keras.Sequential([keras.Input((4, 3)), layers.Dense(3, activation="tanh"), layers.BatchNormalization(), layers.Flatten(), layers.Dense(1)])


def functional():
    layers = keras.layers
    x = keras.Input((4, 3))
    y = layers.MultiHeadAttention(2, 2)(x, x)
    y = layers.LayerNormalization()(layers.Add()([x, y]))
    y = layers.LSTM(2)(y)
    return keras.Model(x, layers.Dense(1)(y))


if __name__ == "__main__":
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    result = {"x": X.ravel().tolist(), "y": Y.ravel().tolist(), "models": {}}
    optimizers = keras.optimizers
    for name, make, optimizer, save_weights in (
        ("sequential", sequential, optimizers.Adam(0.05, amsgrad=True), True),
        ("functional", functional, optimizers.Adam(0.05), False),
        ("nadam", sequential, optimizers.Nadam(0.05, use_ema=True), False),
    ):
        keras.utils.set_random_seed(5)
        model = make()
        model.compile(optimizer=optimizer, loss="mse")
        for _ in range(3):
            model.train_on_batch(X, Y)
        if save_weights:
            model.save_weights(str(OUT / name))
        else:
            tf.train.Checkpoint(model=model, optimizer=model.optimizer).write(str(OUT / name))
        before = model.predict(X, verbose=0).ravel().tolist()
        loss = float(model.train_on_batch(X, Y))
        result["models"][name] = {"before": before, "loss": loss, "after": model.predict(X, verbose=0).ravel().tolist()}
    (OUT / "checkpoint").unlink()
    result["versions"] = {"tensorflow": tf.__version__, "tf_keras": keras.__version__, "numpy": np.__version__}
    (OUT / "models.json").write_text(json.dumps(result, indent=1) + "\n")
