"""Makes packages/layers/golden/nested-models.json with Keras on TensorFlow: models whose inputs and outputs are trees.

Run: KERAS_BACKEND=tensorflow python tools/golden/nested_models.py
"""

import json
import os
import pathlib
import warnings

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

warnings.simplefilter("ignore")
OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden/nested-models.json"

DATA = {
    "x": np.ones((4, 3)),
    "A": np.zeros((4, 2)),
    "B": np.ones((4, 1)),
    "C": np.full((4, 1), 2.0),
    "W": np.array([1.0, 0, 1, 0]),
    "V": np.array([0.0, 0, 1, 0]),
}
# The trees of the outputs a, b and c.
FORMS = {
    "mixed": {"p": "a", "q": ["b", "c"]},
    "names": {"z": "a", "y": {"r": "b", "s": "c"}},
    "lists": ["a", ["b", "c"]],
    "names in a list": ["a", {"r": "b", "s": "c"}],
    "flat": {"p": "a", "q": "b", "r": "c"},
    "one": {"p": "a"},
    "one inside": {"p": {"q": "a"}},
}


def mapped(tree, fn):
    if isinstance(tree, dict):
        return {k: mapped(v, fn) for k, v in tree.items()}
    if isinstance(tree, list):
        return [mapped(v, fn) for v in tree]
    return None if tree is None else fn(tree)


def dense(units, name):
    return layers.Dense(units, name=name, kernel_initializer="ones")


def functional(form):
    x = keras.Input((3,), name="i")
    a = dense(2, "a")(x)
    outputs = {"a": a, "b": dense(1, "b")(x), "c": dense(1, "c")(a)}
    return keras.Model(x, mapped(form, outputs.get))


class Subclass(keras.Model):
    def __init__(self, form):
        super().__init__()
        self.form = lambda: form
        self.a, self.b, self.c = dense(2, "a"), dense(1, "b"), dense(1, "c")

    def call(self, x):
        a = self.a(x)
        return mapped(self.form(), {"a": a, "b": self.b(x), "c": self.c(a)}.get)


