"""Makes packages/eagre/golden/numpy-dtypes.json with TensorFlow: what tf.experimental.numpy makes of two dtypes.

Each function has a table of dtypes, `null` where TensorFlow refuses the pair; some have the values as well (real parts).

Run: python tools/golden/numpy_dtypes.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf

tnp = tf.experimental.numpy
OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden/numpy-dtypes.json"
DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "bfloat16", "float16", "float32", "float64", "complex64", "complex128",
]
# Not float_power and hypot: those of TensorFlow keep integers and take complex numbers, which NumPy does not.
FUNCTIONS = """add subtract multiply true_divide divide floor_divide mod remainder power maximum minimum arctan2 logaddexp
    equal not_equal less less_equal greater greater_equal isclose heaviside gcd lcm bitwise_and bitwise_or bitwise_xor
    dot inner outer vdot kron append array_equal polyval allclose logical_and""".split()
CALLS = {
    **{name: getattr(tnp, name) for name in FUNCTIONS},
    "matmul": tnp.matmul,
    "tensordot": lambda a, b: tnp.tensordot(a, b, 1),
    "cross": tnp.cross,
    "divmod": lambda a, b: tnp.divmod(a, b)[1],
    "clip": lambda a, b: tnp.clip(a, b, b),
    "where": lambda a, b: tnp.where([True, False, True], a, b),
    "concatenate": lambda a, b: tnp.concatenate([a, b]),
    "stack": lambda a, b: tnp.stack([a, b]),
    "hstack": lambda a, b: tnp.hstack([a, b]),
    "vstack": lambda a, b: tnp.vstack([a, b]),
}
# Those whose values are kept, not only their dtypes.
VALUED = {"add", "floor_divide", "equal", "bitwise_and", "dot", "clip"}
# As the tests do: numbers that every dtype has, and 1 of a bool.
A, B = [7, 0, 3], [2, 1, 3]


def cell(run, valued, a, b):
    try:
        y = run(tf.cast(tf.constant(A), a), tf.cast(tf.constant(B), b))
    except Exception:
        return None
    y = tf.convert_to_tensor(y)
    if not valued:
        return y.dtype.name
    return [y.dtype.name, np.asarray(tf.cast(y, "complex128")).real.ravel().tolist()]


tables = {}
for name, run in CALLS.items():
    camel = "".join(p.capitalize() if i else p for i, p in enumerate(name.split("_")))
    tables[camel] = {a: {b: cell(run, name in VALUED, a, b) for b in DTYPES} for a in DTYPES}
OUT.write_text(json.dumps({"tensorflow": tf.__version__, "a": A, "b": B, "tables": tables}) + "\n")
