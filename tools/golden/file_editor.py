"""Files of Keras, what KerasFileEditor prints about them, and the files that it writes: a golden file of @eagre/layers.

    python tools/golden/file_editor.py
"""

import base64
import contextlib
import gzip
import io
import json
import os
import pathlib
import tempfile

os.environ.setdefault('KERAS_BACKEND', 'tensorflow')
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import h5py
import keras
import numpy as np

SEED = 3
TARGET = pathlib.Path(__file__).parents[2] / 'packages' / 'layers' / 'golden' / 'file-editor.json.gz'
L = keras.layers


def base(units=3):
    model = keras.Sequential([keras.Input([2]), L.Dense(units, name='hidden'), L.Dropout(0.5), L.BatchNormalization(), L.Dense(1, name='last')])
    model.compile('adam', 'mse')
    return model


def more():
    return keras.Sequential([keras.Input([2]), L.Dense(3), L.BatchNormalization(), L.Dense(1), L.Dense(1)])


def renamed():
    """Like the base, with its first layer, and with another class in the place of the last."""
    return keras.Sequential([keras.Input([2]), L.Dense(3), L.Dropout(0.5), L.BatchNormalization(), L.EinsumDense('ab,bc->ac', 1, bias_axes='c')])


def printed(fn):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        result = fn()
    return [line.rstrip() for line in out.getvalue().split('\n') if line.strip()], result


def open_file(path):
    editor = keras.saving.KerasFileEditor(path)
    # Wide enough that no line is broken.
    editor.console.width = 1000
    return editor


def datasets(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: np.asarray(item).tolist()}) if isinstance(item, h5py.Dataset) else None)
    return found


EDITS = [
    ('renameObject', ['layers/dense_1', 'other'], lambda e: e.rename_object('layers/dense_1', 'other')),
    ('renameObject', ['layers/dense', 'first'], lambda e: e.rename_object('layers/dense', 'first')),
    ('deleteObject', ['optimizer'], lambda e: e.delete_object('optimizer')),
    ('deleteWeight', ['layers/batch_normalization', '3'], lambda e: e.delete_weight('layers/batch_normalization', '3')),
    ('addObject', ['layers/einsum_dense', {'0': [[1.5], [2.5]], '1': [0.25]}],
     lambda e: e.add_object('layers/einsum_dense', weights={'0': np.array([[1.5], [2.5]], 'float32'), '1': np.array([0.25], 'float32')})),
    ('addWeights', ['first', {'2': [7.0]}], lambda e: e.add_weights('first', {'2': np.array([7.0], 'float32')})),
]


def main():
    keras.utils.set_random_seed(SEED)
    model = base()
    model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        path, weights = os.path.join(folder, 'model.keras'), os.path.join(folder, 'model.weights.h5')
        model.save(path)
        model.save_weights(weights)
        editor = open_file(path)
        summary, _ = printed(editor.summary)
        editor_of_weights = open_file(weights)
        summary_of_weights, _ = printed(editor_of_weights.summary)
        comparisons = {}
        for name, make in [('base', base), ('wider', lambda: base(4)), ('more', more), ('renamed', renamed)]:
            reference = make()
            if reference.compiled:
                reference.optimizer.build(reference.trainable_variables)
            lines, result = printed(lambda: editor.compare(reference))
            comparisons[name] = {'lines': lines, 'status': result['status']}
        errors = {}
        for key, fn in [('twice', lambda: editor.rename_object('0', '9')), ('none', lambda: editor.delete_object('nobody')),
                        ('path', lambda: editor.rename_object('layers/nobody', 'x')), ('leaf', lambda: editor.rename_object('dense', 'a/b')),
                        ('weight', lambda: editor.delete_weight('layers/dense', '7'))]:
            try:
                fn()
            except ValueError as error:
                errors[key] = str(error)
        for _, _, edit in EDITS:
            edit(editor)
        edited, _ = printed(editor.summary)
        saved = os.path.join(folder, 'edited.weights.h5')
        editor.save(saved)
        made = {
            'keras': keras.__version__, 'seed': SEED,
            'files': {os.path.basename(p): base64.b64encode(pathlib.Path(p).read_bytes()).decode() for p in (path, weights)},
            'summary': summary, 'summaryOfWeights': summary_of_weights, 'comparisons': comparisons, 'errors': errors,
            'edits': [[name, args] for name, args, _ in EDITS], 'edited': edited, 'saved': datasets(saved),
        }
    TARGET.write_bytes(gzip.compress(json.dumps(made).encode(), 9, mtime=0))
    print('\n'.join(summary + ['--'] + edited), json.dumps(comparisons, indent=1, ensure_ascii=False), errors, sorted(made['saved']), TARGET.stat().st_size)


if __name__ == '__main__':
    main()
