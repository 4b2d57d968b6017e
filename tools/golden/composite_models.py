"""SavedModels whose functions take and give ragged tensors, sparse tensors and slices, hold tables that change, or are Keras layers for text:

    python tools/golden/composite_models.py

Needs TensorFlow 2.21 and Keras 3. A golden file of @eagre/saved-model.
"""

import base64
import gzip
import json
import os
import pathlib
import tempfile

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import keras
import numpy as np
import tensorflow as tf

SEED = 5
TARGET = pathlib.Path(__file__).parents[2] / 'packages' / 'saved-model' / 'golden' / 'composites.json.gz'
random = np.random.default_rng(SEED)
L = keras.layers
MODELS = []


def value(x):
    """A structure of tensors, ragged and sparse ones and slices as JSON."""
    if isinstance(x, dict):
        return {'dict': {key: value(item) for key, item in x.items()}}
    if isinstance(x, (list, tuple)):
        return {'list': [value(item) for item in x]}
    if isinstance(x, tf.RaggedTensor):
        return {'ragged': [value(part) for part in [x.flat_values, *x.nested_row_splits]]}
    if isinstance(x, tf.SparseTensor):
        return {'sparse': [value(part) for part in [x.indices, x.values, x.dense_shape]]}
    if isinstance(x, tf.IndexedSlices):
        return {'slices': [value(part) for part in [x.values, x.indices, x.dense_shape]]}
    if x is None or isinstance(x, (bool, int, float, str)):
        return {'value': x}
    array = np.asarray(x)
    if array.dtype == object or array.dtype.kind in 'SU':
        return {'dtype': 'string', 'shape': list(array.shape), 'data': [s.decode() if isinstance(s, bytes) else s for s in array.reshape(-1).tolist()]}
    flat = array.reshape(-1).tolist()
    if array.dtype.kind == 'f':
        flat = [float(f'{v:.8g}') for v in flat]
    return {'dtype': array.dtype.name, 'shape': list(array.shape), 'data': flat}


def stored(name, folder, cases):
    loaded = tf.saved_model.load(folder)
    found = {}
    for path in sorted(pathlib.Path(folder).rglob('*')):
        if path.is_file() and path.name != 'fingerprint.pb':
            found[str(path.relative_to(folder))] = base64.b64encode(path.read_bytes()).decode()
    results = [{'call': call, 'args': [value(a) for a in args], 'result': value(getattr(loaded, call)(*args))} for call, *args in cases]
    MODELS.append({'name': name, 'files': found, 'cases': results})


class Composites(tf.Module):
    def __init__(self):
        self.w = tf.Variable([[1., 2.], [3., 4.], [5., 6.]])

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
    def ragged(self, x):
        return {'double': x * 2., 'sums': tf.reduce_sum(x, 1), 'dense': x.to_tensor(-1.), 'longest': x.bounding_shape()}

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int64)])
    def embed(self, x):
        return tf.ragged.map_flat_values(tf.nn.embedding_lookup, self.w, x), x.to_sparse()

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None, None], tf.int32, row_splits_dtype=tf.int32)])
    def deep(self, x):
        return [x + 1, tf.concat([x, x], 1), tf.gather(x, [1, 0])]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def words(self, x):
        return tf.strings.split(x), tf.strings.unicode_decode(x, 'UTF-8')

    @tf.function(input_signature=[tf.SparseTensorSpec([None, 3], tf.float32)])
    def sparse(self, x):
        return x * 2., tf.sparse.sparse_dense_matmul(x, self.w), tf.sparse.to_dense(x), tf.sparse.reduce_sum(x, 1)

    @tf.function(input_signature=[tf.SparseTensorSpec([None, None], tf.int64)])
    def bags(self, x):
        return tf.nn.safe_embedding_lookup_sparse(self.w, x, combiner='mean')

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def slices(self, i):
        return tf.IndexedSlices(tf.gather(self.w, i), i, tf.constant([3, 2]))


class Tables(tf.Module):
    def __init__(self):
        ids = tf.constant([10, 20, 30], tf.int64)
        self.static = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a', 'b', 'c'], ids), -1)
        self.words = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['a', 'b', 'c'], tf.constant([0, 1, 2], tf.int64)), 3)
        self.vectors = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, [0., 0.])
        self.counts = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
        self.dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1., empty_key=-7, deleted_key=-8, initial_num_buckets=16)
        self.vectors.insert(['x', 'y'], [[1., 2.], [3., 4.]])
        self.counts.insert([1, 2], [5, 6])
        self.dense.insert([3, 4], [0.5, 0.25])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def look(self, x):
        return self.static.lookup(x), self.words.lookup(x), self.vectors.lookup(x), self.words.size()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def numbers(self, x):
        return self.counts.lookup(x), self.dense.lookup(x), self.counts.size(), self.dense.size()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64), tf.TensorSpec([None], tf.int64)])
    def put(self, x, y):
        self.counts.insert(x, y)
        self.dense.insert(x, tf.cast(y, tf.float32))
        return self.counts.size()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def drop(self, x):
        self.counts.remove(x)
        self.dense.erase(x)
        return self.counts.size(), self.dense.size()


