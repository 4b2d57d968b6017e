"""Makes packages/core/golden/printing.json with NumPy: arrays and the text that print() gives for them; and print.json with
TensorFlow: what tf.print writes.

Run: python tools/golden/printing.py
"""

import json
import os
import pathlib
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

SEED = 11
OUT = pathlib.Path(__file__).parents[2] / "packages/core/golden/printing.json"

rng = np.random.default_rng(SEED)
nan, inf = np.nan, np.inf
CASES = [
    [1.5, nan, inf, -inf, -0.0], [nan, 1e10], [-inf, 1e-7, 2], [nan, nan], [inf], [1e10, 1], [1e-5, 1], [0.1, 0.2, 0.3],
    [123456.789, 0.001], [1e16, 1e-16], [1e20], [1, 1e8], [16777216, 1], [0.1], [1.0000001, 2], [-1.5, 22.25], [1e5, 1e-3],
    [999999, 0.5], [0, 0], [0, 1e-3, 1], [1000, 1], [1001, 1], [99999999, 1e6], [0.1, 20], [0.0001, 0.05], [3.14159265358979, 1],
    [-1, 0, 1], [1 / 3, 2 / 3, 1e3 / 3], [1e30, -1e-30], [0.00012345678912], [[[1, 2], [3, 4.5]], [[-5, 6], [7, 8]]],
    np.linspace(0, 1, 30), np.arange(2000), np.arange(40000).reshape(200, 200) / 7, rng.normal(size=(3, 20)),
    rng.normal(size=(2, 2, 9)) * 1000, rng.normal(size=(40,)) * 1e5, rng.normal(size=(2, 1, 2, 3)), np.ones((2, 2, 2)),
    np.zeros((0, 3)), np.zeros((2, 0)), rng.integers(-5, 5, (7, 300)), rng.normal(size=(1001, 2)), [[[[1.25]]]],
]
INTEGERS = [[-1, 10, 100], [0], [[1, -2], [300, 4]], np.arange(40), np.arange(3000), rng.integers(-9, 99999, (4, 5))]


def case(values, dtype):
    a = np.array(values, dtype)
    flat = [float(v) if dtype.startswith("float") else int(v) for v in a.ravel()]
    short = [v if np.isfinite(v) else str(v) for v in flat]
    return {"dtype": dtype, "shape": a.shape, "values": short, "text": str(a)}


with np.errstate(over="ignore"):
    made = [case(c, d) for c in CASES if np.size(c) <= 100 for d in ("float32", "float64")]
    made += [case(c, d) for c in INTEGERS if np.size(c) <= 100 for d in ("int32", "int64", "uint8") if d != "uint8" or 0 <= np.min(c) <= np.max(c) < 256]
# Long arrays by a rule, so that the file stays small: value = (index - offset) * scale.
for shape, offset, scale in [((2000,), 0, 1), ((200, 200), 0, 0.25), ((1001, 2), 1000, 0.125), ((7, 300), 1050, 1), ((12, 10, 10), 3, 0.5), ((1001,), 0, 1e-3)]:
    for dtype in ("float32", "float64", "int32"):
        if dtype == "int32" and scale != 1:
            continue
        a = ((np.arange(np.prod(shape)) - offset) * scale).astype(dtype).reshape(shape)
        made.append({"dtype": dtype, "shape": shape, "offset": offset, "scale": scale, "text": str(a)})

OUT.parent.mkdir(exist_ok=True)
OUT.write_text(json.dumps({"numpy": np.__version__, "seed": SEED, "cases": made}, separators=(",", ":")) + "\n")


# tf.print. Tensors are {"tensor": values, "dtype", "shape"}, or "range" for 0, 1, 2 and so on in a shape; strings are kept as they are.
def tensor(values, dtype="float32"):
    flat = np.ravel(np.array(values, dtype=None if dtype == "string" else dtype))
    plain = [str(v) if dtype == "string" or not np.isfinite(v) or (v == 0 and np.signbit(v)) else int(v) if dtype[0] in "iub" else float(v) for v in flat]
    return {"tensor": plain, "dtype": dtype, "shape": np.shape(values)}


