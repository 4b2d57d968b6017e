"""Makes packages/onnx/golden/runtime.json: models of one node that the onnx package has no tests of, with what onnxruntime computes.

Run: python tools/golden/onnx_runtime.py, with onnx and onnxruntime
"""

import base64
import json
import pathlib

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

OUT = pathlib.Path(__file__).parents[2] / "packages/onnx/golden/runtime.json"
X = np.sin(np.arange(2 * 3 * 6 * 5, dtype=np.float32) * 1.3).round(3).reshape(2, 3, 6, 5)
# The whole image, one that reaches out of it, one that is turned around, and one outside.
ROIS = np.array([[0, 0, 0, 4, 5], [1, 1, 2, 9, 7], [0, 2.6, 1.2, 2.4, 1.1], [1, 20, 20, 30, 30]], np.float32)


rng = np.random.default_rng(3)


def stored(x):
    return {"dtype": str(x.dtype), "shape": x.shape, "data": [round(float(v), 6) if x.dtype == np.float32 else int(v) for v in x.reshape(-1)]}


def case(op, inputs, domain="", outputs=1, constants=(), **attrs):
    """`inputs`: None for one that is left out; `constants`: the places of those that are initializers."""
    named = {f"i{i}": x for i, x in enumerate(inputs) if x is not None}
    fixed = {f"i{i}" for i in constants}
    names = [f"i{i}" if x is not None else "" for i, x in enumerate(inputs)]
    open_info = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), [f"{n}_0", *x.shape[1:]] if x.ndim > 1 else x.shape)
        for n, x in named.items() if n not in fixed
    ]
    results = [f"y{i}" for i in range(outputs)]
    initializers = [numpy_helper.from_array(named[n], n) for n in sorted(fixed)]
    node = helper.make_node(op, names, results, domain=domain, **attrs)
    # The last version of these ops that onnxruntime has.
    imports = [helper.make_opsetid("", 21)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    given = {n: x for n, x in named.items() if n not in fixed}
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Run once to learn the types of the results.
    infos = [helper.make_empty_tensor_value_info(n) for n in results]
    for _ in range(2):
        graph = helper.make_graph([node], op, open_info, infos, initializers)
        model = helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString()
        found = onnxruntime.InferenceSession(model, options).run(None, given)
        infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(y.dtype), None) for n, y in zip(results, found)]
    return {"op": op, "model": base64.b64encode(model).decode(), "inputs": [stored(x) for x in given.values()], "outputs": [stored(y) for y in found]}


def f(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32).round(3)


def bytes_(*shape, dtype=np.uint8):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape, dtype=dtype)


def scale(v):
    return np.float32(v)


MS = "com.microsoft"


def quantized(op, *lists, zero=128, dtype=np.uint8, out=0.02, **attrs):
    """A node of quantized tensors: each with a scale and a zero point."""
    flat = [v for x in lists for v in (x, scale(0.03), dtype(zero))]
    return case(op, [*flat, scale(out), dtype(zero)], MS, constants=[i for i in range(len(flat) + 2) if i % 3 or i >= len(flat)], **attrs)


def linear():
    """QuantizeLinear and DequantizeLinear with a scale in a list of one."""
    return [
        case("DequantizeLinear", [bytes_(5, dtype=np.int8), np.array([0.1], np.float32), np.array([3], np.int8)], constants=[1, 2]),
        case("QuantizeLinear", [f(5), np.array([0.1], np.float32), np.array([3], np.int8)], constants=[1, 2]),
    ]


def fused():
    conv = [f(2, 3, 6, 5), f(4, 3, 3, 3), f(4)]
    return [
        case("FusedMatMul", [f(2, 4, 3), f(2, 5, 4)], MS, alpha=0.5, transA=1, transB=1),
        case("FusedGemm", [f(3, 4), f(4, 5), f(5)], MS, alpha=0.7, activation="LeakyRelu", activation_alpha=0.2),
        case("FusedConv", conv, MS, pads=[1, 1, 1, 1], activation="Relu"),
        case("FusedConv", [*conv, f(2, 4, 6, 5)], MS, pads=[1, 1, 1, 1], activation="Clip", activation_params=[-0.5, 0.8]),
        case("QuickGelu", [f(2, 5)], MS), case("QuickGelu", [f(2, 5)], MS, alpha=0.9),
        case("BiasGelu", [f(2, 5), f(5)], MS), case("FastGelu", [f(2, 5), f(5)], MS), case("FastGelu", [f(2, 5)], MS), case("Gelu", [f(2, 5)], MS),
        case("SkipLayerNormalization", [f(2, 3, 8), f(2, 3, 8), f(8), f(8), f(8)], MS, epsilon=1e-5),
        case("SkipLayerNormalization", [f(2, 3, 8), f(2, 3, 8), f(8)], MS),
        case("SkipSimplifiedLayerNormalization", [f(2, 3, 8), f(2, 3, 8), f(8), f(8)], MS, epsilon=1e-5),
        case("EmbedLayerNormalization", [ids(2, 5, 11), ids(2, 5, 2), f(11, 8), f(7, 8), f(2, 8), f(8), f(8), np.array([[1] * 5, [1, 1, 1, 0, 0]], np.int32)],
             MS, outputs=2, epsilon=1e-5),
        case("EmbedLayerNormalization", [ids(2, 5, 11), None, f(11, 8), f(7, 8), None, f(8), f(8)], MS, outputs=2, epsilon=1e-5),
    ]


def ids(n, t, most):
    return rng.integers(0, most, (n, t)).astype(np.int32)


