"""Checkpoints by real TensorFlow, for packages/checkpoint: python tools/golden/checkpoints.py"""

import json
import os
import pathlib
import shutil

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import numpy as np
import tensorflow as tf
from tensorflow.python import keras as keras2
from tensorflow.python.keras.optimizer_v2 import adam as adam2
from tensorflow.python.keras.optimizer_v2 import rmsprop as rmsprop2

OUT = pathlib.Path(__file__).parents[2] / "packages/checkpoint/golden"


def values(path):
    """Every tensor of a checkpoint but the object graph, by key."""
    reader = tf.train.load_checkpoint(path)
    out = {}
    for key, shape in sorted(reader.get_variable_to_shape_map().items()):
        if key == "_CHECKPOINTABLE_OBJECT_GRAPH":
            continue
        value = reader.get_tensor(key)
        listed = [v.decode() for v in value.ravel()] if value.dtype == object else value.ravel().tolist()
        out[key] = {"shape": shape, "dtype": reader.get_variable_to_dtype_map()[key].name, "values": listed}
    return out


def plain():
    """Variables of every dtype in modules, lists, tuples and nested dicts; names to be escaped; one object reached twice."""

    class Block(tf.Module):
        def __init__(self, n):
            super().__init__()
            self.w = tf.Variable(np.arange(n, dtype=np.float32) / 4, name="w")
            self.more = {"a": tf.Variable([1, -2], dtype=tf.int32), "b": [tf.Variable(True), tf.Variable([0.1, 0.2], dtype=tf.float64)]}

    root = tf.Module()
    root.blocks = [Block(2), Block(3)]
    root.first = root.blocks[0]
    root.table = {"x.y/z": tf.Variable([[1, 2], [3, 4]], dtype=tf.uint8)}
    root.words = tf.Variable(["ab", "", "xyz ü"])
    root.step = tf.Variable(7, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(model=root, extra=tf.Variable(2.5))
    return checkpoint.save(str(OUT / "plain"))


def slots():
    """A model and its optimizer by legacy Keras after three steps, and what the fourth step makes of it."""
    result = {}
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
    y = np.array([[0.5], [-0.25], [1.0], [0.0]], np.float32)
    for name, optimizer in (
        ("adam", adam2.Adam(0.05, amsgrad=True)),
        ("rmsprop", rmsprop2.RMSprop(0.01, momentum=0.5, centered=True)),
    ):
        keras2.backend.clear_session()
        tf.random.set_seed(3)
        model = keras2.Sequential(
            [
                keras2.layers.Dense(4, activation="tanh", input_shape=(3,)),
                keras2.layers.Flatten(),
                keras2.layers.Dense(2, trainable=False),
                keras2.layers.Dense(1),
            ]
        )

        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
            return float(loss)

        before = [step() for _ in range(3)]
        path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(str(OUT / f"keras2-{name}"))
        outputs = model(x, training=False).numpy().ravel().tolist()
        loss = step()
        result[name] = {
            "path": os.path.basename(path),
            "x": x.ravel().tolist(),
            "y": y.ravel().tolist(),
            "losses": before,
            "outputs": outputs,
            "next_loss": loss,
            "next_outputs": model(x, training=False).numpy().ravel().tolist(),
        }
    return result


def keras3():
    keras.utils.set_random_seed(4)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="first"), keras.layers.BatchNormalization()])
    optimizer = keras.optimizers.Adam(0.01)
    optimizer.build(model.trainable_variables)
    return tf.train.Checkpoint(model=model, optimizer=optimizer).save(str(OUT / "keras3"))


def names():
    """A checkpoint of TensorFlow 1, by the names of variables."""
    graph = tf.Graph()
    with graph.as_default():
        tf.compat.v1.get_variable("w", initializer=[[1.0, 2.0]])
        tf.compat.v1.get_variable("scope/b", initializer=3.0)
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            return tf.compat.v1.train.Saver().save(session, str(OUT / "names"), global_step=5, write_meta_graph=False)


if __name__ == "__main__":
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    paths = {"plain": plain(), "keras3": keras3(), "names": names()}
    trained = slots()
    (OUT / "checkpoint").unlink()
    files = {name: {"path": os.path.basename(path), "values": values(path)} for name, path in paths.items()}
    versions = {"tensorflow": tf.__version__, "keras": keras.__version__, "numpy": np.__version__}
    text = json.dumps({"versions": versions, "files": files, "trained": trained}, indent=1)
    (OUT / "checkpoints.json").write_text(text + "\n")
    print(sorted(p.name for p in OUT.iterdir()))