def keras_layer(name, layer, x, dtype):
    inputs = keras.Input(x.shape[1:], dtype=dtype)
    model = keras.Model(inputs, layer(inputs))
    with tempfile.TemporaryDirectory() as own:
        model.export(own, verbose=False)
        stored(name, own, [('serve', tf.constant(x))])


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'composites')
    tf.saved_model.save(Composites(), path)
    rows = tf.ragged.constant([[1., 2.], [], [3., 4., 5.]])
    stored('composites', path, [
        ('ragged', rows), ('ragged', tf.ragged.constant([[], []], dtype=tf.float32)), ('embed', tf.ragged.constant([[0, 2], [], [1]], dtype=tf.int64)),
        ('deep', tf.ragged.constant([[[1], [2, 3]], [[]]], row_splits_dtype=tf.int32)), ('words', np.array(['a bc', '', 'dé'])),
        ('sparse', tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [5., 6., 7.], [2, 3])), ('bags', tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([0, 2, 1], tf.int64), [3, 2])),
        ('slices', np.array([2, 0], np.int32)),
    ])
    path = os.path.join(folder, 'tables')
    tf.saved_model.save(Tables(), path)
    long = lambda *items: np.array(items, np.int64)
    stored('tables', path, [
        ('look', np.array(['a', 'c', 'zebra', 'x'])), ('numbers', long(1, 2, 3, 4, 9)), ('put', long(2, 9), long(7, 8)), ('numbers', long(2, 9)), ('drop', long(1, 9)), ('numbers', long(1, 2, 3, 9)),
    ])

words = np.array([['red', 'blue'], ['pink', 'red']])
text = np.array(['The tide comes in.', 'the sea, the tide!', ''])
colors = ['red', 'green', 'blue']
keras_layer('string-lookup-oov', L.StringLookup(vocabulary=colors, num_oov_indices=2, mask_token=''), words, 'string')
keras_layer('string-lookup-multi-hot', L.StringLookup(vocabulary=colors, output_mode='multi_hot'), words, 'string')
keras_layer('string-lookup-count', L.StringLookup(vocabulary=colors, output_mode='count', num_oov_indices=0), np.array([['red', 'blue'], ['red', 'red']]), 'string')
keras_layer('string-lookup-inverse', L.StringLookup(vocabulary=colors, invert=True), np.array([[1, 2], [3, 0]], np.int64), 'int64')
keras_layer('integer-lookup', L.IntegerLookup(vocabulary=[12, 36, 7], num_oov_indices=1), np.array([[12, 7], [5, 36]], np.int64), 'int64')
vocabulary = ['the', 'tide', 'comes', 'sea']
keras_layer('text-int', L.TextVectorization(vocabulary=vocabulary), text, 'string')
keras_layer('text-tf-idf', L.TextVectorization(vocabulary=vocabulary, output_mode='tf_idf', idf_weights=np.array([0.5, 1., 1.5, 2.])), text, 'string')
keras_layer('text-ngrams', L.TextVectorization(vocabulary=['the tide', 'tide', 'sea'], ngrams=2, output_mode='multi_hot'), text, 'string')
keras_layer('text-characters', L.TextVectorization(vocabulary=list('thesaid'), split='character', output_sequence_length=8), text, 'string')
keras_layer('hashing', L.Hashing(num_bins=5), words, 'string')
keras_layer('hashing-salt', L.Hashing(num_bins=5, salt=[3, 4]), words, 'string')
keras_layer('discretization', L.Discretization(bin_boundaries=[-1., 0., 2.]), np.array([[-3., 0.5], [2., -0.5]], np.float32), 'float32')
keras_layer('category-encoding', L.CategoryEncoding(num_tokens=4, output_mode='count'), np.array([[1, 1], [3, 0]], np.int32), 'int32')

text = json.dumps({'versions': {'tensorflow': tf.__version__, 'keras': keras.__version__}, 'seed': SEED, 'models': MODELS})
with open(TARGET, 'wb') as file, gzip.GzipFile('', 'wb', 9, file, mtime=0) as out:
    out.write(text.encode())
print(len(MODELS), TARGET.stat().st_size)
