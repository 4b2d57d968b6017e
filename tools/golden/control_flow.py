"""Makes packages/graph/golden/control-flow.json with TensorFlow: values and gradients, of first and second order, through control flow
in tf.function. The programs of each name are in control-flow.golden.test.ts again.

Run: python tools/golden/control_flow.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).parents[2] / "packages/graph/golden"
F = tf.float64


def const(x):
    return tf.constant(x, F)


def int32(x):
    return tf.constant(x, tf.int32)


def cond(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.reduce_sum(x**3), lambda: tf.reduce_sum(tf.sin(x)))


def cond_nested(x):
    return tf.cond(
        x > 0, lambda: tf.cond(x > 10, lambda: tf.math.log(x), lambda: x * x), lambda: tf.cond(x < -10, lambda: -x, lambda: tf.exp(x))
    )


def cond_structure(x):
    out = tf.cond(x[0] > x[1], lambda: {"a": x * 2, "b": [x[0], x[1] ** 2]}, lambda: {"a": tf.tanh(x), "b": [x[1], x[0]]})
    return tf.reduce_sum(out["a"]) * out["b"][0] + out["b"][1]


def switch_case(x):
    index = tf.cast(x[0], tf.int32)
    return tf.switch_case(index, [lambda: tf.reduce_sum(x), lambda: tf.reduce_prod(x), lambda: tf.reduce_sum(tf.exp(x))])


def switch_default(x):
    index = tf.cast(x[0], tf.int32)
    return tf.switch_case(index, [lambda: tf.reduce_sum(x), lambda: tf.reduce_prod(x)], default=lambda: tf.norm(x))


def case(x):
    return tf.case([(x < 0, lambda: -x * x), (x < 2, lambda: x**3)], default=lambda: tf.sqrt(x))


def power(x):
    return tf.while_loop(lambda y: y < 100, lambda y: (y * y,), [x])[0]


def newton(x):
    _, y = tf.while_loop(lambda i, y: tf.abs(y * y - x) > 1e-9, lambda i, y: (i + 1, 0.5 * (y + x / y)), [int32(0), const(1.0)])
    return y


def captured(x):
    _, y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.sin(y) * x + x), [int32(0), tf.zeros_like(x)])
    return tf.reduce_sum(y)


def maximum_iterations(x):
    return tf.while_loop(lambda y: y < 1e6, lambda y: (y * x,), [x], maximum_iterations=3)[0]


def nested_loops(x):
    def outer(i, y):
        _, z = tf.while_loop(lambda k, z: k <= i, lambda k, z: (k + 1, z * x + y), [int32(0), y])
        return i + 1, z * 0.5

    return tf.while_loop(lambda i, y: i < 3, outer, [int32(0), x])[1]


def loop_in_cond_in_loop(x):
    def body(i, y):
        inner = lambda: tf.while_loop(lambda z: z > 1, lambda z: (z * 0.4 * (x + 0.2),), [y])[0]
        return i + 1, tf.cond(y > 2, inner, lambda: y + x * x)

    return tf.while_loop(lambda i, y: i < 4, body, [int32(0), x])[1]


def collatz(x):
    def body(n, steps, total):
        n = tf.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1)
        return n, steps + 1, total * 0.9 + x * tf.cast(n % 7, F)

    _, steps, total = tf.while_loop(lambda n, s, t: n != 1, body, [int32(27), int32(0), x])
    return total + tf.cast(steps, F) * x


def array_states(x):
    ta = tf.TensorArray(F, size=5)
    body = lambda i, y, ta: (i + 1, y * x + 0.1, ta.write(i, y))
    _, _, ta = tf.while_loop(lambda i, y, ta: i < 5, body, [int32(0), x, ta])
    return tf.reduce_sum(ta.stack() * const([1, -2, 3, -4, 5]))


def array_fibonacci(x):
    ta = tf.TensorArray(F, size=8, element_shape=[], clear_after_read=False).write(0, x).write(1, x * x)
    body = lambda i, ta: (i + 1, ta.write(i, ta.read(i - 1) + 0.5 * ta.read(i - 2) * x))
    _, ta = tf.while_loop(lambda i, ta: i < 8, body, [int32(2), ta])
    return ta.read(7) + ta.read(3)


def array_gather_scatter(x):
    ta = tf.TensorArray(F, size=4, clear_after_read=False).unstack(tf.stack([x, x * 2, x * 3, x**2]))
    ta = ta.scatter([3, 1], tf.stack([x**3, tf.sin(x)]))
    # Each index once: where one comes twice, TensorFlow's gradient keeps the last instead of the sum.
    return tf.reduce_sum(ta.gather([3, 2, 0, 1]) * const([1, 2, 3, 4]))


def array_split_concat(x):
    ta = tf.TensorArray(F, size=2, infer_shape=False, clear_after_read=False).split(x, [1, 2])
    return tf.reduce_sum(ta.concat() ** 2) * ta.read(0)[0]


def array_unwritten(x):
    ta = tf.TensorArray(F, size=4)
    _, ta = tf.while_loop(lambda i, ta: i < 4, lambda i, ta: (i + 2, ta.write(i, x * tf.cast(i + 1, F))), [int32(0), ta])
    return tf.reduce_sum(ta.stack() ** 2)


def map_fn(x):
    return tf.reduce_sum(tf.map_fn(lambda e: e**3 + tf.reduce_prod(x), x))


def map_structure(x):
    lows, sums = tf.map_fn(lambda e: (e[0] * e[1], e[0] + x[0]), (x, x**2), fn_output_signature=(F, F))
    return tf.reduce_sum(lows * sums)


def map_cond(x):
    return tf.reduce_sum(tf.map_fn(lambda e: tf.cond(e > 0, lambda: e * e * x[1], lambda: tf.exp(e)), x))


def scan(x):
    return tf.reduce_sum(tf.scan(lambda a, e: a * e + tf.sin(e), x) * const([1, 2, 3]))


def scan_reverse(x):
    states = tf.scan(lambda a, e: (a[0] * 0.5 + e, a[1] * a[0]), x, initializer=(x[0], x[1]), reverse=True)
    return tf.reduce_sum(states[0]) + tf.reduce_sum(states[1] * const([3, 2, 1]))


def foldl(x):
    return tf.foldl(lambda a, e: a * e + e, x, initializer=const(0.5))


def foldr(x):
    return tf.foldr(lambda a, e: tf.sin(a) * e + a, x)


def fold_rows(x):
    rows = tf.stack([x, x * 2, tf.cos(x)])
    return tf.reduce_sum(tf.foldl(lambda a, e: a * e + x, rows))


PROGRAMS = [
    (cond, [[1.0, 2.0], [-1.0, -2.0]]),
    (cond_nested, [12.0, 3.0, -12.0, -0.5]),
    (cond_structure, [[2.0, 1.0], [0.5, 1.0]]),
    (switch_case, [[0.5, 2.0], [1.5, 2.0], [2.5, 0.25], [7.0, 0.5]]),
    (switch_default, [[1.5, 2.0], [7.0, 0.5], [-3.0, 4.0]]),
    (case, [-2.0, 1.5, 4.0]),
    (power, [3.0, 1.25, 200.0]),
    (newton, [2.0, 9.0]),
    (captured, [[0.5, -0.25]]),
    (maximum_iterations, [1.5, 1e7]),
    (nested_loops, [0.75]),
    (loop_in_cond_in_loop, [1.2, -0.5]),
    (collatz, [0.1]),
    (array_states, [0.8]),
    (array_fibonacci, [0.9]),
    (array_gather_scatter, [0.7]),
    (array_split_concat, [[1.0, 2.0, 3.0]]),
    (array_unwritten, [[1.0, -2.0]]),
    (map_fn, [[1.0, -0.5, 2.0]]),
    (map_structure, [[1.0, -0.5, 2.0]]),
    (map_cond, [[1.0, -0.5, 2.0]]),
    (scan, [[0.5, -0.25, 0.75]]),
    (scan_reverse, [[0.5, -0.25, 0.75]]),
    (foldl, [[0.5, -0.25, 0.75], []]),
    (foldr, [[0.5, -0.25, 0.75]]),
    (fold_rows, [[0.5, -0.25]]),
]


def orders(f):
    @tf.function
    def run(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            first = inner.gradient(y, x, unconnected_gradients="zero")
            slope = tf.reduce_sum(first)
        return y, first, outer.gradient(slope, x, unconnected_gradients="zero")

    return run


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


lines = []
for f, inputs in PROGRAMS:
    run = orders(f)
    calls = []
    for x in inputs:
        y, first, second = (v.numpy().tolist() for v in run(const(np.array(x, np.float64))))
        calls.append({"x": x, "y": y, "first": first, "second": second})
    lines.append(json.dumps({"name": camel(f.__name__), "calls": calls}, separators=(",", ":")))

OUT.mkdir(exist_ok=True)
made = json.dumps({"tensorflow": tf.__version__, "numpy": np.__version__})
(OUT / "control-flow.json").write_text(f'{{"made":{made},"cases":[\n' + ",\n".join(lines) + "\n]}\n")
