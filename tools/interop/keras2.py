"""Checks that Keras 2, with its newer optimizers, goes on with models that Eagre has trained, and Eagre with its.

    pnpm build
    python tools/interop/keras2.py
"""

import json
import os
import pathlib
import subprocess
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf
import tf_keras as keras

X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 4, 3)
Y = np.array([[0.5], [-0.25]], np.float32)


def attention():
    layers = keras.layers
    x = keras.Input((4, 3))
    y = layers.MultiHeadAttention(2, 2)(x, x)
    y = layers.LayerNormalization()(layers.Add()([x, y]))
    return keras.Model(x, layers.Dense(1)(layers.LSTM(2)(y)))


def dense():
    layers = keras.layers
    return keras.Sequential([keras.Input((4, 3)), layers.Dense(3, activation="tanh"), layers.BatchNormalization(), layers.Flatten(), layers.Dense(1)])


optimizers = keras.optimizers
CASES = {
    "adam": (attention, lambda: optimizers.Adam(0.05)),
    "amsgrad": (dense, lambda: optimizers.Adam(0.05, amsgrad=True, use_ema=True)),
    "schedule": (dense, lambda: optimizers.Adam(optimizers.schedules.ExponentialDecay(0.05, 2, 0.5))),
    "sgd": (dense, lambda: optimizers.SGD(0.05, momentum=0.9)),
    "plain": (dense, lambda: optimizers.SGD(0.05)),
    "rmsprop": (dense, lambda: optimizers.RMSprop(0.01, momentum=0.5, centered=True)),
    "adagrad": (dense, lambda: optimizers.Adagrad(0.05)),
    "adadelta": (dense, lambda: optimizers.Adadelta(0.5)),
    "adamax": (dense, lambda: optimizers.Adamax(0.05)),
    "nadam": (dense, lambda: optimizers.Nadam(0.05)),
    "ftrl": (dense, lambda: optimizers.Ftrl(0.05)),
    "lion": (dense, lambda: optimizers.Lion(0.05)),
}


def compiled(name):
    make, optimizer = CASES[name]
    model = make()
    model.compile(optimizer=optimizer(), loss="mse")
    return model


def losses(model, steps):
    return [float(model.train_on_batch(X, Y)) for _ in range(steps)]


def main(folder):
    ours = json.loads((folder / "ours.json").read_text())
    for name in CASES:
        path = ours[name]["path"]
        for how in ("checkpoint", "weights", "built before"):
            model = compiled(name)
            if how == "built before":
                model.optimizer.build(model.trainable_variables)
            if how == "weights":
                status = model.load_weights(path + "-weights")
            else:
                status = tf.train.Checkpoint(model=model, optimizer=model.optimizer).read(path)
            # Before it trains: afterwards the model has its compiled function, too. SGD has momentums without momentum, but does not use them.
            if name != "plain":
                status.assert_existing_objects_matched()
            # In a graph Keras 2's Nadam multiplies its product once for each variable, not once for each step.
            steps = 1 if name == "nadam" else 3
            np.testing.assert_allclose(losses(model, steps), ours[name]["losses"][:steps], atol=1e-5, err_msg=f"{name}, {how}")
            unresolved = [
                node
                for i, node in enumerate(status._checkpoint.object_graph_proto.nodes)
                if node.attributes and status._checkpoint.object_by_proto_id.get(i) is None
            ]
            assert not unresolved, (name, how, unresolved)
    try:
        model = compiled("adam")
        model.optimizer.build(model.trainable_variables)
        model.load_weights(str(folder / "slots"))
    except ValueError as error:
        assert "legacy" in str(error), error
    else:
        raise AssertionError("slots were restored: say so in docs/checkpoint.md")
    print(f"Keras {keras.__version__} trains on what Eagre wrote, with {', '.join(CASES)}.")

    theirs = {}
    for name in CASES:
        model = compiled(name)
        losses(model, 3)
        path = str(folder / f"theirs-{name}")
        tf.train.Checkpoint(model=model, optimizer=model.optimizer).write(path)
        model.save_weights(path + "-weights")
        theirs[name] = {"path": path, "losses": losses(model, 3)}
    (folder / "theirs.json").write_text(json.dumps(theirs))


if __name__ == "__main__":
    program = pathlib.Path(__file__).with_suffix(".mjs")
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(["node", program, "write", name], check=True)
        main(pathlib.Path(name))
        subprocess.run(["node", program, "read", name], check=True)
