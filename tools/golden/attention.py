"""Makes packages/layers/golden/attention.json with Keras on TensorFlow: outputs and gradients of attention, RMSNormalization and ReversibleEmbedding.

Run: KERAS_BACKEND=tensorflow python tools/golden/attention.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from layer_values import camel, numbers, tensor

SEED = 31
OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden"
HEADS = {"num_heads": 2, "key_dim": 3}
GROUPS = {"head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 2}

# Class, options, shapes of inputs (query, value, key), options of the call; a mask is given by its shape.
CASES = [
    ("MultiHeadAttention", HEADS, [(2, 3, 4), (2, 3, 4)], {}),
    ("MultiHeadAttention", HEADS, [(1, 4, 3), (1, 4, 3)], {"use_causal_mask": True}),
    ("MultiHeadAttention", {**HEADS, "value_dim": 2, "use_bias": False}, [(2, 2, 4), (2, 5, 3), (2, 5, 2)], {}),
    ("MultiHeadAttention", {**HEADS, "output_shape": 5}, [(2, 3, 4), (2, 2, 4)], {"attention_mask": (2, 3, 2)}),
    ("MultiHeadAttention", {**HEADS, "output_shape": (2, 3)}, [(2, 3, 4), (2, 3, 4)], {"attention_mask": (3, 3), "use_causal_mask": True}),
    ("MultiHeadAttention", HEADS, [(1, 3, 4), (1, 5, 4)], {"attention_mask": (1, 2, 3, 5), "return_attention_scores": True}),
    ("MultiHeadAttention", HEADS, [(1, 3, 2), (1, 3, 2)], {"use_causal_mask": True, "return_attention_scores": True}),
    ("MultiHeadAttention", {**HEADS, "dropout": 0.5}, [(1, 3, 2), (1, 2, 2)], {"attention_mask": (1, 1, 2)}),
    ("RMSNormalization", {}, [(3, 5)], {}),
    ("RMSNormalization", {"axis": (1, 2), "epsilon": 0.01}, [(2, 3, 4)], {}),
    ("GroupQueryAttention", GROUPS, [(2, 3, 4), (2, 3, 4)], {}),
    ("GroupQueryAttention", {**GROUPS, "num_key_value_heads": 1, "use_bias": False}, [(2, 2, 4), (2, 5, 3), (2, 5, 2)], {"attention_mask": (2, 2, 5)}),
    ("GroupQueryAttention", {**GROUPS, "use_gate": True}, [(1, 4, 3), (1, 4, 3)], {"use_causal_mask": True}),
    ("GroupQueryAttention", {**GROUPS, "sliding_window": 2}, [(1, 4, 3), (1, 4, 3)], {"return_attention_scores": True}),
    ("GroupQueryAttention", {**GROUPS, "sliding_window": 2, "dropout": 0.5}, [(1, 4, 3), (1, 4, 3)], {"use_causal_mask": True}),
    ("ReversibleEmbedding", {"input_dim": 4, "output_dim": 2, "tie_weights": False, "logit_soft_cap": 0.5}, [(3, 2)], {"reverse": True}),
    ("ReversibleEmbedding", {"input_dim": 5, "output_dim": 3}, [(2, 4, 3)], {"reverse": True}),
    ("MultiHeadAttention", HEADS, [(2, 2, 3, 4), (2, 2, 3, 4)], {"return_attention_scores": True}),
    ("MultiHeadAttention", {**HEADS, "attention_axes": 2}, [(2, 2, 3, 4), (2, 2, 5, 4)], {"attention_mask": (2, 2, 3, 5)}),
    ("MultiHeadAttention", {**HEADS, "attention_axes": (1,), "output_shape": (2, 3)}, [(2, 2, 3, 4), (2, 2, 3, 3)], {"return_attention_scores": True}),
    ("MultiHeadAttention", {**HEADS, "attention_axes": (1, -2), "use_gate": True}, [(1, 2, 2, 3, 2), (1, 2, 2, 2, 2)], {"return_attention_scores": True}),
    ("MultiHeadAttention", {**HEADS, "attention_axes": (2, 3)}, [(1, 2, 2, 3, 2), (1, 2, 2, 2, 2)], {"attention_mask": (1, 2, 2, 3, 2, 2)}),
]

rng = np.random.default_rng(SEED)


def mask_of(shape):
    """Every query sees the first key, so that none sees nothing."""
    mask = rng.random(shape) < 0.6
    mask[..., 0] = True
    return mask


def local(weight):
    """Its name below the layer: query/kernel."""
    return weight.path.split("/", 1)[1]


def run(name, options, shapes, call):
    layer = getattr(keras.layers, name)(**options)
    layer.build(*shapes)
    for w in layer.weights:
        w.assign(numbers(rng, w.shape, 0.5))
    inputs = [tf.constant(numbers(rng, s)) for s in shapes]
    given = {key: mask_of(v) if key == "attention_mask" else v for key, v in call.items()}
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = layer(*inputs, **given)
        outputs = list(y) if isinstance(y, (list, tuple)) else [y]
        upstream = [tf.constant(numbers(rng, o.shape)) for o in outputs]
        total = sum(tf.reduce_sum(o * d) for o, d in zip(outputs, upstream))
    # Of weights without one, zeros.
    grads = tape.gradient(total, inputs + [w.value for w in layer.trainable_weights], unconnected_gradients="zero")
    return {
        "layer": name,
        "config": {camel(key): value for key, value in options.items()},
        "call": {camel(key): tensor(v.astype("float32")) if key == "attention_mask" else v for key, v in given.items()},
        "weights": {local(w): tensor(w) for w in layer.weights},
        "inputs": [tensor(x) for x in inputs],
        "outputs": [tensor(o) for o in outputs],
        "upstream": [tensor(d) for d in upstream],
        "inputGradients": [tensor(g) for g in grads[: len(inputs)]],
        "gradients": {local(w): tensor(g) for w, g in zip(layer.trainable_weights, grads[len(inputs) :])},
    }


OUT.mkdir(exist_ok=True)
made = {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__, "seed": SEED}
lines = ",\n".join(json.dumps(run(*case), separators=(",", ":")) for case in CASES)
(OUT / "attention.json").write_text(f'{{"made":{json.dumps(made)},"cases":[\n{lines}\n]}}\n')
