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

c.write("eagre/golden/math-rest.json")
