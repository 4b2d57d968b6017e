"""Makes packages/layers/golden/calibrated.json and golden/calibrated/{gptq,awq}.keras with Keras on TensorFlow: weights of few bits, chosen by what layers see.

Keras 3.15.1 listens to `call`, which layers do not make once they are of a mode, so that its statistics stay zeros. Here it listens to the call that they make.

Run: KERAS_BACKEND=tensorflow python tools/golden/calibrated.py
"""

import contextlib
import json
import os
import pathlib
import sys

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers, quantizers
from keras.src.quantizers import awq, awq_core, gptq, gptq_core

SEED = 73
FOLDER = pathlib.Path(__file__).parents[2] / "packages/layers/golden"
rng = np.random.default_rng(SEED)
# Python's is another one in each process.
gptq_core.hash = lambda _: 0


def listening(name, update):
    @contextlib.contextmanager
    def stream(layers_map, objects):
        before = {}
        try:
            for path, layer in layers_map.items():
                before[path] = getattr(layer, name)

                def call(inputs, *args, path=path, **kwargs):
                    getattr(objects[path], update)(keras.ops.reshape(inputs, (-1, objects[path].rows)))
                    return before[path](inputs, *args, **kwargs)

                setattr(layer, name, call)
            yield
        finally:
            for path, layer in layers_map.items():
                delattr(layer, name)

    return stream



def with_zero(merged):
    """Keras's own files lack the zero points, and Keras cannot read them."""
    return lambda self: (*merged(self)[:2], getattr(self, "kernel_zero", None))


for kind in (layers.Dense, layers.EinsumDense):
    kind._get_kernel_with_merged_lora = with_zero(kind._get_kernel_with_merged_lora)

gptq_core.stream_hessians = listening("_gptq_call", "update_hessian_with_batch")
awq_core.stream_activations = listening("_awq_call", "update_activation_magnitudes")


class Positive(Exception):
    """A group of positive weights alone has a zero point below 0, which Keras keeps as another one in a byte."""


def scales(compute):
    def checked(x, **options):
        size = options["group_size"] if options["per_channel"] and options["group_size"] > 0 else x.shape[1]
        for start in range(0, x.shape[1], size):
            if np.min(x[:, start : start + size], axis=1 if options["per_channel"] else None).max() > 0:
                raise Positive
        return compute(x, **options)

    return checked


quantizers_module = sys.modules["keras.src.quantizers.quantizers"]
awq.compute_quantization_parameters = quantizers_module.compute_quantization_parameters = scales(quantizers_module.compute_quantization_parameters)


def drawn(case, *args, **options):
    while True:
        try:
            return case(*args, **options)
        except Positive:
            keras.utils.clear_session()


def values(x):
    x = np.asarray(x)
    return {"shape": list(x.shape), "values": [float(f"{v:.9g}") for v in x.ravel().tolist()]}


def floats(*shape):
    return rng.normal(size=shape).astype("float32")


def gptq_matrix(rows, columns, **options):
    """A kernel [rows, columns] after two batches of inputs."""
    layer = layers.Dense(columns)
    layer.build((None, rows))
    kernel = floats(rows, columns)
    layer.kernel.assign(kernel)
    config = quantizers.GPTQConfig(dataset=[], tokenizer=None, **options)
    one = gptq.GPTQ(layer, config)
    count = min(rows, 16)
    batches = [floats(2 * count, count) @ floats(count, rows), floats(count, rows)]
    layer.quantize("gptq", config=config)
    one.layer = layer
    for batch in batches:
        one.update_hessian_with_batch(batch)
    store = {}
    layer._kernel = keras.ops.convert_to_tensor(kernel)
    one.quantize_and_correct_layer()
    layer.save_own_variables(store)
    x = floats(2, rows)
    return {
        "options": options, "kernel": values(kernel), "batches": [values(b) for b in batches],
        "stored": [values(v) for v in list(store.values())[1:]], "x": values(x), "y": values(layer(x)), "policy": layer.dtype_policy.name,
    }


def awq_matrix(rows, columns, **options):
    layer = layers.Dense(columns)
    layer.build((None, rows))
    kernel = floats(rows, columns)
    layer.kernel.assign(kernel)
    config = quantizers.AWQConfig(dataset=[], tokenizer=None, **options)
    one = awq.AWQ(layer, config)
    batches = [floats(4, rows) * np.exp(2 * floats(rows)), floats(3, rows)]
    layer.quantize("awq", config=config)
    for batch in batches:
        one.update_activation_magnitudes(batch)
    store = {}
    one.quantize_layer()
    layer.save_own_variables(store)
    x = floats(2, rows)
    return {
        "options": options, "kernel": values(kernel), "batches": [values(b) for b in batches],
        "stored": [values(v) for v in list(store.values())[1:]], "x": values(x), "y": values(layer(x)), "policy": layer.dtype_policy.name,
    }


