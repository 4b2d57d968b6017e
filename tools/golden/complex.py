"""Makes packages/core/golden/complex.json with TensorFlow: values and gradients of complex64 and complex128.

Numbers are written as [real part, imaginary part]; floats as numbers, truth values as such. The gradients are those of the results
against `seed`, a tensor of the result's dtype.

Run: python tools/golden/complex.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

SEED = 71
OUT = pathlib.Path(__file__).parents[2] / "packages/core/golden/complex.json"
rng = np.random.default_rng(SEED)

UNARY = {
    "neg": tf.negative,
    "abs": tf.abs,
    "sign": tf.sign,
    "square": tf.square,
    "sqrt": tf.sqrt,
    "rsqrt": tf.math.rsqrt,
    "reciprocal": tf.math.reciprocal,
    "exp": tf.exp,
    "expm1": tf.math.expm1,
    "log": tf.math.log,
    "log1p": tf.math.log1p,
    "sin": tf.sin,
    "cos": tf.cos,
    "tan": tf.tan,
    "asin": tf.asin,
    "acos": tf.acos,
    "atan": tf.atan,
    "sinh": tf.sinh,
    "cosh": tf.cosh,
    "tanh": tf.tanh,
    "asinh": tf.asinh,
    "acosh": tf.acosh,
    "atanh": tf.atanh,
    "sigmoid": tf.sigmoid,
    "real": tf.math.real,
    "imag": tf.math.imag,
    "conj": tf.math.conj,
    "angle": tf.math.angle,
    "sum": tf.reduce_sum,
    "mean": tf.reduce_mean,
    "cumsum": tf.cumsum,
    "prod": tf.reduce_prod,
    "cumprod": tf.math.cumprod,
    "norm": tf.norm,
    "variance": tf.math.reduce_variance,
    "std": tf.math.reduce_std,
    "reverse": lambda x: tf.reverse(x, [0]),
    "identity": tf.identity,
}
BINARY = {
    "add": tf.add,
    "sub": tf.subtract,
    "mul": tf.multiply,
    "div": tf.divide,
    "pow": tf.pow,
    "divNoNan": tf.math.divide_no_nan,
    "mulNoNan": tf.math.multiply_no_nan,
    "xlogy": tf.math.xlogy,
    "xdivy": tf.math.xdivy,
    "squaredDifference": tf.math.squared_difference,
    "equal": tf.equal,
    "notEqual": tf.not_equal,
}
CASTS = ["float32", "float64", "int32", "uint8", "bool", "complex64", "complex128"]


def plain(x):
    """A tensor as JSON."""
    a = x.numpy()
    values = [[v.real, v.imag] for v in a.ravel().tolist()] if x.dtype.is_complex else a.ravel().tolist()
    return {"dtype": x.dtype.name, "shape": list(a.shape), "values": values}


def numbers(shape, dtype, low=-2, high=2):
    a = rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape)
    return tf.constant(a.astype(dtype))


def seed_for(y):
    if y.dtype.is_complex:
        return numbers(y.shape, y.dtype.name)
    return tf.constant(rng.uniform(-1, 1, y.shape).astype(y.dtype.name))


# TensorFlow's gradients of these lack the conjugation that those of its other ops have.
NOT_CONJUGATED = {"mulNoNan", "xlogy", "xdivy", "squaredDifference", "cumprod"}


def case(name, fn, inputs):
    if name in NOT_CONJUGATED:
        return values(name, fn, inputs)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = fn(*inputs)
    result = {"op": name, "inputs": [plain(x) for x in inputs], "value": plain(y)}
    if y.dtype.is_complex or y.dtype.is_floating:
        seed = seed_for(y)
        grads = tape.gradient(y, inputs, output_gradients=seed, unconnected_gradients="zero")
        result |= {"seed": plain(seed), "grads": [plain(g) for g in grads]}
    return result


def values(name, fn, inputs):
    return {"op": name, "inputs": [plain(x) for x in inputs], "value": plain(fn(*inputs))}


cases = []
for dtype in ["complex64", "complex128"]:
    for name, fn in UNARY.items():
        cases.append(case(name, fn, [numbers([7], dtype)]))
    for name, fn in BINARY.items():
        cases.append(case(name, fn, [numbers([2, 1, 3], dtype), numbers([2, 1], dtype)]))
    z = numbers([4], dtype)
    cases.append(values("equal", tf.equal, [z, tf.concat([z[:2], numbers([2], dtype)], 0)]))
    cases.append(case("matmul", tf.matmul, [numbers([2, 3, 4], dtype), numbers([4, 2], dtype)]))
    for to in CASTS:
        given = tf.concat([numbers([3], dtype, 0, 9), tf.constant([0j, 0.5j], dtype)], 0)
        cases.append(values(f"cast {to}", lambda x, to=to: tf.cast(x, to), [given]))
    # On the real axis, beyond where the real functions end, and far away.
    axis = tf.constant([-2.5 + 0j, 3 + 0j, 0.25 + 0j, -0.75 + 0j, 1 + 0j, 30 - 2j, -30 + 1j, 1e-4j], dtype)
    for name in ["sqrt", "exp", "expm1", "log", "log1p", "tanh", "sigmoid", "abs", "angle", "sin", "acosh", "asin"]:
        cases.append(values(name, UNARY[name], [axis]))

# On branch cuts, where the sign of 0 tells the sides apart, and beside them. The last numbers above are made before these.
CUTS = [complex(sign * size, part) for size in [2.0, 0.5] for sign in [1, -1] for part in [0.0, -0.0, 1e-3, -1e-3]]
for dtype in ["complex64", "complex128"]:
    cut = tf.constant([*CUTS, *(complex(z.imag, z.real) for z in CUTS)], dtype)
    for name in ["asin", "acos", "atan", "asinh", "acosh", "atanh", "log", "rsqrt"]:
        cases.append(case(name, UNARY[name], [cut]))
    base = tf.constant([0j, 0j, 0j, 0j, -0j, 0j, 0j, -2 + 0j, complex(-2, -0.0)], dtype)
    power = tf.constant([0.5 + 0j, 2 - 1j, -1 + 0j, -0.5 + 2j, -2 + 0j, 2j, 0j, 0.5 + 0j, 0.5 + 0j], dtype)
    cases.append(values("pow", tf.pow, [base, power]))
    far = [complex(re, im) for re in [0, 1, -2e20, 1e18, np.inf, -np.inf] for im in [0, 1, -3e19, np.inf, -np.inf]]
    for name in ["asin", "acos", "asinh", "abs"]:
        cases.append(values(name, UNARY[name], [tf.constant(far, dtype)]))
    cases.append(values("rsqrt", tf.math.rsqrt, [tf.constant([0j, complex(np.inf, 0), complex(-np.inf, 0), complex(0, np.inf)], dtype)]))

OUT.write_text(json.dumps({"tensorflow": tf.__version__, "seed": SEED, "cases": cases}, separators=(",", ":")) + "\n")
print(len(cases), "cases,", OUT.stat().st_size, "bytes")
