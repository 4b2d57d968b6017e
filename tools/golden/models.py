"""Makes packages/eagre/golden/models.json with Keras: the JSON of models of all kinds, and what they predict.

Run: KERAS_BACKEND=tensorflow python tools/golden/models.py
packages/eagre/tests/model-configs.test.ts makes the same models; each has a name there and here.
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import numpy as np
from keras import Input, Model, Sequential, layers, ops

OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden"


def unbuilt():
    return Sequential([layers.Dense(3, activation="relu"), layers.Dense(2)])


def sequential():
    model = Sequential([Input((4,), name="features"), layers.Dense(3, activation="relu"), layers.Dropout(0.5), layers.Dense(2, name="last")])
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    return model


def compiled():
    model = Sequential([Input((4,)), layers.Dense(3)])
    model.compile(
        optimizer=keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5), momentum=0.5, clipnorm=1.0),
        loss=keras.losses.CategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.CategoricalAccuracy(name="acc"), "mse"],
        weighted_metrics=["mae"],
        run_eagerly=True,
    )
    return model


def words():
    return Sequential([
        Input((5,), dtype="int32"),
        layers.Embedding(7, 4),
        layers.Bidirectional(layers.LSTM(3, return_sequences=True)),
        layers.TimeDistributed(layers.Dense(2)),
        layers.GRU(2),
    ])


def images():
    return Sequential([
        Input((8, 8, 1)),
        layers.Rescaling(0.5),
        layers.Conv2D(2, 3, padding="same", activation="relu"),
        layers.BatchNormalization(),
        layers.MaxPooling2D(),
        layers.DepthwiseConv2D(3),
        layers.LayerNormalization(),
        layers.Flatten(),
        layers.Dense(3, activation="softmax"),
    ])


def nested_sequential():
    return Sequential([Sequential([Input((3,)), layers.Dense(2)]), layers.ReLU(), layers.Dense(1)])


def functional():
    x = Input((4,), name="x")
    h = layers.Dense(3, activation="tanh")(x)
    return Model(x, layers.Dense(1)(h), name="plain")


def branches():
    a, b = Input((4,), name="a"), Input((3,), name="b", dtype="float32")
    left = layers.Dense(3)(a)
    left = layers.ReLU()(left)
    both = layers.Concatenate()([left, b])
    out = layers.Dense(2, name="wide")(both)
    skip = layers.Add()([left, b])
    model = Model([a, b], [out, skip])
    model.compile(loss=["mse", None], optimizer="rmsprop", loss_weights=[0.5, 1.0])
    return model


def shared():
    a, b = Input((4,), name="a"), Input((4,), name="b")
    dense = layers.Dense(3, name="shared")
    x, y = dense(a), dense(b)
    return Model({"b": b, "a": a}, {"difference": layers.Subtract()([x, y]), "again": layers.Dense(4)(y)})


def twice():
    """A layer at several depths."""
    x = Input((4,))
    dense = layers.Dense(4)
    return Model(x, dense(layers.ReLU()(dense(x))))


def nested():
    x = Input((3,))
    inner = Model(x, layers.Dense(3, activation="relu")(x), name="inner")
    y = Input((3,))
    return Model(y, [inner(y), inner(layers.Dense(3)(y))])


def deep():
    x = Input((3,), name="deepest")
    inner = Model(x, layers.Dense(3)(x), name="inner")
    y = Input((3,), name="middle")
    middle = Model(y, inner(y), name="outer")
    block = Sequential([layers.Dense(3), middle], name="block")
    z = Input((3,), name="z")
    return Model(z, block(z), name="deep")


def operators():
    x = Input((4,), name="x")
    y = layers.Dense(4)(x)
    z = x * 2.0 + y
    z = 1.0 - z
    z = z / (ops.abs(y) + 1.0)
    return Model(x, -(z**2) @ ops.transpose(x))


def operations():
    x = Input((4, 3), name="x")
    a = ops.relu(x)
    b = ops.mean(x, axis=1, keepdims=True)
    c = ops.reshape(ops.concatenate([a, a + b], axis=-1), (-1, 24))
    d = ops.expand_dims(ops.softmax(c), 1)
    e = ops.squeeze(ops.transpose(d, (0, 2, 1)), -1)
    f = ops.clip(ops.exp(e) - ops.sqrt(ops.square(e)), 0.5, 2.0)
    g = ops.stack([ops.sum(f, axis=-1), ops.max(f, axis=-1)], axis=1)
    return Model(x, [f, ops.maximum(g, 0.25), ops.cast(ops.argmax(f, axis=-1), "float32")])


def options():
    x = Input((4, 3), name="x")
    mask = Input((4,), dtype="bool", name="mask")
    h = layers.LSTM(3, return_sequences=True)(x, mask=mask)
    n = layers.BatchNormalization()(h, training=False)
    q = layers.MultiHeadAttention(2, 3)(n, x, use_causal_mask=True)
    return Model([x, mask], layers.GlobalAveragePooling1D()(q))


def states():
    x = Input((4, 3), name="x")
    y, h, c = layers.LSTM(2, return_sequences=True, return_state=True)(x)
    z = layers.LSTM(2)(y, initial_state=[h, c])
    return Model(x, [z, c])


def attention():
    q, v = Input((4, 3), name="q"), Input((5, 3), name="v")
    a = layers.MultiHeadAttention(2, 2)(q, v)
    b = layers.MultiHeadAttention(1, 2)(query=q, value=v, key=v)
    return Model([q, v], layers.LayerNormalization()(a + b))


def cells():
    x = Input((4, 3), name="x")
    y = layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)], return_sequences=True)(x)
    return Model(x, layers.RNN(layers.SimpleRNNCell(2))(y))


def elementwise():
    x, y = Input((3,), name="x"), Input((3,), name="y")
    p = ops.sigmoid(x)
    one = [ops.abs, ops.negative, ops.sign, ops.floor, ops.ceil, ops.square, ops.exp, ops.expm1, ops.sin, ops.cos, ops.tanh,
           ops.relu, ops.relu6, ops.selu, ops.softplus, ops.softsign, ops.silu, ops.hard_sigmoid, ops.erf, ops.isnan, ops.arctan]
    of_p = [ops.sqrt, ops.rsqrt, ops.log, ops.log1p, ops.reciprocal, ops.arcsin]
    two = [ops.add, ops.subtract, ops.multiply, ops.maximum, ops.minimum, ops.arctan2, ops.greater, ops.less_equal, ops.not_equal]
    outputs = [f(x) for f in one] + [f(p) for f in of_p] + [f(x, y) for f in two]
    outputs += [ops.logical_and(ops.greater(x, 0.0), ops.logical_not(ops.less(y, 0.0))), ops.where(ops.greater(x, y), x, 0.0)]
    outputs += [ops.leaky_relu(x, 0.5), ops.elu(x, 0.5), ops.gelu(x, approximate=False), ops.power(p, 2.0), ops.round(x)]
    return Model([x, y], outputs)


def structural():
    x = Input((4, 6), name="x")
    y = Input((6, 2), name="y")
    parts = ops.split(x, 3, axis=-1)
    outer = ops.split(x, [1, 3], axis=1)
    taken = ops.take(x, [0, 2], axis=1)
    best = ops.top_k(x, 2)
    outputs = [
        parts[1], outer[0], taken, best[0], ops.einsum("bij,bjk->bik", x, y), ops.matmul(x, y), ops.std(x, axis=-1),
        ops.var(x, axis=[1, 2], keepdims=True), ops.min(x, axis=1), ops.prod(x, axis=-1), ops.any(ops.greater(x, 1.0), axis=-1),
        ops.all(ops.greater(x, -1.0), axis=-1), ops.logsumexp(x, axis=-1), ops.argmin(x, axis=1), ops.cumsum(x, axis=1),
        ops.flip(x, axis=1), ops.repeat(x, 2, axis=1), ops.roll(x, 1, axis=1), ops.tile(x, (1, 2, 1)), ops.swapaxes(x, 1, 2),
        ops.moveaxis(x, 1, 2), ops.sort(x, axis=-1), ops.argsort(x, axis=-1), ops.zeros_like(x), ops.ones_like(x, dtype="int32"),
        ops.one_hot(ops.argmax(x, axis=-1), 6), ops.log_softmax(x), ops.pad(x, [[0, 0], [1, 1], [0, 0]]), ops.tril(x),
        ops.unstack(x, axis=1)[1],
    ]
    return Model([x, y], outputs)


@keras.saving.register_keras_serializable(package="mine")
class Scaled(layers.Layer):
    def __init__(self, by, **options):
        super().__init__(**options)
        self.by = by

    def call(self, x):
        return x * self.by

    def get_config(self):
        return {**super().get_config(), "by": self.by}


def custom():
    x = Input((2,), name="x")
    return Model(x, Scaled(3.0)(x))


@keras.saving.register_keras_serializable(package="mine")
class Perceptron(Model):
    def __init__(self, units, activation="relu", **options):
        super().__init__(**options)
        self.units = units
        self.hidden = layers.Dense(units, activation=activation)
        self.activation = activation

    def call(self, x):
        return self.hidden(x)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "activation": self.activation}


def subclassed():
    model = Perceptron(3, name="perceptron")
    model.build((None, 4))
    model.compile(loss="mse")
    return model


def frozen():
    x = Input((2,), batch_size=3, name="x")
    inner = Sequential([Input((2,)), layers.Dense(2)], name="inner")
    inner.trainable = False
    return Model(x, inner(x), name="frozen")


MODELS = [
    unbuilt, sequential, compiled, words, images, nested_sequential, functional, branches, shared, twice, nested, deep,
    operators, operations, elementwise, structural, options, states, attention, cells, custom, subclassed, frozen,
]


def example(t, random):
    shape = [2 if d is None else d for d in t.shape]
    if t.dtype == "int32":
        return random.integers(0, 7, shape).astype("int32")
    if t.dtype == "bool":
        return random.integers(0, 2, shape) > 0
    return random.normal(size=shape).astype("float32")


def plain(value):
    if isinstance(value, dict):
        return {name: plain(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return np.asarray(value).tolist()


if __name__ == "__main__":
    written = []
    for make in MODELS:
        keras.backend.clear_session()
        keras.utils.set_random_seed(1)
        random = np.random.default_rng(1)
        model = make()
        # `name` is the class unless given; what fit and the like leave behind is not part of it.
        case = {"name": make.__name__, "json": json.loads(model.to_json())}
        if model.built and make is not subclassed:
            symbolic = model.inputs[0] if isinstance(model, Sequential) else model.input
            given = keras.tree.map_structure(lambda t: example(t, random), symbolic)
            weights = [random.normal(size=w.shape).astype("float32") for w in model.get_weights()]
            weights = [np.abs(w) for w in weights]
            model.set_weights(weights)
            case["inputs"] = plain(given)
            case["weights"] = [{"path": w.path, "value": plain(v)} for w, v in zip(model.weights, weights)]
            case["outputs"] = plain(model(given))
            case["layers"] = [layer.name for layer in model.layers]
        written.append(case)
    OUT.mkdir(exist_ok=True)
    (OUT / "models.json").write_text(json.dumps({"keras": keras.__version__, "models": written}) + "\n")
