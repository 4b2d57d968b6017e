"""Makes packages/layers/golden/members.json with Keras on TensorFlow: summaries, calls without side effects, several steps in one go.

Run: KERAS_BACKEND=tensorflow python tools/golden/members.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = 53
OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden/members.json"
rng = np.random.default_rng(SEED)


def values(x):
    x = np.asarray(x)
    return {"shape": list(x.shape), "values": [float(f"{v:.9g}") for v in x.ravel().tolist()]}


def sequence():
    return keras.Sequential(
        [
            keras.Input((3,), name="x"),
            layers.Dense(4, activation="tanh", kernel_regularizer=keras.regularizers.L2(0.1), name="first"),
            layers.BatchNormalization(name="norm"),
            layers.Dense(1, name="last"),
        ],
        name="sequence",
    )


def graph():
    inputs = [keras.Input((3,), name="left"), keras.Input((4,), name="right")]
    shared = layers.Dense(4, name="shared")
    inner = keras.Sequential([keras.Input((4,)), layers.Dense(5, name="hidden"), layers.Dropout(0.5, name="drop")], name="inner")
    a = shared(layers.Dense(4, name="a_layer_of_a_rather_long_name", trainable=False)(inputs[0]))
    b = shared(inputs[1])
    joined = layers.Concatenate(name="joined")([a, b, inner(b)])
    split = layers.LSTM(2, return_state=True, name="lstm")(layers.Reshape((13, 1), name="reshape")(joined))
    return keras.Model(inputs, split[0], name="graph")


SUMMARIES = [
    ("sequence", {}),
    ("sequence", {"line_length": 60, "show_trainable": True}),
    ("sequence", {"line_length": 100, "positions": [0.5, 0.7, 1.0], "layer_range": ["norm", "la"]}),
    ("trained", {"line_length": 88}),
    ("graph", {}),
    ("graph", {"line_length": 108, "expand_nested": True, "show_trainable": True}),
    ("graph", {"line_length": 90, "layer_range": ["shared", "joined"]}),
]


def summary(kind, options):
    model = graph() if kind == "graph" else sequence()
    if kind == "trained":
        model.compile("adam", "mse")
        model.fit(np.ones((2, 3)), np.ones((2, 1)), verbose=0)
    lines = []
    # The width of the terminal.
    os.environ["COLUMNS"] = "200" if options else "80"
    model.summary(print_fn=lambda text, line_break=False: lines.extend(text.rstrip().split("\n")), **options)
    return {"model": kind, "options": options, "lines": [line.rstrip() for line in lines]}


def stateless():
    keras.utils.set_random_seed(SEED)
    model = sequence()
    model.compile("sgd", "mse")
    x, y = rng.normal(size=(5, 3)).astype("float32"), rng.normal(size=(5, 1)).astype("float32")
    trainable = [rng.normal(size=v.shape).astype("float32") for v in model.trainable_variables]
    others = [np.abs(rng.normal(size=v.shape)).astype("float32") for v in model.non_trainable_variables]
    given = [tf.constant(v) for v in trainable]
    with tf.GradientTape() as tape:
        tape.watch(given)
        outputs, after, losses = model.stateless_call(given, others, x, training=True, return_losses=True)
        target = tf.reduce_sum(outputs**2)
    gradients = tape.gradient(target, given)
    metric_values = [np.float32(3), np.float32(2)]
    # The mean of the loss only, which the loss does not change.
    loss, _ = model.stateless_compute_loss(given, others, metric_values[: len(model.metrics_variables)], x, y, outputs)
    return {
        "x": values(x), "y": values(y), "trainable": [values(v) for v in trainable], "others": [values(v) for v in others],
        "outputs": values(outputs), "after": [values(v) for v in after], "losses": [float(v) for v in losses],
        "gradients": [values(g) for g in gradients], "loss": float(loss),
    }


class Seen(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.calls = []

    def on_train_batch_begin(self, batch, logs=None):
        self.calls.append(["trainBegin", batch])

    def on_train_batch_end(self, batch, logs=None):
        self.calls.append(["trainEnd", batch, float(logs["loss"])])

    def on_test_batch_begin(self, batch, logs=None):
        self.calls.append(["testBegin", batch])

    def on_test_batch_end(self, batch, logs=None):
        self.calls.append(["testEnd", batch, float(logs["loss"])])

    def on_predict_batch_begin(self, batch, logs=None):
        self.calls.append(["predictBegin", batch])

    def on_predict_batch_end(self, batch, logs=None):
        self.calls.append(["predictEnd", batch])


def executions(size, epochs, steps, examples):
    keras.utils.set_random_seed(SEED)
    model = sequence()
    x, y = rng.normal(size=(examples, 3)).astype("float32"), rng.normal(size=(examples, 1)).astype("float32")
    before = [values(w) for w in model.get_weights()]
    model.compile(keras.optimizers.SGD(0.05), "mse", metrics=["mae"], steps_per_execution=size)
    seen = Seen()
    history = model.fit(
        x, y, batch_size=2, epochs=epochs, steps_per_epoch=steps, shuffle=False, verbose=0, callbacks=[seen],
        validation_data=(x[:5], y[:5]), validation_batch_size=2,
    ).history
    evaluated = model.evaluate(x, y, batch_size=3, verbose=0, return_dict=True, callbacks=[seen])
    predicted = model.predict(x, batch_size=4, verbose=0, callbacks=[seen])
    return {
        "size": size, "epochs": epochs, "steps": steps, "x": values(x), "y": values(y), "before": before,
        "history": {k: [float(v) for v in vs] for k, vs in history.items()},
        "evaluated": {k: float(v) for k, v in evaluated.items()}, "predicted": values(predicted),
        "after": [values(w) for w in model.get_weights()], "calls": seen.calls,
    }


def names(tree):
    return {name: names(inner) if isinstance(inner, dict) else list(inner.shape) for name, inner in tree.items()}


def states():
    model = sequence()
    model.compile(keras.optimizers.Adam(), "mse", metrics=["mae"])
    model.fit(np.ones((2, 3)), np.ones((2, 1)), verbose=0)
    return names(model.get_state_tree())


out = {
    "made": {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__, "seed": SEED},
    "summaries": [summary(*case) for case in SUMMARIES],
    "stateless": stateless(),
    "executions": [executions(*case) for case in [(1, 2, None, 9), (2, 2, None, 9), (3, 2, None, 12), (2, 3, 3, 24), (50, 2, None, 9)]],
    "states": states(),
}
OUT.write_text(json.dumps(out, separators=(",", ":")) + "\n")
