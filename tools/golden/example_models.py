"""A SavedModel that takes serialized tf.train.Examples, with TensorFlow's results: a golden file of @eagre/saved-model.

    python tools/golden/example_models.py
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

TARGET = pathlib.Path(__file__).parents[2] / 'packages' / 'saved-model' / 'golden' / 'examples.json.gz'
R = tf.raw_ops
EMPTY = tf.constant([], tf.string)


def example(**features):
    def feature(values):
        if isinstance(values[0], bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
        if isinstance(values[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=values))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    return tf.train.Example(features=tf.train.Features(feature={k: feature(v) for k, v in features.items()})).SerializeToString(deterministic=True)


def sequence(context, **lists):
    features = tf.train.Example.FromString(example(**context)).features
    steps = {key: tf.train.FeatureList(feature=[tf.train.Example.FromString(example(x=v)).features.feature['x'] if v else tf.train.Feature() for v in rows])
             for key, rows in lists.items()}
    return tf.train.SequenceExample(context=features, feature_lists=tf.train.FeatureLists(feature_list=steps)).SerializeToString(deterministic=True)


CONTEXT = {'id': tf.io.FixedLenFeature([], tf.int64, default_value=-1), 'words': tf.io.VarLenFeature(tf.string), 'tags': tf.io.RaggedFeature(tf.int64)}
LISTS = {
    'points': tf.io.FixedLenSequenceFeature([2], tf.float32),
    'maybe': tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    'letters': tf.io.VarLenFeature(tf.string),
    'rows': tf.io.RaggedFeature(tf.float32, row_splits_dtype=tf.int64),
}
SPEC = {
    'x': tf.io.FixedLenFeature([2], tf.float32),
    'id': tf.io.FixedLenFeature([], tf.int64, default_value=-1),
    'name': tf.io.FixedLenFeature([], tf.string, default_value='nobody'),
    'steps': tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True, default_value=0.5),
    'words': tf.io.VarLenFeature(tf.string),
    'scores': tf.io.VarLenFeature(tf.float32),
    'tags': tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64),
}


def flat(features):
    """Tensors alone, by names."""
    found = {}
    for key, value in features.items():
        if isinstance(value, tf.SparseTensor):
            found |= {f'{key}_indices': value.indices, f'{key}_values': value.values, f'{key}_shape': value.dense_shape}
        elif isinstance(value, tf.RaggedTensor):
            found |= {f'{key}_values': value.flat_values} | {f'{key}_splits{i or ""}': splits for i, splits in enumerate(value.nested_row_splits)}
        else:
            found[key] = value
    return found


class Reader(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[2.0], [3.0]], name='w')

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, 'examples')])
    def parse(self, examples):
        return flat(tf.io.parse_example(examples, SPEC))

    @tf.function(input_signature=[tf.TensorSpec([], tf.string, 'example')])
    def parse_single(self, example):
        return flat(tf.io.parse_single_example(example, {k: v for k, v in SPEC.items() if k != 'tags'}))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, 'examples')])
    def sequences(self, examples):
        context, lists, lengths = tf.io.parse_sequence_example(examples, CONTEXT, LISTS)
        return flat(context) | flat(lists) | {f'{key}_lengths': value for key, value in lengths.items()}

    @tf.function(input_signature=[tf.TensorSpec([], tf.string, 'example')])
    def sequence(self, example):
        context, lists = tf.io.parse_single_sequence_example(example, CONTEXT, LISTS)
        return flat(context) | flat(lists)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, 'examples')])
    def score(self, examples):
        return {'scores': tf.matmul(tf.io.parse_example(examples, {'x': SPEC['x']})['x'], self.w)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, 'examples')])
    def older(self, examples):
        out = R.ParseExample(serialized=examples, names=EMPTY, sparse_keys=['words'], dense_keys=['id', 'x'],
                             dense_defaults=[tf.constant([], tf.int64), tf.constant([7.0, 8.0])], sparse_types=[tf.string], dense_shapes=[[], [2]])
        return {'indices': out.sparse_indices[0], 'values': out.sparse_values[0], 'shape': out.sparse_shapes[0],
                'id': out.dense_values[0], 'x': out.dense_values[1]}

    @tf.function(input_signature=[tf.TensorSpec([], tf.string, 'example')])
    def older_single(self, example):
        out = R.ParseSingleExample(serialized=example, dense_defaults=[tf.constant([9], tf.int64)], num_sparse=1, sparse_keys=['scores'],
                                   dense_keys=['id'], sparse_types=[tf.float32], dense_shapes=[[1]])
        return {'indices': out.sparse_indices[0], 'values': out.sparse_values[0], 'shape': out.sparse_shapes[0], 'id': out.dense_values[0]}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, 'raw')])
    def raw(self, raw):
        return {'uint8': tf.io.decode_raw(raw, tf.uint8), 'int16': tf.io.decode_raw(raw, tf.int16),
                'big': tf.io.decode_raw(raw, tf.int16, little_endian=False), 'float32': tf.io.decode_raw(raw, tf.float32),
                'bool': tf.io.decode_raw(raw, tf.bool), 'half': tf.io.decode_raw(raw, tf.float16),
                'padded': tf.io.decode_raw(raw, tf.int16, fixed_length=6), 'cut': tf.io.decode_raw(raw, tf.uint8, fixed_length=2)}


def value(x):
    array = np.asarray(x.numpy(), object if x.dtype == tf.string else None)
    if x.dtype == tf.string:
        return {'dtype': 'string', 'shape': list(array.shape), 'data': [base64.b64encode(s).decode() for s in np.ravel(array).tolist()]}
    data = [str(v) if array.dtype == np.int64 else float(v) for v in np.ravel(array).tolist()]
    return {'dtype': x.dtype.name, 'shape': list(array.shape), 'data': data}


FULL = example(x=[1.5, -2.0], id=[2**62], name=['ü'.encode()], steps=[1.0, 2.0, 3.0, 4.0], words=[b'a', b'\xff\x00'], scores=[0.5], tags=[1, 2, 3])
BARE = example(x=[0.25, 4.0])
SOME = example(x=[3.0, 3.0], id=[-7], words=[b''], steps=[9.0, 8.0], other=[1])
RAW = [bytes([1, 0, 128, 63]), bytes([2, 200, 0, 60])]
LONG = sequence({'id': [7], 'words': [b'a', b'\xff'], 'tags': [1, 2]}, points=[[1.0, 2.0], [3.0, 4.0]], maybe=[[5], [6], [7]], letters=[[b'x'], [b'y', b'z']], rows=[[1.0], [], [2.0, 3.0]])
SHORT = sequence({'tags': [9]}, points=[[5.0, 6.0]], letters=[[], [b'w']])
NONE = sequence({'words': [b'b']}, points=[], rows=[])
CASES = [
    ('parse', [[FULL, BARE, SOME]]), ('parse', [[]]), ('parse', [[BARE]]), ('parse', [[SOME, b'']]), ('parse', [[example(x=[1.0])]]),
    ('parse', [[example(x=[1.0, 2.0], id=[0.5])]]), ('parse', [[example(x=[1.0, 2.0], steps=[0.5])]]), ('parse', [[b'\x0a\xff']]),
    ('parse_single', [FULL]), ('parse_single', [BARE]), ('parse_single', [b'']),
    ('sequences', [[LONG, SHORT, NONE]]), ('sequences', [[NONE]]), ('sequences', [[SHORT, sequence({})]]), ('sequences', [[sequence({}, points=[[1.0]])]]),
    ('sequences', [[sequence({'id': [0.5]}, points=[])]]), ('sequence', [LONG]), ('sequence', [SHORT]), ('sequence', [NONE]), ('sequence', [b'']),
    ('score', [[FULL, BARE]]), ('older', [[FULL, SOME]]), ('older', [[BARE]]), ('older_single', [SOME]), ('older_single', [FULL]), ('older_single', [BARE]),
    ('raw', [RAW]), ('raw', [[b'abc']]), ('raw', [[b'abcd', b'ab']]),
]


def main():
    reader = Reader()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'reader')
        names = ['parse', 'parse_single', 'sequences', 'sequence', 'score', 'older', 'older_single', 'raw']
        tf.saved_model.save(reader, path, signatures={name: getattr(reader, name) for name in names})
        files = {str(p.relative_to(path)): base64.b64encode(p.read_bytes()).decode()
                 for p in sorted(pathlib.Path(path).rglob('*')) if p.is_file() and p.name != 'fingerprint.pb'}
        loaded = tf.saved_model.load(path)
        cases = []
        for name, args in CASES:
            given = tf.constant(args[0], tf.string)
            case = {'call': name, 'strings': value(given)}
            try:
                case['result'] = {key: value(x) for key, x in getattr(loaded, name)(given).items()}
            except tf.errors.InvalidArgumentError as error:
                case['error'] = error.message.split('\n')[0][:200]
            except UnicodeDecodeError:
                # The message holds the bytes that are no example.
                case['error'] = 'Could not parse example input'
            cases.append(case)
    made = {'tensorflow': tf.__version__, 'files': files, 'cases': cases}
    TARGET.write_bytes(gzip.compress(json.dumps(made).encode(), 9, mtime=0))
    print(len(cases), 'cases', TARGET.stat().st_size, 'bytes', [c['error'] for c in cases if 'error' in c])


if __name__ == '__main__':
    main()
