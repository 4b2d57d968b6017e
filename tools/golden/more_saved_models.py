"""SavedModels of rarer kinds: ragged and sparse elements of `map_fn`, edit distances, variables of open shapes, those of TensorFlow 1 in parts, updates of
optimizers.

    python tools/golden/more_saved_models.py

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

SEED = 5
TARGET = pathlib.Path(__file__).parents[2] / 'packages' / 'saved-model' / 'golden' / 'more-models.json.gz'
random = np.random.default_rng(SEED)
v1 = tf.compat.v1
MODELS = []
Spec = tf.TensorSpec


def noise(*shape):
    return random.standard_normal(shape).astype(np.float32)


def value(x):
    if isinstance(x, tf.RaggedTensor):
        return {'ragged': [value(x.flat_values), *[value(s) for s in x.nested_row_splits]]}
    if isinstance(x, tf.SparseTensor):
        return {'sparse': [value(x.indices), value(x.values), value(x.dense_shape)]}
    if isinstance(x, dict):
        return {'dict': {key: value(item) for key, item in x.items()}}
    if isinstance(x, (list, tuple)):
        return {'list': [value(item) for item in x]}
    array = np.asarray(x)
    if array.dtype == object or array.dtype.kind in 'SU':
        return {'dtype': 'string', 'shape': list(array.shape), 'data': [s.decode() if isinstance(s, bytes) else s for s in array.reshape(-1).tolist()]}
    data = array.reshape(-1).tolist()
    return {'dtype': array.dtype.name, 'shape': list(array.shape), 'data': [float(f'{v:.8g}') for v in data] if array.dtype.kind == 'f' else data}


def keep(name, folder, cases):
    """Calls what was saved, in order on one object, and keeps files, arguments and results."""
    loaded = tf.saved_model.load(folder)
    results = []
    for call, args, kwargs in cases:
        target = loaded
        for part in call.split('.'):
            target = target[part] if hasattr(target, '__getitem__') else getattr(target, part)
        to_tensor = lambda x: tf.constant(x) if isinstance(x, (np.ndarray, np.generic)) else x
        args, kwargs = [to_tensor(a) for a in args], {key: to_tensor(a) for key, a in kwargs.items()}
        results.append({'call': call, 'args': [value(a) for a in args], 'kwargs': {k: value(a) for k, a in kwargs.items()},
                        'result': value(target(*args, **kwargs))})
    files = {str(p.relative_to(folder)): base64.b64encode(p.read_bytes()).decode()
             for p in sorted(pathlib.Path(folder).rglob('*')) if p.is_file() and p.name != 'fingerprint.pb'}
    MODELS.append({'name': name, 'files': files, 'cases': results})
    print(name, sum(len(f) for f in files.values()))


def module(name, made, cases, **options):
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(made, folder, **options)
        keep(name, folder, cases)


class Elements(tf.Module):
    """Lists of ragged and sparse tensors, and of such with texts."""

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
    def rows(self, x):
        return tf.map_fn(lambda row: row * 2. + tf.reduce_sum(row), x)

    @tf.function(input_signature=[Spec([None], tf.int32)])
    def ranges(self, n):
        return tf.map_fn(tf.range, n, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None, None], tf.int64)])
    def deep(self, x):
        return tf.map_fn(lambda rows: rows + 1, x, fn_output_signature=tf.RaggedTensorSpec([None, None], tf.int64))

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
    def several(self, x):
        return tf.map_fn(lambda row: (tf.sort(row), tf.reduce_max(row)), x, fn_output_signature=(tf.RaggedTensorSpec([None], tf.float32), Spec([])))

    @tf.function(input_signature=[Spec([None], tf.string)])
    def words(self, x):
        return tf.map_fn(tf.strings.split, x, fn_output_signature=tf.RaggedTensorSpec([None], tf.string))

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.string)])
    def sentences(self, x):
        return tf.map_fn(lambda row: tf.strings.reduce_join(row, separator=' '), x, fn_output_signature=Spec([], tf.string))

    @tf.function(input_signature=[tf.SparseTensorSpec([None, 4], tf.float32)])
    def sums(self, x):
        return tf.map_fn(tf.sparse.reduce_sum, x, fn_output_signature=Spec([]))

    @tf.function(input_signature=[tf.SparseTensorSpec([None, 4], tf.float32)])
    def twice(self, x):
        return tf.map_fn(lambda row: tf.sparse.map_values(tf.multiply, row, 2.), x, fn_output_signature=tf.SparseTensorSpec([4], tf.float32))

    @tf.function(input_signature=[Spec([None, 2], tf.float32)])
    def joined(self, x):
        pieces = tf.TensorArray(tf.float32, size=0, dynamic_size=True, infer_shape=False, element_shape=[None, 2])
        for i in tf.range(tf.shape(x)[0]):
            pieces = pieces.write(i, x[:i + 1])
        return pieces.concat()


rows = tf.ragged.constant([[3., 2.], [], [1., 5., 4.]], dtype=tf.float32)
deep = tf.ragged.constant([[[1, 2], [3]], [], [[4], [5, 6, 7], []]], dtype=tf.int64)
sparse = tf.sparse.from_dense(np.array([[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 0]], np.float32))
module('elements', Elements(), [
    ('rows', [rows], {}), ('ranges', [np.array([3, 0, 2], np.int32)], {}), ('deep', [deep], {}), ('several', [rows[2:]], {}),
    ('words', [np.array(['a b', '', 'c d e'])], {}), ('sentences', [tf.ragged.constant([['a', 'b'], ['c']])], {}), ('sums', [sparse], {}), ('twice', [sparse], {}),
    ('joined', [noise(3, 2)], {})])


class Distances(tf.Module):
    @tf.function(input_signature=[tf.SparseTensorSpec([None, None], tf.string)] * 2)
    def texts(self, x, y):
        return tf.edit_distance(x, y), tf.edit_distance(x, y, normalize=False)

    @tf.function(input_signature=[tf.SparseTensorSpec([None, None], tf.int64)] * 2)
    def numbers(self, x, y):
        return tf.edit_distance(x, y)


module('distances', Distances(), [
    ('texts', [tf.sparse.from_dense(np.array([['a', 'b', 'c'], ['x', '', '']])), tf.sparse.from_dense(np.array([['a', 'c', 'd'], ['x', 'y', '']]))], {}),
    ('numbers', [tf.sparse.from_dense(np.array([[1, 2, 3], [1, 0, 0]])), tf.sparse.from_dense(np.array([[1, 3, 0], [2, 1, 1]]))], {})])


class OpenShapes(tf.Module):
    """Variables whose shape changes."""

    def __init__(self):
        super().__init__()
        self.any = tf.Variable(noise(2, 3), shape=tf.TensorShape(None), name='any')
        self.rows = tf.Variable(noise(2, 3), shape=[None, 3], name='rows')
        self.texts = tf.Variable(['a'], shape=[None], name='texts')

    @tf.function(input_signature=[Spec([None, 3])])
    def append(self, x):
        self.rows.assign(tf.concat([self.rows, x], 0))
        return tf.shape(self.rows), self.rows.read_value()

    @tf.function(input_signature=[Spec([3, None])])
    def product(self, x):
        return tf.matmul(self.rows, x)

    @tf.function(input_signature=[Spec(None)])
    def put(self, x):
        self.any.assign(x)
        return self.any * 2.

    @tf.function(input_signature=[Spec([], tf.string)])
    def note(self, text):
        self.texts.assign(tf.concat([self.texts, [text]], 0))
        return self.texts.read_value()


module('open-shapes', OpenShapes(), [
    ('product', [noise(3, 2)], {}), ('append', [noise(2, 3)], {}), ('product', [noise(3, 2)], {}), ('put', [noise(4)], {}), ('put', [noise(1, 2, 1)], {}),
    ('append', [noise(1, 3)], {}), ('note', [np.array('b')], {}), ('note', [np.array('c')], {})])


R = tf.raw_ops
LR, G = {'lr': 0.1}, 'grad'
# The attributes of each op's slots, and its other arguments; those of rows take `indices` too.
UPDATES = {
    'GradientDescent': ([], {'alpha': 0.1}), 'Momentum': (['accum'], {'lr': 0.1, 'momentum': 0.9}), 'KerasMomentum': (['accum'], {'lr': 0.1, 'momentum': 0.9, 'use_nesterov': True}),
    'Adagrad': (['accum'], LR), 'AdagradV2': (['accum'], {'lr': 0.1, 'epsilon': 0.01}),
    'AdagradDA': (['gradient_accumulator', 'gradient_squared_accumulator'], {'lr': 0.1, 'l1': 0.05, 'l2': 0.02, 'global_step': np.int64(3)}),
    'ProximalGradientDescent': ([], {'alpha': 0.1, 'l1': 0.3, 'l2': 0.2}), 'ProximalAdagrad': (['accum'], {'lr': 0.1, 'l1': 0.3, 'l2': 0.2}),
    'Adadelta': (['accum', 'accum_update'], {'lr': 0.1, 'rho': 0.9, 'epsilon': 1e-3}), 'RMSProp': (['ms', 'mom'], {'lr': 0.1, 'rho': 0.9, 'momentum': 0.5, 'epsilon': 1e-3}),
    'CenteredRMSProp': (['mg', 'ms', 'mom'], {'lr': 0.1, 'rho': 0.9, 'momentum': 0.5, 'epsilon': 1.}),
    'Adam': (['m', 'v'], {'beta1_power': 0.9, 'beta2_power': 0.99, 'lr': 0.1, 'beta1': 0.9, 'beta2': 0.99, 'epsilon': 1e-3}),
    'AdamWithAmsgrad': (['m', 'v', 'vhat'], {'beta1_power': 0.9, 'beta2_power': 0.99, 'lr': 0.1, 'beta1': 0.9, 'beta2': 0.99, 'epsilon': 1e-3}),
    'AdaMax': (['m', 'v'], {'beta1_power': 0.9, 'lr': 0.1, 'beta1': 0.9, 'beta2': 0.99, 'epsilon': 1e-3}),
    'Ftrl': (['accum', 'linear'], {'lr': 0.1, 'l1': 0.05, 'l2': 0.02, 'lr_power': -0.5}),
    'FtrlV2': (['accum', 'linear'], {'lr': 0.1, 'l1': 0.05, 'l2': 0.02, 'l2_shrinkage': 0.1, 'lr_power': -0.5}),
    'PowerSign': (['m'], {'lr': 0.1, 'logbase': 1., 'sign_decay': 0.9, 'beta': 0.9}), 'AddSign': (['m'], {'lr': 0.1, 'alpha': 1., 'sign_decay': 0.9, 'beta': 0.9}),
}


class Updates(tf.Module):
    """The update ops of optimizers: functions that begin with the same values, and give all that an op changes."""

    def __init__(self):
        super().__init__()
        self.start = noise(4, 2)
        self.state = [tf.Variable(tf.zeros([4, 2]), name=f'state{i}') for i in range(4)]
        for name, (slots, others) in UPDATES.items():
            setattr(self, name, self.function(getattr(R, 'ResourceApply' + name), name, slots, others, False))
            if hasattr(R, 'ResourceSparseApply' + name):
                setattr(self, name + 'Rows', self.function(getattr(R, 'ResourceSparseApply' + name), name, slots, others, True))

    def function(self, op, name, slots, others, rows):
        @tf.function(input_signature=[Spec([2, 2] if rows else [4, 2])])
        def run(gradient):
            for i, variable in enumerate(self.state):
                variable.assign(self.start if i == 0 else tf.abs(self.start) * (0.1 * i))
            handles = {slot: v.handle for slot, v in zip(['var', *slots], self.state)}
            grad = 'delta' if name.endswith('GradientDescent') and not rows else 'grad'
            op(**handles, **others, **{grad: gradient}, **({'indices': [3, 1]} if rows else {}))
            return [v.read_value() for v in self.state[:len(slots) + 1]]

        return run


updates = Updates()
module('updates', updates, [(name, [noise(2, 2) if name.endswith('Rows') else noise(4, 2)], {})
                            for name in [n for base in UPDATES for n in (base, base + 'Rows')] if hasattr(updates, name)])


class Stateful(tf.Module):
    """Draws as TensorFlow 2.0 to 2.3 wrote them, and counts."""

    def __init__(self):
        super().__init__()
        self.state = tf.Variable(tf.random.Generator.from_seed(7).state, name='state')
        self.rows = tf.Variable(np.arange(1., 7., dtype=np.float32).reshape(3, 2), name='rows')
        self.numbers = tf.Variable([7, -7, 9], name='numbers')

    @tf.function(input_signature=[])
    def draw(self):
        source = dict(resource=self.state.handle, algorithm=tf.constant(1, tf.int64))
        shape = tf.constant([3], tf.int64)
        floats = R.StatefulUniform(**source, shape=shape), R.StatefulStandardNormalV2(**source, shape=shape), R.StatefulTruncatedNormal(**source, shape=shape)
        R.RngSkip(**source, delta=tf.constant(5, tf.int64))
        return [*floats, R.StatefulUniformInt(**source, shape=shape, minval=0, maxval=100), R.StatefulUniformFullInt(**source, shape=shape, dtype=tf.int32), R.StatefulRandomBinomial(
            **source, shape=tf.constant([2, 3]), counts=[10., 200., 3.], probs=[[0.5], [0.1]][0], dtype=tf.int32), self.state.read_value()]

    @tf.function(input_signature=[Spec([None], tf.int32)])
    def scatter(self, i):
        R.ResourceScatterMul(resource=self.rows.handle, indices=i, updates=tf.constant(2.))
        R.ResourceScatterDiv(resource=self.rows.handle, indices=[1], updates=[[4., 8.]])
        R.ResourceScatterDiv(resource=self.numbers.handle, indices=[0, 1], updates=[2, 2])
        return self.rows.read_value(), self.numbers.read_value()


module('stateful', Stateful(), [('draw', [], {}), ('draw', [], {}), ('scatter', [np.array([0, 2, 0], np.int32)], {})])


def parts(name, use_resource, simple):
    """Variables of TensorFlow 1 that a partitioner has divided, along the first and the second axis."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        save_parts(path, use_resource, simple)
        keep(name, path, [('signatures.serving_default', [], {'x': noise(2, 7), 'ids': np.array([0, 149, 60], np.int32)})])


