"""Checks that the real TensorFlow loads the SavedModels that Eagre writes, runs them to the same results, and trains them further.

    pnpm build
    python tools/interop/saved_models.py
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

import keras
import numpy as np
import tensorflow as tf

PROGRAM = pathlib.Path(__file__).with_suffix('.mjs')
CLI = pathlib.Path(sys.executable).parent / 'saved_model_cli'


def tensors(value):
    """A structure of tensors that the other program wrote."""
    if isinstance(value, list):
        return [tensors(v) for v in value]
    if isinstance(value, dict) and 'fields' in value:
        return {k: tensors(v) for k, v in value['fields'].items()}
    if not isinstance(value, dict):
        return value
    if 'ragged' in value:
        flat, *splits = tensors(value['ragged'])
        return tf.RaggedTensor.from_nested_row_splits(flat, splits)
    if 'sparse' in value:
        return tf.SparseTensor(*tensors(value['sparse']))
    if 'slices' in value:
        return tf.IndexedSlices(*tensors(value['slices']))
    if value['dtype'] == 'string':
        return tf.reshape(tf.constant(value['values'], tf.string), value['shape'])
    return tf.constant(np.array(value['values'], dtype=value['dtype']).reshape(value['shape']))


def check(got, wanted, where, tolerance=1e-5):
    tf.nest.assert_same_structure(got, wanted, check_types=False, expand_composites=True)
    for g, w in zip(tf.nest.flatten(got, expand_composites=True), tf.nest.flatten(wanted, expand_composites=True)):
        assert g.dtype == w.dtype and g.shape == w.shape, (where, g.dtype, w.dtype, g.shape, w.shape)
        if g.dtype == tf.string:
            np.testing.assert_array_equal(g.numpy(), w.numpy(), err_msg=where)
            continue
        np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=10 * tolerance, atol=tolerance, err_msg=where)


def by_name(signature, inputs):
    names = list(signature.structured_input_signature[1])
    flat = inputs if isinstance(inputs, list) else [inputs]
    return inputs if isinstance(inputs, dict) else dict(zip(sorted(names), flat)) if len(names) > 1 else {names[0]: flat[0]}


def check_model(path, model):
    """A Keras model: its endpoint, its signature, and Keras's layer for SavedModels."""
    loaded = tf.saved_model.load(path)
    serving = loaded.signatures['serving_default']
    layer = keras.layers.TFSMLayer(path, call_endpoint='serve')
    assert len(loaded.variables) == model['weights'], (path, len(loaded.variables))
    for inputs, wanted in zip(model['inputs'], model['results']):
        inputs, wanted = tensors(inputs), tensors(wanted)
        check(loaded.serve(inputs), wanted, path)
        check(layer(inputs), wanted, path)
        named = serving(**by_name(serving, inputs))
        check([named[k] for k in sorted(named)], tf.nest.flatten(wanted), path)
    variables = [v for v in loaded.trainable_variables if v.dtype.is_floating]
    if variables and 'texts' not in path:
        with tf.GradientTape() as tape:
            outputs = tf.nest.flatten(loaded.serve(tensors(model['inputs'][0])))
            loss = tf.add_n([tf.reduce_sum(tf.square(o)) for o in outputs])
        gradients = tape.gradient(loss, variables)
        assert all(g is not None for g in gradients), (path, [v.name for v, g in zip(variables, gradients) if g is None])
    return len(model['inputs'])


def check_object(path, model):
    loaded = tf.saved_model.load(path)
    for call in model['calls']:
        got = getattr(loaded, call['fn'])(*[tensors(a) for a in call['args']])
        check(got, tensors(call['result']), f"{path} {call['fn']}", 1e-4 if 'train' in path else 1e-5)
    for call in model.get('gradients', []):
        args = [tensors(a) for a in call['args']]
        f = getattr(loaded, call['fn'])

        def run(*xs):
            with tf.GradientTape() as tape:
                tape.watch(xs)
                y = f(*xs)
            return [y, *tape.gradient(y, [*xs, loaded.w], unconnected_gradients='zero')]

        for how, gradients in [('eager', run), ('traced', tf.function(run))]:
            check(gradients(*args), tensors(call['result']), f"{path} {call['fn']} {how}")
    for call in model.get('refused', []):
        args = [tensors(a) for a in call['args']]
        f = getattr(loaded, call['fn'])
        for how, run in [('eager', f), ('traced', tf.function(lambda *xs: f(*xs)))]:
            try:
                run(*args)
            except tf.errors.InvalidArgumentError:
                continue
            raise AssertionError(f"{call['fn']} takes {call['args']}, {how}")
    # What was loaded can be saved, and loaded again.
    with tempfile.TemporaryDirectory() as again:
        tf.saved_model.save(loaded, again)
        tf.saved_model.load(again)
    return len(model['calls'])


def check_cli(path):
    """The command line tool, as another process."""
    shown = subprocess.run([CLI, 'show', '--dir', path, '--all'], check=True, capture_output=True, text=True).stdout
    assert "signature_def['serving_default']" in shown and 'float32' in shown or 'DT_FLOAT' in shown, shown
    run = ['run', '--dir', path, '--tag_set', 'serve', '--signature_def', 'serving_default']
    return subprocess.run(
        [CLI, *run, '--input_exprs', 'numbers=[1.0,2.0,3.0]'], check=True, capture_output=True, text=True
    ).stdout


def check_session(path):
    """As C++ programs and TensorFlow Serving do: without objects, by the nodes that restore."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        meta = tf.compat.v1.saved_model.load(session, ['serve'], path)
        signature = meta.signature_def['serving_default']
        (fetch,) = signature.outputs.values()
        (feed,) = signature.inputs.values()
        first = session.run(fetch.name, {feed.name: 5.0})
        return [first, session.run(fetch.name, {feed.name: 2.5})]


def main(folder):
    program = shlex.split(os.environ.get('EAGRE_NODE', 'node'))
    subprocess.run([*program, PROGRAM, folder], check=True)
    models = json.loads((folder / 'models.json').read_text())
    failed = []
    results = 0
    for name, model in models.items():
        try:
            results += (check_model if model['kind'] == 'model' else check_object)(str(folder / name), model)
        except Exception as error:
            failed.append(name)
            print(f'{name}: {type(error).__name__}: {str(error)[:1500]}')
    out = check_cli(str(folder / 'asset'))
    assert '[2. 4. 6.]' in out and '6.0' in out, out
    assert check_session(str(folder / 'counter')) == [6.0, 8.5]
    for name in ['asset', 'asset_again']:
        asset = tf.saved_model.load(str(folder / name)).words.asset_path.numpy().decode()
        assert pathlib.Path(asset).read_text() == 'a\nb\n' and asset.endswith(f'{name}/assets/words.txt'), asset
    assert (folder / 'tables_again' / 'assets' / 'vocabulary.txt').read_text() == 'x\ny\n'
    assert check_session(str(folder / 'counter_again')) == [6.0, 8.5]
    print(f'{len(models) - len(failed)} of {len(models)} SavedModels load in TensorFlow {tf.__version__}; {results} results agree')
    if failed:
        sys.exit(1)


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as name:
        main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else name))
