"""SavedModels of TensorFlow 1 with strings, tables, files, branches and loops, and what TensorFlow computes with them:

    python tools/golden/version1_models.py

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

SEED = 3
TARGET = pathlib.Path(__file__).parents[2] / 'packages' / 'saved-model' / 'golden' / 'version1.json.gz'
random = np.random.default_rng(SEED)
v1 = tf.compat.v1
MODELS = []
# Those that are not saved again.
OTHERS = []


def noise(*shape):
    return np.round(random.standard_normal(shape), 2).astype(np.float32)


def value(x):
    if isinstance(x, tf.SparseTensor):
        return {'sparse': [value(part) for part in [x.indices, x.values, x.dense_shape]]}
    array = np.asarray(x)
    if array.dtype == object or array.dtype.kind in 'SU':
        return {'dtype': 'string', 'shape': list(array.shape), 'data': [s.decode() if isinstance(s, bytes) else s for s in array.reshape(-1).tolist()]}
    flat = [float(f'{v:.8g}') for v in array.reshape(-1).tolist()] if array.dtype.kind == 'f' else array.reshape(-1).tolist()
    return {'dtype': array.dtype.name, 'shape': list(array.shape), 'data': flat}


def signature(inputs, outputs):
    infos = [{key: v1.saved_model.build_tensor_info(x) for key, x in named.items()} for named in (inputs, outputs)]
    return v1.saved_model.build_signature_def(*infos, 'tensorflow/serving/predict')


def stored(name, make, cases, simple=False, wrap=None, into=MODELS):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with tf.Graph().as_default(), v1.Session() as session:
            made = make(folder)
            session.run(v1.global_variables_initializer())
            if simple:
                v1.saved_model.simple_save(session, path, *made)
            else:
                builder = v1.saved_model.Builder(path)
                builder.add_meta_graph_and_variables(
                    session, ['serve'], made, main_op=v1.tables_initializer(), assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS))
                builder.save()
        for file in pathlib.Path(folder).glob('*.txt'):
            file.unlink()
        loaded = tf.saved_model.load(path)
        if wrap is not None:
            made = wrap(loaded)
            path = os.path.join(folder, 'wrapped')
            tf.saved_model.save(made, path, signatures=loaded.signatures)
            loaded = tf.saved_model.load(path)
        files = {str(file.relative_to(path)): base64.b64encode(file.read_bytes()).decode()
                 for file in sorted(pathlib.Path(path).rglob('*')) if file.is_file() and file.name != 'fingerprint.pb'}
        results = []
        for called, inputs in cases:
            if called in loaded.signatures:
                found = loaded.signatures[called](**{key: tf.constant(x) for key, x in inputs.items()})
                results.append({'call': f'signatures.{called}', 'args': [], 'kwargs': {key: value(x) for key, x in inputs.items()},
                                'result': {'dict': {key: value(x) for key, x in found.items()}}})
            else:
                found = getattr(loaded, called)(*[tf.constant(x) for x in inputs.values()])
                results.append({'call': called, 'args': [value(x) for x in inputs.values()], 'kwargs': {},
                                'result': {'list': [value(x.numpy()) for x in found]}})
        into.append({'name': name, 'files': files, 'cases': results})


def text(folder):
    """Tables of a file and of constants, and variables by reference and by resource."""
    file = os.path.join(folder, 'words.txt')
    pathlib.Path(file).write_text('red\ngreen\nblue\n')
    words = v1.placeholder(tf.string, [None], name='words')
    ids = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(file, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)
    names = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant([0, 1, 2], tf.int64), tf.constant(['RED', 'GREEN', 'BLUE'])), '?')
    rows = v1.get_variable('rows', initializer=noise(3, 4), use_resource=False)
    weights = v1.get_variable('layer/weights', initializer=noise(4, 2), use_resource=True)
    found = ids.lookup(tf.strings.lower(tf.strings.strip(words)))
    y = tf.matmul(tf.nn.embedding_lookup(rows, tf.maximum(found, 0)), weights)
    top = tf.nn.top_k(y, 1)
    parts = v1.string_split(words, ' ')
    return {'serving_default': signature({'words': words}, {'ids': found, 'y': y, 'names': names.lookup(found), 'top': top.indices}),
            'split': signature({'words': words}, {'values': parts.values, 'indices': parts.indices, 'dense': tf.sparse.to_dense(parts, '-')})}


def flow(folder):
    """Branches and loops of version 1, and counters that signatures change."""
    x, s, n = v1.placeholder(tf.float32, [None, 2], name='x'), v1.placeholder(tf.string, [], name='s'), v1.placeholder(tf.int32, [], name='n')
    w = v1.get_variable('w', initializer=np.float32([1.5]), use_resource=False)
    u = v1.get_variable('u', initializer=np.float32([2]), use_resource=True)
    count = v1.get_variable('count', initializer=np.int64(0), use_resource=False, trainable=False)
    twice = v1.get_variable('twice', initializer=np.int64(0), use_resource=True, trainable=False)
    table = v1.get_variable('table', initializer=np.zeros([3], np.float32), use_resource=False, trainable=False)
    _, total = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t * 2. + tf.reduce_sum(x) * w), [tf.constant(0), tf.constant([1.])])
    chosen = tf.cond(tf.equal(s, 'double'), lambda: x * 2. * u, lambda: x * w)
    with tf.control_dependencies([chosen]):
        message = tf.strings.join([s, tf.strings.as_string(n)])
    counted, doubled = v1.assign_add(count, 1), v1.assign_add(twice, 2)
    with tf.control_dependencies([counted]):
        row = v1.scatter_add(table, tf.cast(counted, tf.int32) % 3, 1.)
    return {'serving_default': signature({'x': x, 's': s, 'n': n}, {'total': total, 'chosen': chosen, 'message': message}),
            'count': signature({'s': s}, {'count': tf.identity(counted), 'twice': tf.identity(doubled), 'table': tf.identity(row), 's': s})}


def simple(folder, by_resource=False):
    x = v1.placeholder(tf.float32, [None, 4], name='x')
    kernel = v1.get_variable('dense/kernel', initializer=noise(4, 3), use_resource=by_resource)
    bias = v1.get_variable('dense/bias', initializer=noise(3), use_resource=by_resource)
    y = tf.nn.softmax(tf.matmul(x, kernel) + bias)
    return {'x': x}, {'y': y, 'label': tf.gather(tf.constant(['a', 'b', 'c']), tf.argmax(y, 1))}


def wrapped(loaded):
    """A part of a graph as a concrete function, which has no structure of arguments."""
    module = tf.Module()
    module.inner = loaded
    module.part = loaded.prune(['x:0'], ['Softmax:0', 'GatherV2:0'])
    return module


def sparse(folder, gives_sparse=False):
    rows, scale = v1.sparse_placeholder(tf.float32, [None, 4], name='rows'), v1.placeholder(tf.float32, [], name='scale')
    weights = v1.get_variable('weights', initializer=noise(4, 2), use_resource=True)
    sums = tf.sparse.sparse_dense_matmul(rows, weights) * scale
    return {'rows': rows, 'scale': scale}, {'sums': sums, **({'rows': rows * scale} if gives_sparse else {})}


words = np.array([' Red', 'teal', 'blue green'])
stored('v1-text', text, [('serving_default', {'words': words}), ('split', {'words': words})])
stored('v1-simple', simple, [('serving_default', {'x': noise(2, 4)})], simple=True)
# TensorFlow itself does not save variables by reference again.
stored('v1-wrapped', lambda folder: simple(folder, True), [('serving_default', {'x': noise(2, 4)}), ('part', {'x': noise(1, 4)})], simple=True, wrap=wrapped)
rows = {'rows_indices': np.array([[0, 1], [1, 0], [1, 3]]), 'rows_values': np.float32([2, 3, 4]), 'rows_dense_shape': np.array([2, 4]), 'scale': np.float32(2)}
stored('v1-sparse', sparse, [('serving_default', rows)], simple=True)
stored('v1-sparse-results', lambda folder: sparse(folder, True), [('serving_default', rows)], simple=True, into=OTHERS)
v1.disable_control_flow_v2()
scalars = [{'s': np.array('double'), 'n': np.int32(3)}, {'s': np.array('other'), 'n': np.int32(0)}]
stored('v1-flow', flow, [('serving_default', {'x': noise(2, 2), **s}) for s in scalars] + [('count', {'s': np.array('a')})] * 3)

TARGET.parent.mkdir(exist_ok=True)
contents = json.dumps({'versions': {'tensorflow': tf.__version__}, 'seed': SEED, 'models': MODELS, 'others': OTHERS})
with open(TARGET, 'wb') as file, gzip.GzipFile('', 'wb', 9, file, mtime=0) as out:
    out.write(contents.encode())
print(TARGET.stat().st_size)
