"""Makes packages/optimizers/golden/loss-scale.json with Keras on TensorFlow: optimizers within a LossScaleOptimizer, with gradients that are not finite.

Run: python3 tools/golden/loss_scale.py
"""

import json
import math
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).parents[2] / "packages/optimizers/golden/loss-scale.json"

START = [[1.0, -2.0, 3.5], [0.25]]
# What the gradients of the loss itself are in each step; the scale comes on top. None is a variable without a gradient.
GRADIENTS = [
    [[0.5, -0.25, 1.0], [2.0]],
    [[0.125, 3.0, -1.5], [-0.75]],
    [[math.inf, 1.0, 1.0], [1.0]],
    [[0.3, 0.7, -0.9], [0.1]],
    [[1.0, 1.0, 1.0], [math.nan]],
    [[1.0, -math.inf, 1.0], [math.nan]],
    [[-0.6, 0.2, 0.4], [1.1]],
    [[0.9, -0.8, 0.7], None],
    [[0.1, 0.2, 0.3], [-0.4]],
    [[5.0, -6.0, 7.0], [8.0]],
]
CASES = [
    ("SGD", {"learning_rate": 0.5}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.5}),
    ("SGD", {"learning_rate": 0.25, "momentum": 0.75, "nesterov": True, "weight_decay": 0.125}),
    ("Adam", {"learning_rate": 0.1}),
    ("AdamW", {"learning_rate": 0.1, "amsgrad": True, "weight_decay": 0.01}),
    ("SGD", {"learning_rate": 0.5, "gradient_accumulation_steps": 2}),
    ("SGD", {"learning_rate": 0.5, "use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2}),
    ("SGD", {"learning_rate": "ExponentialDecay"}),
    ("Adam", {"learning_rate": "CosineDecay"}),
]
SCHEDULES = {
    "ExponentialDecay": {"initial_learning_rate": 0.5, "decay_steps": 2, "decay_rate": 0.5, "staircase": True},
    "CosineDecay": {"initial_learning_rate": 0.125, "decay_steps": 6, "warmup_target": 0.25, "warmup_steps": 2},
}


def run(name, options, in_graph):
    given = dict(options)
    if isinstance(given["learning_rate"], str):
        kind = given["learning_rate"]
        given["learning_rate"] = getattr(keras.optimizers.schedules, kind)(**SCHEDULES[kind])
    optimizer = keras.optimizers.LossScaleOptimizer(
        getattr(keras.optimizers, name)(**given), initial_scale=8.0, dynamic_growth_steps=2
    )
    variables = [keras.Variable(np.array(v, np.float32)) for v in START]
    optimizer.build(variables)
    steps = []

    def step(*gradients):
        at = iter(gradients)
        scaled = [None if g is None else optimizer.scale_loss(next(at)) for g in shape]
        optimizer.apply(scaled, variables)

    for shape in GRADIENTS:
        given = [tf.constant(g, tf.float32) for g in shape if g is not None]
        (tf.function(step) if in_graph else step)(*given)
        steps.append(
            {
                "scale": float(optimizer.dynamic_scale.numpy()),
                "counter": int(optimizer.step_counter.numpy()),
                "iterations": int(optimizer.iterations.numpy()),
                "values": [[float(x) for x in v.numpy()] for v in variables],
                "state": [np.asarray(v.numpy(), np.float64).reshape(-1).tolist() for v in optimizer.variables],
            }
        )
    return steps


def main():
    cases = []
    for name, options in CASES:
        eager, graph = [run(name, options, in_graph) for in_graph in (False, True)]
        if eager != graph:
            print(name, options, "differs between eager code and a graph")
        schedule = options["learning_rate"] if isinstance(options["learning_rate"], str) else None
        cases.append(
            {"optimizer": name, "options": options, "schedule": SCHEDULES.get(schedule), "steps": eager}
        )
    start = {"start": START, "gradients": json.loads(json.dumps(GRADIENTS).replace("NaN", '"NaN"').replace("-Infinity", '"-Infinity"').replace(" Infinity", ' "Infinity"').replace("[Infinity", '["Infinity"'))}
    OUT.write_text(json.dumps({**start, "cases": cases}, separators=(",", ":")) + "\n")


main()
