"""Makes packages/data/golden/picture-codecs.json with TensorFlow: JPEG and PNG files of every kind, what tf.io.decode_jpeg and decode_png make of them, and
the files that tf.io.encode_jpeg writes.

Bytes are base64. Of what is decoded there are the shape and the SHA-256 of the bytes.

Run: python tools/golden/picture_codecs.py
"""

import base64
import hashlib
import io
import json
import os
import pathlib
import struct
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf
from PIL import Image

OUT = pathlib.Path(__file__).parents[2] / "packages/data/golden/picture-codecs.json"
RNG = np.random.default_rng(11)
# Pillow writes none: 12 x 9 pixels by libjpeg-turbo's encoder, with `arith_code`.
ARITHMETIC = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAUDBAQEAwUEBAQFBQUGBwwIBwcHBw8LCwkMEQ8SEhEPERETFhwXExQaFRERGCEYGh0dHx8fExciJCIeJBweHx7/2wBDAQUFBQcGBw4ICA4eFBEUHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh7/yQARCAAJAAwDASIAAhEBAxEB/8wACgAQEAUBEBEF/9oADAMBAAIRAxEAPwD/ALeIW4nXmUyiT6xg/sL8CiPKHTtcSw0fLykbsf0sJRzwU2YBWoQzFBN9tJ9mfZD4wDli8ckDTfglszqytPqO5xl/h9v15wqrSt7LR4vNz+wUh02efLKrfpJyQ52/oKPI/9k="


def b64(data):
    return base64.b64encode(data).decode()


