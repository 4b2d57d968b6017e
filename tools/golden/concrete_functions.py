"""SavedModels with concrete functions as attributes, in lists and in dictionaries, and what TensorFlow computes with them:

    python tools/golden/concrete_functions.py

Needs TensorFlow 2.21. A golden file of @eagre/saved-model.
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

TARGET = pathlib.Path(__file__).parents[2] / 'packages' / 'saved-model' / 'golden' / 'concrete-functions.json.gz'
MODELS = []


def value(x):
    """A structure of tensors as JSON."""
    if isinstance(x, dict):
        return {'dict': {key: value(item) for key, item in x.items()}}
    if isinstance(x, (list, tuple)):
        return {'list': [value(item) for item in x]}
    if x is None or isinstance(x, (bool, int, float, str)):
        return {'value': x}
    array = np.asarray(x)
    if array.dtype == object or array.dtype.kind in 'SU':
        return {'dtype': 'string', 'shape': list(array.shape), 'data': [s.decode() if isinstance(s, bytes) else s for s in array.reshape(-1).tolist()]}
    return {'dtype': array.dtype.name, 'shape': list(array.shape), 'data': array.reshape(-1).tolist()}


def called(loaded, path):
    for part in path.split('.'):
        loaded = loaded[int(part)] if part.isdigit() else loaded[part] if hasattr(loaded, 'keys') else getattr(loaded, part)
    return loaded


def stored(name, made, cases, **options):
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(made, folder, **options)
        loaded = tf.saved_model.load(folder)
        files = {str(path.relative_to(folder)): base64.b64encode(path.read_bytes()).decode()
                 for path in sorted(pathlib.Path(folder).rglob('*')) if path.is_file() and path.name != 'fingerprint.pb'}
    results = []
    for call, args, kwargs in cases:
        given, named = tf.nest.map_structure(lambda x: tf.constant(x) if isinstance(x, (np.ndarray, np.generic)) else x, (args, kwargs))
        results.append({'call': call, 'args': [value(a) for a in args], 'kwargs': {k: value(v) for k, v in kwargs.items()},
                        'result': value(called(loaded, call)(*given, **named))})
    MODELS.append({'name': name, 'files': files, 'cases': results})


class Scale(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(2., name='w')

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def scale(self, x):
        return x * self.w


class Shift(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable([1., 2.], name='v')

    @tf.function(input_signature=[tf.TensorSpec(None)])
    def __call__(self, x):
        return x + self.v[0]

    @tf.function
    def shift(self, x, y=None, *, k=3., name='plain'):
        r = x * self.v
        if y is not None:
            r = r + y
        return {name: r, 'k': tf.convert_to_tensor(k)}

    @tf.function
    def nested(self, inputs, pair):
        return inputs['a'] * pair[0], [inputs['b'] + pair[1]]

    @tf.function
    def variadic(self, *args, **named):
        return args[0] - args[1] * named['z']

    @tf.function
    def step(self):
        self.v.assign_add([1., 1.])
        return self.v.read_value()

    @tf.function
    def upper(self, words):
        return tf.strings.upper(words)


rows, pair, scalar = tf.TensorSpec([None, 2]), tf.TensorSpec([2]), tf.TensorSpec([])
m = Shift()
m.plain = m.shift.get_concrete_function(tf.TensorSpec([None, 2], name='x'))
m.with_y = m.shift.get_concrete_function(rows, pair)
m.with_k = m.shift.get_concrete_function(rows, k=scalar)
m.by_name = m.shift.get_concrete_function(x=rows, y=pair, name='named')
m.structured = m.nested.get_concrete_function({'a': scalar, 'b': pair}, [scalar, scalar])
m.any_arguments = m.variadic.get_concrete_function(scalar, scalar, z=scalar)
m.advance = m.step.get_concrete_function()
m.words = m.upper.get_concrete_function(tf.TensorSpec([None], tf.string))
m.list = [m.advance, m.shift.get_concrete_function(pair)]
m.table = {'one': m.advance, 'two': m.shift.get_concrete_function(tf.TensorSpec([1, 2]))}
m.inner = Scale()
m.inner.concrete = m.inner.scale.get_concrete_function()
m.inner.parts = [Scale()]
x, y = np.float32([[1, 3]]), np.float32([10, 20])
s = [np.float32(n).reshape([]) for n in range(6)]
stored('concrete', m, [
    ('__call__', [x], {}), ('plain', [x], {}), ('plain', [], {'x': x}), ('with_y', [x, y], {}), ('with_y', [x], {'y': y}),
    ('with_k', [x], {'k': s[2]}), ('with_k', [x, s[2]], {}), ('by_name', [], {'x': x, 'y': y}), ('by_name', [x, y], {}),
    ('structured', [{'a': s[2], 'b': y}, [s[3], s[4]]], {}), ('structured', [s[2], y, s[3], s[4]], {}),
    ('any_arguments', [s[5], s[2]], {'z': s[4]}), ('words', [np.array(['tide', 'Bore'])], {}),
    ('list.1', [y], {}), ('table.two', [x], {}), ('inner.concrete', [y], {}), ('inner.scale', [y], {}), ('inner.parts.0.scale', [y], {}),
    ('shift', [x], {}), ('shift', [x, y], {'name': 'named'}), ('signatures.serving_default', [], {'x': x, 'y': y}),
    ('advance', [], {}), ('list.0', [], {}), ('table.one', [], {}), ('step', [], {}), ('plain', [x], {}),
], signatures=m.by_name)


class Draws(tf.Module):
    def __init__(self):
        super().__init__()
        self.generator = tf.random.Generator.from_state([2**63 - 700, 5, 7], 'philox')

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def draw(self, n):
        g = self.generator
        return g.normal([n]), g.uniform([2, n], 1, 9, tf.int32), g.truncated_normal([2], dtype=tf.float64), g.state


stored('generator', Draws(), [('draw', [np.int32(3)], {}), ('draw', [np.int32(1)], {})])

class Encoded(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def pictures(self, texts):
        """As servers get them: base64 of files, of several sizes."""
        def one(text):
            return tf.image.resize(tf.io.decode_png(tf.io.decode_base64(text), channels=3), [2, 2])
        return tf.map_fn(one, texts, fn_output_signature=tf.TensorSpec([2, 2, 3]))

    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def any_picture(self, text):
        return tf.io.decode_image(tf.io.decode_base64(text), expand_animations=False)

    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def bytes(self, text):
        data = tf.io.decode_base64(text)
        numbers = tf.io.decode_raw(data, tf.uint16, little_endian=False)
        again = tf.io.parse_tensor(tf.io.serialize_tensor(numbers), tf.uint16)
        return tf.io.encode_base64(data, pad=True), numbers, again, tf.io.decode_png(tf.io.encode_png(tf.reshape(numbers, [1, -1, 1])), dtype=tf.uint16)


files = [tf.io.encode_base64(tf.io.encode_png(tf.constant(np.arange(h * w * c).reshape(h, w, c) * 7 % 256, tf.uint8))).numpy().decode() for h, w, c in [(3, 4, 3), (2, 2, 3), (5, 1, 1)]]
stored('encoded', Encoded(), [('pictures', [np.array(files)], {}), ('pictures', [np.array(files[:1])], {}), ('any_picture', [np.array(files[2])], {}),
                              ('bytes', [np.array('AAECA_8-')], {})])

TARGET.parent.mkdir(exist_ok=True)
text = json.dumps({'versions': {'tensorflow': tf.__version__}, 'models': MODELS})
with open(TARGET, 'wb') as file, gzip.GzipFile('', 'wb', 9, file, mtime=0) as out:
    out.write(text.encode())
print(TARGET.stat().st_size)
