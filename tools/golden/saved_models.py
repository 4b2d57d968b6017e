"""Small SavedModels of TensorFlow and Keras, with inputs and what TensorFlow computes from them: golden files of @eagre/saved-model.

    python tools/golden/saved_models.py

Needs TensorFlow 2.21 and Keras 3.
"""

import base64
import gzip
import json
import os
import pathlib
import shutil
import sys
import tempfile

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import keras
import numpy as np
import tensorflow as tf

SEED = 7
TARGET = pathlib.Path(__file__).parents[2] / 'packages' / 'saved-model' / 'golden' / 'models.json.gz'
random = np.random.default_rng(SEED)


def noise(*shape):
    return random.standard_normal(shape).astype(np.float32)


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
        flat = [s.decode() if isinstance(s, bytes) else s for s in array.reshape(-1).tolist()]
        return {'dtype': 'string', 'shape': list(array.shape), 'data': flat}
    flat = array.reshape(-1).tolist()
    if array.dtype.kind == 'f':
        flat = [float(f'{v:.8g}') for v in flat]
    return {'dtype': array.dtype.name, 'shape': list(array.shape), 'data': flat}


def files(folder):
    found = {}
    for path in sorted(pathlib.Path(folder).rglob('*')):
        if path.is_file() and path.name != 'fingerprint.pb':
            found[str(path.relative_to(folder))] = base64.b64encode(path.read_bytes()).decode()
    return found


MODELS = []


def stored(name, folder, cases, **more):
    """Loads a model, calls it, and keeps files, arguments and results; calls run in order, on one object."""
    loaded = tf.saved_model.load(folder)
    results = []
    for call, args, kwargs in cases:
        target = loaded
        for part in call.split('.'):
            target = target[part] if hasattr(target, '__getitem__') else getattr(target, part)
        to_tensor = lambda x: tf.constant(x) if isinstance(x, np.ndarray) else x
        results.append({
            'call': call,
            'args': [value(a) for a in args],
            'kwargs': {key: value(a) for key, a in kwargs.items()},
            'result': value(tf.nest.map_structure(
                lambda t: t.numpy() if hasattr(t, 'numpy') else t,
                target(*tf.nest.map_structure(to_tensor, args), **tf.nest.map_structure(to_tensor, kwargs)))),
        })
    MODELS.append({'name': name, 'files': files(folder), 'cases': results, **more})
    print(name, sum(len(f) for f in MODELS[-1]['files'].values()))


def gradients(folder, x, call='serving_default', key=None):
    """The gradients of the sum of squares of the first output for each trainable variable, by name."""
    loaded = tf.saved_model.load(folder)
    with tf.GradientTape() as tape:
        tape.watch(x)
        outputs = loaded.serve(x)
        loss = tf.reduce_sum(tf.square(tf.nest.flatten(outputs)[0]))
    variables = list(loaded.trainable_variables)
    found = tape.gradient(loss, [x, *variables])
    return {'loss': value(loss.numpy()), 'input': value(found[0].numpy()),
            'variables': [{'name': v.name, 'shape': list(v.shape), 'gradient': value(tf.convert_to_tensor(g).numpy())}
                          for v, g in zip(variables, found[1:])]}


