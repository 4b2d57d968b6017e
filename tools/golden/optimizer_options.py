"""Makes packages/optimizers/golden/option-trajectories.json with Keras on TensorFlow: each optimizer with each option that all have, 20 steps.

Run: KERAS_BACKEND=tensorflow python tools/golden/optimizer_options.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np

SEED = 33
STEPS = 20
OUT = pathlib.Path(__file__).parents[2] / "packages/optimizers/golden/option-trajectories.json"
rng = np.random.default_rng(SEED)
SHAPES = [(2, 3), (3,)]
START = [rng.normal(size=s).astype("float32").round(3) for s in SHAPES]
GRADIENTS = [[rng.normal(size=s).astype("float32").round(3) for s in SHAPES] for _ in range(STEPS)]

# Those of whose own options some change what the common ones do.
OPTIMIZERS = [
    ("SGD", {}),
    ("SGD", {"momentum": 0.75, "nesterov": True}),
    ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.5, "centered": True}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True}),
    ("AdamW", {}),
    ("AdamW", {"amsgrad": True}),
    ("Adagrad", {}),
    ("Adadelta", {}),
    ("Adamax", {}),
    ("Nadam", {}),
    ("Ftrl", {}),
    ("Lion", {}),
    ("Adafactor", {"relative_step": False}),
    ("Lamb", {}),
    ("Muon", {}),
]
OPTIONS = [
    {"weight_decay": 0.25},
    {"clipnorm": 0.5},
    {"clipvalue": 0.25},
    {"global_clipnorm": 0.75},
    {"use_ema": True, "ema_momentum": 0.75},
    {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 3},
    {"loss_scale_factor": 8.0},
    {"gradient_accumulation_steps": 3},
    {"gradient_accumulation_steps": 2, "clipnorm": 0.5, "weight_decay": 0.125},
    {"gradient_accumulation_steps": 4, "use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2},
    {"loss_scale_factor": 4.0, "global_clipnorm": 0.5, "weight_decay": 0.125},
]
LOOKED_AT = [6, 19]

cases = []
for name, own in OPTIMIZERS:
    for options in OPTIONS:
        optimizer = getattr(keras.optimizers, name)(learning_rate=0.0625, **own, **options)
        variables = [keras.Variable(x, name=n) for x, n in zip(START, ["kernel", "bias"])]
        values = []
        for step, gradients in enumerate(GRADIENTS):
            optimizer.apply([keras.ops.convert_to_tensor(g) for g in gradients], variables)
            if step in LOOKED_AT:
                values.append([float(f"{x:.8g}") for v in variables for x in v.numpy().ravel()])
        optimizer.finalize_variable_values(variables)
        values.append([float(f"{x:.8g}") for v in variables for x in v.numpy().ravel()])
        cases.append([name, {**own, **options}, int(optimizer.iterations), values])

found = {
    "versions": {"keras": keras.__version__},
    "seed": SEED,
    "start": [x.tolist() for x in START],
    "gradients": [[g.tolist() for g in step] for step in GRADIENTS],
    "looked_at": LOOKED_AT,
    "cases": cases,
}
OUT.write_text(json.dumps(json.loads(json.dumps(found), parse_float=lambda x: float(f"{float(x):.8g}")), separators=(",", ":")) + "\n")
