"""Models in files of real Keras, with what they predict and the losses of training on: packages/layers/golden/keras-files.

    python tools/golden/keras_model_files.py

`models()` is used by tools/interop/keras_files.py too.
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import zipfile

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import h5py
import keras
import numpy as np
from keras import layers as L

SEED = 7
FOLDER = pathlib.Path(__file__).parents[2] / "packages/layers/golden/keras-files"
# Kept as Keras writes them; the others are packed, to be small.
STORED = {"dense", "shared", "lookup"}


@keras.saving.register_keras_serializable(package="files")
class Scale(keras.layers.Layer):
    """x · w, with a weight that is found in a dict and a state that is not trained."""

    def __init__(self, by=2.0, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def build(self, input_shape):
        self.w = self.add_weight(name="w", shape=(input_shape[-1],), initializer="ones")
        self.calls = self.add_weight(name="calls", shape=(), initializer="zeros", trainable=False)

    def call(self, x):
        return x * self.w * self.by

    def get_config(self):
        return {**super().get_config(), "by": self.by}


@keras.saving.register_keras_serializable(package="files")
class Blocks(keras.Model):
    """Layers as attributes, in a list, in a list in it, in a dict, twice, and behind a private name."""

    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.b = L.Dense(units, activation="tanh")
        self.a = L.Dense(units)
        self._p = L.Dense(units)
        self.blocks = [L.Dense(units), [L.Dense(units), self.b], {"z": L.Dense(units), "a": Scale()}]
        self.head = keras.Sequential([L.Dense(units), L.Dense(1)])

    def build(self, input_shape):
        self.bias = self.add_weight(name="bias", shape=(1,), initializer="zeros")
        self.call(keras.KerasTensor((None, input_shape[-1])))

    def call(self, x):
        x = self.a(x) + self.b(x)
        x = self._p(x)
        for layer in [self.blocks[0], self.blocks[1][0], *self.blocks[2].values()]:
            x = layer(x)
        return self.head(x) + self.bias

    def get_config(self):
        return {**super().get_config(), "units": self.units}


@keras.saving.register_keras_serializable(package="files")
def squash(x):
    return x / (1 + abs(x))


def floats(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def sequential(*layers, shape, dtype="float32", **kwargs):
    return keras.Sequential([keras.Input(shape, dtype=dtype), *layers], **kwargs)


def models():
    """By name: how a model is made, what it is trained on, what it is compiled with (None: not at all)."""
    found = {}

    def add(name, make, x, y=None, **compiled):
        found[name] = (make, x, y, compiled)

    mse = dict(optimizer="adam", loss="mse")
    add(
        "dense",
        lambda: sequential(L.Dense(4, activation="relu"), L.Dense(3, activation="softmax"), shape=(5,)),
        floats(6, 5),
        np.eye(3, dtype="float32")[[0, 1, 2, 0, 1, 2]],
        optimizer=lambda: keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.05, 2, 0.5)),
        loss="categorical_crossentropy",
        metrics=["accuracy", "mae"],
        weighted_metrics=["mse"],
    )
    add("conv1d", lambda: sequential(L.Conv1D(3, 2, activation="relu"), L.GlobalAveragePooling1D(), L.Dense(1), shape=(6, 2)), floats(4, 6, 2), floats(4, 1), **mse)
    add(
        "conv2d",
        lambda: sequential(L.Conv2D(3, 3, padding="same"), L.BatchNormalization(), L.ReLU(), L.MaxPooling2D(), L.Flatten(), L.Dense(2), shape=(6, 6, 1)),
        floats(4, 6, 6, 1),
        floats(4, 2),
        optimizer=lambda: keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
        loss="mse",
    )
    add("conv3d", lambda: sequential(L.Conv3D(2, 2, strides=2), L.Flatten(), L.Dense(1), shape=(4, 4, 4, 1)), floats(2, 4, 4, 4, 1), floats(2, 1), **mse)
    add(
        "separable",
        lambda: sequential(L.SeparableConv2D(3, 2), L.DepthwiseConv2D(2, depth_multiplier=2), L.GlobalMaxPooling2D(), L.Dense(1), shape=(5, 5, 2)),
        floats(3, 5, 5, 2),
        floats(3, 1),
        optimizer=lambda: keras.optimizers.RMSprop(0.01, momentum=0.5, centered=True),
        loss="mae",
    )
    add("transposed", lambda: sequential(L.Conv2DTranspose(2, 2, strides=2), L.Conv2D(1, 2), shape=(3, 3, 1)), floats(2, 3, 3, 1), floats(2, 5, 5, 1), **mse)
    add("transposed1d", lambda: sequential(L.Conv1DTranspose(2, 3, strides=2), L.Dense(1), shape=(3, 2)), floats(2, 3, 2), floats(2, 7, 1), **mse)
    add(
        "norms",
        lambda: sequential(L.LayerNormalization(), L.GroupNormalization(2), L.BatchNormalization(scale=False), L.RMSNormalization(), L.UnitNormalization(), L.PReLU(), L.Dense(1), shape=(4,)),
        floats(5, 4),
        floats(5, 1),
        optimizer=lambda: keras.optimizers.AdamW(0.01, weight_decay=0.01, amsgrad=True),
        loss=keras.losses.Huber(0.5),
    )
    add("recurrent", lambda: sequential(L.LSTM(3, return_sequences=True), L.GRU(2), L.Dense(1), shape=(4, 2)), floats(3, 4, 2), floats(3, 1), **mse)
    add("bidirectional", lambda: sequential(L.Bidirectional(L.LSTM(2, return_sequences=True)), L.Bidirectional(L.GRU(2), merge_mode="sum"), shape=(4, 2)), floats(3, 4, 2), floats(3, 2), **mse)
    add("conv_lstm", lambda: sequential(L.ConvLSTM2D(2, 2), L.Flatten(), L.Dense(1), shape=(3, 4, 4, 1)), floats(2, 3, 4, 4, 1), floats(2, 1), **mse)
    add("cells", lambda: sequential(L.RNN([L.LSTMCell(2), L.GRUCell(2), L.SimpleRNNCell(2)]), L.Dense(1), shape=(4, 2)), floats(3, 4, 2), floats(3, 1), **mse)

    def attention():
        x = keras.Input((5,), dtype="int32", name="tokens")
        e = L.Embedding(7, 4)(x)
        a = L.MultiHeadAttention(2, 2)(e, e)
        g = L.GroupQueryAttention(2, 2, 1)(e, e)
        h = L.Add()([a, g])
        d = L.Attention(use_scale=True)([h, e])
        v = L.AdditiveAttention()([d, e])
        return keras.Model(x, L.Dense(1)(L.GlobalAveragePooling1D()(v)))

    add("attention", attention, np.array([[1, 2, 3, 0, 0], [4, 5, 6, 1, 0]], "int32"), floats(2, 1), **mse)

    add("masked", lambda: sequential(L.Embedding(7, 3, mask_zero=True), L.LSTM(2), L.Dense(1), shape=(5,), dtype="int32"), np.array([[1, 2, 3, 0, 0], [4, 5, 6, 1, 0]], "int32"), floats(2, 1), **mse)

    def nested():
        x = keras.Input((3,))
        inner = keras.Model(x, L.Dense(3, activation="relu")(x), name="inner")
        block = keras.Sequential([L.Dense(3), keras.models.clone_model(inner)], name="block")
        y = keras.Input((3,))
        h = inner(y)
        return keras.Model(y, inner(L.Dense(3)(block(h))))

    add("nested", nested, floats(4, 3), floats(4, 1), **mse)

    add("inside", lambda: sequential(sequential(L.Dense(3), L.BatchNormalization(), shape=(2,), name="one"), L.BatchNormalization(), L.Dense(1), shape=(2,)), floats(4, 2), floats(4, 1), **mse)

    def shared():
        a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
        dense = L.Dense(2, name="both")
        x, y = dense(a), dense(b)
        return keras.Model({"a": a, "b": b}, {"sum": L.Add(name="sum")([x, y]), "one": L.Dense(1, name="one")(L.Concatenate()([x, y]))})

    add(
        "shared",
        shared,
        {"a": floats(4, 3), "b": floats(4, 3, seed=1)},
        {"sum": floats(4, 2), "one": floats(4, 1)},
        optimizer=lambda: keras.optimizers.Nadam(0.01),
        loss={"sum": "mse", "one": "mae"},
        loss_weights={"sum": 0.5, "one": 2.0},
        metrics={"one": ["mse"]},
    )

    def operations():
        x = keras.Input((4,))
        h = keras.ops.relu(L.Dense(4)(x) * 2.0) + x
        return keras.Model(x, L.Dense(1)(keras.ops.concatenate([h, x], axis=-1)))

    add("operations", operations, floats(3, 4), floats(3, 1), **mse)

    def indexed():
        x = keras.Input((4, 3))
        h = keras.ops.concatenate([x[:, 1:3, -1], x[..., 0][:, ::2], x[:, None, 0][:, 0]], axis=-1)
        return keras.Model(x, L.Dense(1)(h) + keras.ops.mean(x[0]))

    add("indexed", indexed, floats(3, 4, 3), floats(3, 1), **mse)

    def scores():
        x = keras.Input((3, 4))
        y, weights = L.MultiHeadAttention(2, 2)(x, x, return_attention_scores=True)
        z, more = L.Attention()([y, x], return_attention_scores=True)
        return keras.Model(x, L.Dense(1)(z[:, 0]) + keras.ops.mean(weights[:, :, 0], axis=1)[:, :1] * more[:, 0, :1])

    add("scores", scores, floats(3, 3, 4), floats(3, 1) > 0, optimizer="adam", loss="mse", metrics=[keras.metrics.BinaryIoU()])

    def features():
        words, rows = keras.Input((1,), dtype="string", name="words"), keras.Input((2,), name="rows")
        one_hot = L.StringLookup(vocabulary=["a", "b"], output_mode="one_hot")
        rare = L.StringLookup(output_mode="tf_idf")
        rare.adapt(np.array([["a"], ["b"], ["a"]]))
        text = L.TextVectorization(output_mode="tf_idf", ngrams=2)
        text.adapt(["a b", "b", "c a b"])
        texts = keras.Input((), dtype="string", name="texts")
        h = L.Concatenate()([one_hot(words), rare(words), text(texts), rows])
        return keras.Model({"words": words, "texts": texts, "rows": rows}, L.Dense(1)(h))

    words = {"words": np.array([["a"], ["c"], ["b"]]), "texts": np.array(["b a b", "c d", "a b"])}
    add("features", features, {**words, "rows": floats(3, 2)}, floats(3, 1), **mse)

    def lookup():
        words = L.StringLookup(output_mode="int")
        words.adapt(np.array(["a", "b", "a", "ü", "b", "a"]))
        numbers = L.IntegerLookup(vocabulary=[3, 5, 8])
        text = L.TextVectorization(output_sequence_length=4)
        text.adapt(["the cat sat", "the dog", "the end the"])
        w, n, t = keras.Input((1,), dtype="string", name="w"), keras.Input((1,), dtype="int64", name="n"), keras.Input((1,), dtype="string", name="t")
        e = L.Flatten()(L.Embedding(6, 2)(words(w)))
        v = L.GlobalAveragePooling1D()(L.Embedding(9, 2)(text(t)))
        return keras.Model([w, n, t], L.Dense(1)(L.Concatenate()([e, L.Flatten()(L.Embedding(4, 2)(numbers(n))), v])))

    add(
        "lookup",
        lookup,
        [np.array([["a"], ["zz"], ["ü"]]), np.array([[5], [1], [8]], "int64"), np.array([["The cat!"], ["dog end"], [""]])],
        None,
    )

    def numbers():
        normal = L.Normalization()
        normal.adapt(floats(20, 3) * 3 + 1)
        bins = L.Discretization(num_bins=4, output_mode="one_hot")
        bins.adapt(floats(30, 1))
        x, y = keras.Input((3,)), keras.Input((1,))
        return keras.Model([x, y], L.Dense(1)(L.Concatenate()([normal(x), bins(y), L.CategoryEncoding(3, output_mode="multi_hot")(L.Rescaling(0.0)(y))])))

    add("numbers", numbers, [floats(4, 3), floats(4, 1, seed=2)], floats(4, 1), **mse)
    add(
        "wrappers",
        lambda: sequential(L.TimeDistributed(L.Dense(3)), L.SpectralNormalization(L.Conv1D(2, 2)), L.Flatten(), L.Dense(1), shape=(4, 2)),
        floats(3, 4, 2),
        floats(3, 1),
        **mse,
    )
    add("custom", lambda: sequential(L.Dense(3, activation=squash), Scale(3.0), L.Dense(1), shape=(2,)), floats(4, 2), floats(4, 1), **mse)

    def blocks():
        model = Blocks()
        model(np.zeros((1, 2), "float32"))
        return model

    add("blocks", blocks, floats(4, 2), floats(4, 1), **mse)
    add(
        "penalties",
        lambda: sequential(
            L.Dense(4, kernel_regularizer=keras.regularizers.L1L2(0.01, 0.02), bias_constraint=keras.constraints.NonNeg(), activity_regularizer="l2"),
            L.Dense(2, kernel_constraint=keras.constraints.MaxNorm(1.0), kernel_initializer=keras.initializers.Orthogonal(seed=2)),
            shape=(3,),
        ),
        floats(5, 3),
        np.array([0, 1, 1, 0, 1]),
        optimizer=lambda: keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.1, 8, warmup_steps=3, warmup_target=0.2), momentum=0.5, clipnorm=1.0),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc"), keras.metrics.SparseTopKCategoricalAccuracy(1)],
    )

    def frozen():
        model = sequential(L.Dense(3), L.BatchNormalization(), L.Dense(1), shape=(2,))
        model.layers[0].trainable = False
        return model

    add("frozen", frozen, floats(4, 2), floats(4, 1), **mse)

    def bfloat16():
        return sequential(L.Dense(3, dtype="bfloat16"), L.Dense(1, dtype="float16"), L.Dense(1), shape=(2,))

    add("halves", bfloat16, floats(4, 2), None)

    def int8():
        model = sequential(L.Dense(4), L.Dense(2, use_bias=False), shape=(3,))
        for layer in model.layers:
            layer.quantize("int8")
        return model

    add("int8", int8, floats(4, 3), None)

    def lora():
        model = sequential(L.Dense(4), L.Dense(2), shape=(3,))
        model.layers[0].enable_lora(2)
        model.layers[0].lora_kernel_b.assign(floats(2, 4))
        return model

    add("lora", lora, floats(4, 3), floats(4, 2), **mse)
    O = keras.optimizers
    for optimizer in [
        lambda: O.Adagrad(0.1), lambda: O.Adadelta(1.0), lambda: O.Adamax(0.1), lambda: O.Ftrl(0.1), lambda: O.Lion(0.01), lambda: O.Lamb(0.1),
        lambda: O.Adafactor(0.1), lambda: O.Adam(0.1, use_ema=True), lambda: O.Adam(0.1, gradient_accumulation_steps=2), lambda: O.Muon(0.1),
        lambda: O.LossScaleOptimizer(O.Adam(0.1)),
    ]:
        made = optimizer()
        name = f"optimizer_{type(made).__name__.lower()}"
        name += "_ema" if made.use_ema else "_steps" if made.gradient_accumulation_steps else ""
        add(name, lambda: sequential(L.Dense(3, activation="tanh"), L.Dense(1), shape=(2,)), floats(4, 2), floats(4, 1), optimizer=optimizer, loss="mse")
    return found


def compiled(model, given):
    if given:
        optimizer = given["optimizer"]
        model.compile(**{**given, "optimizer": optimizer if isinstance(optimizer, str) else optimizer()})
    return model


def tensors(x):
    return keras.tree.map_structure(lambda v: keras.ops.convert_to_tensor(v) if v.dtype.kind != "U" else __import__("tensorflow").constant(v), x)


def predicted(model, x):
    return keras.tree.map_structure(lambda t: np.asarray(keras.ops.cast(t, "float32")), model(tensors(x), training=False))


def losses(model, x, y, steps=3):
    out = []
    for _ in range(steps):
        model.reset_metrics()
        out.append(float(model.train_on_batch(x, y, return_dict=True)["loss"]))
    return out


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return {"dtype": "string" if value.dtype.kind == "U" else str(value.dtype), "shape": list(value.shape), "data": [v if isinstance(v, str) else round(float(v), 6) for v in value.ravel().tolist()]}
    return value


def pack(path):
    """The same archive, deflated."""
    with zipfile.ZipFile(path) as given:
        members = [(info.filename, given.read(info)) for info in given.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, data in members:
            packed.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)


def paths(model):
    """Where Keras keeps the weights of a model, with their shapes."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/x.weights.h5"
        model.save_weights(path)
        out = {}
        with h5py.File(path) as file:
            file.visititems(lambda name, item: out.__setitem__(name, list(item.shape)) if isinstance(item, h5py.Dataset) else None)
    return out


