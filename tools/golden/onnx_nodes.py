"""Makes packages/onnx/golden/nodes.zip: the node tests of the onnx package, each a model with inputs and outputs.

A test of an op without a row in the loader's tables is left out, and so are large ones. In the archive `name.onnx` is the model, `name.pb` a
GraphProto whose initializers are the inputs and outputs in their order (`i0`, `i1`, …, `o0`, …). `info.json` has the versions.

Also makes packages/onnx/golden/schemas.json: the standard ops by domain, each with the opset of its last change.

Run: python tools/golden/onnx_nodes.py, after the test of packages/onnx/src/load/ops.test.ts has written ops.json
"""

import json
import pathlib
import warnings
import zipfile

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

warnings.filterwarnings("ignore")
OUT = pathlib.Path(__file__).parents[2] / "packages/onnx/golden"
OPS = json.loads((OUT / "ops.json").read_text())
LARGEST = 40_000
SEED = 1
UNREAD = {
    onnx.TensorProto.FLOAT8E4M3FN, onnx.TensorProto.FLOAT8E4M3FNUZ, onnx.TensorProto.FLOAT8E5M2, onnx.TensorProto.FLOAT8E5M2FNUZ,
    onnx.TensorProto.FLOAT4E2M1, onnx.TensorProto.FLOAT8E8M0, onnx.TensorProto.UINT4, onnx.TensorProto.INT4,
    onnx.TensorProto.UINT2, onnx.TensorProto.INT2,
}


def ops_in(graph):
    for node in graph.node:
        yield node.domain or "", node.op_type
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from ops_in(attribute.g)


def is_read(model):
    functions = {(f.domain, f.name) for f in model.functions}
    graphs = [model.graph, *model.functions]
    found = {op for graph in graphs for op in ops_in(graph)} - functions
    types = {v.type.tensor_type.elem_type for v in [*model.graph.input, *model.graph.output]}
    return all(name in OPS.get(domain, []) for domain, name in found) and not types & UNREAD


def packed(values, names):
    """Values as messages, sequences as several; None where one is of another kind."""
    graph = onnx.GraphProto(name="values")
    for name, value in zip(names, values):
        items = value if isinstance(value, list) else [value]
        for i, item in enumerate(items):
            if isinstance(item, onnx.TensorProto):
                proto = onnx.TensorProto()
                proto.CopyFrom(item)
            elif isinstance(item, (np.ndarray, np.generic)):
                proto = numpy_helper.from_array(np.asarray(item))
            else:
                return None
            proto.name = f"{name}.{i}" if isinstance(value, list) else name
            graph.initializer.append(proto)
    return graph


def schemas():
    found = {}
    for schema in onnx.defs.get_all_schemas():
        if schema.domain in OPS and not schema.deprecated:
            found.setdefault(schema.domain, {})[schema.name] = schema.since_version
    return {domain: dict(sorted(ops.items())) for domain, ops in sorted(found.items())}


def main():
    (OUT / "schemas.json").write_text(json.dumps(schemas(), indent=0, separators=(",", ":")) + "\n")
    np.random.seed(SEED)
    left_out = {}
    OUT.mkdir(exist_ok=True)
    with zipfile.ZipFile(OUT / "nodes.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        info = {"onnx": onnx.__version__, "seed": SEED, "tests": {}}
        models, values = {}, {}
        for case in collect_testcases(None):
            model = case.model
            if model is None or not is_read(model):
                left_out[case.name] = "op"
                continue
            inputs, outputs = case.data_sets[0]
            graph = packed([*inputs, *outputs], [f"i{i}" for i in range(len(inputs))] + [f"o{i}" for i in range(len(outputs))])
            if graph is None or len(model.SerializeToString()) + len(graph.SerializeToString()) > LARGEST:
                left_out[case.name] = "size" if graph is not None else "kind"
                continue
            model.ClearField("producer_name")
            # The values are in the other file.
            models[case.name] = model.SerializeToString()
            values[case.name] = graph.SerializeToString()
            info["tests"][case.name] = {"rtol": case.rtol, "atol": case.atol}
        # One piece compresses better than two thousand.
        for kind, parts in (("models", models), ("values", values)):
            data, places = b"", {}
            for name, part in parts.items():
                places[name] = [len(data), len(part)]
                data += part
            archive.writestr(f"{kind}.bin", data)
            for name, place in places.items():
                info["tests"][name][kind] = place
        archive.writestr("info.json", json.dumps(info, separators=(",", ":")))
    kinds = {reason: sum(r == reason for r in left_out.values()) for reason in set(left_out.values())}
    print(len(info["tests"]), "tests;", "left out:", kinds, "bytes:", (OUT / "nodes.zip").stat().st_size)


main()