class Block(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        # No square kernels: there `keras.ops.add` of a column to a matrix adds a row.
        self.attention = layers.MultiHeadAttention(2, 3, name="attention")
        self.up = layers.Dense(16, activation="relu", name="up")
        self.down = layers.EinsumDense("abc,cd->abd", (None, 8), bias_axes="d", name="down")
        self.norm = layers.LayerNormalization(name="norm")

    def build(self, shape):
        self.attention.build(shape, shape)
        self.up.build(shape)
        self.down.build((*shape[:-1], 16))
        self.norm.build(shape)

    def call(self, x):
        x = x + self.attention(x, x)
        return self.norm(x + self.down(self.up(x)))


TOKENS = [rng.integers(0, 20, size=n) for n in (17, 9, 14)]
X = np.array([[1, 2, 3, 4, 5, 6], [19, 0, 7, 7, 1, 3]])


def settings(mode, structure, **options):
    make = quantizers.GPTQConfig if mode == "gptq" else quantizers.AWQConfig
    return make(dataset=TOKENS, tokenizer=lambda text: text, num_samples=5, sequence_length=6, quantization_layer_structure=structure, **options)


def block_case(mode, **options):
    """Two blocks with attention behind a table."""
    table, first, second = layers.Embedding(20, 8, name="table"), Block(name="first"), Block(name="second")
    inputs = keras.Input((6,), dtype="int32")
    model = keras.Model(inputs, second(first(table(inputs))))
    model.set_weights([floats(*w.shape) for w in model.weights])
    case = {"mode": mode, "options": options, "weights": [values(w) for w in model.weights], "x": values(X)}
    model.quantize(mode, config=settings(mode, {"pre_block_layers": [table], "sequential_blocks": [first, second]}, **options))
    case["after"] = [{"path": w.path, "dtype": str(w.dtype), "trainable": w.trainable, **values(w)} for w in model.weights]
    case["y"] = values(model(X))
    up = floats(2, 6, 8)
    variables = [w.value for w in model.trainable_weights]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(X) * up)
    grads = tape.gradient(loss, variables)
    case["up"] = values(up)
    case["gradients"] = [values(tf.convert_to_tensor(g)) for g in grads]
    return case


def file_case(mode, **options):
    """A file of a model that says its own structure; the last layer stays of floats."""
    table = layers.Embedding(20, 8, name="table")
    block = keras.Sequential([keras.Input((6, 8)), layers.Dense(12, activation="relu", name="up"), layers.EinsumDense("abc,cd->abd", (6, 8), bias_axes="d", name="down")], name="block")
    inputs = keras.Input((6,), dtype="int32")
    model = keras.Model(inputs, layers.Dense(3, name="head")(block(table(inputs))))
    model.set_weights([floats(*w.shape) for w in model.weights])
    model.get_quantization_layer_structure = lambda _: {"pre_block_layers": [table], "sequential_blocks": [block]}
    model.quantize(mode, config=settings(mode, None, **options), filters=lambda layer: layer.name != "head")
    model.save(FOLDER / f"calibrated/{mode}.keras")
    again = keras.models.load_model(FOLDER / f"calibrated/{mode}.keras")
    np.testing.assert_array_equal(again(X), model(X))
    return {"mode": mode, "x": values(X), "y": values(model(X)), "config": keras.saving.serialize_keras_object(block.layers[0])["config"],
            "policy": keras.dtype_policies.serialize(block.layers[0].dtype_policy)}


golden = {
    "versions": {"tensorflow": tf.__version__, "keras": keras.__version__, "numpy": np.__version__},
    "seed": SEED,
    "gptq": [
        drawn(gptq_matrix, 12, 5, group_size=-1),
        drawn(gptq_matrix, 12, 6, weight_bits=8, group_size=12),
        drawn(gptq_matrix, 16, 4, weight_bits=3, group_size=8, hessian_damping=0.1),
        drawn(gptq_matrix, 18, 3, weight_bits=2, group_size=8, symmetric=True),
        drawn(gptq_matrix, 16, 5, group_size=8, activation_order=True),
        drawn(gptq_matrix, 12, 4, group_size=-1, activation_order=True, symmetric=True),
        drawn(gptq_matrix, 12, 4, group_size=-1, per_channel=False),
        drawn(gptq_matrix, 132, 3, group_size=16),
    ],
    "awq": [drawn(awq_matrix, 12, 5, group_size=-1), drawn(awq_matrix, 20, 4, group_size=8), drawn(awq_matrix, 20, 3, num_grid_points=4)],
    "blocks": [
        drawn(block_case, "gptq", group_size=8, activation_order=True),
        drawn(block_case, "gptq", group_size=-1, weight_bits=8),
        drawn(block_case, "awq", group_size=8),
        drawn(block_case, "awq", group_size=-1, num_grid_points=5),
    ],
    "files": [drawn(file_case, "gptq", group_size=8), drawn(file_case, "awq", group_size=8)],
    "tokens": [t.tolist() for t in TOKENS],
    "samples": gptq_core.get_dataloader(None, 6, TOKENS, num_samples=5).tolist(),
    "repeated": gptq_core.get_dataloader(None, 5, [np.arange(7)], num_samples=6).tolist(),
    "configs": [
        keras.saving.serialize_keras_object(quantizers.GPTQConfig([], None, group_size=64)),
        keras.saving.serialize_keras_object(quantizers.AWQConfig([], None)),
        keras.dtype_policies.serialize(keras.dtype_policies.get("gptq/4/64_from_mixed_bfloat16")),
        keras.dtype_policies.serialize(keras.dtype_policies.get("awq/4/-1_from_float32")),
    ],
}
OUT = FOLDER / "calibrated.json"
OUT.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
print(OUT, OUT.stat().st_size)
