"""Makes packages/core/golden/dtypes.json with TensorFlow: arithmetic, comparisons, bits, casts and reductions of integers of all widths.

Values are text, which holds 64 bits. What TensorFlow has no kernel for is left out.

Run: python tools/golden/dtypes.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

SEED = 43
OUT = pathlib.Path(__file__).parents[2] / "packages/core/golden/dtypes.json"
rng = np.random.default_rng(SEED)

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
OTHERS = ["float32", "float64", "bool"]
UNARY = {"neg": tf.negative, "abs": tf.abs, "sign": tf.sign, "square": tf.square, "bitwiseNot": tf.bitwise.invert}
BINARY = {
    "add": tf.add,
    "sub": tf.subtract,
    "mul": tf.multiply,
    "floorDiv": tf.math.floordiv,
    "mod": tf.math.floormod,
    "maximum": tf.maximum,
    "minimum": tf.minimum,
    "equal": tf.equal,
    "notEqual": tf.not_equal,
    "less": tf.less,
    "lessEqual": tf.less_equal,
    "greater": tf.greater,
    "greaterEqual": tf.greater_equal,
    "bitwiseAnd": tf.bitwise.bitwise_and,
    "bitwiseOr": tf.bitwise.bitwise_or,
    "bitwiseXor": tf.bitwise.bitwise_xor,
}
REDUCTIONS = {
    "sum": tf.reduce_sum,
    "prod": tf.reduce_prod,
    "max": tf.reduce_max,
    "min": tf.reduce_min,
    "mean": tf.reduce_mean,
    "argMax": tf.argmax,
    "argMin": tf.argmin,
    "cumsum": tf.cumsum,
    "cumprod": tf.math.cumprod,
}


def values(dtype, n=2):
    """Both ends and what lies between."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype.startswith("float"):
        return np.array([0, 0.5, 1.75, 2.5, 99.9, 100], dtype)
    info = np.iinfo(dtype)
    some = rng.integers(info.min, info.max, n, dtype, endpoint=True)
    return np.concatenate([np.array([info.min, info.max, 0, 1, 7], dtype), some])


def text(x):
    x = np.asarray(x)
    return {"dtype": x.dtype.name, "shape": list(x.shape), "values": [str(v.item()) for v in x.ravel()]}


def attempt(cases, name, inputs, run, **more):
    try:
        result = run(*[tf.constant(x) for x in inputs])
    except (tf.errors.NotFoundError, tf.errors.UnimplementedError, tf.errors.InvalidArgumentError, TypeError) as error:
        print("left out:", name, inputs[0].dtype, more, str(error)[:60])
        return
    cases.append({"op": name, "inputs": [text(x) for x in inputs], **more, "result": text(result)})


cases = []
for dtype in INTEGERS:
    a, b = values(dtype), values(dtype)
    divisor = np.where(b == 0, np.array(3, dtype), b)
    for name, run in UNARY.items():
        attempt(cases, name, [a], run)
    for name, run in BINARY.items():
        attempt(cases, name, [a, divisor if name in ("floorDiv", "mod") else rng.permutation(b)], run)
    for name, run in REDUCTIONS.items():
        x = divisor if name in ("prod", "cumprod") else a
        attempt(cases, name, [x], lambda x: run(x, axis=0), axis=0)
        attempt(cases, name, [np.stack([x, x[::-1], x])], lambda x: run(x, axis=1), axis=1)
    for to in INTEGERS + OTHERS:
        attempt(cases, "cast", [a], lambda x: tf.cast(x, to), dtype=to)
        # Of int64 it makes one number of everything where the limit that it computes overflows.
        overflows = dtype == "int64" and to in ("uint64", "float32", "float64")
        if to != "bool" and to != dtype and not overflows:
            attempt(cases, "saturateCast", [a], lambda x: tf.saturate_cast(x, to), dtype=to)
        if to != "bool":
            from_bytes, to_bytes = np.dtype(dtype).itemsize, np.dtype(to).itemsize
            x = a if from_bytes >= to_bytes else np.resize(a, (3, to_bytes // from_bytes))
            # Some bits of floats are NaN, which text does not hold.
            if not to.startswith("float"):
                attempt(cases, "bitcast", [x], lambda x: tf.bitcast(x, to), dtype=to)
for of in OTHERS:
    for to in INTEGERS:
        attempt(cases, "cast", [values(of)], lambda x: tf.cast(x, to), dtype=to)

head = {"tensorflow": tf.__version__, "seed": SEED}
lines = ",\n".join(json.dumps(case) for case in cases)
OUT.write_text(json.dumps(head)[:-1] + ', "cases": [\n' + lines + "\n]}\n")
