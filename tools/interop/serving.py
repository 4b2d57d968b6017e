"""Checks that a Python client of Eagre's server gets what the real TensorFlow and Keras compute, in every format, under load and for all dtypes.

    pnpm build
    python tools/interop/serving.py
"""

import base64
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import keras
import numpy as np
import tensorflow as tf
from google.protobuf import json_format
from tensorflow.core.protobuf import saved_model_pb2

PROGRAM = pathlib.Path(__file__).with_suffix('.mjs')
random = np.random.default_rng(3)


class Functions(tf.Module):
    @tf.function(input_signature=[
        tf.TensorSpec([None], tf.float32, 'f'), tf.TensorSpec([None, 2], tf.float64, 'd'),
        tf.TensorSpec([None], tf.int64, 'l'), tf.TensorSpec([None], tf.uint8, 'u'), tf.TensorSpec([None], tf.bool, 'b')])
    def many(self, f, d, l, u, b):
        return {'log': tf.math.log(f), 'sum': tf.reduce_sum(d, 1), 'next': l + 1, 'u': u // 2, 'not': ~b}

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32, 'x')])
    def wide(self, x):
        return {'y': tf.cumsum(x, 1), 'n': tf.repeat(tf.shape(x)[1:], tf.shape(x)[0])}

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, 'x')])
    def scalar(self, x):
        return {'y': x * x}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, 's')])
    def text(self, s):
        return {'upper': tf.strings.upper(s), 'raw_bytes': s, 'length': tf.strings.length(s)}


def models(folder):
    module = Functions()
    tf.saved_model.save(module, f'{folder}/functions', {
        'serving_default': module.many, 'wide': module.wide, 'scalar': module.scalar, 'text': module.text})
    image, extra = keras.Input([8, 8, 3], name='image'), keras.Input([2], name='extra')
    y = keras.layers.Conv2D(4, 3, activation='gelu')(image)
    y = keras.layers.Concatenate()([keras.layers.GlobalAveragePooling2D()(y), extra])
    model = keras.Model({'image': image, 'extra': extra}, {
        'classes': keras.layers.Dense(3, activation='softmax')(y), 'value': keras.layers.Dense(1)(y)})
    model.export(f'{folder}/network', verbose=False)


def ask(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=data)) as response:
            return json.loads(response.read())
    except urllib.error.HTTPError as error:
        return json.loads(error.read())


def check(got, wanted, where):
    wanted = wanted.numpy()
    if wanted.dtype == object:
        assert got == [s.decode() for s in wanted.tolist()], (where, got)
    elif wanted.dtype.kind == 'f':
        np.testing.assert_allclose(np.array(got, wanted.dtype), wanted, rtol=1e-5, atol=1e-6, err_msg=where)
    else:
        assert got == wanted.tolist(), (where, got, wanted)


def check_signature(url, run, inputs, name, signature):
    wanted = run(**{k: tf.constant(v) for k, v in inputs.items()})
    lists = {k: v.tolist() for k, v in inputs.items()}
    columns = ask(f'{url}:predict', {'signature_name': signature, 'inputs': lists})['outputs']
    for key, value in wanted.items():
        check(columns[key] if len(wanted) > 1 else columns, value, f'{name} {key}')
    if any(v.ndim == 0 for v in inputs.values()):
        return
    count = len(next(iter(lists.values())))
    rows = [{k: v[i] for k, v in lists.items()} for i in range(count)]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda row: ask(f'{url}:predict', {'signature_name': signature, 'instances': [row]}), rows))
    for key, value in wanted.items():
        got = [a['predictions'][0][key] if len(wanted) > 1 else a['predictions'][0] for a in answers]
        check(got, value, f'{name} {key}, row by row')


def check_metadata(url, path):
    file = saved_model_pb2.SavedModel()
    file.ParseFromString((path / 'saved_model.pb').read_bytes())
    wanted = {
        key: json.loads(json_format.MessageToJson(
            definition, always_print_fields_with_no_presence=True, preserving_proto_field_name=True))
        for key, definition in file.meta_graphs[0].signature_def.items() if not key.startswith('__')}
    assert ask(f'{url}/metadata')['metadata']['signature_def']['signature_def'] == wanted, path


with tempfile.TemporaryDirectory() as folder:
    models(folder)
    node = shlex.split(os.environ.get('EAGRE_NODE', 'node'))
    server = subprocess.Popen([*node, PROGRAM, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip() + '/v1/models/'
        loaded = {path.name: tf.saved_model.load(str(path)) for path in pathlib.Path(folder).iterdir()}
        n = 40
        signatures = loaded['functions'].signatures
        special = np.array([0., -1., np.inf, np.nan, 1e-30, 3.4e38], np.float32)
        check_signature(url + 'functions', signatures['serving_default'], {
            'f': np.concatenate([special, random.random(n - 6, np.float32)]), 'd': random.random([n, 2]),
            'l': random.integers(-2**62, 2**62, n), 'u': random.integers(0, 256, n).astype(np.uint8), 'b': random.random(n) < 0.5,
        }, 'many', 'serving_default')
        for width in (1, 4, 9):
            check_signature(url + 'functions', signatures['wide'], {'x': random.integers(-9, 9, [n, width]).astype(np.int32)}, 'wide', 'wide')
        check_signature(url + 'functions', signatures['scalar'], {'x': np.float32(1.1)}, 'scalar', 'scalar')
        text = ask(url + 'functions:predict', {'signature_name': 'text', 'instances': ['abc', {'b64': base64.b64encode('dé'.encode()).decode()}]})
        assert text['predictions'] == [
            {'upper': 'ABC', 'raw_bytes': {'b64': 'YWJj'}, 'length': 3}, {'upper': 'Dé', 'raw_bytes': {'b64': 'ZMOp'}, 'length': 3}], text
        check_signature(url + 'network', loaded['network'].signatures['serving_default'], {
            'image': random.random([n, 8, 8, 3], np.float32), 'extra': random.random([n, 2], np.float32)}, 'network', 'serving_default')
        for path in pathlib.Path(folder).iterdir():
            check_metadata(url + path.name, path)
        assert 'error' in ask(url + 'functions:predict', {'instances': [1]})
    finally:
        server.stdin.close()
        assert server.wait(30) == 0
print('ok')
