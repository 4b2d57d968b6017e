"""Checks that TensorFlow reads the TFRecords, examples, tensors and tensor bundles that @eagre/formats writes, and it theirs.

    pnpm build
    python tools/interop/formats.py

With tensorboard installed, the numbers of its messages' fields are compared, too.
"""

import base64
import json
import os
import pathlib
import subprocess
import tempfile

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import numpy as np
import tensorflow as tf
from google.protobuf import struct_pb2, wrappers_pb2
from tensorflow.core.example import example_pb2, feature_pb2
from tensorflow.core.framework import (attr_value_pb2, function_pb2, graph_pb2, node_def_pb2, op_def_pb2, summary_pb2, tensor_pb2,
                                       tensor_shape_pb2, tensor_slice_pb2, versions_pb2)
from tensorflow.core.protobuf import (config_pb2, fingerprint_pb2, meta_graph_pb2, saved_model_pb2, saved_object_graph_pb2, saver_pb2,
                                      struct_pb2 as structures_pb2, tensor_bundle_pb2, trackable_object_graph_pb2)
from tensorflow.core.util import event_pb2
from tensorflow.python.training import checkpoint_state_pb2

HERE = pathlib.Path(__file__).parent
MODULES = [attr_value_pb2, function_pb2, graph_pb2, node_def_pb2, op_def_pb2, tensor_pb2, tensor_shape_pb2, versions_pb2, config_pb2,
           summary_pb2, event_pb2, tensor_slice_pb2, tensor_bundle_pb2, trackable_object_graph_pb2, example_pb2, feature_pb2, saved_model_pb2, meta_graph_pb2, saved_object_graph_pb2,
           structures_pb2, saver_pb2, fingerprint_pb2]
COMPRESSIONS = {'plain': '', 'gzip': 'GZIP', 'zlib': 'ZLIB'}
KINDS = {
    'float32': np.array([[1.5, -2], [3e38, -0.0]], np.float32),
    'float64': np.array(np.pi),
    'int32': np.array([-2**31, 0, 2**31 - 1], np.int32),
    'int64': np.array([[-2**63, 2**63 - 1]]),
    'uint8': np.array([0, 255], np.uint8),
    'bool': np.array([[True], [False]]),
    'string': np.array([b'ab', b'', b'\x00\xff'], object),
    'nothing': np.zeros([0, 3], np.float32),
}


def noise(length, seed):
    out, x = bytearray(length), seed + 1
    for i in range(length):
        x = x * 48271 % 2147483647
        out[i] = x & 255
    return bytes(out)


def run(command, folder):
    program = ['node', HERE / 'formats.mjs', command, folder]
    return subprocess.run(program, check=True, stdout=subprocess.PIPE, text=True).stdout


def same(where, got, wanted):
    got = np.asarray(got)
    assert got.shape == wanted.shape and got.dtype == wanted.dtype, (where, got.shape, got.dtype)
    np.testing.assert_array_equal(got, wanted, err_msg=where)


def messages(descriptors, prefix=''):
    for name, descriptor in descriptors.items():
        yield prefix + name, descriptor
        yield from messages(descriptor.nested_types_by_name, f'{prefix}{name}.')


def check_fields(fields):
    known = {name: message for module in MODULES for name, message in messages(module.DESCRIPTOR.message_types_by_name)}
    for module in (struct_pb2, wrappers_pb2):
        known |= dict(messages(module.DESCRIPTOR.message_types_by_name, 'google.protobuf.'))
    histogram = event_pb2.Event.DESCRIPTOR.fields_by_name['summary'].message_type.fields_by_name['value'].message_type
    known['HistogramProto'] = histogram.fields_by_name['histo'].message_type
    try:
        from tensorboard.plugins.audio import plugin_data_pb2 as audio
        from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2 as hparams
        from tensorboard.plugins.image import plugin_data_pb2 as image
        from tensorboard.plugins.scalar import plugin_data_pb2 as scalar
        for module in (audio, hparams, api_pb2, image, scalar):
            known |= dict(messages(module.DESCRIPTOR.message_types_by_name))
    except ImportError:
        print('without tensorboard: its messages are left out')
    left_out = [name for name in fields if name not in known]
    for name, numbers in fields.items():
        for field, number in numbers.items() if name in known else []:
            assert known[name].fields_by_name[field].number == number, (name, field)
    return len(fields) - len(left_out), left_out