def picture(height, width, noise=20):
    """Smooth, with edges and some noise, and some pixels at both ends."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [128 + 100 * np.sin(x / 5 + c) * np.cos(y / 7 - c) + 60 * ((x // 6 + y // 4) % 2) for c in range(3)]
    return np.clip(np.stack(planes, -1) + RNG.normal(0, noise, (height, width, 3)), 0, 255).astype(np.uint8)


def jpeg(pixels, mode="RGB", **options):
    out = io.BytesIO()
    image = Image.fromarray(pixels).convert(mode)
    image.save(out, "JPEG", **{"quality": 80, **options})
    return out.getvalue()


def without_adobe(data):
    at = data.index(b"\xff\xee")
    return data[:at] + data[at + 2 + struct.unpack(">H", data[at + 2 : at + 4])[0] :]


def taller(data):
    """A file of 4:2:2 said to be of 4:4:0: as many blocks, in other places."""
    at = data.index(b"\xff\xc0")
    return data[: at + 11] + bytes([0x12]) + data[at + 12 :]


WIDE = picture(33, 47)
JPEGS = {
    "4:4:4": jpeg(WIDE, subsampling=0),
    "4:2:2": jpeg(WIDE, subsampling=1),
    "4:2:0": jpeg(WIDE, subsampling=2),
    "4:4:0": taller(jpeg(picture(32, 32), subsampling=1)),
    "grey": jpeg(picture(17, 33), "L"),
    "progressive": jpeg(picture(17, 33), progressive=True),
    "progressive grey": jpeg(picture(17, 19), "L", progressive=True),
    "restart markers": jpeg(picture(33, 33), restart_marker_blocks=2),
    "arithmetic": base64.b64decode(ARITHMETIC),
    "cmyk": jpeg(picture(17, 21), "CMYK"),
    "cmyk without marker": without_adobe(jpeg(picture(17, 21), "CMYK")),
    "rgb": jpeg(picture(9, 11), keep_rgb=True),
    "1 x 1": jpeg(picture(1, 1)),
    "7 x 5": jpeg(picture(5, 7)),
    "17 x 33": jpeg(picture(33, 17), subsampling=2),
    "3 x 40": jpeg(picture(40, 3), subsampling=2),
    "noise": jpeg(RNG.integers(0, 256, (24, 40, 3), np.uint8), quality=100, subsampling=2),
    "coarse": jpeg(picture(24, 40, 60), quality=3),
}
RECOVERED = ["4:4:4", "4:2:0", "restart markers", "noise"]
WISHES = [
    {},
    {"dct_method": "INTEGER_ACCURATE"},
    {"channels": 1},
    {"channels": 3},
    {"fancy_upscaling": False},
    *[{"ratio": ratio} for ratio in (2, 4, 8)],
    {"ratio": 2, "channels": 1, "fancy_upscaling": False},
]
WINDOWS = [[0, 0, 5, 5], [3, 17, 8, 9], [16, 16, 1, 4], [30, 1, 3, 40], [0, 0, 33, 47], [2, 2, 40, 40]]


def png_passes(height, width, interlaced):
    if not interlaced:
        return [(width, height)]
    steps = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    sizes = [(-(-(width - x) // dx), -(-(height - y) // dy)) for x, y, dx, dy in steps]
    return [(w, h) for w, h in sizes if w > 0 and h > 0]


def png(height, width, color, depth, interlaced=False, transparency=None, parts=1):
    """Any bytes are rows of some picture, whatever their filter."""

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    raw = b"".join(
        bytes([RNG.integers(5)]) + RNG.integers(0, 256, -(-w * channels * depth // 8), np.uint8).tobytes()
        for w, h in png_passes(height, width, interlaced)
        for _ in range(h)
    )
    packed = zlib.compress(raw)
    size = -(-len(packed) // parts)
    return b"".join([
        b"\x89PNG\r\n\x1a\n",
        chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, int(interlaced))),
        chunk(b"PLTE", RNG.integers(0, 256, 3 << depth, np.uint8).tobytes()) if color == 3 else b"",
        chunk(b"tRNS", transparency) if transparency else b"",
        *[chunk(b"IDAT", packed[i * size : (i + 1) * size]) for i in range(parts)],
        chunk(b"IEND", b""),
    ])


DEPTHS = {0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16]}
PNGS = {f"type {color}, {depth} bits{', interlaced' * i}": png(7, 11, color, depth, bool(i)) for color in DEPTHS for depth in DEPTHS[color] for i in (0, 1)}
PNGS["grey, transparent"] = png(9, 20, 0, 2, transparency=b"\0\1")
PNGS["colours, transparent"] = png(3, 3, 2, 8, transparency=b"\0\1\0\2\0\3")
PNGS["palette, transparent"] = png(9, 20, 3, 4, transparency=bytes([0, 100, 200]))
PNGS["1 x 1, interlaced"] = png(1, 1, 6, 8, True)
PNGS["three parts"] = png(21, 35, 2, 8, parts=3)
PNGS["wide"] = png(12, 70, 6, 8)

ENCODINGS = [
    ("colours", {}),
    *[("colours", {"quality": q}) for q in (0, 1, 25, 75, 100)],
    ("colours", {"chroma_downsampling": False}),
    ("colours", {"progressive": True}),
    ("colours", {"optimize_size": True}),
    ("colours", {"progressive": True, "optimize_size": True, "quality": 60}),
    ("colours", {"density_unit": "cm", "x_density": 118, "y_density": 50}),
    ("colours", {"xmp_metadata": "<x:xmpmeta xmlns:x='adobe:ns:meta/'/>"}),
    ("colours", {"format": "rgb", "quality": 90}),
    ("grey", {}),
    ("grey", {"format": "grayscale", "progressive": True}),
    ("small", {}),
    ("narrow", {"quality": 50}),
    ("noise", {"quality": 100}),
]
PICTURES = {
    "colours": WIDE,
    "grey": picture(20, 35)[..., :1],
    "small": picture(1, 1),
    "narrow": picture(40, 3),
    "noise": RNG.integers(0, 256, (19, 38, 3), np.uint8),
}


def result(call):
    try:
        value = call().numpy()
    except Exception as error:
        return {"error": type(error).__name__}
    return {"shape": list(value.shape), "sha256": hashlib.sha256(value.tobytes()).hexdigest()}


def main():
    cases = []
    for name, data in JPEGS.items():
        for wishes in WISHES:
            cases.append({"file": name, "wishes": wishes, **result(lambda: tf.io.decode_jpeg(data, **wishes))})
        for window in WINDOWS:
            for wishes in ({}, {"channels": 1}):
                cases.append({"file": name, "window": window, "wishes": wishes, **result(lambda: tf.io.decode_and_crop_jpeg(data, window, **wishes))})
        # TensorFlow does not end for some files that end within their header.
        for size in [len(data) * 9 // 10, len(data) - 2]:
            for recover in [False, True] if name in RECOVERED else [False]:
                wishes = {"try_recover_truncated": recover}
                cases.append({"file": name, "size": size, "wishes": wishes, **result(lambda: tf.io.decode_jpeg(data[:size], **wishes))})
            wishes = {"acceptable_fraction": 0.5}
            cases.append({"file": name, "size": size, "wishes": wishes, **result(lambda: tf.io.decode_jpeg(data[:size], **wishes))})
    for name, data in PNGS.items():
        for wishes in [{}, {"dtype": "uint16"}, *[{"channels": c} for c in (1, 3, 4)], {"channels": 4, "dtype": "uint16"}]:
            given = {**wishes, "dtype": tf.as_dtype(wishes.get("dtype", "uint8"))}
            cases.append({"file": name, "wishes": wishes, **result(lambda: tf.io.decode_png(data, **given))})
    encodings = []
    for name, options in ENCODINGS:
        data = tf.io.encode_jpeg(PICTURES[name], **options).numpy()
        encodings.append({"picture": name, "options": options, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()})
    golden = {
        "versions": {"tensorflow": tf.__version__, "numpy": np.__version__, "pillow": Image.__version__},
        "files": {name: b64(data) for name, data in {**JPEGS, **PNGS}.items()},
        "pictures": {name: {"shape": list(p.shape), "data": b64(zlib.compress(p.tobytes(), 9))} for name, p in PICTURES.items()},
        "cases": cases,
        "encodings": encodings,
    }
    lines = [f'"{key}": {json.dumps(value, separators=(",", ":"))}' for key, value in golden.items()]
    OUT.write_text("{\n" + ",\n".join(lines).replace("},{", "},\n{") + "\n}\n")
    print(f"{len(cases)} cases, {len(encodings)} encodings, {OUT.stat().st_size >> 10} KB")


if __name__ == "__main__":
    main()
