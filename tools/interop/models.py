"""Checks that the real Keras reads the JSON of models that Eagre writes, and that they predict what they predicted in Keras.

    pnpm build
    python tools/interop/models.py
"""

import json
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "golden"))

import keras
import numpy as np

# It registers the classes of the models.
import models as golden  # noqa: F401

CASES = json.loads((HERE.parents[1] / "packages/eagre/golden/models.json").read_text())["models"]


def flat(value):
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, (list, tuple)):
        return np.concatenate([flat(item) for item in value] or [np.zeros(0)])
    return np.asarray(value, "float64").ravel()


def main():
    text = subprocess.run(["node", HERE / "models.mjs"], check=True, capture_output=True, text=True).stdout
    written = json.loads(text)
    for case in CASES:
        model = keras.models.model_from_json(written[case["name"]])
        if "weights" not in case:
            continue
        model.set_weights([np.asarray(w["value"], "float32") for w in case["weights"]])
        symbolic = model.inputs[0] if isinstance(model, keras.Sequential) else model.input
        given = keras.tree.map_structure_up_to(
            symbolic, lambda t, value: np.asarray(value).astype(t.dtype), symbolic, case["inputs"]
        )
        np.testing.assert_allclose(flat(golden.plain(model(given))), flat(case["outputs"]), 1e-5, 1e-6, err_msg=case["name"])
    print(f"{len(CASES)} models are read, and predict the same")


if __name__ == "__main__":
    main()
