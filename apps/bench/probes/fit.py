"""What fit.mjs measures, with Keras: fit.py BACKEND MODEL step|start [POLICY] [EPOCHS]. TensorFlow is tried with XLA and without; the better one counts."""

import json
import os
import sys
import time

backend, name, what = sys.argv[1:4]
policy = sys.argv[4] if len(sys.argv) > 4 else 'float32'
epochs = int(sys.argv[5]) if len(sys.argv) > 5 else 6
os.environ['KERAS_BACKEND'] = backend
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import numpy as np
import keras
from keras import layers

keras.mixed_precision.set_global_policy(policy)


def numbers(count, seed):
    x, out = seed + 1, np.empty(count, np.float32)
    for i in range(count):
        x = x * 48271 % 2147483647
        out[i] = x / 2147483647
    return out


def floats(*shape):
    return numbers(int(np.prod(shape)), 1).reshape(shape)


def integers(below, *shape):
    return np.floor(numbers(int(np.prod(shape)), 2) * below).astype(np.int32).reshape(shape)


def mlp():
    return keras.Sequential([keras.Input([784]), layers.Dense(128, activation='relu'), layers.Dense(64, activation='relu'),
                             layers.Dense(10, activation='softmax')])


def wide():
    return keras.Sequential([keras.Input([784]), layers.Dense(1024, activation='relu'), layers.Dense(1024, activation='relu'),
                             layers.Dense(10, activation='softmax', dtype='float32')])


def cnn():
    return keras.Sequential([
        keras.Input([28, 28, 1]), layers.Conv2D(32, 3, activation='relu'), layers.MaxPooling2D(2),
        layers.Conv2D(64, 3, activation='relu'), layers.MaxPooling2D(2), layers.Flatten(), layers.Dense(64, activation='relu'),
        layers.Dense(10, activation='softmax')])


def lstm():
    return keras.Sequential([keras.Input([80], dtype='int32'), layers.Embedding(5000, 64), layers.LSTM(64),
                             layers.Dense(1, activation='sigmoid')])


def gpt():
    length, width, heads = 64, 128, 4
    tokens = keras.Input([length], dtype='int32')
    x = layers.Embedding(65, width)(tokens)
    for _ in range(2):
        attended = layers.MultiHeadAttention(num_heads=heads, key_dim=width // heads)(x, x, use_causal_mask=True)
        x = layers.LayerNormalization()(layers.Add()([x, attended]))
        wide = layers.Dense(4 * width, activation='gelu')(x)
        x = layers.LayerNormalization()(layers.Add()([x, layers.Dense(width)(wide)]))
    return keras.Model(tokens, layers.Dense(65, activation='softmax')(x))


def mobilenet():
    return keras.applications.MobileNetV2(input_shape=(96, 96, 3), weights=None, classes=10)


CLASSES = 'sparse_categorical_crossentropy'
CASES = {
    'mlp': (32, 60, mlp, lambda n: (floats(n, 784), integers(10, n)), CLASSES),
    'wide': (256, 20, wide, lambda n: (floats(n, 784), integers(10, n)), CLASSES),
    'cnn': (32, 40, cnn, lambda n: (floats(n, 28, 28, 1), integers(10, n)), CLASSES),
    'lstm': (32, 20, lstm, lambda n: (integers(5000, n, 80), integers(2, n, 1)), 'binary_crossentropy'),
    'gpt': (16, 20, gpt, lambda n: (integers(65, n, 64), integers(65, n, 64)), CLASSES),
    'mobilenet': (16, 8, mobilenet, lambda n: (floats(n, 96, 96, 3), integers(10, n)), CLASSES),
}
batch, steps, make, data, loss = CASES[name]


class Clock(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        now = time.perf_counter()
        seconds.append(now - self.start)
        self.start = now


x, y = data(batch * steps)
best = None
for jit in (['auto', False] if backend == 'tensorflow' else ['auto']):
    seconds = []
    clock = Clock()
    clock.start = time.perf_counter()
    model = make()
    model.compile(optimizer='adam', loss=loss, jit_compile=jit)
    history = model.fit(x, y, batch_size=batch, epochs=epochs, shuffle=False, verbose=0, callbacks=[clock]).history
    first, *others = seconds
    even = sorted(others)[len(others) // 2]
    value = max(first - even, 0) if what == 'start' else even / steps
    if best is None or value < best['value']:
        best = {'value': value, 'detail': f'Keras on {backend}: loss {history["loss"][-1]:.4f}, jit_compile {jit}'}
    keras.backend.clear_session()
print(json.dumps(best))
