"""Makes packages/eagre/golden/list-ops.json with TensorFlow: ops that lists of TensorFlow's names had and Eagre lacked.

Run: python tools/golden/list_ops.py
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import json

import numpy as np
import tensorflow as tf
from cases import PACKAGES, Cases, values

SEED = 97
rng = np.random.default_rng(SEED)
c = Cases("list_ops.py", SEED)
nn = tf.nn


def floats(*shape, low=-2.0, high=2.0, dtype="float32"):
    return np.round(rng.uniform(low, high, size=shape), 2).astype(dtype)


# ---- losses with sampled classes
for true, dtype in [(1, "float32"), (2, "float64")]:
    labels = rng.integers(0, 7, size=(4, true)).astype("int64")
    sampled = np.array([0, 3, 5, int(labels[0, 0]), 3][:5], "int64")
    given = (sampled, floats(4, true, low=0.1, high=0.9, dtype=dtype), floats(5, low=0.1, high=0.9, dtype=dtype))
    for remove in [False, True]:
        more = {"num_true": true, "remove_accidental_hits": remove}
        c.add("nn.sampledSoftmaxLoss", nn.sampled_softmax_loss, floats(7, 3, dtype=dtype), floats(7, dtype=dtype), labels, floats(4, 3, dtype=dtype), 5, 7, sampled_values=given, **more)
        c.add("nn.nceLoss", nn.nce_loss, floats(7, 3, dtype=dtype), floats(7, dtype=dtype), labels, floats(4, 3, dtype=dtype), 5, 7, sampled_values=given, **more)
    c.add("nn.computeAccidentalHits", nn.compute_accidental_hits, labels, sampled, true)
c.add("nn.computeAccidentalHits", nn.compute_accidental_hits, np.array([[9], [8]], "int64"), np.array([1, 2], "int64"), 1)
c.add("random.allCandidateSampler", tf.random.all_candidate_sampler, np.array([[1], [2]], "int64"), 1, 5, False)

# ---- samplers: by TensorFlow's generator of given seeds

true_classes = np.array([[0, 3], [2, 6]], "int64")
raw = tf.raw_ops
made = []
for unique in [False, True]:
    common = {"true_classes": true_classes, "num_true": 2, "num_sampled": 5, "unique": unique, "seed": 2**33 + 3, "seed2": 2**35 + 5}
    unigrams = [1.0, 2.0, 3.0, 4.0, 3.0, 0.5, 1.0, 0.25, 7.0]
    for name, op, more in [
        ("uniform", raw.UniformCandidateSampler, {"range_max": 9}),
        ("uniform8", raw.UniformCandidateSampler, {"range_max": 8}),
        ("logUniform", raw.LogUniformCandidateSampler, {"range_max": 50}),
        ("learned", raw.LearnedUnigramCandidateSampler, {"range_max": 11}),
        ("fixed", raw.FixedUnigramCandidateSampler, {"range_max": 9, "unigrams": unigrams}),
        ("distorted", raw.FixedUnigramCandidateSampler, {"range_max": 9, "unigrams": unigrams, "distortion": 0.75}),
    ]:
        y = op(**common, **more)
        made.append({"name": name, "unique": unique, "range": more["range_max"], "result": [values(t) for t in y]})
(PACKAGES / "eagre/golden/candidates.json").write_text(json.dumps({"tensorflow": tf.__version__, "script": "list_ops.py", "samples": made}, separators=(",", ":")) + "\n")

# ---- sequences and rows
S = tf.SparseTensor


def sparse(indices, vals, shape):
    return tf.SparseTensor(np.array(indices, "int64").reshape(-1, len(shape)), vals, shape)


for rows in [np.arange(6, dtype="int32").reshape(3, 2), floats(4, 3, 2), np.arange(5, dtype="int64"), np.arange(3, dtype="uint8"), np.ones([2, 70], "float32")]:
    c.add("fingerprint", tf.fingerprint, rows, grad=False)
for text in [["a", "bb", "c" * 40], [["a", "b"], ["c", "d" * 70]]]:
    c.add("fingerprint", tf.fingerprint, np.array(text), grad=False, traced=False)
c.add("fingerprint", tf.fingerprint, np.array(3, "int32"))
for dec in [True, False]:
    for axis in [-1, 0]:
        c.add("nn.isotonicRegression", nn.isotonic_regression, floats(4, 5), decreasing=dec, axis=axis)
c.add("nn.isotonicRegression", nn.isotonic_regression, floats(6, dtype="float64"), grad=False)
c.add("nn.isotonicRegression", nn.isotonic_regression, np.array([[3, 1, 2, 2]], "int32"), grad=False)
c.add("nn.isotonicRegression", nn.isotonic_regression, np.array([[3, 1, 2, 2]], "int16"), grad=False)
c.add("nn.ctcUniqueLabels", nn.ctc_unique_labels, np.array([[3, 4, 4, 3], [1, 2, 0, 0]], "int32"))
c.add("nn.ctcUniqueLabels", nn.ctc_unique_labels, np.array([[5, 5]], "int64"))
for alg in [None, "philox"]:
    more = {} if alg is None else {"rng_alg": alg}
    c.add("nn.experimental.statelessDropout", nn.experimental.stateless_dropout, floats(4, 6), 0.4, seed=np.array([1, 2], "int32"), **more)
c.add("nn.experimental.statelessDropout", nn.experimental.stateless_dropout, floats(4, 6, dtype="float64"), 0.7, seed=np.array([1, 2], "int64"), noise_shape=[4, 1])
for k, fmt in [(1, "CHANNELS_LAST")]:
    c.add("conv", tf.conv, floats(2, 5, 6, 2 * k), floats(2, 2, 2, 4), [1, 1, 2, 1], "SAME", data_format=fmt, groups=k)
c.add("conv", tf.conv, floats(2, 2, 4, 5, 2), floats(2, 2, 2, 3), [1, 1, 1, 1], "VALID", batch_dims=2)
c.add("conv", tf.conv, floats(1, 3, 4, 5, 2), floats(2, 2, 2, 2, 3), [1, 1, 1, 1, 1], "VALID")
c.add("conv", tf.conv, floats(1, 5, 6, 2), floats(2, 2, 2, 3), [1, 1, 1, 1], "VALID", dilations=[1, 2, 1, 1])
c.add("conv", tf.conv, floats(1, 5, 6, 2), floats(2, 2, 2, 3), [1, 1, 1, 1], "EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0])
c.add("conv", tf.conv, floats(1, 5, 6, 2), floats(2, 2, 2, 3), [2, 1, 1, 1], "VALID")
c.add("matrixSquareRoot", tf.matrix_square_root, np.array([[4.0, 1.0], [1.0, 3.0]], "float64"))

# ---- quantization
q = tf.quantization
X = floats(3, 4, low=-8, high=8)
s = lambda v: np.array(v, "float32")
for signed, narrow, mode in [(True, False, "HALF_TO_EVEN"), (False, False, "HALF_UP"), (True, True, "HALF_UP")]:
    for given in [True, False]:
        for name, fn in [("quantizeAndDequantize", q.quantize_and_dequantize), ("quantizeAndDequantizeV2", q.quantize_and_dequantize_v2)]:
            c.add(f"quantization.{name}", fn, X, s(-3.1), s(4.2), signed_input=signed, num_bits=5, range_given=given, round_mode=mode, narrow_range=narrow)
c.add("quantization.quantizeAndDequantize", q.quantize_and_dequantize, np.zeros([3], "float32"), s(0), s(0))
c.add("quantization.fakeQuantWithMinMaxArgsGradient", q.fake_quant_with_min_max_args_gradient, floats(3, 4), X, grad=False)
c.add("quantization.fakeQuantWithMinMaxArgsGradient", q.fake_quant_with_min_max_args_gradient, floats(3, 4), X, min=-1.3, max=3.0, num_bits=4, narrow_range=True, grad=False)
c.add("quantization.fakeQuantWithMinMaxVarsGradient", q.fake_quant_with_min_max_vars_gradient, floats(3, 4), X, s(-2.1), s(4.3), num_bits=5, grad=False)
c.add("quantization.fakeQuantWithMinMaxVarsGradient", q.fake_quant_with_min_max_vars_gradient, floats(3, 4), X, s(0), s(0), grad=False)
c.add("quantization.fakeQuantWithMinMaxVarsPerChannelGradient", q.fake_quant_with_min_max_vars_per_channel_gradient, floats(3, 4), X, floats(4, low=-4, high=-1), floats(4, low=1, high=4), grad=False)

# ---- glimpses: without noise
for centered in [True, False]:
    for normalized in [True, False]:
        scale = 1.0 if normalized else 3.0
        c.add("image.extractGlimpse", tf.image.extract_glimpse, floats(2, 6, 7, 2), [3, 4], np.round(rng.uniform(-scale, scale, size=(2, 2)), 2).astype("float32"), centered=centered, normalized=normalized, noise="zero", grad=False)
        c.add("image.extractGlimpse", tf.image.extract_glimpse, floats(2, 6, 7, 1), [3, 3], np.array([[0, 0], [0.2, 0.1]], "float32"), centered=centered, normalized=normalized, noise="zero", grad=False)

# ---- what is not a call with tensors
extra = {}


def texts(t):
    return {"indices": t.indices.numpy().tolist(), "shape": t.dense_shape.numpy().tolist(), "values": [v.decode() if isinstance(v, bytes) else str(v) for v in t.values.numpy().tolist()]}


A = sparse([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [3, 2])
B = sparse([[0, 0], [1, 0], [2, 0]], ["d", "ee", "f"], [3, 1])
D = tf.constant([["x"], ["yy"], ["z"]])
I = sparse([[0, 1], [1, 0], [2, 1]], np.array([5, -7, 9], "int64"), [3, 2])
J = tf.constant([[1, 2], [3, 4], [5, 6]])
extra["sparseCross"] = [
    texts(tf.sparse.cross([A, B, D])),
    texts(tf.sparse.cross([D, A], separator="_Y_")),
    texts(tf.sparse.cross([I, J])),
    texts(tf.sparse.cross_hashed([A, B, D])),
    texts(tf.sparse.cross_hashed([A, B, D], num_buckets=100)),
    texts(tf.sparse.cross_hashed([I, J, A], num_buckets=1000, hash_key=17)),
    texts(tf.sparse.cross_hashed([D, D])),
]
R = tf.ragged.constant([["a"], ["b", "c"], []])
N = tf.ragged.constant([[1], [2, -3], [4]], dtype="int64", row_splits_dtype="int32")


def ragged(t):
    return {"splits": t.row_splits.numpy().tolist(), "dtype": t.row_splits.dtype.name, "values": [v.decode() if isinstance(v, bytes) else str(v) for v in t.flat_values.numpy().tolist()]}


extra["raggedCross"] = [
    ragged(tf.ragged.cross([R, D, I])),
    ragged(tf.ragged.cross([N, J])),
    ragged(tf.ragged.cross_hashed([R, B], num_buckets=100)),
    ragged(tf.ragged.cross_hashed([N, R.with_row_splits_dtype("int32")], hash_key=3)),
]
hyp = sparse([[0, 0, 0], [1, 0, 0], [1, 0, 1], [1, 1, 1]], ["a", "b", "c", "z"], [2, 2, 2])
truth = sparse([[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]], ["a", "b", "c", "a"], [2, 2, 2])
ih = sparse([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], np.array([1, 2, 3, 4, 5], "int64"), [3, 3])
it = sparse([[0, 0], [1, 0], [1, 1], [2, 0]], np.array([1, 4, 5, 6], "int64"), [3, 2])
extra["editDistance"] = [values(tf.edit_distance(hyp, truth)), values(tf.edit_distance(hyp, truth, normalize=False)), values(tf.edit_distance(ih, it)), values(tf.edit_distance(ih, it, normalize=False))]

op = tf.linalg.LinearOperatorFullMatrix
M = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 5]])
b = np.array([1.0, 2, 3])
A1 = op(M, is_self_adjoint=True, is_positive_definite=True)
P = tf.linalg.LinearOperatorDiag(1 / np.diag(M), is_self_adjoint=True, is_positive_definite=True)
cg = tf.linalg.experimental.conjugate_gradient
runs = [cg(A1, tf.constant(b)), cg(A1, tf.constant(b), max_iter=2), cg(A1, tf.constant(b), preconditioner=P, tol=1e-9), cg(A1, tf.constant(b), x=tf.constant([1.0, 1, 1], "float64")), cg(A1, tf.constant(np.stack([b, 2 * b[::-1]])))]
extra["conjugateGradient"] = [[values(t) for t in run] for run in runs]

V = (rng.permutation(2 * 11 * 13 * 2).reshape(2, 11, 13, 2) / 100).astype("float32")
pools = []
for overlapping in [False, True]:
    for pseudo in [False, True]:
        for kind, fn in [("fractionalMaxPool", nn.fractional_max_pool), ("fractionalAvgPool", nn.fractional_avg_pool)]:
            y, rows, cols = fn(V, [1, 1.44, 1.73, 1], pseudo_random=pseudo, overlapping=overlapping, seed=7)
            v = tf.constant(V)
            grad = (tf.raw_ops.FractionalMaxPoolGrad(orig_input=v, orig_output=y, out_backprop=tf.ones_like(y), row_pooling_sequence=rows, col_pooling_sequence=cols, overlapping=overlapping) if kind == "fractionalMaxPool"
                    else tf.raw_ops.FractionalAvgPoolGrad(orig_input_tensor_shape=tf.shape(v, out_type="int64"), out_backprop=tf.ones_like(y), row_pooling_sequence=rows, col_pooling_sequence=cols, overlapping=overlapping))
            pools.append({"kind": kind, "overlapping": overlapping, "pseudo": pseudo, "rows": rows.numpy().tolist(), "cols": cols.numpy().tolist(), "output": values(y), "gradient": values(grad)})
extra["pools"] = {"input": values(V), "cases": pools}
spaced = []
for padding in ["SAME", "VALID"]:
    f = floats(2, 3, 2, 3)
    x = floats(1, 7, 8, 2)
    y = nn.with_space_to_batch(tf.constant(x), [2, 3], padding, lambda t, n, p: tf.nn.conv2d(t, f, 1, p), filter_shape=[2, 3])
    spaced.append({"padding": padding, "input": values(x), "filter": values(f), "result": values(y)})
extra["spaced"] = spaced
# ---- sparse features, sparse tensors as strings, graphs as text
def example(**features):
    made = {}
    for key, v in features.items():
        v = np.asarray(v)
        made[key] = tf.train.Feature(float_list=tf.train.FloatList(value=v)) if v.dtype.kind == "f" else tf.train.Feature(int64_list=tf.train.Int64List(value=v))
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


messages = [example(val=[0.5, -1.0, 2.0], ix0=[3, 20, 3], ix1=[1, 0, 0]), example(val=np.array([], "float32")), example(val=[7.5], ix0=[99], ix1=[2])]
feature = tf.io.SparseFeature(index_key=["ix0", "ix1"], value_key="val", dtype=tf.float32, size=[100, 3])


def numbers(t):
    return {"indices": t.indices.numpy().tolist(), "values": t.values.numpy().tolist(), "shape": t.dense_shape.numpy().tolist()}


extra["sparseFeature"] = {
    "messages": [m.hex() for m in messages],
    "batch": numbers(tf.io.parse_example(messages, {"s": feature})["s"]),
    "single": numbers(tf.io.parse_single_example(messages[0], {"s": feature})["s"]),
}
many = tf.io.serialize_many_sparse(sparse([[0, 1], [2, 0], [2, 1]], np.array([5, 6, 7], "int32"), [3, 2]))
extra["serialized"] = {
    "one": [v.hex() for v in tf.io.serialize_sparse(sparse([[0, 1], [2, 0]], ["a", "b"], [3, 2])).numpy()],
    "many": [[v.hex() for v in row] for row in many.numpy()],
    "back": numbers(tf.io.deserialize_many_sparse(many, tf.int32)),
}
(PACKAGES / "eagre/golden/list-values.json").write_text(json.dumps({"tensorflow": tf.__version__, "script": "list_ops.py", **extra}, separators=(",", ":")) + "\n")
c.write("eagre/golden/list-ops.json")
