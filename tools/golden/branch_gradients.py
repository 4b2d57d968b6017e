"""Makes packages/saved-model/golden/branch-gradients.json.gz with TensorFlow: a SavedModel with gradients of branches and other rare calls, and what they give.

The gradient of a branch gets what the branch computed as optional values, which are none where the other branch ran.
Run: python tools/golden/branch_gradients.py
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

TARGET = pathlib.Path(__file__).parents[2] / 'packages' / 'saved-model' / 'golden' / 'branch-gradients.json.gz'
ROWS = tf.TensorSpec([None, 2], tf.float32)


def stored(x):
    x = np.asarray(x)
    if x.dtype == object:
        return {'dtype': 'string', 'shape': list(x.shape), 'data': [s.decode() for s in x.reshape(-1)]}
    return {'dtype': x.dtype.name, 'shape': list(x.shape), 'data': x.reshape(-1).tolist()}


class Branches(tf.Module):
    def __init__(self):
        self.w = tf.Variable([0.5, -0.25], name='w')

    def trained(self, fn):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(fn())
        (gradient,) = tape.gradient(loss, [self.w])
        return loss, gradient

    @tf.function(input_signature=[ROWS])
    def either(self, x):
        loss, gradient = self.trained(lambda: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.exp(x[:1] * self.w), lambda: tf.sin(self.w) * tf.cos(x * self.w) * 3.0))
        self.w.assign_sub(0.1 * gradient)
        return loss, gradient

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32), ROWS])
    def several(self, i, x):
        return self.trained(lambda: tf.switch_case(i, [lambda: tf.exp(x * self.w), lambda: self.w**3, lambda: tf.tanh(x) * self.w**2]))

    @tf.function(input_signature=[ROWS])
    def alike(self, x):
        loss, gradient = self.trained(lambda: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.exp(x * self.w), lambda: tf.sin(self.w) * tf.cos(x * self.w) * 3.0))
        self.w.assign_sub(0.1 * gradient)
        return loss, gradient

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32), ROWS])
    def several_alike(self, i, x):
        return self.trained(lambda: tf.switch_case(i, [lambda: tf.exp(x * self.w), lambda: x * self.w**3, lambda: tf.tanh(x) * self.w**2]))

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32), ROWS])
    def nested(self, i, x):
        def inner():
            return tf.cond(i % 2 == 0, lambda: tf.exp(x * self.w), lambda: tf.sin(x * self.w) ** 2)

        return self.trained(lambda: tf.cond(i > 3, lambda: inner() * tf.cos(self.w), lambda: tf.tanh(x * self.w)))

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32), ROWS])
    def turns(self, n, x):
        def turn(i, y):
            return i + 1, tf.cond(i % 2 == 0, lambda: tf.sin(y * self.w), lambda: y * y + self.w)

        return self.trained(lambda: tf.while_loop(lambda i, y: i < n, turn, (0, x), maximum_iterations=5)[1])

    @tf.function(input_signature=[ROWS])
    def rounded(self, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.quantization.quantize_and_dequantize_v2(x, -1.0, 1.0, range_given=True)
            loss = tf.reduce_sum(y * tf.cos(x))
        return loss, tape.gradient(loss, x)

    @tf.function(input_signature=[ROWS])
    def rounded_columns(self, x):
        return list(tf.raw_ops.QuantizeAndDequantizeV4Grad(gradients=tf.cos(x), input=x, input_min=[-1.0, -0.5], input_max=[1.0, 0.5], axis=1))

    @tf.function(input_signature=[ROWS])
    def rows_of_ragged(self, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            rows = tf.RaggedTensor.from_row_lengths(tf.reshape(x, [-1]), [1, 0, 3, 2])
            loss = tf.reduce_sum(tf.map_fn(lambda row: tf.reduce_sum(tf.sin(row) * row), rows, fn_output_signature=tf.float32))
        return loss, tape.gradient(loss, x)

    @tf.function(input_signature=[ROWS])
    def read_twice(self, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            rows = tf.TensorArray(tf.float32, tf.shape(x)[0], clear_after_read=False).unstack(x)
            loss = tf.reduce_sum(tf.while_loop(lambda i, y: i < tf.shape(x)[0], lambda i, y: (i + 1, y * rows.read(i - 1) + rows.read(i)), (1, x[0]))[1])
        return loss, tape.gradient(loss, x)

    @tf.function(input_signature=[ROWS])
    def slices(self, x):
        self.w.assign_add([1.0, 1.0])
        return tf.IndexedSlices(x, tf.range(tf.shape(x)[0]))

    @tf.function(input_signature=[tf.IndexedSlicesSpec([None, 2], tf.float32)])
    def of_slices(self, x):
        return x.values * 2

    @tf.function(input_signature=[ROWS])
    def batched(self, x):
        double = tf.nondifferentiable_batch_function(1, 8, 10)(lambda y: (y * 2, tf.reduce_sum(y, 1)))
        return double(x + self.w)

    @tf.function
    def texts(self, x, mode='twice'):
        return x * 2 if mode == 'twice' else x, tf.strings.as_string(x)

    @tf.function(input_signature=[tf.TensorSpec([None, None, 3], tf.uint8), tf.TensorSpec([], tf.int32)])
    def compressed(self, image, quality):
        return tf.image.adjust_jpeg_quality(image, quality, dct_method='INTEGER_ACCURATE')


calls = []
with tempfile.TemporaryDirectory() as folder:
    branches = Branches()
    branches.texts.get_concrete_function(tf.TensorSpec([None], tf.int32))
    tf.saved_model.save(branches, folder)
    model = tf.saved_model.load(folder)
    image = np.add.outer(np.add.outer(np.arange(9) * 11, np.arange(10) * 7), [0, 40, 80]).astype(np.uint8)
    rows = [[1.0, 2.0], [-0.5, 0.25], [0.75, 1.5]]
    for name, *args in [
        ('either', rows), ('either', [[-1.0, -2.0], [0.5, 0.25]]), ('either', [[0.1, 0.2]]), ('several', 0, rows), ('several', 1, rows), ('several', 7, rows), ('alike', rows), ('alike', [[-1.0, -2.0], [0.5, 0.25], [0.1, 0.2]]), *[('several_alike', i, rows) for i in (0, 1, 7)], *[('nested', i, rows) for i in (1, 4, 5)], ('turns', 3, rows),
        ('turns', 0, rows), ('turns', 9, [[0.1, -0.2]]), ('rounded', [[0.3, -0.7], [1.5, -1.2]]), ('rounded_columns', [[0.3, -0.7], [1.5, -0.2]]), ('rows_of_ragged', rows), ('read_twice', rows), ('batched', rows), ('texts', [1, 2]), ('compressed', image, 40), ('compressed', image, 95),
    ]:
        specs = getattr(model, name).concrete_functions[0].structured_input_signature[0]
        args = [tf.constant(a, s.dtype) for a, s in zip(args, specs)]
        calls.append({'call': name, 'args': [stored(a) for a in args], 'result': [stored(t) for t in tf.nest.flatten(getattr(model, name)(*args))]})
    files = {str(p.relative_to(folder)): base64.b64encode(p.read_bytes()).decode() for p in sorted(pathlib.Path(folder).rglob('*')) if p.is_file()}

content = {'model': {'name': 'branch_gradients', 'files': files, 'cases': []}, 'calls': calls}
TARGET.write_bytes(gzip.compress(json.dumps({'tensorflow': tf.__version__, 'script': 'branch_gradients.py', **content}, separators=(',', ':')).encode(), mtime=0))
