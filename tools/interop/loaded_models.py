"""Checks that TensorFlow's models, loaded and saved again by Eagre, compute in TensorFlow what they computed.

    pnpm build
    python tools/interop/loaded_models.py
"""

import gzip
import json
import os
import pathlib
import shlex
import subprocess
import tempfile

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import numpy as np
import tensorflow as tf

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parents[1] / 'packages' / 'saved-model' / 'golden'


def value(stored):
    if 'dict' in stored:
        return {key: value(item) for key, item in stored['dict'].items()}
    if 'list' in stored:
        return [value(item) for item in stored['list']]
    if 'value' in stored:
        return stored['value']
    if 'ragged' in stored:
        flat, *splits = map(value, stored['ragged'])
        return tf.RaggedTensor.from_nested_row_splits(flat, splits)
    if 'sparse' in stored:
        return tf.SparseTensor(*map(value, stored['sparse']))
    if 'slices' in stored:
        return tf.IndexedSlices(*map(value, stored['slices']))
    if stored['dtype'] == 'string':
        return tf.reshape(tf.constant(stored['data'], tf.string), stored['shape'])
    return tf.constant(np.array(stored['data'], stored['dtype']).reshape(stored['shape']))


def same(x, y):
    if x.dtype.kind in 'OS':
        return x.shape == y.shape and bool(np.all(x == y))
    return x.shape == y.shape and np.allclose(x, y, 1e-4, 1e-4)


def close(got, wanted):
    a, b = (
        [np.asarray(x) for x in tf.nest.flatten(s, expand_composites=True) if x is not None] for s in (got, wanted)
    )
    return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))


def golden(name):
    return json.loads(gzip.decompress((GOLDEN / f'{name}.json.gz').read_bytes()))['models']


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([*shlex.split(os.environ.get('EAGRE_NODE', 'node')), HERE / 'loaded_models.mjs', folder], check=True)
    names = ['models', 'concrete-functions', 'more-models', 'version1']
    models = [m for name in names for m in golden(name)] + [{**m, 'name': f"composites-{m['name']}"} for m in golden('composites')]
    checked = 0
    for generation, model in [(g, m) for g in ['again', 'twice'] for m in models]:
        loaded = tf.saved_model.load(str(pathlib.Path(folder) / generation / model['name']))
        for case in model['cases']:
            fn = loaded
            for part in case['call'].split('.'):
                fn = fn[int(part) if part.isdigit() else part] if hasattr(fn, '__getitem__') else getattr(fn, part)
            got = fn(*map(value, case['args']), **{key: value(item) for key, item in case.get('kwargs', {}).items()})
            assert close(got, value(case['result'])), (generation, model['name'], case['call'], got)
            checked += 1
print(f'{checked} calls of {len(models)} models agree, saved again once and twice')
