"""Makes packages/layers/golden/initializers.json with Keras and SciPy: values of STFT, and penalties of OrthogonalRegularizer.

Run: KERAS_BACKEND=tensorflow python tools/golden/initializers.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import scipy

OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden"
SEED = 20
WINDOWS = [
    "boxcar", "hann", "hamming", "blackman", "nuttall", "blackmanharris", "flattop", "bartlett",
    "triang", "cosine", "barthann", "bohman", "exponential", "lanczos", "parzen", "tukey",
]  # fmt: skip
CASES = [
    ({}, (8, 1, 5)),
    ({"side": "imag", "window": "hamming", "scaling": "spectrum", "periodic": True}, (7, 1, 5)),
    ({"side": "imag", "window": None}, (4, 1, 3)),
    ({"window": [0.5, 1.0, -0.25], "scaling": None}, (3, 1, 4)),
    *[({"window": w, "scaling": None, "periodic": p}, (n, 1, 2)) for w in WINDOWS for n, p in [(9, False), (12, True)]],
]


def stft(options, shape):
    values = keras.initializers.STFT(**options)(shape, dtype="float64")
    return {"options": options, "shape": shape, "values": np.asarray(values).ravel().tolist()}


def orthogonal(weight, **options):
    penalty = keras.regularizers.OrthogonalRegularizer(**options)(keras.ops.convert_to_tensor(weight))
    return {"options": options, "weight": weight.tolist(), "penalty": float(penalty)}


rng = np.random.default_rng(SEED)
wide = rng.normal(size=(3, 5)).astype("float32")
file = {
    "made": {"keras": keras.__version__, "scipy": scipy.__version__, "numpy": np.__version__, "seed": SEED},
    "stft": [stft(*case) for case in CASES],
    "orthogonal": [
        orthogonal(wide),
        orthogonal(wide, factor=0.5, mode="columns"),
        orthogonal(np.array([[0, 0], [3, 4]], "float32"), factor=2.0),
    ],
}
(OUT / "initializers.json").write_text(json.dumps(file) + "\n")
