"""Makes packages/eagre/golden/ragged.json with TensorFlow: functions of ragged tensors, with empty rows, several ragged ranks, gradients.

The calls are those of packages/eagre/tests/ragged.test.ts, by name.

Run: python tools/golden/ragged.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden"

A = tf.ragged.constant([[3.0, 1.0, 4.0, 1.0], [], [5.0, 9.0, 2.0], [6.0], []])
B = tf.ragged.constant([[0.5, 1.0, 2.0, 1.5], [], [4.0, 2.0, 1.0], [3.0], []])
I = tf.ragged.constant([[3, 1], [], [2, 5, 4]])
D = tf.ragged.constant([[[1.0, 2.0], [3.0]], [], [[4.0, 5.0, 6.0], []], [[]]])
P = tf.ragged.constant([[[1.0, 2.0], [3.0, 4.0]], [], [[5.0, 6.0]]], ragged_rank=1)
E = tf.ragged.constant([[], [], []], dtype=tf.float32)
Z = tf.ragged.constant([[], []], dtype=tf.float32)[:0]
R = tf.ragged.constant([[1.0, 2.0, 3.0], [7.0], [4.0, -5.0]])
C = tf.reduce_mean(tf.ragged.constant([[1 + 2j], [2, 3j]]), axis=1)
W = tf.ragged.constant([["a", "bc"], [], ["d", "ef", "g"]])
G = tf.ragged.constant([[[0, 1], [2, 2]], [], [[3, 0]]], ragged_rank=1)
M = tf.ragged.stack([tf.reshape(tf.range(8.0), [2, 2, 2]), tf.reshape(tf.range(24.0), [4, 3, 2])])
T = tf.RaggedTensor.from_tensor(tf.reshape(tf.range(12.0), [2, 3, 2]), ragged_rank=1)


def plain(x):
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    if isinstance(x, tf.RaggedTensor):
        shape = [None if n is None else int(n) for n in x.shape]
        return {
            "ragged": text(x.to_list()),
            "dtype": x.dtype.name,
            "shape": shape,
            "splits": [s.numpy().tolist() for s in x.nested_row_splits],
            "splitsDtype": x.row_splits.dtype.name,
        }
    if isinstance(x, tf.SparseTensor):
        return {
            "indices": x.indices.numpy().tolist(),
            "values": text(x.values.numpy().tolist()),
            "denseShape": x.dense_shape.numpy().tolist(),
        }
    x = tf.convert_to_tensor(x)
    return {"tensor": text(np.asarray(x.numpy()).tolist()), "dtype": x.dtype.name, "shape": x.shape.as_list()}


def text(v):
    if isinstance(v, list):
        return [text(i) for i in v]
    if isinstance(v, bytes):
        return v.decode()
    if isinstance(v, float) and v != v:
        return "nan"
    return v


def gradient(fn, *xs):
    with tf.GradientTape() as tape:
        flats = [x.flat_values for x in xs]
        tape.watch(flats)
        y = fn(*[x.with_flat_values(f) for x, f in zip(xs, flats)])
        y = y.flat_values if isinstance(y, tf.RaggedTensor) else y
        y = tf.reduce_sum(y * tf.cast(tf.reshape(tf.range(tf.size(y)) + 1, tf.shape(y)), y.dtype))
    return [tf.convert_to_tensor(g) for g in tape.gradient(y, flats)]


CASES = {
    "constant": lambda: [A, I, D, P, E, Z, W, T],
    "constant of a vector": lambda: tf.ragged.constant([1, 2]),
    "constant innerShape": lambda: tf.ragged.constant([[[1, 2]], []], inner_shape=(2,)),
    "toTensor": lambda: [A.to_tensor(), I.to_tensor(), D.to_tensor(), P.to_tensor(), E.to_tensor(), W.to_tensor(), T.to_tensor()],
    "toTensor default": lambda: [A.to_tensor(-1), D.to_tensor(7.5), P.to_tensor([8.0, 9.0]), W.to_tensor("?")],
    "toTensor shape": lambda: [A.to_tensor(shape=[None, 2]), A.to_tensor(shape=[3, 5]), A.to_tensor(-1, shape=[7, None]), D.to_tensor(shape=[None, 1, 2])],
    "toSparse": lambda: [A.to_sparse(), D.to_sparse(), P.to_sparse(), W.to_sparse()],
    "fromSparse": lambda: tf.RaggedTensor.from_sparse(tf.sparse.SparseTensor([[0, 0], [2, 0], [2, 1]], [1, 2, 3], [4, 3])),
    "fromTensor lengths": lambda: [
        tf.RaggedTensor.from_tensor([[1, 2, 3], [4, 5, 6]], lengths=[1, 3]),
        tf.RaggedTensor.from_tensor([[1, 2, 0], [0, 5, 0], [0, 0, 0]], padding=0),
        tf.RaggedTensor.from_tensor(tf.reshape(tf.range(24), [2, 3, 4]), ragged_rank=2),
        tf.RaggedTensor.from_tensor(tf.reshape(tf.range(24), [2, 3, 4]), lengths=([2, 3], [4, 1, 2, 3, 4])),
    ],
    "uniform": lambda: tf.RaggedTensor.from_uniform_row_length(I, 3),
    "rows": lambda: [A.nrows(), A.row_lengths(), A.row_starts(), A.row_limits(), A.value_rowids(), A.bounding_shape(), D.bounding_shape(), P.bounding_shape(), D.bounding_shape(axis=1)],
    "rowLengths": lambda: [D.row_lengths(axis=1), D.row_lengths(axis=2), P.row_lengths(axis=2)],
    "add": lambda: [A + B, A + 1.0, 2.0 + A, I + 1, A + [[10.0], [20.0], [30.0], [40.0], [50.0]], D + 1.0, E + 1.0, P + [10.0, 20.0]],
    "broadcasting": lambda: [
        D + tf.constant([[[10.0]], [[20.0]], [[30.0]], [[40.0]]]),
        T + tf.reshape(tf.range(6.0), [2, 3, 1]),
        T + tf.reshape(tf.range(3.0), [3, 1]),
        P + tf.ragged.constant([[[10.0], [20.0]], [], [[30.0]]], ragged_rank=1),
        tf.expand_dims(A, 2) + tf.constant([1.0, 2.0]),
        tf.constant(1.0) - A,
        tf.constant([[1.0], [2.0]]) * tf.RaggedTensor.from_row_splits([1.0, 2.0, 3.0], [0, 1, 3]),
    ],
    "comparisons": lambda: [A > B, tf.equal(I, 2), tf.logical_not(A > 1.0), tf.maximum(A, B), tf.math.floormod(I, 2), A ** 2.0],
    "unary": lambda: [tf.square(A), tf.exp(E), tf.cast(D, tf.int32), -I, tf.nn.relu(A - 2.0), tf.clip_by_value(A, 2.0, 4.0), tf.zeros_like(D), tf.ones_like(I)],
    "sum": lambda: [tf.reduce_sum(x, axis=a) for x in (A, D, P, E, T) for a in (None, 0, 1)] + [tf.reduce_sum(D, axis=2), tf.reduce_sum(P, axis=2), tf.reduce_sum(D, axis=[1, 2]), tf.reduce_sum(D, axis=[0, 2]), tf.reduce_sum(A, axis=-1)],
    "sum keepdims": lambda: [tf.reduce_sum(A, axis=1, keepdims=True), tf.reduce_sum(A, axis=0, keepdims=True), tf.reduce_sum(A, keepdims=True), tf.reduce_sum(D, axis=2, keepdims=True), tf.reduce_sum(D, axis=1, keepdims=True)],
    "mean": lambda: [tf.reduce_mean(A, axis=1), tf.reduce_mean(A, axis=0), tf.reduce_mean(D, axis=1), tf.reduce_mean(D, axis=2), tf.reduce_mean(A), tf.reduce_mean(D, axis=[1, 2])],
    "extremes": lambda: [tf.reduce_max(I, axis=1), tf.reduce_min(I, axis=1), tf.reduce_max(A, axis=0), tf.reduce_min(D, axis=2), tf.reduce_max(D, axis=1), tf.reduce_max(A)],
    "prod": lambda: [tf.reduce_prod(A, axis=1), tf.reduce_prod(A, axis=0), tf.reduce_prod(D, axis=1), tf.reduce_prod(I)],
    "bools": lambda: [tf.reduce_all(A > 1.0, axis=1), tf.reduce_any(A > 4.0, axis=1), tf.reduce_any(A > 4.0, axis=0)],
    "variance": lambda: [tf.math.reduce_variance(A, axis=0), tf.math.reduce_std(B, axis=0)],
    "concat": lambda: [tf.concat([A, B], 0), tf.concat([A, B], 1), tf.concat([D, D], 2), tf.concat([D, D], 1), tf.concat([A, tf.ones([2, 3])], 0), tf.concat([A, tf.ones([5, 1])], 1), tf.concat([W, W], 1)],
    "stack": lambda: [tf.stack([A, B], 0), tf.stack([A, B], 1), tf.stack([A, B], 2), tf.ragged.stack([tf.constant([1, 2]), tf.constant([3])]), tf.ragged.stack([I, I])],
    "gather": lambda: [tf.gather(A, [3, 0, 0]), tf.gather(A, 2), tf.gather(A, [[0, 1], [2, 3]]), tf.gather(["x", "y", "z"], tf.ragged.constant([[2, 0], [], [1]])), tf.gather(A, tf.ragged.constant([[2, 0], []], dtype=tf.int32)), tf.gather(W, [2, 1])],
    "gather batchDims": lambda: [tf.gather(A, tf.ragged.constant([[3, 0], [], [1], [0], []], dtype=tf.int64), batch_dims=1), tf.gather(tf.constant([[1, 2], [3, 4]]), tf.ragged.constant([[1], [0, 1]]), batch_dims=1)],
    "where": lambda: [tf.where(A > 2.0, A, B), tf.where(A > 2.0, A, tf.zeros_like(A)), tf.where(A > 2.0), tf.where(A > 2.0, A, -1.0)],
    "tile": lambda: [tf.tile(I, [2, 1]), tf.tile(I, [1, 2]), tf.tile(I, [2, 3]), tf.tile(D, [1, 1, 2]), tf.tile(D, [1, 2, 1])],
    "expandDims": lambda: [tf.expand_dims(A, a) for a in (0, 1, 2, -1)] + [tf.expand_dims(P, 3)],
    "squeeze": lambda: [tf.squeeze(tf.ragged.constant([[[1], [2]], [[3]]]), 2), tf.squeeze(tf.ragged.constant([[[1, 2], [3]]]), 0), tf.squeeze(tf.ragged.constant([[[1, 2]], [[3]]]), 1)],
    "reverse": lambda: [tf.reverse(A, [1]), tf.reverse(A, [0]), tf.reverse(D, [0, 2])],
    "size": lambda: [tf.size(A), tf.rank(A), tf.rank(P), tf.size(P)],
    "softmax": lambda: [tf.nn.softmax(A), tf.nn.softmax(D), tf.nn.softmax(P)],
    "matmul": lambda: [tf.matmul(P, tf.reshape(tf.range(18.0), [3, 2, 3])), tf.matmul(P, P, transpose_a=True), tf.matmul(P, P, transpose_b=True)],
    "oneHot": lambda: tf.one_hot(I, 6),
    "at": lambda: [A[0], A[2], A[-2], A[1:3], A[::2], A[::-1], A[3:], A[:, 1:3], A[:, -1:], A[:, :-1], A[:, ::-1], A[:, ::2], A[2, 1], A[2, 1:], A[1:3, :1], A[..., :2], D[0], D[0, 1], D[:, 0:1], D[:, :, 1:], D[0, 1, 0], P[0], P[:, :, 0], P[..., 1], T[:, 1], W[2, 1], A[5:], A[:0]],
    "at newaxis": lambda: [A[tf.newaxis], A[:, tf.newaxis]],
    "range": lambda: [tf.ragged.range([3, 5, 2]), tf.ragged.range([0, 5, 8], [3, 3, 12]), tf.ragged.range([0, 5, 8], [3, 3, 12], 2), tf.ragged.range([0, 5], [8, 2], [2, -1]), tf.ragged.range(3), tf.ragged.range([0.0], [1.0], 0.25)],
    "booleanMask": lambda: [tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, False]]), tf.ragged.boolean_mask(A, A > 2.0), tf.ragged.boolean_mask(A, [True, False, True, False, True]), tf.ragged.boolean_mask(D, [True, False, True, True]), tf.ragged.boolean_mask(D, D > 2.0), tf.ragged.boolean_mask([1, 2, 3], [True, False, True])],
    "segments": lambda: [tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5, 6, 9]), tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2, 3, 4, 4, 4]), tf.ragged.segment_ids_to_row_splits([0, 2], 5)],
    "stackDynamicPartitions": lambda: [tf.ragged.stack_dynamic_partitions(["a", "b", "c", "d", "e"], [3, 0, 2, 2, 3], 5), tf.ragged.stack_dynamic_partitions(A, [1, 0, 1, 0, 2], 3)],
    "mapFlatValues": lambda: [tf.ragged.map_flat_values(tf.square, A), tf.ragged.map_flat_values(tf.add, A, B)],
    "cumsum": lambda: [tf.cumsum(I, axis=1), tf.cumsum(A, axis=-1, exclusive=True)],
    "gradient sum": lambda: gradient(lambda a: tf.reduce_sum(a * a, axis=1), A),
    "gradient mean": lambda: gradient(lambda a: tf.reduce_mean(a * a, axis=0), A),
    "gradient max": lambda: gradient(lambda a: tf.reduce_max(a, axis=1), tf.ragged.constant([[3.0, 1.0], [2.0, 2.0], [5.0]])),
    "gradient add": lambda: gradient(lambda a, b: a * b, A, B),
    "gradient toTensor": lambda: gradient(lambda a: tf.square(a.to_tensor()), A),
    "gradient concat": lambda: gradient(lambda a, b: tf.square(tf.concat([a, b], 1)), A, B),
    "gradient slice": lambda: gradient(lambda a: tf.square(a[:, 1:]), A),
    "gradient softmax": lambda: gradient(lambda a: tf.nn.softmax(a), A),
    "mergeDims": lambda: [A.merge_dims(0, 1), D.merge_dims(0, 1), D.merge_dims(1, 2), D.merge_dims(0, -1), D.merge_dims(1, 1), P.merge_dims(1, 2), P.merge_dims(0, 1), tf.ragged.constant([[[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], []], ragged_rank=2).merge_dims(1, -1)],
    "mapFn": lambda: [tf.map_fn(lambda row: tf.reduce_sum(row), A, fn_output_signature=tf.float32), tf.map_fn(lambda rows: tf.reduce_sum(rows), D, fn_output_signature=tf.float32), tf.map_fn(lambda x: tf.reduce_sum(x[0]) * x[1], (A, tf.range(5.0)), fn_output_signature=tf.float32)],
    "gather in batches": lambda: [tf.gather(R, [1, 0, 1], batch_dims=1), tf.gather(R, [[[0, 0]], [[0, 0]], [[1, 1]]], batch_dims=1), tf.gather(R, tf.ragged.constant([[[[0]], [[1, 2], []]], [[]], [[[1]]]], dtype=tf.int64), batch_dims=1), tf.gather(D, tf.ragged.constant([[[1], [0]], [], [[2, 2], []], [[]]], dtype=tf.int64), batch_dims=2)],
    "by one row": lambda: [R * tf.constant([[2.0]]), R * tf.constant([[2.0], [3.0], [4.0]]), R * tf.constant([2.0]), tf.constant([[[2.0]]]) - D, P * tf.constant([[[2.0, 3.0]]]), P * tf.reshape(tf.range(6.0), [3, 1, 2])],
    "rows in a run": lambda: [tf.ragged.row_splits_to_segment_ids([0, 2, 2, 5]), tf.RaggedTensor.from_uniform_row_length(tf.range(6), 2), tf.gather(D, 2), D[2, 1:], A[0]],
    "mean of complex numbers": lambda: [tf.math.real(C), tf.math.imag(C)],
    "range of a tensor": lambda: tf.ragged.range(tf.constant([3, 1])),
    "gradient mapFn": lambda: gradient(lambda a: tf.map_fn(lambda row: tf.reduce_sum(row * row), a, fn_output_signature=tf.float32), A),
    "gradient deep": lambda: gradient(lambda a: tf.reduce_sum(tf.square(a), axis=1), D),
    "gatherNd": lambda: [tf.gather_nd(D, i) for i in ([[2], [0]], [[0, 0], [2, 1]], [[0, 0, 1], [2, 0, 2]], [2, 0], [2, 0, 1], [[[2], [0]]], [[[0, 0]], [[2, 1]]])]
    + [tf.gather_nd(A, [[0, 1], [2, 2]]), tf.gather_nd(A, [[[0, 1], [2, 2]]]), tf.gather_nd(P, [[0, 1], [2, 0]]), tf.gather_nd(P, [[0, 1, 1], [2, 0, 0]]), tf.gather_nd(A, G), tf.gather_nd(tf.reshape(tf.range(20.0), [4, 5]), G), tf.gather_nd(A, tf.zeros([2, 0], tf.int32)).to_tensor()],
    "gatherNd gradient": lambda: gradient(lambda a: tf.square(tf.gather_nd(a, [[0, 1], [2, 2], [0, 1]])), A),
    "split": lambda: [*tf.split(A, 5), *tf.split(A, [2, 3]), *tf.split(P, 2, 2), *tf.split(P, [1, 0, 1], -1), *tf.split(D, [1, 3], 0), *tf.split(A, 1)],
    "split gradient": lambda: gradient(lambda a: tf.square(tf.split(a, [2, 1, 2])[1]), A),
    "reshape": lambda: [tf.reshape(A, [-1]), tf.reshape(A, [2, 4]), tf.reshape(P, [6]), tf.reshape(D, [3, 2])],
    "dynamicPartition": lambda: [*tf.dynamic_partition(A, [1, 0, 1, 0, 2], 4), *tf.dynamic_partition(I, tf.ragged.constant([[1, 0], [], [0, 2, 0]]), 3), *tf.dynamic_partition(D, [1, 0, 1, 0], 2)],
    "dynamicPartition gradient": lambda: gradient(lambda a: tf.square(tf.dynamic_partition(a, [1, 0, 1, 0, 2], 3)[1]), A),
    "unsorted segments": lambda: [
        op(data, ids, 3)
        for op in (tf.math.unsorted_segment_sum, tf.math.unsorted_segment_prod, tf.math.unsorted_segment_max, tf.math.unsorted_segment_min, tf.math.unsorted_segment_mean, tf.math.unsorted_segment_sqrt_n)
        for data, ids in ((A, [1, 0, 1, 0, 0]), (D, [0, 2, 0, 2]), (A, tf.ragged.constant([[0, 1, 0, 1], [], [2, 2, 0], [1], []])), (P, [0, 0, 1]))
    ],
    "unsorted segments of integers": lambda: [tf.math.unsorted_segment_sum(I, [1, 0, 1], 2), tf.math.unsorted_segment_max(I, I, 6), tf.math.unsorted_segment_mean(I, [1, 0, 1], 2)],
    "unsorted segments gradient": lambda: gradient(lambda a: tf.square(tf.math.unsorted_segment_sum(a, [1, 0, 1, 0, 0], 3)), A),
    "cumsum of all axes": lambda: [tf.cumsum(x, axis=a, exclusive=e, reverse=r) for x in (A, D, P) for a in range(x.shape.rank) for e in (False, True) for r in (False, True)],
    "cumsum gradient": lambda: [gradient(lambda a, axis=axis: tf.square(tf.cumsum(a, axis, reverse=True)), A) for axis in (0, 1)],
    "bincount": lambda: [tf.math.bincount(I), tf.math.bincount(I, axis=-1), tf.math.bincount(I, minlength=8), tf.math.bincount(I, maxlength=4, axis=-1), tf.math.bincount(I, axis=-1, binary_output=True), tf.math.bincount(I, weights=tf.ragged.constant([[0.5, 1.0], [], [2.0, 3.0, 4.0]])), tf.math.bincount(I, weights=tf.ragged.constant([[0.5, 1.0], [], [2.0, 3.0, 4.0]]), axis=-1), tf.math.bincount(I, dtype=tf.float32)],
    "by pairs": lambda: [tf.truncatediv(I, 2), tf.truncatemod(I, tf.ragged.constant([[2, 2], [], [3, 3, 3]])), tf.math.imag(tf.complex(A, B)), tf.nn.sigmoid_cross_entropy_with_logits(labels=B, logits=A), tf.math.nextafter(A, 0.0), tf.math.zeta(A + 1.0, 2.0), tf.math.xlogy(A, B), tf.math.multiply_no_nan(A, B), tf.math.scalar_mul(2.0, A)],
    "by values": lambda: [tf.debugging.check_numerics(A, ""), tf.nn.silu(A), tf.nn.selu(A), tf.image.adjust_brightness(B, 0.25), tf.image.adjust_gamma(B, 2.0, 0.5), tf.image.convert_image_dtype(B, tf.float64), tf.io.encode_base64(W), tf.io.decode_base64(tf.io.encode_base64(W)), tf.io.decode_compressed(W), tf.bitcast(I, tf.float32), tf.image.stateless_random_brightness(A, 0.5, [1, 2]), tf.nn.experimental.stateless_dropout(A, 0.5, [1, 2])],
    "oneHot axes": lambda: [tf.one_hot(I, 6, axis=2), tf.one_hot(tf.cast(P, tf.int32), 7, axis=2), tf.one_hot(tf.cast(P, tf.int32), 7, axis=-1), tf.one_hot(I, 4, on_value=2.0, off_value=-1.0)],
    "image resize": lambda: [tf.image.resize(M, [2, 3]), tf.image.resize(M, [3, 3], method="nearest")],
    "image resize gradient": lambda: gradient(lambda m: tf.square(tf.image.resize(m, [2, 3])), M),
    "mapFn to rows": lambda: [
        tf.map_fn(tf.range, tf.constant([3, 0, 2]), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32, ragged_rank=0)),
        tf.map_fn(lambda r: tf.ragged.stack([r, tf.boolean_mask(r, r > 2.0)]), A, fn_output_signature=tf.RaggedTensorSpec([2, None], tf.float32, row_splits_dtype=tf.int32)),
        tf.map_fn(lambda r: r * 2.0, A, fn_output_signature=tf.RaggedTensorSpec([None], tf.float32, ragged_rank=0)),
        tf.map_fn(lambda n: tf.ones([n, 2]), tf.constant([1, 0, 2]), fn_output_signature=tf.RaggedTensorSpec([None, 2], tf.float32, ragged_rank=0)),
        *tf.map_fn(lambda n: (n * 2, tf.range(n)), tf.constant([1, 0, 2]), fn_output_signature=(tf.int32, tf.RaggedTensorSpec([None], tf.int32, ragged_rank=0))),
        tf.map_fn(tf.range, tf.constant([], tf.int32), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32, ragged_rank=0)),
        tf.map_fn(lambda r: r[:, :1], D, fn_output_signature=tf.RaggedTensorSpec([None, None], tf.float32)),
    ],
    "mapFn to rows like the elements": lambda: [
        tf.map_fn(lambda r: r * 2.0, A),
        tf.map_fn(lambda r: tf.boolean_mask(r, r > 2.0), A),
        tf.map_fn(lambda r: r[:, :1], D),
        tf.map_fn(lambda r: r + 1.0, P),
        tf.map_fn(lambda r: tf.concat([r, r], 0), I),
        *tf.map_fn(lambda x: (x[0] * x[1], x[1] + 1.0), (A, tf.range(5.0))),
        tf.map_fn(lambda r: r + 1, tf.RaggedTensor.from_row_lengths(tf.constant([], tf.int32), tf.constant([], tf.int64))),
    ],
    "mapFn to rows like the elements gradient": lambda: gradient(lambda a: tf.square(tf.map_fn(lambda r: r * r[:1], tf.gather(a, [0, 2, 3]))), A),
    "mapFn to rows gradient": lambda: gradient(lambda a: tf.map_fn(lambda r: tf.square(tf.boolean_mask(r, r > 2.0)), a, fn_output_signature=tf.RaggedTensorSpec([None], tf.float32, ragged_rank=0)), A),
}

out = {}
for name, fn in CASES.items():
    try:
        out[name] = plain(fn())
    except Exception as e:
        print(name, type(e).__name__, str(e)[:200])
with open(OUT / "ragged.json", "w") as f:
    json.dump({"versions": {"tensorflow": tf.__version__}, "cases": out}, f, separators=(",", ":"))
    f.write("\n")
