"""Checks that TensorFlow.js loads the models that Eagre writes for it, and that they give the same there.

    pnpm build
    EAGRE_TFJS=~/tfjs python tools/interop/tfjs.py

EAGRE_TFJS is a folder in which `npm install @tensorflow/tfjs@4.22.0` has run; without it there is nothing to check.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).parent
if 'EAGRE_TFJS' not in os.environ:
    sys.exit('EAGRE_TFJS names no folder with @tensorflow/tfjs')


def array(value):
    return np.array(value['data'], 'float64').reshape(value['shape'])


def run(program, given):
    done = subprocess.run(['node', HERE.parent / 'golden' / program], input=given, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([*(sys.argv[1:] or ['node']), HERE / 'tfjs.mjs', folder], check=True)
    models = json.loads((pathlib.Path(folder) / 'models.json').read_text())
found = run('tfjs-run.mjs', json.dumps(models))
count = 0
for model, results in zip(models, found['results'], strict=True):
    expected = model['results']
    assert len(results) == len(expected), f'{model["name"]}: {list(results)} instead of {list(expected)}'
    for key, value in expected.items():
        got = results[int(key)] if isinstance(results, list) else results[key]
        assert got['shape'] == value['shape'], f'{model["name"]}.{key}: {got["shape"]} instead of {value["shape"]}'
        np.testing.assert_allclose(array(got), array(value), 2e-5, 2e-5, err_msg=f'{model["name"]}.{key}')
        count += 1
print(f'TensorFlow.js {found["version"]} runs {len(models)} models of Eagre; {count} results agree')
