"""Makes packages/layers/golden/rnn.json with Keras on TensorFlow: outputs, states and gradients of recurrent layers.

Run: KERAS_BACKEND=tensorflow python tools/golden/rnn.py
"""

import json
import os
import pathlib
import re

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from layer_values import camel, numbers, tensor

SEED = 50
OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden"

# Class, options, cells or a layer inside ("inner"), and whether initial states are given.
CASES = [
    ("LSTM", {"units": 3}),
    ("LSTM", {"units": 2, "return_sequences": True, "go_backwards": True}),
    ("LSTM", {"units": 3, "return_sequences": True, "return_state": True}, {"states": [3, 3]}),
    ("LSTM", {"units": 2, "use_bias": False, "return_state": True}),
    ("LSTM", {"units": 2, "activation": "relu", "recurrent_activation": "hard_sigmoid"}),
    ("LSTM", {"units": 2, "stateful": True}, {"calls": 2}),
    ("GRU", {"units": 3}),
    ("GRU", {"units": 2, "return_sequences": True, "go_backwards": True}),
    ("GRU", {"units": 3, "return_sequences": True, "return_state": True}, {"states": [3]}),
    ("GRU", {"units": 2, "use_bias": False}),
    ("GRU", {"units": 3, "reset_after": False, "return_sequences": True}),
    ("GRU", {"units": 2, "activation": "softsign"}),
    ("GRU", {"units": 2, "stateful": True}, {"calls": 2}),
    ("SimpleRNN", {"units": 3}),
    ("SimpleRNN", {"units": 2, "activation": "sigmoid", "return_sequences": True, "return_state": True}, {"states": [2]}),
    ("SimpleRNN", {"units": 2, "use_bias": False, "go_backwards": True}),
    (
        "RNN",
        {"return_sequences": True, "return_state": True},
        {"cells": [("LSTMCell", {"units": 2}), ("GRUCell", {"units": 3}), ("SimpleRNNCell", {"units": 2})]},
    ),
    ("RNN", {}, {"cells": [("GRUCell", {"units": 2, "reset_after": False})]}),
    ("Bidirectional", {}, {"inner": ("LSTM", {"units": 2})}),
    ("Bidirectional", {"merge_mode": "ave"}, {"inner": ("GRU", {"units": 3, "return_sequences": True})}),
    ("Bidirectional", {"merge_mode": "mul"}, {"inner": ("SimpleRNN", {"units": 2, "return_sequences": True})}),
    (
        "Bidirectional",
        {"merge_mode": "sum"},
        {"inner": ("LSTM", {"units": 2, "return_sequences": True, "return_state": True}), "states": [2, 2, 2, 2]},
    ),
    ("Bidirectional", {"merge_mode": None}, {"inner": ("GRU", {"units": 2})}),
    ("TimeDistributed", {}, {"inner": ("Dense", {"units": 3, "activation": "tanh"})}),
    # With a mask of the steps: the second example ends early, the third begins late.
    ("LSTM", {"units": 2, "return_sequences": True, "zero_output_for_mask": True}, {"masked": True}),
    ("GRU", {"units": 2, "return_sequences": True, "return_state": True}, {"masked": True}),
    ("SimpleRNN", {"units": 2, "zero_output_for_mask": True}, {"masked": True}),
    ("Bidirectional", {}, {"inner": ("LSTM", {"units": 2, "return_sequences": True}), "masked": True}),
    ("Bidirectional", {"merge_mode": "sum"}, {"inner": ("GRU", {"units": 2, "return_sequences": True}), "masked": True}),
    (
        "Bidirectional",
        {"merge_mode": None},
        {"inner": ("SimpleRNN", {"units": 2, "return_sequences": True, "return_state": True}), "masked": True},
    ),
    ("Bidirectional", {}, {"inner": ("LSTM", {"units": 2}), "masked": True}),
    # Of steps that are no vectors: their shape, and that of the states.
    ("ConvLSTM1D", {"filters": 2, "kernel_size": 2}, {"step": (5, 3)}),
    ("ConvLSTM2D", {"filters": 2, "kernel_size": (2, 3), "strides": 2, "return_sequences": True}, {"step": (4, 5, 2)}),
    (
        "ConvLSTM2D",
        {"filters": 3, "kernel_size": 3, "padding": "same", "return_state": True, "use_bias": False, "go_backwards": True},
        {"step": (3, 4, 2), "states": [(3, 4, 3), (3, 4, 3)]},
    ),
    ("ConvLSTM2D", {"filters": 2, "kernel_size": 2, "dilation_rate": 2, "activation": "relu"}, {"step": (4, 3, 1), "calls": 1}),
    ("ConvLSTM2D", {"filters": 3, "kernel_size": 2, "data_format": "channels_first", "stateful": True}, {"step": (2, 4, 5), "calls": 2}),
    ("ConvLSTM2D", {"filters": 2, "kernel_size": 2, "return_sequences": True}, {"step": (3, 3, 2), "masked": True}),
    ("ConvLSTM3D", {"filters": 2, "kernel_size": 2, "recurrent_activation": "hard_sigmoid"}, {"step": (2, 3, 2, 2)}),
    ("Bidirectional", {}, {"inner": ("ConvLSTM1D", {"filters": 2, "kernel_size": 2, "return_sequences": True}), "step": (4, 2)}),
]
MASK = [[True, True, True], [True, False, False], [False, True, True]]

