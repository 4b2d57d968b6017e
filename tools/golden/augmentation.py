"""Makes packages/layers/golden/augmentation.json with Keras on TensorFlow: what layers of images make of what was drawn.

Run: KERAS_BACKEND=tensorflow python tools/golden/augmentation.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from layer_values import camel

SEED = 61
OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden"
rng = np.random.default_rng(SEED)
keras.utils.set_random_seed(SEED)

SHAPE = (3, 6, 5, 3)
IMAGES = rng.integers(0, 256, size=SHAPE).astype("float32")
# A channel of one brightness.
IMAGES[1, :, :, 2] = 40
LABELS = np.eye(4, dtype="float32")[[0, 2, 3]]
MASKS = rng.integers(0, 5, size=(3, 6, 5, 1)).astype("float32")

# Class, options.
SMALL = {"value_range": (0.0, 1.0)}
CASES = [
    ("RandomFlip", {}),
    ("RandomFlip", {"mode": "horizontal"}),
    ("RandomFlip", {"mode": "vertical"}),
    ("RandomTranslation", {"height_factor": 0.3, "width_factor": (-0.5, 0.2)}),
    ("RandomTranslation", {"height_factor": (-0.4, -0.3), "width_factor": 0.4, "fill_mode": "constant", "fill_value": 9.0}),
    ("RandomTranslation", {"height_factor": 0.6, "width_factor": 0.6, "fill_mode": "wrap", "interpolation": "nearest"}),
    ("RandomRotation", {"factor": 0.25}),
    ("RandomRotation", {"factor": (0.1, 0.2), "fill_mode": "nearest", "interpolation": "nearest"}),
    ("RandomZoom", {"height_factor": 0.3}),
    ("RandomZoom", {"height_factor": (-0.5, -0.2), "width_factor": (0.1, 0.4), "fill_mode": "constant"}),
    ("RandomShear", {"x_factor": 0.4, "y_factor": 0.2}),
    ("RandomShear", {"y_factor": (0.1, 0.5), "fill_mode": "wrap"}),
    ("RandomPerspective", {"factor": (0.4, 0.8), "scale": 0.3}),
    ("RandomPerspective", {"scale": 0.4, "interpolation": "nearest", "fill_value": 7.0}),
    ("RandomCrop", {"height": 4, "width": 3}),
    ("CenterCrop", {"height": 3, "width": 4}),
    ("CenterCrop", {"height": 7, "width": 4}),
    ("Resizing", {"height": 4, "width": 8}),
    ("Resizing", {"height": 9, "width": 9, "crop_to_aspect_ratio": True, "interpolation": "nearest"}),
    ("Resizing", {"height": 4, "width": 10, "crop_to_aspect_ratio": True}),
    ("Resizing", {"height": 4, "width": 12, "pad_to_aspect_ratio": True, "fill_value": 3.0}),
    ("Resizing", {"height": 3, "width": 2, "antialias": True}),
    ("RandomBrightness", {"factor": 0.4}),
    ("RandomBrightness", {"factor": (0.1, 0.5), **SMALL}),
    ("RandomContrast", {"factor": 0.5}),
    ("RandomContrast", {"factor": (0.2, 0.9), **SMALL}),
    ("RandomHue", {"factor": 0.6}),
    ("RandomHue", {"factor": (0.5, 1.0), **SMALL}),
    ("RandomSaturation", {"factor": 0.8}),
    ("RandomSaturation", {"factor": (0.3, 0.7), **SMALL}),
    ("RandomGrayscale", {"factor": 0.6}),
    ("RandomColorDegeneration", {"factor": 0.7}),
    ("RandomSharpness", {"factor": 0.9}),
    ("RandomSharpness", {"factor": (0.1, 0.4), **SMALL}),
    ("RandomPosterization", {"factor": 4}),
    ("RandomPosterization", {"factor": (2, 6), **SMALL}),
    ("RandomInvert", {"factor": 0.7}),
    ("RandomInvert", {**SMALL}),
    ("Solarization", {"addition_factor": 0.3, "threshold_factor": 0.6}),
    ("Solarization", {"addition_factor": (0.1, 0.2), "threshold_factor": (0.0, 0.4), **SMALL}),
    ("AutoContrast", {}),
    ("AutoContrast", {**SMALL}),
    ("Equalization", {}),
    ("Equalization", {"bins": 16}),
    ("RandomGaussianBlur", {"factor": (0.5, 1.0), "kernel_size": 5, "sigma": 0.9}),
    ("ContrastLimitedAdaptiveHistogramEqualization", {"tile_grid_size": (2, 2)}),
    ("ContrastLimitedAdaptiveHistogramEqualization", {"tile_grid_size": (2, 3), "clip_limit": 1.5}),
    ("RandomErasing", {"factor": (0.5, 1.0), "scale": (0.2, 0.6), "fill_value": 11.0}),
    ("RandomErasing", {"fill_value": (1.0, 2.0, 3.0)}),
    ("MixUp", {}),
    ("CutMix", {}),
    ("RandAugment", {"num_ops": 3}),
]
# What Keras cannot do with the labels or the masks of these.
ONLY_IMAGES = {"RandomGrayscale", "Equalization", "AutoContrast", "ContrastLimitedAdaptiveHistogramEqualization", "MixUp", "RandomCrop"}
# The order of the layers in ours.
OURS = "random_shear random_translation random_rotation random_posterization solarization auto_contrast equalization random_brightness random_color_degeneration random_contrast random_sharpness".split()


def tensor(x):
    x = np.asarray(x)
    values = np.ravel(x)
    if x.dtype.kind == "f":
        values = np.round(values.astype(float), 5)
    return {"dtype": x.dtype.name, "shape": list(x.shape), "values": values.tolist()}


def plain(name, t):
    """A transformation by our names."""
    if t is None or name in ("Resizing", "CenterCrop"):
        return {}
    if name == "RandomCrop":
        # Keras's ints say that nothing was drawn.
        return {} if isinstance(t[0], int) else {"top": tensor(t[0]), "left": tensor(t[1])}
    if name == "RandomGrayscale":
        return {"shouldApply": tensor(t)}
    if name == "RandAugment":
        order = list(t["transforms"])
        index = [OURS.index(order[i]) for i in np.asarray(t["layer_idxes"])]
        return {
            "layerIdxes": tensor(np.asarray(index, "int32")),
            "transforms": {camel(key): plain(key, value) for key, value in t["transforms"].items()},
        }
    return {camel(key): tensor(value) for key, value in t.items() if key != "input_shape"}


def run(name, options, data_format, single, training, dtype=None):
    layer = getattr(keras.layers, name)(**options, **({} if data_format is None else {"data_format": data_format}))
    images, masks = IMAGES, MASKS
    if options.get("value_range") == (0.0, 1.0):
        images = np.round(images / 255, 3)
    if dtype is not None:
        images = images.astype(dtype)
    if name == "RandomSharpness" or name == "RandomGaussianBlur":
        images = images.copy()
    if single:
        images, masks = images[0], masks[0]
    given = images
    if data_format == "channels_first":
        images, masks = [np.moveaxis(x, -1, -3) for x in (images, masks)]
    x = tf.constant(images)
    t = layer.get_random_transformation(x, training=training)
    case = {
        "layer": name,
        "config": {camel(k): v for k, v in options.items()} | ({} if data_format is None else {"dataFormat": camel(data_format)}),
        "training": training,
        "images": tensor(images),
        "transformation": plain(name, t),
        "output": tensor(layer.transform_images(x, t, training=training)),
    }
    del given
    if training and not single and name not in ONLY_IMAGES:
        case["masks"] = tensor(masks)
        case["maskOutput"] = tensor(layer.transform_segmentation_masks(tf.constant(masks), t, training=training))
    if training and not single and name in ("MixUp", "CutMix"):
        case["labels"] = tensor(LABELS)
        case["labelOutput"] = tensor(layer.transform_labels(tf.constant(LABELS), t, training=training))
    return case


# Those that Keras does wrong with the channels first, or that have no such option.
LAST = {"RandomFlip", "RandomContrast", "RandomBrightness", "Solarization", "AutoContrast", "RandAugment", "RandomErasing", "CutMix", "RandomSharpness", "MixUp", "Equalization"}
SINGLE = {"RandomFlip", "RandomRotation", "RandomZoom", "Resizing", "CenterCrop", "RandomBrightness", "RandomContrast", "RandomTranslation"}
cases = [run(name, options, None, False, True) for name, options in CASES]
done = set()
for name, options in CASES:
    if name in done:
        continue
    done.add(name)
    if name not in LAST:
        cases.append(run(name, options, "channels_first", False, True))
    if name in SINGLE:
        cases.append(run(name, options, None, True, True))
for name in ("RandomFlip", "RandomRotation", "RandomBrightness", "CenterCrop"):
    options = next(o for n, o in CASES if n == name)
    cases.append(run(name, options, None, False, False))
# These keep integers, and those of the first go round their ends.
for dtype in ("uint8", "int32"):
    for name in ("RandomBrightness", "RandomGrayscale"):
        options = next(o for n, o in CASES if n == name)
        cases.append(run(name, options, None, False, True, dtype))
    cases.append(run("RandomBrightness", options, None, False, False, dtype))

made = {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__, "seed": SEED}
lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
(OUT / "augmentation.json").write_text(f'{{"made":{json.dumps(made)},"cases":[\n{lines}\n]}}\n')
print(len(cases))
