"""Checks that real Keras reads the models and weights that Eagre writes, that they predict the same, and train on with the same losses.

    pnpm build
    python tools/interop/keras_files.py
"""

import pathlib
import subprocess
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "golden"))

# It registers the classes of the models.
import keras_model_files as golden
import json

import keras
import numpy as np

CASES = json.loads((golden.FOLDER / "models.json").read_text())["cases"]
# Those that Keras itself reads in its older format: it writes attention and operations too, and then refuses its own files.
LEGACY = set(golden.LEGACY) - {"attention", "operations", "indexed"}


def arrays(values):
    if isinstance(values, dict) and "dtype" in values and "data" in values:
        return np.array(values["data"]).astype("U" if values["dtype"] == "string" else values["dtype"]).reshape(values["shape"])
    if isinstance(values, dict):
        return {name: arrays(one) for name, one in values.items()}
    return [arrays(one) for one in values] if isinstance(values, list) else values


def flat(values):
    return np.concatenate([np.asarray(leaf, "float64").ravel() for leaf in keras.tree.flatten(values)])


def check(model, case, what, trains=True):
    x, y = arrays(case["x"]), arrays(case["y"])
    np.testing.assert_allclose(flat(golden.predicted(model, x)), flat(arrays(case["outputs"])), 2e-4, 2e-5, err_msg=what)
    if trains and "losses" in case:
        np.testing.assert_allclose(golden.losses(model, x, y), case["losses"], 2e-4, 2e-5, err_msg=what)


def main():
    command = sys.argv[1:] or ["node"]
    counts = {"keras": 0, "weights": 0, "shards": 0, "h5": 0}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command, HERE / "keras_files.mjs", golden.FOLDER, folder], check=True)
        # What does not fit, Keras only warns of.
        warnings.filterwarnings("error", message="Skipping variable loading")
        for name, case in CASES.items():
            path = f"{folder}/{name}"
            model = keras.saving.load_model(f"{path}.keras")
            check(model, case, name)
            counts["keras"] += 1
            # Weights into a model of real Keras, whose own are set to other values before.
            for ending, kind in (("weights.h5", "weights"), ("weights.json", "shards")):
                model = keras.saving.load_model(golden.FOLDER / f"{name}.keras")
                model.set_weights([w * 0 for w in model.get_weights()])
                model.load_weights(f"{path}.{ending}")
                check(model, case, f"{name}, {kind}")
                counts[kind] += 1
            if name in LEGACY:
                # Keras 3.15 builds the optimizer of such a file for no variables, and then refuses to train: of its own files too.
                check(keras.saving.load_model(f"{path}.h5"), case, f"{name}, h5", trains=False)
                counts["h5"] += 1
    print(f"real Keras {keras.__version__} reads", ", ".join(f"{count} {kind}" for kind, count in counts.items()))


if __name__ == "__main__":
    main()
