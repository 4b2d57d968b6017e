"""Makes packages/layers/golden/distillation.json with Keras on TensorFlow: losses of distillation, their configurations, a training.

Run: KERAS_BACKEND=tensorflow python tools/golden/distillation.py
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
from keras.distillation import Distiller, FeatureDistillation, LogitsDistillation

SEED = 71
OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden/distillation.json"
rng = np.random.default_rng(SEED)

teacher = rng.uniform(0.1, 2, [4, 3]).astype("float32")
student = rng.uniform(0.1, 2, [4, 3]).astype("float32")


def losses():
    yield "default", LogitsDistillation()
    for name in ["kl_divergence", "kld", "KLDivergence", "mse", "mean_absolute_error", "categorical_crossentropy"]:
        yield f"logits {name}", LogitsDistillation(temperature=2.5, loss=name)
    yield "logits KLDivergence object", LogitsDistillation(4, keras.losses.KLDivergence())
    yield (
        "logits crossentropy object",
        LogitsDistillation(temperature=2, loss=keras.losses.CategoricalCrossentropy(from_logits=True)),
    )
    yield "features", FeatureDistillation()
    yield "features cosine_similarity", FeatureDistillation(loss="cosine_similarity")
    yield "features object", FeatureDistillation(keras.losses.Huber(delta=0.5), "a", "b")


def values(rows, columns, shift=0.0):
    return np.sin(np.arange(rows * columns) * 0.7 + shift).reshape(rows, columns).astype("float32")


def model(units, name):
    made = keras.Sequential(
        [
            keras.Input([3]),
            layers.Dense(units, activation="tanh", name="first"),
            layers.Dense(4, activation="tanh", name="middle"),
            layers.Dense(2, name="last"),
        ],
        name=name,
    )
    for i, w in enumerate(made.weights):
        w.assign((0.3 * np.cos(np.arange(np.prod(w.shape)) * 1.3 + i)).reshape(w.shape))
    return made


def trainings():
    features = FeatureDistillation("mse", "middle", "middle")
    yield "logits", LogitsDistillation(loss=keras.losses.KLDivergence()), {}
    yield "both", [LogitsDistillation(2.0, "mse"), features], {"distillation_loss_weights": [1.0, 0.5]}
    yield "features only", features, {"student_loss_weight": 0.0}
    yield "student only", [features], {"student_loss_weight": 1.0}


cases = {}
for key, loss in losses():
    cases[key] = {
        "loss": float(loss.compute_loss(teacher, student)),
        "config": loss.get_config(),
        "again": float(type(loss).from_config(loss.get_config()).compute_loss(teacher, student)),
    }

trained = {}
for key, loss, options in trainings():
    distiller = Distiller(model(6, "teacher"), model(5, "student"), loss, **options)
    distiller.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse", metrics=["mae"])
    x, y = values(10, 3), values(10, 2, 2.0)
    history = distiller.fit(x, y, epochs=3, batch_size=4, shuffle=False, verbose=0).history
    trained[key] = {
        "history": history,
        "evaluated": distiller.evaluate(x, y, batch_size=4, verbose=0, return_dict=True),
        "trainable": len(distiller.trainable_weights),
        "module": keras.saving.serialize_keras_object(distiller)["module"],
        "config_keys": sorted(distiller.get_config()),
        "losses": distiller.get_config()["distillation_losses"],
    }

OUT.write_text(
    json.dumps(
        {
            "versions": {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__},
            "seed": SEED,
            "teacher": teacher.tolist(),
            "student": student.tolist(),
            "cases": cases,
            "trained": trained,
        },
        indent=1,
    )
    + "\n"
)
