"""Makes packages/eagre/golden/tensorflow-names.json: the public names of TensorFlow, by module, what its functions take, and the
members of its classes. Those of Keras have a list of their own.

Run: python tools/parity/tensorflow_names.py
"""

import inspect
import json
import os
import pathlib
import types

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden/tensorflow-names.json"
MODULES = """audio autodiff autograph autograph.experimental bitwise compat config config.experimental data data.experimental debugging
    debugging.experimental distribute distribute.experimental dtypes dtypes.experimental errors experimental experimental.numpy
    experimental.numpy.random feature_column graph_util image io io.gfile linalg linalg.experimental lookup lookup.experimental math
    math.special nest nn nn.experimental profiler.experimental quantization queue ragged random random.experimental saved_model sets
    signal sparse strings summary summary.experimental sysconfig test test.experimental train train.experimental types.experimental
    version""".split()


def module_of(path):
    module = tf
    for part in path.split("."):
        module = getattr(module, part)
    return module


def names_of(module):
    """What is public and no module. At the top there also are Keras's, which are made late, and leftovers of Python's imports."""
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not isinstance(value, types.ModuleType)
        and "LazyLoader" not in type(value).__name__
        and name not in KERAS
    )


def arguments_of(value):
    """The names of a function's arguments, without lists of any length and the name of the op; None for classes and where Python does not tell."""
    if isinstance(value, type) or not callable(value):
        return None
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    many = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [name for name, parameter in signature.parameters.items() if parameter.kind not in many and name != "name"]


def options_of(module, names):
    found = {name: arguments_of(getattr(module, name)) for name in names}
    return {name: arguments for name, arguments in found.items() if arguments}


def members_of_classes(names):
    """The public members of each class, by module; a class that has several names has them at the first."""
    seen = set()
    found = {}
    for path, list_ in names.items():
        module = module_of(path) if path else tf
        for name in list_:
            cls = getattr(module, name)
            if not isinstance(cls, type) or cls in seen:
                continue
            seen.add(cls)
            bases = [base for base in inspect.getmro(cls) if base.__module__.startswith("tensorflow")]
            members = sorted({member for base in bases for member in vars(base) if not member.startswith("_")})
            if members:
                found.setdefault(path, {})[name] = members
    return found


KERAS = {"keras", "losses", "metrics", "optimizers", "initializers"}
found = {
    "version": tf.__version__,
    "names": {"": names_of(tf), **{path: names_of(module_of(path)) for path in MODULES}},
}
found["arguments"] = {path: options_of(module_of(path) if path else tf, names) for path, names in found["names"].items()}
found["members"] = members_of_classes(found["names"])
OUT.write_text(json.dumps(found, separators=(",", ":")) + "\n")
