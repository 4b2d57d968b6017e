"""What golden files of ops share: cases of a function with inputs, options, results and gradients, as JSON."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf


def plain(x):
    """A tensor: complex numbers as pairs one after the other, with as many digits as tests compare."""
    a = np.asarray(x)
    flat = a.reshape(-1)
    if np.iscomplexobj(flat):
        flat = np.stack([flat.real, flat.imag], -1).reshape(-1)
    digits = 8 if a.dtype in (np.float32, np.complex64) else 13
    if a.dtype.kind in "fc":
        data = [float(f"{v:.{digits}g}") if np.isfinite(v) else str(v) for v in flat.astype(np.float64)]
    else:
        data = [int(v) for v in flat]
    return {"dtype": a.dtype.name, "shape": list(a.shape), "data": data}


def as_list(y):
    return list(y) if isinstance(y, (list, tuple)) else [y]


class Cases:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.list = []

    def normal(self, shape, dtype="float64"):
        """Few digits, for short files."""
        x = np.round(self.rng.normal(size=shape), 3)
        if dtype.startswith("complex"):
            x = x + 1j * np.round(self.rng.normal(size=shape), 3)
        return x.astype(dtype)

    def add(self, name, fn, *inputs, gradient=True, **options):
        """Options have TensorFlow's names here, camelCase in the file."""
        tensors = [tf.constant(x) for x in inputs]
        camel = {"".join(p.title() if i else p for i, p in enumerate(k.split("_"))): v for k, v in options.items()}
        entry = {"fn": name, "inputs": [plain(x) for x in tensors], "options": camel}
        self.list.append(entry)
        floats = [x for x in tensors if x.dtype.is_floating or x.dtype.is_complex]
        try:
            with tf.GradientTape() as tape:
                for x in floats:
                    tape.watch(x)
                outputs = as_list(fn(*tensors, **options))
                weights = [self.normal(y.shape, y.dtype.name) if y.dtype.is_floating or y.dtype.is_complex else None for y in outputs]
                parts = [tf.cast(tf.reduce_sum(tf.math.real(y * w)), tf.float64) for y, w in zip(outputs, weights) if w is not None]
                loss = tf.add_n(parts) if parts else None
        except (tf.errors.OpError, ValueError, TypeError) as error:
            entry["error"] = type(error).__name__
            return
        entry["outputs"] = [plain(y) for y in outputs]
        if gradient and loss is not None:
            entry["weights"] = [None if w is None else plain(w) for w in weights]
            try:
                gradients = tape.gradient(loss, tensors)
            except (tf.errors.InvalidArgumentError, LookupError):
                # Some of TensorFlow's gradients fail, such as that of an RFFT of fewer numbers than there are.
                del entry["weights"]
                return
            entry["gradients"] = [None if g is None else plain(tf.convert_to_tensor(g)) for g in gradients]

    def golden(self, **more):
        return {"versions": {"tensorflow": tf.__version__, "numpy": np.__version__}, **more, "cases": self.list}
