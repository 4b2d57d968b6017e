"""Makes packages/layers/golden/custom-steps.json with Keras on TensorFlow: models with steps of their own, as guides and examples write them.

Run: KERAS_BACKEND=tensorflow python tools/golden/custom_steps.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden/custom-steps.json"
tf.config.experimental.enable_op_determinism()
keras.utils.set_random_seed(1)


def values(rows, columns, shift=0.0):
    """Numbers that other languages make too."""
    n = np.arange(rows * columns, dtype="float64")
    return (np.sin(n * 0.7 + shift)).reshape(rows, columns).astype("float32")


def fill(model):
    """Weights that other languages make too."""
    for i, w in enumerate(model.weights):
        shape = tuple(w.shape)
        size = int(np.prod(shape))
        w.assign((0.3 * np.cos(np.arange(size, dtype="float64") * 1.3 + i)).reshape(shape).astype("float32"))


x, y = values(10, 3), values(10, 1, 2.0)
weight = np.linspace(0.5, 1.5, 10).astype("float32")
fit = {"epochs": 3, "batch_size": 4, "shuffle": False, "verbose": 0}
found = {}


def record(name, history, **more):
    found[name] = {
        "history": {k: [float(v) for v in vs] for k, vs in history.history.items()},
        **{k: {n: float(v) for n, v in vs.items()} for k, vs in more.items()},
    }


def functional(cls):
    inputs = keras.Input((3,))
    hidden = keras.layers.Dense(4, activation="tanh")(inputs)
    model = cls(inputs, keras.layers.Dense(1)(hidden))
    fill(model)
    return model


class WithComputeLoss(keras.Model):
    def train_step(self, data):
        x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight)
        variables = self.trainable_variables
        self.optimizer.apply(tape.gradient(loss, variables), variables)
        return self.compute_metrics(x, y, y_pred, sample_weight)


model = functional(WithComputeLoss)
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse", metrics=["mae"], weighted_metrics=["mse"])
record("compute_loss", model.fit(x, y, sample_weight=weight, **fit))


class ByHand(keras.Model):
    def __init__(self, *args):
        super().__init__(*args)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.mae_metric = keras.metrics.MeanAbsoluteError(name="mae")
        self.loss_fn = keras.losses.MeanSquaredError()

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.loss_fn(y, y_pred)
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        self.loss_tracker.update_state(loss)
        self.mae_metric.update_state(y, y_pred)
        return {"loss": self.loss_tracker.result(), "mae": self.mae_metric.result()}

    def test_step(self, data):
        x, y = data
        y_pred = self(x, training=False)
        self.loss_tracker.update_state(self.loss_fn(y, y_pred))
        self.mae_metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}

    @property
    def metrics(self):
        return [self.loss_tracker, self.mae_metric]


model = functional(ByHand)
model.compile(optimizer=keras.optimizers.Adam(0.01))
history = model.fit(x, y, validation_data=(x[:5], y[:5]), **fit)
record("by_hand", history, evaluated=model.evaluate(x, y, batch_size=4, verbose=0, return_dict=True))


class OverMetrics(keras.Model):
    """The loop over `metrics` of Keras's guide."""

    def account(self, x, y, y_pred):
        loss = self.compute_loss(x=x, y=y, y_pred=y_pred)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return loss

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.account(x, y, self(x, training=True))
        self.optimizer.apply(tape.gradient(loss, self.trainable_weights), self.trainable_weights)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        self.account(x, y, self(x, training=False))
        return {m.name: m.result() for m in self.metrics}


signs = (y > 0).astype("float32")
model = functional(OverMetrics)
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse", metrics=["mae", "accuracy"])
history = model.fit(x, signs, validation_data=(x[:5], signs[:5]), **fit)
record("over_metrics", history, evaluated=model.evaluate(x, signs, batch_size=4, verbose=0, return_dict=True))


class OwnLoss(keras.Model):
    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        return tf.reduce_mean(tf.math.squared_difference(y_pred, y)) + 0.1 * tf.reduce_mean(tf.abs(y_pred))


model = functional(OwnLoss)
model.compile(optimizer=keras.optimizers.SGD(0.1), metrics=["mae"])
record("own_loss", model.fit(x, y, **fit), evaluated=model.evaluate(x, y, batch_size=4, verbose=0, return_dict=True))


