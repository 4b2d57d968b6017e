"""Makes packages/data/golden/experimental.json: what transformations of tf.data.experimental give.

Run: python tools/golden/data_experimental.py
"""

import json
import os
import pathlib

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).parents[2] / "packages/data/golden/experimental.json"
E = tf.data.experimental
D = tf.data.Dataset


def plain(x):
    if isinstance(x, tf.SparseTensor):
        return {"indices": plain(x.indices), "values": plain(x.values), "denseShape": plain(x.dense_shape)}
    if isinstance(x, tf.RaggedTensor):
        return x.to_list()
    if isinstance(x, (tuple, list)):
        return [plain(v) for v in x]
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    v = x.numpy()
    if isinstance(v, bytes):
        return v.decode()
    if isinstance(v, np.ndarray) and v.dtype == object:
        return [s.decode() for s in v.tolist()]
    return v.tolist()


def elements(ds):
    return [plain(x) for x in ds]


def to(n):
    return D.range(n)


def growing(n):
    return to(n).map(lambda x: tf.fill([x + 1], x))


cases = {
    "groupByReducer": elements(
        to(10).apply(
            E.group_by_reducer(
                lambda x: (7 - x) % 3,
                E.Reducer(lambda key: (key, tf.constant(0, tf.int64)), lambda s, x: (s[0], s[1] + x), lambda key, total: total * 10 + key),
            )
        )
    ),
    "padToCardinality": elements(D.from_tensor_slices({"a": [1, 2], "b": [[1.0, 2.0], [3.0, 4.0]]}).apply(E.pad_to_cardinality(4))),
    "padToCardinality full": elements(D.from_tensor_slices({"a": [1, 2]}).apply(E.pad_to_cardinality(2, mask_key="real"))),
    "denseToSparseBatch": elements(growing(4).apply(E.dense_to_sparse_batch(3, [5]))),
    "denseToSparseBatch largest": elements(growing(3).apply(E.dense_to_sparse_batch(2, [None]))),
    "denseToRaggedBatch": elements(growing(4).apply(E.dense_to_ragged_batch(3))),
    "mapAndBatch": elements(to(7).apply(E.map_and_batch(lambda x: x * 2, 3))),
    "mapAndBatch whole": elements(to(7).apply(E.map_and_batch(lambda x: x * 2, 3, drop_remainder=True))),
    "parallelInterleave": elements(to(4).apply(E.parallel_interleave(lambda x: D.range(x * 10, x * 10 + 3), cycle_length=2, block_length=2))),
    "chooseFromDatasets": elements(E.choose_from_datasets([to(2), D.range(10, 15)], D.from_tensor_slices(np.array([0, 1, 0, 0, 1, 1], np.int64)))),
    "chooseFromDatasets stop": elements(
        E.choose_from_datasets([to(2), D.range(10, 15)], D.from_tensor_slices(np.array([0, 1, 0, 0, 1, 1], np.int64)), stop_on_empty_dataset=True)
    ),
    "scan": elements(to(5).apply(E.scan(np.int64(1), lambda s, x: (s + x, s * x)))),
    "takeWhile": elements(to(5).apply(E.take_while(lambda x: x < 3))),
    "unique": elements(D.from_tensor_slices([1, 2, 1, 3, 2]).apply(E.unique())),
    "unbatch": elements(to(5).batch(2).apply(E.unbatch())),
    "enumerateDataset": elements(to(3).apply(E.enumerate_dataset(start=5))),
    "groupByWindow": elements(to(7).apply(E.group_by_window(lambda x: x % 2, lambda k, ds: ds.batch(2), window_size=2))),
    "Counter": elements(E.Counter(3, 2).take(3)),
    "fromList": elements(E.from_list([(1, "a"), (2, "b")])),
}

keys = D.from_tensor_slices(["x", "y", "z"])
asked = tf.constant(["z", "x", "nothing", "else", "more"])
table = E.index_table_from_dataset(keys)
buckets = E.index_table_from_dataset(keys, num_oov_buckets=5)
few = E.index_table_from_dataset(keys, vocab_size=2, default_value=-7)
pairs = E.table_from_dataset(D.zip((to(3), to(3).map(lambda x: tf.strings.as_string(x * 2)))), default_value="n/a", key_dtype=tf.int64)
cases["tables"] = {
    "index": plain(table.lookup(asked)),
    "buckets": plain(buckets.lookup(asked)),
    "few": plain(few.lookup(asked)),
    "sizes": [plain(table.size()), plain(few.size())],
    "pairs": plain(pairs.lookup(tf.constant([2, 0, 9], tf.int64))),
}

OUT.write_text(json.dumps({"tensorflow": tf.__version__, "cases": cases}, indent=1) + "\n")
