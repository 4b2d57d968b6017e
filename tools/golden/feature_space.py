"""Makes packages/layers/golden/feature-space.json with Keras on TensorFlow: what FeatureSpace makes of tables, and its configurations.

Run: KERAS_BACKEND=tensorflow python tools/golden/feature_space.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras.utils import FeatureSpace

SEED = 47
OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden/feature-space.json"
rng = np.random.default_rng(SEED)
N = 40
DATA = {
    "age": rng.integers(18, 90, N).astype("float32").tolist(),
    "size": rng.normal(size=N).astype("float32").round(4).tolist(),
    "kind": rng.integers(0, 6, N).tolist(),
    "town": rng.choice(["rome", "oslo", "lima", "kyiv"], N).tolist(),
    "code": rng.integers(0, 1000, N).tolist(),
}
# Also values that were not there.
ROWS = {
    "age": [20.0, 55.5, 91.0],
    "size": [0.25, -3.0, 1.5],
    "kind": [0, 9, 3],
    "town": ["oslo", "bern", "lima"],
    "code": [7, 123456, -4],
}
ALL = {
    "age": "float_discretized",
    "size": "float_normalized",
    "kind": "integer_categorical",
    "town": "string_categorical",
    "code": "integer_hashed",
}


def make(name):
    if name == "names":
        return FeatureSpace(ALL, num_discretization_bins=4, hashing_dim=8)
    if name == "crosses":
        return FeatureSpace(
            {"town": "string_categorical", "kind": "integer_categorical", "age": "float"},
            crosses=[("town", "kind"), FeatureSpace.cross(("kind", "town"), crossing_dim=5)],
            crossing_dim=7,
        )
    if name == "dict":
        return FeatureSpace(
            {
                "town": FeatureSpace.string_categorical(output_mode="int", name="town"),
                "kind": FeatureSpace.integer_categorical(max_tokens=4, num_oov_indices=2, output_mode="int", name="kind"),
                "size": FeatureSpace.float_rescaled(scale=0.5, offset=1.0, name="size"),
                "age": FeatureSpace.float_discretized(num_bins=3, output_mode="int", name="age"),
            },
            crosses=[FeatureSpace.cross(("town", "kind"), crossing_dim=11, output_mode="int")],
            output_mode="dict",
        )
    if name == "factories":
        return FeatureSpace(
            {
                "age": FeatureSpace.float(name="age"),
                "town": FeatureSpace.string_hashed(num_bins=6, name="town"),
                "code": FeatureSpace.integer_hashed(num_bins=4, name="code"),
                "kind": FeatureSpace.integer_categorical(max_tokens=3, name="kind"),
            },
            name="factories",
        )
    if name == "own":
        return FeatureSpace(
            {
                "town": FeatureSpace.feature(
                    preprocessor=keras.layers.Hashing(num_bins=3, output_mode="one_hot", name="bins"),
                    dtype="string",
                    output_mode="float",
                ),
                "size": FeatureSpace.feature(
                    dtype="float32", preprocessor=keras.layers.Normalization(axis=-1, mean=1.0, variance=4.0, name="n"), output_mode="float"
                ),
            }
        )
    raise ValueError(name)


def plain(x):
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    return {"dtype": x.dtype.name, "values": np.asarray(x).astype("float64").round(6).tolist()}


cases = {}
for name in ["names", "crosses", "dict", "factories", "own"]:
    space = make(name)
    wanted = {key: DATA[key] for key in space.features}
    space.adapt({key: (np.array(v, "int32") if key in ("kind", "code") else v) for key, v in wanted.items()})
    rows = {key: ROWS[key] for key in space.features}
    one = {key: value[0] for key, value in rows.items()}
    dataset = tf.data.Dataset.from_tensor_slices({key: DATA[key] for key in space.features}).batch(16)
    again = make(name)
    again.adapt(dataset)
    encoded = space.get_encoded_features()
    shape = {key: list(t.shape) for key, t in encoded.items()} if isinstance(encoded, dict) else list(encoded.shape)
    cases[name] = {
        "rows": plain(space(rows)),
        "one": plain(space(one)),
        "batched": plain(again(rows)),
        "inputs": {key: [list(t.shape), t.dtype] for key, t in space.get_inputs().items()},
        "encoded": shape,
    }


def configuration(name):
    config = make(name).get_config()
    return json.loads(json.dumps(config))


found = {
    "versions": {"keras": keras.__version__, "tensorflow": tf.__version__},
    "seed": SEED,
    "data": DATA,
    "given": ROWS,
    "cases": cases,
    "configs": {name: configuration(name) for name in ["dict", "factories", "own"]},
}
OUT.write_text(json.dumps(found, separators=(",", ":")) + "\n")
