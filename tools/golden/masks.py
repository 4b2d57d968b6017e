"""Makes packages/layers/golden/masks.json with Keras on TensorFlow: models that are called with a mask; and own_masks.json: models whose
layers make masks.

Run: KERAS_BACKEND=tensorflow python tools/golden/masks.py
"""

import json
import os
import pathlib
import warnings

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from keras import layers

# Which layers drop a mask is what the values tell.
warnings.filterwarnings("ignore", message=".*does not support masking.*")
OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden/masks.json"
rng = np.random.default_rng(11)
BATCH, TIME, FEATURES = 2, 4, 3


def values(x):
    x = np.asarray(x)
    return {"shape": list(x.shape), "values": [float(f"{v:.9g}") for v in x.ravel().tolist()]}


def scaled(x, mask=None):
    return x if mask is None else x * keras.ops.cast(mask, "float32")[..., None]


def sequential(*inside):
    return lambda: keras.Sequential([keras.Input((TIME, FEATURES)), *inside])


def joined(join):
    def make():
        a, b = keras.Input((TIME, FEATURES)), keras.Input((TIME, FEATURES))
        return keras.Model([a, b], layers.SimpleRNN(2)(join([layers.Dense(3)(a), layers.Activation("tanh")(b)])))

    return make


def attention():
    a, b = keras.Input((TIME, FEATURES)), keras.Input((TIME, FEATURES))
    return keras.Model([a, b], layers.GlobalAveragePooling1D()(layers.MultiHeadAttention(1, 2)(a, b)))


def with_state():
    x, state = keras.Input((TIME, FEATURES)), keras.Input((2,))
    y = layers.SimpleRNN(2, return_sequences=True)(x, initial_state=state)
    return keras.Model([x, state], layers.SimpleRNN(2)(y))


def nested():
    inner = keras.Sequential([keras.Input((TIME, FEATURES)), layers.Dense(3)])
    x = keras.Input((TIME, FEATURES))
    return keras.Model(x, layers.SimpleRNN(2)(inner(x)))


def both():
    x = keras.Input((TIME, FEATURES))
    forth, back = layers.Bidirectional(layers.SimpleRNN(2, return_sequences=True), merge_mode=None)(x)
    return keras.Model(x, layers.Add()([layers.SimpleRNN(2)(forth), layers.SimpleRNN(2)(back)]))


MODELS = {
    "recurrent": sequential(layers.SimpleRNN(2)),
    "behind layers that pass it on": sequential(
        layers.Dense(3, "tanh"), layers.Dropout(0.5), layers.LayerNormalization(), layers.GRU(2)
    ),
    "two recurrent": sequential(layers.LSTM(2, return_sequences=True), layers.LSTM(2)),
    "recurrent, then dense": sequential(layers.SimpleRNN(2, return_sequences=True), layers.Dense(2), layers.GlobalAveragePooling1D()),
    "dropped by a reshape": sequential(layers.Reshape((TIME, FEATURES)), layers.SimpleRNN(2)),
    "dropped by a last step": sequential(layers.SimpleRNN(4), layers.Softmax()),
    "step by step": sequential(layers.TimeDistributed(layers.Dense(2)), layers.SimpleRNN(2)),
    "function behind permutations": sequential(layers.Permute((2, 1)), layers.Permute((2, 1)), layers.Lambda(scaled)),
    "function": sequential(layers.Lambda(scaled), layers.SimpleRNN(2)),
    "nested": nested,
    "both directions": both,
    "added": joined(layers.Add()),
    "concatenated": joined(layers.Concatenate()),
    "concatenated in time": joined(layers.Concatenate(axis=1)),
    "attention": attention,
    "with a state": with_state,
}
MASKS = [
    np.array([[True, True, False, True], [True, False, False, False]]),
    np.array([[True, False, True, True], [False, True, True, False]]),
]


