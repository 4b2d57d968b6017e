"""Calls of TensorFlow's functions with what they give, for golden files: arguments, results, gradients. Imported by other scripts here."""

import json
import math
import pathlib
import re

import numpy as np
import tensorflow as tf

PACKAGES = pathlib.Path(__file__).parents[2] / "packages"


def camel(name):
    return re.sub(r"_([a-z0-9])", lambda m: m.group(1).upper(), name)


def number(v, digits):
    if isinstance(v, (complex, np.complexfloating)):
        return [number(v.real, digits), number(v.imag, digits)]
    if isinstance(v, (bytes, str)):
        return v.decode() if isinstance(v, bytes) else v
    if isinstance(v, (bool, np.bool_)):
        return bool(v)
    if isinstance(v, (int, np.integer)):
        return int(v) if abs(int(v)) < 2**53 else str(int(v))
    v = float(v)
    if math.isnan(v):
        return "NaN"
    if math.isinf(v):
        return "Infinity" if v > 0 else "-Infinity"
    return float(f"{v:.{digits}g}")


def values(x, exact=False):
    x = tf.convert_to_tensor(x)
    dtype = x.dtype.name
    flat = tf.reshape(x, [-1])
    array = (tf.cast(flat, "float32") if dtype in ("bfloat16", "float16") else flat).numpy()
    digits = 17 if exact and dtype == "float64" else 9 if exact else 14 if dtype in ("float64", "complex128") else 8
    return {"shape": x.shape.as_list(), "dtype": dtype, "values": [number(v, digits) for v in array.tolist()]}


def plain(v):
    if isinstance(v, (np.ndarray, tf.Tensor)):
        return values(v)
    if isinstance(v, tf.DType):
        return v.name
    if isinstance(v, (list, tuple)):
        return [plain(item) for item in v]
    return v if v is None or isinstance(v, (bool, int, str)) else number(v, 17)


def tensors(v):
    """What is computed with: arrays become tensors."""
    if isinstance(v, np.ndarray):
        return tf.constant(v)
    if isinstance(v, (list, tuple)) and any(isinstance(item, (np.ndarray, list, tuple)) for item in v):
        return type(v)(tensors(item) for item in v)
    return v


class Cases:
    def __init__(self, script, seed):
        self.script = script
        self.seed = seed
        self.cases = []

    def add(self, op, fn, *args, grad=True, traced=True, tolerance=None, **options):
        """One call. Gradients are those of the sum of each float of the results times the cosine of its place."""
        given = [tensors(a) for a in args]
        named = {k: tensors(v) for k, v in options.items()}
        sources = [v for v in tf.nest.flatten([given, list(named.values())]) if isinstance(v, tf.Tensor) and v.dtype.is_floating]
        try:
            with tf.GradientTape() as tape:
                tape.watch(sources)
                result = fn(*given, **named)
                flat = [t for t in tf.nest.flatten(result)]
                total = None
                for t in flat:
                    t = tf.convert_to_tensor(t)
                    if t.dtype.is_floating:
                        weight = tf.cast(tf.reshape(tf.cos(tf.range(tf.size(t), dtype="float32")), tf.shape(t)), t.dtype)
                        part = tf.cast(tf.reduce_sum(t * weight), "float64")
                        total = part if total is None else total + part
        except (tf.errors.InvalidArgumentError, ValueError) as error:
            self.cases.append({"op": op, "args": plain(args), "options": {camel(k): plain(v) for k, v in options.items()}, "error": str(type(error).__name__)})
            return
        # Without a tolerance numbers are those of TensorFlow to the last bit, so all of their digits are needed.
        entry = {"op": op, "args": plain(list(args)), "result": [values(t, tolerance == 0) for t in flat]}
        if options:
            entry["options"] = {camel(k): plain(v) for k, v in options.items()}
        if grad and total is not None and sources:
            try:
                found = tape.gradient(total, sources)
                entry["gradients"] = [None if d is None else values(tf.convert_to_tensor(d)) for d in found]
            except LookupError:
                # Of ops for which TensorFlow has no gradient.
                pass
        if not traced:
            entry["traced"] = False
        if tolerance is not None:
            entry["tolerance"] = tolerance
        self.cases.append(entry)

    def write(self, target):
        path = PACKAGES / target
        made = {"script": self.script, "tensorflow": tf.__version__, "seed": self.seed, "cases": self.cases}
        path.write_text(json.dumps(made, separators=(",", ":")) + "\n")
        print(path, path.stat().st_size, len(self.cases))
