"""Makes packages/data/golden/io.json with TensorFlow: calls of functions in tf.io, tf.image and tf.audio that code and decode, and what they give.

Byte strings are written as text, as calls.py says.

Run: python tools/golden/io_calls.py
"""

import io
import json
import os
import pathlib
import struct
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from PIL import Image
from calls import camel, encoded

OUT = pathlib.Path(__file__).parents[2] / "packages/data/golden/io.json"
T = tf.constant
CASES = []
RNG = np.random.default_rng(7)


def add(op, note=None, **args):
    fn = getattr(tf.io, op, None) or getattr(tf.image, op, None) or getattr(tf.audio, op)
    case = {"op": camel(op), "args": {camel(k): encoded(v) for k, v in args.items()}}
    if note:
        case["note"] = note
    try:
        result = fn(**args)
        case["result"] = encoded(list(result) if isinstance(result, tuple) else result)
    except Exception as error:
        case["error"] = type(error).__name__
    CASES.append(case)


# ---- raw values

for dtype in [tf.uint8, tf.int8, tf.int16, tf.uint16, tf.int32, tf.int64, tf.float32, tf.float64, tf.float16, tf.bool, tf.complex64]:
    for little in [True, False]:
        add("decode_raw", input_bytes=T([bytes(range(16)), bytes(range(16, 32))]), out_type=dtype, little_endian=little)
add("decode_raw", input_bytes=T(b"abcd"), out_type=tf.uint8)
add("decode_raw", input_bytes=T(b"abc"), out_type=tf.int16)
add("decode_raw", input_bytes=T([b"ab", b"abcd"]), out_type=tf.int16)
add("decode_raw", input_bytes=T([], tf.string), out_type=tf.int16)
add("decode_raw", input_bytes=T([b"", b""]), out_type=tf.int16)
add("decode_raw", input_bytes=T([b"ab", b"abcdef", b""]), out_type=tf.int16, fixed_length=4)
add("decode_raw", input_bytes=T([b"ab"]), out_type=tf.int16, fixed_length=3)
add("decode_raw", input_bytes=T([b"abc"]), out_type=tf.uint16, fixed_length=4, little_endian=False)
for text in [b"", b"a", b"ab", b"abc", b"\xff\xfe\xfd>?", bytes(range(256))]:
    for pad in [True, False]:
        add("encode_base64", input=T([text]), pad=pad)
for text in [b"", b"YQ", b"YQ==", b"YWI", b"YWI=", b"-_-_", b"+/+/", b"Y", b"YQ=", b"Y Q", b"YQ===", b"YR", b"====", b"YWJj\n", b"%%%%"]:
    add("decode_base64", input=T([text]))
add("decode_compressed", bytes=T([b"abc", b"\xff"]))
add("decode_compressed", bytes=T([zlib.compress(b"hello" * 50)]), compression_type="ZLIB")
import gzip

add("decode_compressed", bytes=T(gzip.compress(b"hello" * 50, mtime=0)), compression_type="GZIP")
add("decode_compressed", bytes=T(b"junk"), compression_type="GZIP")
add("decode_compressed", bytes=T(b"junk"), compression_type="LZ4")
for x in [T([[1, 2], [3, 4]]), T(1.5), T([True, False]), T([b"a", b"\xff", b""]), T([1, -1], tf.int64), T([], tf.float32), T([1.5, 2.5], tf.bfloat16), T([1 + 2j]), T([1, 255], tf.uint8), T([0.5], tf.float16), T([2.5, 1e300], tf.float64)]:
    add("serialize_tensor", tensor=x)
    serialized = tf.io.serialize_tensor(x)
    add("parse_tensor", serialized=serialized, out_type=x.dtype)
add("parse_tensor", serialized=tf.io.serialize_tensor(T([1])), out_type=tf.float32)
add("parse_tensor", serialized=T(b"\xff\xff"), out_type=tf.float32)

# ---- CSV

