"""Makes packages/layers/golden/training.json with Keras on TensorFlow: what fit and evaluate report, and the weights after.

Run: KERAS_BACKEND=tensorflow python tools/golden/training.py
"""

import json
import os
import pathlib
import tempfile

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = 31
OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden/training.json"
N, FEATURES, CLASSES = 13, 3, 3
rng = np.random.default_rng(SEED)


def values(x):
    x = np.asarray(x)
    return {"shape": list(x.shape), "values": [float(f"{v:.9g}") for v in x.ravel().tolist()]}


x = rng.normal(size=(N, FEATURES)).astype("float32")
labels = rng.integers(0, CLASSES, N)
data = {
    "x": x,
    "second": rng.normal(size=(N, 2)).astype("float32"),
    "labels": labels,
    "column": labels[:, None],
    "onehot": np.eye(CLASSES, dtype="float32")[labels],
    "binary": (labels > 0).astype("float32")[:, None],
    "flat": (labels > 0).astype("float32"),
    "target": rng.normal(size=(N, 1)).astype("float32"),
    "weight": rng.uniform(0.2, 2, N).astype("float32"),
    "validX": rng.normal(size=(5, FEATURES)).astype("float32"),
    "validLabels": rng.integers(0, CLASSES, 5),
    "validWeight": rng.uniform(0.2, 2, 5).astype("float32"),
}


def dense(units, activation="linear", name=None, **options):
    return layers.Dense(units, activation=activation, name=name, **options)


def classifier(normalized=False, penalty=None):
    """Two layers, perhaps with batch normalization between."""
    middle = [layers.BatchNormalization(name="n")] if normalized else []
    return keras.Sequential([
        keras.Input((FEATURES,)),
        dense(4, "tanh", "a", kernel_regularizer=penalty),
        *middle,
        dense(CLASSES, "linear", "b"),
    ])


def regressor(activation):
    return keras.Sequential([keras.Input((FEATURES,)), dense(4, "tanh", "a"), dense(1, activation, "b")])


def two_inputs():
    a, b = keras.Input((FEATURES,)), keras.Input((2,))
    joined = layers.Concatenate()([dense(2, "tanh", "a")(a), b])
    return keras.Model([a, b], dense(1, "linear", "b")(joined))


def sparse():
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


SGD = {"class": "SGD", "options": {"learningRate": 0.1}}
ADAM = {"class": "Adam", "options": {"learningRate": 0.01}}
AVERAGED = {"class": "SGD", "options": {"learningRate": 0.1, "useEma": True, "emaMomentum": 0.75}}
MOMENTUM = {"class": "SGD", "options": {"learningRate": 0.05, "momentum": 0.9}}

# Name, model, optimizer, loss (of Keras, of Eagre), x, y, options of compile, options of fit, weights of evaluate.
CASES = [
    ("labels, SGD", "classifier", SGD, "sparse", "x", "labels", {"metrics": ["accuracy"]}, {}),
    ("labels, Adam", "classifier", ADAM, "sparse", "x", "labels", {"metrics": ["accuracy"]}, {}),
    ("labels in a column", "classifier", ADAM, "sparse", "x", "column", {"metrics": ["accuracy"]}, {}),
    ("one-hot", "classifier", MOMENTUM, "categorical", "x", "onehot", {"metrics": ["accuracy", "mse"]}, {}),
    ("binary", "binary", ADAM, "binary_crossentropy", "x", "binary", {"metrics": ["accuracy"]}, {}),
    ("binary targets without a column", "binary", ADAM, "binary_crossentropy", "x", "flat", {"metrics": ["accuracy"]}, {}),
    ("regression", "regressor", ADAM, "mse", "x", "target", {"metrics": ["mae"]}, {}),
    ("sample weights", "classifier", SGD, "sparse", "x", "labels",
     {"metrics": ["accuracy"], "weightedMetrics": ["accuracy"]}, {"sampleWeight": "weight"}),
    ("class weights", "classifier", SGD, "sparse", "x", "labels",
     {"metrics": ["accuracy"], "weightedMetrics": ["accuracy"]}, {"classWeight": {"0": 2, "2": 0.5}}),
    ("validation split", "classifier", ADAM, "sparse", "x", "labels", {"metrics": ["accuracy"]}, {"validationSplit": 0.3}),
    ("validation split with weights", "classifier", ADAM, "sparse", "x", "labels",
     {"metrics": ["accuracy"]}, {"validationSplit": 0.25, "sampleWeight": "weight"}),
    ("validation data", "classifier", ADAM, "sparse", "x", "labels",
     {"metrics": ["accuracy"]}, {"validationData": ["validX", "validLabels"], "validationBatchSize": 2}),
    ("validation data with weights", "classifier", ADAM, "sparse", "x", "labels",
     {"metrics": ["accuracy"]}, {"validationData": ["validX", "validLabels", "validWeight"]}),
    ("steps in an epoch", "classifier", SGD, "sparse", "x", "labels", {"metrics": ["accuracy"]}, {"stepsPerEpoch": 2}),
    ("batch normalization", "normalized", SGD, "sparse", "x", "labels",
     {"metrics": ["accuracy"]}, {"validationSplit": 0.25}),
    ("penalties", "penalized", SGD, "sparse", "x", "labels", {}, {"validationSplit": 0.25}),
    ("averages of the weights", "classifier", AVERAGED, "sparse", "x", "labels", {"metrics": ["accuracy"]}, {"validationSplit": 0.3}),
    ("two inputs", "two_inputs", ADAM, "mse", ["x", "second"], "target", {"metrics": ["mae"]}, {"validationSplit": 0.25}),
]
MODELS = {
    "classifier": classifier,
    "normalized": lambda: classifier(normalized=True),
    "penalized": lambda: classifier(penalty=keras.regularizers.L2(0.1)),
    "binary": lambda: regressor("sigmoid"),
    "regressor": lambda: regressor("linear"),
    "two_inputs": two_inputs,
}
LOSSES = {
    "sparse": sparse,
    "categorical": lambda: keras.losses.CategoricalCrossentropy(from_logits=True),
}
SNAKE = {"sampleWeight": "sample_weight", "classWeight": "class_weight", "validationSplit": "validation_split",
         "validationData": "validation_data", "validationBatchSize": "validation_batch_size",
         "stepsPerEpoch": "steps_per_epoch", "weightedMetrics": "weighted_metrics", "metrics": "metrics"}