def attention():
    x, w, b = f(2, 4, 8), f(8, 24, scale=0.4), f(24)
    lengths, mask = np.array([4, 2], np.int32), np.array([[1, 1, 1, 1], [1, 1, 0, 0]], np.int32)
    q, k, v = f(2, 3, 8), f(2, 5, 8), f(2, 5, 8)
    cos, sin = np.cos(np.arange(40).reshape(20, 2) * 0.3).astype(np.float32), np.sin(np.arange(40).reshape(20, 2) * 0.3).astype(np.float32)
    wide = [np.tile(t, 4) for t in (cos, sin)]
    return [
        case("Attention", [x, w, b], MS, num_heads=2), case("Attention", [x, w, b, lengths], MS, num_heads=2), case("Attention", [x, w, b, mask], MS, num_heads=2),
        case("Attention", [x, w, b], MS, num_heads=2, unidirectional=1),
        case("Attention", [x, w, b, None, f(2, 2, 2, 3, 4)], MS, outputs=2, num_heads=2, unidirectional=1),
        case("MultiHeadAttention", [q, k, v], MS, num_heads=2),
        case("MultiHeadAttention", [q, k, v, f(24)], MS, num_heads=2, scale=0.3),
        case("MultiHeadAttention", [q, k, v, None, np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.int32)], MS, num_heads=2),
        case("MultiHeadAttention", [q, k, v, None, None, f(2, 2, 3, 5)], MS, num_heads=2),
        case("MultiHeadAttention", [f(2, 1, 8), f(2, 1, 8), f(2, 1, 8), None, None, None, f(2, 2, 3, 4), f(2, 2, 3, 4)], MS, outputs=3, num_heads=2),
        case("RotaryEmbedding", [f(2, 3, 8), np.array([[0, 1, 2], [4, 5, 6]], np.int64), cos, sin], MS),
        case("RotaryEmbedding", [f(2, 2, 3, 4), np.array([2], np.int64), cos, sin], MS, interleaved=1),
        case("RotaryEmbedding", [f(2, 3, 12), np.array([[0, 1, 2], [4, 5, 6]], np.int64), cos, sin], MS, num_heads=2, rotary_embedding_dim=4),
        case("GroupQueryAttention", [f(2, 4, 32), f(2, 4, 16), f(2, 4, 16), None, None, np.array([3, 3], np.int32), np.array(4, np.int32)],
             MS, outputs=3, constants=[6], num_heads=4, kv_num_heads=2),
        case("GroupQueryAttention", [f(2, 1, 64), f(2, 1, 32), f(2, 1, 32), f(2, 2, 4, 16), f(2, 2, 4, 16), np.array([4, 4], np.int32), np.array(5, np.int32), *wide],
             MS, outputs=3, constants=[6], num_heads=4, kv_num_heads=2, do_rotary=1),
        case("GroupQueryAttention", [f(2, 4, 64), None, None, None, None, np.array([3, 3], np.int32), np.array(4, np.int32)],
             MS, outputs=3, constants=[6], num_heads=4, kv_num_heads=2, local_window_size=2, scale=0.4),
    ]


def few_bits():
    return [
        case("MatMulNBits", [f(3, 40), bytes_(5, 2, 16), f(10).__abs__(), None], MS, constants=[1, 2], K=40, N=5, bits=4, block_size=32),
        case("MatMulNBits", [f(2, 3, 32), bytes_(5, 2, 8), f(10).__abs__(), bytes_(5)], MS, constants=[1, 2, 3], K=32, N=5, bits=4, block_size=16),
    ]


def quantizer():
    x, y = bytes_(2, 3, 4, 5), bytes_(2, 3, 4, 5)
    lstm = [f(5, 2, 3), bytes_(1, 3, 16, dtype=np.int8), bytes_(1, 4, 16, dtype=np.int8), f(1, 32), None, None, None, None,
            np.array([0.004], np.float32), np.array([0], np.int8), np.array([0.003], np.float32), np.array([0], np.int8)]
    return [
        quantized("QLinearAdd", x, y), quantized("QLinearMul", x, y), quantized("QLinearSigmoid", x, out=1 / 256, zero=0), quantized("QLinearLeakyRelu", x, alpha=0.1),
        quantized("QLinearAdd", bytes_(2, 3, dtype=np.int8), bytes_(3, dtype=np.int8), zero=5, dtype=np.int8),
        quantized("QLinearAveragePool", x, kernel_shape=[2, 2], strides=[2, 1], pads=[1, 0, 0, 1]),
        quantized("QLinearGlobalAveragePool", x, channels_last=0),
        quantized("QLinearSoftmax", x, out=1 / 256, zero=0, axis=1, opset=13), quantized("QLinearSoftmax", x, out=1 / 256, zero=0, axis=1, opset=12),
        case("QLinearConcat", [scale(0.02), np.uint8(100), x, scale(0.03), np.uint8(128), y, scale(0.01), np.uint8(3)], MS, constants=[0, 1, 3, 4, 6, 7], axis=1),
        case("DynamicQuantizeLSTM", lstm, MS, outputs=3, constants=[1, 2, 3, 8, 9, 10, 11], hidden_size=4),
    ]


CASES = [
    case("MaxRoiPool", [X, ROIS], pooled_shape=[2, 3]), case("MaxRoiPool", [X, ROIS], pooled_shape=[3, 2], spatial_scale=0.5),
    *linear(), *fused(), *attention(), *few_bits(), *quantizer(),
]
OUT.write_text(json.dumps({"onnxruntime": onnxruntime.__version__, "cases": CASES}, separators=(",", ":")) + "\n")
