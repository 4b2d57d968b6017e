"""Makes packages/onnx/golden/maps.json: models that take maps of features, with what onnxruntime computes.

Run: python tools/golden/onnx_maps.py, with onnx, onnxruntime, scikit-learn and skl2onnx
"""

import base64
import json
import pathlib

import numpy as np
import onnx
import onnxruntime
import skl2onnx
import sklearn
from onnx import TensorProto as T
from onnx import helper
from skl2onnx.common.data_types import DictionaryType, FloatTensorType, StringTensorType
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

OUT = pathlib.Path(__file__).parents[2] / "packages/onnx/golden/maps.json"


def case(title, model, given):
    session = onnxruntime.InferenceSession(model.SerializeToString())
    [y] = session.run(None, {session.get_inputs()[0].name: given})
    data = y.reshape(-1).tolist()
    output = {"dtype": "string" if y.dtype == object else str(y.dtype), "shape": list(y.shape), "data": data}
    return {"title": title, "model": base64.b64encode(model.SerializeToString()).decode(), "given": list(given.items()), "output": output}


def node_case(op, key, given, out=T.FLOAT, **attrs):
    kind = onnx.TypeProto()
    kind.map_type.key_type = key
    kind.map_type.value_type.tensor_type.elem_type = T.FLOAT
    node = helper.make_node(op, ["m"], ["y"], domain="ai.onnx.ml", **attrs)
    info = helper.make_value_info("m", kind)
    graph = helper.make_graph([node], op, [info], [helper.make_tensor_value_info("y", out, None)])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return case(f"{op} {attrs}", helper.make_model(graph, opset_imports=opsets, ir_version=8), given)


def pipeline_case():
    rows = [{"a": 1.0, "b": 2.0}, {"b": 1.0, "c=red": 1.0}, {"a": 3.0}, {"c=blue": 1.0}]
    pipeline = make_pipeline(DictVectorizer(sparse=False), LinearRegression()).fit(rows, [1.0, 2.0, -1.0, 0.5])
    kind = DictionaryType(StringTensorType([1]), FloatTensorType([1]))
    model = skl2onnx.to_onnx(pipeline, initial_types=[("features", kind)], target_opset={"": 17, "ai.onnx.ml": 3})
    return case("a pipeline of scikit-learn", model, {"a": 2.0, "c=red": 1.0, "unknown": 7.0})


numbers = {5: 1.5, 1: 2.7, 3: -3.5}
CASES = [
    node_case("DictVectorizer", T.STRING, {"a": 4.0, "c": 8.0, "q": 1.0}, string_vocabulary=["a", "c", "b", "z"]),
    node_case("DictVectorizer", T.INT64, {1: 4.5}, int64_vocabulary=[3, 1, 2]),
    node_case("CastMap", T.INT64, numbers),
    node_case("CastMap", T.INT64, numbers, map_form="SPARSE", max_map=4),
    node_case("CastMap", T.INT64, numbers, T.INT64, cast_to="TO_INT64"),
    node_case("CastMap", T.INT64, numbers, T.STRING, cast_to="TO_STRING"),
    node_case("CastMap", T.INT64, numbers, T.STRING, cast_to="TO_STRING", map_form="SPARSE", max_map=7),
    pipeline_case(),
]
versions = {m.__name__: m.__version__ for m in (onnx, onnxruntime, sklearn, skl2onnx)}
OUT.write_text(json.dumps({"versions": versions, "cases": CASES}, separators=(",", ":")) + "\n")