def check_records(folder):
    spec = {
        'ints': tf.io.FixedLenFeature([3], tf.int64), 'floats': tf.io.FixedLenFeature([2], tf.float32),
        'text': tf.io.FixedLenFeature([2], tf.string), 'empty': tf.io.VarLenFeature(tf.float32),
    }
    for name, compression in COMPRESSIONS.items():
        records = list(tf.data.TFRecordDataset(f'{folder}/{name}.tfrecord', compression).as_numpy_iterator())
        assert len(records) == 101, (name, len(records))
        for i, record in enumerate(records[:100]):
            values = tf.io.parse_single_example(record, spec)
            same('ints', values['ints'], np.array([i, -1, 2**62]))
            same('floats', values['floats'], np.array([i / 2, -1e30], np.float32))
            assert list(values['text'].numpy()) == [f'example {i}'.encode(), noise(i * 10, i)], i
            assert values['empty'].shape == [0]
        sequence = tf.train.SequenceExample.FromString(records[100])
        assert [list(f.int64_list.value) for f in sequence.feature_lists.feature_list['steps'].feature] == [[1, 2], [3]]
        assert [list(f.bytes_list.value) for f in sequence.feature_lists.feature_list['words'].feature] == [[b'a'], [b'b', 'ü'.encode()]]
    return len(COMPRESSIONS) * 101


def check_bundles(folder):
    tensors = 0
    for prefix, count in [('one', 6000), ('five', 20)]:
        reader = tf.train.load_checkpoint(f'{folder}/{prefix}')
        for name, wanted in KINDS.items():
            same(name, reader.get_tensor(f'kinds/{name}'), wanted)
        for i in range(count):
            same(i, reader.get_tensor(f'layer/{i}/kernel/.ATTRIBUTES/VARIABLE_VALUE'), np.full([3, 2], i, np.float32))
        assert reader.get_tensor('large').tobytes() == noise(3_000_001, 5)
        same('half', reader.get_tensor('half'), np.array([1, -2], np.float16))
        assert len(reader.get_variable_to_shape_map()) == count + len(KINDS) + 2
        tensors += count + len(KINDS) + 2
    merged = tf.train.load_checkpoint(f'{folder}/merged')
    assert sorted(merged.get_variable_to_shape_map()) == [f'part-{p}/{k}' for p in 'ab' for k in range(4)]
    for p in 'ab':
        for k in range(4):
            same('merged', merged.get_tensor(f'part-{p}/{k}'), np.array([k], np.int32))
    v, first, second = (tf.Variable([-1.0, -1.0]) for _ in range(3))
    tf.train.Checkpoint(v=v, parts=[first, second]).read(f'{folder}/objects').assert_consumed()
    for i, variable in enumerate([v, first, second]):
        same('objects', variable, np.array([i, i + 0.5], np.float32))
    state = tf.train.get_checkpoint_state(folder)
    assert state.model_checkpoint_path == f'{folder}/objects', state
    assert list(state.all_model_checkpoint_paths) == [folder + '/of "before" \\ \' ü\n', f'{folder}/objects'], state
    assert list(state.all_model_checkpoint_timestamps) == [1.5, 1795227391] and state.last_preserved_timestamp == 0.1
    assert tf.train.latest_checkpoint(folder) == f'{folder}/objects'
    return tensors


