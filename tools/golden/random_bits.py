"""Makes packages/eagre/golden/random-bits.json with TensorFlow: stateless random numbers, seeds made of others, generators.

Run: python tools/golden/random_bits.py
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf
from cases import Cases, values

SEED = 0
c = Cases("random_bits.py", SEED)
r = tf.random
S32 = np.array([1, 2], "int32")
S64 = np.array([-(2**40) - 3, 2**62 + 5], "int64")


def case(op, fn, *args, exact=True, **kwargs):
    # Logarithms, sines and powers are not the same to the last bit in every C library.
    c.add(op, fn, *args, grad=False, tolerance=0 if exact else 3e-7, **kwargs)


for seed in [S32, S64]:
    for dtype in [tf.float32, tf.float64, tf.float16, tf.bfloat16]:
        case("random.statelessUniform", r.stateless_uniform, [3, 3], seed, dtype=dtype)
        case("random.statelessNormal", r.stateless_normal, [7], seed, dtype=dtype, exact=False)
        case("random.statelessTruncatedNormal", r.stateless_truncated_normal, [2, 13], seed, dtype=dtype, exact=False)
    for dtype in [tf.int32, tf.int64, tf.uint32, tf.uint64]:
        case("random.statelessUniform", r.stateless_uniform, [7], seed, minval=None, maxval=None, dtype=dtype)
    for dtype in [tf.int32, tf.int64]:
        case("random.statelessUniform", r.stateless_uniform, [5, 2], seed, minval=-3, maxval=100, dtype=dtype)
    case("random.split", r.split, seed)
    case("random.split", r.split, seed, num=5)
    case("random.foldIn", r.fold_in, seed, 7)
    case("random.foldIn", r.fold_in, seed, np.array(2**40, "int64"))
    case("random.statelessGamma", r.stateless_gamma, [4, 3], seed, np.array([0.4, 1.0, 2.5], "float32"), exact=False)
    case("random.statelessGamma", r.stateless_gamma, [5], seed, 1.5, beta=np.array(2.0, "float64"), dtype=tf.float64, exact=False)
    case("random.statelessPoisson", r.stateless_poisson, [5, 3], seed, np.array([0.5, 9.9, 60.0], "float32"))
    case("random.statelessPoisson", r.stateless_poisson, [5], seed, np.array(1000.0, "float64"), dtype=tf.float64)
    case("random.statelessBinomial", r.stateless_binomial, [5, 4], seed, np.array([5, 100, 40, 3], "float32"), np.array([0.3, 0.7, 0.5, 1.0], "float32"))
    case("random.statelessBinomial", r.stateless_binomial, [6], seed, np.array(20, "float64"), np.array(0.9, "float64"), output_dtype=tf.float32)
    case("random.statelessCategorical", r.stateless_categorical, np.log(np.array([[0.1, 0.2, 0.7], [0.5, 0.4, 0.1]], "float32")), 6, seed)
    case("random.experimental.statelessShuffle", r.experimental.stateless_shuffle, np.arange(12, dtype="float32").reshape(6, 2), seed)
    case("random.experimental.statelessShuffle", r.experimental.stateless_shuffle, np.arange(9, dtype="int64"), seed)
case("random.statelessUniform", r.stateless_uniform, [0, 3], S32)
case("random.statelessUniform", r.stateless_uniform, [], S32)
case("random.statelessUniform", r.stateless_uniform, [10], S32, minval=-2.5, maxval=0.3)
case("random.statelessNormal", r.stateless_normal, [4, 2], S32, mean=np.array([1.0, -2.0], "float32"), stddev=3.0, exact=False)
case("random.statelessUniform", r.stateless_uniform, [3], S32, alg="philox")
case("random.statelessUniform", r.stateless_uniform, [3], S32, minval=5, maxval=None, dtype=tf.int32)
case("random.statelessUniform", r.stateless_uniform, [3], np.array([1, 2, 3], "int32"))
for dtype in ["int32", "int64", "uint32", "uint64"]:
    case("random.experimental.indexShuffle", r.experimental.index_shuffle, np.arange(13, dtype=dtype), S32, np.array(12, dtype))
case("random.experimental.indexShuffle", r.experimental.index_shuffle, np.array(5, "int64"), S64, np.array(10**10, "int64"))
case("random.experimental.indexShuffle", r.experimental.index_shuffle, np.array(0, "int32"), S32, np.array(0, "int32"))
case("random.experimental.indexShuffle", r.experimental.index_shuffle, np.array(9, "int32"), S32, np.array(3, "int32"))
raw = lambda index, seed, max_index, rounds=4: tf.raw_ops.RandomIndexShuffle(index=index, seed=seed, max_index=max_index, rounds=rounds)
case("randomIndexShuffle", raw, np.arange(9, dtype="int32"), np.array([1, 2, 3], "int32"), np.array(8, "int32"))
case("randomIndexShuffle", raw, np.arange(9, dtype="int64"), np.array([1, 2, 3], "int64"), np.array(2**33, "int64"), rounds=8)
case("randomIndexShuffle", raw, np.arange(4, dtype="int32"), np.array([[9, 1, 2], [9, 3, 4], [9, 5, 6], [9, 7, 8]], "int32"), np.array([65536, 65535, 100000, 3], "int32"))
for seed, alg in [(7, "philox"), ([12, 34], "philox"), ([1, 2, 3], "auto_select")]:
    case("random.createRngState", r.create_rng_state, seed, alg, traced=False)

# Generators: what their methods give, one after the other.
steps = []
for seed in [1, 2**70 + 5, [3, 4]]:
    g = r.Generator.from_seed(seed)
    made = []

    def say(method, args, options, y):
        made.append({"method": method, "args": args, "options": options, "result": [values(t) for t in (y if isinstance(y, list) else [y])], "state": [str(int(v)) for v in g.state.numpy()]})

    say("uniform", [[3]], {}, g.uniform([3]))
    say("normal", [[2, 3]], {"mean": 1, "stddev": 2}, g.normal([2, 3], mean=1.0, stddev=2.0))
    say("truncatedNormal", [[5]], {}, g.truncated_normal([5]))
    say("uniform", [[4]], {"minval": -5, "maxval": 17, "dtype": "int32"}, g.uniform([4], minval=-5, maxval=17, dtype=tf.int32))
    say("uniformFullInt", [[4]], {}, g.uniform_full_int([4]))
    say("uniformFullInt", [[3]], {"dtype": "int32"}, g.uniform_full_int([3], dtype=tf.int32))
    say("uniform", [[2]], {"dtype": "float64"}, g.uniform([2], dtype=tf.float64))
    say("makeSeeds", [3], {}, g.make_seeds(3))
    say("skip", [1000], {}, g.skip(1000))
    say("split", [2], {}, [s.normal([2]) for s in g.split(2)])
    steps.append({"seed": str(seed) if isinstance(seed, int) else [str(v) for v in seed], "steps": made})
g = r.Generator.from_key_counter(9, [2**63 - 1, -1], "philox")
g.skip(1)
carry = [str(int(v)) for v in g.state.numpy()]
g = r.Generator.from_state(np.array([-1, -1, 5], "int64"), "philox")
g.normal([3])
over = [str(int(v)) for v in g.state.numpy()]
import json
path_made = c.write("eagre/golden/random-bits.json")
from cases import PACKAGES
(PACKAGES / "eagre/golden/random-generators.json").write_text(json.dumps({"tensorflow": tf.__version__, "script": "random_bits.py", "generators": steps, "carry": carry, "over": over}, separators=(",", ":")) + "\n")
