"""Makes packages/layers/golden/bounding_boxes.json with Keras on TensorFlow: keras.utils.bounding_boxes and smart_resize.

Run: KERAS_BACKEND=tensorflow python tools/golden/bounding_boxes.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras.utils import bounding_boxes as bb

SEED = 83
OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden/bounding_boxes.json"
FORMATS = "xyxy yxyx xywh center_xywh center_yxhw rel_xyxy rel_yxyx rel_xywh rel_center_xywh".split()
rng = np.random.default_rng(SEED)


def boxes(*shape):
    start = rng.uniform(-5, 50, [*shape, 2])
    return np.concatenate([start, start + rng.uniform(2, 60, [*shape, 2])], -1).astype("float32")


def plain(x):
    return np.asarray(x).tolist()


one, two, batch = boxes(3), boxes(4), boxes(2, 3)
anchors, near = boxes(3), boxes(3)
size = {"height": 80, "width": 100}
variance = [0.1, 0.1, 0.2, 0.2]
masked = np.concatenate([one[:2], [[-1, -1, -1, -1]]]).astype("float32")
labels = np.array([[1, 2, 3], [4, 5, 6]])
outside = np.concatenate([batch[:, :2], batch[:, 2:] - 500], 1)
clipped = bb.clip_to_image_size({"boxes": tf.constant(outside), "labels": tf.constant(labels)}, **size)
turn = [np.array(v, "float32") for v in ([10, -30], [0.1, 0], [0, -0.2], [1, 1.5], [0, 5], [3, 0])]

cases = {
    "convert": {
        a: {b: plain(bb.convert_format(bb.convert_format(one, "xyxy", a, **size), a, b, **size)) for b in FORMATS}
        for a in FORMATS
    },
    "iou": plain(bb.compute_iou(one, two, "xyxy")),
    "iou_batch": plain(bb.compute_iou(batch, two, "xywh")),
    "iou_batches": plain(bb.compute_iou(batch, boxes(2, 3) * 0 + batch[:, ::-1], "xyxy")),
    "iou_relative": plain(bb.compute_iou(one / 100, two / 100, "rel_xyxy", image_shape=(80, 100, 3))),
    "iou_masked": plain(bb.compute_iou(masked, two, "xyxy", use_masking=True, mask_val=-2)),
    "ciou": plain(bb.compute_ciou(anchors, near, "xyxy")),
    "clip_boxes": plain(clipped["boxes"]),
    "clip_labels": plain(clipped["labels"]),
    "affine": plain(bb.affine_transform(batch, *turn, 80, 100)),
    "affine_center": plain(bb.affine_transform(batch, *turn, 80, 100, center_x=0.2, center_y=0.9)),
    "crop": plain(bb.crop(batch, 10, 20, 30, 40)),
    "pad": plain(bb.pad(batch, 10, 20)),
    "encode": plain(bb.encode_box_to_deltas(anchors, near, "xyxy", "xyxy")),
    "encode_variance": plain(bb.encode_box_to_deltas(anchors, batch, "xyxy", "xywh", "center_xywh", variance)),
    "decode": plain(bb.decode_deltas_to_boxes(anchors, near / 50, "xyxy", "xyxy")),
    "decode_relative": plain(
        bb.decode_deltas_to_boxes(anchors, near / 50, "xyxy", "rel_xywh", "center_xywh", variance, (80, 100, 3))
    ),
}
given = {"one": one, "two": two, "batch": batch, "anchors": anchors, "near": near, "masked": masked, "outside": outside}
OUT.write_text(
    json.dumps(
        {
            "versions": {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__},
            "seed": SEED,
            "turn": [plain(t) for t in turn],
            "given": {k: plain(v) for k, v in given.items()},
            "cases": cases,
        }
    )
    + "\n"
)
