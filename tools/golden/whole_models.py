"""Makes packages/eagre/golden/whole-models.json with Keras on TensorFlow: twelve models after 50 steps of training.

Run: KERAS_BACKEND=tensorflow python tools/golden/whole_models.py
packages/eagre/tests/whole-models.test.ts makes the same models, data and first weights; each has a name there and here.
No bias has a gradient of nothing but rounding errors, as that of attention's keys or of a convolution before a normalization:
Adam and the like make large steps of it, which differ between two runs of Keras too.
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import numpy as np
import tensorflow as tf
from keras import Input, Model, Sequential, layers, losses, optimizers

OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden/whole-models.json"
N, VALID = 18, 6
schedules = optimizers.schedules


def noise(shape, seed):
    """Numbers between -0.5 and 0.5 that JavaScript makes too."""
    n = np.arange(int(np.prod(shape)), dtype="float64")
    x = np.sin(n * 12.9898 + seed * 78.233) * 43758.5453
    return (x - np.floor(x) - 0.5).reshape(shape)


def real(*shape, seed):
    return (2 * noise(shape, seed)).astype("float32")


def whole(below, *shape, seed):
    return np.floor((noise(shape, seed) + 0.5) * below).astype("int32")


def fill(model):
    for i, w in enumerate(model.weights):
        name = w.path.split("/")[-1]
        if not name.startswith("moving"):
            w.assign(((1.0 if name == "gamma" else 0.0) + 0.8 * noise(w.shape, 100 + i)).astype("float32"))
    return model


def mlp():
    model = fill(Sequential([
        Input((6,)), layers.Dense(8, activation="relu"), layers.BatchNormalization(), layers.Dense(6, activation="tanh"),
        layers.BatchNormalization(momentum=0.9, center=False, epsilon=0.01),
        layers.Dense(3, kernel_regularizer=keras.regularizers.L2(0.01)),
    ]))
    rate = schedules.ExponentialDecay(0.05, 10, 0.8)
    model.compile(
        optimizers.SGD(rate, momentum=0.9, nesterov=True, clipnorm=0.5),
        losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"], weighted_metrics=["accuracy"],
    )
    data = real(N, 6, seed=1), whole(3, N, seed=2)
    return model, data, {"class_weight": {0: 2, 2: 0.5}, "validation_split": 0.2, "epochs": 13}


def cnn():
    model = fill(Sequential([
        Input((8, 8, 2)), layers.Conv2D(4, 3, padding="same", use_bias=False, activation="relu"), layers.MaxPooling2D(),
        layers.BatchNormalization(), layers.Conv2D(4, 3), layers.AveragePooling2D(2, 1, padding="same"), layers.Flatten(),
        layers.Dense(3, activation="softmax"),
    ]))
    rate = schedules.CosineDecay(0.0, 40, alpha=0.1, warmup_target=0.02, warmup_steps=10)
    optimizer = optimizers.AdamW(rate, weight_decay=0.1)
    optimizer.exclude_from_weight_decay(var_names=["bias", "gamma", "beta"])
    model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"], steps_per_execution=2)
    data = real(N, 8, 8, 2, seed=3), whole(3, N, seed=4)
    return model, data, {"validation_data": (real(VALID, 8, 8, 2, seed=5), whole(3, VALID, seed=6))}


def summed_rows(base):
    """An optimizer that sees whole gradients of tables. Of slices, Keras on TensorFlow takes norms and squares before rows that come twice are
    added up; on JAX and PyTorch it does what this does."""

    class SummedRows(base):
        def apply(self, grads, trainable_variables=None):
            super().apply([tf.convert_to_tensor(g) for g in grads], trainable_variables)

    return SummedRows


def lstm():
    model = fill(Sequential([
        Input((7,), dtype="int32"), layers.Embedding(12, 5, mask_zero=True), layers.LSTM(6), layers.Dense(1, activation="sigmoid"),
    ]))
    optimizer = summed_rows(optimizers.RMSprop)(0.01, rho=0.8, momentum=0.5, centered=True, global_clipnorm=0.3)
    model.compile(optimizer, "binary_crossentropy", metrics=["accuracy", keras.metrics.AUC(name="auc")], weighted_metrics=["mae"])
    data = whole(12, N, 7, seed=7) * (np.arange(7) < 3 + np.arange(N)[:, None] % 5), whole(2, N, 1, seed=8).astype("float32")
    return model, data, {"sample_weight": np.abs(real(N, seed=9)) + 0.1}


def bigru():
    model = fill(Sequential([
        Input((7, 3)), layers.Bidirectional(layers.GRU(4, return_sequences=True)), layers.GRU(3, reset_after=False), layers.Dense(2),
    ]))
    optimizer = optimizers.Nadam(0.01, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=7)
    model.compile(optimizer, "mse", metrics=["mae"], steps_per_execution=5)
    return model, (real(N, 7, 3, seed=10), real(N, 2, seed=11)), {"validation_data": (real(VALID, 7, 3, seed=12), real(VALID, 2, seed=13))}


class Positions(layers.Layer):
    """Adds an embedding of each position."""

    def __init__(self, count, size):
        super().__init__()
        self.embedding = layers.Embedding(count, size)
        self.count = count

    def call(self, x):
        return x + self.embedding(keras.ops.arange(self.count))


def gpt():
    tokens = Input((8,), dtype="int32")
    x = Positions(8, 8)(layers.Embedding(11, 8)(tokens))
    for _ in range(2):
        normal = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(2, 4, use_bias=False)(normal, normal, use_causal_mask=True)
        x = x + layers.Dense(8)(layers.Dense(12, activation="gelu")(layers.LayerNormalization()(x)))
    model = fill(Model(tokens, layers.Dense(11)(layers.LayerNormalization()(x))))
    rate = schedules.PolynomialDecay(0.01, 20, end_learning_rate=0.002, power=2.0)
    optimizer = optimizers.Adam(rate, beta_2=0.98, amsgrad=True, gradient_accumulation_steps=2)
    model.compile(optimizer, losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    text = whole(11, N, 9, seed=14)
    return model, (text[:, :-1], text[:, 1:]), {"validation_split": 0.25, "epochs": 13}


def residual():
    a, b = Input((5,), name="a"), Input((5,), name="b")
    shared = layers.Dense(6, activation="elu", name="shared")
    block = layers.Dense(6, activation="swish", name="block")
    left, right = shared(a), shared(b)
    left = layers.Add()([left, block(left)])
    right = layers.Add()([right, block(right)])
    both = layers.Concatenate()([left, layers.Multiply()([left, right])])
    model = fill(Model([a, b], [layers.Dense(1, name="value")(both), layers.Dense(3, activation="softmax", name="kind")(both)]))
    model.compile(
        optimizers.Adagrad(schedules.PiecewiseConstantDecay([15, 30], [0.1, 0.05, 0.02]), clipvalue=0.2, weight_decay=0.01),
        [losses.Huber(delta=0.5), "categorical_crossentropy"], loss_weights=[0.3, 2.0], metrics=[["mae"], ["accuracy"]],
        # In a graph of batches of unknown size Keras lets a short last batch count as much as the others in the losses of the outputs.
        run_eagerly=True,
    )
    kinds = np.eye(3, dtype="float32")
    x, y = [real(N, 5, seed=15), real(N, 5, seed=16)], [real(N, 1, seed=17), kinds[whole(3, N, seed=18)]]
    vx, vy = [real(VALID, 5, seed=19), real(VALID, 5, seed=20)], [real(VALID, 1, seed=21), kinds[whole(3, VALID, seed=22)]]
    return model, (x, y), {"validation_data": (vx, vy)}


def autoencoder():
    model = fill(Sequential([
        Input((8, 8, 1)), layers.Conv2D(3, 3, strides=2, padding="same", activation="leaky_relu"),
        layers.Conv2D(4, 3, strides=2, padding="same", activation="leaky_relu"),
        layers.Conv2DTranspose(3, 3, strides=2, padding="same", activation="leaky_relu"),
        layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="tanh"),
    ]))
    rate = schedules.CosineDecayRestarts(0.02, 12, t_mul=1.5, m_mul=0.8)
    model.compile(optimizers.Lamb(rate, weight_decay=0.01, clipnorm=0.5), "mse", metrics=["mae"])
    x = real(N, 8, 8, 1, seed=23)
    return model, (x, x), {"validation_split": 0.2, "epochs": 13}


def mobile():
    x = Input((8, 8, 3))
    y = layers.ReLU(6.0)(layers.BatchNormalization()(layers.DepthwiseConv2D(3, strides=2, padding="same", use_bias=False)(x)))
    y = layers.BatchNormalization()(layers.Conv2D(4, 1, use_bias=False)(y))
    z = layers.ReLU(6.0)(layers.BatchNormalization()(layers.SeparableConv2D(4, 3, padding="same", depth_multiplier=2, use_bias=False)(y)))
    y = layers.GlobalAveragePooling2D()(layers.Add()([y, z]))
    model = fill(Model(x, layers.Dense(4)(y)))
    rate = schedules.InverseTimeDecay(0.02, 10, 0.5, staircase=True)
    model.compile(
        optimizers.Muon(rate, weight_decay=0.05, adam_weight_decay=0.01),
        losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1), metrics=["accuracy"],
    )
    data = real(N, 8, 8, 3, seed=24), np.eye(4, dtype="float32")[whole(4, N, seed=25)]
    return model, data, {"class_weight": {0: 2, 1: 1, 2: 0.5, 3: 1.5}}


def convlstm():
    model = fill(Sequential([
        Input((4, 5, 5, 2)), layers.ConvLSTM2D(3, 2, return_sequences=True), layers.TimeDistributed(layers.Conv2D(2, 2, activation="relu")),
        layers.TimeDistributed(layers.Flatten()), layers.SimpleRNN(4), layers.Dense(2),
    ]))
    optimizer = optimizers.Ftrl(
        0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02, l2_shrinkage_regularization_strength=0.01, beta=0.1,
    )
    model.compile(optimizer, "log_cosh", metrics=["mse", "cosine_similarity"])
    return model, (real(N, 4, 5, 5, 2, seed=26), real(N, 2, seed=27)), {"sample_weight": np.abs(real(N, seed=28)) + 0.2}


class Own(Model):
    """A step of its own: one loss, and a penalty of the hidden numbers."""

    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(6, activation="softplus")
        self.last = layers.Dense(2)
        self.tracker = keras.metrics.Mean(name="both")
        self.error = keras.metrics.RootMeanSquaredError(name="error")

    def call(self, x):
        return self.last(self.hidden(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            h = self.hidden(x)
            predicted = self.last(h)
            loss = tf.reduce_mean(tf.square(y - predicted)) + 0.01 * tf.reduce_sum(tf.square(h))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.tracker.update_state(loss)
        self.error.update_state(y, predicted)
        return {"both": self.tracker.result(), "error": self.error.result()}

    @property
    def metrics(self):
        return [self.tracker, self.error]


def own():
    model = Own()
    model(real(N, 5, seed=29))
    fill(model)
    model.compile(optimizers.Lion(0.003, beta_1=0.8, beta_2=0.95, weight_decay=0.1, use_ema=True, ema_momentum=0.9))
    return model, (real(N, 5, seed=29), real(N, 2, seed=30)), {}


class FNetEncoder(layers.Layer):
    """Mixes tokens by Fourier transforms instead of attention."""

    def __init__(self, size, hidden):
        super().__init__()
        self.dense = Sequential([layers.Dense(hidden, activation="relu"), layers.Dense(size)])
        self.first, self.second = layers.LayerNormalization(epsilon=1e-5), layers.LayerNormalization(epsilon=1e-5)

    def call(self, x):
        mixed, _ = keras.ops.fft2((x, keras.ops.zeros_like(x)))
        y = self.first(x + mixed)
        return self.second(y + self.dense(y))


def fnet():
    tokens = Input((8,), dtype="int32")
    x = Positions(8, 6)(layers.Embedding(12, 6)(tokens))
    for _ in range(2):
        x = FNetEncoder(6, 10)(x)
    y = layers.Dense(1, activation="sigmoid")(layers.GlobalAveragePooling1D()(x))
    model = fill(Model(tokens, y))
    model.compile(summed_rows(optimizers.Adam)(0.01), "binary_crossentropy", metrics=["accuracy"])
    return model, (whole(12, N, 8, seed=31), whole(2, N, 1, seed=32).astype("float32")), {}


class FeatureCross(layers.Layer):
    """Products of features, with a matrix of low rank."""

    def build(self, x0_shape, x_shape):
        self.down, self.up = layers.Dense(4, use_bias=False), layers.Dense(x_shape[-1])
        self.down.build(x_shape)
        self.up.build((None, 4))

    def call(self, x0, x):
        return x0 * self.up(self.down(x)) + x


def deep_and_cross():
    users, films = Input((1,), dtype="int32"), Input((1,), dtype="int32")
    x0 = layers.Concatenate()([layers.Flatten()(layers.Embedding(5, 4)(users)), layers.Flatten()(layers.Embedding(7, 4)(films))])
    x = FeatureCross()(x0, FeatureCross()(x0, x0))
    model = fill(Model([users, films], layers.Dense(1)(layers.Dense(8, activation="relu")(x))))
    model.compile(summed_rows(optimizers.AdamW)(0.01), "mse", metrics=[keras.metrics.RootMeanSquaredError()])
    return model, ([whole(5, N, 1, seed=33), whole(7, N, 1, seed=34)], 1 + 2 * np.abs(real(N, 1, seed=35))), {}


MODELS = [mlp, cnn, lstm, bigru, gpt, residual, autoencoder, mobile, convlstm, own, fnet, deep_and_cross]


def plain(x):
    return [float(f"{v:.7g}") for v in np.asarray(x).ravel()]


def main():
    cases = {}
    for make in MODELS:
        keras.backend.clear_session()
        model, (x, y), options = make()
        history = model.fit(x, y, **{"batch_size": 4, "epochs": 10, "verbose": 0, "shuffle": False, **options})
        predicted = model.predict(x, batch_size=7, verbose=0)
        cases[make.__name__] = {
            "history": {k: plain(v) for k, v in history.history.items()},
            "weights": [{"path": w.path, "shape": list(w.shape), "values": plain(w)} for w in model.weights],
            "predicted": [plain(p) for p in (predicted if isinstance(predicted, list) else [predicted])],
            "steps": int(model.optimizer.iterations.numpy()),
        }
        print(make.__name__, cases[make.__name__]["steps"], {k: (v[0], v[-1]) for k, v in history.history.items()})
    made = {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__}
    OUT.write_text(json.dumps({"made": made, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
