"""Small SavedModels of TensorFlow and Keras to be served, with what TensorFlow says of their signatures and computes: golden files of @eagre/serving.

    python tools/golden/serving.py

Needs TensorFlow 2.21 and Keras 3.
"""

import base64
import gzip
import json
import os
import pathlib
import sys
import tempfile

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import keras
import numpy as np
import tensorflow as tf
from google.protobuf import json_format
from tensorflow.core.protobuf import saved_model_pb2

SEED = 11
TARGET = pathlib.Path(__file__).parents[2] / 'packages' / 'serving' / 'golden' / 'models.json.gz'
random = np.random.default_rng(SEED)
keras.utils.set_random_seed(SEED)
MODELS = {}


def files(folder):
    found = {}
    for path in sorted(pathlib.Path(folder).rglob('*')):
        if path.is_file() and path.name != 'fingerprint.pb':
            found[str(path.relative_to(folder))] = base64.b64encode(path.read_bytes()).decode()
    return found


def lists(x):
    x = np.asarray(x)
    return [s.decode() for s in x.tolist()] if x.dtype == object else x.tolist()


def stored(name, folder, signature, inputs):
    """The files, the signatures as TensorFlow Serving prints them, and the outputs of one signature."""
    file = saved_model_pb2.SavedModel()
    file.ParseFromString((pathlib.Path(folder) / 'saved_model.pb').read_bytes())
    definitions = {
        key: json.loads(json_format.MessageToJson(
            definition, always_print_fields_with_no_presence=True, preserving_proto_field_name=True))
        for key, definition in file.meta_graphs[0].signature_def.items() if not key.startswith('__')}
    run = tf.saved_model.load(folder).signatures[signature]
    outputs = run(**{key: tf.constant(value) for key, value in inputs.items()})
    MODELS[name] = {
        'files': files(folder), 'signatures': definitions, 'signature': signature,
        'inputs': {key: lists(value) for key, value in inputs.items()},
        'outputs': {key: lists(value.numpy()) for key, value in outputs.items()},
    }


class HalfPlus(tf.Module):
    """x / 2 + the value of a variable; and greetings."""

    def __init__(self, bias):
        super().__init__()
        self.bias = tf.Variable(bias)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name='x')])
    def predict(self, x):
        return {'y': x / 2. + self.bias}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name='inputs')])
    def regress(self, inputs):
        return {'outputs': inputs / 2. + self.bias}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name='name')])
    def greet(self, name):
        return {'greeting': tf.strings.join(['hello ', tf.strings.upper(name)])}


with tempfile.TemporaryDirectory() as folder:
    for bias in (2., 3.):
        model = HalfPlus(bias)
        path = os.path.join(folder, f'half_plus_{int(bias)}')
        tf.saved_model.save(model, path, {
            'serving_default': model.predict, 'regress': model.regress, 'greet': model.greet})
        stored(f'half_plus_{int(bias)}', path, 'serving_default', {'x': np.array([1., 2., 5.], np.float32)})

    model = keras.Sequential([
        keras.Input([6, 6, 1], name='image'),
        keras.layers.Conv2D(3, 3, activation='relu'),
        keras.layers.BatchNormalization(),
        keras.layers.Flatten(),
        keras.layers.Dense(4, activation='softmax'),
    ])
    path = os.path.join(folder, 'cnn')
    model.export(path, verbose=False)
    names = tf.saved_model.load(path).signatures['serving_default'].structured_input_signature[1]
    stored('cnn', path, 'serving_default', {next(iter(names)): random.standard_normal((5, 6, 6, 1)).astype(np.float32)})

    # TensorFlow 1, with an input of any shape, as TensorFlow Serving's own example has it.
    path = os.path.join(folder, 'half_plus_any')
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, name='x')
        bias = tf.compat.v1.get_variable('bias', initializer=3., use_resource=True)
        y = tf.add(x / 2., bias, name='y')
        session.run(tf.compat.v1.global_variables_initializer())
        builder = tf.compat.v1.saved_model.Builder(path)
        info = tf.compat.v1.saved_model.build_tensor_info
        builder.add_meta_graph_and_variables(session, ['serve'], {
            'serving_default': tf.compat.v1.saved_model.build_signature_def(
                {'x': info(x)}, {'y': info(y)}, 'tensorflow/serving/predict')})
        builder.save()
    stored('half_plus_any', path, 'serving_default', {'x': np.array([[1., 2.], [5., 6.]], np.float32)})

text = json.dumps({
    'versions': {'tensorflow': tf.__version__, 'keras': keras.__version__, 'python': sys.version.split()[0]}, 'seed': SEED,
    'models': MODELS})
TARGET.parent.mkdir(exist_ok=True)
with open(TARGET, 'wb') as file, gzip.GzipFile('', 'wb', 9, file, mtime=0) as out:
    out.write(text.encode())
print(TARGET.stat().st_size)
