"""Makes packages/autograph/golden/seeds.json with TensorFlow's AutoGraph: what functions that everybody writes give, and their gradients.
Each runs eagerly, in tf.function, and converted by tf.autograph.to_graph in a tf.compat.v1.Session; all three must agree. The functions
of each name are in packages/autograph/src/seeds.test.ts again.

Run: python tools/golden/autograph.py
"""

import json
import os
import pathlib
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).parents[2] / "packages/autograph/golden"
v1 = tf.compat.v1
F, I = tf.float32, tf.int32
LOG = tempfile.NamedTemporaryFile(delete=False).name
PRINTED = "file://" + LOG


def square_if_positive(x):
    if x > 0:
        x = x * x
    else:
        x = 0.0
    return x


def early_return(x):
    if x > 0:
        return x * x
    return -x + 1


def sum_even(items):
    s = 0
    for c in items:
        if c % 2 > 0:
            continue
        s += c
    return s


def fizzbuzz(most):
    counter = 0
    for num in tf.range(1, most + 1):
        if num % 3 == 0 and num % 5 == 0:
            tf.print("FizzBuzz", output_stream=PRINTED)
        elif num % 3 == 0:
            tf.print("Fizz", output_stream=PRINTED)
        elif num % 5 == 0:
            tf.print("Buzz", output_stream=PRINTED)
        else:
            tf.print(num, output_stream=PRINTED)
        counter += 1
    return counter


def print_element(items):
    for c in items:
        tf.print(c, output_stream=PRINTED)
    return items


class ScalarModel:
    def __init__(self):
        self.v = tf.Variable(0)

    def increment(self, amount):
        self.v.assign_add(amount)
        return self.v.read_value()


def collatz(n):
    steps = 0
    # In graphs for sessions == and != compare which tensors these are.
    while tf.not_equal(n, 1):
        if tf.equal(n % 2, 0):
            n = n // 2
        else:
            n = n * 3 + 1
        steps += 1
    return steps


# In TypeScript the next three return out of their loops, which TensorFlow refuses.
def first_above(items, limit):
    found = -1.0
    for x in items:
        if x > limit:
            found = x
            break
    return found


def line_search_step(init_x, rate):
    with tf.GradientTape() as tape:
        tape.watch(init_x)
        value = tf.reduce_sum(init_x * init_x * init_x * init_x)
    grad = tape.gradient(value, init_x)
    grad_norm = tf.reduce_sum(grad * grad)
    init_value = value
    x = init_x
    while value > init_value - rate * grad_norm:
        x = init_x - rate * grad
        value = tf.reduce_sum(x * x * x * x)
        rate /= 2.0
    return x, value


def power_while(x, n):
    y = x
    for i in tf.range(n):
        if i > 3:
            break
        if y > 50:
            y = y * 2
            break
        y = y * x
    return y


def nested(n):
    s = 0.0
    for i in tf.range(n):
        if s < 0:
            break
        for j in tf.range(n):
            if j > i or s < 0:
                break
            if tf.equal((i + j) % 2, 0):
                continue
            s += tf.cast(i * j, tf.float32)
            if s > 20:
                s = -s
    return s


# The function, the dtypes of its arguments, calls, and whether gradients by its float arguments are asked for.
PROGRAMS = {
    "squareIfPositive": (square_if_positive, [F], [[9.0], [-9.0], [0.0]]),
    "earlyReturn": (early_return, [F], [[3.0], [-3.0]]),
    "sumEven": (sum_even, [I], [[[10, 12, 15, 20]], [[1, 3]], [[2]]]),
    "fizzbuzz": (fizzbuzz, [I], [[15], [4], [0]]),
    "printElement": (print_element, [I], [[[1, 5, 6, 8, 3]]]),
    "collatz": (collatz, [I], [[12], [27], [1]]),
    "firstAbove": (first_above, [F, F], [[[1.0, 5.0, 9.0], 4.0], [[1.0, 5.0, 9.0], 10.0]]),
    "lineSearch": (line_search_step, [F, F], [[[0.5, -0.75], 1.0], [[1.5, 1.0], 0.25], [[0.1, 0.2], 0.5]]),
    "power": (power_while, [F, I], [[2.0, 2], [2.0, 9], [4.0, 9]]),
    "nested": (nested, [F], [[3.0], [5.0], [9.0]]),
}


def printed():
    with open(LOG, "r+") as file:
        lines = file.read().splitlines()
        file.truncate(0)
    return lines


def plain(x):
    return [plain(v) for v in x] if isinstance(x, (tuple, list)) else np.asarray(x).tolist()


def gradients(tape, outputs, args):
    """Of the sum of all outputs, by each float argument."""
    floats = [a for a in args if a.dtype == F]
    outputs = [y for y in tf.nest.flatten(outputs) if isinstance(y, tf.Tensor) and y.dtype == F]
    return tape.gradient(outputs, floats, unconnected_gradients="zero") if outputs else [tf.zeros_like(x) for x in floats]


def eager(fn, args):
    args = [tf.constant(a, d) for a, d in args]
    with tf.GradientTape() as tape:
        tape.watch([a for a in args if a.dtype == F])
        y = fn(*args)
    return plain(y), plain(gradients(tape, y, args)), printed()


def session(fn, args):
    with tf.Graph().as_default(), v1.Session() as s:
        inputs = [v1.placeholder(d, np.shape(a)) for a, d in args]
        feed = dict(zip(inputs, [a for a, _ in args]))
        y = tf.autograph.to_graph(fn)(*inputs)
        floats = [x for x in inputs if x.dtype == F]
        outputs = [t for t in tf.nest.flatten(y) if isinstance(t, tf.Tensor) and t.dtype == F]
        found = tf.gradients(outputs, floats, unconnected_gradients="zero") if floats else []
        # Nothing that prints runs with another fetch: prints inside of loops belong to the loop.
        value, slopes = s.run([y, found], feed)
        return plain(value), plain(slopes), printed()


def run(fn, dtypes, calls):
    out = []
    graph = tf.function(fn)
    for call in calls:
        args = list(zip(call, dtypes))
        value, slopes, lines = eager(fn, args)
        others = [eager(graph, args)]
        if not lines:
            others.append(session(fn, args))
        for got in others:
            np.testing.assert_allclose(np.asarray(got[0][0] if isinstance(got[0], list) else got[0]), np.asarray(value[0] if isinstance(value, list) else value), rtol=1e-5)
            for a, b in zip(got[1], slopes):
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
            assert got[2] == lines, (got[2], lines)
        out.append({"args": call, "value": value, "gradients": slopes, "printed": lines})
    return {"dtypes": [d.name for d in dtypes], "calls": out}


def scalar_models(wrap):
    values = []
    for amounts in ([3, 4], [5]):
        model = ScalarModel()
        increment = wrap(model.increment)
        values += [int(increment(tf.constant(a))) for a in amounts]
    return values


assert scalar_models(lambda f: f) == scalar_models(tf.function)
golden = {
    "versions": {"tensorflow": tf.__version__},
    "scalarModel": scalar_models(tf.function),
    "results": {name: run(*p) for name, p in PROGRAMS.items()},
}
try:
    tf.function(sum_even, autograph=False)(tf.constant([10, 12, 15, 20]))
except TypeError as error:
    golden["off"] = str(error)
OUT.mkdir(exist_ok=True)
(OUT / "seeds.json").write_text(json.dumps(golden) + "\n")
os.unlink(LOG)
