"""Makes packages/layers/golden/training-outputs.json with Keras on TensorFlow: fit and evaluate of models of several outputs.

Run: KERAS_BACKEND=tensorflow python tools/golden/training_outputs.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = 37
OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden/training-outputs.json"
N, FEATURES, CLASSES = 11, 3, 3
rng = np.random.default_rng(SEED)


def values(x):
    x = np.asarray(x)
    return {"shape": list(x.shape), "values": [float(f"{v:.9g}") for v in x.ravel().tolist()]}


labels = rng.integers(0, CLASSES, N)
data = {
    "x": rng.normal(size=(N, FEATURES)).astype("float32"),
    "labels": labels,
    "onehot": np.eye(CLASSES, dtype="float32")[labels],
    "target": rng.normal(size=(N, 1)).astype("float32"),
    "weight": rng.uniform(0.2, 2, N).astype("float32"),
    "other": rng.uniform(0.2, 2, N).astype("float32"),
}


def functional():
    x = keras.Input((FEATURES,), name="x")
    h = layers.Dense(4, "tanh", name="hidden")(x)
    return keras.Model(x, [layers.Dense(CLASSES, "softmax", name="digit")(h), layers.Dense(1, name="size")(h)])


class Subclass(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(4, "tanh")
        self.digit = layers.Dense(CLASSES, "softmax")
        self.size = layers.Dense(1)

    def call(self, x):
        h = self.hidden(x)
        return [self.digit(h), self.size(h)]


MODELS = {"functional": functional, "subclass": Subclass}
SPARSE, MSE, MAE = "sparse_categorical_crossentropy", "mse", "mae"

# Name, model, y, options of compile, options of fit; names of data stand for them.
CASES = [
    ("lists", "functional", ["labels", "target"],
     {"loss": [SPARSE, MSE], "metrics": [["accuracy"], ["mae", "mse"]]}, {}),
    ("by name", "functional", {"size": "target", "digit": "labels"},
     {"loss": {"size": MSE, "digit": SPARSE}, "lossWeights": {"size": 0.25, "digit": 2.0}, "metrics": {"size": ["mae"]}},
     {}),
    ("weights of the losses in a list", "functional", ["labels", "target"],
     {"loss": [SPARSE, MSE], "lossWeights": [0.5, 1.5], "metrics": [None, "mae"]}, {}),
    ("one loss for all", "functional", ["onehot", "target"], {"loss": MSE}, {}),
    ("an output without a loss", "functional", ["labels", "target"],
     {"loss": [SPARSE, None], "metrics": [["accuracy"], ["mae"]]}, {}),
    ("targets for the output with a loss", "functional", ["labels"], {"loss": [SPARSE, None]}, {}),
    ("weights of examples for all outputs", "functional", ["labels", "target"],
     {"loss": [SPARSE, MSE], "metrics": [["accuracy"], ["mae"]], "weightedMetrics": [["accuracy"], ["mae"]]},
     {"sampleWeight": "weight"}),
    ("weights of examples for each output", "functional", ["labels", "target"],
     {"loss": [SPARSE, MSE], "weightedMetrics": {"digit": ["accuracy"], "size": ["mae"]}},
     {"sampleWeight": ["weight", "other"]}),
    ("validation split", "functional", ["labels", "target"],
     {"loss": [SPARSE, MSE], "metrics": [["accuracy"], ["mae"]]}, {"validationSplit": 0.3}),
    ("outputs without names", "subclass", ["labels", "target"],
     {"loss": [SPARSE, MAE], "metrics": [["accuracy"], ["mae", "mse"]]}, {}),
]
SNAKE = {"sampleWeight": "sample_weight", "validationSplit": "validation_split", "lossWeights": "loss_weights",
         "weightedMetrics": "weighted_metrics"}


def resolved(given):
    """Names of data by what they stand for, in lists and dicts."""
    if isinstance(given, str):
        return data[given]
    if isinstance(given, list):
        return [resolved(item) for item in given]
    if isinstance(given, dict):
        return {name: resolved(item) for name, item in given.items()}
    return given


def snake(options):
    return {SNAKE.get(name, name): option for name, option in options.items()}


def run(name, model_name, y, compile_options, fit_options):
    keras.utils.set_random_seed(SEED)
    model = MODELS[model_name]()
    model(data["x"])
    before = model.get_weights()
    # Eagerly, since in a graph Keras does not know the sizes of batches where it averages the losses of the outputs: it takes all
    # batches for equally large, and these losses do not add up to that of the model.
    model.compile(optimizer=keras.optimizers.SGD(0.1), run_eagerly=True, **snake(compile_options))
    fit = snake({option: resolved(value) for option, value in fit_options.items()})
    history = model.fit(data["x"], resolved(y), batch_size=4, epochs=2, shuffle=False, verbose=0, **fit).history
    evaluated = model.evaluate(data["x"], resolved(y), batch_size=5, verbose=0, return_dict=True)
    return {
        "name": name, "model": model_name, "y": y, "compile": compile_options, "fit": fit_options,
        "before": [values(w) for w in before],
        "history": {k: [float(f"{v:.9g}") for v in vs] for k, vs in history.items()},
        "after": [values(w) for w in model.get_weights()],
        "evaluated": {k: float(f"{v:.9g}") for k, v in evaluated.items()},
        "predicted": [values(p) for p in model.predict(data["x"], verbose=0)],
    }


about = {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__, "seed": SEED}
golden = {"made": about, "data": {k: values(v) for k, v in data.items()}, "cases": [run(*case) for case in CASES]}
OUT.write_text(json.dumps(golden) + "\n")