MIXED = {"p": "A", "q": ["B", "C"]}
NAMES = {"z": "A", "y": {"r": "B", "s": "C"}}
LISTS = ["A", ["B", "C"]]
LOSS = {"p": "mse", "q": ["mse", "mae"]}
METRICS = {"p": ["mae"], "q": ["mse", "mae"]}
CASES = [
    # form, targets, options of compile, weights of the examples
    ("mixed", MIXED, {"loss": "mse"}),
    ("mixed", MIXED, {"loss": LOSS}),
    ("mixed", MIXED, {"loss": ["mse", "mse", "mae"]}),
    ("mixed", ["A", "B", "C"], {"loss": ["mse", "mse", "mae"]}),
    ("mixed", MIXED, {"loss": {"p": "mse", "q": ["mse", None]}}),
    ("mixed", {"p": "A", "q": ["B", None]}, {"loss": {"p": "mse", "q": ["mse", None]}}),
    ("mixed", MIXED, {"loss": {"p": None, "q": ["mse", "mae"]}}),
    ("mixed", MIXED, {"loss": {"p": "mse", "q": None}}),
    ("mixed", MIXED, {"loss": {"p": "mse"}}),
    ("mixed", {"p": "A"}, {"loss": {"p": "mse"}}),
    ("mixed", {"p": "A"}, {"loss": LOSS}),
    ("mixed", {"p": "A", "q": ["B"]}, {"loss": LOSS}),
    ("mixed", {**MIXED, "t": "C"}, {"loss": LOSS}),
    ("mixed", MIXED, {"loss": {**LOSS, "t": "mse"}}),
    ("mixed", MIXED, {"loss": {"a": "mse", "b": "mse", "c": "mse"}}),
    ("mixed", MIXED, {"loss": LOSS, "loss_weights": {"p": 1.0, "q": [0.5, 0.25]}}),
    ("mixed", MIXED, {"loss": LOSS, "loss_weights": [1.0, 0.5, 0.25]}),
    ("mixed", MIXED, {"loss": LOSS, "loss_weights": {"p": 1.0}}),
    ("mixed", MIXED, {"loss": LOSS, "loss_weights": [1.0, 0.5]}),
    ("mixed", MIXED, {"loss": "mse", "metrics": METRICS}),
    ("mixed", MIXED, {"loss": "mse", "metrics": {"p": ["mae"], "q": [["mse"], ["mae", "mse"]]}}),
    ("mixed", MIXED, {"loss": "mse", "metrics": {"p": ["mae"], "q": [None, None]}}),
    ("mixed", MIXED, {"loss": "mse", "metrics": {"p": ["mae"], "q": None}}),
    ("mixed", MIXED, {"loss": "mse", "metrics": {"p": ["mae"]}}),
    ("mixed", MIXED, {"loss": "mse", "metrics": ["mae"]}),
    ("mixed", MIXED, {"loss": "mse", "metrics": {**METRICS, "t": "mae"}}),
    ("mixed", MIXED, {"loss": "mse", "weighted_metrics": METRICS}, {"p": "W", "q": ["V", "W"]}),
    ("mixed", MIXED, {"loss": "mse", "metrics": METRICS, "weighted_metrics": METRICS}, {"p": "W", "q": ["V", "W"]}),
    ("mixed", MIXED, {"loss": "mse", "weighted_metrics": METRICS}, "W"),
    ("mixed", MIXED, {"loss": "mse"}, {"p": "W", "q": [None, "W"]}),
    ("mixed", MIXED, {"loss": "mse"}, {"p": "W"}),
    ("mixed", MIXED, {"loss": "mse"}, {"p": "W", "q": None}),
    ("names", NAMES, {"loss": "mse"}),
    ("names", NAMES, {"loss": {"z": "mse", "y": {"r": "mse", "s": "mae"}}, "metrics": {"z": "mae", "y": {"r": "mse", "s": ["mae", "mse"]}}}),
    ("names", NAMES, {"loss": {"y": {"s": "mae"}}}),
    ("names", {"y": {"s": "C"}}, {"loss": {"y": {"s": "mae"}}}),
    ("names", {"z": None, "y": {"r": None, "s": "C"}}, {"loss": {"y": {"s": "mae"}}}),
    ("names", NAMES, {"loss": {"z": "mse", "y": {"r": "mse", "t": "mae"}}}),
    ("lists", LISTS, {"loss": "mse"}),
    ("lists", ["A", "B", "C"], {"loss": "mse"}),
    ("lists", LISTS, {"loss": ["mse", ["mse", "mae"]], "metrics": ["mae", [["mse"], ["mae"]]]}),
    ("lists", LISTS, {"loss": {"a": "mse", "b": "mse", "c": "mae"}}),
    ("lists", {"a": "A", "b": "B", "c": "C"}, {"loss": ["mse", ["mse", "mae"]]}),
    ("names in a list", ["A", {"r": "B", "s": "C"}], {"loss": "mse"}),
    ("names in a list", ["A", {"r": "B", "s": "C"}], {"loss": ["mse", {"r": "mse", "s": "mae"}], "metrics": ["mae", {"r": "mse", "s": "mae"}]}),
    ("flat", {"p": "A", "q": "B", "r": "C"}, {"loss": "mse", "metrics": {"p": "mae"}}),
    ("flat", {"p": "A", "q": "B", "r": "C"}, {"loss": {"p": "mse"}, "metrics": {"p": "mae"}}),
    ("flat", {"p": "A"}, {"loss": {"p": "mse"}}),
    ("flat", ["A", "B", "C"], {"loss": ["mse", "mse", "mae"], "metrics": ["mae", "mse", "mae"]}),
    ("one", {"p": "A"}, {"loss": {"p": "mse"}, "metrics": {"p": ["mae"]}}),
    ("one", "A", {"loss": "mse", "metrics": ["mae"]}),
    ("one inside", {"p": {"q": "A"}}, {"loss": {"p": {"q": "mse"}}, "metrics": {"p": {"q": ["mae"]}}}),
    ("one inside", "A", {"loss": "mse", "metrics": ["mae"]}),
]
SUBCLASSED = [
    ("mixed", MIXED, {"loss": "mse", "metrics": METRICS}),
    ("mixed", MIXED, {"loss": LOSS}),
    ("lists", LISTS, {"loss": "mse", "metrics": ["mae", ["mse", "mae"]]}),
    ("names", NAMES, {"loss": {"z": "mse", "y": {"r": "mse", "s": "mae"}}, "metrics": {"z": "mae", "y": {"r": "mae", "s": "mse"}}}),
    ("flat", {"p": "A", "q": "B", "r": "C"}, {"loss": "mse", "metrics": {"p": "mae"}}),
]


