"""Makes packages/eagre/golden/numpy-rest.json with TensorFlow: the functions of tf.experimental.numpy.

Run: python tools/golden/numpy_rest.py
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf
from cases import Cases

SEED = 79
rng = np.random.default_rng(SEED)
c = Cases("numpy_rest.py", SEED)
tnp = tf.experimental.numpy
tnp.experimental_enable_numpy_behavior()


def floats(*shape, low=-2.0, high=2.0, dtype="float32"):
    return np.round(rng.uniform(low, high, size=shape), 2).astype(dtype)


def ints(*shape, low=0, high=5, dtype="int32"):
    return rng.integers(low, high, size=shape).astype(dtype)


NAMES = {"atleast_1d": "atleast1d", "atleast_2d": "atleast2d", "atleast_3d": "atleast3d", "ix_": "ix"}


def add(name, *args, **options):
    camel = NAMES.get(name) or "".join(p.capitalize() if i else p for i, p in enumerate(name.split("_")))
    c.add(f"experimental.numpy.{camel}", getattr(tnp, name), *args, **options)


X = floats(2, 3)
for name in """abs absolute angle arctan arcsinh around cbrt ceil conj copy cos cosh deg2rad exp exp2 expm1 fabs fix floor imag isfinite isinf isnan
    isneginf isposinf isreal iscomplex negative positive rad2deg ravel real round sign signbit sin sinc sinh square tan tanh flatten logical_not array asarray
    transpose zeros_like ones_like""".split():
    add(name, X, grad=name not in ("around", "round", "ceil", "floor", "fix", "sign", "zeros_like", "ones_like", "conj", "real", "angle", "imag", "cbrt", "sinc", "fabs", "abs", "absolute"))
# log2, log10 and logaddexp2 give float64 there, and arange int64: bare numbers are float32 and int32 here.
for name in "arccosh log sqrt reciprocal".split():
    add(name, floats(2, 3, low=1.1, high=3))
for name in "arcsin arccos arctanh log1p".split():
    add(name, floats(4, low=-0.8, high=0.8))
for name in """add subtract multiply divide true_divide maximum minimum arctan2 hypot logaddexp equal not_equal less less_equal greater greater_equal
    isclose heaviside array_equal""".split():
    add(name, floats(2, 3), floats(3), grad=name not in ("heaviside",))
for name in "floor_divide mod remainder divmod".split():
    add(name, floats(2, 3), floats(3, low=0.5, high=2), grad=False)
    add(name, ints(4, low=-9, high=9), ints(4, low=1, high=5))
for name in "gcd lcm bitwise_and bitwise_or bitwise_xor".split():
    add(name, ints(5, low=1, high=30), ints(5, low=1, high=30))
for name in "power float_power".split():
    add(name, floats(3, low=0.5, high=2), floats(3), grad=name == "power")
for name in "logical_and logical_or logical_xor".split():
    add(name, np.array([True, False, True]), np.array([True, True, False]))
for name in "sum prod mean std var max min amax amin".split():
    add(name, floats(2, 3))
    add(name, floats(2, 3, dtype="float64"), axis=1, keepdims=True)
    add(name, ints(2, 3, low=1), axis=0)
for name in "nansum nanmean nanprod".split():
    add(name, np.array([[1.0, np.nan, 2.0], [0.5, 3.0, np.nan]], "float32"), grad=False)
    add(name, np.array([[1.0, np.nan, 2.0], [0.5, 3.0, np.nan]], "float32"), axis=0, grad=False)
for name in "cumsum cumprod".split():
    add(name, floats(2, 3))
    add(name, ints(2, 3), axis=1)
for name in "all any".split():
    add(name, np.array([[True, False], [True, True]]), axis=1)
add("sum", ints(3), dtype="float32")
add("ptp", floats(2, 3))
add("average", floats(2, 3), axis=1)
add("count_nonzero", ints(2, 3))
add("argmax", floats(2, 3), axis=1)
add("argmin", floats(2, 3))
add("argsort", floats(2, 4))
add("sort", floats(2, 4))
add("diff", floats(2, 4))
add("clip", floats(2, 3), -1.0, 1.0)
add("where", np.array([True, False, True]), floats(3), floats(3))
for name in ["atleast_1d", "atleast_2d", "atleast_3d"]:
    add(name, floats(3))
    add(name, np.float32(2.0) * np.ones((), "float32"))
    add(name, floats(2, 3))
add("broadcast_arrays", floats(3), floats(2, 1))
add("broadcast_to", floats(3), [2, 3])
add("compress", np.array([True, False, True]), floats(2, 3), axis=1, traced=False)
add("diag_indices", 3)
add("ix_", ints(2), ints(3))
add("polyval", floats(3), floats(2, 2))
add("outer", floats(2), floats(3))
add("inner", floats(3), floats(3))
add("dot", floats(2, 3), floats(3, 2))
add("vdot", floats(3), floats(3))
add("matmul", floats(2, 3), floats(3, 2))
add("kron", floats(2, 2), floats(2, 1))
add("cross", floats(2, 3), floats(3))
add("tensordot", floats(2, 3), floats(3, 2), 1)
add("trace", floats(3, 3))
add("tril", floats(3, 3))
add("triu", floats(3, 3))
add("diag", floats(3))
add("diagonal", floats(3, 4))
add("diagflat", floats(2, 2))
add("vander", floats(3))
add("concatenate", [floats(2, 2), floats(1, 2)])
for name in "stack hstack vstack dstack".split():
    add(name, [floats(2, 2), floats(2, 2)])
for name in "hsplit vsplit".split():
    add(name, floats(2, 4), 2)
add("dsplit", floats(1, 2, 4), 2)
add("split", floats(4, 2), 2)
add("append", floats(2), floats(3))
add("flip", floats(2, 3))
add("fliplr", floats(2, 3))
add("flipud", floats(2, 3))
add("rot90", floats(2, 3))
add("roll", floats(5), 2)
add("moveaxis", floats(2, 3, 4), 0, 2)
add("swapaxes", floats(2, 3, 4), 0, 2)
add("expand_dims", floats(2), 0)
add("squeeze", floats(2, 1))
add("reshape", floats(2, 3), [3, 2])
add("repeat", floats(3), 2)
add("tile", floats(2), [2, 2])
add("take", floats(5), ints(3))
add("take_along_axis", floats(2, 3), ints(2, 2, high=3), 1)
add("nonzero", ints(5), traced=False)
add("pad", floats(2), [[1, 2]], "constant")
add("nextafter", floats(3), floats(3), grad=False)
add("meshgrid", floats(2), floats(3))
add("select", [np.array([True, False]), np.array([True, True])], [floats(2), floats(2)])
add("identity", 3, dtype="float32")
add("eye", 2, 3, dtype="float32")
add("tri", 3, dtype="float32")
add("zeros", [2], dtype="int32")
add("ones", [2], dtype="float32")
add("full", [2], 3, dtype="int32")
add("geomspace", 1.0, 8.0, 4, dtype="float32")
ends = np.array([np.inf, -np.inf, np.inf, -np.inf, 0, np.inf, 1], "float32"), np.array([np.inf, -np.inf, -np.inf, 3, 0, np.inf, -np.inf], "float32")
for name in ["hypot", "logaddexp"]:
    c.add(f"experimental.numpy.{name}", getattr(tnp, name), *ends, grad=False)
c.write("eagre/golden/numpy-rest.json")