LINES = T([b"1,2.5,a", b'-7,1e3,"b,c"', b',,', b'3,inf,"x ""y"""'])
DEFAULTS = [T([0]), T([1.5]), T(["?"])]
add("decode_csv", records=LINES, record_defaults=DEFAULTS)
add("decode_csv", records=LINES, record_defaults=[T([0]), T(["?"])], select_cols=[0, 2])
add("decode_csv", records=T(b"1;2"), record_defaults=[T([0]), T([0])], field_delim=";")
add("decode_csv", records=T([b"NA,1"]), record_defaults=[T([5]), T([0])], na_value="NA")
add("decode_csv", records=T([b'a"b,c']), record_defaults=[T([""]), T([""])], use_quote_delim=False)
add("decode_csv", records=T([b'a"b,c']), record_defaults=[T([""]), T([""])])
add("decode_csv", records=T([b"1,2,3"]), record_defaults=[T([0]), T([0])])
add("decode_csv", records=T([b",2"]), record_defaults=[tf.constant([], tf.int32), T([0])])
add("decode_csv", records=T([b"x,2"]), record_defaults=[T([0]), T([0])])
add("decode_csv", records=T([[b"1,2"], [b"3,4"]]), record_defaults=[T([0], tf.int64), T([0.0], tf.float64)])
add("decode_csv", records=T([b" 1, 2 "]), record_defaults=[T([0]), T([0.5])])
for line in (b"", b"a\nb,c", b"a,b\r\n", b'"a\nb",c'):
    add("decode_csv", records=T([line]), record_defaults=[T(["q"]), T(["r"])], use_quote_delim=False)
    add("decode_csv", records=T([line]), record_defaults=[T(["q"]), T(["r"])])
add("decode_csv", records=T([b""]), record_defaults=[T(["q"])])
add("decode_csv", records=T([b"1.0"]), record_defaults=[T([0])])
add("decode_csv", records=T([b"2147483648"]), record_defaults=[T([0])])
add("decode_csv", records=T([b'"1",""']), record_defaults=[T([0]), T(["d"])])
add("decode_csv", records=T([b"a\nb,c"]), record_defaults=[T([""]), T([""])])
add("decode_csv", records=T([b'"a\nb",c']), record_defaults=[T([""]), T([""])])

