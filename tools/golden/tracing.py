"""How often TensorFlow traces functions: packages/eagre/golden/tracing.json.

Each scenario is a function and a list of calls; the file holds the number of traces after each call. Run with the versions that the
file names:

    python tools/golden/tracing.py
"""

import json
import os
import pathlib

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import tensorflow as tf  # noqa: E402


def ones(*shape, dtype=tf.float32):
    return tf.ones(shape, dtype)


def counts(f, calls):
    out = []
    for call in calls:
        call(f)
        out.append(f.experimental_get_tracing_count())
    return out


def sizes(*shapes):
    return [lambda f, s=s: f(ones(*s)) for s in shapes]


def spec(*shape, dtype=tf.float32):
    return tf.TensorSpec(shape, dtype)


SCENARIOS = {}


def scenario(fn):
    SCENARIOS[fn.__name__] = fn()


@scenario
def dtypes_and_shapes():
    f = tf.function(lambda a: a + a)
    return counts(
        f,
        [
            lambda f: f(tf.constant(1)),
            lambda f: f(tf.constant(1.1)),
            lambda f: f(tf.constant([1, 2])),
            lambda f: f(tf.constant(7)),
        ],
    )


@scenario
def any_length():
    f = tf.function(lambda x: tf.where(x % 2 == 0, x // 2, 3 * x + 1), input_signature=[spec(None, dtype=tf.int32)])
    return counts(f, [lambda f, n=n: f(ones(n, dtype=tf.int32)) for n in (2, 5, 1, 7, 2)])


@scenario
def any_rows_and_columns():
    f = tf.function(lambda x: tf.reduce_mean(x), input_signature=[spec(None, None)])
    return counts(f, sizes((3, 3), (2, 3), (1, 1), (7, 2)))


@scenario
def any_rank():
    f = tf.function(lambda x: tf.reduce_sum(x), input_signature=[tf.TensorSpec(None)])
    return counts(f, sizes((2,), (3,), (2, 3), ()))


@scenario
def batches_of_two_tensors():
    f = tf.function(
        lambda x, y: tf.reduce_mean((tf.reduce_sum(x, 1) - y) ** 2), input_signature=[spec(None, 3), spec(None)]
    )
    return counts(f, [lambda f, n=n: f(ones(n, 3), ones(n)) for n in (4, 5, 1, 32)])


@scenario
def numbers():
    f = tf.function(lambda x, n: x * n)
    return counts(f, [lambda f, n=n: f(ones(2), n) for n in (1.0, 2.0, 1.0, 3.0)])


@scenario
def reduced_retracing():
    f = tf.function(lambda x: x * 2, reduce_retracing=True)
    return counts(f, sizes((2,), (3,), (4,), (5,), (2,)))


@scenario
def reduced_retracing_of_matrices():
    f = tf.function(lambda x: x * 2, reduce_retracing=True)
    return counts(f, sizes((2, 2), (2, 3), (2, 9), (3, 9), (7, 8), (2, 2)))


@scenario
def reduced_retracing_of_ranks():
    f = tf.function(lambda x: x * 2, reduce_retracing=True)
    return counts(f, sizes((2,), (2, 3), (4,), (5, 6)))


@scenario
def concrete_serves_calls():
    f = tf.function(lambda x: x + 1)
    return counts(
        f, [lambda f: f.get_concrete_function(spec(None)), *sizes((2,), (3,)), lambda f: f(ones(2, 2))]
    )


@scenario
def concrete_of_known_shape():
    f = tf.function(lambda x: x + 1)
    return counts(f, [lambda f: f.get_concrete_function(spec(2)), *sizes((2,), (3,), (2,))])


@scenario
def concrete_of_signature():
    f = tf.function(lambda x: x + 1, input_signature=[spec(None)])
    return counts(f, [lambda f: f.get_concrete_function(), *sizes((2,), (3,))])


@scenario
def variable_in_first_call():
    class Dense(tf.Module):
        w = None

        @tf.function(input_signature=[spec(None, 3)])
        def call(self, x):
            if self.w is None:
                self.w = tf.Variable(tf.ones([3, 2]))
            return x @ self.w

    dense = Dense()
    return counts(dense.call, sizes((1, 3), (4, 3)))


@scenario
def shape_inside():
    f = tf.function(lambda x: tf.reduce_sum(x) / tf.cast(tf.shape(x)[0], tf.float32), input_signature=[spec(None, 2)])
    return counts(f, sizes((2, 2), (3, 2), (1, 2)))


target = pathlib.Path(__file__).parents[2] / 'packages/eagre/golden/tracing.json'
target.parent.mkdir(exist_ok=True)
target.write_text(json.dumps({'tensorflow': tf.__version__, 'counts': SCENARIOS}, indent=1) + '\n')
