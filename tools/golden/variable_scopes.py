"""Makes packages/graph/golden/variable-scopes.json with TensorFlow: names, values and errors of tf.compat.v1's variables by name. The
programs of each name are in packages/graph/src/compat/variable-scope.test.ts again.

Run: python tools/golden/variable_scopes.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).parents[2] / "packages/graph/golden"
v1 = tf.compat.v1


def bare(x):
    return x.name.removesuffix(":0")


def placed():
    get, op = v1.get_variable, lambda: bare(tf.add(1.0, 1.0, name="op"))
    with v1.variable_scope("a") as a:
        yield from [bare(get("v", [1])), op(), bare(v1.Variable(1.0, name="free"))]
        with v1.variable_scope("b"):
            yield from [bare(get("v", [1])), op()]
        with tf.name_scope("n"):
            yield from [bare(get("u", [1])), op(), bare(v1.Variable(1.0, name="free"))]
    with v1.variable_scope("a", reuse=True):
        yield from [bare(get("v")), op(), bare(v1.Variable(1.0, name="free"))]
    with v1.variable_scope(a, reuse=v1.AUTO_REUSE) as again:
        yield from [bare(get("v")), bare(get("z", [1])), op(), again.original_name_scope]
    with v1.variable_scope("x", auxiliary_name_scope=False):
        yield from [op(), bare(get("v", [1]))]
    with v1.variable_scope("k"):
        with v1.variable_scope(a):
            yield from [bare(get("y", [1])), op()]
    yield from [bare(v) for v in v1.global_variables()]


def defaults():
    for _ in range(3):
        with v1.variable_scope(None, "d") as s:
            yield from [s.name, bare(v1.get_variable("v", [1]))]
    with v1.variable_scope("d") as s:
        yield from [s.name, s.original_name_scope, bare(v1.get_variable("w", [1]))]
    for _ in range(2):
        with v1.variable_scope("outer", reuse=v1.AUTO_REUSE):
            with v1.variable_scope(None, "d"):
                yield bare(v1.get_variable("v", [1]))


def initial():
    with v1.variable_scope("a", initializer=v1.constant_initializer(3.0)):
        with v1.variable_scope("b"):
            return [
                v1.get_variable("v", [2]),
                v1.get_variable("w", [2], initializer=v1.ones_initializer()),
                v1.get_variable("u", initializer=tf.constant([7.0, 8.0])),
                v1.get_variable("i", [2], dtype=tf.int32, initializer=v1.zeros_initializer()),
            ]


def regularized():
    with v1.variable_scope("a", regularizer=lambda w: tf.reduce_sum(w) * 2, reuse=v1.AUTO_REUSE):
        for _ in range(2):
            v1.get_variable("v", [3], initializer=v1.ones_initializer())
        v1.get_variable("w", [3], initializer=v1.ones_initializer(), regularizer=lambda w: tf.reduce_sum(w * w))
    return v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)


def exists():
    v1.get_variable("v", [1])
    v1.get_variable("v", [1])


def missing():
    with v1.variable_scope("a", reuse=True):
        v1.get_variable("v", [1])


def missing_inside():
    with v1.variable_scope("a", reuse=True), v1.variable_scope("b", reuse=False):
        v1.get_variable("v", [1])


def shape():
    v1.get_variable("v", [1])
    with v1.variable_scope("", reuse=True):
        v1.get_variable("v", [2])


def dtype():
    v1.get_variable("v", [1])
    v1.get_variable_scope().reuse_variables()
    v1.get_variable("v", [1], dtype=tf.int32)


def no_shape():
    v1.get_variable("v")


def constant_shape():
    v1.get_variable("v", [2], initializer=tf.constant([1.0, 2.0]))


def no_name():
    with v1.variable_scope(None):
        pass


def default_reuse():
    with v1.variable_scope(None, "d", reuse=True):
        pass


def no_scope():
    with v1.variable_scope(5):
        pass


def error(program):
    with tf.Graph().as_default():
        try:
            program()
        except (ValueError, TypeError) as e:
            return str(e)
    raise AssertionError(program)


def values(program):
    with tf.Graph().as_default(), v1.Session() as s:
        fetches = program()
        s.run(v1.global_variables_initializer())
        return [np.asarray(x).tolist() for x in s.run(fetches)]


def names(program):
    with tf.Graph().as_default():
        return list(program())


ERRORS = [exists, missing, missing_inside, shape, dtype, no_shape, constant_shape, no_name, default_reuse, no_scope]
golden = {
    "versions": {"tensorflow": tf.__version__},
    "names": {f.__name__: names(f) for f in [placed, defaults]},
    "values": {f.__name__: values(f) for f in [initial, regularized]},
    "errors": {f.__name__: error(f) for f in ERRORS},
}
(OUT / "variable-scopes.json").write_text(json.dumps(golden) + "\n")
