"""Makes packages/layers/golden/applications.json with Keras on TensorFlow: layers, weights and outputs of tf.keras.applications.

Nothing is drawn at random: weights and images are a formula of their places, see `spread`, which the tests compute too.

Run: KERAS_BACKEND=tensorflow python tools/golden/applications.py
"""

import hashlib
import json
import math
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import numpy as np
import tensorflow as tf
from layer_values import camel

OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden/applications.json"
SIZES = {"Xception": 71, "InceptionV3": 75, "InceptionResNetV2": 75}
NAMES = [
    "VGG16", "VGG19",
    "ResNet50", "ResNet101", "ResNet152", "ResNet50V2", "ResNet101V2", "ResNet152V2",
    "MobileNet", "MobileNetV2", "MobileNetV3Small", "MobileNetV3Large",
    *(f"EfficientNetB{i}" for i in range(8)),
    *(f"EfficientNetV2{i}" for i in ("B0", "B1", "B2", "B3", "S", "M", "L")),
    "DenseNet121", "DenseNet169", "DenseNet201",
    "Xception", "InceptionV3", "InceptionResNetV2",
    *(f"ConvNeXt{i}" for i in ("Tiny", "Small", "Base", "Large", "XLarge")),
    "NASNetMobile", "NASNetLarge",
]
# Those whose lists stand as a whole in the file.
LISTED = ("ResNet50", "MobileNetV2")
# One of each family without its top, and what options change.
OTHERS = [
    *((name, {"include_top": False, "pooling": "avg"}) for name in (
        "VGG16", "ResNet50", "MobileNet", "MobileNetV2", "MobileNetV3Small", "EfficientNetB0", "EfficientNetV2B0", "DenseNet121",
        "Xception", "InceptionV3", "ConvNeXtTiny", "NASNetMobile",
    )),
    *((name, {"include_top": False, "pooling": "max"}) for name in ("MobileNetV2", "EfficientNetV2B0")),
    ("ResNet50V2", {"include_top": False, "input_shape": (None, None, 1)}),
    ("VGG16", {"include_top": False, "input_shape": None}),
    ("MobileNet", {"alpha": 0.5, "depth_multiplier": 2, "dropout": 0.25, "input_shape": (128, 128, 3)}),
    ("MobileNet", {"include_top": False, "input_shape": (None, None, 3)}),
    ("MobileNetV2", {"alpha": 1.4, "name": "mine"}),
    ("MobileNetV2", {"alpha": 0.35, "input_shape": (33, 47, 3)}),
    ("MobileNetV3Small", {"alpha": 0.75, "minimalistic": True, "include_preprocessing": False, "dropout_rate": 0.0}),
    ("MobileNetV3Large", {"alpha": 1.25, "input_shape": None}),
    ("EfficientNetB0", {"include_top": False, "input_shape": (None, None, 3)}),
    ("EfficientNetV2B0", {"include_preprocessing": False}),
    ("EfficientNetV2B0", {"input_shape": (32, 32, 1)}),
    ("ConvNeXtTiny", {"include_preprocessing": False}),
    ("ConvNeXtTiny", {"input_shape": (32, 32, 1), "include_top": False}),
    ("NASNetMobile", {"include_top": False, "input_shape": None}),
]
OUTPUTS = [
    ("MobileNetV2", {"alpha": 0.35}, 1),
    ("ResNet50", {}, 1),
    ("EfficientNetB0", {}, 100),
    ("DenseNet121", {}, 1),
    ("Xception", {}, 1),
    ("MobileNetV3Small", {}, 100),
    ("EfficientNetV2B0", {}, 100),
    ("NASNetMobile", {}, 1),
    ("ConvNeXtTiny", {}, 100),
]
MODES = ["caffe", "tf", "torch"]


