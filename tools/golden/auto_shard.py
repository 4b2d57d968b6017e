"""Makes packages/eagre/golden/auto_shard.json: what each of several workers reads of a dataset, by each policy of TensorFlow.

The two steps of `experimental_distribute_dataset` (rebatch, then auto-shard) are done here for each worker by itself, so that no cluster is needed.

Run: python tools/golden/auto_shard.py
"""

import json
import os
import pathlib
import tempfile

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from tensorflow.python.data.experimental.ops import distribute
from tensorflow.python.distribute import input_ops

OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden/auto_shard.json"
FOLDER = tempfile.mkdtemp()
FILES = [os.path.join(FOLDER, f"{i}.txt") for i in range(4)]
for i, path in enumerate(FILES):
    with open(path, "w") as f:
        f.write("".join(f"{i * 10 + k}\n" for k in range(5 if i < 3 else 2)))

numbers = lambda ds: ds.map(lambda line: tf.strings.to_number(line, tf.int64))
HINT = tf.data.experimental.SHARD_HINT
SOURCES = {
    "range": lambda: tf.data.Dataset.range(11),
    "lines": lambda: numbers(tf.data.TextLineDataset(FILES)),
    "oneFile": lambda: numbers(tf.data.TextLineDataset(FILES[:1])),
    "listed": lambda: numbers(tf.data.TextLineDataset(tf.data.Dataset.list_files(FOLDER + "/*.txt", shuffle=False))),
    "interleaved": lambda: numbers(
        tf.data.Dataset.from_tensor_slices(FILES).interleave(tf.data.TextLineDataset, cycle_length=2)
    ),
    "flat": lambda: numbers(tf.data.Dataset.list_files(FOLDER + "/*.txt", shuffle=False).flat_map(tf.data.TextLineDataset)),
    "zipped": lambda: tf.data.Dataset.zip((numbers(tf.data.TextLineDataset(FILES)), numbers(tf.data.TextLineDataset(FILES[::-1])))).map(lambda a, b: a + b),
    "zippedRange": lambda: tf.data.Dataset.zip((numbers(tf.data.TextLineDataset(FILES)), tf.data.Dataset.range(100))).map(lambda a, b: a * 1000 + b),
    "joined": lambda: numbers(tf.data.TextLineDataset(FILES)).concatenate(numbers(tf.data.TextLineDataset(FILES[:2]))),
    "repeated": lambda: numbers(tf.data.TextLineDataset(FILES)).repeat(2),
    "hinted": lambda: tf.data.Dataset.range(11).shard(HINT, HINT).map(lambda x: x * 2),
    "twoHints": lambda: tf.data.Dataset.zip((tf.data.Dataset.range(11).shard(HINT, HINT), tf.data.Dataset.range(100, 111).shard(HINT, HINT))).map(lambda a, b: a * 1000 + b),
}
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 4
)
POLICIES = ["AUTO", "FILE", "DATA", "OFF", "HINT"]


def read(source, policy, workers, size):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = getattr(tf.data.experimental.AutoShardPolicy, policy)
    found = []
    for w in range(workers):
        try:
            ds = SOURCES[source]().batch(size).with_options(options)
            if workers > 1:
                ds = ds.rebatch(distribute.batch_sizes_for_worker(size, workers, 1, w)).prefetch(1)
            ds = input_ops.auto_shard_dataset(ds, workers, w, workers)
            found.append([np.asarray(x).tolist() for x in ds])
        except tf.errors.OpError as error:
            print(source, policy, workers, w, type(error).__name__, str(error)[:300].replace("\n", " "))
            found.append(type(error).__name__)
        except ValueError as error:
            print(source, policy, workers, w, type(error).__name__, str(error)[:200].replace("\n", " "))
            found.append(type(error).__name__)
    return found


def local_parts(replicas, count, size, policy):
    """The parts of the replicas of one process."""
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = getattr(tf.data.experimental.AutoShardPolicy, policy)
    strategy = tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(replicas)])
    data = tf.data.Dataset.range(count).batch(size).with_options(options)
    return [
        [np.asarray(x).tolist() for x in strategy.experimental_local_results(b)]
        for b in strategy.experimental_distribute_dataset(data)
    ]


local = [
    {"replicas": r, "count": c, "size": s, "policy": p, "parts": local_parts(r, c, s, p)}
    for r, c, s in ((2, 9, 4), (3, 9, 5), (4, 11, 6), (3, 8, 7))
    for p in POLICIES
]
cases = []
for source in SOURCES:
    for policy in POLICIES:
        for workers in (1, 2, 3):
            for size in (4, 3) if source in ("range", "lines") else (4,):
                cases.append(
                    {"source": source, "policy": policy, "workers": workers, "size": size, "read": read(source, policy, workers, size)}
                )
sizes = [
    {"arguments": a, "sizes": [np.asarray(distribute.batch_sizes_for_worker(*a, w)).tolist() for w in range(a[1])]}
    for a in ([7, 2, 2], [4, 2, 1], [8, 3, 1], [3, 4, 1], [10, 3, 2])
]
result = {"versions": {"tensorflow": tf.__version__}, "batchSizes": sizes, "local": local, "cases": cases}
OUT.write_text(json.dumps(result, separators=(",", ":")) + "\n")
print(OUT, OUT.stat().st_size)
