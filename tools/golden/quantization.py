"""Makes packages/layers/golden/quantization.json with Keras on TensorFlow: quantizers, layers of int8, int4 and float8, and LoRA.

Run: KERAS_BACKEND=tensorflow python tools/golden/quantization.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers, quantizers

SEED = 71
OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden/quantization.json"
rng = np.random.default_rng(SEED)


def values(x):
    x = np.asarray(x)
    return {"shape": list(x.shape), "values": [float(f"{v:.9g}") for v in x.ravel().tolist()]}


def floats(*shape):
    return rng.normal(size=shape).astype("float32")


def abs_max(x, axis, **options):
    y, scale = quantizers.abs_max_quantize(x, axis, **options)
    return {"x": values(x), "axis": axis, "options": options, "y": values(y), "scale": values(scale)}


def fake_quant(x, low, high, **options):
    low, high = tf.constant(low), tf.constant(high)
    x = tf.constant(x)
    up = floats(*x.shape)
    with tf.GradientTape() as tape:
        tape.watch([x, low, high])
        y = quantizers.fake_quant_with_min_max_vars(x, low, high, **options)
        loss = tf.reduce_sum(y * up)
    grads = tape.gradient(loss, [x, low, high])
    return {
        "x": values(x),
        "low": values(low),
        "high": values(high),
        "options": options,
        "y": values(y),
        "up": values(up),
        "grads": [values(g) for g in grads],
    }


def grouped(x, block):
    # As layers do it.
    y, scale, zero = quantizers.abs_max_quantize_grouped_with_zero_point(x, block_size=block)
    return {"x": values(x), "block": block, "y": values(y), "scale": values(scale), "zero": values(zero)}


def packed(x, axis, dtype):
    y, shape, length = quantizers.pack_int4(tf.constant(x, dtype), axis=axis, dtype=dtype)
    return {"x": values(x), "axis": axis, "dtype": dtype, "y": values(y), "shape": list(shape), "length": length}


def layer_case(make, x, *, quantize, lora=None, steps=0, config=None):
    """A layer with weights of its own, quantized or given LoRA, then some steps of gradient descent."""
    layer = make()
    integers = x.dtype == np.int32
    layer(x)
    layer.set_weights([floats(*w.shape) for w in layer.weights])
    case = {
        "layer": type(layer).__name__,
        "config": keras.saving.serialize_keras_object(layer)["config"],
        "weights": [values(w) for w in layer.weights],
        "x": values(x),
        "quantize": quantize,
        "lora": lora,
    }
    if quantize:
        layer.quantize(quantize if isinstance(quantize, str) else "int8", **({"config": config} if config else {}))
        case["policy"] = layer.dtype_policy.name
        case["quantizedConfig"] = keras.saving.serialize_keras_object(layer)["config"]
    if lora:
        layer.enable_lora(**lora)
        a, b = [w for w in layer.weights if "lora" in w.name]
        a.assign(floats(*a.shape))
        b.assign(floats(*b.shape))
        case["lora_values"] = [values(a), values(b)]
    case["after"] = [{"name": w.name, "dtype": str(w.dtype), "trainable": w.trainable, **values(w)} for w in layer.weights]
    inputs = tf.constant(x)
    up = floats(*layer(inputs).shape)
    case["up"] = values(up)
    case["outputs"], case["trained"] = [], []
    for step in range(steps + 1):
        with tf.GradientTape() as tape:
            if not integers:
                tape.watch(inputs)
            y = layer(inputs)
            loss = tf.reduce_sum(y * up)
        variables = [w.value for w in layer.trainable_weights]
        sources = variables + ([] if integers else [inputs])
        grads = tape.gradient(loss, sources)
        case["outputs"].append(values(y))
        if step == 0 and not integers:
            case["gradient"] = values(grads[-1])
        if step < steps:
            for v, g in zip(layer.trainable_weights, grads):
                v.assign(v - 0.01 * tf.convert_to_tensor(g))
    case["trained"] = [values(w) for w in layer.trainable_weights]
    if quantize == "int4":
        store = {}
        layer.save_own_variables(store)
        case["stored"] = [{"dtype": np.asarray(v).dtype.name, **values(v)} for v in store.values()]
        case["given"] = keras.saving.serialize_keras_object(config)["config"] if config else None
    return case


def int4(make, x, **options):
    """Of 4 bits; with a block or quantizers where some are given."""
    lora, steps = options.pop("lora", None), options.pop("steps", 0)
    config = quantizers.Int4QuantizationConfig(**options) if options else None
    return layer_case(make, x, quantize="int4", lora=lora, steps=steps, config=config)


def attention(make, x, mode, block=None):
    """Attention, whose projections are quantized by the model that it is in."""
    layer = make()
    i = keras.Input(x.shape[1:])
    model = keras.Model(i, layer(i, i))
    model.set_weights([floats(*w.shape) for w in model.weights])
    case = {"layer": type(layer).__name__, "mode": mode, "block": block, "x": values(x)}
    case["weights"] = [values(w) for w in model.weights]
    options = {"config": quantizers.Int4QuantizationConfig(block_size=block)} if block else {}
    model.quantize(mode, **options)
    case["after"] = [{"name": w.name, "dtype": str(w.dtype), "trainable": w.trainable, **values(w)} for w in model.weights]
    inputs = tf.constant(x)
    up = floats(*x.shape)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = model(inputs)
        loss = tf.reduce_sum(y * up)
    case.update(y=values(y), up=values(up), gradient=values(tape.gradient(loss, inputs)))
    return case


def float8(make, x, steps=3):
    """Steps of training with floats of 8 bits, in which gradients of scales and histories become their values."""
    layer = make()
    layer(x)
    layer.set_weights([floats(*w.shape) for w in layer.weights])
    case = {"layer": type(layer).__name__, "config": keras.saving.serialize_keras_object(layer)["config"], "x": values(x)}
    case["weights"] = [values(w) for w in layer.weights]
    layer.quantize("float8")
    case["policy"] = layer.dtype_policy.name
    case["quantizedConfig"] = keras.saving.serialize_keras_object(layer)["config"]
    case["names"] = [[w.name, list(w.shape), w.trainable] for w in layer.weights]
    optimizer = keras.optimizers.SGD(0.1)
    inputs = tf.constant(x)
    up = floats(*layer(inputs).shape)
    case["up"] = values(up)
    case["before"] = values(layer(inputs))
    case["steps"] = []
    # Eagerly, TensorFlow takes the scales for variables that the functions read.
    @tf.function
    def run(scaled):
        with tf.GradientTape() as tape:
            tape.watch(scaled)
            y = layer(scaled, training=True)
            loss = tf.reduce_sum(y * up)
        return y, tape.gradient(loss, [w.value for w in layer.trainable_weights] + [scaled])

    for step in range(steps):
        y, (*grads, dx) = run(inputs * (step + 1.0))
        optimizer.apply(grads, layer.trainable_weights)
        kept = [w for w in layer.weights if "history" not in w.name]
        case["steps"].append({"y": values(y), "gradient": values(dx), "weights": [values(w) for w in kept]})
    case["histories"] = [values(w[:4]) for w in layer.weights if "history" in w.name]
    case["optimizer"] = [v.path for v in optimizer.variables]
    store = {}
    layer.save_own_variables(store)
    case["stored"] = [list(np.shape(v)) for v in store.values()]
    return case


def rounded(dtype):
    """What is left in 8 bits of numbers of all sizes, halves among them."""
    x = np.concatenate([[0, 1, -1, 448, 449, 1e6, -1e6, 17, 18, 19, 20, 21, 22, 2**-6, 2**-9, 2**-10, 3 * 2**-10, 2**-16, 3 * 2**-17],
                        floats(40) * np.exp2(rng.integers(-18, 16, 40))]).astype("float32")
    return {"dtype": dtype, "x": values(x), "y": values(quantizers.quantize_and_dequantize(x, 1.0, dtype, "float32")),
            "half": values(tf.cast(quantizers.quantize_and_dequantize(tf.cast(x, "bfloat16"), 0.5, dtype, "bfloat16"), "float32"))}


x = floats(4, 6)
rows = rng.integers(0, 7, size=(3, 4)).astype("int32")
dense = lambda **o: lambda: layers.Dense(5, name="dense", **o)
table = lambda **o: lambda: layers.Embedding(7, 4, name="table", **o)
einsum = lambda equation, shape, **o: lambda: layers.EinsumDense(equation, shape, name="einsum", **o)
wide = floats(2, 3, 6)

golden = {
    "versions": {"tensorflow": tf.__version__, "keras": keras.__version__, "numpy": np.__version__},
    "seed": SEED,
    "abs_max": [
        abs_max(x, 0),
        abs_max(x, -1),
        abs_max(floats(2, 3, 4), [0, 2]),
        abs_max(x, 0, value_range=[-8, 7]),
        abs_max(np.zeros((2, 3), "float32"), 0),
    ],
    "fake_quant": [
        fake_quant(floats(4, 5), -1.3, 0.9),
        fake_quant(floats(4, 5), -1.0, 1.5, num_bits=4, narrow_range=True),
        fake_quant(floats(2, 3), -0.5, 0.5, num_bits=2),
        fake_quant(floats(3, 4), [-1.0, -0.2, -0.4, -0.9], [0.5, 1.0, 0.3, 0.8], axis=1),
        fake_quant(floats(3, 2), [-1.0, -0.2, -0.4], [0.5, 1.0, 0.3], axis=0, num_bits=4),
    ],
    "grouped": [grouped(floats(8, 3), 4), grouped(floats(7, 2), 3), grouped(floats(4, 2), 8)],
    "packed": [
        packed(rng.integers(-8, 8, size=(5, 3)), 0, "int8"),
        packed(rng.integers(-8, 8, size=(2, 4)), -1, "int8"),
        packed(rng.integers(0, 16, size=(3, 5)), 1, "uint8"),
    ],
    "layers": [
        layer_case(dense(), x, quantize=True),
        layer_case(dense(activation="relu", use_bias=False), wide, quantize=True, steps=0),
        layer_case(dense(activation="tanh"), x, quantize=True, lora={"rank": 2, "lora_alpha": 3}, steps=3),
        layer_case(dense(activation="relu"), x, quantize=False, lora={"rank": 2}, steps=3),
        layer_case(dense(kernel_regularizer="l2"), x, quantize=False, lora={"rank": 3, "lora_alpha": 1.5}, steps=2),
        layer_case(table(), rows, quantize=True),
        layer_case(table(), rows, quantize=False, lora={"rank": 2, "lora_alpha": 4}, steps=2),
        layer_case(table(), rows, quantize=True, lora={"rank": 2}, steps=2),
        layer_case(einsum("abc,cd->abd", (3, 5), bias_axes="d"), wide, quantize=True),
        layer_case(einsum("abx,xy->aby", (3, 4), activation="relu"), wide, quantize=True),
        layer_case(einsum("abc,cde->abde", (3, 2, 4), bias_axes="de"), wide, quantize=True),
        layer_case(einsum("abcd,cde->abe", (3, 5), bias_axes="e"), floats(2, 3, 2, 4), quantize=True),
        layer_case(einsum("abc,cd->abd", (3, 5), bias_axes="d"), wide, quantize=False, lora={"rank": 2}, steps=2),
        layer_case(einsum("abc,cd->abd", (3, 5)), wide, quantize=True, lora={"rank": 2, "lora_alpha": 1}, steps=2),
    ],
    "int4": [
        int4(dense(), x),
        int4(dense(activation="relu"), x, block_size=4),
        int4(dense(), wide, block_size=2),
        int4(dense(), x, block_size=None),
        int4(dense(use_bias=False), x, block_size=-1, activation_quantizer=quantizers.AbsMaxQuantizer()),
        int4(dense(activation="tanh"), x, block_size=4, lora={"rank": 2, "lora_alpha": 3}, steps=2),
        int4(dense(), x, block_size=-1, lora={"rank": 2}, steps=2),
        int4(table(), rows),
        int4(table(), rows, block_size=3),
        int4(table(), rows, block_size=-1),
        int4(table(), rows, block_size=2, lora={"rank": 2}, steps=2),
        int4(einsum("abc,cd->abd", (3, 5), bias_axes="d"), wide),
        int4(einsum("abc,cde->abde", (3, 2, 3), bias_axes="de"), wide, block_size=4),
        int4(einsum("abcd,cde->abe", (3, 5), bias_axes="e", activation="relu"), floats(2, 3, 2, 4), block_size=3),
        int4(einsum("abc,cde->abde", (3, 2, 3)), wide, block_size=-1),
        int4(einsum("abc,cd->abd", (3, 5)), wide, block_size=-1, activation_quantizer=quantizers.AbsMaxQuantizer()),
        int4(einsum("abc,cd->abd", (3, 5)), wide, block_size=2, lora={"rank": 2, "lora_alpha": 1}, steps=2),
    ],
    "attention": [
        attention(lambda: layers.MultiHeadAttention(2, 3, name="attention"), wide, "int8"),
        attention(lambda: layers.MultiHeadAttention(2, 3, name="attention"), wide, "int4"),
        attention(lambda: layers.MultiHeadAttention(2, 3, use_bias=False, name="attention"), wide, "int4", 4),
        attention(lambda: layers.MultiHeadAttention(2, 3, name="attention"), wide, "int4", -1),
        attention(lambda: layers.GroupQueryAttention(3, 4, 2, name="attention"), wide, "int8"),
    ],
    "float8": [
        float8(dense(activation="relu"), x),
        float8(dense(use_bias=False), wide),
        float8(einsum("abc,cd->abd", (3, 5), bias_axes="d", activation="tanh"), wide),
    ],
    "rounded": [rounded("float8_e4m3fn"), rounded("float8_e5m2")],
    "scales": [
        [a if np.isfinite(a) else None, s, m, float(quantizers.compute_float8_scale(tf.constant(a), tf.constant(s), tf.constant(448.0), m))]
        for a, s, m in [(3.5, 0.5, 0), (0.0, 0.5, 0), (float("inf"), 2.0, 0), (10.0, 1.0, 2)]
    ],
    "configs": [
        quantizers.serialize(quantizers.AbsMaxQuantizer(axis=0)),
        quantizers.serialize(quantizers.AbsMaxQuantizer(axis=-1, value_range=(-8, 7))),
        keras.saving.serialize_keras_object(quantizers.Int8QuantizationConfig()),
        keras.dtype_policies.serialize(keras.dtype_policies.get("int8_from_float32")),
        keras.saving.serialize_keras_object(quantizers.Int4QuantizationConfig()),
        keras.dtype_policies.serialize(keras.dtype_policies.get("int4/64_from_mixed_bfloat16")),
        keras.saving.serialize_keras_object(quantizers.Float8QuantizationConfig()),
        keras.dtype_policies.serialize(keras.dtype_policies.get("float8_from_mixed_bfloat16")),
    ],
}
OUT.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
print(OUT, OUT.stat().st_size)