WEIGHTS = ["dense", "recurrent", "attention", "blocks", "shared", "halves"]
LEGACY = ["dense", "conv2d", "recurrent", "bidirectional", "inside", "shared", "custom", "penalties", "attention", "frozen", "norms", "wrappers", "operations", "indexed"]


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    cases = {}
    for name, (make, x, y, given) in models().items():
        keras.utils.set_random_seed(SEED)
        keras.backend.clear_session()
        model = compiled(make(), given)
        if y is not None:
            losses(model, x, y, 2)
        file = FOLDER / f"{name}.keras"
        model.save(file)
        if name not in STORED:
            pack(file)
        if name in WEIGHTS:
            model.save_weights(FOLDER / f"{name}.weights.h5")
        if name in LEGACY:
            model.save(FOLDER / f"{name}.h5")
        if name == "dense":
            model.save_weights(FOLDER / "sharded.weights.json", max_shard_size=120 / 1024**3)
        # Of a few things files keep less than there was, such as the products of LoRA.
        model = keras.saving.load_model(file)
        case = {"x": plain(x), "y": plain(y), "outputs": plain(predicted(model, x))}
        if y is not None:
            case["losses"] = losses(model, x, y)
        cases[name] = case
        print(name, file.stat().st_size)
    keras.backend.clear_session()
    large = {
        "mobilenet_v2": paths(keras.applications.MobileNetV2((32, 32, 3), alpha=0.35, weights=None)),
        "efficientnet_b0": paths(keras.applications.EfficientNetB0(weights=None, input_shape=(32, 32, 3))),
    }
    versions = {"keras": keras.__version__, "h5py": h5py.__version__, "numpy": np.__version__}
    text = json.dumps({"versions": versions, "seed": SEED, "cases": cases, "paths": large}, separators=(",", ":"))
    (FOLDER / "models.json").write_text(text + "\n")
    print(sum(file.stat().st_size for file in FOLDER.iterdir()))


if __name__ == "__main__":
    main()