def case(name, make, given):
    model = make()
    model.set_weights([rng.normal(size=w.shape, scale=0.7).astype("float32") for w in model.get_weights()])
    inputs = [rng.normal(size=[BATCH, *i.shape[1:]]).astype("float32") for i in model.inputs]
    masks = [m if g else None for m, g in zip(MASKS, given)]
    one = len(inputs) == 1
    mask = masks[0] if one else masks
    return {
        "model": name,
        "weights": [values(w) for w in model.get_weights()],
        "inputs": [values(x) for x in inputs],
        "masks": [None if m is None else m.tolist() for m in masks],
        "output": values(model(inputs[0] if one else inputs, mask=mask)),
    }


def own_masks():
    """Models whose layers make masks: what they give, and the losses that count only what is not hidden."""
    ids, x = keras.Input((TIME,), dtype="int32"), keras.Input((TIME, FEATURES))

    def embedded(*inside):
        return lambda: keras.Sequential([keras.Input((TIME,), dtype="int32"), layers.Embedding(5, 3, mask_zero=True), *inside])

    return {
        "embedding": embedded(layers.SimpleRNN(2)),
        "embedding, sequences": embedded(layers.GRU(2, return_sequences=True), layers.Dense(2)),
        "embedding, mean": embedded(layers.GlobalAveragePooling1D()),
        "embedding, both directions": embedded(layers.Bidirectional(layers.LSTM(2, return_sequences=True)), layers.Dense(1)),
        "embedding, normalised": embedded(layers.BatchNormalization(), layers.SimpleRNN(2)),
        "embedding, attention": lambda: (lambda e: keras.Model(ids, layers.GlobalAveragePooling1D()(layers.Attention()([e, e]))))(
            layers.Embedding(5, 3, mask_zero=True)(ids)
        ),
        "embedding, heads": lambda: (lambda e: keras.Model(ids, layers.GlobalAveragePooling1D()(layers.MultiHeadAttention(1, 2)(e, e))))(
            layers.Embedding(5, 3, mask_zero=True)(ids)
        ),
        "masking": lambda: keras.Sequential([keras.Input((TIME, FEATURES)), layers.Masking(), layers.LSTM(2)]),
        "masking, added": lambda: keras.Model(
            x, layers.Add()([layers.Masking()(x), layers.Masking(mask_value=1.0)(x)])
        ),
    }


def own_case(name, make):
    model = make()
    for w in model.weights:
        value = rng.normal(size=w.shape, scale=0.7).astype("float32")
        w.assign(np.abs(value) + 0.25 if w.name == "moving_variance" else value)
    if name.startswith("embedding"):
        inputs = np.array([[1, 3, 0, 0], [2, 0, 4, 1]], dtype="int32")
    else:
        inputs = rng.normal(size=[BATCH, TIME, FEATURES]).astype("float32")
        inputs[0, 2:] = 0
        inputs[1, 1] = 1
    y = np.asarray(model(inputs))
    target = rng.normal(size=y.shape).astype("float32")
    weights = rng.uniform(size=y.shape[:-1]).astype("float32")
    loss = keras.losses.MeanSquaredError()
    model.compile(loss="mae", optimizer="sgd", weighted_metrics=["mse"])
    result = {
        "model": name,
        "weights": [values(w) for w in model.get_weights()],
        "inputs": [values(inputs)],
        "output": values(y),
        "target": values(target),
        "sampleWeight": values(weights),
        "loss": float(loss(target, model(inputs))),
        "weightedLoss": float(loss(target, model(inputs), weights)),
        "evaluated": [float(v) for v in model.test_on_batch(inputs, target, weights)],
    }
    result["trained"] = [float(model.train_on_batch(inputs, target)[0]) for _ in range(3)]
    return result


def main():
    cases = []
    for name, make in MODELS.items():
        given = [(True,)] if len(make().inputs) == 1 else [(True, False), (True, True), (False, True)]
        given = [g for g in given if name != "with a state" or g == (True, False)]
        cases += [case(name, make, g) for g in given]
    own = [own_case(name, make) for name, make in own_masks().items()]
    OUT.with_name("own_masks.json").write_text("[\n" + ",\n".join(json.dumps(c) for c in own) + "\n]\n")
    text = "[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n"
    OUT.write_text(text)
    print(f"{OUT.name}: {len(cases)} cases, Keras {keras.__version__}")


main()
