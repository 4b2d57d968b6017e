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
    """A dot stands for an input that is left out."""
    return helper.make_node(op, [name.strip(".") for name in inputs.split()], output.split(), **attrs)


def stored(x):
    # JSON has no integers of 64 bits.
    return {"dtype": str(x.dtype), "shape": x.shape, "data": [str(v) if x.dtype == np.int64 else round(float(v), 6) for v in x.reshape(-1)]}


def case(name, nodes, inputs, constants, batches, sizes=(), opset=17, atol=1e-6):
    """`inputs`: shapes, 'n' is the batch and 'h' is 5, or sizes by name; `sizes`: the values of the integer input 's', one list per batch; `atol`: by how much others may differ."""
    infos = [helper.make_tensor_value_info(key, TensorProto.FLOAT, shape) for key, shape in inputs.items()]
    if sizes:
        infos.append(helper.make_tensor_value_info("s", TensorProto.INT64, [len(sizes[0])]))
    used = {name for n in nodes for m in [n, *[m for a in n.attribute for m in a.g.node]] for name in m.input}
    fixed = [
        numpy_helper.from_array(value if isinstance(value, np.ndarray) else np.array(value, np.int64), key)
        for key, value in constants.items()
        if key in used
    ]
    graph = helper.make_graph(nodes, name, infos, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], fixed)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()
    session = onnxruntime.InferenceSession(model)
    runs = []
    for i, batch in enumerate(batches):
        named = batch if isinstance(batch, dict) else {"n": batch, "h": 5}
        given = [rng.standard_normal([named.get(d, d) for d in shape]).astype(np.float32).round(3) for shape in inputs.values()]
        if sizes:
            given.append(np.array(sizes[i], np.int64))
        [y] = session.run(None, dict(zip([info.name for info in infos], given)))
        runs.append({"inputs": [stored(x) for x in given], "output": stored(y)})
    return {"name": name, "model": base64.b64encode(model).decode(), "atol": atol, "runs": runs}


def branches(pred, then, other, output="y"):
    """A node `If`, of lists of nodes, each of which gives what is called 'then' and 'other'."""
    graphs = [
        helper.make_graph(list(nodes), name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])
        for name, nodes in [("then", then), ("other", other)]
    ]
    return helper.make_node("If", [pred], [output], then_branch=graphs[0], else_branch=graphs[1])


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

# Pictures [n, c, h, w] of any size.
IMAGE = {"x": ["n", "c", "h", "w"]}
IMAGES = [{"n": 1, "c": 2, "h": 3, "w": 5}, {"n": 2, "c": 1, "h": 6, "w": 4}, {"n": 3, "c": 2, "h": 7, "w": 9}]
F = np.float32
SIDES = [node("Shape", "x", "all"), node("Slice", "all zero two", "lead"), node("Slice", "all two four", "sides")]
AT = {"zero": [0], "one": [1], "two": [2], "three": [3], "four": [4]}


def by_sizes(name, sides, **attrs):
    """`sides` makes 'to' of the height and width."""
    return case(f"Resize to {name}", [*SIDES, *sides, node("Concat", "lead to", "all_to", axis=0), node("Resize", "x . . all_to", "y", **attrs)], IMAGE, AT, IMAGES,
                opset=19, atol=1e-5)


def by_scales(name, scales, opset=19, **attrs):
    return case(f"Resize by {name}", [node("Resize", "x . by", "y", **attrs)], IMAGE, {"by": np.array([1, 1, *scales], F)}, IMAGES, opset=opset, atol=1e-5)


