"""Checks that TensorFlow and its legacy Keras restore the checkpoints that Eagre writes, and Eagre theirs.

    pnpm build
    python tools/interop/checkpoints.py
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
from tensorflow.python import keras as keras2
from tensorflow.python.keras.engine import functional
from tensorflow.python.keras.optimizer_v2 import adam as adam2
from tensorflow.python.keras.optimizer_v2 import gradient_descent as sgd2

# The Keras 2 inside of TensorFlow 2.21 was not told of this method's other argument.
look_up = functional.Functional._lookup_dependency
functional.Functional._lookup_dependency = lambda self, name, cached=None: look_up(self, name)

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
Y = np.array([[0.5], [-0.25], [1.0], [0.0]], np.float32)


class Block(tf.Module):
    def __init__(self, n, filled):
        super().__init__()
        f = 1 if filled else 0
        self.w = tf.Variable(f * np.arange(n, dtype=np.float32) / 4, name="w")
        self.more = {
            "a": tf.Variable([f * 1, f * -2], dtype=tf.int32),
            "b": [tf.Variable(filled), tf.Variable([f * 0.1, f * 0.2], dtype=tf.float64)],
        }


def plain(filled):
    root = tf.Module()
    root.blocks = [Block(2, filled), Block(3, filled)]
    root.first = root.blocks[0]
    root.table = {"x.y/z": tf.Variable([[1, 2]] if filled else [[0, 0]], dtype=tf.uint8)}
    root.words = tf.Variable(["ab", "", "xyz ü"] if filled else ["", "", ""])
    root.step = tf.Variable(7 if filled else 0, dtype=tf.int64)
    return tf.train.Checkpoint(model=root, extra=tf.Variable(2.5 if filled else 0.0))


def values(checkpoint):
    return [v.numpy().tolist() for v in checkpoint.model.variables] + [float(checkpoint.extra)]


def trained(optimizer):
    model = keras2.Sequential(
        [
            keras2.layers.Dense(4, activation="tanh", input_shape=(3,)),
            keras2.layers.Flatten(),
            keras2.layers.Dense(1),
        ]
    )

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(X, training=True) - Y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return float(loss)

    return model, step, tf.train.Checkpoint(model=model, optimizer=optimizer)


OPTIMIZERS = {"adam": lambda: adam2.Adam(0.05), "sgd": lambda: sgd2.SGD(0.05, momentum=0.9)}


def main(folder):
    ours = json.loads((folder / "ours.json").read_text())
    for name in ("plain", "sharded"):
        checkpoint = plain(False)
        status = checkpoint.read(ours[name]) if name == "sharded" else checkpoint.restore(ours[name])
        if name == "plain":
            status.assert_consumed()
        else:
            status.assert_existing_objects_matched().expect_partial()
        assert values(checkpoint) == values(plain(True)), (name, values(checkpoint))
    assert tf.train.latest_checkpoint(str(folder / "plain")) == ours["plain"]
    reader = tf.train.load_checkpoint(ours["many"])
    for i in range(3000):
        assert reader.get_tensor(f"all/{i}/.ATTRIBUTES/VARIABLE_VALUE") == i
    for name, make in OPTIMIZERS.items():
        model, step, checkpoint = trained(make())
        status = checkpoint.restore(ours["trained"][name]["path"])
        np.testing.assert_allclose(model(X).numpy().ravel(), ours["trained"][name]["outputs"], atol=1e-6)
        np.testing.assert_allclose(step(), ours["trained"][name]["next"], atol=1e-6)
        # Every value in the file was taken. (Legacy Keras has its options as variables, which the file lacks.)
        unresolved = [
            node
            for i, node in enumerate(status._checkpoint.object_graph_proto.nodes)
            if node.attributes and status._checkpoint.object_by_proto_id.get(i) is None
        ]
        assert not unresolved, unresolved
    print(f"TensorFlow {tf.__version__} restores what Eagre wrote.")

    theirs = {"plain": plain(True).save(str(folder / "theirs-plain")), "trained": {}}
    for name, make in OPTIMIZERS.items():
        model, step, checkpoint = trained(make())
        for _ in range(3):
            step()
        path = checkpoint.save(str(folder / f"theirs-{name}"))
        outputs = model(X).numpy().ravel().tolist()
        theirs["trained"][name] = {"path": path, "outputs": outputs, "next": step()}
    (folder / "theirs.json").write_text(json.dumps(theirs))


if __name__ == "__main__":
    program = pathlib.Path(__file__).with_suffix(".mjs")
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(["node", program, "write", name], check=True)
        main(pathlib.Path(name))
        subprocess.run(["node", program, "read", name], check=True)