def save_parts(path, use_resource, simple):
    with tf.Graph().as_default(), v1.Session() as session:
        x, ids = v1.placeholder(tf.float32, [None, 7], name='x'), v1.placeholder(tf.int32, [None], name='ids')
        with v1.variable_scope('scope', use_resource=use_resource, partitioner=v1.fixed_size_partitioner(3)):
            w = v1.get_variable('w', [7, 4], initializer=v1.random_normal_initializer(seed=1))
            table = v1.get_variable('table', [150, 2], initializer=v1.random_normal_initializer(seed=2))
            wide = v1.get_variable('wide', [4, 5], initializer=v1.random_normal_initializer(seed=3), partitioner=v1.fixed_size_partitioner(2, axis=1))
        outputs = {'y': tf.matmul(tf.matmul(x, tf.convert_to_tensor(w)), tf.convert_to_tensor(wide)),
                   'rows': v1.nn.embedding_lookup(table, ids, partition_strategy='div')}
        session.run(v1.global_variables_initializer())
        for variable in v1.global_variables():
            session.run(variable.assign(noise(*variable.shape)))
        if simple:
            v1.saved_model.simple_save(session, path, {'x': x, 'ids': ids}, outputs)
        else:
            info = v1.saved_model.build_tensor_info
            signature = v1.saved_model.build_signature_def({'x': info(x), 'ids': info(ids)}, {k: info(t) for k, t in outputs.items()}, 'tensorflow/serving/predict')
            builder = v1.saved_model.Builder(path)
            builder.add_meta_graph_and_variables(session, ['serve'], {'serving_default': signature})
            builder.save()


parts('v1-parts', True, False)
parts('v1-parts-references', False, True)

TARGET.parent.mkdir(exist_ok=True)
text = json.dumps({'versions': {'tensorflow': tf.__version__}, 'seed': SEED, 'models': MODELS})
with open(TARGET, 'wb') as file, gzip.GzipFile('', 'wb', 9, file, mtime=0) as out:
    out.write(text.encode())
print(TARGET.stat().st_size)
