"""Event files by real TensorFlow and TensorBoard, and what is in them: packages/summary/golden.

`v2.tfevents` is written by tf.summary, `v1.tfevents` by the FileWriter of TensorFlow 1 with values of the old kinds, `torch.tfevents` by
PyTorch. `golden.json` has what went in, the buckets of histograms, and the group names of hyperparameters. Needs tensorboard beside tensorflow. Run with the versions that
the file names:

    python tools/golden/summaries.py
"""

import glob
import json
import os
import pathlib
import shutil
import tempfile

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import numpy as np  # noqa: E402
import tensorboard  # noqa: E402
import tensorflow as tf  # noqa: E402
import torch  # noqa: E402
from tensorboard.plugins.histogram import summary_v2 as histogram_v2  # noqa: E402
from tensorboard.plugins.hparams import api as hp  # noqa: E402
from tensorboard.plugins.hparams import summary_v2 as hparams_v2  # noqa: E402
from torch.utils.tensorboard import SummaryWriter  # noqa: E402

OUT = pathlib.Path(__file__).parents[2] / 'packages/summary/golden'
SEED = 7
rng = np.random.default_rng(SEED)
golden = {
    'versions': {'tensorflow': tf.__version__, 'tensorboard': tensorboard.__version__, 'torch': torch.__version__, 'numpy': np.__version__},
    'seed': SEED,
}


def floats(array):
    """JSON has no infinities."""
    return [v if np.isfinite(v) else str(v) for v in np.asarray(array, np.float64).reshape(-1).tolist()]


def only_file(folder):
    (path,) = glob.glob(f'{folder}/*tfevents*')
    return path


def v2():
    folder = tempfile.mkdtemp()
    images = rng.random([4, 3, 5, 3], np.float32) * 1.2 - 0.1
    bytes_ = rng.integers(0, 256, [2, 4, 2, 4], np.uint8)
    integers = rng.integers(-(2**31), 2**31 - 1, [1, 2, 3, 1]).astype(np.int32)
    clips = (rng.random([2, 6, 2], np.float32) * 2.4 - 1.2).astype(np.float32)
    values = rng.normal(size=[50]).astype(np.float32)
    writer = tf.summary.create_file_writer(folder)
    with writer.as_default():
        for step in range(3):
            tf.summary.scalar('loss', 0.5**step, step=step, description='the *loss*' if step == 0 else None)
        with tf.name_scope('scope'):
            tf.summary.scalar('count', 3, step=2**40)
        tf.summary.histogram('values', values, step=1)
        tf.summary.histogram('few', [1.0, 2.0, 3.0], step=1, buckets=4)
        tf.summary.image('pictures', images, step=2, max_outputs=3)
        tf.summary.image('bytes', bytes_, step=2)
        tf.summary.image('integers', integers, step=2)
        tf.summary.text('note', 'Grüße, *world*', step=3)
        tf.summary.text('table', [['a', 'b'], ['c', 'd']], step=3)
        tf.summary.audio('sound', clips, 8000, step=4)
        tf.summary.write('raw', tf.constant([[1, 2], [3, 4]], tf.int64), step=5)
        tf.summary.write('ones', tf.ones([2, 3]), step=5)

        @tf.function
        def double(x):
            return x + x

        concrete = double.get_concrete_function(tf.TensorSpec([2]))
        tf.summary.graph(concrete.graph)
        tf.summary.trace_on()
        double(tf.constant([1.0, 2.0]))
        tf.summary.trace_export('trace', step=6)
        hp.hparams_config(
            hparams=[
                hp.HParam('units', hp.Discrete([32, 16]), display_name='Units', description='how many'),
                hp.HParam('rate', hp.RealInterval(0.001, 0.1)),
                hp.HParam('depth', hp.IntInterval(1, 4)),
                hp.HParam('optimizer', hp.Discrete(['sgd', 'adam'])),
                hp.HParam('bias', hp.Discrete([True, False])),
                hp.HParam('free'),
            ],
            metrics=[hp.Metric('accuracy', group='validation', display_name='Accuracy', dataset_type=hp.Metric.VALIDATION)],
            time_created_secs=1234.5,
        )
        hp.hparams({'units': 16, 'rate': 0.001, 'optimizer': 'adam', 'bias': True}, start_time_secs=2345.5)
    writer.close()
    shutil.copy(only_file(folder), OUT / 'v2.tfevents')
    golden['v2'] = {
        'images': floats(images),
        'bytes': bytes_.reshape(-1).tolist(),
        'integers': integers.reshape(-1).tolist(),
        'clips': floats(clips),
        'values': floats(values),
        'pixels': tf.image.convert_image_dtype(images, tf.uint8, saturate=True).numpy().reshape(-1).tolist(),
        'integer_pixels': tf.image.convert_image_dtype(integers, tf.uint8, saturate=True).numpy().reshape(-1).tolist(),
    }