class GAN(keras.Model):
    def __init__(self, discriminator, generator):
        super().__init__()
        self.discriminator = discriminator
        self.generator = generator
        self.d_loss_tracker = keras.metrics.Mean(name="d_loss")
        self.g_loss_tracker = keras.metrics.Mean(name="g_loss")

    def compile(self, d_optimizer, g_optimizer, loss_fn):
        super().compile()
        self.d_optimizer = d_optimizer
        self.g_optimizer = g_optimizer
        self.loss_fn = loss_fn

    @property
    def metrics(self):
        return [self.d_loss_tracker, self.g_loss_tracker]

    def train_step(self, data):
        real, noise = data[0]
        batch_size = tf.shape(real)[0]
        generated = self.generator(noise)
        combined = tf.concat([generated, real], axis=0)
        labels = tf.concat([tf.ones((batch_size, 1)), tf.zeros((batch_size, 1))], axis=0)
        with tf.GradientTape() as tape:
            predictions = self.discriminator(combined)
            d_loss = self.loss_fn(labels, predictions)
        grads = tape.gradient(d_loss, self.discriminator.trainable_weights)
        self.d_optimizer.apply_gradients(zip(grads, self.discriminator.trainable_weights))
        misleading = tf.zeros((batch_size, 1))
        with tf.GradientTape() as tape:
            predictions = self.discriminator(self.generator(noise))
            g_loss = self.loss_fn(misleading, predictions)
        grads = tape.gradient(g_loss, self.generator.trainable_weights)
        self.g_optimizer.apply_gradients(zip(grads, self.generator.trainable_weights))
        self.d_loss_tracker.update_state(d_loss)
        self.g_loss_tracker.update_state(g_loss)
        return {"d_loss": self.d_loss_tracker.result(), "g_loss": self.g_loss_tracker.result()}


def dense(sizes, columns):
    layers = [keras.layers.Dense(n, activation="tanh" if i + 1 < len(sizes) else None) for i, n in enumerate(sizes)]
    model = keras.Sequential([keras.Input((columns,)), *layers])
    fill(model)
    return model


gan = GAN(discriminator=dense([5, 1], 3), generator=dense([4, 3], 2))
gan.compile(
    d_optimizer=keras.optimizers.Adam(0.02),
    g_optimizer=keras.optimizers.Adam(0.01),
    loss_fn=keras.losses.BinaryCrossentropy(from_logits=True),
)
noise = values(10, 2, 5.0)
record("gan", gan.fit(tf.data.Dataset.from_tensor_slices(((x, noise),)).batch(4), epochs=3, verbose=0))


class VAE(keras.Model):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.total_loss_tracker = keras.metrics.Mean(name="total_loss")
        self.reconstruction_loss_tracker = keras.metrics.Mean(name="reconstruction_loss")
        self.kl_loss_tracker = keras.metrics.Mean(name="kl_loss")

    @property
    def metrics(self):
        return [self.total_loss_tracker, self.reconstruction_loss_tracker, self.kl_loss_tracker]

    def train_step(self, data):
        x, epsilon = data[0]
        with tf.GradientTape() as tape:
            z_mean, z_log_var = tf.split(self.encoder(x), 2, axis=-1)
            z = z_mean + tf.exp(0.5 * z_log_var) * epsilon
            reconstruction_loss = tf.reduce_mean(tf.reduce_sum(tf.square(x - self.decoder(z)), axis=1))
            kl_loss = -0.5 * (1 + z_log_var - tf.square(z_mean) - tf.exp(z_log_var))
            kl_loss = tf.reduce_mean(tf.reduce_sum(kl_loss, axis=1))
            total_loss = reconstruction_loss + kl_loss
        grads = tape.gradient(total_loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.total_loss_tracker.update_state(total_loss)
        self.reconstruction_loss_tracker.update_state(reconstruction_loss)
        self.kl_loss_tracker.update_state(kl_loss)
        return {m.name: m.result() for m in self.metrics}


vae = VAE(dense([5, 4], 3), dense([4, 3], 2))
vae.compile(optimizer=keras.optimizers.Adam(0.01))
record("vae", vae.fit(tf.data.Dataset.from_tensor_slices(((x, noise),)).batch(4), epochs=3, verbose=0))

OUT.write_text(json.dumps({"keras": keras.__version__, "cases": found}, indent=1) + "\n")
