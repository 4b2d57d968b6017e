"""Makes packages/data/golden/protos.json with TensorFlow: calls of tf.io.decode_proto and tf.io.encode_proto, and what they give.

Byte strings are written as text, as calls.py says; descriptors and messages that stand outside of tensors are in hexadecimal digits.

Run: python tools/golden/protos.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
from calls import encoded
from google.protobuf import descriptor_pb2 as pb
from google.protobuf import descriptor_pool, message_factory

OUT = pathlib.Path(__file__).parents[2] / "packages/data/golden/protos.json"
F = pb.FieldDescriptorProto
SCALARS = ["double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "bytes", "uint32", "sfixed32", "sfixed64", "sint32", "sint64"]
NUMBERS = dict(zip(SCALARS, [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 15, 16, 17, 18]))


def field(name, number, kind, label=1, of=None, **more):
    if isinstance(kind, str):
        kind = NUMBERS[kind]
    made = F(name=name, number=number, type=kind, label=label, **more)
    if of:
        made.type_name = of
    return made


# ---- proto2: every type, defaults, a group, an extension

OLD = pb.FileDescriptorProto(name="old.proto", package="p", syntax="proto2")
M = OLD.message_type.add(name="M")
for i, name in enumerate(SCALARS):
    M.field.append(field(name, 2 * i + 1, name))
    M.field.append(field("r_" + name, 2 * i + 2, name, 3))
M.field.append(field("m", 50, F.TYPE_MESSAGE, 1, ".p.M"))
M.field.append(field("r_m", 51, F.TYPE_MESSAGE, 3, "M"))
M.field.append(field("e", 52, F.TYPE_ENUM, 1, ".p.E"))
M.field.append(field("d_e", 53, F.TYPE_ENUM, 1, ".p.E", default_value="B"))
M.field.append(field("d_float", 54, "float", default_value="1.5"))
M.field.append(field("d_string", 55, "string", default_value="hé"))
M.field.append(field("d_bytes", 56, "bytes", default_value="\\377a\\n"))
M.field.append(field("d_int64", 57, "int64", default_value="-9007199254740993"))
M.field.append(field("d_inf", 58, "double", default_value="-inf"))
M.field.append(field("d_bool", 59, "bool", default_value="true"))
M.field.append(field("packed", 60, "int32", 3))
M.field[-1].options.packed = True
M.field.append(field("packed_double", 61, "double", 3))
M.field[-1].options.packed = True
M.field.append(field("packed_e", 62, F.TYPE_ENUM, 3, ".p.E"))
M.field[-1].options.packed = True
M.field.append(field("grp", 63, F.TYPE_GROUP, 1, ".p.M.Grp"))
GRP = M.nested_type.add(name="Grp")
GRP.field.append(field("a", 1, "int32"))
M.extension_range.add(start=100, end=200)
E = OLD.enum_type.add(name="E")
E.value.add(name="A", number=3)
E.value.add(name="B", number=5)
OLD.extension.append(field("ext", 100, "int32", extendee=".p.M"))
Q = OLD.message_type.add(name="Needs")
Q.field.append(field("must", 1, "int32", 2))

# ---- proto3: no presence, oneof, a map, open enums

NEW = pb.FileDescriptorProto(name="new.proto", package="q", syntax="proto3")
N = NEW.message_type.add(name="N")
N.field.append(field("i", 1, "int32"))
N.field.append(field("r", 2, "int32", 3))
N.field.append(field("s", 3, "string"))
N.field.append(field("o", 4, "int32", proto3_optional=True, oneof_index=1))
N.field.append(field("o1", 5, "int32", oneof_index=0))
N.field.append(field("o2", 6, "string", oneof_index=0))
N.oneof_decl.add(name="oo")
N.oneof_decl.add(name="_o")
N.field.append(field("e", 7, F.TYPE_ENUM, 1, "E"))
E3 = N.enum_type.add(name="E")
E3.value.add(name="Z", number=0)
E3.value.add(name="Y", number=1)
N.field.append(field("n", 8, F.TYPE_MESSAGE, 1, "N"))
ENTRY = N.nested_type.add(name="MapEntry")
ENTRY.options.map_entry = True
ENTRY.field.append(field("key", 1, "string"))
ENTRY.field.append(field("value", 2, "int32"))
N.field.append(field("map", 9, F.TYPE_MESSAGE, 3, "MapEntry"))
N.field.append(field("f", 10, "double"))
N.field.append(field("loose", 11, "int32", 3))
N.field[-1].options.packed = False

SETS = {name: pb.FileDescriptorSet(file=[file]).SerializeToString() for name, file in {"p": OLD, "q": NEW}.items()}
POOL = descriptor_pool.DescriptorPool()
POOL.Add(OLD)
OLD_M = message_factory.GetMessageClass(POOL.FindMessageTypeByName("p.M"))
CASES = []


def run(case, call):
    try:
        result = call()
        case["result"] = encoded([result[0], *result[1]]) if isinstance(result, tuple) else encoded(result)
    except Exception as error:
        case["error"] = type(error).__name__
    CASES.append(case)


def decode(messages, names, types, message="p.M", **options):
    case = {"op": "decodeProto", "bytes": encoded(tf.constant(messages, tf.string)), "message": message, "names": names, "types": [t.name for t in types], "options": options}
    more = {"message_format" if k == "messageFormat" else k: v for k, v in options.items()}
    run(case, lambda: tuple(tf.io.decode_proto(messages, message, names, types, descriptor_source=b"bytes://" + SETS[message[0]], **more)))


def encode(sizes, values, names, message="p.M"):
    values = [tf.constant(v) if not isinstance(v, tf.Tensor) else v for v in values]
    sizes = tf.constant(sizes, tf.int32)
    case = {"op": "encodeProto", "sizes": encoded(sizes), "values": encoded(values), "message": message, "names": names}
    run(case, lambda: tf.io.encode_proto(sizes, values, names, message, descriptor_source=b"bytes://" + SETS[message[0]]))


FULL = OLD_M(
    double=1.5, float=2.5, int64=-5, uint64=2**63 + 1, int32=-7, fixed64=2**60 + 1, fixed32=4294967295, bool=True, string="hé", bytes=b"\xff\0",
    uint32=4294967295, sfixed32=-3, sfixed64=-(2**60) - 1, sint32=-(2**31), sint64=-(2**63), e=5, packed=[1, -2, 300], packed_double=[0.5, -0.5],
    packed_e=[3, 5], r_int32=[1, 2, 3], r_string=["a", "b"], r_bool=[True, False], r_double=[1.0, 2.0], m=dict(int32=4), r_m=[dict(int32=4), dict()],
)
FULL.grp.a = 9
FULL_BYTES = FULL.SerializeToString() + b"\xa0\x06\x07"
TYPES = [tf.float64, tf.float32, tf.int64, tf.uint64, tf.int32, tf.uint32, tf.int8, tf.uint8, tf.bool, tf.string, tf.float16]
for name in [*SCALARS, "e", "m", "grp"]:
    for dtype in TYPES:
        decode([FULL_BYTES], [name], [dtype])
REPEATED = ["packed", "packed_double", "packed_e", "r_int32", "r_string", "r_bool", "r_double", "r_m", "p.ext"]
REPEATED_TYPES = [tf.int32, tf.float64, tf.int32, tf.int64, tf.string, tf.bool, tf.float64, tf.string, tf.int32]
for sanitize in [False, True]:
    decode([FULL_BYTES, b""], REPEATED, REPEATED_TYPES, sanitize=sanitize)
    decode([[FULL_BYTES], [b""]], REPEATED, REPEATED_TYPES, sanitize=sanitize)
    decode(FULL_BYTES, ["m", "grp"], [tf.string, tf.string], sanitize=sanitize)
decode([b""], ["d_e", "d_float", "d_string", "d_int64", "d_inf", "d_bool", "e", "m", "string"], [tf.int32, tf.float32, tf.string, tf.int64, tf.float64, tf.bool, tf.int32, tf.string, tf.string])
decode([b""], ["d_bytes"], [tf.string])
decode([FULL_BYTES], ["nope"], [tf.int32])
decode([FULL_BYTES], ["int32"], [tf.int32, tf.int32])
decode([FULL_BYTES], ["int32"], [tf.int32], message="p.Nope")
decode(tf.constant([], tf.string), ["int32"], [tf.int32])
decode([FULL_BYTES], ["int32"], [tf.int32], messageFormat="yaml")
for cut in [1, 5, 40]:
    decode([FULL_BYTES[:-cut]], ["int32"], [tf.int32])
for sanitize in [False, True]:
    decode([b""], ["must"], [tf.int32], message="p.Needs", sanitize=sanitize)
    # A closed enum with another number.
    decode([b"\xa0\x03\x04"], ["e"], [tf.int32], sanitize=sanitize)
    decode([b"\xf2\x03\x02\x04\x05"], ["packed_e"], [tf.int32], sanitize=sanitize)

ALL = ["i", "r", "s", "o", "o1", "o2", "e", "n", "map"]
ALL_TYPES = [tf.int32, tf.int32, tf.string, tf.int32, tf.int32, tf.string, tf.int32, tf.string, tf.string]
BINARY = [
    b"\x08\x00", b"\x1a\x01\xff", b"\x38\x07", b"\x20\x00", b"\x28\x05\x32\x01x", b"\x32\x01x\x28\x05", b"\x10\x05\x10\x06\x12\x02\x07\x08", b"\x42\x02\x08\x00",
    b"\x42\x02\x10\x01\x42\x02\x10\x02", b"\x4a\x03\x0a\x01a\x4a\x00\x4a\x05\x0a\x01a\x10\x05", b"\x0a\x01\x05", b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\x0b\x08\x01\x0c", b"\x0c", b"\x00", b"\x07", b"\x08", b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x42\x05\x08", b"\x42\x01\x08",
    b"\x50\x01\x08\x05", b"\xd3\x02\x08\x01\xd4\x02", b"\xd3\x02\x08\x01\xd4\x03", b"\x12\x01\x80", b"\x12\x00", b"\x1d\x00\x00\x00\x00", b"\x08\x01\x08\x02",
]
for data in BINARY:
    for sanitize in [False, True]:
        decode([data], ALL, ALL_TYPES, message="q.N", sanitize=sanitize)
TEXT = r"""
i: 0 r: [] s: ""|i: 3 r: 1 r: 2|o: 0|o1: 0|o1: 5 o2: "x"|o2: "x" o1: 5|i:1 i:2|s: "a" "b" 'c'|s: "\x41\102\n\u00e9\U0001F600\'\?"|s: "\ud83d\ude00"|s: "\ud83d"
i: 0x1F|i: 017|i: -5|i: - 5|i: 2147483648|i: -2147483648|i: 1.0|r: [1,2,3,]|r: 1, r: 2; |s: "\xff"|s: 5|s: abc|i: "5"|i 5|e: Y|e: 1|e: 7|e: W|e: -1|n { i: 3 }|n: { i: 3 }|n < i: 3 >
n: < i: 3 >|n { i: 3|n { i: 0 }|map { key: "a" value: 1 }|map { key: "b" value: 0 } map { key: "a" }|map: [{key: "a" value: 1}, {key: "b"}]|map { key: "a" value: 1 } map {key: "a" value: 2}
I: 3|1: 3|[a.b]: 3|n { s: "z" i: 1 }|i: +5|i: 1i: 2|n: 5|i { }|s: "abc|i: 00|i: 08|s: "\400"|s: "\q"|i: 1e2|i: 1f|i: true|n {} n {}|r: 1 r: [2, 3]|i: [1]|i: 1;;|map {}|reserved: 5|constructor: 5
n { n { n { i: 1 } } }|n { i: 1 >|}|i: 1 }|n {i: 1;}, i: 2|s: '"' s2: 1|s: "a\
b"
""".strip().replace("\n", "|").split("|") + ["# hi\ni: 4 # x\n", "i:\n5", 's: "\n"', "", "#" * 200, "i: 1 #" + "#" * 200 + "\n$", "r: [1 2]", "[", "i", "i:", "n", "n:"]
for text in TEXT:
    decode([text.encode()], ALL, ALL_TYPES, message="q.N", messageFormat="text")
for text in "1.5|1|-1.5e3|inf|-inf|nan|1.5f|1F|.5|5.|0x10|010|infinity|1e400|\"1\"|INF|Infinity|1e-400|99999999999999999999999|-0|0|constructor|1e|1.5.2|--1".split("|"):
    decode([("f: " + text).encode()], ["f"], [tf.float64], message="q.N", messageFormat="text")
for text in ["bool: true", "bool: t", "bool: True", "bool: 1", "bool: 2", "bool: TRUE", "bool: f", "bool: 0x1", "bool: 01", "bool: toString"]:
    decode([text.encode()], ["bool"], [tf.bool], messageFormat="text")
for text in ["18446744073709551615", "-1", "18446744073709551616", "0xFFFFFFFFFFFFFFFF"]:
    decode([("uint64: " + text).encode()], ["uint64"], [tf.uint64], messageFormat="text")
for text in ["-9223372036854775808", "9223372036854775808"]:
    decode([("sint64: " + text).encode()], ["sint64"], [tf.int64], messageFormat="text")
for text in ['string: "\\xff"', 'bytes: "\\377\\xfe"', "e: A", "e: 3", "e: 4", "uint32: 4294967296", "m {int32: 1} m {int64: 2}", "Grp { a: 5 }", "grp { a: 5 }", "GRP { a: 5 }", "[p.ext]: 4", "ext: 4", "m { Grp { a: 1 } packed: [1, 2] }"]:
    decode([text.encode()], ["string", "bytes", "e", "m", "grp", "p.ext"], [tf.string, tf.string, tf.int32, tf.string, tf.string, tf.int32], messageFormat="text")

T = tf.constant
encode([[2]], [[[1, 2]]], ["r_int32"])
encode([2], [[1, 2]], ["r_int32"])
encode([[1]], [[[1, 2]]], ["int32"])
encode([[2]], [[[1, 2]]], ["int32"])
encode([[2], [0], [1]], [[[1, 300], [1, 2], [-1, 2]]], ["packed"])
encode([[3]], [[[1, 2]]], ["packed"])
encode([[1, 1]], [[[1]], [["a"]]], ["int32", "string"])
encode([[1, 1]], [[[1]], [["a"], ["b"]]], ["int32", "string"])
encode([[1, 1]], [[[1]], [["a"]]], ["string", "int32"])
encode([[1, 1], [1, 1]], [[["x"], ["y"]], [[3], [4]]], ["string", "int32"])
encode([[[1, 1]], [[1, 0]]], [[[["x"]], [["y"]]], [[[3]], [[4]]]], ["string", "int32"])
for name, value in [
    ("int32", T([[2**40 + 5]], tf.int64)), ("int32", T([[-1]])), ("uint32", T([[2**40 + 5]], tf.uint64)), ("uint32", T([[7]], tf.uint32)), ("fixed32", T([[2**40 + 5]], tf.uint64)),
    ("float", T([[1.1]], tf.float64)), ("float", T([[1e300]], tf.float64)), ("float", T([[1.1]])), ("double", T([[1.1]], tf.float64)), ("sint64", T([[-2]], tf.int64)), ("sint64", T([[-(2**63)]], tf.int64)),
    ("sint32", T([[-(2**40) - 3]], tf.int64)), ("sint32", T([[-(2**31)]])), ("sfixed32", T([[-2]], tf.int64)), ("sfixed64", T([[-2]], tf.int64)), ("fixed64", T([[2**63 + 1]], tf.uint64)),
    ("uint64", T([[2**63 + 1]], tf.uint64)), ("int64", T([[-(2**63)]], tf.int64)), ("bool", T([[True]])), ("e", T([[-5]])), ("string", T([[b"\xff\xfe"]])), ("bytes", T([[b""]])), ("m", T([[b"junk"]])), ("grp", T([[b"\x08\x05"]])),
    ("int64", T([[1]])), ("bool", T([[1]])),
]:
    encode([[1]], [value], [name])
encode(tf.zeros([0, 1], tf.int32), [tf.zeros([0, 1], tf.int32)], ["int32"])
encode([[2]], [[[1, 2]]], ["r"], message="q.N")
encode([[2]], [[[1, 2]]], ["loose"], message="q.N")
encode([[1]], [[[0]]], ["i"], message="q.N")

OUT.write_text(json.dumps({"tensorflow": tf.__version__, "descriptors": {k: v.hex() for k, v in SETS.items()}, "cases": CASES}, separators=(",", ":"), ensure_ascii=True) + "\n")
print(len(CASES), OUT.stat().st_size)
