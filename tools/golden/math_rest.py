"""Makes packages/eagre/golden/math-rest.json with TensorFlow: segments, counts, special functions, and other functions of tf and tf.math.

Run: python tools/golden/math_rest.py
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf
from cases import Cases

SEED = 71
rng = np.random.default_rng(SEED)
c = Cases("math_rest.py", SEED)


def floats(*shape, low=-2.0, high=2.0, dtype="float32"):
    return np.round(rng.uniform(low, high, size=shape), 2).astype(dtype)


def ints(*shape, low=0, high=5, dtype="int32"):
    return rng.integers(low, high, size=shape).astype(dtype)


def i32(*v):
    return np.array(v, "int32")


# ---- segments
for name in ["sum", "mean", "max", "min", "prod"]:
    fn = getattr(tf.math, f"segment_{name}")
    op = f"math.segment{name.capitalize()}"
    c.add(op, fn, floats(6, 2), i32(0, 0, 1, 3, 3, 3))
    c.add(op, fn, floats(4, dtype="float64"), np.array([0, 1, 1, 4], "int64"))
    c.add(op, fn, ints(5, 2, 1), i32(1, 1, 2, 2, 2))
    c.add(op, fn, floats(3), i32(1, 0, 2))
    c.add(op, fn, np.array([0.0, 2.0, 0.0, 0.0, 3.0], "float32"), i32(0, 0, 1, 1, 1), grad=name != "prod")
for name in ["sum", "mean", "max", "min", "prod", "sqrt_n"]:
    fn = getattr(tf.math, f"unsorted_segment_{name}")
    op = "math.unsortedSegment" + "".join(p.capitalize() for p in name.split("_"))
    c.add(op, fn, floats(6, 2), i32(3, 0, 1, 0, 3, -1), 5)
    c.add(op, fn, floats(2, 3, dtype="float64"), np.array([[0, 1, 1], [2, 0, 0]], "int64"), 3)
    if name != "sqrt_n":
        c.add(op, fn, ints(5, 2), i32(1, 0, 1, 2, 2), 4)
    c.add(op, fn, np.array([0.0, 2.0, 0.0, 0.0, 3.0], "float32"), i32(1, 1, 0, 0, 0), 2)
    c.add(op, fn, floats(0, 2), i32(), 2)

# ---- counts
b = tf.math.bincount
c.add("math.bincount", b, i32(1, 1, 2, 3, 2, 4, 4, 5))
c.add("math.bincount", b, i32(1, 1, 2, 3, 7), weights=floats(5), maxlength=5)
c.add("math.bincount", b, i32(1, 1, 2), minlength=6, dtype="int64")
c.add("math.bincount", b, np.array([[1, 2, 2], [0, 3, 3]], "int64"), axis=-1)
c.add("math.bincount", b, np.array([[1, 2, 2], [0, 3, 3]], "int32"), axis=0)
c.add("math.bincount", b, np.array([[1, 2, 2], [0, 3, 3]], "int32"), axis=-1, binary_output=True, minlength=3, maxlength=3)
c.add("math.bincount", b, np.array([[1, 2, 2], [0, 3, 3]], "int32"), axis=-1, weights=floats(2, 3, dtype="float64"))
c.add("math.bincount", b, i32(2, 2, 1), binary_output=True, dtype="float32", axis=-1)
c.add("math.bincount", b, i32())
cm = tf.math.confusion_matrix
c.add("math.confusionMatrix", cm, i32(1, 2, 4), i32(2, 2, 4))
c.add("math.confusionMatrix", cm, np.array([[1], [0], [2]], "int64"), np.array([1, 2, 2], "int64"), num_classes=4, dtype="float32")
c.add("math.confusionMatrix", cm, i32(1, 2, 1, 1), i32(2, 2, 2, 0), weights=floats(4), dtype="float64")
c.add("math.confusionMatrix", cm, i32(1, 2, 5), i32(2, 2, 4), num_classes=3)
for op, fn in [("histogramFixedWidth", tf.histogram_fixed_width), ("histogramFixedWidthBins", tf.histogram_fixed_width_bins)]:
    c.add(op, fn, floats(3, 4), np.array([-1.0, 1.0], "float32"), nbins=5)
    c.add(op, fn, np.array([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], "float64"), np.array([0.0, 5.0], "float64"), nbins=5, dtype="int64" if op == "histogramFixedWidth" else "int32")
    if op == "histogramFixedWidth":
        c.add(op, fn, ints(7, low=-3, high=12), i32(0, 10), nbins=4)


# ---- special functions
P = np.array([0.0, 0.3, 1.0, 2.0, 2.7, 5.5, 7.9, 8.1, 13.0, 25.0, 40.0])
BOTH = np.concatenate([-P[1:], P])
# At 0 TensorFlow takes 1 for the slope of I1, which is 1/2.
for name in ["i0", "i0e", "i1", "i1e"]:
    for dtype in ["float32", "float64"]:
        c.add(f"math.special.bessel{name.capitalize()}", getattr(tf.math.special, f"bessel_{name}"), (BOTH if name != "i1" else BOTH[BOTH != 0]).astype(dtype), tolerance=2e-5 if dtype == "float32" else 1e-12)
    c.add(f"math.bessel{name.capitalize()}", getattr(tf.math, f"bessel_{name}"), floats(2, 3).astype("float16"), grad=False)
for name in ["j0", "j1"]:
    for dtype in ["float32", "float64"]:
        c.add(f"math.special.bessel{name.capitalize()}", getattr(tf.math.special, f"bessel_{name}"), BOTH.astype(dtype), tolerance=2e-5 if dtype == "float32" else 1e-12)
for name in ["y0", "y1", "k0", "k0e", "k1", "k1e"]:
    for dtype in ["float32", "float64"]:
        c.add(f"math.special.bessel{name.capitalize()}", getattr(tf.math.special, f"bessel_{name}"), P[1:].astype(dtype), tolerance=2e-5 if dtype == "float32" else 1e-12)
    c.add(f"math.special.bessel{name.capitalize()}", getattr(tf.math.special, f"bessel_{name}"), np.array([-1.0, 0.0, np.nan], "float64"), grad=False)
for name, x in [
    ("dawsn", BOTH),
    ("expint", P[1:]),
    ("fresnel_cos", BOTH),
    ("fresnel_sin", BOTH),
    ("spence", P[1:]),
]:
    for dtype in ["float32", "float64"]:
        op = "math.special." + "".join(p.capitalize() if i else p for i, p in enumerate(name.split("_")))
        c.add(op, getattr(tf.math.special, name), x.astype(dtype), tolerance=5e-5 if dtype == "float32" else 1e-11)
    c.add(op, getattr(tf.math.special, name), np.array([-1.0, 0.0, 1.0, np.nan], "float64"), grad=False)
for dtype in ["float32", "float64"]:
    q = np.array([1e-30, 1e-6, 0.01, 0.3, 0.5, 0.77, 0.999], dtype)
    c.add("math.ndtri", tf.math.ndtri, q)
    c.add("math.erfcinv", tf.math.erfcinv, 2 * q)
c.add("math.ndtri", tf.math.ndtri, np.array([0.0, 1.0, -0.5, 1.5, np.nan]), grad=False)
A = np.array([0.3, 1.0, 2.5, 8.0, 30.0, 200.0])
X = np.array([0.2, 1.5, 2.4, 11.0, 25.0, 210.0])
for dtype, tol in [("float32", 1e-4), ("float64", 1e-7)]:
    c.add("math.igamma", tf.math.igamma, A.astype(dtype), X.astype(dtype), tolerance=tol)
    c.add("math.igammac", tf.math.igammac, A.astype(dtype), X.astype(dtype), tolerance=tol)
    c.add("math.igamma", tf.math.igamma, A.astype(dtype)[:, None], X.astype(dtype)[:4], tolerance=tol)
    c.add("math.betainc", tf.math.betainc, A.astype(dtype)[:4], X.astype(dtype)[:4], np.array([0.1, 0.4, 0.6, 0.35], dtype), tolerance=tol)
    c.add("math.zeta", tf.math.zeta, np.array([1.5, 2.0, 7.0, 20.0], dtype), np.array([0.7, 1.0, 3.3, 1.2], dtype), tolerance=tol)
    c.add("math.polygamma", tf.math.polygamma, np.array([0.0, 1.0, 2.0, 5.0], dtype), np.array([0.7, 1.0, 3.3, 1.2], dtype), tolerance=tol)
c.add("math.igamma", tf.math.igamma, np.array([1.0, -1.0, 2.0, 0.0, 3.0]), np.array([0.0, 1.0, np.inf, 1.0, -1.0]), grad=False)
c.add("math.betainc", tf.math.betainc, np.array([1.0, 2.0, -1.0, 2.0]), np.array([1.0, 2.0, 2.0, 2.0]), np.array([0.0, 1.0, 0.5, 1.5]), grad=False)
c.add("math.zeta", tf.math.zeta, np.array([1.0, 0.5, 2.0, 2.0]), np.array([1.0, 1.0, 0.0, -0.5]), grad=False)
# ---- made of others
c.add("math.reciprocalNoNan", tf.math.reciprocal_no_nan, np.array([2.0, 0.5, 0.0, -4.0], "float32"))
c.add("math.reciprocalNoNan", tf.math.reciprocal_no_nan, np.array([[2.0, 0.0]], "float64"))
c.add("math.reciprocalNoNan", tf.math.reciprocal_no_nan, np.array([2.0 + 1j, 0.0], "complex64"), grad=False)
c.add("math.lbeta", tf.math.lbeta, floats(3, low=0.2, high=3))
c.add("math.lbeta", tf.math.lbeta, floats(2, 3, low=0.2, high=3, dtype="float64"))
c.add("math.polyval", tf.math.polyval, [floats(1)[0], floats(1)[0], floats(1)[0]], floats(2, 2))
c.add("math.polyval", tf.math.polyval, [floats(2), floats(2)], floats(3, 2))
for x in [i32(1, 1, 2), i32(2, 1), np.array([[1.0, 2.0], [3.0, 3.5]], "float32"), i32()]:
    c.add("math.isNonDecreasing", tf.math.is_non_decreasing, x)
    c.add("math.isStrictlyIncreasing", tf.math.is_strictly_increasing, x)
for dtype in ["float32", "float64"]:
    c.add("math.nextafter", tf.math.nextafter, np.array([0.0, 1.0, -1.0, 1.0, 0.0, np.inf, np.nan, 3.5], dtype), np.array([1.0, 2.0, 2.0, -1.0, -1.0, 0.0, 1.0, 3.5], dtype), grad=False)
for exclusive in [False, True]:
    for reverse in [False, True]:
        c.add("math.cumulativeLogsumexp", tf.math.cumulative_logsumexp, floats(5, 3), axis=0, exclusive=exclusive, reverse=reverse, grad=not exclusive)
c.add("math.cumulativeLogsumexp", tf.math.cumulative_logsumexp, np.array([[-1000.0, 1000.0, 3.0]], "float64"), axis=-1)
c.add("truncatediv", tf.truncatediv, i32(7, -7, 7, -7, 6), i32(2, 2, -2, -2, 3))
c.add("truncatemod", tf.truncatemod, i32(7, -7, 7, -7, 6), i32(2, 2, -2, -2, 3))
c.add("truncatemod", tf.truncatemod, np.array([7.5, -7.5], "float32"), np.array([2.0, 2.0], "float32"), grad=False)


def largest(sign):
    """TensorFlow has these for accelerators only."""

    def fn(x, k, reduction_dimension=-1):
        moved = tf.experimental.numpy.moveaxis(x, reduction_dimension, -1)
        v, i = tf.math.top_k(sign * moved, k)
        back = lambda t: tf.experimental.numpy.moveaxis(t, -1, reduction_dimension)
        return back(sign * v), back(i)

    return fn


for name, sign in [("Max", 1.0), ("Min", -1.0)]:
    c.add(f"math.approx{name}K", largest(sign), floats(3, 6), 2)
    c.add(f"math.approx{name}K", largest(sign), floats(6, 2), 3, reduction_dimension=0)

# ---- partitions, sequences, places
c.add("dynamicPartition", tf.dynamic_partition, floats(5, 2), i32(0, 1, 0, 2, 1), 4)
c.add("dynamicPartition", tf.dynamic_partition, floats(2, 3, dtype="float64"), np.array([[0, 1, 1], [1, 0, 0]], "int32"), 2)
c.add("dynamicPartition", tf.dynamic_partition, ints(3), i32(0, 1, 5), 2)
c.add("dynamicStitch", tf.dynamic_stitch, [i32(0, 2), i32(1, 3)], [floats(2, 2), floats(2, 2)])
c.add("dynamicStitch", tf.dynamic_stitch, [np.array(6, "int32"), np.array([[4, 1], [5, 2]], "int32"), i32(0, 3, 1)], [floats(2), floats(2, 2, 2), floats(3, 2)])
c.add("reverseSequence", lambda x, n, a, b: tf.reverse_sequence(x, n, seq_axis=a, batch_axis=b), floats(3, 5), i32(2, 0, 5), 1, 0)
c.add("reverseSequence", lambda x, n, a, b: tf.reverse_sequence(x, n, seq_axis=a, batch_axis=b), floats(4, 2, 3), np.array([1, 4, 2], "int64"), 0, 2)
c.add("reverseSequence", lambda x, n, a, b: tf.reverse_sequence(x, n, seq_axis=a, batch_axis=b), floats(2, 2), i32(1, 3), 1, 0)
for side in ["left", "right"]:
    c.add("searchsorted", tf.searchsorted, np.array([1.0, 3.0, 5.0, 5.0, 9.0], "float32"), np.array([0.0, 1.0, 5.0, 7.0, 10.0], "float32"), side=side, grad=False)
    c.add("searchsorted", tf.searchsorted, np.array([[1, 3, 5], [2, 2, 2]], "int32"), np.array([[5, 0], [2, 3]], "int32"), side=side, out_type="int64")
c.add("unravelIndex", tf.unravel_index, i32(2, 5, 7), i32(3, 3))
c.add("unravelIndex", tf.unravel_index, np.array(13, "int64"), np.array([2, 3, 4], "int64"))
c.add("shapeN", tf.shape_n, [floats(2, 3), floats(1)], grad=False)
c.add("identityN", tf.identity_n, [floats(2, 3), floats(1)])
c.add("broadcastDynamicShape", tf.broadcast_dynamic_shape, i32(2, 1, 3), i32(4, 1), traced=False)
c.add("ensureShape", tf.ensure_shape, floats(2, 3), [None, 3])
c.add("ensureShape", tf.ensure_shape, floats(2, 3), [None, 4])

# ---- blocks of space
c.add("spaceToBatch", tf.space_to_batch, floats(1, 4, 4, 1), [2, 2], [[0, 0], [0, 0]])
c.add("spaceToBatch", tf.space_to_batch, floats(2, 3, 5, 2), [2, 3], [[1, 0], [0, 1]])
c.add("spaceToBatchNd", tf.space_to_batch_nd, ints(2, 4, 3), [2], [[0, 2]])
c.add("spaceToBatch", tf.space_to_batch, floats(1, 3, 4, 1), [2, 2], [[0, 0], [0, 0]])
c.add("batchToSpace", tf.batch_to_space, floats(4, 2, 2, 1), [2, 2], [[0, 0], [0, 0]])
c.add("batchToSpace", tf.batch_to_space, floats(6, 2, 2, 3), [2, 3], [[1, 0], [0, 2]])
c.add("batchToSpace", tf.batch_to_space, floats(5, 2, 2, 3), [2, 3], [[1, 0], [0, 2]])
c.add("requiredSpaceToBatchPaddings", tf.required_space_to_batch_paddings, [5, 7], [2, 3], traced=False)
c.add("requiredSpaceToBatchPaddings", tf.required_space_to_batch_paddings, [5, 7], [2, 3], [[1, 0], [0, 1]], traced=False)
for padding in ["SAME", "VALID"]:
    c.add("extractVolumePatches", tf.extract_volume_patches, floats(1, 3, 4, 3, 2), [1, 2, 2, 3, 1], [1, 1, 2, 1, 1], padding)

# ---- Sobol sequences
sobol = tf.math.sobol_sample
c.add("math.sobolSample", sobol, 5, 12)
c.add("math.sobolSample", sobol, 1, 3, skip=4, dtype="float64")
c.add("math.sobolSample", sobol, 40, 3, skip=1000000, grad=False)
c.add("math.sobolSample", sobol, 2, 3, skip=2**30 - 5, dtype="float64")
c.add("math.sobolSample", sobol, 2, 3, skip=2**30 - 5)
c.add("math.sobolSample", sobol, 1111, 1, skip=123456)
for bad in [(0, 1, 0), (2, 0, 0), (2, 1, -1), (2, 5, 2**31 - 6)]:
    c.add("math.sobolSample", sobol, *bad)

c.write("eagre/golden/math-rest.json")
