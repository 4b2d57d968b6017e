"""Checks that onnxruntime computes what packages/onnx/golden/models.zip says of models of PyTorch and scikit-learn, and that onnx accepts them.

    python tools/interop/onnx_models.py

Models of texts need the locale en_US.UTF-8 in onnxruntime.
"""

import json
import pathlib
import zipfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

ARCHIVE = pathlib.Path(__file__).parents[2] / "packages/onnx/golden/models.zip"


# What scikit-learn's exporter says of its results' types is refused by both: Eagre's are compared with those of scikit-learn alone.
REFUSED = "sklearn-tree-doubles"


def rows(value):
    """The maps of ZipMap as a matrix."""
    return np.asarray([list(row.values()) for row in value], "float32") if isinstance(value, list) else np.asarray(value)


def main():
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    with zipfile.ZipFile(ARCHIVE) as archive:
        models = json.loads(archive.read("info.json"))["models"]
        for name, runs in models.items():
            data = archive.read(f"{name}.onnx")
            if name == REFUSED:
                continue
            onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
            session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
            for i in range(runs):
                graph = onnx.GraphProto.FromString(archive.read(f"{name}.{i}.pb"))
                values = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
                given = {x.name: values[f"i{k}"] for k, x in enumerate(session.get_inputs())}
                for k, got in enumerate(map(rows, session.run(None, given))):
                    wanted = values[f"o{k}"]
                    if wanted.dtype == object or wanted.dtype.kind in "US":
                        assert [str(v) for v in got.ravel()] == [v.decode() if isinstance(v, bytes) else str(v) for v in wanted.ravel()], name
                    else:
                        np.testing.assert_allclose(got, wanted, 1e-3, 1e-4, err_msg=name)
    print(f"{len(models) - 1} of {len(models)} models are valid and give the same in onnxruntime {onnxruntime.__version__}")


if __name__ == "__main__":
    main()
