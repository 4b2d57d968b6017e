"""Makes packages/saved-model/golden/own-gradients.json.gz with TensorFlow: a SavedModel of functions with gradients of their own, and what they give.

The gradients are not those of what is computed, so that one can tell them apart.
Run: python tools/golden/own_gradients.py
"""

import base64
import gzip
import json
import os
import pathlib
import tempfile

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import numpy as np
import tensorflow as tf

TARGET = pathlib.Path(__file__).parents[2] / 'packages' / 'saved-model' / 'golden' / 'own-gradients.json.gz'
ROW = tf.TensorSpec([None], tf.float32)


@tf.custom_gradient
def clipped(x):
    return tf.identity(x), lambda dy: tf.clip_by_norm(dy, 0.5)


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)
    return tf.math.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e)) * 3.0


@tf.custom_gradient
def product(x, y):
    return x * y, lambda dy: (dy * y * 2.0, dy * x * 5.0)


@tf.custom_gradient
def pair(x):
    return (x * 2, x + 1), lambda da, db: da * 7 + db * 11


class Own(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([1.5, -2.0])

    # Uses a tensor of the function around it, and a variable.
    @tf.function(input_signature=[ROW])
    def one(self, x):
        return log1pexp(clipped(x * self.w))

    # swish has a gradient of its own in TensorFlow.
    @tf.function(input_signature=[ROW, ROW])
    def two(self, x, y):
        return tf.nn.silu(product(x, y))

    @tf.function(input_signature=[ROW])
    def branches(self, x):
        return tf.cond(tf.reduce_sum(x) > 0, lambda: clipped(x * x), lambda: -x)

    @tf.function(input_signature=[ROW])
    def several(self, x):
        a, b = pair(x)
        return a * b


calls = []
with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(Own(), folder)
    model = tf.saved_model.load(folder)
    rows = [1.0, 2.0]
    for name, *args in [('one', rows), ('two', rows, [3.0, -1.0]), ('branches', rows), ('branches', [-1.0, -2.0]), ('several', rows)]:
        args = [tf.constant(a) for a in args]
        with tf.GradientTape() as tape:
            tape.watch(args)
            y = getattr(model, name)(*args)
        gradients = tape.gradient(y, [*args, model.w], unconnected_gradients='zero')
        calls.append({'call': name, 'args': [a.numpy().tolist() for a in args], 'value': y.numpy().tolist(), 'gradients': [g.numpy().tolist() for g in gradients]})
    files = {str(p.relative_to(folder)): base64.b64encode(p.read_bytes()).decode() for p in sorted(pathlib.Path(folder).rglob('*')) if p.is_file()}

content = {'model': {'name': 'own_gradients', 'files': files, 'cases': []}, 'calls': calls}
TARGET.write_bytes(gzip.compress(json.dumps({'tensorflow': tf.__version__, 'script': 'own_gradients.py', **content}, separators=(',', ':')).encode(), mtime=0))
