"""Checks that onnx accepts the files that Eagre writes, for opset 17 to 21, and that onnxruntime computes what Eagre computes.

    python tools/interop/onnx_exports.py [folder]

With a folder whose files are there already, they are checked as they are.
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

HERE = pathlib.Path(__file__).parent


def array(value):
    dtype = value["dtype"]
    return np.asarray([float(v) if isinstance(v, str) else v for v in value["values"]]).astype(dtype).reshape(value["shape"])


def check(file):
    model = onnx.load(file)
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    # onnxruntime computes products of 16 bits in float32.
    half = any(t.data_type == onnx.TensorProto.FLOAT16 for t in model.graph.initializer)
    tolerance = (5e-3, 5e-3) if half else (2e-4, 2e-5)
    for run in json.loads(file.with_suffix(".json").read_text()):
        given = {name: array(x) for name, x in zip(names, run["inputs"], strict=True)}
        for got, wanted in zip(session.run(None, given), map(array, run["outputs"]), strict=True):
            assert got.dtype == wanted.dtype and got.shape == wanted.shape, (got.dtype, got.shape, wanted.dtype, wanted.shape)
            np.testing.assert_allclose(got, wanted, *tolerance)
    return collections.Counter(node.op_type for node in model.graph.node)


def main(folder):
    files = sorted(folder.glob("*.onnx"))
    if not files:
        subprocess.run(["node", HERE / "onnx_exports.mjs", folder], check=True, stdout=subprocess.DEVNULL)
        files = sorted(folder.glob("*.onnx"))
    failed, ops = 0, collections.Counter()
    for file in files:
        try:
            ops += check(file)
        except Exception as error:  # noqa: BLE001
            failed += 1
            print(f"{file.name}: {type(error).__name__}: {str(error)[:400]}")
    print(f"{len(files) - failed} of {len(files)} files are valid and give the same in onnxruntime {onnxruntime.__version__}; {len(ops)} ops")
    return failed


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(min(1, main(pathlib.Path(sys.argv[1]))))
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(min(1, main(pathlib.Path(temporary))))