def spread(n, k):
    """n numbers from -1 to below 1 that look random: a hash of their places and of k."""
    h = np.arange(n, dtype=np.uint32) + np.uint32((k * 0x9E3779B9 + 0x7F4A7C15) % 2**32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h ^= h >> np.uint32(shift)
        h *= np.uint32(factor)
    h ^= h >> np.uint32(16)
    return h / 2.0**31 - 1


def fill(model):
    """Gives each weight values that keep signals about as large as they are."""
    for k, w in enumerate(model.weights):
        u = spread(math.prod(w.shape), k).reshape(w.shape)
        if w.name.endswith("kernel"):
            each = len(w.shape) == 4 and w.shape[3] == 1
            u *= math.sqrt(6 / math.prod(w.shape[:2] if each else w.shape[:-1]))
        elif w.name in ("gamma", "moving_variance"):
            u = 1 + u / 4
        elif w.name == "variance":
            u = (1 + u / 4) / 4
        elif w.name == "count":
            continue
        else:
            u /= 4
        w.assign(u.astype("float32"))
    for layer in model.layers:
        if isinstance(layer, keras.layers.Normalization):
            layer.finalize_state()


def make(name, options):
    keras.backend.clear_session()
    size = SIZES.get(name, 32)
    options = {"weights": None, "classes": 10, "input_shape": (size, size, 3), **options}
    return getattr(keras.applications, name)(**options), options


def written(options):
    return {camel(key): value for key, value in options.items() if key != "weights"}


def structure(name, options):
    model, options = make(name, options)
    owners = {id(w): layer for layer in model._flatten_layers(include_self=False) for w in layer._trainable_variables + layer._non_trainable_variables}
    layers = [f"{layer.name} {type(layer).__name__}" for layer in model.layers]
    # Weights without a name are numbered through the whole model.
    names = ["variable" if w.name.startswith("variable") else w.name for w in model.weights]
    weights = [f"{owners[id(w)].name}/{name} {list(w.shape)}" for w, name in zip(model.weights, names)]
    lists = {"layers": layers, "weights": weights}
    return {
        "application": name,
        "options": written(options),
        "name": model.name,
        "params": model.count_params(),
        "output": list(model.output_shape),
        **{key: len(lines) for key, lines in lists.items()},
        **{f"{key}Hash": hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] for key, lines in lists.items()},
        **({"lists": lists} if name in LISTED and options.get("pooling") is None and "alpha" not in options else {}),
    }


def outputs(name, options, scale):
    def values(more):
        model, given = make(name, {**options, **more})
        fill(model)
        shape = (2, *given["input_shape"])
        y = model(tf.constant((scale * spread(math.prod(shape), 0)).reshape(shape), "float32"), training=False).numpy()
        flat = y.reshape(-1).astype("float64")
        return {"options": written(given), "shape": list(y.shape), "mean": float(flat.mean()), "size": float(np.abs(flat).mean()), "values": [float(f"{v:.7g}") for v in flat[:40]]}

    return {"application": name, "scale": scale, "outputs": [values({"classifier_activation": None}), *([] if name == "ConvNeXtTiny" else [values({"include_top": False})])]}


def preprocessed(mode, data_format, shape):
    x = np.round(127.5 + 127.5 * spread(math.prod(shape), 1)).reshape(shape)
    last = x if data_format == "channels_last" else np.moveaxis(x, -1, -3)
    y = keras.applications.imagenet_utils.preprocess_input(tf.constant(last, "float32"), data_format=data_format, mode=mode)
    array = keras.applications.imagenet_utils.preprocess_input(last.astype("uint8"), data_format=data_format, mode=mode)
    np.testing.assert_allclose(y, array, atol=1e-4)
    return {"mode": mode, "dataFormat": camel(data_format), "shape": list(last.shape), "x": last.reshape(-1).tolist(), "y": y.numpy().reshape(-1).astype("float64").tolist()}


def case(fn, *given):
    print(given[0], flush=True)
    return fn(*given)


if __name__ == "__main__":
    result = {
        "structures": [case(structure, name, {}) for name in NAMES] + [case(structure, *other) for other in OTHERS],
        "outputs": [case(outputs, *given) for given in OUTPUTS],
        "preprocessed": [case(preprocessed, mode, data_format, shape) for mode in MODES for data_format in ("channels_last", "channels_first") for shape in ((2, 2, 3), (2, 1, 2, 3))],
        "versions": {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__},
    }
    OUT.write_text("{\n" + ",\n".join(f'"{key}": ' + ("[\n" + ",\n".join(json.dumps(v) for v in value) + "\n]" if isinstance(value, list) else json.dumps(value)) for key, value in result.items()) + "\n}\n")
