"""Models in older .h5 files as Keras 2 (tf_keras) writes them: packages/layers/golden/keras2-files.

    pip install tf_keras==2.21.0
    python tools/golden/keras2_files.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tf_keras as keras

L = keras.layers
SEED = 5
FOLDER = pathlib.Path(__file__).parents[2] / "packages/layers/golden/keras2-files"


def floats(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def functional():
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    dense = L.Dense(2, activation="tanh", name="both")
    x, y = dense(a), dense(b)
    inner = keras.Sequential([L.Dense(3, input_shape=(2,)), L.BatchNormalization()], name="inner")
    return keras.Model([a, b], L.Dense(1)(L.Concatenate()([inner(x), L.Add()([x, y])])))


MODELS = {
    "dense": (lambda: keras.Sequential([L.Dense(4, activation="relu", input_shape=(3,)), L.Dropout(0.0), L.Dense(1)]), floats(4, 3)),
    "images": (
        lambda: keras.Sequential([L.Conv2D(2, 3, padding="same", input_shape=(6, 6, 1)), L.BatchNormalization(), L.MaxPooling2D(), L.DepthwiseConv2D(2), L.Flatten(), L.Dense(1)]),
        floats(2, 6, 6, 1),
    ),
    "words": (
        lambda: keras.Sequential([L.Embedding(6, 3, input_length=4), L.Bidirectional(L.LSTM(2, return_sequences=True)), L.TimeDistributed(L.Dense(2)), L.GRU(2), L.Dense(1)]),
        np.array([[1, 2, 3, 0], [4, 5, 1, 1]], "float32"),
    ),
    "functional": (functional, [floats(4, 3), floats(4, 3) * 2]),
}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    cases = {}
    for name, (make, x) in MODELS.items():
        keras.utils.set_random_seed(SEED)
        model = make()
        model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
        rows = len(x[0] if isinstance(x, list) else x)
        y = floats(rows, 1)
        model.train_on_batch(x, y)
        model.save(FOLDER / f"{name}.h5")
        outputs = np.asarray(model(x)).ravel().tolist()
        losses = [float(model.train_on_batch(x, y, reset_metrics=True, return_dict=True)["loss"]) for _ in range(2)]
        given = x if isinstance(x, list) else [x]
        cases[name] = {"x": [{"shape": list(v.shape), "data": v.ravel().tolist()} for v in given], "y": y.ravel().tolist(), "outputs": outputs, "losses": losses}
    (FOLDER / "models.json").write_text(json.dumps({"tf_keras": keras.__version__, "seed": SEED, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