def pick(key):
    if isinstance(key, list):
        return [data[k] for k in key]
    return data[key]


def run(name, kind, optimizer, loss, x, y, compiled, fitted):
    keras.utils.set_random_seed(SEED)
    model = MODELS[kind]()
    for w in model.weights:
        if "moving" not in w.path:
            w.assign(w.numpy() + rng.normal(scale=0.1, size=w.shape))
    before = [values(w) for w in model.get_weights()]
    names = {"learningRate": "learning_rate", "useEma": "use_ema", "emaMomentum": "ema_momentum"}
    rate = {names.get(k, k): v for k, v in optimizer["options"].items()}
    model.compile(
        getattr(keras.optimizers, optimizer["class"])(**rate),
        LOSSES[loss]() if loss in LOSSES else loss,
        **{SNAKE[k]: v for k, v in compiled.items()},
    )
    options = {}
    for key, value in fitted.items():
        if key == "sampleWeight":
            value = pick(value)
        if key == "validationData":
            value = tuple(pick(value))
        if key == "classWeight":
            value = {int(k): v for k, v in value.items()}
        options[SNAKE[key]] = value
    history = model.fit(pick(x), pick(y), batch_size=4, epochs=2, shuffle=False, verbose=0, **options)
    evaluated = model.evaluate(pick(x), pick(y), batch_size=5, verbose=0, return_dict=True)
    return {
        "name": name, "model": kind, "optimizer": optimizer, "loss": loss, "x": x, "y": y,
        "compile": compiled, "fit": fitted, "before": before,
        "history": {k: [float(v) for v in vs] for k, vs in history.history.items()},
        "after": [values(w) for w in model.get_weights()],
        "evaluated": {k: float(v) for k, v in evaluated.items()},
        "predicted": values(model.predict(pick(x), verbose=0)),
    }


def on_batch():
    """What train_on_batch and test_on_batch say, batch after batch."""
    keras.utils.set_random_seed(SEED)
    model = classifier()
    before = [values(w) for w in model.get_weights()]
    model.compile(keras.optimizers.SGD(0.1), sparse(), metrics=["accuracy"], weighted_metrics=["accuracy"])
    parts = [slice(0, 5), slice(5, 8), slice(8, 13)]
    logs = []
    for part in parts:
        inputs, labels, weight = data["x"][part], data["labels"][part], data["weight"][part]
        logs.append(model.train_on_batch(inputs, labels, sample_weight=weight, return_dict=True))
    logs.append(model.train_on_batch(data["x"], data["labels"], class_weight={0: 2, 2: 0.5}, return_dict=True))
    for part in parts:
        logs.append(model.test_on_batch(data["x"][part], data["labels"][part], return_dict=True))
    return {
        "before": before,
        "parts": [[part.start, part.stop] for part in parts],
        "logs": [{k: float(v) for k, v in log.items()} for log in logs],
        "after": [values(w) for w in model.get_weights()],
        "predicted": values(model.predict_on_batch(data["x"])),
    }


def csv():
    """The header that CSVLogger writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/log.csv"
        model = regressor("linear")
        model.compile("sgd", "mse", metrics=["mae"])
        model.fit(x, data["target"], verbose=0, callbacks=[keras.callbacks.CSVLogger(path)])
        return pathlib.Path(path).read_text().splitlines()[0]


def main():
    out = {
        "made": {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__, "seed": SEED},
        "data": {k: values(v) for k, v in data.items()},
        "cases": [run(*case) for case in CASES],
        "on_batch": on_batch(),
        "csv_header": csv(),
    }
    OUT.write_text(json.dumps(out, separators=(",", ":")) + "\n")
    print(f"{len(out['cases'])} cases, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
