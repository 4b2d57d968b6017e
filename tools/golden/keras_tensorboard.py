"""What Keras's TensorBoard callback writes: packages/layers/golden/tensorboard.json.

For each set of options: every event of every run, as tag, step and plugin, in the order of the file; shapes of histograms and images; the
projector's configuration. Needs tensorboard beside tensorflow. Run with the versions that the file names:

    python tools/golden/keras_tensorboard.py
"""

import glob
import json
import os
import pathlib
import tempfile

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorboard  # noqa: E402
import tensorflow as tf  # noqa: E402

OUT = pathlib.Path(__file__).parents[2] / 'packages/layers/golden/tensorboard.json'


def events(folder):
    runs = {}
    for path in sorted(glob.glob(f'{folder}/**/*tfevents*', recursive=True)):
        run = os.path.relpath(os.path.dirname(path), folder)
        for record in tf.compat.v1.io.tf_record_iterator(path):
            event = tf.compat.v1.Event.FromString(record)
            if event.WhichOneof('what') == 'graph_def':
                runs.setdefault(run, []).append(['graph', int(event.step), ''])
            for value in event.summary.value:
                shape = [d.size for d in value.tensor.tensor_shape.dim]
                entry = [value.tag, int(event.step), value.metadata.plugin_data.plugin_name]
                if value.metadata.plugin_data.plugin_name == 'images':
                    size = [int(s) for s in value.tensor.string_val[:2]]
                    entry.append([*shape, *size])
                elif shape:
                    entry.append(shape)
                runs.setdefault(run, []).append(entry)
    return runs


def dense():
    model = keras.Sequential([keras.layers.Input([3]), keras.layers.Dense(4, name='a'), keras.layers.Dense(1, name='b')], name='model')
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss='mse', metrics=['mae'])
    x = np.arange(24, dtype=np.float32).reshape([8, 3]) / 24
    return model, x, x.sum(1, keepdims=True)


def conv():
    model = keras.Sequential(
        [keras.layers.Input([4, 4, 1]), keras.layers.Conv2D(2, 3, name='c'), keras.layers.Flatten(name='f'), keras.layers.Dense(3, name='d')],
        name='model',
    )
    model.compile(optimizer=keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)), loss='mse')
    return model, np.ones([4, 4, 4, 1], np.float32), np.ones([4, 3], np.float32)


def embedding():
    model = keras.Sequential([keras.layers.Input([2]), keras.layers.Embedding(5, 3, name='e'), keras.layers.Flatten(), keras.layers.Dense(1)])
    model.compile(loss='mse')
    return model, np.array([[0, 1], [2, 4]]), np.ones([2, 1], np.float32)


CASES = {
    'plain': (dense, {}, {'epochs': 2, 'validation': True}),
    'histograms': (dense, {'histogram_freq': 2, 'write_images': True}, {'epochs': 3, 'validation': False}),
    'batches': (dense, {'update_freq': 'batch', 'write_graph': False}, {'epochs': 2, 'validation': True}),
    'every_third': (dense, {'update_freq': 3, 'write_graph': False, 'write_steps_per_second': True}, {'epochs': 2, 'validation': False}),
    'images': (conv, {'histogram_freq': 1, 'write_images': True, 'write_graph': False}, {'epochs': 1, 'validation': False}),
}


def run(make, options, fit):
    folder = tempfile.mkdtemp()
    model, x, y = make()
    validation = (x[:4], y[:4]) if fit['validation'] else None
    model.fit(
        x,
        y,
        batch_size=2,
        epochs=fit['epochs'],
        shuffle=False,
        verbose=0,
        validation_data=validation,
        validation_batch_size=2,
        callbacks=[keras.callbacks.TensorBoard(folder, **options)],
    )
    return {'options': options, 'fit': fit, 'runs': events(folder)}


golden = {
    'versions': {'keras': keras.__version__, 'tensorflow': tf.__version__, 'tensorboard': tensorboard.__version__},
    'cases': {name: run(*case) for name, case in CASES.items()},
}
OUT.write_text(json.dumps(golden, separators=(',', ':')) + '\n')
print(OUT, OUT.stat().st_size)
