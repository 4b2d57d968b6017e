"""Makes packages/eagre/golden/resize-not-finite.json with TensorFlow: images resized that have a NaN or an infinity.

Run: python tools/golden/resize_not_finite.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden/resize-not-finite.json"
METHODS = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]
# Where, and what: a corner, the middle, two that meet.
SPOTS = {
    "nan": [((0, 2, 3, 0), "NaN")],
    "corner": [((0, 0, 0, 0), "NaN"), ((0, 4, 5, 0), "-Infinity")],
    "opposite": [((0, 1, 2, 0), "Infinity"), ((0, 2, 2, 0), "-Infinity")],
}
SIZES = [(3, 4), (9, 11), (10, 12), (5, 6), (1, 13), (7, 2)]


def plain(x):
    # Small numbers are kept short; what is not finite is text.
    return [round(float(v), 4) if np.isfinite(v) else "NaN" if np.isnan(v) else "Infinity" if v > 0 else "-Infinity" for v in x]


cases = []
for spots, places in SPOTS.items():
    image = (np.arange(30) * 7 % 11).reshape(1, 5, 6, 1).astype("float32")
    for place, value in places:
        image[place] = float(value)
    for size in SIZES:
        for method in METHODS:
            for antialias in [False, True]:
                y = tf.image.resize(image, size, method=method, antialias=antialias).numpy()
                cases.append([spots, list(size), method, antialias, plain(y.reshape(-1))])
OUT.write_text(json.dumps({"spots": SPOTS, "cases": cases}, separators=(",", ":")) + "\n")
print(f"{len(cases)} cases of {OUT}")
