"""Makes packages/eagre/golden/moving-average.json: tf.train.ExponentialMovingAverage and tf.test.compute_gradient.

Run: python tools/golden/moving_average.py
"""

import json
import os
import pathlib

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden/moving-average.json"


def averages(counted):
    v = tf.Variable([1.0, -2.0])
    step = tf.Variable(0)
    ema = tf.train.ExponentialMovingAverage(0.9, step if counted else None)
    out = []
    for i in range(4):
        v.assign_add([1.0, 0.5])
        ema.apply([v])
        step.assign_add(1)
        out.append(ema.average(v).numpy().tolist())
    return out


x = tf.constant([[0.5, -1.0], [2.0, 0.25]])
w = tf.constant([[1.0], [3.0]])
t, n = tf.test.compute_gradient(lambda x, w: tf.tanh(x @ w), [x, w])
OUT.write_text(
    json.dumps(
        {
            "tensorflow": tf.__version__,
            "plain": averages(False),
            "counted": averages(True),
            "theoretical": [a.tolist() for a in t],
            "numerical": [a.tolist() for a in n],
        },
        indent=1,
    )
    + "\n"
)
