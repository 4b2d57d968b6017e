"""What Keras 3's callbacks write for some logs, for packages/layers: python tools/golden/callback_files.py"""

import json
import os
import pathlib
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras

OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden/callback_files.json"
LOGS = [{"loss": 1.0, "accuracy": 0.25}, {"loss": float("nan"), "accuracy": 2.0}, {"loss": float("inf"), "accuracy": 0.0}, {"loss": 1e-05, "accuracy": -1.25e-07}, {"loss": 1e16, "accuracy": 123456.75}]

if __name__ == "__main__":
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    # Keras looks at optimizers and metrics only when it trains.
    model.compile(loss="mse")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        checkpoint = keras.callbacks.ModelCheckpoint(str(folder / "{epoch}-{loss}-{accuracy}.weights.h5"), save_weights_only=True)
        rows = keras.callbacks.CSVLogger(str(folder / "log.csv"))
        for callback in (checkpoint, rows):
            callback.set_model(model)
            callback.on_train_begin()
            for epoch, logs in enumerate(LOGS):
                callback.on_epoch_begin(epoch)
                callback.on_epoch_end(epoch, dict(logs))
            callback.on_train_end()
        names = sorted(path.name.removesuffix(".weights.h5") for path in folder.glob("*.weights.h5"))
        result = {
            # JSON has neither of them.
            "logs": [{key: value if value - value == 0 else str(value) for key, value in logs.items()} for logs in LOGS],
            "names": names,
            "rows": (folder / "log.csv").read_text().splitlines(),
            "versions": {"keras": keras.__version__},
        }
    OUT.write_text(json.dumps(result, indent=1) + "\n")
