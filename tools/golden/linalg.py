"""Makes packages/eagre/golden/linalg.json with TensorFlow: singular value decompositions, norms of order 2, and their gradients.

Signs of singular vectors are not unique, so only what does not depend on them is kept.

Run: python tools/golden/linalg.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

SEED = 41
OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden"
rng = np.random.default_rng(SEED)

# Shape, full_matrices.
DECOMPOSITIONS = [
    ((5, 3), False),
    ((2, 4), False),
    ((3, 3), False),
    ((3, 3), True),
    ((4, 3), True),
    ((2, 3), True),
    ((2, 3, 2), False),
    ((2, 1, 2, 4), False),
]
# Shape, axes, keepdims.
NORMS = [
    ((4, 3), [-2, -1], False),
    ((2, 5), [0, 1], True),
    ((3, 3), [1, 0], False),
    ((2, 3, 4), [-2, -1], False),
    ((2, 3, 4), [0, 2], True),
    ((2, 3, 4), [2, 0], False),
]
# Singular values only: of rank 2, of rank 1, of rank 0; of very different columns.
VALUES = [
    [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]],
    [[1.0, 2.0], [2.0, 4.0], [-1.0, -2.0]],
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    [[1.0, 1e-3, 1e-6], [1.0, 2e-3, 3e-6], [1.0, 1e-3, 4e-6], [1.0, -1e-3, 2e-6]],
]


def normal(shape):
    """Few digits, for short files."""
    return np.round(rng.normal(size=shape), 3)


def plain(x):
    return np.asarray(x).tolist()


def decomposition(shape, full):
    x = tf.constant(normal(shape))
    with tf.GradientTape() as tape:
        tape.watch(x)
        s, u, v = tf.linalg.svd(x, full_matrices=full)
        k = s.shape[-1]
        weights = {name: normal(t.shape) for name, t in [("s", s), ("u", u), ("v", v), ("product", x)]}
        scale = np.arange(1.0, k + 1)
        product = tf.matmul(u[..., :k] * scale, v[..., :k], transpose_b=True)
        parts = [s, u * u, v * v, product]
        loss = tf.add_n([tf.reduce_sum(part * w) for part, w in zip(parts, weights.values())])
    return {
        "x": plain(x),
        "fullMatrices": full,
        "shapes": [list(t.shape) for t in (s, u, v)],
        "s": plain(s),
        "product": plain(product),
        "weights": {name: plain(w) for name, w in weights.items()},
        "gradient": plain(tape.gradient(loss, x)),
    }


def norm(x, axis, keepdims):
    x = tf.constant(x, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.norm(x, ord=2, axis=axis, keepdims=keepdims)
        weights = normal(y.shape)
        loss = tf.reduce_sum(y * weights)
    return {
        "x": plain(x),
        "axis": axis,
        "keepdims": keepdims,
        "norm": plain(y),
        "weights": plain(weights),
        "gradient": plain(tape.gradient(loss, x)),
    }


golden = {
    "versions": {"tensorflow": tf.__version__, "numpy": np.__version__},
    "seed": SEED,
    "decompositions": [decomposition(*case) for case in DECOMPOSITIONS],
    "norms": [norm(normal(shape), axis, keepdims) for shape, axis, keepdims in NORMS]
    + [norm(x, [-2, -1], False) for x in VALUES if np.any(x)],
    "values": [{"x": x, "s": plain(tf.linalg.svd(tf.constant(x, tf.float64), compute_uv=False))} for x in VALUES],
}
(OUT / "linalg.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")
