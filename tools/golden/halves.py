"""Makes packages/core/golden/halves.json with TensorFlow: float16 and bfloat16.

Elements are written as their bits, which hold all values. Where a result is that of a computation in float32, rounded once, it is held to
the bit. What TensorFlow computes in 16 bits on the way ("near") is held to one step of the dtype; where that takes TensorFlow itself
further from what it computes in float32 (softplus, elu and others lose digits), the result is that of its float32, rounded.

Run: python tools/golden/halves.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

SEED = 44
OUT = pathlib.Path(__file__).parents[2] / "packages/core/golden/halves.json"
rng = np.random.default_rng(SEED)

HALVES = {"float16": tf.float16, "bfloat16": tf.bfloat16}
UNARY = {
    "neg": tf.negative,
    "abs": tf.abs,
    "square": tf.square,
    "sqrt": tf.sqrt,
    "floor": tf.floor,
    "ceil": tf.math.ceil,
    "round": tf.round,
    "isNan": tf.math.is_nan,
    "isInf": tf.math.is_inf,
    "isFinite": tf.math.is_finite,
}
NEAR = {
    "exp": tf.exp,
    "log": tf.math.log,
    "sin": tf.sin,
    "cos": tf.cos,
    "tanh": tf.tanh,
    "sigmoid": tf.sigmoid,
    "softplus": tf.nn.softplus,
    "rsqrt": tf.math.rsqrt,
    "erf": tf.math.erf,
    "expm1": tf.math.expm1,
    "log1p": tf.math.log1p,
    "elu": tf.nn.elu,
}
BINARY = {
    "add": tf.add,
    "sub": tf.subtract,
    "mul": tf.multiply,
    "div": tf.divide,
    "maximum": tf.maximum,
    "minimum": tf.minimum,
    "equal": tf.equal,
    "notEqual": tf.not_equal,
    "less": tf.less,
    "lessEqual": tf.less_equal,
    "greater": tf.greater,
    "greaterEqual": tf.greater_equal,
}
REDUCTIONS = {
    "sum": tf.raw_ops.Sum,
    "mean": tf.raw_ops.Mean,
    "prod": tf.raw_ops.Prod,
    "max": tf.raw_ops.Max,
    "min": tf.raw_ops.Min,
}


def text(x):
    """A tensor; floats of 16 bits as their bits, all else as text."""
    dtype = x.dtype.name
    if x.dtype in HALVES.values():
        values = tf.bitcast(x, tf.uint16).numpy().ravel().tolist()
    else:
        values = [str(v.item()) for v in x.numpy().ravel()]
    return {"dtype": dtype, "shape": x.shape.as_list(), "values": values}


def places(x):
    """Integers in the order of the values, so that neighbours differ by 1."""
    bits = tf.bitcast(x, tf.uint16).numpy().astype(int)
    return np.where(bits >= 0x8000, 0x8000 - bits, bits)


def closest(run, *inputs):
    """What TensorFlow computes, if that is within a step of what it computes in float32; else that."""
    half = run(*inputs)
    wide = tf.cast(run(*[tf.cast(x, tf.float32) for x in inputs]), half.dtype)
    return half if np.all(np.abs(places(half) - places(wide)) <= 1) else wide


cases = []


def case(op, inputs, result, **more):
    cases.append({"op": op, "inputs": [text(x) for x in inputs], **more, "result": text(result)})


for dtype, of in HALVES.items():
    ends = [0.0, -0.0, 1.0, -1.5, 0.1, 65504.0, 3e38, 6e-8 if dtype == "float16" else 1e-9, 0.3, np.inf, -np.inf, np.nan]
    a = tf.cast(np.array([*ends, *rng.normal(0, 3, 12)], np.float32), of)
    b = tf.cast(np.array([*ends[::-1], *rng.normal(0, 3, 12)], np.float32), of)
    mild = tf.cast(rng.normal(0, 2, 24).astype(np.float32), of)
    for name, run in UNARY.items():
        case(name, [a], run(a))
    for name, run in NEAR.items():
        x = tf.abs(mild) if name in ("log", "rsqrt", "log1p") else mild
        case(name, [x], closest(run, x), near=True)
    for name, run in BINARY.items():
        case(name, [a, b], run(a, b))
    for other in ["float32", "float64", "int8", "int32", "int64", "uint8", "uint16", "bool", *HALVES]:
        to = tf.dtypes.as_dtype(other)
        # What integers cannot hold TensorFlow leaves to the processor.
        x = tf.cast(tf.abs(mild), of) if to.is_integer else a
        case("cast", [x], tf.cast(x, to), dtype=other)
        back = np.array([0, 1, 5, 100, 127, 77], to.as_numpy_dtype) if not to.is_floating else None
        if to in (tf.float32, tf.float64):
            back = np.array([0.1, 65519, 65520, 70000, 1 / 3, 2.0**-25, 1.00048828125, 1 + 2.0**-8, np.inf, np.nan], other)
        if back is not None:
            case("cast", [tf.constant(back)], tf.cast(tf.constant(back), of), dtype=dtype)
    for wide in (np.array([1e6, -1e6, 3.4e38, 1.5], np.float32), np.array([1e300, -7.0]), np.array([100000, -100000, 7], np.int32)):
        case("saturateCast", [tf.constant(wide)], tf.saturate_cast(tf.constant(wide), of), dtype=dtype)
    large = tf.cast(np.array([300.0, -300.0, 2.5, -2.5], np.float32), of)
    case("saturateCast", [large], tf.saturate_cast(large, tf.int8), dtype="int8")
    grid = tf.cast(rng.normal(0, 1, (4, 6)).astype(np.float32), of)
    for name, run in REDUCTIONS.items():
        for axis in (0, 1):
            near = name in ("sum", "mean", "prod")
            result = closest(lambda x: run(input=x, axis=axis), grid) if near else run(input=grid, axis=axis)
            case(name, [grid], result, axis=axis, near=near)
    case("argMax", [grid], tf.argmax(grid, 1), axis=1)
    case("cumsum", [tf.ones([3, 5], of)], tf.cumsum(tf.ones([3, 5], of), 1), axis=1)
    case("sort", [grid], tf.sort(grid, 1), axis=1)
    case("softmax", [grid], closest(tf.nn.softmax, grid), near=True)
    case("matmul", [grid, tf.transpose(grid)], closest(tf.matmul, grid, tf.transpose(grid)), near=True)
    case("transpose", [grid], tf.transpose(grid))
    case("reverse", [grid], tf.reverse(grid, [0]), axis=0)

head = {"tensorflow": tf.__version__, "seed": SEED}
lines = ",\n".join(json.dumps(c) for c in cases)
OUT.write_text(json.dumps(head)[:-1] + ', "cases": [\n' + lines + "\n]}\n")
