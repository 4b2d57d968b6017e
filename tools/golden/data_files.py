"""Makes the golden files of the file sources of @eagre/data with the real TensorFlow.

    python tools/golden/data_files.py

writes packages/data/golden: TFRecord, text, binary, CSV and picture files, and files.json with the versions, the seed
and what TensorFlow reads in each.
"""

import gzip
import json
import pathlib
import shutil

import numpy as np
import tensorflow as tf

SEED = 20240701
OUT = pathlib.Path(__file__).parents[2] / 'packages' / 'data' / 'golden'
OUT.mkdir(exist_ok=True)
rng = np.random.default_rng(SEED)
golden = {'versions': {'tensorflow': tf.__version__, 'numpy': np.__version__}, 'seed': SEED}


def plain(value):
    if isinstance(value, tf.sparse.SparseTensor):
        return {
            'indices': value.indices.numpy().tolist(),
            'values': plain(value.values),
            'denseShape': value.dense_shape.numpy().tolist(),
        }
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    array = value.numpy()
    if isinstance(array, bytes):
        return array.decode()
    if array.dtype == object:
        return [b.decode() for b in array.ravel().tolist()] if array.ndim == 1 else [plain(v) for v in value]
    return array.tolist()


# --- TFRecords of examples

def example(i):
    features = {
        'id': tf.train.Feature(int64_list=tf.train.Int64List(value=[i - 2, 2**40 + i])),
        'name': tf.train.Feature(bytes_list=tf.train.BytesList(value=[f'näme {i}'.encode()])),
        'raw': tf.train.Feature(bytes_list=tf.train.BytesList(value=[bytes([i, 255, 0])])),
        'words': tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'w'] * i)),
        'weights': tf.train.Feature(float_list=tf.train.FloatList(value=rng.normal(size=i).tolist())),
        'matrix': tf.train.Feature(float_list=tf.train.FloatList(value=rng.normal(size=6).tolist())),
    }
    if i % 2:
        features['sometimes'] = tf.train.Feature(float_list=tf.train.FloatList(value=[i / 3]))
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


records = [example(i) for i in range(4)]
for name, compression in (('examples', ''), ('examples-gzip', 'GZIP'), ('examples-zlib', 'ZLIB')):
    with tf.io.TFRecordWriter(str(OUT / f'{name}.tfrecord'), compression) as writer:
        for record in records:
            writer.write(record)
SPEC = {
    'id': tf.io.FixedLenFeature([2], tf.int64),
    'name': tf.io.FixedLenFeature([], tf.string),
    'matrix': tf.io.FixedLenFeature([2, 3], tf.float32),
    'sometimes': tf.io.FixedLenFeature([], tf.float32, default_value=-1.5),
    'words': tf.io.VarLenFeature(tf.string),
    'weights': tf.io.VarLenFeature(tf.float32),
    'absent': tf.io.VarLenFeature(tf.int64),
    'filled': tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
}
SPEC_ONE = {k: v for k, v in SPEC.items() if k != 'filled'}
golden['single'] = [plain(tf.io.parse_single_example(r, SPEC_ONE)) for r in records]
golden['batch'] = plain(tf.io.parse_example(records, SPEC))

# --- records of several files in turn

for f, count in enumerate((3, 1, 4, 2)):
    (OUT / f'part-{f}.txt').write_text(''.join(f'{f}:{i}\n' for i in range(count)))
parts = [str(OUT / f'part-{f}.txt') for f in range(4)]
golden['turns'] = {
    str(n): [l.numpy().decode() for l in tf.data.TextLineDataset(parts, num_parallel_reads=n)] for n in (1, 2, 3, 8)
}

# --- lines

LINES = {
    'empty': b'', 'none': b'\n', 'last': b'a\nb', 'ended': b'a\n\nb\n', 'returns': b'a\rb\r\n\r\nc\r', 'text': 'ä€😀\n \n'.encode(),
}
golden['lines'] = {}
for name, content in LINES.items():
    (OUT / f'lines-{name}.txt').write_bytes(content)
    golden['lines'][name] = [l.numpy().decode() for l in tf.data.TextLineDataset(str(OUT / f'lines-{name}.txt'))]
(OUT / 'lines.txt.gz').write_bytes(gzip.compress(b'one\ntwo\n', mtime=0))

# --- records of one length

(OUT / 'fixed.bin').write_bytes(bytes(range(3 + 4 * 5 + 2)))
golden['fixed'] = [list(r.numpy()) for r in tf.data.FixedLengthRecordDataset(str(OUT / 'fixed.bin'), 5, 3, 2)]

