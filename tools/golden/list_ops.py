"""Makes packages/eagre/golden/list-ops.json with TensorFlow: ops that lists of TensorFlow's names had and Eagre lacked.

Run: python tools/golden/list_ops.py
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf
from cases import Cases

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
c.write("eagre/golden/list-ops.json")

# ---- samplers: by TensorFlow's generator of given seeds
import json

from cases import PACKAGES, values

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