rng = np.random.default_rng(SEED)


def config(options):
    return {camel(key): value for key, value in options.items()}


def flat(value):
    return [t for item in value for t in flat(item)] if isinstance(value, (list, tuple)) else [value]


def make(name, options, extra):
    layers = keras.layers
    if "cells" in extra:
        cells = [getattr(layers, kind)(**own) for kind, own in extra["cells"]]
        return layers.RNN(cells if len(cells) > 1 else cells[0], **options)
    if "inner" in extra:
        kind, own = extra["inner"]
        return getattr(layers, name)(getattr(layers, kind)(**own), **options)
    return getattr(layers, name)(**options)


def run(name, options, extra=None):
    extra = extra or {}
    # Names count from the start again, as they do within one layer of ours.
    keras.utils.clear_session()
    masked = extra.get("masked", False)
    shape = (len(MASK) if masked else 2, 3, *extra.get("step", (2,)))
    layer = make(name, options, extra)
    layer.build(shape)
    for w in layer.weights:
        w.assign(numbers(rng, w.shape, 0.5))
    paths = {w.path: re.sub("^((for|back)ward_[a-z_]*)_[0-9]+/", "\\1/", w.path.split("/", 1)[1]) for w in layer.weights}
    trainable = layer.trainable_weights
    case = {"layer": name, "config": config(options)}
    if "cells" in extra:
        case["cells"] = [{"layer": kind, "config": config(own)} for kind, own in extra["cells"]]
    if "inner" in extra:
        case["inner"] = {"layer": extra["inner"][0], "config": config(extra["inner"][1])}
    case["weights"] = {paths[w.path]: tensor(w) for w in trainable}
    if masked:
        case["mask"] = MASK
    case["calls"] = []
    for _ in range(extra.get("calls", 1)):
        x = tf.constant(numbers(rng, shape))
        states = [tf.constant(numbers(rng, (shape[0], *np.atleast_1d(n)), 0.5)) for n in extra.get("states", [])]
        with tf.GradientTape() as tape:
            tape.watch([x, *states])
            given = {"initial_state": states} if states else {}
            if masked:
                given["mask"] = tf.constant(MASK)
            outputs = flat(layer(x, **given))
            upstream = [tf.constant(numbers(rng, y.shape)) for y in outputs]
            total = sum(tf.reduce_sum(y * dy) for y, dy in zip(outputs, upstream))
        grads = tape.gradient(total, [x, *states, *[w.value for w in trainable]])
        case["calls"].append({
            "x": tensor(x),
            "states": [tensor(s) for s in states],
            "outputs": [tensor(y) for y in outputs],
            "upstream": [tensor(dy) for dy in upstream],
            "inputGradients": [tensor(g) for g in grads[: 1 + len(states)]],
            "gradients": {paths[w.path]: tensor(g) for w, g in zip(trainable, grads[1 + len(states) :])},
        })
    return case


OUT.mkdir(exist_ok=True)
made = {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__, "seed": SEED}
lines = ",\n".join(json.dumps(run(*case), separators=(",", ":")) for case in CASES)
(OUT / "rnn.json").write_text(f'{{"made":{json.dumps(made)},"cases":[\n{lines}\n]}}\n')
