"""Makes packages/eagre/golden/sparse.json with TensorFlow: functions of sparse tensors, with empty rows and tensors, and gradients.

The calls are those of packages/eagre/tests/sparse.test.ts, by name.

Run: python tools/golden/sparse.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden"

S = tf.sparse
A = tf.SparseTensor([[0, 1], [0, 3], [2, 0], [2, 2]], [1.0, -2.0, 3.0, 4.0], [4, 4])
B = tf.SparseTensor([[0, 1], [1, 1], [2, 3]], [5.0, 6.0, -7.0], [4, 4])
E = tf.SparseTensor(tf.zeros([0, 2], tf.int64), tf.zeros([0]), [3, 4])
U = tf.SparseTensor([[2, 2], [0, 1], [2, 0]], [1, 2, 3], [3, 3])
C = tf.SparseTensor([[0, 1, 0], [1, 0, 2], [1, 1, 1]], [1.0, 2.0, 3.0], [2, 2, 3])
W = tf.SparseTensor([[0, 0], [1, 2]], ["a", "b"], [2, 3])
M = tf.reshape(tf.range(12.0), [4, 3])
IDS = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 0], [3, 1]], tf.constant([1, 3, 0, 1, 1], tf.int64), [4, 2])
WTS = tf.SparseTensor(IDS.indices, [2.0, 0.5, 1.0, 3.0, 0.25], [4, 2])
PARAMS = tf.reshape(tf.range(10.0), [5, 2]) / 3


def text(v):
    if isinstance(v, list):
        return [text(i) for i in v]
    if isinstance(v, bytes):
        return v.decode()
    if isinstance(v, float) and v != v:
        return "nan"
    return v


def plain(x):
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    if isinstance(x, tf.IndexedSlices):
        return {"slices": x.indices.numpy().tolist(), "rows": x.values.numpy().tolist()}
    if isinstance(x, tf.SparseTensor):
        return {
            "indices": x.indices.numpy().tolist(),
            "values": text(x.values.numpy().tolist()),
            "denseShape": x.dense_shape.numpy().tolist(),
            "dtype": x.dtype.name,
        }
    x = tf.convert_to_tensor(x)
    return {"tensor": text(np.asarray(x.numpy()).tolist()), "dtype": x.dtype.name, "shape": x.shape.as_list()}


def gradient(fn, x, *more):
    with tf.GradientTape() as tape:
        tape.watch(x.values)
        for m in more:
            tape.watch(m)
        y = fn(tf.SparseTensor(x.indices, x.values, x.dense_shape), *more)
        y = y.values if isinstance(y, tf.SparseTensor) else y
        y = tf.reduce_sum(y * tf.cast(tf.reshape(tf.range(tf.size(y)) + 1, tf.shape(y)), y.dtype))
    return [tf.convert_to_tensor(g) for g in tape.gradient(y, [x.values, *more])]


CASES = {
    "made": lambda: [A, E, C, W],
    "toDense": lambda: [S.to_dense(A), S.to_dense(A, 9.0), S.to_dense(E), S.to_dense(C), S.to_dense(W), S.to_dense(W, "?"), S.to_dense(U, validate_indices=False)],
    "fromDense": lambda: [S.from_dense([[0.0, 1.0], [2.0, 0.0]]), S.from_dense(tf.zeros([2, 2])), S.from_dense([1, 0, 3]), S.from_dense(["a", "", "b"])],
    "reorder": lambda: S.reorder(U),
    "eye": lambda: [S.eye(3), S.eye(2, 4), S.eye(3, 2, tf.int32)],
    "expandDims": lambda: [S.expand_dims(A), S.expand_dims(A, 0), S.expand_dims(C, 1), S.expand_dims(C, -2)],
    "reshape": lambda: [S.reshape(A, [2, 8]), S.reshape(A, [-1]), S.reshape(C, [3, -1]), S.reshape(E, [12])],
    "resetShape": lambda: [S.reset_shape(A), S.reset_shape(A, [5, 6]), S.reset_shape(C)],
    "transpose": lambda: [S.transpose(A), S.transpose(C, [2, 0, 1])],
    "concat": lambda: [S.concat(0, [A, B]), S.concat(1, [A, B]), S.concat(-1, [A, E], expand_nonconcat_dims=True), S.concat(0, [W, W])],
    "slice": lambda: [S.slice(A, [0, 1], [3, 2]), S.slice(A, [2, 0], [9, 9]), S.slice(C, [1, 0, 0], [1, 2, 2])],
    "split": lambda: [S.split(A, 2, 1), S.split(A, 3, 0), S.split(C, 2, -1)],
    "retain": lambda: [S.retain(A, [True, False, False, True]), S.retain(A, [False] * 4)],
    "fillEmptyRows": lambda: [*S.fill_empty_rows(A, 9.0), *S.fill_empty_rows(E, 1.0), *S.fill_empty_rows(tf.SparseTensor([[0, 0], [2, 1]], ["a", "b"], [3, 3]), "-")],
    "reduceSum": lambda: [S.reduce_sum(A), S.reduce_sum(A, 0), S.reduce_sum(A, 1), S.reduce_sum(A, 1, keepdims=True), S.reduce_sum(C, [0, 2]), S.reduce_sum(C, -1), S.reduce_sum(E, 1), S.reduce_sum(A, 1, output_is_sparse=True), S.reduce_sum(A, 0, keepdims=True, output_is_sparse=True)],
    "reduceMax": lambda: [S.reduce_max(A), S.reduce_max(A, 0), S.reduce_max(A, 1), S.reduce_max(C, [0, 1]), S.reduce_max(B, 1, output_is_sparse=True)],
    "add": lambda: [S.add(A, B), S.add(A, B, threshold=4.5), S.add(A, tf.ones([4, 4])), S.add(tf.ones([4, 4]), A)],
    "extremes": lambda: [S.maximum(A, B), S.minimum(A, B)],
    "matmul": lambda: [S.sparse_dense_matmul(A, M), S.sparse_dense_matmul(A, M, adjoint_a=True), S.sparse_dense_matmul(A, tf.transpose(M), adjoint_b=True), S.sparse_dense_matmul(tf.transpose(M), A), S.sparse_dense_matmul(tf.transpose(M), A, adjoint_b=True), S.sparse_dense_matmul(M, A, adjoint_a=True), S.sparse_dense_matmul(E, M)],
    "softmax": lambda: [S.softmax(A), S.softmax(C)],
    "mapValues": lambda: [S.map_values(tf.square, A), S.map_values(tf.add, A, 1.0)],
    "toIndicator": lambda: S.to_indicator(IDS, 5),
    "bincount": lambda: [
        S.bincount([1, 1, 3, 5]),
        S.bincount([[1, 2, 2], [0, 0, 3]], axis=-1),
        S.bincount([[1, 2, 2], [0, 0, 3]], axis=-1, binary_output=True),
        S.bincount(IDS, axis=-1, minlength=6),
        S.bincount(IDS, axis=-1, weights=WTS),
        S.bincount([1, 1, 3, 5], maxlength=4),
        S.bincount(tf.ragged.constant([[1, 1], [], [2]]), axis=-1),
        S.bincount([1, 5], minlength=2, maxlength=3),
        S.bincount([[1, 2], [5, 5]], axis=None),
    ],
    "shape": lambda: [tf.shape(A), tf.size(A), tf.rank(A)],
    "segments": lambda: [
        S.segment_sum(M, [0, 1, 3], [0, 0, 2]),
        S.segment_mean(M, [0, 1, 3], [0, 0, 2]),
        S.segment_sqrt_n(M, [0, 1, 3], [0, 0, 2]),
        S.segment_sum(M, [0, 1], [0, 1], num_segments=4),
    ],
    "mask": lambda: S.mask(tf.IndexedSlices(M, [12, 26, 37, 45], [100, 3]), [12, 45]),
    "elementwise": lambda: [tf.math.abs(A), tf.square(A), tf.cast(A, tf.int32), A * 2.0, A * tf.range(4.0), A / 2.0],
    "embeddingLookupSparse": lambda: [tf.nn.embedding_lookup_sparse(PARAMS, IDS, w, combiner=c) for w in (None, WTS) for c in ("sum", "mean", "sqrtn")],
    "embeddingLookupSparse maxNorm": lambda: tf.nn.embedding_lookup_sparse(PARAMS, IDS, None, combiner="sum", max_norm=1.0),
    "safeEmbeddingLookupSparse": lambda: [tf.nn.safe_embedding_lookup_sparse(PARAMS, IDS), tf.nn.safe_embedding_lookup_sparse(PARAMS, IDS, WTS, combiner="sum"), tf.nn.safe_embedding_lookup_sparse(PARAMS, IDS, default_id=4)],
    "gradient toDense": lambda: gradient(lambda x: tf.square(S.to_dense(x)), A),
    "gradient matmul": lambda: gradient(lambda x, m: tf.square(S.sparse_dense_matmul(x, m)), A, M),
    "gradient reduceSum": lambda: gradient(lambda x: tf.square(S.reduce_sum(x, 1)), A),
    "gradient add": lambda: gradient(lambda x: S.add(x, B), A),
    "gradient reorder": lambda: gradient(lambda x: S.transpose(x), A),
    "gradient softmax": lambda: gradient(lambda x: S.softmax(x), A),
}

out = {}
for name, fn in CASES.items():
    try:
        out[name] = plain(fn())
    except Exception as e:
        print(name, type(e).__name__, str(e)[:300])
with open(OUT / "sparse.json", "w") as f:
    json.dump({"versions": {"tensorflow": tf.__version__}, "cases": out}, f, separators=(",", ":"))
    f.write("\n")
