"""How calls of TensorFlow's functions and what they give are written to golden files.

Byte strings are written as text in which a byte that is not UTF-8 is U+DC00 plus its value, as Python's `surrogateescape` does.
"""

import re

import numpy as np
import tensorflow as tf


def camel(name):
    return re.sub(r"_(\w)", lambda m: m.group(1).upper(), name)


def plain(value):
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value) if abs(int(value)) < 2**53 else {"big": str(value)}
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, (float, np.floating)) or type(value).__name__ == "bfloat16":
        value = float(value)
        return value if np.isfinite(value) else {"float": repr(value)}
    return [plain(v) for v in value]


def encoded(value):
    if isinstance(value, tf.RaggedTensor):
        return {"ragged": plain(value.to_list()), "dtype": value.dtype.name}
    if isinstance(value, tf.Tensor):
        flat = value.numpy()
        flat = flat.flatten() if isinstance(flat, np.ndarray) else [flat]
        if value.dtype.is_complex:
            flat = [complex(v) for v in flat]
        return {"dtype": value.dtype.name, "shape": value.shape.as_list(), "values": plain(flat)}
    if isinstance(value, tf.DType):
        return value.name
    if isinstance(value, (list, tuple)):
        return [encoded(v) for v in value]
    return value
