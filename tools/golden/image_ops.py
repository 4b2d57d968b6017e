"""Makes packages/eagre/golden/images.json with TensorFlow and Keras: images resized, warped, coloured, cut, and their gradients.

Run: KERAS_BACKEND=tensorflow python tools/golden/image_ops.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import keras
import numpy as np
import tensorflow as tf

SEED = 53
OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden"
rng = np.random.default_rng(SEED)


def noise(shape, low=0, high=1):
    """Few digits, for short files."""
    return np.round(rng.uniform(low, high, size=shape), 2)


def plain(x):
    x = np.asarray(x)
    return x.tolist() if x.dtype.kind in "iub" else np.round(x.astype(float), 6).tolist()


# A batch of two, one image, bytes, and one that is bright in a corner.
IMAGES = {
    "batch": (noise((2, 5, 4, 2)), "float32"),
    "one": (noise((4, 6, 1)), "float32"),
    "rgb": (noise((2, 3, 4, 3)), "float32"),
    "bytes": (rng.integers(0, 256, size=(3, 4, 3)), "uint8"),
    "grey": (noise((2, 3, 2, 1)), "float32"),
}
cases = []


def case(fn, image, args, call, gradient=True):
    values, dtype = IMAGES[image]
    x = tf.constant(values, dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = call(x)
        weight = tf.cast(tf.reshape(tf.cos(tf.range(tf.size(y), dtype="float32")), tf.shape(y)), y.dtype)
        total = tf.reduce_sum(y * weight)
    entry = {"fn": fn, "image": image, "args": args, "dtype": y.dtype.name, "shape": list(y.shape), "values": plain(tf.reshape(y, [-1]))}
    if gradient and x.dtype.is_floating and y.dtype.is_floating:
        d = tape.gradient(total, x)
        if d is not None:
            entry["gradient"] = plain(tf.reshape(d, [-1]))
    cases.append(entry)


METHODS = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]
for method in METHODS:
    for image, size in [("batch", [7, 9]), ("batch", [3, 2]), ("one", [4, 6]), ("bytes", [5, 3])]:
        for antialias in [False, True]:
            if antialias and method in ("nearest", "area"):
                continue
            case(
                "resize",
                image,
                {"size": size, "method": method, "antialias": antialias},
                lambda x: tf.image.resize(x, size, method=method, antialias=antialias),
                # TensorFlow has no gradient of areas; its table of cubic weights is coarse.
                gradient=method != "area",
            )
case("resize", "one", {"size": [6, 6], "preserveAspectRatio": True}, lambda x: tf.image.resize(x, [6, 6], preserve_aspect_ratio=True))

TURN = [0.8, -0.6, 1.3, 0.6, 0.8, -0.9, 0.0, 0.0]
FAR = [1.7, 0.2, -2.6, -0.3, 2.1, -1.2, 0.0, 0.0]
ASIDE = [1.1, 0.1, -0.4, 0.05, 0.9, 0.3, 0.03, -0.02]
for transform in [TURN, FAR, ASIDE]:
    for fill in ["constant", "reflect", "wrap", "nearest"]:
        for interpolation in ["bilinear", "nearest"]:
            case(
                "affineTransform",
                "batch",
                {"transform": transform, "interpolation": interpolation, "fillMode": fill, "fillValue": 0.5},
                lambda x: keras.ops.image.affine_transform(x, tf.constant(transform), interpolation=interpolation, fill_mode=fill, fill_value=0.5),
                # TensorFlow's gradient samples backwards, which is not the gradient where maps stretch.
                gradient=False,
            )
case("affineTransform", "batch", {"transform": [TURN, FAR]}, lambda x: keras.ops.image.affine_transform(x, tf.constant([TURN, FAR])), gradient=False)
case("affineTransform", "one", {"transform": TURN}, lambda x: keras.ops.image.affine_transform(x, tf.constant(TURN)), gradient=False)
case("affineTransform", "bytes", {"transform": TURN, "interpolation": "nearest"}, lambda x: keras.ops.image.affine_transform(x, tf.constant(TURN), interpolation="nearest"))
START = [[0.0, 0.0], [3.0, 0.4], [0.2, 4.0], [2.8, 3.9]]
END = [[0.3, 0.1], [3.0, 0.0], [0.0, 3.6], [3.2, 4.1]]
for interpolation in ["bilinear", "nearest"]:
    case(
        "perspectiveTransform",
        "batch",
        {"startPoints": START, "endPoints": END, "interpolation": interpolation},
        lambda x: keras.ops.image.perspective_transform(x, np.array(START), np.array(END), interpolation=interpolation),
        gradient=False,
    )

for image in ["rgb", "bytes"]:
    case("rgbToGrayscale", image, {}, tf.image.rgb_to_grayscale)
    case("adjustBrightness", image, {"delta": 0.3}, lambda x: tf.image.adjust_brightness(x, 0.3))
    case("adjustContrast", image, {"contrastFactor": 1.5}, lambda x: tf.image.adjust_contrast(x, 1.5), gradient=False)
    case("adjustGamma", image, {"gamma": 2.0, "gain": 0.9}, lambda x: tf.image.adjust_gamma(x, 2.0, 0.9))
    case("adjustHue", image, {"delta": 0.4}, lambda x: tf.image.adjust_hue(x, 0.4), gradient=False)
    case("adjustSaturation", image, {"saturationFactor": 1.7}, lambda x: tf.image.adjust_saturation(x, 1.7), gradient=False)
    case("perImageStandardization", image, {}, tf.image.per_image_standardization)
case("rgbToHsv", "rgb", {}, tf.image.rgb_to_hsv)
case("hsvToRgb", "rgb", {}, tf.image.hsv_to_rgb, gradient=False)
case("grayscaleToRgb", "grey", {}, tf.image.grayscale_to_rgb)
for image in ["one", "batch"]:
    case("flipLeftRight", image, {}, tf.image.flip_left_right)
    case("flipUpDown", image, {}, tf.image.flip_up_down)
    case("transpose", image, {}, tf.image.transpose)
    for k in [0, 1, 2, 3, -1, 6]:
        case("rot90", image, {"k": k}, lambda x: tf.image.rot90(x, k))
    case("centralCrop", image, {"centralFraction": 0.5}, lambda x: tf.image.central_crop(x, 0.5))
    case("cropToBoundingBox", image, {"offsetHeight": 1, "offsetWidth": 2, "targetHeight": 3, "targetWidth": 1}, lambda x: tf.image.crop_to_bounding_box(x, 1, 2, 3, 1))
    case("padToBoundingBox", image, {"offsetHeight": 1, "offsetWidth": 2, "targetHeight": 8, "targetWidth": 9}, lambda x: tf.image.pad_to_bounding_box(x, 1, 2, 8, 9))
    for h, w in [(3, 9), (7, 3), (2, 2)]:
        case("resizeWithCropOrPad", image, {"targetHeight": h, "targetWidth": w}, lambda x: tf.image.resize_with_crop_or_pad(x, h, w))

golden = {
    "made": {"tensorflow": tf.__version__, "keras": keras.__version__, "numpy": np.__version__, "seed": SEED},
    "images": {name: {"dtype": dtype, "shape": list(np.shape(v)), "values": np.ravel(v).tolist()} for name, (v, dtype) in IMAGES.items()},
    "cases": cases,
}
OUT.mkdir(parents=True, exist_ok=True)
(OUT / "images.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")
print(f"{len(cases)} cases of {OUT / 'images.json'}")
