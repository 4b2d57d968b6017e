"""SavedModels of TensorFlow with what `saved_model_cli show` prints of them.

    python tools/golden/saved_model_cli.py
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

import keras
import tensorflow as tf

OUT = pathlib.Path(__file__).parent.parent.parent / 'packages/cli/golden/saved-models'
CLI = pathlib.Path(sys.executable).parent / 'saved_model_cli'


class Functions(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.ones([3, 2]), name='w')

    @tf.function
    def scaled(self, x, factor=2.5, name='it', *, flag=True):
        return {'y': x @ self.w * factor, 'x': x}

    @tf.function(input_signature=[tf.TensorSpec([None, 3], name='rows')])
    def serve(self, rows):
        return rows @ self.w

    @tf.function
    def nested(self, given, pair):
        return given['a'] + pair[0] + pair[1][0]


def show(path, *options):
    return subprocess.run([CLI, 'show', '--dir', path, *options], check=True, capture_output=True, text=True).stdout


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    tf.keras.utils.set_random_seed(1)
    module = Functions()
    x = tf.ones([2, 3])
    module.scaled(x)
    module.nested({'a': x, 'b': 3}, (x, [x, None]))
    tf.saved_model.save(module, str(OUT / 'functions'), signatures={'serving_default': module.serve})
    inputs = [keras.Input((4,), name='first'), keras.Input((3,), name='second')]
    outputs = {'p': keras.layers.Dense(2)(inputs[0]), 'q': keras.layers.Dense(1)(inputs[1])}
    keras.Model(inputs, outputs).export(str(OUT / 'keras'), verbose=False)
    shown = {}
    for name in ['functions', 'keras']:
        path = str(OUT / name)
        shown[name] = {
            'all': show(path, '--all'),
            'tags': show(path),
            'keys': show(path, '--tag_set', 'serve'),
            'signature': show(path, '--tag_set', 'serve', '--signature_def', 'serving_default'),
        }
        # What is shown does not come of these.
        shutil.rmtree(OUT / name / 'variables')
        (OUT / name / 'fingerprint.pb').unlink()
        (OUT / name / 'assets').rmdir()
    versions = {'tensorflow': tf.__version__, 'keras': keras.__version__}
    (OUT / 'shown.json').write_text(json.dumps({'versions': versions, 'shown': shown}, indent=1))


if __name__ == '__main__':
    main()