def save(prefix, named):
    tf.raw_ops.SaveV2(prefix=prefix, tensor_names=list(named), shape_and_slices=[''] * len(named), tensors=list(named.values()))


def write_theirs(folder):
    rng = np.random.default_rng(3)
    record = tf.train.Example(features=tf.train.Features(feature={
        'f': tf.train.Feature(float_list=tf.train.FloatList(value=[1.5, -2])),
        'i': tf.train.Feature(int64_list=tf.train.Int64List(value=[-1, 2**62])),
        's': tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'', b'\xff'])),
    })).SerializeToString(deterministic=True)
    payloads = [record] + [rng.bytes(int(n)) for n in rng.integers(0, 100_000, 20)]
    for name, compression in COMPRESSIONS.items():
        with tf.io.TFRecordWriter(f'{folder}/{name}.tfrecord', compression) as writer:
            for payload in payloads:
                writer.write(payload)
    named = {name: tf.constant(value) for name, value in KINDS.items()}
    # More than one block of the index.
    many = named | {f'some/quite/long/name/of/a/variable/{i}': tf.constant([i, -i]) for i in range(8000)}
    many['large'] = tf.constant(rng.normal(size=(500, 1000)))
    save(f'{folder}/many', many)
    parts = [f'{folder}/part-{i}' for i in range(3)]
    for i, part in enumerate(parts):
        save(part, {name: value for at, (name, value) in enumerate(named.items()) if at % 3 == i})
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=f'{folder}/sharded', delete_old_dirs=False)
    state = checkpoint_state_pb2.CheckpointState(model_checkpoint_path='a "b" ü\n', all_model_checkpoint_paths=['x', "y'"],
                                                 all_model_checkpoint_timestamps=[1e9, 0.1], last_preserved_timestamp=float('inf'))
    pathlib.Path(folder, 'checkpoint').write_text(str(state))
    return payloads, {'many': many, 'sharded': named}


def check_theirs(payloads, bundles, read):
    for name in COMPRESSIONS:
        assert [base64.b64decode(record) for record in read['records'][name]] == payloads, name
    assert dict(read['features']) == {'f': ['1.5', '-2'], 'i': ['-1', str(2**62)], 's': ['', '/w==']}, read['features']
    for prefix, named in bundles.items():
        found = read['bundles'][prefix]
        assert sorted(found) == sorted(named), prefix
        for name, value in named.items():
            if value.dtype == tf.string:
                assert [base64.b64decode(item) for item in found[name]] == list(value.numpy().ravel())
            else:
                assert found[name] == int(np.frombuffer(value.numpy().tobytes(), np.uint8).sum(dtype=np.int64)), (prefix, name)
    assert read['state'] == {'model_checkpoint_path': 'a "b" ü\n', 'all_model_checkpoint_paths': ['x', "y'"],
                             'all_model_checkpoint_timestamps': [1e9, 0.1], 'last_preserved_timestamp': None}, read['state']


def main():
    with tempfile.TemporaryDirectory() as folder:
        written = json.loads(run('write', folder))
        fields, left_out = check_fields(written['fields'])
        print(f'{fields} messages have the right fields' + (f'; not compared: {", ".join(left_out)}' if left_out else ''))
        for name, protos in written['protos'].items():
            for proto in protos:
                same(name, tf.make_ndarray(tensor_pb2.TensorProto.FromString(base64.b64decode(proto))), KINDS[name])
        print(f'{check_records(folder)} records, {check_bundles(folder)} tensors and an object graph of Eagre are read by TensorFlow')
    with tempfile.TemporaryDirectory() as folder:
        payloads, bundles = write_theirs(folder)
        run('read', folder)
        check_theirs(payloads, bundles, json.loads(pathlib.Path(folder, 'read.json').read_text()))
        print(f'{3 * len(payloads)} records, {sum(map(len, bundles.values()))} tensors of TensorFlow are read by Eagre')


if __name__ == '__main__':
    main()