def v1():
    folder = tempfile.mkdtemp()
    v1 = tf.compat.v1
    with v1.Graph().as_default():
        writer = v1.summary.FileWriter(folder)
        histogram = v1.HistogramProto(min=-1, max=2, num=3, sum=1.5, sum_squares=5.25, bucket_limit=[0, 1, 2], bucket=[1, 0, 2])
        image = v1.Summary.Image(height=1, width=2, colorspace=1, encoded_image_string=b'\x89PNG')
        audio = v1.Summary.Audio(sample_rate=8000, num_channels=1, length_frames=2, encoded_audio_string=b'RIFF', content_type='audio/wav')
        for step, value in enumerate(
            [
                dict(tag='loss', simple_value=0.25),
                dict(tag='weights', histo=histogram),
                dict(tag='picture', image=image),
                dict(tag='sound', audio=audio),
            ]
        ):
            writer.add_summary(v1.Summary(value=[v1.Summary.Value(**value)]), step)
        writer.add_session_log(v1.SessionLog(status=v1.SessionLog.START), 9)
        writer.close()
    shutil.copy(only_file(folder), OUT / 'v1.tfevents')


def pytorch():
    folder = tempfile.mkdtemp()
    with SummaryWriter(folder) as writer:
        writer.add_scalar('loss', 0.25, 1)
        writer.add_scalar('new', 0.5, 2, new_style=True)
        writer.add_histogram('values', np.float32([1, 2, 2, 3]), 3, bins=2)
        writer.add_image('picture', np.zeros([3, 2, 4], np.uint8), 4)
        writer.add_text('note', 'Grüße', 5)
        writer.add_hparams({'rate': 0.5, 'name': 'sgd', 'bias': True}, {'accuracy': 0.75}, run_name='.')
    paths = sorted(glob.glob(f'{folder}/*tfevents*'), key=os.path.getsize)
    with open(OUT / 'torch.tfevents', 'wb') as out:
        for path in reversed(paths):
            out.write(pathlib.Path(path).read_bytes())


def histograms():
    cases = {
        'three': ([1.0, 2.0, 3.0], 4),
        'equal': ([2.5, 2.5, 2.5], 30),
        'empty': ([], 30),
        'no_buckets': ([1.0, 2.0], 0),
        'one': ([1.0, 5.0], 1),
        'normal': (rng.normal(size=[40]).tolist(), 7),
        'default': (rng.normal(size=[100]).tolist(), 30),
    }
    golden['histograms'] = []
    for name, (values, buckets) in cases.items():
        rows = histogram_v2._buckets(tf.constant(values, tf.float64), buckets).numpy()
        golden['histograms'].append({'name': name, 'values': values, 'buckets': buckets, 'rows': floats(rows), 'shape': list(rows.shape)})


def group_names():
    cases = [
        {'units': 16, 'rate': 0.001},
        {'rate': 1e-05, 'big': 1e22, 'bigger': 123456789.125, 'small': -2.5e-07},
        {'é': 'Grüße "x"\n', 'flag': True, 'other': False, 'a\U0001f600': 'b\U0001f600'},
        {},
    ]
    golden['group_names'] = [{'hparams': c, 'name': hparams_v2._derive_session_group_name(None, c)} for c in cases]


v2()
v1()
pytorch()
histograms()
group_names()
OUT.mkdir(exist_ok=True)
(OUT / 'golden.json').write_text(json.dumps(golden, separators=(',', ':')) + '\n')
for path in sorted(OUT.iterdir()):
    print(path.name, path.stat().st_size)
