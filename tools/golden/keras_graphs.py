"""Writes packages/board/golden/keras-graphs.json: models as Keras's JSON, and the nodes that TensorBoard makes of them.

    pip install tensorflow-cpu==2.21.0 tensorboard==2.21.0 && python tools/golden/keras_graphs.py
"""

import json
import os

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras
import tensorboard
from keras import layers
from tensorboard.plugins.graph.keras_util import keras_model_to_graph_def

OUT = os.path.join(os.path.dirname(__file__), "../../packages/board/golden/keras-graphs.json")


def sequential():
    return keras.Sequential(
        [keras.Input((8,), name="x"), layers.Dense(4, activation="relu", name="a"), layers.Dense(1, name="b")],
        name="plain",
    )


def functional():
    x = keras.Input((8,), name="features")
    left = layers.Dense(16, name="left")(x)
    right = layers.Dense(16, name="right")(x)
    inner = keras.Sequential([layers.Dense(8, name="in1"), layers.Dropout(0.1, name="in2")], name="inner")
    both = inner(layers.Concatenate(name="both")([left, right]))
    return keras.Model(x, layers.Dense(1, name="out")(both), name="wide")


def nested():
    a, b = keras.Input((2,), name="a"), keras.Input((2,), name="b")
    total = layers.Add(name="sum")([a, b])
    block = keras.Model([a, b], [total, layers.Subtract(name="difference")([a, b])], name="block")
    x, y = keras.Input((2,), name="x"), keras.Input((2,), name="y")
    first, second = block([x, y])
    return keras.Model([x, y], [layers.Dense(1, name="p")(first), layers.Dense(1, name="q")(second)], name="outer")


def main():
    models = []
    for model in (sequential(), functional(), nested()):
        text = model.to_json()
        graph = keras_model_to_graph_def(json.loads(text))
        models.append({"json": text, "nodes": {n.name: sorted(set(n.input)) for n in graph.node}})
    os.makedirs(os.path.dirname(OUT), exist_ok=True)
    with open(OUT, "w") as f:
        json.dump({"keras": keras.__version__, "tensorboard": tensorboard.__version__, "models": models}, f, indent=1)
        f.write("\n")


main()
