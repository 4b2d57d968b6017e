"""Makes packages/layers/golden/dtype-policies.json with Keras on TensorFlow: the dtypes of outputs and variables of each class of layers.

Run: KERAS_BACKEND=tensorflow python tools/golden/dtype_policies.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from layer_values import camel

OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden/dtype-policies.json"
POLICIES = ["float16", "bfloat16", "float64", "mixed_float16", "mixed_bfloat16", "int32", "uint8", "int64", "bool"]
# With values: of small inputs all of them.
INTEGERS = ["int16", "int32", "uint8", "int64", "bool"]
SMALL = ["int16", "int64", "bool"]

ROWS, STEPS, IMAGES, VOLUMES = [2, 4], [2, 6, 4], [2, 6, 6, 3], [2, 5, 5, 5, 2]
LARGE = [IMAGES, VOLUMES]
BY_RANK = {1: STEPS, 2: IMAGES, 3: VOLUMES}
CASES = {
    "Activation": ({"activation": "tanh"}, ROWS),
    "ActivityRegularization": ({"l2": 0.1}, ROWS),
    "AdditiveAttention": ({}, [STEPS, STEPS]),
    "AlphaDropout": ({"rate": 0.5}, ROWS),
    "Attention": ({"use_scale": True}, [STEPS, STEPS]),
    "BatchNormalization": ({}, ROWS),
    "CategoryEncoding": ({"num_tokens": 4}, ROWS, "int32"),
    "CenterCrop": ({"height": 3, "width": 4}, IMAGES),
    "Dense": ({"units": 3}, ROWS),
    "Discretization": ({"bin_boundaries": [0.5, 2.0]}, ROWS),
    "Dot": ({"axes": 1}, [ROWS, ROWS]),
    "Dropout": ({"rate": 0.5}, ROWS),
    "ELU": ({}, ROWS),
    "EinsumDense": ({"equation": "ab,bc->ac", "output_shape": 3}, ROWS),
    "Embedding": ({"input_dim": 5, "output_dim": 2}, ROWS, "int32"),
    "Flatten": ({}, STEPS),
    "GRU": ({"units": 2}, STEPS),
    "GaussianDropout": ({"rate": 0.5}, ROWS),
    "GaussianNoise": ({"stddev": 0.5}, ROWS),
    "GroupNormalization": ({"groups": 2}, ROWS),
    "GroupQueryAttention": ({"head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 2}, [STEPS, STEPS]),
    "HashedCrossing": ({"num_bins": 3}, [[2, 1], [2, 1]], "int32"),
    "Hashing": ({"num_bins": 3}, ROWS, "int32"),
    "Identity": ({}, ROWS),
    "IntegerLookup": ({"vocabulary": [1, 2]}, ROWS, "int64"),
    "LSTM": ({"units": 2}, STEPS),
    "LayerNormalization": ({}, ROWS),
    "LeakyReLU": ({}, ROWS),
    "Masking": ({}, STEPS),
    "MelSpectrogram": ({"sequence_stride": 64, "fft_length": 128, "num_mel_bins": 4}, [2, 256]),
    "MultiHeadAttention": ({"num_heads": 2, "key_dim": 3}, [STEPS, STEPS]),
    "Normalization": ({"mean": 1.0, "variance": 2.0}, ROWS),
    "PReLU": ({}, ROWS),
    "Permute": ({"dims": [2, 1]}, STEPS),
    "RMSNormalization": ({}, ROWS),
    "RandomBrightness": ({"factor": 0.2}, IMAGES),
    "RandomColorDegeneration": ({"factor": 0.2}, IMAGES),
    "RandomContrast": ({"factor": 0.2}, IMAGES),
    "RandomCrop": ({"height": 3, "width": 4}, IMAGES),
    "RandomHue": ({"factor": 0.2}, IMAGES),
    "RandomPosterization": ({"factor": 4}, IMAGES),
    "RandomRotation": ({"factor": 0.2}, IMAGES),
    "RandomSaturation": ({"factor": 0.2}, IMAGES),
    "RandomSharpness": ({"factor": 0.2}, IMAGES),
    "RandomTranslation": ({"height_factor": 0.2, "width_factor": 0.2}, IMAGES),
    "RandomZoom": ({"height_factor": 0.2}, IMAGES),
    "ReLU": ({}, ROWS),
    "RepeatVector": ({"n": 2}, ROWS),
    "Rescaling": ({"scale": 2.0}, ROWS),
    "Reshape": ({"target_shape": [2, 2]}, ROWS),
    "Resizing": ({"height": 3, "width": 4}, IMAGES),
    "ReversibleEmbedding": ({"input_dim": 5, "output_dim": 2}, ROWS, "int32"),
    "STFTSpectrogram": ({"frame_length": 64, "frame_step": 32, "fft_length": 64}, [2, 256, 1]),
    "SimpleRNN": ({"units": 2}, STEPS),
    "Softmax": ({}, ROWS),
    "StringLookup": ({"vocabulary": ["a", "b"]}, ROWS, "string"),
    "TextVectorization": ({"vocabulary": ["a", "b"]}, [2, 1], "string"),
    "UnitNormalization": ({}, ROWS),
}
for name in ["Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract"]:
    CASES[name] = ({}, [ROWS, ROWS])
for name in (
    "AugMix AutoContrast Equalization RandAugment RandomColorJitter RandomElasticTransform RandomErasing RandomFlip "
    "RandomGaussianBlur RandomGrayscale RandomInvert RandomPerspective RandomShear Solarization"
).split():
    CASES[name] = ({}, IMAGES)
for rank, shape in BY_RANK.items():
    for name in ["AdaptiveAveragePooling", "AdaptiveMaxPooling"]:
        CASES[f"{name}{rank}D"] = ({"output_size": 2}, shape)
    CASES[f"AveragePooling{rank}D"] = ({"pool_size": 2}, shape)
    for name in ["MaxPooling", "GlobalAveragePooling", "GlobalMaxPooling", "UpSampling", "ZeroPadding", "Cropping"]:
        CASES[f"{name}{rank}D"] = ({}, shape)
    for name in ["Conv{}D", "Conv{}DTranspose", "SeparableConv{}D", "ConvLSTM{}D"]:
        if rank == 3 and name != "Conv{}D" and name != "Conv{}DTranspose":
            continue
        at = [2, 2, *shape[1:]] if name == "ConvLSTM{}D" else shape
        CASES[name.format(rank)] = ({"filters": 2, "kernel_size": 2}, at)
    if rank < 3:
        CASES[f"DepthwiseConv{rank}D"] = ({"kernel_size": 2}, shape)
    CASES[f"SpatialDropout{rank}D"] = ({"rate": 0.5}, shape)


def pattern(shape, dtype, first):
    """Floats with halves, or whole numbers, which a formula tells."""
    values = (np.arange(np.prod(shape)) * 7 + first) % 23 / 2
    return tf.constant(values.reshape(shape).astype(dtype))


def computed(name, options, shape, dtype, policy):
    """The outputs for a pattern; None where Keras throws, or draws at random."""
    if name.startswith(("Rand", "AugMix")) or dtype == "string":
        return None
    many = isinstance(shape[0], list)
    try:
        layer = getattr(layers, name)(**options, dtype=policy)
        inputs = [pattern(s, dtype, i) for i, s in enumerate(shape if many else [shape])]
        outputs = layer(*inputs) if name in ("MultiHeadAttention", "GroupQueryAttention") else layer(inputs if many else inputs[0])
        return [
            {
                "shape": list(y.shape),
                "values": [int(v) if v == int(v) else v for v in np.asarray(y).astype("float64").round(5).flatten().tolist()],
            }
            for y in tf.nest.flatten(outputs)
        ]
    except Exception:
        return None


def called(name, options, shape, dtype, policy, training):
    """The dtypes of the outputs and of the weights; None where Keras throws."""
    many = isinstance(shape[0], list)
    try:
        layer = getattr(layers, name)(**options, dtype=policy)
        one = "a" if dtype == "string" else 1
        inputs = [tf.fill(s, tf.constant(one, dtype)) for s in (shape if many else [shape])]
        if name in ("MultiHeadAttention", "GroupQueryAttention"):
            outputs = layer(*inputs, training=training)
        else:
            x = inputs if many else inputs[0]
            outputs = layer(x, training=True) if training and layer._call_has_training_arg else layer(x)
        return {kind: dtypes(found) for kind, found in [("outputs", outputs), ("weights", layer.weights)]}
    except Exception:
        return None


def dtypes(found):
    return [keras.backend.standardize_dtype(x.dtype) for x in tf.nest.flatten(found)]


def main():
    cases = []
    for name, (options, shape, *dtype) in sorted(CASES.items()):
        given = (name, options, shape, dtype[0] if dtype else "float32")
        told, trained = ({p: called(*given, p, training) for p in POLICIES} for training in (False, True))
        cases.append(
            {
                "layer": name,
                "options": {camel(k): v for k, v in options.items()},
                "shape": shape,
                "dtype": given[3],
                "policies": told,
                # Where that is different.
                "training": {p: trained[p] for p in POLICIES if trained[p] != told[p]},
                "values": {
                    p: y for p in INTEGERS if not (p in SMALL and shape in LARGE) and (y := computed(*given, p)) is not None
                },
            }
        )
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    OUT.write_text(f'{{"keras": "{keras.__version__}", "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
