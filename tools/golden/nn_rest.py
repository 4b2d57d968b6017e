"""Makes packages/eagre/golden/nn-rest.json with TensorFlow: the rest of tf.nn, and tf.quantization.

Run: python tools/golden/nn_rest.py
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf
from cases import Cases

SEED = 83
rng = np.random.default_rng(SEED)
c = Cases("nn_rest.py", SEED)
nn = tf.nn


def floats(*shape, low=-2.0, high=2.0, dtype="float32"):
    return np.round(rng.uniform(low, high, size=shape), 2).astype(dtype)


c.add("nn.crelu", nn.crelu, floats(2, 3))
c.add("nn.crelu", nn.crelu, floats(2, 3, dtype="float64"), axis=0)
for full in [False, True]:
    c.add("nn.logPoissonLoss", nn.log_poisson_loss, floats(4, low=0, high=3), floats(4), compute_full_loss=full, grad=not full)
c.add("nn.weightedMoments", nn.weighted_moments, floats(3, 4), [0], floats(3, 4, low=0.1))
c.add("nn.weightedMoments", nn.weighted_moments, floats(3, 4), [0, 1], floats(3, 1, low=0.1), keepdims=True)
c.add("nn.sufficientStatistics", lambda x, a, shift: nn.sufficient_statistics(x, a, shift=shift), floats(3, 4), [0], shift=np.float32(0.5) * np.ones((), "float32"), grad=False)
c.add("nn.normalizeMoments", nn.normalize_moments, np.float32(4) * np.ones((), "float32"), floats(3), floats(3, low=5, high=9), None)
c.add("nn.batchNormWithGlobalNormalization", nn.batch_norm_with_global_normalization, floats(2, 2, 2, 3), floats(3), floats(3, low=0.2), floats(3), floats(3), 0.01, True)
for kwargs in [{}, {"depth_radius": 1, "bias": 2.0, "alpha": 0.3, "beta": 0.75}]:
    c.add("nn.localResponseNormalization", nn.local_response_normalization, floats(2, 2, 2, 5), **kwargs)
c.add("nn.computeAverageLoss", nn.compute_average_loss, floats(4))
c.add("nn.computeAverageLoss", nn.compute_average_loss, floats(4), sample_weight=floats(4), global_batch_size=8)
c.add("nn.scaleRegularizationLoss", nn.scale_regularization_loss, floats(3))
for padding in ["SAME", "VALID"]:
    c.add("nn.atrousConv2d", nn.atrous_conv2d, floats(1, 6, 7, 2), floats(2, 2, 2, 3), 2, padding)
    c.add("nn.dilation2d", nn.dilation2d, floats(1, 4, 5, 2), floats(2, 2, 2), [1, 1, 2, 1], padding, "NHWC", [1, 1, 1, 1])
    c.add("nn.erosion2d", nn.erosion2d, floats(1, 5, 5, 2), floats(2, 3, 2), [1, 1, 1, 1], padding, "NHWC", [1, 2, 1, 1])
    c.add("nn.depthwiseConv2dBackpropInput", nn.depthwise_conv2d_backprop_input, [1, 5, 6, 2], floats(2, 2, 2, 2), floats(1, 5, 6, 4) if padding == "SAME" else floats(1, 4, 5, 4), [1, 1, 1, 1], padding)
    c.add("nn.depthwiseConv2dBackpropFilter", nn.depthwise_conv2d_backprop_filter, floats(1, 5, 6, 2), [2, 2, 2, 2], floats(1, 5, 6, 4) if padding == "SAME" else floats(1, 4, 5, 4), [1, 1, 1, 1], padding)
    for kind in ["MAX", "AVG"]:
        c.add("nn.pool", nn.pool, floats(1, 5, 6, 2), [2, 3], kind, padding=padding, strides=[2, 1])
c.add("nn.atrousConv2dTranspose", nn.atrous_conv2d_transpose, floats(1, 4, 5, 3), floats(2, 2, 2, 3), [1, 6, 7, 2], 2, "VALID")
c.add("nn.collapseRepeated", nn.collapse_repeated, np.array([[1, 1, 2, 2, 1], [3, 3, 3, 4, 0]], "int32"), np.array([5, 4], "int32"))

q = tf.quantization
X = floats(12, low=-8, high=8)
c.add("quantization.fakeQuantWithMinMaxArgs", q.fake_quant_with_min_max_args, X)
c.add("quantization.fakeQuantWithMinMaxArgs", q.fake_quant_with_min_max_args, X, min=-1.0, max=3.0, num_bits=4, narrow_range=True)
s = lambda v: np.float32(v) * np.ones((), "float32")
c.add("quantization.fakeQuantWithMinMaxVars", q.fake_quant_with_min_max_vars, X, s(-2.1), s(4.3), num_bits=5)
c.add("quantization.fakeQuantWithMinMaxVars", q.fake_quant_with_min_max_vars, X, s(0), s(0))
c.add("quantization.fakeQuantWithMinMaxVarsPerChannel", q.fake_quant_with_min_max_vars_per_channel, floats(4, 2, low=-8, high=8), floats(2, low=-4, high=-1), floats(2, low=1, high=4))
c.write("eagre/golden/nn-rest.json")