def tensors(tree):
    return mapped(tree, lambda name: DATA[name].astype("float32"))


def run(make, form, y, options, weights=None):
    case = {"form": FORMS[form], "y": y, "compile": options, "sample_weight": weights}
    try:
        options = json.loads(json.dumps(options))
        model = make(FORMS[form])
        model.compile(optimizer=keras.optimizers.SGD(0.01), **options)
        logs = model.evaluate(tensors("x"), tensors(y), sample_weight=tensors(weights), verbose=0, return_dict=True)
        history = make(FORMS[form])
        history.compile(optimizer=keras.optimizers.SGD(0.01), **options)
        history = history.fit(tensors("x"), tensors(y), sample_weight=tensors(weights), batch_size=2, shuffle=False, verbose=0).history
        return {**case, "logs": {k: float(v) for k, v in logs.items()}, "history": {k: float(v[0]) for k, v in history.items()}}
    except (ValueError, KeyError, TypeError):
        return {**case, "logs": None, "history": None}


def inputs():
    i, j, k = (keras.Input((n,), name=name) for n, name in ((3, "i"), (2, "j"), (1, "k")))
    h = layers.Concatenate(name="all")([i, j, k])
    a = dense(2, "a")(h)
    return keras.Model({"u": i, "v": [j, {"w": k}]}, {"p": a, "q": [dense(1, "b")(h), dense(1, "c")(a)]}, name="inner")


def outer():
    i, j, k = (keras.Input((n,), name=name) for n, name in ((3, "x3"), (2, "x2"), (1, "x1")))
    y = inputs()({"u": i, "v": [j, {"w": k}]})
    return keras.Model([i, j, k], {"sum": layers.Add(name="sum")(y["q"]), "rest": [y["p"]]}, name="outer")


shapes = {"u": (4, 3), "v": [(4, 2), {"w": (4, 1)}]}
x = {"u": np.ones((4, 3)), "v": [np.full((4, 2), 2.0), {"w": np.full((4, 1), 3.0)}]}
inner, whole = inputs(), outer()


def values(tree):
    return keras.tree.map_structure(lambda t: np.asarray(t)[0].tolist(), tree)


json_of = lambda model: json.loads(model.to_json())
golden = {
    "made": {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__},
    "data": {k: {"shape": list(v.shape), "values": v.ravel().tolist()} for k, v in DATA.items()},
    "functional": [run(functional, *case) for case in CASES],
    "subclassed": [run(Subclass, *case) for case in SUBCLASSED],
    "inner": {
        "json": json_of(inner),
        "predicted": values(inner.predict(x, verbose=0)),
        "outputShape": inner.compute_output_shape(shapes),
        "outputNames": inner.output_names,
    },
    "outer": {
        "json": json_of(whole),
        "predicted": values(whole.predict([x["u"], x["v"][0], x["v"][1]["w"]], verbose=0)),
    },
}
OUT.write_text(json.dumps(golden) + "\n")
