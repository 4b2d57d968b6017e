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
GOLDEN = HERE.parents[1] / 'packages' / 'saved-model' / 'golden' / 'models.json.gz'
# What has no form in a graph here: text, tables, and graphs of TensorFlow 1.
NOT_SAVED = {'words', 'categories', 'texts', 'tables', 'v1'}


def value(stored):
    if 'dict' in stored:
        return {key: value(item) for key, item in stored['dict'].items()}
    if 'list' in stored:
        return [value(item) for item in stored['list']]
    if 'value' in stored:
        return stored['value']
    return tf.constant(np.array(stored['data'], stored['dtype']).reshape(stored['shape']))


def close(got, wanted):
    a, b = ([np.asarray(x, np.float64) for x in tf.nest.flatten(s) if x is not None] for s in (got, wanted))
    return len(a) == len(b) and all(x.shape == y.shape and np.allclose(x, y, 1e-4, 1e-4) for x, y in zip(a, b))


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([*shlex.split(os.environ.get('EAGRE_NODE', 'node')), HERE / 'loaded_models.mjs', folder], check=True)
    again = pathlib.Path(folder) / 'again'
    models = json.loads(gzip.decompress(GOLDEN.read_bytes()))['models']
    saved = {path.name for path in again.iterdir()}
    assert saved >= {m['name'] for m in models} - NOT_SAVED, saved
    checked = 0
    for model in models:
        if model['name'] not in saved or model['name'] in NOT_SAVED:
            continue
        loaded = tf.saved_model.load(str(again / model['name']))
        for case in model['cases']:
            if case['call'] == 'collect':
                continue
            fn = loaded
            for part in case['call'].split('.'):
                fn = fn[part] if hasattr(fn, '__getitem__') else getattr(fn, part)
            got = fn(*map(value, case['args']), **{key: value(item) for key, item in case['kwargs'].items()})
            assert close(got, value(case['result'])), (model['name'], case['call'], got)
            checked += 1
print(f'{checked} calls of {len(saved - NOT_SAVED)} models agree')
