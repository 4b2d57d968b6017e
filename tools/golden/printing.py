"""Makes packages/core/golden/printing.json with NumPy: arrays and the text that print() gives for them.

Run: python tools/golden/printing.py
"""

import json
import pathlib

import numpy as np

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
