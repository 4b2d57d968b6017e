"""Makes packages/eagre/golden/keras-names.json: the public names of Keras, the public members of its classes, and what all of them take.

Run: KERAS_BACKEND=tensorflow python tools/parity/keras_names.py
"""

import ast
import inspect
import json
import os
import pathlib
import textwrap
import types

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras

OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden/keras-names.json"
SPACES = """activations applications backend callbacks config constraints datasets distillation distribution dtype_policies export initializers
    layers losses metrics mixed_precision models ops ops.image ops.linalg ops.nn ops.numpy optimizers optimizers.schedules preprocessing.image
    preprocessing.sequence quantizers random regularizers saving tree utils utils.bounding_boxes visualization wrappers""".split()
# Of each class an object, which has what constructors set, too.
functional = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
functional.compile("adam", "mse")


class Subclass(keras.Model):
    def call(self, x):
        return x


OBJECTS = {
    "Layer": (keras.Layer, keras.layers.Dense(1)),
    "Model": (keras.Model, Subclass()),
    "Sequential": (keras.Sequential, functional),
    "Loss": (keras.Loss, keras.losses.MeanSquaredError()),
    "Metric": (keras.Metric, keras.metrics.Mean()),
    "Optimizer": (keras.Optimizer, keras.optimizers.Optimizer(0.1)),
    "Callback": (keras.callbacks.Callback, keras.callbacks.Callback()),
    "LearningRateSchedule": (
        keras.optimizers.schedules.LearningRateSchedule,
        keras.optimizers.schedules.ExponentialDecay(1, 1, 1),
    ),
}


def space_of(path):
    module = keras
    for part in path.split("."):
        module = getattr(module, part)
    return module


def names_of(module):
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    )


def members_of(cls, example):
    """What is public and written in a class of Keras, not what lets TensorFlow track and save the objects."""
    written = {
        name
        for base in inspect.getmro(cls)
        if base.__module__.startswith("keras.")
        and base.__module__.rsplit(".", 1)[-1] not in ("trackable", "tracking")
        and base.__name__ != "TFLayer"
        for name in vars(base)
    }
    # What `Operation.__init__` and `compile` set.
    set_by_constructors = {"name", "built", "optimizer", "loss", "compiled", "stop_training", "params"}
    return sorted(
        name for name in written | (set(vars(example)) & set_by_constructors) if not name.startswith("_")
    )


def bases_of(cls):
    """The classes of Keras that a class is made of, without what lets TensorFlow track and save objects."""
    return [
        base
        for base in inspect.getmro(cls)
        if base.__module__.startswith("keras.")
        and base.__module__.rsplit(".", 1)[-1] not in ("trackable", "tracking")
        and base.__name__ != "TFLayer"
    ]


def set_in_constructor(cls):
    """The names of `self.name = …` in a class's own `__init__`."""
    made = vars(cls).get("__init__")
    if made is None or not inspect.isfunction(inspect.unwrap(made)):
        return set()
    targets = [
        target
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(made))))
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for written in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for target in (written.elts if isinstance(written, ast.Tuple) else [written])
    ]
    return {
        target.attr
        for target in targets
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
    }


def members_of_class(cls):
    """Methods, properties, and what constructors set; but what a class has of one in `OBJECTS`, which stands there."""
    names = {name for base in bases_of(cls) for name in {*vars(base), *set_in_constructor(base)}}
    for root, _ in OBJECTS.values():
        if issubclass(cls, root):
            names -= {name for base in bases_of(root) for name in {*vars(base), *set_in_constructor(base)}}
    return sorted(name for name in names if not name.startswith("_"))


def classes_in(module, seen):
    """The classes of a namespace that no earlier one has, by their own names, unless those are not public there."""
    found = {}
    for name, value in sorted(vars(module).items(), key=lambda item: (getattr(item[1], "__name__", "") != item[0], item[0])):
        is_class = inspect.isclass(value) and value.__module__.startswith("keras.")
        if name.startswith("_") or not is_class or value in seen or value in [root for root, _ in OBJECTS.values()]:
            continue
        seen.add(value)
        members = members_of_class(value)
        if members:
            found[name] = members
    return dict(sorted(found.items()))


def arguments_of(value):
    """The names of arguments, without those that stand for any others; None where Python does not tell them."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    return [
        name
        for name, parameter in signature.parameters.items()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD and name not in ("self", "cls")
    ]


def options_of(owner, names):
    found = {}
    for name in names:
        value = owner
        for part in name.split("."):
            value = getattr(value, part, None)
        arguments = arguments_of(value) if callable(value) else None
        if arguments:
            found[name] = arguments
    return found


spaces = {path: names_of(space_of(path)) for path in SPACES}
spaces["applications"] = sorted(
    [
        *spaces["applications"],
        *(
            f"{name}.{inner}"
            for name, module in vars(keras.applications).items()
            if isinstance(module, types.ModuleType)
            for inner in names_of(module)
        ),
    ]
)
spaces["datasets"] = sorted(
    f"{name}.{inner}"
    for name, module in vars(keras.datasets).items()
    if isinstance(module, types.ModuleType)
    for inner in names_of(module)
)
found = {
    "version": keras.__version__,
    "names": {"": names_of(keras), **spaces},
    "members": {name: members_of(*pair) for name, pair in OBJECTS.items()},
}
seen = set()
found["classes"] = {
    path: classes for path in ["", *SPACES] if (classes := classes_in(space_of(path) if path else keras, seen))
}
found["arguments"] = {
    "names": {
        path: options_of(space_of(path) if path else keras, names)
        for path, names in found["names"].items()
        # These are the same functions again, under shorter paths.
        if path not in ("ops.image", "ops.linalg", "ops.nn", "ops.numpy", "mixed_precision")
    },
    "members": {name: options_of(pair[1], found["members"][name]) for name, pair in OBJECTS.items()},
}
OUT.write_text(json.dumps(found, separators=(",", ":")) + "\n")