# --- CSV

CSV = {
    'plain': 'a,b,c\n1,2.5,x\n-3,1e3,"y, z"\n',
    'missing': 'a,b,c\n,2.5,\n4,,w\n,,\n',
    'quotes': 'a,b,c\n1,0.5,"say ""hi"""\n2,.25,"two\nlines"\n',
    'returns': 'a,b,c\r\n1,2,x\r\n3,4,y\r\n',
    'unended': 'a,b,c\n7,8,z',
    'spaces': 'a,b,c\n 1, 2 , x y \n',
    'special': 'a,b,c\n1,nan,q\n2,-inf,r\n',
}
DEFAULTS = [tf.constant([7], tf.int32), tf.constant([0.5], tf.float32), tf.constant(['none'], tf.string)]
golden['csv'] = {}


def attempt(fn):
    try:
        return fn()
    except tf.errors.OpError as error:
        return {'error': error.message}


for name, content in CSV.items():
    path = OUT / f'csv-{name}.csv'
    path.write_bytes(content.encode())
    golden['csv'][name] = attempt(lambda: [
        plain(row) for row in tf.data.experimental.CsvDataset(str(path), DEFAULTS, header=True)
    ])
golden['csvSelected'] = [
    plain(row)
    for row in tf.data.experimental.CsvDataset(
        str(OUT / 'csv-plain.csv'), [tf.float32, tf.string], header=True, select_cols=[1, 2]
    )
]
golden['makeCsv'] = [
    [plain(dict(features)), plain(label)]
    for features, label in tf.data.experimental.make_csv_dataset(
        str(OUT / 'csv-plain.csv'), batch_size=2, label_name='a', num_epochs=1, shuffle=False
    )
]

# --- pictures in folders

def picture(folder, name, height, width, channels=3):
    (OUT / 'pictures' / folder).mkdir(parents=True, exist_ok=True)
    # Smooth, so that the JPEG decoders differ little.
    y, x = np.mgrid[0:height, 0:width]
    planes = [(np.sin(x / (7 + c)) * np.cos(y / (5 + c)) * 100 + 128) for c in range(channels)]
    array = tf.constant(np.stack(planes, -1).astype('uint8'))
    encoded = tf.io.encode_png(array) if name.endswith('.png') else tf.io.encode_jpeg(array, quality=95)
    (OUT / 'pictures' / folder / name).write_bytes(encoded.numpy())


shutil.rmtree(OUT / 'pictures', ignore_errors=True)
picture('cats', 'a.png', 12, 10)
picture('cats', 'b.png', 6, 15)
picture('dogs', 'c.jpg', 16, 16)
picture('dogs', 'd.png', 9, 9, 1)
picture('dogs', 'e.png', 8, 20)


def pictures(**options):
    dataset = tf.keras.utils.image_dataset_from_directory(
        str(OUT / 'pictures'), image_size=(6, 8), shuffle=False, batch_size=None, verbose=False, **options
    )
    return [[plain(image), plain(label)] if options.get('label_mode', 'int') else plain(image) for image, label in dataset]


golden['pictures'] = {
    'bilinear': pictures(),
    'nearest': pictures(interpolation='nearest', label_mode='categorical'),
    'grayscale': pictures(color_mode='grayscale', label_mode='binary'),
    'cropped': pictures(crop_to_aspect_ratio=True),
    'padded': pictures(pad_to_aspect_ratio=True),
}
golden['pictureFiles'] = [p[len(str(OUT)) + 1:] for p in tf.keras.utils.image_dataset_from_directory(
    str(OUT / 'pictures'), shuffle=False, verbose=False).file_paths]
split = {}
for subset in ('training', 'validation'):
    d = tf.keras.utils.image_dataset_from_directory(
        str(OUT / 'pictures'), shuffle=False, validation_split=0.4, subset=subset, verbose=False)
    split[subset] = [p[len(str(OUT)) + 1:] for p in d.file_paths]
golden['split'] = split



def spelled(value):
    """Numbers with the digits of float32; those that JSON lacks as text."""
    if isinstance(value, dict):
        return {k: spelled(v) for k, v in value.items()}
    if isinstance(value, list):
        return [spelled(v) for v in value]
    if isinstance(value, float):
        return float(str(np.float32(value))) if np.isfinite(value) else {'nan': 'NaN', 'inf': 'Infinity', '-inf': '-Infinity'}[str(value)]
    return int(value) if isinstance(value, np.integer) else value


(OUT / 'files.json').write_text(json.dumps(spelled(golden), allow_nan=False) + '\n')