def keras_model(name, model, *inputs, train=False):
    """Exports a model and calls its signature and endpoint."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        model.export(path, verbose=False)
        cases = [('serve', list(inputs), {})]
        names = list(tf.saved_model.load(path).signatures['serving_default'].structured_input_signature[1])
        order = sorted(names)
        if len(inputs) == 1:
            cases.append(('signatures.serving_default', [], {names[0]: inputs[0] if not isinstance(inputs[0], (list, dict)) else None}))
        if isinstance(inputs[0], (list, dict)):
            cases.pop()
        more = {'gradients': gradients(path, tf.constant(inputs[0]))} if train else {}
        stored(name, path, cases, **more)


def module(name, made, cases, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        tf.saved_model.save(made, path, **options)
        stored(name, path, cases)


L = keras.layers
keras.utils.set_random_seed(SEED)


def sequential(*layers, shape, dtype=None):
    return keras.Sequential([keras.Input(shape, dtype=dtype), *layers])


def randomized(model):
    """Weights that are all different, moving averages too."""
    model.set_weights([
        np.abs(noise(*w.shape)) + 0.5 if 'variance' in v.path else noise(*w.shape) * 0.5
        for w, v in zip(model.get_weights(), model.weights)
    ])
    return model


keras_model('dense', randomized(sequential(L.Dense(4, activation='relu'), L.Dense(2, activation='softmax'), shape=[3])), noise(5, 3), train=True)
keras_model('activations', randomized(sequential(
    L.Dense(3, activation='gelu'), L.Dense(3, activation='swish'), L.Dense(3, activation='selu'), L.LeakyReLU(), L.PReLU(),
    L.Dense(3, activation='softplus'), L.Dense(3, activation='hard_sigmoid'), L.Dense(3, activation='elu'), L.Dense(3, activation='tanh'), shape=[3])), noise(4, 3))
keras_model('conv', randomized(sequential(
    L.Conv2D(4, 3, padding='same', strides=2, activation='relu'), L.BatchNormalization(), L.DepthwiseConv2D(3, padding='same'),
    L.SeparableConv2D(3, 3, padding='valid', dilation_rate=1), L.MaxPooling2D(2, padding='same'), L.Conv2DTranspose(2, 3, strides=2, padding='same'),
    L.AveragePooling2D(2), L.UpSampling2D(2), L.ZeroPadding2D(1), L.Cropping2D(1), L.GlobalAveragePooling2D(), L.Dense(2), shape=[12, 12, 2])), noise(2, 12, 12, 2), train=True)
keras_model('conv1d', randomized(sequential(
    L.Conv1D(4, 3, padding='causal', dilation_rate=2), L.LayerNormalization(), L.MaxPooling1D(2), L.Conv1D(3, 2, strides=2), L.GlobalMaxPooling1D(), shape=[12, 3])), noise(2, 12, 3))
keras_model('conv3d', randomized(sequential(L.Conv3D(2, 2), L.AveragePooling3D(2, padding='same'), L.Flatten(), shape=[4, 4, 4, 1])), noise(1, 4, 4, 4, 1))
keras_model('lstm', randomized(sequential(L.LSTM(3, return_sequences=True), L.LSTM(2), shape=[5, 2])), noise(3, 5, 2), train=True)
keras_model('gru', randomized(sequential(L.GRU(3, return_sequences=True), L.GRU(2, reset_after=False), shape=[5, 2])), noise(3, 5, 2))
keras_model('bidirectional', randomized(sequential(L.Bidirectional(L.LSTM(2)), L.Dense(1), shape=[4, 2])), noise(2, 4, 2))
keras_model('any_length', randomized(sequential(L.SimpleRNN(3, return_sequences=True), L.GRU(2), shape=[None, 2])), noise(2, 6, 2))
keras_model('embedding', randomized(sequential(L.Embedding(10, 4, mask_zero=True), L.LSTM(3), L.Dense(2), shape=[5], dtype='int32')), np.array([[1, 2, 3, 0, 0], [4, 9, 0, 0, 0]], np.int32))

queries, keys = keras.Input([4, 6]), keras.Input([5, 6])
attended = L.MultiHeadAttention(2, 3)(queries, keys)
keras_model('attention', randomized(keras.Model([queries, keys], [L.LayerNormalization()(attended + queries), L.Attention()([queries, keys])])), [noise(2, 4, 6), noise(2, 5, 6)])

a, b = keras.Input([3], name='a'), keras.Input([2], name='b')
inner = sequential(L.Dense(4, activation='tanh'), shape=[5])
both = inner(L.Concatenate()([a, b]))
keras_model('named', randomized(keras.Model({'a': a, 'b': b}, {'sum': L.Dense(1, name='sum')(both), 'twice': L.Add()([both, both])})), {'a': noise(2, 3), 'b': noise(2, 2)})

normalization = L.Normalization()
normalization.adapt(noise(20, 3) * 3 + 1)
keras_model('normalization', sequential(normalization, L.Discretization([-1., 0., 1.]), shape=[3]), noise(4, 3) * 3)
keras_model('images', sequential(L.Rescaling(1 / 127.5, offset=-1), L.Resizing(5, 7), L.CenterCrop(4, 4), shape=[9, 6, 3]), np.abs(noise(2, 9, 6, 3)) * 90)
keras_model('words', sequential(L.StringLookup(vocabulary=['red', 'green', 'blue']), shape=[2], dtype='string'), np.array([['red', 'blue'], ['pink', 'green']]))
keras_model('categories', sequential(L.IntegerLookup(vocabulary=[3, 5, 9]), L.CategoryEncoding(4, output_mode='multi_hot'), shape=[2], dtype='int64'), np.array([[3, 9], [4, 5]], np.int64))
keras_model('texts', sequential(L.TextVectorization(vocabulary=['the', 'tide', 'comes'], output_sequence_length=6), L.Embedding(5, 2), shape=[], dtype='string'), np.array(['The tide, it comes!', 'the the']))


class Flow(tf.Module):
    def __init__(self):
        super().__init__()
        self.count = tf.Variable(0, trainable=False, dtype=tf.int64, name='count')
        self.weights = [tf.Variable(noise(2, 2), name='w0'), tf.Variable(noise(2), name='w1')]
        self.parts = {'scale': tf.Variable(2.0, name='scale'), 'inner': tf.Module()}
        self.parts['inner'].offset = tf.Variable(0.5, name='offset')
        self.pair = (tf.Variable([1.0, 2.0], name='pair'), 3)

    @tf.function(input_signature=[])
    def step(self):
        self.count.assign_add(1)
        return self.count.read_value()

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def affine(self, x):
        return (tf.matmul(x, self.weights[0]) + self.weights[1]) * self.parts['scale'] + self.parts['inner'].offset + self.pair[0]

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def collatz(self, n):
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return {'steps': steps, 'last': n}

    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.bool)])
    def choose(self, x, flag):
        if flag:
            y = tf.reduce_sum(x)
        else:
            y = tf.reduce_max(x) * 2.0
        return [y, (x[0], None)]

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def collect(self, x):
        squares = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        total = 0.0
        for i in tf.range(tf.shape(x)[0]):
            if x[i] < 0:
                continue
            total += x[i]
            squares = squares.write(squares.size(), x[i] ** 2)
        return squares.stack(), total

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([])])
    def case(self, i, x):
        return tf.switch_case(i, [lambda: x + 1, lambda: x * 2, lambda: tf.sqrt(x)])

    @tf.function
    def power(self, x, exponent=2, negate=False):
        y = x ** exponent
        return -y if negate else y

    @tf.function
    def pick(self, inputs, *, mode='sum'):
        if mode == 'sum':
            return inputs['a'] + inputs['b'][0]
        return inputs['a'] * inputs['b'][1]


flow = Flow()
flow.power(tf.constant([1., 2.]))
flow.power(tf.constant([1., 2.]), 3)
flow.power(tf.constant([1., 2.]), exponent=3, negate=True)
flow.power.get_concrete_function(tf.TensorSpec([None, None], tf.float64))
flow.pick({'a': tf.constant(1.), 'b': [tf.constant(2.), tf.constant(3.)]})
flow.pick({'a': tf.constant(1.), 'b': [tf.constant(2.), tf.constant(3.)]}, mode='product')
x = np.array([1., -2., 3.], np.float32)
module('flow', flow, [
    ('step', [], {}), ('step', [], {}), ('affine', [noise(3, 2)], {}), ('affine', [noise(1, 2)], {}), ('collatz', [np.int32(27).reshape([])], {}),
    ('choose', [x, np.array(True)], {}), ('choose', [x, np.array(False)], {}), ('collect', [x], {}), ('collect', [np.abs(x)], {}),
    ('case', [np.array(0, np.int32), np.float32(9).reshape([])], {}), ('case', [np.array(2, np.int32), np.float32(9).reshape([])], {}),
    ('power', [np.array([1., 2.], np.float32)], {}), ('power', [np.array([1., 2.], np.float32), 3], {}),
    ('power', [np.array([1., 2.], np.float32)], {'exponent': 3, 'negate': True}), ('power', [np.ones([2, 3])], {}),
    ('pick', [{'a': np.float32(1).reshape([]), 'b': [np.float32(2).reshape([]), np.float32(3).reshape([])]}], {}),
    ('pick', [{'a': np.float32(1).reshape([]), 'b': [np.float32(2).reshape([]), np.float32(3).reshape([])]}], {'mode': 'product'}),
    ('signatures.affine', [], {'x': noise(2, 2)}), ('signatures.choose', [], {'x': x, 'flag': np.array(True)}),
], signatures={'affine': flow.affine, 'choose': tf.function(lambda x, flag: {'y': tf.where(flag, tf.reduce_sum(x), 0.)}).get_concrete_function(
    tf.TensorSpec([None], name='x'), tf.TensorSpec([], tf.bool, name='flag'))})


class Tables(tf.Module):
    def __init__(self, file):
        super().__init__()
        self.file = tf.saved_model.Asset(file)
        self.words = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(
            self.file, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 1)
        self.names = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
            tf.constant([1, 2], tf.int64), tf.constant(['one', 'two'])), 'many')
        self.scores = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
            tf.constant([1, 2], tf.int64), tf.constant([0.5, 1.5])), -1.)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def name_of(self, x):
        return self.names.lookup(x)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def score(self, x):
        return self.scores.lookup(x) * 2.

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def clean(self, x):
        return tf.strings.join([tf.strings.upper(x), tf.strings.regex_replace(x, r'(\w)\w*', r'\1.')], separator='/'), tf.strings.length(x)


with tempfile.TemporaryDirectory() as folder:
    vocabulary = pathlib.Path(folder) / 'words.txt'
    vocabulary.write_text('red\ngreen\nblue\n')
    module('tables', Tables(str(vocabulary)), [
        ('name_of', [np.array([2, 7, 1])], {}), ('score', [np.array([2, 7, 1])], {}), ('clean', [np.array(['one two', 'three'])], {})])


class Training(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(noise(3, 1), name='w')
        self.b = tf.Variable([0.1], name='b')

    @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([None, 1])])
    def train(self, x, y):
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.matmul(x, self.w) + self.b)
            loss = tf.reduce_mean(tf.square(tf.nn.sigmoid(h) - y))
        for variable, gradient in zip([self.w, self.b], tape.gradient(loss, [self.w, self.b])):
            variable.assign_sub(0.5 * gradient)
        return loss


xs, ys = noise(4, 3), np.abs(noise(4, 1))
module('training', Training(), [('train', [xs, ys], {}), ('train', [xs, ys], {}), ('train', [xs, ys], {})])

# TensorFlow 1: a graph with variables, a saver and an op that initializes a table.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'v1')
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [None, 2], name='x')
        w = tf.compat.v1.get_variable('w', initializer=noise(2, 2), use_resource=True)
        v = tf.compat.v1.get_variable('v', initializer=noise(2), use_resource=False)
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant([0, 1], tf.int64), tf.constant([10., 20.])), -1.)
        y = tf.matmul(x, w) + v
        found = table.lookup(tf.argmax(y, 1))
        session.run(tf.compat.v1.global_variables_initializer())
        builder = tf.compat.v1.saved_model.Builder(path)
        info = tf.compat.v1.saved_model.build_tensor_info
        signature = tf.compat.v1.saved_model.build_signature_def(
            {'x': info(x)}, {'y': info(y), 'score': info(found)}, 'tensorflow/serving/predict')
        builder.add_meta_graph_and_variables(session, ['serve'], {'serving_default': signature}, main_op=tf.compat.v1.tables_initializer())
        builder.save()
    stored('v1', path, [('signatures.serving_default', [], {'x': noise(3, 2)})])

# Frozen graphs of TensorFlow 1, with the control flow of its kind.
with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
    tf.compat.v1.disable_control_flow_v2()
    x = tf.compat.v1.placeholder(tf.float32, [None, 2], name='x')
    n = tf.compat.v1.placeholder(tf.int32, [], name='n')
    _, total = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s * 2. + tf.reduce_sum(x)), [tf.constant(0), tf.constant(1.)])
    total = tf.identity(total, name='total')
    chosen = tf.cond(tf.reduce_sum(x) > 0., lambda: x * 2., lambda: tf.cond(n > 3, lambda: x - 1., lambda: tf.zeros_like(x)))
    chosen = tf.identity(chosen, name='chosen')
    array = tf.TensorArray(tf.float32, n, element_shape=[])
    _, array = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, tf.cast(i * i, tf.float32))), [tf.constant(0), array])
    squares = tf.identity(array.stack(), name='squares')
    xs = noise(3, 2)
    frozen = [{'n': k, 'x': value(v), **{name: value(r) for name, r in zip(
        ['total', 'chosen', 'squares'], session.run([total, chosen, squares], {x: v, n: k}))}}
        for k, v in [(4, np.abs(xs)), (5, -np.abs(xs)), (0, -np.abs(xs))]]
    FROZEN = {'graph': base64.b64encode(graph.as_graph_def().SerializeToString()).decode(), 'cases': frozen}

TARGET.parent.mkdir(exist_ok=True)
text = json.dumps({
    'versions': {'tensorflow': tf.__version__, 'keras': keras.__version__, 'python': sys.version.split()[0]}, 'seed': SEED,
    'models': MODELS, 'frozen': FROZEN})
with open(TARGET, 'wb') as file, gzip.GzipFile('', 'wb', 9, file, mtime=0) as out:
    out.write(text.encode())
print(TARGET.stat().st_size)