TWICE, MORE, LESS = [node("Mul", "sides two", "to")], [node("Add", "sides three", "to")], [node("Div", "sides two", "less"), node("Add", "less one", "to")]
CASES += [
    by_sizes("twice the size, nearest", TWICE, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    by_sizes("three more, linear", MORE, mode="linear"),
    by_sizes("less, cubic, antialiased", LESS, mode="cubic", antialias=1, exclude_outside=1),
    by_sizes("three more, cubic", MORE, mode="cubic", coordinate_transformation_mode="align_corners"),
    by_sizes("three more, nearest, rounded up", MORE, mode="nearest", nearest_mode="round_prefer_ceil", coordinate_transformation_mode="half_pixel_symmetric"),
    by_scales("2 and 0.5", [2, 0.5], mode="linear"),
    # In floats 5 * 1.4 is 7, and a place lies between two pixels.
    by_scales("1.4 and 0.7, nearest", [1.4, 0.7], mode="nearest"),
    case("Resize by scales of sizes", [*SIDES, node("Cast", "sides", "from", to=1), node("Add", "sides three", "more"), node("Cast", "more", "to", to=1),
         node("Div", "to from", "scales"), node("Concat", "ones scales", "by", axis=0), node("Resize", "x . by", "y", mode="nearest")],
         IMAGE, {**AT, "ones": np.ones(2, F)}, IMAGES),
    case("Resize to given sizes, kept in shape", [node("Resize", "x . . s", "y", axes=[2, 3], mode="linear", keep_aspect_ratio_policy="not_larger")],
         IMAGE, {}, IMAGES, [[4, 4], [3, 9], [14, 2]], opset=19),
    case("Resize of a part", [node("Resize", "x roi by", "y", mode="linear", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=2.0)],
         IMAGE, {"roi": np.array([0, 0, 0.1, -0.2, 1, 1, 0.8, 1.2], F), "by": np.array([1, 1, 2, 1.5], F)}, IMAGES),
    case("a picture brought to the size of another, and added",
         [node("MaxPool", "x", "p", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1), *SIDES, node("Shape", "p", "pooled"), node("Slice", "pooled zero two", "front"),
          node("Concat", "front sides", "all_to", axis=0), node("Resize", "p . . all_to", "r", mode="linear"), node("Add", "x r", "y")],
         IMAGE, AT, IMAGES),
    # Nothing holds both ranks but a trace for some sizes.
    case("one axis or two, by a size",
         [node("Shape", "x", "all"), node("Slice", "all one two", "c"), node("Equal", "c one", "p"), branches("p", [node("Squeeze", "x one", "then")], [node("Neg", "x", "other")])],
         {"x": ["n", "c", "h"]}, AT, [{"n": 2, "c": 1, "h": 3}, {"n": 2, "c": 2, "h": 3}, {"n": 1, "c": 1, "h": 5}, {"n": 3, "c": 4, "h": 2}]),
    case("a branch by the order of two sizes",
         [*SIDES, node("Split", "sides", "h w", axis=0), node("Less", "h w", "p"), branches("p", [node("Transpose", "x", "then", perm=[0, 1, 3, 2])], [node("Relu", "x", "other")])],
         IMAGE, AT, IMAGES),
    case("a branch by two conditions on sizes",
         [*SIDES, node("Split", "sides", "h w", axis=0), node("Less", "h w", "p"), node("GreaterOrEqual", "h three", "q"), node("Not", "q", "o"),
          node("Or", "p o", "r"), node("Squeeze", "r", "t"), branches("t", [node("ReduceSum", "x two", "then", keepdims=1)], [node("Relu", "x", "other")])],
         IMAGE, AT, IMAGES),
    case("boxes of as many examples as there are",
         [node("NonMaxSuppression", "boxes scores most overlap", "kept"), node("Cast", "kept", "y", to=1)],
         {"boxes": ["n", 6, 4], "scores": ["n", 2, 6]}, {"most": [3], "overlap": np.array([0.3], F)}, [1, 2, 3]),
    case("a size picked by a condition on sizes",
         [*SIDES, node("Less", "sides four", "small"), node("Where", "small four sides", "to"), node("Concat", "lead to", "all_to", axis=0),
          node("Resize", "x . . all_to", "y", mode="nearest")], IMAGE, AT, IMAGES),
]
OUT.write_text(json.dumps({"onnxruntime": onnxruntime.__version__, "cases": CASES}, separators=(",", ":")) + "\n")
