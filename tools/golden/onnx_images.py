"""Makes packages/onnx/golden/images.json: files of pictures, and what ONNX's reference decodes of them.

Run: python tools/golden/onnx_images.py, with onnx, numpy and pillow
"""

import base64
import io
import json
import pathlib

import numpy as np
import onnx
import PIL
from onnx.reference import ReferenceEvaluator
from PIL import Image

OUT = pathlib.Path(__file__).parents[2] / "packages/onnx/golden/images.json"
FORMATS = ["RGB", "BGR", "Grayscale"]

down, right = np.mgrid[0:12, 0:10]
PIXELS = np.stack([down * 20, right * 25, (down * 7 + right * 11) % 256], -1).astype(np.uint8)
FILES = {
    "png": {},
    "bmp": {},
    "jpeg": {"quality": 95, "subsampling": 0},
    "webp": {"lossless": True},
}


def model_of(pixel_format):
    node = onnx.helper.make_node("ImageDecoder", ["data"], ["image"], pixel_format=pixel_format)
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [node],
        "pictures",
        [info("data", onnx.TensorProto.UINT8, [None])],
        [info("image", onnx.TensorProto.UINT8, [None, None, None])],
    )
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=9)


def main():
    models = {name: model_of(name) for name in FORMATS}
    cases = []
    for kind, options in FILES.items():
        file = io.BytesIO()
        Image.fromarray(PIXELS).save(file, kind, **options)
        content = file.getvalue()
        images = {
            name: ReferenceEvaluator(model).run(None, {"data": np.frombuffer(content, np.uint8)})[0]
            for name, model in models.items()
        }
        encoded = {name: base64.b64encode(np.ascontiguousarray(x).tobytes()).decode() for name, x in images.items()}
        shapes = {name: list(x.shape) for name, x in images.items()}
        cases.append({"kind": kind, "file": base64.b64encode(content).decode(), "images": encoded, "shapes": shapes})
    made = {name: base64.b64encode(model.SerializeToString()).decode() for name, model in models.items()}
    versions = {"onnx": onnx.__version__, "pillow": PIL.__version__}
    OUT.write_text(json.dumps({"versions": versions, "models": made, "cases": cases}, indent=1) + "\n")
    print(len(cases), "files", OUT.stat().st_size, "bytes")


main()