# ---- pictures


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def packed_rows(values, depth):
    height, width, channels = values.shape
    out = b""
    for y in range(height):
        row = values[y].reshape(-1)
        if depth == 16:
            row = row.astype(">u2").tobytes()
        elif depth == 8:
            row = row.astype(np.uint8).tobytes()
        else:
            bits = "".join(format(int(v), f"0{depth}b") for v in row)
            bits += "0" * (-len(bits) % 8)
            row = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
        out += filtered(row, y % 5, packed_rows.previous, max(1, channels * depth // 8))
        packed_rows.previous = row
    return out


def filtered(row, kind, previous, bpp):
    previous = previous or bytes(len(row))
    out = bytearray([kind])
    for i, v in enumerate(row):
        a = row[i - bpp] if i >= bpp else 0
        b = previous[i]
        c = previous[i - bpp] if i >= bpp else 0
        p = a + b - c
        paeth = min([(abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c)])[2]
        out.append((v - [0, a, b, (a + b) // 2, paeth][kind]) % 256)
    return bytes(out)


def png(width, height, color, depth, interlaced=False, palette=None, alpha=None):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    top = len(palette) if palette is not None else 2**depth
    values = RNG.integers(0, top, (height, width, channels))
    raw = b""
    if interlaced:
        for x0, y0, dx, dy in [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]:
            part = values[y0::dy, x0::dx]
            packed_rows.previous = None
            if part.size:
                raw += packed_rows(part, depth)
    else:
        packed_rows.previous = None
        raw = packed_rows(values, depth)
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, int(interlaced)))
    if palette is not None:
        out += chunk(b"PLTE", bytes(np.array(palette, np.uint8).reshape(-1)))
    if alpha is not None:
        out += chunk(b"tRNS", alpha)
    return out + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


PALETTE = [[255, 0, 0], [0, 255, 10], [7, 0, 255], [90, 91, 92]]
PNGS = {}
for color, depths in [(0, [1, 2, 4, 8, 16]), (2, [8, 16]), (4, [8, 16]), (6, [8, 16])]:
    for depth in depths:
        PNGS[f"color {color}, {depth} bits"] = png(5, 6, color, depth)
        PNGS[f"color {color}, {depth} bits, interlaced"] = png(9, 7, color, depth, True)
for depth in [2, 4, 8]:
    PNGS[f"palette, {depth} bits"] = png(5, 4, 3, depth, palette=PALETTE)
    PNGS[f"palette with alpha, {depth} bits, interlaced"] = png(5, 4, 3, depth, True, PALETTE, bytes([0, 128, 255]))
PNGS["palette, 1 bit"] = png(9, 2, 3, 1, palette=PALETTE[:2])
PNGS["grey with a transparent value"] = png(4, 3, 0, 2, alpha=struct.pack(">H", 2))
PNGS["RGB with a transparent value"] = png(4, 3, 2, 8, alpha=struct.pack(">HHH", 1, 2, 3))
for note, contents in PNGS.items():
    for channels in [0, 1, 2, 3, 4]:
        for dtype in [tf.uint8, tf.uint16]:
            if dtype == tf.uint16 and channels not in (0, 3):
                continue
            add("decode_png", note, contents=T(contents), channels=channels, dtype=dtype)
add("decode_png", contents=T(PNGS["color 2, 8 bits"][:60]))
add("decode_png", contents=T(b""))
add("decode_image", contents=T(PNGS["color 2, 8 bits"]))
add("decode_image", contents=T(PNGS["color 0, 16 bits"]), dtype=tf.uint16)
add("decode_image", contents=T(PNGS["color 2, 8 bits"]), dtype=tf.float32)
add("decode_image", contents=T(PNGS["color 2, 8 bits"]), channels=1)
add("decode_image", contents=T(b"nothing"))


def bmp(mode, width, height, top_down=False):
    channels = {"L": 1, "RGB": 3, "RGBA": 4}[mode]
    data = RNG.integers(0, 256, (height, width, channels), np.uint8)
    row = (width * channels + 3) // 4 * 4
    body = b"".join(data[y].tobytes().ljust(row, b"\0") for y in range(height))
    head = struct.pack("<IiiHHIIiiII", 40, width, -height if top_down else height, 1, 8 * channels, 0, len(body), 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(body), 0, 0, 54) + head + body


for mode in ["L", "RGB", "RGBA"]:
    for top_down in [False, True]:
        contents = bmp(mode, 5, 3, top_down)
        for channels in [0, 1, 3, 4]:
            add("decode_bmp", mode, contents=T(contents), channels=channels)
add("decode_bmp", contents=T(contents[:50]))
add("decode_bmp", contents=T(contents[:80]))
add("decode_image", contents=T(bmp("RGB", 5, 3)))


def gif(frames, **options):
    out = io.BytesIO()
    images = [Image.fromarray(f) for f in frames]
    images[0].save(out, "GIF", save_all=True, append_images=images[1:], **options)
    return out.getvalue()


still = RNG.integers(0, 4, (6, 7, 3), np.uint8) * 80
moving = [still.copy() for _ in range(3)]
moving[1][2:4, 3:5] = [10, 200, 30]
moving[2][0:2, 0:6] = [100, 20, 230]
GIFS = {"still": gif([still]), "moving": gif(moving, duration=50), "replaced": gif(moving, duration=50, disposal=2)}
transparent = Image.fromarray(RNG.integers(0, 4, (5, 6), np.uint8), "P")
transparent.putpalette(sum(PALETTE, []))
out = io.BytesIO()
transparent.save(out, "GIF", transparency=2)
GIFS["transparent"] = out.getvalue()
out = io.BytesIO()
transparent.save(out, "GIF", interlace=1)
GIFS["interlaced"] = out.getvalue()
for note, contents in GIFS.items():
    add("decode_gif", note, contents=T(contents))
    add("decode_image", note, contents=T(contents))
    add("decode_image", note, contents=T(contents), expand_animations=False)
add("decode_gif", contents=T(GIFS["moving"][:100]))
add("decode_gif", contents=T(b"GIF89a"))

y, x = np.mgrid[0:16, 0:24]
smooth = np.stack([x * 10, y * 14, (x + y) * 6], -1).astype(np.uint8)
JPEGS = {
    "smooth": tf.io.encode_jpeg(smooth, quality=90, chroma_downsampling=False).numpy(),
    "subsampled": tf.io.encode_jpeg(smooth, quality=90).numpy(),
    "progressive": tf.io.encode_jpeg(smooth, quality=90, progressive=True, chroma_downsampling=False).numpy(),
    "grey": tf.io.encode_jpeg(smooth[..., :1], quality=90).numpy(),
}
for note, contents in JPEGS.items():
    for channels in [0, 1, 3]:
        add("decode_jpeg", note, contents=T(contents), channels=channels, dct_method="INTEGER_ACCURATE")
    add("extract_jpeg_shape", note, contents=T(contents))
    add("is_jpeg", note, contents=T(contents))
    add("decode_image", note, contents=T(contents))
add("decode_jpeg", contents=T(JPEGS["smooth"]), channels=4)
add("decode_jpeg", contents=T(JPEGS["smooth"][:200]))
add("decode_and_crop_jpeg", "smooth", contents=T(JPEGS["smooth"]), crop_window=[3, 5, 8, 10], dct_method="INTEGER_ACCURATE")
add("decode_and_crop_jpeg", "smooth", contents=T(JPEGS["smooth"]), crop_window=[3, 5, 80, 10])
add("is_jpeg", contents=T(b"no"))
add("extract_jpeg_shape", contents=T(JPEGS["grey"]), output_type=tf.int64)
add("extract_jpeg_shape", contents=T(b"no"))

# ---- sound


def wav(samples, bits=16, rate=8000, extra=b"", kind=1):
    channels = samples.shape[1]
    body = samples.tobytes()
    fmt = struct.pack("<HHIIHH", kind, channels, rate, rate * channels * bits // 8, channels * bits // 8, bits)
    parts = b"fmt " + struct.pack("<I", len(fmt)) + fmt + extra + b"data" + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", 4 + len(parts)) + b"WAVE" + parts


mono = RNG.integers(-(2**15), 2**15, (7, 1)).astype("<i2")
stereo = RNG.integers(-(2**15), 2**15, (5, 2)).astype("<i2")
for contents in [wav(mono), wav(stereo), wav(stereo, extra=b"LIST" + struct.pack("<I", 4) + b"abcd")]:
    add("decode_wav", contents=T(contents))
    for channels in [1, 2]:
        for samples in [3, 9]:
            add("decode_wav", contents=T(contents), desired_channels=channels, desired_samples=samples)
add("decode_wav", contents=T(wav(mono)[:40]))
add("decode_wav", contents=T(wav(mono)[:50]))
add("decode_wav", contents=T(b"RIFF"))
add("decode_wav", contents=T(wav(mono.astype(np.uint8), bits=8)))
add("decode_wav", contents=T(wav(mono.astype("<f4"), bits=32, kind=3)))
for audio in [np.array([[0.0], [0.5], [-0.5], [1.0], [-1.0], [2.0], [-2.0], [0.25001]], np.float32), np.array([[0.1, -0.2], [0.3, 0.9]], np.float32), np.zeros([0, 1], np.float32)]:
    add("encode_wav", audio=T(audio), sample_rate=T(44100))
add("encode_wav", audio=T([1.0]), sample_rate=T(44100))

# ---- WebP: TensorFlow's decoder of animations damages memory where the file has no transparency, so those are left out

PICTURES = np.random.default_rng(70)


def webp(*frames, **options):
    out = io.BytesIO()
    first, *rest = [Image.fromarray(frame) for frame in frames]
    more = {"save_all": True, "append_images": rest} if rest else {}
    first.save(out, "WEBP", **more, **options)
    return out.getvalue()


def smooth(channels, shift=0):
    y, x, c = np.mgrid[0:12, 0:18, 0:channels]
    return ((x * 13 + y * 7 + c * 50 + shift) % 256).astype(np.uint8)


def sparse_frame(i):
    frame = np.zeros((16, 16, 4), np.uint8)
    frame[2 * i : 2 * i + 6, 4:10] = PICTURES.integers(0, 256, (6, 6, 4))
    return frame


NOISE = [PICTURES.integers(0, 256, (5, 7, n), dtype=np.uint8) for n in (3, 4)]
FILES = [webp(NOISE[0], lossless=True), webp(NOISE[1], lossless=True, exact=True), webp(smooth(3), quality=70), webp(smooth(4), quality=70)]
FILES += [webp(*[sparse_frame(i) for i in range(4)], lossless=True), webp(*[smooth(4, 40 * i) for i in range(3)], quality=60)]
for contents in FILES:
    for channels in [0, 1, 3, 4]:
        add("decode_webp", contents=T(contents), channels=channels)
    add("decode_image", contents=T(contents))
    add("decode_image", contents=T(contents), expand_animations=False)
    add("decode_image", contents=T(contents), dtype=tf.float32)
    add("decode_webp", contents=T(contents[:-12]))
add("decode_webp", contents=T(b"junk"))
add("decode_webp", contents=T(FILES[0]), dtype=tf.uint16)


def main():
    OUT.write_text("{\n" + f'"versions": {json.dumps({"tensorflow": tf.__version__, "numpy": np.__version__, "pillow": Image.__version__})},\n"cases": [\n' + ",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES) + "\n]}\n")
    print(f"{len(CASES)} calls, {OUT.stat().st_size >> 10} KB")


if __name__ == "__main__":
    main()