def ranged(*shape, dtype="int32"):
    return {"range": True, "dtype": dtype, "shape": shape}


def real(x):
    if isinstance(x, dict) and "range" in x:
        return tf.reshape(tf.range(int(np.prod(x["shape"])), dtype=x["dtype"]), x["shape"])
    if isinstance(x, dict) and "tensor" in x:
        flat = x["tensor"] if x["dtype"] == "string" else np.array([float(v) if isinstance(v, str) else v for v in x["tensor"]], x["dtype"])
        return tf.reshape(tf.constant(flat, x["dtype"]), x["shape"])
    if isinstance(x, dict):
        return {k: real(v) for k, v in x.items()}
    return [real(v) for v in x] if isinstance(x, list) else x


def printed(args, options):
    with tempfile.TemporaryDirectory() as folder:
        tf.print(*[real(a) for a in args], output_stream=f"file://{folder}/out", **options)
        return pathlib.Path(f"{folder}/out").read_text()


def numbers(dtype):
    draws = np.concatenate([rng.normal(size=20) * 10.0 ** rng.integers(-12, 12, 20), rng.integers(0, 2**31, 8) / 1024])
    return tensor([*draws, 0.1, 1 / 3, 1e10, 1e-7, -0.0, nan, inf, -inf, 16777216, 123456, 1234567, 100000, 999999.5, 1e-4, 1e-5, 3e38,
                   2097151.125, 2097151.375, 1, 1.5, -2.25, 1e15, 1e16, 123456789012345680], dtype)


TEXTS = ["plain", "", "it's", 'a "b"', "tab\t, line\n, bell\x07, back\\slash", "ü€😀", "%s {} \x7f"]
PRINTED = [
    ([tensor(1.0)], {}), ([tensor(True, "bool")], {}), ([tensor([True, False], "bool")], {}), ([tensor(5, "uint8"), tensor(-7, "int64")], {}),
    ([numbers("float32")], {"summarize": -1}), ([numbers("float64")], {"summarize": -1}), ([numbers("float32")], {}),
    *[([ranged(n)], {}) for n in (0, 1, 6, 7, 10)], *[([ranged(10, dtype="float32")], {"summarize": s}) for s in (-1, 0, 1, 2, 5)],
    *[([ranged(*shape)], {}) for shape in ((2, 2, 2), (10, 10), (10, 2, 10), (1, 8), (8, 1), (1, 1, 1, 1), (0, 3), (2, 0), (2, 0, 2))],
    ([ranged(7, 7)], {"summarize": 1}), ([ranged(2, 7)], {"summarize": 0}), ([ranged(3, 3)], {"summarize": -1}), ([ranged(2, 0)], {"summarize": -1}),
    *[([tensor(t, "string")], {}) for t in TEXTS], ([tensor(TEXTS, "string")], {"summarize": -1}), (["is", tensor("x", "string")], {}),
    ([[tensor("x", "string")]], {}), ([], {}), ([""], {}), (["a", "b"], {"sep": "|", "end": ""}), (["a", ranged(3), "b"], {"sep": ", ", "end": "!\n"}),
    (["{}", ranged(2)], {}), ([[1, 2.5, "a", ranged(2)]], {}), ([{"b": tensor(1.0), "a": "t", "c": [1, {"z": ranged(2, 2)}]}], {}), ([[], {}], {}),
    ([TEXTS[2:5]], {}), (["loss:", tensor(0.25), {"rate": 0.5, "shape": [2, 3]}], {}),
]
lines = [{"args": a, "options": o, "text": printed(a, o)} for a, o in PRINTED]
(OUT.parent / "print.json").write_text(json.dumps({"tensorflow": tf.__version__, "seed": SEED, "cases": lines}, separators=(",", ":")) + "\n")
