"""Makes packages/layers/golden/layers.json with Keras on TensorFlow: outputs, gradients and statistics of layers.

Run: KERAS_BACKEND=tensorflow python tools/golden/layers.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from layer_values import camel, numbers, tensor

SEED = 30
OUT = pathlib.Path(__file__).parents[2] / "packages/layers/golden"
IMAGES = (1, 5, 6, 4)

# Class, options, shapes of inputs, and what differs from one call in inference.
CASES = [
    ("Dense", {"units": 3}, [(2, 4)]),
    ("Dense", {"units": 3, "activation": "relu"}, [(3, 4)]),
    ("Dense", {"units": 2, "use_bias": False, "activation": "tanh"}, [(2, 3, 4)]),
    ("Dense", {"units": 4, "activation": "softmax"}, [(3, 2)]),
    ("Dense", {"units": 2, "kernel_regularizer": "l2", "activity_regularizer": "l1"}, [(4, 3)]),
    ("Conv2D", {"filters": 3, "kernel_size": 3}, [IMAGES]),
    ("Conv2D", {"filters": 3, "kernel_size": (2, 3), "padding": "same", "activation": "relu"}, [IMAGES]),
    ("Conv2D", {"filters": 2, "kernel_size": 3, "padding": "same", "strides": 2}, [IMAGES]),
    ("Conv2D", {"filters": 2, "kernel_size": 2, "strides": (2, 3)}, [(1, 7, 8, 2)]),
    ("Conv2D", {"filters": 2, "kernel_size": 3, "dilation_rate": 2, "padding": "same"}, [(1, 6, 5, 2)]),
    ("Conv2D", {"filters": 2, "kernel_size": (2, 3), "dilation_rate": (3, 2)}, [(1, 6, 7, 1)]),
    ("Conv2D", {"filters": 4, "kernel_size": 2, "groups": 2, "activation": "relu"}, [(2, 3, 4, 4)]),
    ("Conv2D", {"filters": 3, "kernel_size": 1, "use_bias": False, "activation": "gelu"}, [(2, 3, 3, 2)]),
    ("Conv2DTranspose", {"filters": 2, "kernel_size": 3}, [(2, 3, 4, 3)]),
    ("Conv2DTranspose", {"filters": 2, "kernel_size": 3, "strides": 2, "padding": "same"}, [(2, 3, 4, 3)]),
    ("Conv2DTranspose", {"filters": 1, "kernel_size": 2, "strides": 3, "activation": "relu"}, [(1, 3, 2, 2)]),
    ("DepthwiseConv2D", {"kernel_size": 3}, [IMAGES]),
    ("DepthwiseConv2D", {"kernel_size": 3, "padding": "same", "strides": 2, "depth_multiplier": 2}, [(1, 5, 6, 3)]),
    ("DepthwiseConv2D", {"kernel_size": 2, "dilation_rate": 2, "activation": "relu", "use_bias": False}, [(1, 5, 6, 3)]),
    ("SeparableConv2D", {"filters": 3, "kernel_size": 3, "padding": "same", "depth_multiplier": 2, "activation": "relu"}, [(1, 4, 5, 2)]),
    ("MaxPooling2D", {}, [IMAGES]),
    ("MaxPooling2D", {"pool_size": 3, "strides": 2, "padding": "same"}, [(1, 6, 7, 2)]),
    ("MaxPooling2D", {"pool_size": (3, 2), "strides": 1}, [(1, 4, 5, 2)]),
    ("AveragePooling2D", {"pool_size": 2}, [IMAGES]),
    ("AveragePooling2D", {"pool_size": 3, "strides": 2, "padding": "same"}, [(1, 6, 7, 2)]),
    ("GlobalAveragePooling2D", {}, [IMAGES]),
    ("GlobalMaxPooling2D", {"keepdims": True}, [IMAGES]),
    ("BatchNormalization", {}, [(4, 3, 2, 3)]),
    ("BatchNormalization", {"momentum": 0.75, "epsilon": 0.01}, [(4, 3, 2, 3)], {"training": [True, True, False]}),
    ("BatchNormalization", {"momentum": 0.5, "scale": False}, [(6, 3)], {"training": [True, False]}),
    ("BatchNormalization", {"center": False, "axis": 1}, [(3, 2, 4)], {"training": [True, False]}),
    ("BatchNormalization", {"trainable": False}, [(5, 2)], {"training": [True]}),
    ("LayerNormalization", {}, [(3, 5)]),
    ("LayerNormalization", {"axis": (1, 2), "epsilon": 1e-5}, [(2, 3, 4)]),
    ("LayerNormalization", {"center": False, "axis": 1}, [(2, 3, 4)]),
    ("Embedding", {"input_dim": 7, "output_dim": 3}, [(2, 4)], {"integers": 7}),
    ("Flatten", {}, [(2, 3, 2)]),
    ("Reshape", {"target_shape": (3, -1)}, [(2, 6, 2)]),
    ("Permute", {"dims": (3, 1, 2)}, [(2, 2, 3, 2)]),
    ("RepeatVector", {"n": 3}, [(2, 2)]),
    ("ZeroPadding2D", {"padding": ((1, 0), (2, 1))}, [(1, 2, 2, 2)]),
    ("UpSampling2D", {"size": (2, 3)}, [(1, 2, 2, 2)]),
    ("Rescaling", {"scale": 0.25, "offset": -1}, [(2, 3)]),
    ("Softmax", {"axis": 1}, [(2, 3, 2)]),
    ("LeakyReLU", {}, [(3, 4)]),
    ("ReLU", {"max_value": 1, "negative_slope": 0.25}, [(4, 5)]),
    ("ReLU", {"max_value": 1.5, "negative_slope": 0.25, "threshold": 0.5}, [(4, 5)]),
    ("Add", {}, [(2, 3), (2, 3), (2, 3)]),
    ("Add", {}, [(2, 3, 4), (2, 4)]),
    ("Subtract", {}, [(2, 3), (2, 1)]),
    ("Multiply", {}, [(2, 3), (2, 3), (2, 3)]),
    ("Average", {}, [(2, 3), (2, 3), (2, 3)]),
    ("Maximum", {}, [(2, 3), (2, 3), (2, 3)]),
    ("Minimum", {}, [(2, 3), (2, 3)]),
    ("Concatenate", {}, [(2, 2), (2, 3)]),
    ("Concatenate", {"axis": 1}, [(2, 2, 2), (2, 1, 2)]),
] + [
    ("Activation", {"activation": name}, [(2, 7)])
    for name in (
        "linear relu relu6 leaky_relu elu selu gelu silu sigmoid hard_sigmoid tanh softplus softsign softmax "
        "log_softmax exponential mish"
    ).split()
] + [
    # Keras adds biases along the last axis where that is as long as they are, also with the channels first: no size here is.
    ("Conv2D", {"filters": 3, "kernel_size": (2, 3), "padding": "same", "data_format": "channels_first", "activation": "softmax"}, [(2, 4, 5, 6)]),
    ("Conv1D", {"filters": 3, "kernel_size": 3}, [(2, 7, 4)]),
    ("Conv1D", {"filters": 3, "kernel_size": 3, "padding": "same", "strides": 2, "activation": "relu"}, [(2, 7, 2)]),
    ("Conv1D", {"filters": 2, "kernel_size": 3, "padding": "causal", "dilation_rate": 2}, [(2, 7, 3)]),
    ("Conv1D", {"filters": 2, "kernel_size": 2, "padding": "causal", "strides": 3, "use_bias": False}, [(1, 8, 3)]),
    ("Conv1D", {"filters": 4, "kernel_size": 2, "groups": 2, "data_format": "channels_first", "activation": "tanh"}, [(2, 4, 6)]),
    ("Conv1D", {"filters": 2, "kernel_size": 3, "padding": "causal", "data_format": "channels_first"}, [(1, 3, 5)]),
    ("Conv3D", {"filters": 3, "kernel_size": 2}, [(2, 3, 4, 5, 2)]),
    ("Conv3D", {"filters": 2, "kernel_size": (3, 2, 1), "padding": "same", "strides": (2, 1, 2), "activation": "relu"}, [(1, 5, 3, 4, 3)]),
    ("Conv3D", {"filters": 2, "kernel_size": (1, 2, 2), "dilation_rate": (1, 2, 1)}, [(1, 2, 4, 3, 2)]),
    ("Conv3D", {"filters": 2, "kernel_size": (2, 1, 1), "dilation_rate": (2, 1, 1)}, [(1, 4, 2, 2, 2)]),
    ("Conv3D", {"filters": 2, "kernel_size": 2, "data_format": "channels_first", "use_bias": False}, [(1, 3, 3, 3, 2)]),
    ("Conv1DTranspose", {"filters": 2, "kernel_size": 3, "strides": 2}, [(2, 4, 3)]),
    ("Conv1DTranspose", {"filters": 2, "kernel_size": 3, "strides": 2, "padding": "same", "activation": "relu"}, [(2, 4, 3)]),
    ("Conv1DTranspose", {"filters": 2, "kernel_size": 2, "strides": 3, "output_padding": 1, "data_format": "channels_first"}, [(1, 3, 4)]),
    ("Conv3DTranspose", {"filters": 2, "kernel_size": 3}, [(1, 2, 3, 2, 2)]),
    ("Conv3DTranspose", {"filters": 2, "kernel_size": (3, 2, 2), "strides": 2, "padding": "same", "activation": "relu"}, [(1, 2, 3, 2, 2)]),
    ("Conv3DTranspose", {"filters": 1, "kernel_size": 2, "strides": (3, 2, 1), "use_bias": False}, [(1, 2, 2, 3, 2)]),
    ("DepthwiseConv1D", {"kernel_size": 3, "padding": "same", "strides": 2, "depth_multiplier": 2}, [(2, 6, 3)]),
    ("DepthwiseConv1D", {"kernel_size": 2, "dilation_rate": 2, "activation": "relu", "data_format": "channels_first"}, [(1, 3, 6)]),
    ("SeparableConv1D", {"filters": 3, "kernel_size": 3, "padding": "same", "depth_multiplier": 2, "activation": "relu"}, [(2, 5, 2)]),
    ("SeparableConv1D", {"filters": 3, "kernel_size": 2, "strides": 2}, [(2, 6, 2)]),
    ("MaxPooling1D", {}, [(2, 5, 3)]),
    ("MaxPooling1D", {"pool_size": 3, "strides": 2, "padding": "same", "data_format": "channels_first"}, [(1, 2, 7)]),
    ("MaxPooling2D", {"pool_size": (2, 1), "data_format": "channels_first"}, [(2, 3, 4, 5)]),
    ("MaxPooling3D", {}, [(2, 4, 5, 4, 2)]),
    ("MaxPooling3D", {"pool_size": (2, 3, 1), "strides": (1, 2, 1), "padding": "same"}, [(1, 3, 4, 2, 2)]),
    ("AveragePooling1D", {"pool_size": 3, "strides": 1}, [(2, 5, 3)]),
    ("AveragePooling1D", {"pool_size": 2, "padding": "same"}, [(2, 5, 3)]),
    ("AveragePooling3D", {"pool_size": 2, "data_format": "channels_first"}, [(2, 2, 4, 2, 3)]),
    ("AveragePooling3D", {"pool_size": (3, 2, 3), "strides": 2, "padding": "same"}, [(1, 4, 3, 5, 2)]),
    ("GlobalAveragePooling1D", {"data_format": "channels_first", "keepdims": True}, [(2, 3, 4)]),
    ("GlobalAveragePooling3D", {}, [(2, 2, 3, 2, 3)]),
    ("GlobalAveragePooling3D", {"data_format": "channels_first", "keepdims": True}, [(1, 2, 2, 3, 2)]),
    ("GlobalMaxPooling1D", {"data_format": "channels_first"}, [(2, 3, 4)]),
    ("GlobalMaxPooling2D", {"data_format": "channels_first", "keepdims": True}, [(2, 3, 4, 2)]),
    ("GlobalMaxPooling3D", {"keepdims": True}, [(1, 2, 3, 2, 2)]),
    ("AdaptiveAveragePooling1D", {"output_size": 3}, [(2, 7, 2)]),
    ("AdaptiveAveragePooling2D", {"output_size": (2, 3)}, [(1, 4, 5, 2)]),
    ("AdaptiveAveragePooling3D", {"output_size": 2, "data_format": "channels_first"}, [(1, 2, 3, 4, 5)]),
    ("AdaptiveMaxPooling1D", {"output_size": 4}, [(2, 6, 2)]),
    ("AdaptiveMaxPooling2D", {"output_size": (3, 2), "data_format": "channels_first"}, [(1, 2, 4, 5)]),
    ("AdaptiveMaxPooling3D", {"output_size": (2, 2, 3)}, [(1, 3, 4, 5, 2)]),
    ("Cropping1D", {}, [(2, 4, 2)]),
    ("Cropping1D", {"cropping": (2, 0)}, [(2, 4, 2)]),
    ("Cropping2D", {"cropping": ((1, 0), (2, 1))}, [(1, 3, 4, 2)]),
    ("Cropping2D", {"cropping": (1, 0), "data_format": "channels_first"}, [(1, 2, 3, 2)]),
    ("Cropping3D", {"cropping": ((1, 0), (0, 1), (1, 1))}, [(1, 2, 3, 3, 2)]),
    ("ZeroPadding1D", {"padding": (1, 2)}, [(2, 3, 2)]),
    ("ZeroPadding1D", {"padding": 1, "data_format": "channels_first"}, [(1, 2, 2)]),
    ("ZeroPadding2D", {"padding": (2, 1), "data_format": "channels_first"}, [(1, 2, 2, 2)]),
    ("ZeroPadding3D", {"padding": ((1, 0), (0, 1), (1, 1))}, [(1, 2, 1, 2, 2)]),
    ("UpSampling1D", {"size": 3}, [(2, 2, 2)]),
    ("UpSampling2D", {"size": (2, 3), "data_format": "channels_first"}, [(1, 2, 2, 2)]),
    ("UpSampling3D", {"size": (2, 1, 3)}, [(1, 1, 2, 2, 2)]),
    ("UpSampling3D", {"data_format": "channels_first"}, [(1, 2, 1, 2, 1)]),
    ("Flatten", {"data_format": "channels_first"}, [(2, 3, 2, 2)]),
    ("ELU", {"alpha": 0.5}, [(3, 4)]),
    ("PReLU", {"alpha_initializer": "ones"}, [(2, 3, 2)]),
    ("PReLU", {"shared_axes": [1, 2]}, [(2, 3, 2, 3)]),
    ("Masking", {"mask_value": 0.5}, [(2, 3, 2)]),
    ("ActivityRegularization", {"l1": 0.5, "l2": 0.25}, [(3, 4)]),
    ("GroupNormalization", {"groups": 2}, [(2, 3, 2, 4)]),
    ("GroupNormalization", {"groups": -1, "axis": 1, "epsilon": 0.01, "center": False}, [(2, 3, 4)]),
    ("GroupNormalization", {"groups": 3, "scale": False}, [(3, 6)]),
    ("UnitNormalization", {}, [(2, 4)]),
    ("UnitNormalization", {"axis": [1, 2]}, [(2, 3, 2, 2)]),
    ("Dot", {"axes": 1}, [(2, 3), (2, 3)]),
    ("Dot", {"axes": (1, 2)}, [(2, 3, 5), (2, 4, 3)]),
    ("Dot", {"axes": -1, "normalize": True}, [(2, 3, 4), (2, 2, 4)]),
    ("Dot", {"axes": (2, 1)}, [(2, 3, 4), (2, 4)]),
    ("Dot", {"axes": (1, 3)}, [(2, 3, 2), (2, 2, 2, 3)]),
    ("EinsumDense", {"equation": "ab,bc->ac", "output_shape": 3, "bias_axes": "c", "activation": "relu"}, [(2, 4)]),
    ("EinsumDense", {"equation": "abc,cde->abde", "output_shape": (None, 2, 3), "bias_axes": "de"}, [(2, 3, 4)]),
    ("EinsumDense", {"equation": "...x,xy->...y", "output_shape": 3, "bias_axes": "y"}, [(2, 3, 4)]),
    ("EinsumDense", {"equation": "abx...,bxy->aby...", "output_shape": (2, 3), "bias_axes": "b"}, [(2, 2, 4, 5)]),
    ("Attention", {}, [(2, 3, 4), (2, 5, 4)]),
    ("Attention", {"use_scale": True}, [(2, 3, 4), (2, 5, 2), (2, 5, 4)]),
    ("Attention", {"use_scale": True, "score_mode": "concat"}, [(2, 3, 4), (2, 2, 4)]),
    ("AdditiveAttention", {}, [(2, 3, 4), (2, 5, 2), (2, 5, 4)]),
    ("AdditiveAttention", {"use_scale": False}, [(2, 3, 4), (2, 2, 4)]),
    ("UpSampling2D", {"size": (2, 3), "interpolation": "bilinear"}, [(1, 2, 3, 2)]),
    ("UpSampling2D", {"size": 2, "interpolation": "lanczos3", "data_format": "channels_first"}, [(1, 2, 3, 2)]),
    ("STFTSpectrogram", {"frame_length": 4}, [(2, 9, 2)]),
    ("STFTSpectrogram", {"mode": "magnitude", "frame_length": 5, "frame_step": 3, "padding": "same", "expand_dims": True}, [(1, 10, 2)]),
    ("STFTSpectrogram", {"mode": "psd", "frame_length": 4, "fft_length": 8, "data_format": "channels_first"}, [(1, 2, 9)]),
    ("STFTSpectrogram", {"mode": "real", "frame_length": 4, "data_format": "channels_first", "expand_dims": True}, [(2, 1, 7)]),
    ("STFTSpectrogram", {"mode": "imag", "frame_length": 4}, [(1, 8, 2)]),
    ("STFTSpectrogram", {"mode": "angle", "frame_length": 3, "frame_step": 1}, [(1, 6, 1)]),
    ("STFTSpectrogram", {"mode": "stft", "frame_length": 4, "frame_step": 4}, [(1, 9, 2)]),
    ("MelSpectrogram", {"fft_length": 16, "sequence_stride": 5, "sampling_rate": 4000, "num_mel_bins": 3}, [(2, 23)]),
    ("MelSpectrogram", {"fft_length": 16, "sequence_stride": 4, "sequence_length": 10, "window": "hamming", "num_mel_bins": 4, "power_to_db": False}, [(30,)]),
    ("MelSpectrogram", {"fft_length": 8, "sequence_stride": 3, "num_mel_bins": 2, "mag_exp": 1.0, "top_db": 5.0, "ref_power": 2.0, "min_freq": 100.0}, [(1, 2, 14)]),
]

rng = np.random.default_rng(SEED)


def dense(gradient):
    """Gradients of embeddings come as rows."""
    return tf.convert_to_tensor(gradient)


def run(name, options, shapes, extra=None):
    extra = extra or {}
    layer = getattr(keras.layers, name)(**options)
    many = len(shapes) > 1
    layer.build(list(shapes) if many else shapes[0])
    for w in layer.weights:
        values = numbers(rng, w.shape, 0.5)
        w.assign(np.abs(values) + 0.25 if w.name == "moving_variance" else values)
    case = {
        "layer": name,
        "config": {camel(key): value for key, value in options.items()},
        "weights": {w.name: tensor(w) for w in layer.weights},
        "steps": [],
    }
    for training in extra.get("training", [False]):
        if "integers" in extra:
            inputs = [tf.constant(rng.integers(extra["integers"], size=s), dtype="float32") for s in shapes]
        else:
            inputs = [tf.constant(numbers(rng, s)) for s in shapes]
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = layer(inputs if many else inputs[0], training=training)
            losses = [float(l) for l in layer.losses]
            dy = tf.constant(numbers(rng, y.shape))
            total = tf.reduce_sum(y * dy)
        trainable = [w.value for w in layer.trainable_weights]
        grads = [dense(g) if g is not None else None for g in tape.gradient(total, inputs + trainable)]
        step = {
            "training": training,
            "inputs": [tensor(x) for x in inputs],
            "output": tensor(y),
            "upstream": tensor(dy),
            "inputGradients": [None if g is None else tensor(g) for g in grads[: len(inputs)]],
            "gradients": {
                w.name: tensor(g) for w, g in zip(layer.trainable_weights, grads[len(inputs) :])
            },
        }
        if losses:
            step["losses"] = losses
        if layer.non_trainable_weights:
            step["statistics"] = {w.name: tensor(w) for w in layer.non_trainable_weights}
        case["steps"].append(step)
    return case


OUT.mkdir(exist_ok=True)
made = {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__, "seed": SEED}
cases = [run(*case) for case in CASES]
lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
(OUT / "layers.json").write_text(f'{{"made":{json.dumps(made)},"cases":[\n{lines}\n]}}\n')
