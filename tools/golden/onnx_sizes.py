"""Makes packages/onnx/golden/sizes.json: programs whose sizes depend on the shapes and values of their inputs, -1 among them, with what
onnxruntime computes for several batches.

Run: python tools/golden/onnx_sizes.py, with onnx and onnxruntime
"""

import base64
import json
import pathlib

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

OUT = pathlib.Path(__file__).parents[2] / "packages/onnx/golden/sizes.json"
FAR = 2**63 - 1
rng = np.random.default_rng(1)


def node(op, inputs, output, **attrs):
    return helper.make_node(op, inputs.split(), output.split(), **attrs)


def stored(x):
    # JSON has no integers of 64 bits.
    return {"dtype": str(x.dtype), "shape": x.shape, "data": [str(v) if x.dtype == np.int64 else round(float(v), 6) for v in x.reshape(-1)]}


def case(name, nodes, inputs, constants, batches, sizes=()):
    """`inputs`: shapes, 'n' is the batch and 'h' is 5; `sizes`: the values of the integer input 's', one list per batch."""
    infos = [helper.make_tensor_value_info(key, TensorProto.FLOAT, shape) for key, shape in inputs.items()]
    if sizes:
        infos.append(helper.make_tensor_value_info("s", TensorProto.INT64, [len(sizes[0])]))
    fixed = [numpy_helper.from_array(np.array(value, np.int64), key) for key, value in constants.items()]
    graph = helper.make_graph(nodes, name, infos, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], fixed)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    session = onnxruntime.InferenceSession(model)
    runs = []
    for i, batch in enumerate(batches):
        given = [rng.standard_normal([{"n": batch, "h": 5}.get(d, d) for d in shape]).astype(np.float32).round(3) for shape in inputs.values()]
        if sizes:
            given.append(np.array(sizes[i], np.int64))
        [y] = session.run(None, dict(zip([info.name for info in infos], given)))
        runs.append({"inputs": [stored(x) for x in given], "output": stored(y)})
    return {"name": name, "model": base64.b64encode(model).decode(), "runs": runs}


X, XH = {"x": ["n", 4, 6]}, {"x": ["n", "h", 6]}
CASES = [
    case("a shape with -1", [node("Reshape", "x s", "r"), node("ReduceSum", "r one", "q", keepdims=0), node("Softmax", "q", "y", axis=-1)],
         X, {"one": [1]}, [2, 4, 6, 2], [[-1, 3, 4], [2, -1, 12], [0, 0, -1], [0, -1, 3]]),
    case("a shape of which one size differs from run to run",
         [node("Shape", "x", "all"), node("Gather", "all zero", "n"), node("Div", "n two", "half"), node("Concat", "half open s", "to", axis=0),
          node("Reshape", "x to", "r"), node("ReduceMean", "r", "m", axes=[2], keepdims=1), node("Sub", "r m", "y")],
         X, {"zero": [0], "two": [2], "open": [-1]}, [2, 4, 6], [[3], [6], [8]]),
    case("windows",
         [node("Shape", "x", "all"), node("Gather", "all zero", "n"), node("Gather", "all one", "h"), node("Div", "h two", "rows"),
          node("Concat", "n rows two four open", "to", axis=0), node("Reshape", "x to", "r"), node("Transpose", "r", "t", perm=[0, 2, 1, 3, 4]),
          node("Concat", "open four one", "flat", axis=0), node("Reshape", "t flat", "w"), node("Softmax", "w", "p", axis=1), node("Shape", "p", "after"),
          node("Gather", "after zero", "count"), node("Div", "count two", "batch"), node("Div", "batch h", "again"),
          node("Concat", "open h last", "back", axis=0), node("Reshape", "p back", "q"), node("ReduceSum", "q last_axis", "y", keepdims=1)],
         {"x": ["n", 8, 4, 6]}, {"zero": [0], "one": [1], "two": [2], "four": [4], "open": [-1], "last": [3], "last_axis": [2]}, [1, 2, 3]),
    case("a slice", [node("Split", "s half", "from till", axis=0), node("Slice", "x from till axes", "r"), node("Neg", "r", "y")], X,
         {"half": [2, 2], "axes": [1, 2]}, [1, 2, 3], [[0, 1, -1, -2], [-3, -4, 3, FAR], [1, 2, -2, -1]]),
    case("a slice up to a size less three", [node("Shape", "x", "all"), node("Gather", "all zero", "n"), node("Sub", "n three", "till"),
         node("Slice", "x zero till zero", "y")], XH, {"zero": [0], "three": [3]}, [1, 2, 3, 5]),
    case("expand", [node("Expand", "x s", "r"), node("Relu", "r", "y")], {"x": ["n", 1, 6]}, {}, [1, 2, 3], [[1, 4, 1], [1, 1, 6], [1, 3, 6]]),
    case("expand as PyTorch writes it", [node("Equal", "given open", "is"), node("Where", "is ones given", "to"), node("Expand", "x to", "r"),
         node("Softmax", "r", "y", axis=1)], {"x": ["n", 1, 6]}, {"given": [-1, 3, -1], "open": [-1], "ones": [1, 1, 1]}, [1, 2, 3]),
    case("tile", [node("Tile", "x s", "r"), node("Neg", "r", "y")], X, {}, [1, 2, 3], [[1, 2, 1], [2, 1, 3], [1, 1, 1]]),
    case("fill", [helper.make_node("ConstantOfShape", ["s"], ["c"], value=helper.make_tensor("v", TensorProto.FLOAT, [1], [2.5])), node("Add", "x c", "y")],
         X, {}, [1, 2, 3], [[1, 4, 6], [1, 1, 6], [1, 1, 1]]),
    case("pad", [node("Pad", "x s", "y")], X, {}, [1, 2, 3], [[0, 1, 0, 0, 0, 2], [1, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0]]),
    case("split", [node("Split", "x s", "a b", axis=1), node("Concat", "b a", "y", axis=1)], X, {}, [1, 2, 3], [[1, 3], [2, 2], [3, 1]]),
    case("range", [node("Shape", "x", "all"), node("Gather", "all zero", "n"), node("Range", "zero n one", "r"), node("Cast", "r", "f", to=1),
         node("Reshape", "f column", "c"), node("Mul", "x c", "y")], X, {"zero": 0, "one": 1, "column": [-1, 1, 1]}, [1, 2, 3]),
    case("a product of sizes", [node("Shape", "x", "all"), node("Slice", "all zero one", "n"), node("Slice", "all one far", "rest"),
         node("ReduceProd", "rest", "p", axes=[0], keepdims=1), node("Concat", "n p", "to", axis=0), node("Reshape", "x to", "r"),
         node("Concat", "open n", "back", axis=0), node("Reshape", "r back", "y")], XH, {"zero": [0], "one": [1], "far": [FAR], "open": [-1]}, [1, 2, 3]),
]
OUT.write_text(json.dumps({"onnxruntime": onnxruntime.__version__, "cases": CASES}, separators=(",", ":")) + "\n")
