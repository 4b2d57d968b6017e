"""Makes packages/eagre/golden/sparse-layers.json: layers and models of Keras on TensorFlow on sparse and ragged tensors.

Run: KERAS_BACKEND=tensorflow python tools/golden/sparse_layers.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden/sparse-layers.json"
TABLE = np.arange(10.0).reshape(5, 2).tolist()

INPUTS = {
    "ragged": tf.RaggedTensor.from_row_lengths(tf.reshape(tf.range(12.0), [6, 2]), [2, 1, 3]),
    "raggedIds": tf.ragged.constant([[1, 2], [], [3, 0, 3]]),
    "raggedTexts": tf.ragged.constant([["a", "b"], [], ["c"]]),
    "sparse": tf.sparse.from_dense(tf.constant([[0.0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 4, 0]])),
    "other": tf.sparse.from_dense(tf.constant([[0.0, 5, 1, 0], [0, 2, 0, 0], [0, 0, 2, 0]])),
    "sparse3": tf.sparse.from_dense(tf.reshape(tf.constant([0.0, 1, 0, 2, 0, 0, 3, 0]), [2, 2, 2])),
    "sparseIds": tf.sparse.from_dense(tf.constant([[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 1, 0]])),
    "sparseTexts": tf.SparseTensor([[0, 1], [2, 0]], ["a", "c"], [3, 2]),
    "ids": tf.constant([[1, 2], [3, 3]]),
    "oneRow": tf.constant([1, 2, 1]),
    "column": tf.constant([[1], [2]]),
    "ids3": tf.constant([[[1, 2]]]),
    "more": tf.constant([3, 4, 4]),
    "texts": tf.constant(["a b", "", "b c a"]),
    "weights": tf.constant([[0.5, 0.25], [1.0, 2.0]]),
}

ENCODERS = [
    ("CategoryEncoding", {"num_tokens": 4}),
    ("IntegerLookup", {"vocabulary": [1, 2, 3]}),
    ("Hashing", {"num_bins": 4}),
    ("Discretization", {"bin_boundaries": [1.0, 2.0]}),
]


def cases():
    yield "Dense", {"units": 2, "kernel_initializer": "ones", "bias_initializer": "ones", "activation": "relu"}, ["sparse"]
    yield "Embedding", {"input_dim": 5, "output_dim": 2}, ["raggedIds"]
    yield "Embedding", {"input_dim": 5, "output_dim": 2}, ["sparseIds"]
    for name, options in [
        ("Activation", {"activation": "tanh"}), ("ReLU", {"negative_slope": 0.5}), ("LeakyReLU", {}), ("Softmax", {}), ("ELU", {}),
        ("Dropout", {"rate": 0.5}), ("GaussianNoise", {"stddev": 0.1}), ("Identity", {}), ("Rescaling", {"scale": 2.0, "offset": 1.0}),
        ("GlobalAveragePooling1D", {}), ("GlobalMaxPooling1D", {}),
    ]:
        yield name, options, ["ragged"]
    for name, options in [("Dropout", {"rate": 0.5}), ("GaussianNoise", {"stddev": 0.1}), ("Identity", {}), ("Flatten", {}), ("Reshape", {"target_shape": [2, 2]})]:
        yield name, options, ["sparse"]
    yield "Flatten", {}, ["sparse3"]
    yield "Permute", {"dims": [2, 1]}, ["sparse3"]
    for name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"):
        yield name, {}, ["ragged", "ragged"]
        yield name, {}, ["sparse", "other"]
    for axis in (0, -1):
        yield "Concatenate", {"axis": axis}, ["ragged", "ragged"]
        yield "Concatenate", {"axis": axis}, ["sparse", "other"]
    for name, options in ENCODERS:
        for mode in ("multi_hot", "count", "one_hot"):
            for sparse in (False, True):
                for given in ("raggedIds", "sparseIds"):
                    if mode == "one_hot" and (sparse or (given == "sparseIds")) and not (name == "IntegerLookup" and given == "sparseIds"):
                        continue
                    yield name, {**options, "output_mode": mode, "sparse": sparse}, [given]
            for given in ("ids", "oneRow", "column", "ids3"):
                yield name, {**options, "output_mode": mode, "sparse": True}, [given]
        if name != "CategoryEncoding":
            for given in ("raggedIds", "sparseIds"):
                yield name, options, [given]
    yield "StringLookup", {"vocabulary": ["a", "b"]}, ["raggedTexts"]
    yield "StringLookup", {"vocabulary": ["a", "b"]}, ["sparseTexts"]
    yield "StringLookup", {"vocabulary": ["a", "b"], "output_mode": "count", "sparse": True}, ["raggedTexts"]
    yield "HashedCrossing", {"num_bins": 4, "output_mode": "one_hot", "sparse": True}, ["oneRow", "more"]
    for length in (None, 2):
        yield "TextVectorization", {"vocabulary": ["a", "b"], "ragged": True, "output_sequence_length": length}, ["texts"]
    for mode in ("multi_hot", "count"):
        yield "TextVectorization", {"vocabulary": ["a", "b"], "sparse": True, "output_mode": mode}, ["texts"]


def written(y):
    def plain(t):
        return [v.decode() if isinstance(v, bytes) else v for v in np.array(t).ravel().tolist()]

    if isinstance(y, tf.SparseTensor):
        return {"kind": "sparse", "dtype": y.dtype.name, "indices": y.indices.numpy().tolist(), "values": plain(y.values), "shape": y.dense_shape.numpy().tolist()}
    if isinstance(y, tf.RaggedTensor):
        return {"kind": "ragged", "dtype": y.dtype.name, "values": plain(y.flat_values), "splits": [s.numpy().tolist() for s in y.nested_row_splits], "inner": list(y.flat_values.shape[1:])}
    return {"kind": "dense", "dtype": y.dtype.name, "values": plain(y), "shape": list(y.shape)}


def layer_case(name, options, inputs):
    layer = getattr(keras.layers, name)(**options)
    given = [INPUTS[i] for i in inputs]
    if name == "Embedding":
        layer.build(None)
        layer.set_weights([np.array(TABLE)])
    y = layer(given if len(given) > 1 else given[0])
    config = layer.get_config()
    return {
        "layer": name, "inputs": inputs, "config": {k: v for k, v in config.items() if k not in ("name", "dtype")} if name != "Embedding" else {k: options[k] for k in options},
        "options": options, "y": written(y),
    }


def model_cases():
    def trained(inputs, output, data, y, **more):
        model = keras.Model(inputs, output)
        model.compile("sgd", "mse")
        before = model.predict(data, verbose=0, batch_size=2)
        history = model.fit(data, y, batch_size=2, shuffle=False, epochs=3, verbose=0).history["loss"]
        return {"config": model.get_config(), "before": before.ravel().tolist(), "history": history, "loss": model.evaluate(data, y, verbose=0), "after": model.predict(data, verbose=0).ravel().tolist(), **more}

    y = np.array([[1.0], [2.0], [3.0]])
    a = keras.Input((4,), sparse=True, name="a")
    yield trained(a, keras.layers.Dense(1, kernel_initializer="ones", name="d")(a), INPUTS["sparse"], y, x="sparse", name="dense of sparse")
    b = keras.Input((None,), dtype="int32", ragged=True, name="b")
    e = keras.layers.Embedding(5, 2, embeddings_initializer="ones", name="e")(b)
    s = keras.ops.sum(e, 1)
    yield trained(b, keras.layers.Dense(1, kernel_initializer="ones", name="d")(s), INPUTS["raggedIds"], y, x="raggedIds", name="embedding of ragged",
                  kinds=[[t.sparse, t.ragged, list(t.shape)] for t in (b, e, s)])
    c = keras.Input((4,), dtype="int32", name="c")
    h = keras.layers.IntegerLookup(vocabulary=[1, 2, 3, 4], output_mode="multi_hot", sparse=True, name="h")(c)
    yield trained(c, keras.layers.Dense(1, kernel_initializer="ones", name="d")(h), np.array([[1, 2, 3, 0], [0, 0, 0, 1], [4, 4, 2, 1]], "int32"), y,
                  x=[[1, 2, 3, 0], [0, 0, 0, 1], [4, 4, 2, 1]], name="dense of an encoding", kinds=[[t.sparse, t.ragged, list(t.shape)] for t in (c, h)])


def main():
    data = {
        "versions": {"keras": keras.__version__, "tensorflow": tf.__version__},
        "table": TABLE,
        "inputs": {name: written(x) for name, x in INPUTS.items()},
        "layers": [layer_case(*case) for case in cases()],
        "weighted": written(keras.layers.CategoryEncoding(4, output_mode="count", sparse=True)(INPUTS["ids"], count_weights=INPUTS["weights"])),
        "models": list(model_cases()),
    }
    OUT.write_text(json.dumps(data, separators=(",", ":")) + "\n")


main()
