"""Makes packages/graph/golden/sessions.json with TensorFlow: what sessions give for small programs of graphs. The programs of each name
are in packages/graph/src/compat/golden.test.ts again.

Run: python tools/golden/sessions.py
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
F = tf.float32

XS = [[0.5, -1.0], [1.5, 2.0], [-0.25, 0.75], [2.0, -0.5]]
YS = [[1.0], [4.0], [0.5], [2.5]]


def arithmetic():
    x = v1.placeholder(F, [None, 3])
    y = tf.square(x)
    z = tf.reduce_mean(x + y, 0)
    with v1.Session() as s:
        yield s.run(z, {x: [[1, 2, 3]]})
        yield from s.run([y, z], {x: [[1, -2, 3], [0.5, 0, 4]]})
        yield s.run(z, {x: [[1, 1, 1]], y: [[5, 6, 7]]})


def variables():
    v = v1.Variable([1.0, 2.0])
    double = v1.assign(v, v * 2)
    add = v1.assign_add(v, [1.0, 1.0])
    sub = v1.assign_sub(v, [0.5, 0.25])
    after = sub * 10
    with v1.Session() as s:
        s.run(v1.global_variables_initializer())
        for fetch in [v, double, add, double, sub, after, v]:
            yield s.run(fetch)
        s.run(v.initializer)
        yield s.run(v)


def control():
    x = v1.placeholder(F, [None])
    count = v1.Variable(0.0)
    total = v1.Variable(0.0)
    counted = v1.assign_add(count, 1.0)
    with tf.control_dependencies([counted, v1.assign_add(total, tf.reduce_sum(x))]):
        mean = total / count
    both = tf.group(counted, v1.assign(total, 0.0))
    with v1.Session() as s:
        s.run(v1.global_variables_initializer())
        for batch in [[1, 2], [3], [4, 5, 6]]:
            yield s.run(mean, {x: batch})
        s.run(both)
        yield from s.run([count, total])


def gradients():
    x = v1.placeholder(F, [None, 2])
    w = v1.Variable([0.5, -1.5])
    h = tf.sin(x * w)
    y = tf.reduce_sum(h * h) + tf.reduce_prod(w)
    first = tf.gradients(y, [x, w, h])
    second = tf.gradients(tf.reduce_sum(first[1] * [1.0, 2.0]), [w, x])
    with v1.Session() as s:
        s.run(v1.global_variables_initializer())
        for batch in [XS[:1], XS]:
            yield from s.run(first + second, {x: batch})


def linear_model():
    x = v1.placeholder(F, [None, 2])
    y = v1.placeholder(F, [None, 1])
    w = v1.Variable([[0.1], [-0.2]])
    b = v1.Variable([0.0])
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
    return x, y, w, b, loss


def regression():
    x, y, w, b, loss = linear_model()
    step = v1.train.get_or_create_global_step()
    train = v1.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=step)
    with v1.Session() as s:
        s.run(v1.global_variables_initializer())
        for i in range(60):
            s.run(train, {x: XS, y: YS})
            if i % 20 == 19:
                yield from s.run([loss, w, b, step], {x: XS, y: YS})


def optimizer(make):
    def program():
        x, y, w, b, loss = linear_model()
        rate = v1.placeholder(F, [])
        opt = make(rate)
        train = opt.minimize(loss)
        with v1.Session() as s:
            s.run(v1.global_variables_initializer())
            for i in range(12):
                n = 1 + i % 4
                s.run(train, {x: XS[:n], y: YS[:n], rate: 0.1 / (1 + i)})
                if i % 4 == 3:
                    yield from s.run([w, b])
            yield from s.run([opt.get_slot(w, name) for name in opt.get_slot_names()])

    return program


def network():
    x = v1.placeholder(F, [None, 2])
    labels = v1.placeholder(tf.int32, [None])
    w1 = v1.Variable(np.linspace(-1, 1, 8).reshape(2, 4), dtype=F)
    w2 = v1.Variable(np.linspace(1, -1, 12).reshape(4, 3), dtype=F)
    logits = tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)
    loss = -tf.reduce_mean(tf.reduce_sum(tf.one_hot(labels, 3) * tf.nn.log_softmax(logits), 1))
    train = v1.train.AdamOptimizer(0.05).minimize(loss)
    with v1.Session() as s:
        s.run(v1.global_variables_initializer())
        for i in range(20):
            s.run(train, {x: XS, labels: [0, 1, 2, 1]})
        yield s.run(loss, {x: XS[:3], labels: [0, 1, 2]})
        yield from s.run([w1, w2])


def branches():
    x = v1.placeholder(F, [])
    v = v1.Variable(1.0)
    y = tf.cond(x > 0, lambda: v1.assign_add(v, x), lambda: v1.assign(v, x * x))
    with v1.Session() as s:
        s.run(v1.global_variables_initializer())
        for value in [2, -3, 0.5]:
            yield s.run(y, {x: value})
            yield s.run(v)


def loop():
    x = v1.placeholder(F, [])
    n = v1.placeholder(tf.int32, [])
    y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.sin(y) * x), [0, x])[1]
    dx = tf.gradients(y, x)[0]
    with v1.Session() as s:
        for value, turns in [(0.5, 3), (1.25, 5)]:
            yield from s.run([y, dx], {x: value, n: turns})


PROGRAMS = {
    "arithmetic": arithmetic,
    "variables": variables,
    "control": control,
    "gradients": gradients,
    "regression": regression,
    "momentum": optimizer(lambda rate: v1.train.MomentumOptimizer(rate, 0.9)),
    "nesterov": optimizer(lambda rate: v1.train.MomentumOptimizer(rate, 0.8, use_nesterov=True)),
    "adagrad": optimizer(lambda rate: v1.train.AdagradOptimizer(rate)),
    "rmsprop": optimizer(lambda rate: v1.train.RMSPropOptimizer(rate, momentum=0.5, epsilon=1e-3)),
    "adam": optimizer(lambda rate: v1.train.AdamOptimizer(rate)),
    "network": network,
    "branches": branches,
    "loop": loop,
}


def run(program):
    with tf.Graph().as_default():
        return [np.asarray(value).tolist() for value in program()]


golden = {"versions": {"tensorflow": tf.__version__}, "results": {name: run(p) for name, p in PROGRAMS.items()}}
OUT.mkdir(exist_ok=True)
(OUT / "sessions.json").write_text(json.dumps(golden) + "\n")
