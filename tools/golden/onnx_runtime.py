"""Makes packages/onnx/golden/runtime.json: models of one node that the onnx package has no tests of, with what onnxruntime computes.

Run: python tools/golden/onnx_runtime.py, with onnx and onnxruntime
"""

import base64
import json
import pathlib

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

OUT = pathlib.Path(__file__).parents[2] / "packages/onnx/golden/runtime.json"
X = np.sin(np.arange(2 * 3 * 6 * 5, dtype=np.float32) * 1.3).round(3).reshape(2, 3, 6, 5)
# The whole image, one that reaches out of it, one that is turned around, and one outside.
ROIS = np.array([[0, 0, 0, 4, 5], [1, 1, 2, 9, 7], [0, 2.6, 1.2, 2.4, 1.1], [1, 20, 20, 30, 30]], np.float32)


def stored(x):
    return {"shape": x.shape, "data": [round(float(v), 6) for v in x.reshape(-1)]}


def case(op, inputs, **attrs):
    names = [f"i{i}" for i in range(len(inputs))]
    open_info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [f"{n}_0", *x.shape[1:]]) for n, x in zip(names, inputs)]
    graph = helper.make_graph([helper.make_node(op, names, ["y"], **attrs)], op, open_info, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    # The last version of these ops that onnxruntime has.
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()
    [y] = onnxruntime.InferenceSession(model).run(None, dict(zip(names, inputs)))
    return {"op": op, "model": base64.b64encode(model).decode(), "inputs": [stored(x) for x in inputs], "output": stored(y)}


CASES = [case("MaxRoiPool", [X, ROIS], pooled_shape=[2, 3]), case("MaxRoiPool", [X, ROIS], pooled_shape=[3, 2], spatial_scale=0.5)]
OUT.write_text(json.dumps({"onnxruntime": onnxruntime.__version__, "cases": CASES}, separators=(",", ":")) + "\n")
