"""Makes packages/layers/golden/boxes-beside-images.json with Keras: boxes beside images that preprocessing layers change, for given transformations.

Run: python tools/golden/boxes_beside_images.py
"""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import numpy as np
import tensorflow as tf

L = keras.layers
BOXES = [[[1, 2, 5, 6], [-2, 3, 4, 20], [7, 1, 9.5, 3.5]], [[0, 0, 10, 8], [2.5, 2.5, 3, 7], [8, 6, 9, 7]]]
# Keras leaves what RandomFlip moves over the border on the right and below.
INSIDE = [[[1, 2, 5, 6], [0, 3, 4, 8], [7, 1, 9.5, 3.5]], BOXES[1]]
LABELS = [[1, 2, 3], [4, 5, 6]]
cases = []


def numbers(value):
    return [numbers(v) for v in value] if isinstance(value, list) else float(f"{value:.6g}")


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def case(layer, options, source, transformation, ours, height=8, width=10):
    boxes = keras.utils.bounding_boxes.convert_format(
        np.array(INSIDE if layer == "RandomFlip" else BOXES, "float32"), source="xyxy", target=source, height=height, width=width
    )
    made = getattr(L, layer)(bounding_box_format=source, **options)
    given = {"boxes": tf.constant(boxes), "labels": tf.constant(LABELS)}
    result = made.transform_bounding_boxes(given, transformation, training=True)
    cases.append(
        {
            "layer": layer,
            "options": {camel(k): v for k, v in options.items()},
            "format": source,
            "sides": [height, width],
            "transformation": ours,
            "given": numbers(np.asarray(boxes).tolist()),
            "boxes": numbers(np.asarray(result["boxes"]).tolist()),
            "labels": np.asarray(result["labels"]).tolist(),
        }
    )


shape = (2, 8, 10, 1)
for source in ["xyxy", "rel_center_xywh"]:
    for mode in ["horizontal", "vertical", "horizontal_and_vertical"]:
        flips = tf.constant([[[[True]]], [[[False]]]])
        case("RandomFlip", {"mode": mode}, source, {"flips": flips, "input_shape": shape}, {"flips": [True, False]})
    factors = {"height_factor": 0.5, "width_factor": 0.5}
    shifts = [[3.0, -2.0], [-1.5, 4.0]]
    theirs = {"translations": tf.constant(shifts), "input_shape": shape}
    case("RandomTranslation", factors, source, theirs, {"translations": shifts})
    tall, wide = [[1.2], [0.8]], [[0.9], [1.1]]
    theirs = {"height_zoom": tf.constant(tall), "width_zoom": tf.constant(wide), "input_shape": shape}
    case("RandomZoom", factors, source, theirs, {"heightZoom": tall, "widthZoom": wide})
    for height, width in [(4, 6), (10, 6), (12, 20)]:
        size = {"height": height, "width": width}
        case("CenterCrop", size, source, {"input_shape": shape}, {})
        for more in [{}, {"crop_to_aspect_ratio": True}, {"pad_to_aspect_ratio": True}]:
            case("Resizing", {**size, **more}, source, (8, 10), {})
# Of other formats, and of images that are not square, these are wrong in Keras.
angle = [30.0, -75.0]
theirs = {"angle": tf.constant(angle), "image_height": 8, "image_width": 10, "batch_size": 2}
case("RandomRotation", {"factor": 0.5}, "xyxy", theirs, {"angle": angle})
shear = [[0.3, 0.0], [0.0, -0.2]]
theirs = {"shear_factor": tf.constant(shear), "input_shape": (2, 10, 10, 1)}
case("RandomShear", {"x_factor": 0.5, "y_factor": 0.5}, "xyxy", theirs, {"shearFactor": shear}, 10, 10)
start = [[[0, 0], [9, 0], [0, 7], [9, 7]]] * 2
end = [[[1, 0.5], [8, 1], [-1, 7], [9, 6]], start[1]]
theirs = {
    "apply_perspective": tf.constant([1.0, 0.0]),
    "start_points": tf.constant(start, tf.float32),
    "end_points": tf.constant(end, tf.float32),
    "input_shape": shape,
}
ours = {"applyPerspective": [True, False], "startPoints": start, "endPoints": end}
case("RandomPerspective", {}, "xyxy", theirs, ours)

made = {"madeBy": "tools/golden/boxes_beside_images.py", "keras": keras.__version__, "cases": cases}
path = os.path.join(os.path.dirname(__file__), "../../packages/layers/golden/boxes-beside-images.json")
with open(path, "w") as file:
    json.dump(made, file)
print(len(cases), "cases", file=sys.stderr)
