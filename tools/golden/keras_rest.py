"""Makes packages/eagre/golden/keras-rest.json with Keras on TensorFlow: label sequences, eigenvalues, images, policies.

Run: KERAS_BACKEND=tensorflow python tools/golden/keras_rest.py (with OpenCV, for the frames around boxes)
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import cv2
import keras
import numpy as np
import tensorflow as tf

SEED = 29
OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden/keras-rest.json"
rng = np.random.default_rng(SEED)


def plain(x):
    x = np.asarray(x)
    if np.iscomplexobj(x):
        return {"re": plain(x.real), "im": plain(x.imag)}
    if x.dtype.kind == "f":
        return np.vectorize(lambda v: float(f"{v:.9g}"))(x).tolist() if x.size else x.tolist()
    return x.tolist()


# ---- label sequences

frames = (rng.normal(size=(3, 8, 5)) * 2).astype("float32")
lengths = [8, 5, 1]
DECODE = [
    {},
    {"merge_repeated": False},
    {"mask_index": 4},
    {"mask_index": 2},
    {"mask_index": None},
    {"strategy": "beam_search"},
    {"strategy": "beam_search", "beam_width": 3, "top_paths": 2},
    {"strategy": "beam_search", "beam_width": 6, "top_paths": 3, "mask_index": 2},
    {"strategy": "beam_search", "beam_width": 1, "mask_index": 4},
    {"strategy": "beam_search", "beam_width": 4, "mask_index": None},
    {"strategy": "beam_search", "beam_width": 4, "top_paths": 2, "mask_index": -2},
]
decoded = []
for options in DECODE:
    labels, scores = keras.ops.ctc_decode(frames, lengths, **options)
    decoded.append([options, plain(labels), plain(scores)])
# Long sequences, of which most prefixes leave the beam again.
long_frames = (rng.normal(size=(2, 24, 6)) * 1.5).astype("float32")
labels, scores = keras.ops.ctc_decode(long_frames, [24, 20], strategy="beam_search", beam_width=4, top_paths=4)
long = [plain(long_frames), [24, 20], plain(labels), plain(scores)]
time_major = np.transpose(frames, (1, 0, 2))
of_tensorflow = []
for name, options in [
    ("ctc_greedy_decoder", {}),
    ("ctc_greedy_decoder", {"merge_repeated": False, "blank_index": 1}),
    ("ctc_greedy_decoder", {"blank_index": -3}),
    ("ctc_beam_search_decoder", {"beam_width": 5, "top_paths": 2}),
]:
    sparse, scores = getattr(tf.nn, name)(time_major, np.array(lengths, "int32"), **options)
    dense = [
        tf.sparse.to_dense(tf.SparseTensor(s.indices, s.values, (3, 8)), default_value=-1).numpy() for s in sparse
    ]
    of_tensorflow.append([name, options, plain(dense), plain(scores)])

# ---- eigenvalues

matrices = {
    "3x3": rng.normal(size=(3, 3)),
    "batch": rng.normal(size=(2, 4, 4)),
    "complex": rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4)),
    "triangular": np.triu(rng.normal(size=(4, 4))) + np.diag([1.0, 2, 3, 4]),
    "rotation": np.array([[0.0, -1], [1, 0]]),
    "large": rng.normal(size=(12, 12)) * 1e8,
    "one": np.array([[3.0]]),
}
eigen = {}
weights = {}
for name, x in matrices.items():
    given = tf.constant(x)
    w = rng.normal(size=x.shape[:-1])
    wv = rng.normal(size=x.shape)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(given)
        e, v = tf.linalg.eig(given)
        # What depends neither on the order of the eigenvalues nor on the phases of the vectors.
        of_values = tf.reduce_sum(tf.abs(e) ** 2) + tf.reduce_sum(tf.math.real(e * e * e))
        p = tf.cast(tf.abs(v) ** 2, tf.float64)
        of_vectors = tf.reduce_sum(p * p * tf.constant(wv)[..., :1]) + tf.reduce_sum(tf.math.real(e))
    eigen[name] = {
        "x": plain(x),
        "e": plain(e),
        "w": plain(wv[..., :1]),
        "of_values": plain(tape.gradient(of_values, given)),
        "of_vectors": plain(tape.gradient(of_vectors, given)),
    }

# ---- images

smart = []
for shape, size, options in [
    ((6, 9, 3), (4, 4), {}),
    ((9, 5, 1), (3, 6), {}),
    ((2, 7, 7, 2), (5, 3), {"interpolation": "nearest"}),
    ((5, 8, 3), (10, 4), {"interpolation": "bicubic"}),
    ((3, 6, 9), (2, 2), {"data_format": "channels_first"}),
    ((2, 3, 5, 8), (4, 4), {"data_format": "channels_first", "interpolation": "lanczos3"}),
]:
    x = rng.uniform(0, 255, size=shape).astype("float32")
    y = keras.preprocessing.image.smart_resize(x, size, **options)
    smart.append([plain(x), list(size), options, plain(y)])

boxes = []
for images, given, source, options in [
    (np.zeros((1, 14, 16, 3), "float32"), [[[3, 4, 11, 9]]], "xyxy", {"line_thickness": 1, "color": (255, 10, 0)}),
    (np.full((1, 14, 16, 3), 0.4, "float32"), [[[4, 3, 9, 11]]], "yxyx", {}),
    (np.full((2, 12, 12, 3), 7, "uint8"), [[[2, 2, 5, 6], [4, 4, 6, 6]]] * 2, "xywh", {"line_thickness": 3}),
    (np.zeros((1, 12, 20, 3), "float32"), [[[-0.1, 0.2, 0.5, 1.2]]], "rel_xyxy", {"line_thickness": 4}),
    (np.zeros((1, 12, 20, 1), "float32"), [[[10, 6, 9, 5]]], "center_xywh", {"line_thickness": 5, "color": (9, 9, 9)}),
]:
    labels = np.ones((images.shape[0], len(given[0])))
    labels[0, -1] = -1 if len(given[0]) > 1 else 1
    box = {"boxes": np.array(given, "float32"), "labels": labels}
    y = keras.visualization.draw_bounding_boxes(images, box, source, **options)
    boxes.append([plain(images), str(images.dtype), given, plain(labels), source, options, plain(y)])

masks = []
for mask, options in [
    ([[[[0], [1], [2]], [[3], [-1], [1]]]], {}),
    ([[[[0], [1], [2]], [[3], [-1], [1]]]], {"alpha": 0.3, "num_classes": 5}),
    ([[[[0], [1], [2]], [[3], [-1], [1]]]], {"ignore_index": 1, "num_classes": 4}),
    ([[[[0], [1], [2]], [[2], [0], [1]]]], {"blend": False, "color_mapping": {0: [1, 2, 3], 1: [40, 50, 60]}}),
]:
    x = rng.uniform(0, 255, size=(1, 2, 3, 3)).astype("float32").round()
    y = keras.visualization.draw_segmentation_masks(x, np.array(mask, "int32"), **options)
    masks.append([plain(x), mask, options, plain(y)])

# ---- policies

from keras.dtype_policies import DTypePolicy, DTypePolicyMap, QuantizedDTypePolicy

open_map = DTypePolicyMap()
open_map["dense"] = DTypePolicy("bfloat16")
open_map["encoder/.*"] = QuantizedDTypePolicy("int8", "float32")
named_map = DTypePolicyMap(default_policy="mixed_bfloat16")
named_map["dense"] = "bfloat16"
named_map["encoder/.*"] = QuantizedDTypePolicy("int8", "float32")
own_map = DTypePolicyMap(default_policy=DTypePolicy("mixed_bfloat16"), policy_map={"a": DTypePolicy("bfloat16")})
x = keras.Input((3,), name="x")
dense = keras.layers.Dense(2, dtype=own_map, name="a")
model = keras.Model(x, keras.layers.Dense(2, dtype=own_map, name="b")(dense(x)), name="m")
attention = keras.layers.MultiHeadAttention(
    2, 2, name="mha", dtype=DTypePolicyMap("float32", {"mha/query": DTypePolicy("bfloat16")})
)
attention(keras.Input((3, 4)), keras.Input((3, 4)))
policies = {
    "maps": [[m.name, keras.saving.serialize_keras_object(m)] for m in (open_map, named_map, own_map)],
    "model": json.loads(model.to_json()),
    "computed": [[l.name, l.compute_dtype, l.variable_dtype] for l in model.layers[1:]],
    "attention": [[l.path, l.compute_dtype] for l in attention._flatten_layers() if l.path and l.path != "mha"],
}

found = {
    "versions": {
        "keras": keras.__version__,
        "tensorflow": tf.__version__,
        "opencv": cv2.__version__,
    },
    "seed": SEED,
    "ctc": {"frames": plain(frames), "lengths": lengths, "decoded": decoded, "long": long, "tensorflow": of_tensorflow},
    "eigen": eigen,
    "smart_resize": smart,
    "boxes": boxes,
    "masks": masks,
    "policies": policies,
}
OUT.write_text(json.dumps(found, separators=(",", ":")) + "\n")
