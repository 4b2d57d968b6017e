"""Makes packages/data/golden/images.json with Keras and Pillow: what `load_img` gives for a small picture with transparency, in modes and
sizes, and what `array_to_img` and `img_to_array` make of numbers.

Run: KERAS_BACKEND=tensorflow python tools/golden/image_files.py
"""

import base64
import io
import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import PIL.Image

OUT = pathlib.Path(__file__).parents[2] / "packages/data/golden"
SEED = 20
rng = np.random.default_rng(SEED)
file = io.BytesIO()
PIL.Image.fromarray(rng.integers(0, 256, size=(9, 12, 4), dtype="uint8"), "RGBA").save(file, "png")

LOADS = [
    {},
    {"color_mode": "grayscale"},
    {"color_mode": "rgba"},
    {"target_size": (5, 7)},
    {"target_size": (5, 7), "keep_aspect_ratio": True},
    *[
        {"target_size": size, "interpolation": how}
        for how in ("bilinear", "bicubic", "lanczos", "box", "hamming")
        for size in ((4, 5), (20, 12), (13, 30))
    ],
    {"target_size": (4, 9), "interpolation": "bilinear", "keep_aspect_ratio": True, "color_mode": "grayscale"},
    {"target_size": (10, 4), "interpolation": "bicubic", "keep_aspect_ratio": True},
    {"target_size": (6, 5), "interpolation": "bilinear", "color_mode": "rgba"},
]
ARRAYS = [
    (rng.normal(size=(2, 3, 3)), {}),
    (rng.normal(size=(3, 2, 2)), {"data_format": "channels_first"}),
    (rng.uniform(0, 255, size=(2, 2, 4)), {"scale": False}),
    (np.full((2, 2, 1), 3.5), {}),
]


def loaded(options):
    image = keras.utils.load_img(io.BytesIO(file.getvalue()), **options)
    array = keras.utils.img_to_array(image)
    return {"options": options, "shape": array.shape, "values": array.ravel().astype(int).tolist()}


def made(x, options):
    x = x.astype("float32")
    image = keras.utils.array_to_img(x, **options)
    values = np.asarray(image)
    return {"x": x.tolist(), "options": options, "size": image.size, "values": values.ravel().tolist()}


golden = {
    "made": {"keras": keras.__version__, "pillow": PIL.__version__, "numpy": np.__version__, "seed": SEED},
    "png": base64.b64encode(file.getvalue()).decode(),
    "loads": [loaded(options) for options in LOADS],
    "arrays": [made(*case) for case in ARRAYS],
}
(OUT / "images.json").write_text(json.dumps(golden) + "\n")
