"""Makes packages/layers/golden/preprocessing.json with Keras on TensorFlow: what layers of categories, numbers and texts give.

Run: KERAS_BACKEND=tensorflow python tools/golden/preprocessing.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from layer_values import camel

SEED = 67
OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden"
rng = np.random.default_rng(SEED)

IDS = [[1, 3, 1], [2, 0, 7]]
WORDS = [["cat", "dog", "cat"], ["bird", "", "mouse"]]
TEXTS = ["The cat, the dog.", "A   bird!", "", "cat's  CAT ÉCOLE über dog\tdog"]
CORPUS = ["the cat sat", "the dog ran; the cat slept", "a bird (sang)", "dog"]
NUMBERS = np.round(rng.normal(size=(2, 4)), 2).astype("float32")
MANY = np.round(rng.normal(size=(500, 1)) ** 3, 3).astype("float32")
VOCABULARY = ["cat", "dog", "bird"]
MODES = ["int", "one_hot", "multi_hot", "count"]

# Class, options, input, what it adapts to, options of the call.
CASES = []
for mode in MODES[1:]:
    for x in (IDS, [1, 3], [[1], [3]], [[[1, 2], [3, 1]]]):
        CASES.append(("CategoryEncoding", {"num_tokens": 4, "output_mode": mode}, ("int32", x), None, {}))
CASES.append(("CategoryEncoding", {"num_tokens": 4, "output_mode": "count"}, ("int32", [[1, 3, 1], [2, 0, 3]]), None, {"count_weights": [[0.5, 2.0, 1.0], [3.0, 1.0, 0.25]]}))
for mode in MODES:
    CASES.append(("Discretization", {"bin_boundaries": [-0.5, 0.0, 0.5], "output_mode": mode}, ("float32", NUMBERS), None, {}))
CASES += [
    ("Discretization", {"bin_boundaries": [0.0, 1.0, 2.0]}, ("float32", [-1.0, 0.0, 0.5, 1.0, 2.0, 9.0]), None, {}),
    ("Discretization", {"num_bins": 4}, ("float32", NUMBERS), ("float32", MANY), {}),
    ("Discretization", {"num_bins": 7, "epsilon": 0.05}, ("float32", NUMBERS), ("float32", MANY), {}),
    ("Discretization", {"num_bins": 3, "epsilon": 0.1}, ("float32", NUMBERS), ("float32", NUMBERS), {}),
]
for mode in MODES:
    CASES.append(("Hashing", {"num_bins": 5, "output_mode": mode}, ("string", WORDS), None, {}))
    CASES.append(("IntegerLookup", {"vocabulary": [3, 1, 7], "output_mode": mode}, ("int64", IDS), None, {}))
    CASES.append(("IntegerLookup", {"vocabulary": [3, 1, 7], "mask_token": 0, "num_oov_indices": 3, "output_mode": mode}, ("int64", IDS), None, {}))
    CASES.append(("StringLookup", {"vocabulary": VOCABULARY, "mask_token": "", "output_mode": mode}, ("string", WORDS), None, {}))
    CASES.append(("StringLookup", {"max_tokens": 3, "output_mode": mode}, ("string", WORDS), ("string", WORDS), {}))
    CASES.append(("TextVectorization", {"output_mode": mode}, ("string", TEXTS), ("string", CORPUS), {}) if mode != "one_hot" else ("TextVectorization", {"vocabulary": VOCABULARY}, ("string", TEXTS), None, {}))
CASES += [
    ("Hashing", {"num_bins": 5, "mask_value": ""}, ("string", WORDS), None, {}),
    ("Hashing", {"num_bins": 50, "salt": 1337}, ("string", WORDS), None, {}),
    ("Hashing", {"num_bins": 50, "salt": [133, 137]}, ("int64", [[-3, 12345678901], [5, 0]]), None, {}),
    ("Hashing", {"num_bins": 1000}, ("int32", IDS), None, {}),
    ("HashedCrossing", {"num_bins": 50}, [("string", ["a", "b", "a"]), ("string", ["x", "x", "y"])], None, {}),
    ("HashedCrossing", {"num_bins": 7, "output_mode": "one_hot"}, [("string", [["a"], ["b"]]), ("int64", [[1], [-2]])], None, {}),
    ("IntegerLookup", {"vocabulary": [3, 1, 7], "num_oov_indices": 4, "oov_method": "farmhash", "salt": 5}, ("int64", IDS), None, {}),
    ("IntegerLookup", {"vocabulary": [3, 1, 7], "invert": True}, ("int64", [[0, 1], [2, 3]]), None, {}),
    ("IntegerLookup", {"max_tokens": 4}, ("int64", IDS), ("int64", [[5, 5, 5], [7, 7, 2], [1, 1, 9]]), {}),
    ("IntegerLookup", {"vocabulary": [3, 1], "output_mode": "tf_idf", "idf_weights": [0.5, 0.25]}, ("int64", IDS), None, {}),
    ("IntegerLookup", {"vocabulary": [3, 1], "output_mode": "multi_hot", "max_tokens": 6, "pad_to_max_tokens": True}, ("int64", IDS), None, {}),
    ("StringLookup", {"vocabulary": ["", "[UNK]", *VOCABULARY], "mask_token": ""}, ("string", WORDS), None, {}),
    ("StringLookup", {"vocabulary": VOCABULARY, "num_oov_indices": 3}, ("string", WORDS), None, {}),
    ("StringLookup", {"vocabulary": VOCABULARY, "num_oov_indices": 3, "salt": [1, 2]}, ("string", WORDS), None, {}),
    ("StringLookup", {"output_mode": "tf_idf", "max_tokens": 6, "pad_to_max_tokens": True}, ("string", WORDS), ("string", [["cat", "dog"], ["cat", "cat"], ["bird", "dog"]]), {}),
    ("StringLookup", {}, ("string", ["über", "zoo", "a", "日"]), ("string", ["b", "über", "zoo", "日", "a", "a"]), {}),
    ("TextVectorization", {"output_mode": "tf_idf", "ngrams": 2}, ("string", TEXTS), ("string", CORPUS), {}),
    ("TextVectorization", {"ngrams": [1, 3], "output_sequence_length": 5}, ("string", TEXTS), ("string", CORPUS), {}),
    ("TextVectorization", {"split": "character", "standardize": "lower", "max_tokens": 8, "output_sequence_length": 4}, ("string", TEXTS), ("string", CORPUS), {}),
    ("TextVectorization", {"standardize": "strip_punctuation"}, ("string", [[t] for t in TEXTS]), ("string", CORPUS), {}),
    ("TextVectorization", {"standardize": None, "split": None}, ("string", ["the cat sat", "dog"]), ("string", CORPUS), {}),
    ("TextVectorization", {"output_mode": "multi_hot", "max_tokens": 20, "pad_to_max_tokens": True}, ("string", TEXTS), ("string", CORPUS), {}),
]


def tensor(x):
    x = np.asarray(x)
    if x.dtype.kind in "SO":
        return {"dtype": "string", "shape": list(x.shape), "values": [v.decode() if isinstance(v, bytes) else v for v in np.ravel(x)]}
    values = np.ravel(x)
    if x.dtype.kind == "f":
        values = np.round(values.astype(float), 6)
    return {"dtype": x.dtype.name, "shape": list(x.shape), "values": values.tolist()}


def run(name, options, given, adapt, call):
    if isinstance(options.get("ngrams"), list):
        options = {**options, "ngrams": tuple(options["ngrams"])}
    layer = getattr(keras.layers, name)(**options)
    many = isinstance(given, list)
    inputs = [tf.constant(v, dtype) for dtype, v in (given if many else [given])]
    case = {"layer": name, "config": {camel(k): list(v) if isinstance(v, tuple) else v for k, v in options.items()}, "inputs": [tensor(x) for x in inputs]}
    if adapt is not None:
        data = tf.constant(adapt[1], adapt[0])
        layer.adapt(data)
        case["adapt"] = tensor(data)
    if name == "Discretization":
        case["boundaries"] = [float(b) for b in layer.bin_boundaries]
    if hasattr(layer, "get_vocabulary"):
        case["vocabulary"] = [v if isinstance(v, str) else int(v) for v in layer.get_vocabulary()]
    if call:
        case["call"] = {camel(k): v for k, v in call.items()}
    y = layer(inputs if many else inputs[0], **{k: tf.constant(v) for k, v in call.items()})
    case["output"] = tensor(y)
    return case


made = {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__, "seed": SEED}
cases = [run(*case) for case in CASES]
lines = ",\n".join(json.dumps(case, separators=(",", ":"), ensure_ascii=False) for case in cases)
(OUT / "preprocessing.json").write_text(f'{{"made":{json.dumps(made)},"cases":[\n{lines}\n]}}\n')
print(len(cases))
