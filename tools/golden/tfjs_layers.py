"""Models of Keras in files of TensorFlow.js: those that it saves itself, and those of Keras 2 in the form of its converter; with what it computes:

    pip install tf_keras==2.21.0
    EAGRE_TFJS=/tmp/tfjs python tools/golden/tfjs_layers.py

Needs Node, and a folder in which `npm install @tensorflow/tfjs@4.22.0` has run. A golden file of @eagre/layers.
"""

import base64
import gzip
import json
import os
import pathlib
import subprocess

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import numpy as np
import tf_keras as keras

SEED = 4
HERE = pathlib.Path(__file__).parent
TARGET = HERE.parents[1] / 'packages' / 'layers' / 'golden' / 'tfjs-layers.json.gz'
L = keras.layers
random = np.random.default_rng(SEED)


def noise(*shape):
    return np.round(random.standard_normal(shape), 2).astype(np.float32)


def stored(x):
    return {'dtype': 'float32', 'shape': list(x.shape), 'data': x.reshape(-1).tolist()}


def functional():
    a, b = keras.Input((3,), name='a'), keras.Input((3,), name='b')
    both = L.Dense(2, activation='tanh', name='both')
    x, y = both(a), both(b)
    inner = keras.Sequential([L.Dense(3, input_shape=(2,)), L.BatchNormalization()], name='inner')
    return keras.Model([a, b], L.Dense(1)(L.Concatenate()([inner(x), L.Add()([x, y])])))


MODELS = {
    'dense': (lambda: keras.Sequential([L.Dense(4, activation='relu', input_shape=(3,)), L.Dropout(0.0), L.Dense(1)]), noise(4, 3)),
    'images': (
        lambda: keras.Sequential([L.Conv2D(2, 3, padding='same', input_shape=(6, 6, 1)), L.BatchNormalization(), L.MaxPooling2D(), L.DepthwiseConv2D(2), L.ReLU(6.0), L.LeakyReLU(0.2), L.GlobalAveragePooling2D(), L.Dense(1)]),
        noise(2, 6, 6, 1),
    ),
    'words': (
        lambda: keras.Sequential([L.Embedding(6, 3, input_length=4), L.Bidirectional(L.LSTM(2, return_sequences=True, recurrent_activation='hard_sigmoid')), L.TimeDistributed(L.Dense(2)),
                                  L.GRU(2, reset_after=False), L.Dense(1, activation='hard_sigmoid')]),
        np.array([[1, 2, 3, 0], [4, 5, 1, 1]], np.float32),
    ),
    'functional': (functional, [noise(4, 3), noise(4, 3)]),
}


def entries():
    for name, (make, x) in MODELS.items():
        for how in [None, 'uint8'] if name == 'dense' else [None]:
            keras.utils.set_random_seed(SEED)
            model = make()
            model.compile('adam', 'mse', metrics=['mae'])
            data, specs = b'', []
            for layer in model.layers:
                for weight in layer.weights:
                    array = weight.numpy()
                    spec = {'name': weight.name.split(':')[0], 'shape': list(array.shape), 'dtype': 'float32'}
                    if how == 'uint8' and array.max() > array.min():
                        low = float(array.min())
                        scale = (float(array.max()) - low) / 255
                        data += np.round((array - low) / scale).astype(np.uint8).tobytes()
                        spec['quantization'] = {'dtype': 'uint8', 'min': low, 'scale': scale, 'original_dtype': 'float32'}
                    else:
                        data += array.tobytes()
                    specs.append(spec)
            training = {'optimizer_config': {'class_name': 'Adam', 'config': {'learning_rate': 0.01, 'decay': 0.0, 'beta_1': 0.9, 'beta_2': 0.999, 'epsilon': 1e-07, 'amsgrad': False}}, 'loss': 'mean_squared_error', 'metrics': ['mae'], 'weighted_metrics': None, 'loss_weights': None}
            topology = {'keras_version': '2.21.0', 'backend': 'tensorflow', 'model_config': json.loads(model.to_json()), 'training_config': training}
            topology['model_config'] = {key: topology['model_config'][key] for key in ['class_name', 'config']}
            file = {'format': 'layers-model', 'generatedBy': 'keras v2.21.0', 'convertedBy': 'TensorFlow.js Converter v4.22.0', 'modelTopology': topology,
                    'weightsManifest': [{'paths': ['group1-shard1of1.bin'], 'weights': specs}]}
            files = {'model.json': base64.b64encode(json.dumps(file).encode()).decode(), 'group1-shard1of1.bin': base64.b64encode(data).decode()}
            yield {'name': f'keras2-{name}{"" if how is None else "-" + how}', 'files': files, 'x': [stored(p) for p in x] if isinstance(x, list) else stored(x)}


def node(name, given=''):
    done = subprocess.run(['node', HERE / name], input=given, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


converted = list(entries())
for model, (result,) in zip(converted, node('tfjs-run.mjs', json.dumps(converted))['results']):
    model['outputs'] = result
own = node('tfjs-layers.mjs')
text = json.dumps({'versions': {'tf_keras': keras.__version__, 'tfjs': own['version']}, 'seed': SEED, 'models': converted + own['models']})
TARGET.write_bytes(gzip.compress(text.encode(), mtime=0))
print(len(converted + own['models']), 'models,', TARGET.stat().st_size, 'bytes')
