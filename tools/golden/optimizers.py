"""Makes packages/optimizers/golden/*.json with Keras on TensorFlow: trajectories of optimizers, values of schedules.

Run: KERAS_BACKEND=tensorflow python tools/golden/optimizers.py
"""

import inspect
import json
import os
import pathlib
import re
import textwrap

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

SEED = 20
STEPS = 6
OUT = pathlib.Path(__file__).parents[2] / "packages/optimizers/golden"
SCHEDULES = keras.optimizers.schedules

# Mostly numbers that float32 holds, since Keras rounds these options to float32 even for float64 variables.
CASES = [
    ("SGD", {}),
    ("SGD", {"learning_rate": 0.125, "weight_decay": 0.25}),
    ("SGD", {"learning_rate": 0.125, "momentum": 0.875}),
    ("SGD", {"learning_rate": 0.125, "momentum": 0.875, "nesterov": True}),
    ("SGD", {"learning_rate": 0.125, "clipnorm": 0.5}),
    ("SGD", {"learning_rate": 0.125, "clipvalue": 0.25}),
    ("SGD", {"learning_rate": 0.125, "momentum": 0.5, "global_clipnorm": 0.75, "weight_decay": 0.125}),
    ("RMSprop", {}),
    ("RMSprop", {"learning_rate": 0.0625, "rho": 0.8, "epsilon": 1e-3}),
    ("RMSprop", {"learning_rate": 0.0625, "momentum": 0.75}),
    ("RMSprop", {"learning_rate": 0.0625, "centered": True}),
    ("RMSprop", {"learning_rate": 0.0625, "momentum": 0.75, "centered": True, "weight_decay": 0.25}),
    ("Adam", {}),
    ("Adam", {"learning_rate": 0.0625, "beta_1": 0.75, "beta_2": 0.875, "epsilon": 1e-3}),
    ("Adam", {"learning_rate": 0.0625, "beta_1": 0.875, "beta_2": 0.9375, "amsgrad": True}),
    ("Adam", {"learning_rate": 0.0625, "beta_1": 0.875, "beta_2": 0.9375, "weight_decay": 0.25, "clipnorm": 0.5}),
    ("AdamW", {}),
    ("AdamW", {"learning_rate": 0.0625, "beta_1": 0.875, "beta_2": 0.9375, "weight_decay": 0.125, "amsgrad": True}),
    ("SGD", {"learning_rate": 0.125, "momentum": 0.5, "use_ema": True, "ema_momentum": 0.75}),
    ("Adam", {"learning_rate": 0.0625, "beta_1": 0.75, "beta_2": 0.875, "use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2}),
    ("Adagrad", {}),
    ("Adagrad", {"learning_rate": 0.125, "initial_accumulator_value": 0.5, "epsilon": 1e-3, "weight_decay": 0.25}),
    ("Adadelta", {}),
    ("Adadelta", {"learning_rate": 0.5, "rho": 0.75, "epsilon": 1e-3, "clipvalue": 0.25}),
    ("Adamax", {}),
    ("Adamax", {"learning_rate": 0.0625, "beta_1": 0.75, "beta_2": 0.875, "epsilon": 1e-3, "weight_decay": 0.25}),
    ("Nadam", {}),
    ("Nadam", {"learning_rate": 0.0625, "beta_1": 0.75, "beta_2": 0.875, "epsilon": 1e-3, "clipnorm": 0.5}),
    ("Ftrl", {}),
    (
        "Ftrl",
        {
            "learning_rate": 0.125,
            "learning_rate_power": -0.75,
            "initial_accumulator_value": 0.5,
            "l1_regularization_strength": 0.0625,
            "l2_regularization_strength": 0.125,
            "l2_shrinkage_regularization_strength": 0.03125,
            "beta": 0.25,
        },
    ),
    ("Lion", {}),
    ("Lion", {"learning_rate": 0.0625, "beta_1": 0.75, "beta_2": 0.875, "weight_decay": 0.25}),
    ("Adafactor", {}),
    (
        "Adafactor",
        {
            "learning_rate": 0.5,
            "beta_2_decay": -0.5,
            "epsilon_1": 1e-6,
            "epsilon_2": 0.125,
            "clip_threshold": 0.5,
            "weight_decay": 0.125,
        },
    ),
    ("Nadam", {"learning_rate": ("ExponentialDecay", {"initial_learning_rate": 0.125, "decay_steps": 2, "decay_rate": 0.5})}),
    (
        "Adam",
        {"learning_rate": ("ExponentialDecay", {"initial_learning_rate": 0.125, "decay_steps": 2, "decay_rate": 0.5})},
    ),
    (
        "SGD",
        {"learning_rate": ("PiecewiseConstantDecay", {"boundaries": [1, 3], "values": [0.5, 0.25, 0.125]}), "momentum": 0.5},
    ),
]

# Those of the second file, which has more steps, and weights of more kinds.
LONG_STEPS = 20
LONG_CASES = [
    ("Lamb", {}),
    ("Lamb", {"learning_rate": 0.0625, "beta_1": 0.75, "beta_2": 0.875, "epsilon": 1e-3, "weight_decay": 0.25}),
    ("Lamb", {"learning_rate": 0.0625, "clipnorm": 0.5, "use_ema": True, "ema_momentum": 0.75, "ema_overwrite_frequency": 3}),
    ("Muon", {}),
    (
        "Muon",
        {
            "learning_rate": 0.0625,
            "adam_beta_1": 0.75,
            "adam_beta_2": 0.875,
            "adam_weight_decay": 0.125,
            "epsilon": 1e-3,
            "weight_decay": 0.25,
            "exclude_layers": ["^last$"],
            "exclude_embeddings": False,
            "muon_a": 3.0,
            "muon_b": -3.0,
            "muon_c": 1.0,
            "adam_lr_ratio": 0.5,
            "momentum": 0.875,
            "ns_steps": 3,
            "nesterov": False,
            "rms_rate": None,
        },
    ),
    ("Muon", {"learning_rate": 0.0625, "weight_decay": None, "exclude_layers": ["l.*t"], "global_clipnorm": 0.5}),
    ("Muon", {"learning_rate": 0.0625, "adam_weight_decay": None, "clipvalue": 0.25}),
    ("ScheduleFreeAdamW", {}),
    (
        "ScheduleFreeAdamW",
        {"learning_rate": 0.0625, "beta_1": 0.75, "beta_2": 0.875, "epsilon": 1e-3, "warmup_steps": 8, "weight_decay": 0.125},
    ),
    (
        "ScheduleFreeAdamW",
        {
            "learning_rate": ("ExponentialDecay", {"initial_learning_rate": 0.125, "decay_steps": 4, "decay_rate": 0.5}),
            "beta_1": 1.0,
        },
    ),
    ("Adam", {"learning_rate": 0.0625, "beta_1": 0.75, "beta_2": 0.875, "gradient_accumulation_steps": 3, "weight_decay": 0.25}),
    (
        "SGD",
        {
            "learning_rate": ("ExponentialDecay", {"initial_learning_rate": 0.125, "decay_steps": 4, "decay_rate": 0.5}),
            "momentum": 0.5,
            "clipnorm": 0.5,
            "use_ema": True,
            "ema_momentum": 0.75,
            "ema_overwrite_frequency": 2,
            "gradient_accumulation_steps": 2,
        },
    ),
    ("Nadam", {"learning_rate": 0.0625, "gradient_accumulation_steps": 4}),
]

SCHEDULE_CASES = [
    ("ExponentialDecay", {"initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.9}),
    ("ExponentialDecay", {"initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.9, "staircase": True}),
    ("InverseTimeDecay", {"initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.5}),
    ("InverseTimeDecay", {"initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.5, "staircase": True}),
    ("PiecewiseConstantDecay", {"boundaries": [10, 20, 25], "values": [1.0, 0.5, 0.25, 0.1]}),
    ("PolynomialDecay", {"initial_learning_rate": 0.1, "decay_steps": 20, "end_learning_rate": 0.01, "power": 0.5}),
    ("PolynomialDecay", {"initial_learning_rate": 0.1, "decay_steps": 10, "power": 2.0, "cycle": True}),
    ("CosineDecay", {"initial_learning_rate": 0.1, "decay_steps": 20}),
    ("CosineDecay", {"initial_learning_rate": 0.1, "decay_steps": 20, "alpha": 0.1}),
    (
        "CosineDecay",
        {"initial_learning_rate": 0.01, "decay_steps": 20, "alpha": 0.1, "warmup_target": 0.1, "warmup_steps": 10},
    ),
    ("CosineDecayRestarts", {"initial_learning_rate": 0.1, "first_decay_steps": 10}),
    ("CosineDecayRestarts", {"initial_learning_rate": 0.1, "first_decay_steps": 7, "t_mul": 1.0, "m_mul": 0.5, "alpha": 0.1}),
    ("CosineDecayRestarts", {"initial_learning_rate": 0.1, "first_decay_steps": 4, "t_mul": 1.5, "m_mul": 0.75}),
]
SCHEDULE_STEPS = [0, 1, 5, 9, 10, 11, 19, 20, 25, 26, 30, 45]


def flat(x):
    x = np.asarray(x).ravel()
    # Nine digits tell float32 numbers apart.
    return [float(f"{v:.9g}") if x.dtype == np.float32 else float(v) for v in x]


def serialized(optimizer, options):
    """The config with the learning rate as it was given, not as float32."""
    written = keras.optimizers.serialize(optimizer)
    if isinstance(options["learning_rate"], float):
        written["config"]["learning_rate"] = options["learning_rate"]
    return written


ROUNDED = ("learning_rate", "momentum", "beta_1", "beta_2", "weight_decay", "ema_momentum", "adam_beta_1", "adam_beta_2", "adam_weight_decay")


def patch_schedule_free():
    """Lets its steps read the point `z` before they change it, as they mean to and with other backends do: in Keras 3.15.1 on
    TensorFlow `momentum.value` is the variable itself, which is changed when it is read, so that beta_1 has no effect."""
    cls = keras.optimizers.ScheduleFreeAdamW
    source = textwrap.dedent(inspect.getsource(cls.update_step))
    assert "= momentum.value\n" in source
    found = {}
    exec(source.replace("= momentum.value\n", "= ops.copy(momentum.value)\n"), vars(inspect.getmodule(cls)), found)
    cls.update_step = found["update_step"]


def dtypes_of(name, options):
    # Keras's Muon multiplies by a float32 scale, which TensorFlow refuses beside float64.
    return ("float32",) if name == "Muon" and options.get("rms_rate", 0.2) is not None else ("float32", "float64")


def trajectory(name, options, dtype, start, gradients):
    options = dict(options)
    config = json.loads(json.dumps(options))
    if "learning_rate" in options and not isinstance(options["learning_rate"], float):
        schedule, arguments = options["learning_rate"]
        options["learning_rate"] = getattr(SCHEDULES, schedule)(**arguments)
    if not options:
        options["learning_rate"] = {"SGD": 0.01, "ScheduleFreeAdamW": 0.0025}.get(name, 0.001)
    optimizer = getattr(keras.optimizers, name)(name="optimizer", **options)
    variables = [keras.Variable(v, dtype=dtype, name=n) for n, v in start.items()]
    values = []
    for step in gradients:
        optimizer.apply([tf.constant(g, dtype=dtype) for g in step], variables)
        values.append([flat(v) for v in variables])
    settings = optimizer.get_config()
    settings.update(options)
    numbers = [settings.get(option) for option in ROUNDED]
    return {
        "optimizer": name,
        # Nadam's own 0.96 is rounded as well.
        "exact": name not in ("Nadam", "ScheduleFreeAdamW")
        and not isinstance(options["learning_rate"], SCHEDULES.ExponentialDecay)
        and all(float(np.float32(n)) == n for n in numbers if isinstance(n, float)),
        "options": config,
        "dtype": dtype,
        "values": values,
        # The product of Nadam has no name, so Keras numbers it over all variables of the process.
        "state": [
            {"name": re.sub(r"/variable(_\d+)?$", "/u_product", v.path), "dtype": v.dtype, "value": flat(v)}
            for v in optimizer.variables
        ],
        "config": serialized(optimizer, options),
    }


def main():
    rng = np.random.default_rng(SEED)
    # float32 numbers, so that both dtypes start from the same ones.
    number = lambda *shape: rng.normal(size=shape).astype("float32").astype("float64")
    start = {"kernel": number(2, 2), "bias": number(2)}
    gradients = [[number(2, 2), number(2)] for _ in range(STEPS)]
    OUT.mkdir(parents=True, exist_ok=True)
    about = {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__, "seed": SEED}
    golden = {
        "made": about,
        "start": {n: v.tolist() for n, v in start.items()},
        "gradients": [[g.tolist() for g in step] for step in gradients],
        "cases": [trajectory(n, o, d, start, gradients) for n, o in CASES for d in ("float32", "float64")],
    }
    (OUT / "trajectories.json").write_text(json.dumps(golden) + "\n")
    patch_schedule_free()
    start = {"wide": number(3, 4), "last": number(4, 2), "embeddings": number(2, 3), "bias": number(3), "zero": np.zeros((2, 2))}
    gradients = [[number(*v.shape) for v in start.values()] for _ in range(LONG_STEPS)]
    golden = {
        "made": about,
        "start": {n: v.tolist() for n, v in start.items()},
        "gradients": [[g.tolist() for g in step] for step in gradients],
        "cases": [trajectory(n, o, d, start, gradients) for n, o in LONG_CASES for d in dtypes_of(n, o)],
    }
    (OUT / "long-trajectories.json").write_text(json.dumps(golden) + "\n")
    schedules = [
        {"schedule": n, "config": c, "values": [float(getattr(SCHEDULES, n)(**c)(s)) for s in SCHEDULE_STEPS]}
        for n, c in SCHEDULE_CASES
    ]
    (OUT / "schedules.json").write_text(json.dumps({"made": about, "steps": SCHEDULE_STEPS, "cases": schedules}) + "\n")


main()
