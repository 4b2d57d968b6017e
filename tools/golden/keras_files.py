"""A small model as real Keras saves it, for `eagre inspect`: packages/cli/golden."""

import os
import pathlib

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np

SEED = 3
keras.utils.set_random_seed(SEED)
folder = pathlib.Path(__file__).parents[2] / "packages" / "cli" / "golden"
folder.mkdir(exist_ok=True)
model = keras.Sequential(
    [keras.layers.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(1)], name="golden"
)
model.compile("adam", "mse")
model.fit(np.ones((2, 4)), np.ones((2, 1)), verbose=0)
model.save(folder / "model.keras")
model.save_weights(folder / "model.weights.h5")
print("Keras", keras.__version__, "seed", SEED)
