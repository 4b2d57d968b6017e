"""Checks that TensorBoard and TensorFlow read the event files that Eagre writes. Needs tensorboard beside tensorflow.

    pnpm build
    python tools/interop/summaries.py
"""

import glob
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from google.protobuf import text_format  # noqa: E402
from tensorboard.backend.event_processing import event_accumulator, event_file_loader  # noqa: E402
from tensorboard.plugins.graph import keras_util  # noqa: E402
from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2  # noqa: E402
from tensorboard.plugins.projector import projector_config_pb2  # noqa: E402
from tensorboard.util import tensor_util  # noqa: E402

HERE = pathlib.Path(__file__).parent
ALL = {name: 0 for name in ('tensors', 'images', 'audio', 'histograms', 'scalars', 'compressedHistograms')}


def load(folder):
    run = event_accumulator.EventAccumulator(str(folder), size_guidance=ALL)
    run.Reload()
    return run


def series(run, tag):
    return [(e.step, tensor_util.make_ndarray(e.tensor_proto)) for e in run.Tensors(tag)]


def plugin(run, tag):
    return run.SummaryMetadata(tag).plugin_data.plugin_name


def same(found, expected, **tolerance):
    np.testing.assert_allclose(np.asarray(found, np.float64), np.asarray(expected, np.float64), **tolerance)


def kinds(folder, expected):
    run = load(folder)
    loss = series(run, 'loss')
    assert [step for step, _ in loss] == list(range(5)) and all(v.dtype == np.float32 and v.shape == () for _, v in loss)
    same([v for _, v in loss], [1 / (i + 1) for i in range(5)], rtol=1e-7)
    assert plugin(run, 'loss') == 'scalars' and run.SummaryMetadata('loss').summary_description == 'falls'
    assert [(step, float(v)) for step, v in series(run, 'traced/double')] == [(i, 2.0 * i) for i in range(5)] + [(7, 14.0)]
    assert series(run, 'large')[0][0] == 2**53 + 1

    ((step, rows),) = series(run, 'values')
    counts, edges = np.histogram(np.float32(expected['values']).astype(np.float64), bins=30)
    assert step == 1 and plugin(run, 'values') == 'histograms' and rows.dtype == np.float64
    same(rows[:, 2], counts)
    same(rows[:, :2], np.stack([edges[:-1], edges[1:]], 1), atol=1e-12)

    ((_, picture),) = series(run, 'pixels')
    assert plugin(run, 'pixels') == 'images' and list(picture[:2]) == [b'5', b'4']
    decoded = np.stack([tf.io.decode_png(png).numpy() for png in picture[2:]])
    same(decoded, np.reshape(expected['pixels'], [2, 4, 5, 3]))

    ((_, clips),) = series(run, 'sound')
    samples, rate = tf.audio.decode_wav(clips[0, 0])
    assert plugin(run, 'sound') == 'audio' and rate == 8000
    same(samples, np.reshape(expected['sound'], [25, 2]), atol=1 / 32768)

    assert plugin(run, 'note') == 'text' and series(run, 'note')[0][1].item().decode() == 'Grüße, **world**'
    assert series(run, 'table')[0][1].tolist() == [[b'a', b'b'], [b'c', b'd']]
    for dtype in ('float32', 'float64', 'int32', 'int64', 'uint8', 'bool'):
        value = series(run, f'dtypes/{dtype}')[0][1]
        assert value.dtype == dtype and value.tolist() == [[1, 0, 1]], dtype

    (trace,) = series(run, 'trace')
    assert plugin(run, 'trace') == 'graph_run_metadata_graph'
    metadata = tf.compat.v1.RunMetadata.FromString(trace[1].item())
    ops = [node.op for node in metadata.function_graphs[0].pre_optimization_graph.node]
    assert 'Mul' in ops and 'AddV2' in ops, ops
    graph = tf.compat.v1.GraphDef.FromString(run.Graph().SerializeToString())
    (double,) = tf.compat.v1.wrap_function(lambda: tf.import_graph_def(graph), []).graph.get_operations()[1:2]
    assert double.type == 'AddV2'


def hparams(folder):
    experiment = load(folder).SummaryMetadata('_hparams_/experiment').plugin_data.content
    experiment = plugin_data_pb2.HParamsPluginData.FromString(experiment).experiment
    assert [info.name for info in experiment.hparam_infos] == ['units', 'rate']
    assert experiment.metric_infos[0].name.tag == 'accuracy'
    groups = set()
    for units in (16, 32):
        content = load(folder / f'session-{units}').SummaryMetadata('_hparams_/session_start_info').plugin_data.content
        start = plugin_data_pb2.HParamsPluginData.FromString(content).session_start_info
        assert {name: v.number_value for name, v in start.hparams.items()} == {'units': units, 'rate': 0.01}
        groups.add(start.group_name)
        content = load(folder / f'session-{units}').SummaryMetadata('_hparams_/session_end_info').plugin_data.content
        end = plugin_data_pb2.HParamsPluginData.FromString(content).session_end_info
        assert end.status == (api_pb2.STATUS_SUCCESS if units == 16 else api_pb2.STATUS_FAILURE)
        assert abs(end.end_time_secs - time.time()) < 3600
    assert len(groups) == 2


def keras(folder, history):
    train, validation = load(folder / 'train'), load(folder / 'validation')
    same([v for _, v in series(train, 'epoch_loss')], history['loss'], rtol=1e-6)
    same([v for _, v in series(validation, 'epoch_loss')], history['val_loss'], rtol=1e-6)
    assert len(series(train, 'batch_loss')) == 2 and len(series(train, 'hidden/kernel/histogram')) == 2
    assert train.Graph() is not None
    outline = json.loads(series(train, 'keras')[0][1].item())
    drawn = {node.name: list(node.input) for node in keras_util.keras_model_to_graph_def(outline).node}
    assert drawn == {
        'functional/in': [],
        'functional/hidden': ['functional/in'],
        'functional/sum': ['functional/in', 'functional/hidden'],
    }, drawn


def projector(folder, expected):
    config = text_format.Parse((folder / 'projector_config.pbtxt').read_text(), projector_config_pb2.ProjectorConfig())
    (embedding,) = config.embeddings
    assert embedding.tensor_name == 'words/embeddings' and list(embedding.tensor_shape) == [6, 2]
    same(np.loadtxt(folder / embedding.tensor_path, delimiter='\t'), expected, rtol=1e-6)


def crashed(folder):
    (path,) = glob.glob(f'{folder}/*tfevents*')
    events = list(event_file_loader.EventFileLoader(path).Load())
    assert [e.step for e in events[1:]] == [0, 1, 2]
    whole = [r for _, r in zip(range(4), tf.data.TFRecordDataset(path))]
    assert tf.compat.v1.Event.FromString(whole[0].numpy()).file_version == 'brain.Event:2'


with tempfile.TemporaryDirectory() as name:
    root = pathlib.Path(name)
    done = subprocess.run(['node', str(HERE / 'summaries.mjs'), name], check=True, capture_output=True, text=True)
    expected = json.loads(done.stdout)
    kinds(root / 'kinds', expected['kinds'])
    hparams(root)
    keras(root / 'keras', expected['keras'])
    projector(root / 'words', expected['words'])
    crashed(root / 'crashed')
print('TensorBoard reads the summaries', file=sys.stderr)
