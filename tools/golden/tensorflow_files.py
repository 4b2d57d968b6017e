"""Files and messages by real TensorFlow, and what is in them: packages/formats/golden/tensorflow.

TFRecord files in each compression, with examples; checkpoints of every dtype, in one data file and in several; the file `checkpoint` of a
CheckpointManager; a block packed by snappy. `golden.json` has what went in, messages in base64 and the versions. Run with these:

    python tools/golden/tensorflow_files.py
"""

import base64
import json
import os
import pathlib
import shutil
import struct
import tempfile

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

OUT = pathlib.Path(__file__).parents[2] / 'packages/formats/golden/tensorflow'
SEED = 11
rng = np.random.default_rng(SEED)
shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir(parents=True)


def text(data):
    return base64.b64encode(data).decode()


def values(array):
    """Strings in base64, integers as text, bools and floats as JSON has them (complex ones as bytes in base64)."""
    array = np.asarray(array)
    if array.dtype == object:
        return [text(item) for item in array.ravel()]
    if array.dtype.kind == 'c':
        return text(array.tobytes())
    if array.dtype.kind in 'iu':
        return [str(item) for item in array.ravel().tolist()]
    return array.ravel().astype('float64' if array.dtype.kind != 'b' else 'bool').tolist()


def describe(tensor):
    array = tensor.numpy()
    return {'dtype': tensor.dtype.name.replace('half', 'float16'), 'shape': list(tensor.shape), 'values': values(array)}


def feature(**lists):
    return tf.train.Feature(**lists)


def examples():
    ints = tf.train.Int64List(value=[1, -1, 300, 2**62, -2**63])
    floats = tf.train.FloatList(value=[1.5, -2.25, 3e38])
    strings = tf.train.BytesList(value=[b'', b'abc', bytes(range(256))])
    yield tf.train.Example(features=tf.train.Features(feature={
        'floats': feature(float_list=floats), 'ints': feature(int64_list=ints), 'strings': feature(bytes_list=strings)}))
    yield tf.train.Example(features=tf.train.Features(feature={'missing': feature(), 'empty': feature(int64_list=tf.train.Int64List())}))
    yield tf.train.Example()


def sequence():
    steps = [feature(int64_list=tf.train.Int64List(value=[1, 2])), feature(int64_list=tf.train.Int64List(value=[]))]
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={'length': feature(int64_list=tf.train.Int64List(value=[2]))}),
        feature_lists=tf.train.FeatureLists(feature_list={'steps': tf.train.FeatureList(feature=steps)}))


def records():
    payloads = [e.SerializeToString(deterministic=True) for e in examples()] + [b'', rng.bytes(3000)]
    for name, compression in [('plain', ''), ('gzip', 'GZIP'), ('zlib', 'ZLIB')]:
        with tf.io.TFRecordWriter(str(OUT / f'{name}.tfrecord'), compression) as writer:
            for payload in payloads:
                writer.write(payload)
    return [text(payload) for payload in payloads]


def tensors():
    yield 'float32', tf.constant(rng.normal(size=(2, 3)), 'float32')
    yield 'float64', tf.constant([np.pi, -0.0, 1e300], 'float64')
    yield 'float16', tf.constant([1.5, -65504, 6e-8], 'float16')
    yield 'bfloat16', tf.constant([1.5, -3e38, 1e-38], 'bfloat16')
    for name in ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32']:
        info = np.iinfo(name)
        yield name, tf.constant([info.min, info.max, 7], name)
    yield 'uint64', tf.constant([0, 2**63 - 1], 'uint64')
    yield 'bool', tf.constant([[True], [False]])
    yield 'string', tf.constant([[b'ab', b'', bytes(range(256))]])
    yield 'complex64', tf.constant([1 + 2j], 'complex64')
    yield 'complex128', tf.constant([1 - 2j], 'complex128')
    yield 'scalar', tf.constant(2.5)
    yield 'nothing', tf.zeros([0, 3])
    yield 'a..b/c.Sd/.ATTRIBUTES/VARIABLE_VALUE', tf.constant([1], 'int64')
    yield 'größe', tf.constant(3)


def save(prefix, named):
    names = list(named)
    tf.raw_ops.SaveV2(prefix=str(prefix), tensor_names=names, shape_and_slices=[''] * len(names),
                      tensors=[named[name] for name in names])


def bundles():
    named = dict(tensors())
    save(OUT / 'all', named)
    with tempfile.TemporaryDirectory() as folder:
        parts = [f'{folder}/part-{i}' for i in range(3)]
        for i, part in enumerate(parts):
            save(part, {name: value for at, (name, value) in enumerate(named.items()) if at % 3 == i})
        tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=str(OUT / 'sharded'), delete_old_dirs=False)
    return {name: describe(value) for name, value in named.items()}


def protos():
    """Each tensor as TensorFlow's make_tensor_proto and as AsProtoField (in typed lists) have it."""
    result = []
    for name, value in tensors():
        result.append({'name': name, 'proto': text(tf.make_tensor_proto(value).SerializeToString(deterministic=True)), **describe(value)})
    splat = tf.make_tensor_proto(np.float32(0.5), shape=[3])
    half = tf.make_tensor_proto(np.float16(0.5), shape=[2])
    for name, proto in [('splat', splat), ('half', half)]:
        result.append({'name': name, 'proto': text(proto.SerializeToString()), **describe(tf.constant(tf.make_ndarray(proto)))})
    return result


def state():
    with tempfile.TemporaryDirectory() as folder:
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), folder, max_to_keep=2, checkpoint_name='mödel "x"')
        for _ in range(3):
            manager.save()
        data = pathlib.Path(folder, 'checkpoint').read_bytes()
        (OUT / 'checkpoint').write_bytes(data)
        read = tf.train.get_checkpoint_state(folder)
        own = [os.path.basename(path) for path in read.all_model_checkpoint_paths]
        return {'model': os.path.basename(read.model_checkpoint_path), 'all': own, 'times': list(read.all_model_checkpoint_timestamps),
                'preserved': read.last_preserved_timestamp}


def snappy():
    """A block packed by TensorFlow's snappy: a data set saved by tf.data has such blocks, each behind its length in big-endian."""
    plain = b'the same words, the same words, ' * 20 + rng.bytes(50) + bytes(1000)
    with tempfile.TemporaryDirectory() as folder:
        tf.data.Dataset.from_tensors(plain).save(folder, compression='SNAPPY')
        for path in sorted(pathlib.Path(folder).rglob('*.snapshot')):
            data = path.read_bytes()
            (length,) = struct.unpack('>I', data[:4])
            return {'packed': text(data[4:4 + length]), 'holds': text(plain)}


golden = {
    'versions': {'tensorflow': tf.__version__, 'numpy': np.__version__},
    'seed': SEED,
    'records': records(),
    'sequence': text(sequence().SerializeToString(deterministic=True)),
    'tensors': bundles(),
    'protos': protos(),
    'state': state(),
    'snappy': snappy(),
}
(OUT / 'golden.json').write_text(json.dumps(golden, indent=1, ensure_ascii=False) + '\n')
