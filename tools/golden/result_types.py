"""Makes packages/eagre/golden/result-types.json with Keras: the dtypes in which two dtypes meet.

Run: python tools/golden/result_types.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras

OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden"
NAMES = [
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]
DTYPES = {**{name: name for name in NAMES}, "int": int, "float": float}
pairs = {
    a: {b: keras.backend.result_type(DTYPES[a], DTYPES[b]) for b in DTYPES} for a in DTYPES
}
(OUT / "result-types.json").write_text(json.dumps({"keras": keras.__version__, "pairs": pairs}) + "\n")
