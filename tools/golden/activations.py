"""Makes packages/layers/golden/activations.json with Keras on TensorFlow: values and gradients of activations.

Run: KERAS_BACKEND=tensorflow python tools/golden/activations.py
"""

import inspect
import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from layer_values import camel

OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden"
X = [[-4.0, -2.5, -1.25, -0.75, -0.25, 0.125], [0.25, 0.625, 1.25, 2.5, 3.5, 7.0]]
OPTIONS = {
    "relu": [{"negative_slope": 0.25}, {"max_value": 3.0}, {"negative_slope": 0.25, "max_value": 3.0, "threshold": 1.0}],
    "leaky_relu": [{"negative_slope": 0.5}],
    "elu": [{"alpha": 0.5}],
    "celu": [{"alpha": 0.5}],
    "gelu": [{"approximate": True}],
    "glu": [{"axis": 0}],
    "hard_shrink": [{"threshold": 1.0}],
    "soft_shrink": [{"threshold": 1.0}],
    "threshold": [{"threshold": 1.0, "default_value": -2.0}],
    "squareplus": [{"b": 1.0}],
    "softmax": [{"axis": 0}],
    "log_softmax": [{"axis": 0}],
}
# Its values do not add up to 1 where more than one is above 0.
LEFT_OUT = {"sparsemax"}


def case(name, options):
    x = tf.constant(X, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = keras.activations.get(name)(x, **options)
        weights = tf.reshape(tf.range(1, tf.size(y) + 1), y.shape)
        loss = tf.reduce_sum(y * tf.cast(weights, y.dtype))
    return {
        "name": camel(name),
        "options": {camel(k): v for k, v in options.items()},
        "y": y.numpy().tolist(),
        "dx": tape.gradient(loss, x).numpy().tolist(),
    }


def main():
    names = sorted(n for n, f in vars(keras.activations).items() if inspect.isfunction(f) and n not in ("get", "serialize", "deserialize"))
    cases = []
    for name in names:
        if name in LEFT_OUT:
            continue
        if name != "threshold":
            cases.append(case(name, {}))
        cases += [case(name, options) for options in OPTIONS.get(name, [])]
    made = {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__}
    data = {"made": made, "names": [camel(n) for n in names], "x": X, "cases": cases}
    (OUT / "activations.json").write_text(json.dumps(data) + "\n")


main()
