"""Makes packages/core/golden/strings.json with TensorFlow: calls of the functions in tf.strings and what they give.

Byte strings are written as text in which a byte that is not UTF-8 is U+DC00 plus its value, as Python's `surrogateescape` does.

Run: python tools/golden/strings.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from calls import camel, encoded

OUT = pathlib.Path(__file__).parents[2] / "packages/core/golden/strings.json"
T = tf.constant


def given(value):
    if isinstance(value, tf.RaggedTensor):
        return {**encoded(value), "raggedRank": value.ragged_rank}
    return [given(v) for v in value] if isinstance(value, list) else encoded(value)


def call(op, **args):
    fn = tf.as_string if op == "as_string" else getattr(tf.strings, op)
    case = {"op": camel(op), "args": {camel(k): given(v) for k, v in args.items()}}
    try:
        case["result"] = encoded(fn(**args))
    except Exception as error:
        case["error"] = type(error).__name__
    return case


WORDS = [b"", b"Hello World", b"  a b\t\n", "Ünïcode ΣΑΣ straße".encode(), "日本 😀".encode(), b"\xff\xfeabc", b"a\x00b", b"\xe3\x81"]
words = T(WORDS)
CASES = []


def add(op, **args):
    CASES.append(call(op, **args))


for op in ["lower", "upper"]:
    add(op, input=words)
    add(op, input=T(WORDS[:5]), encoding="utf-8")
    add(op, input=T(["x"]), encoding="latin")
    add(op, input=T([], tf.string))
add("strip", input=T([b" a ", b"\t\n\v\f\r x y \r", b"", b"  ", "\u00a0a\u00a0".encode(), b"\x00 a"]))
for unit in ["BYTE", "UTF8_CHAR", "CHAR"]:
    add("length", input=words, unit=unit)
add("length", input=T([], tf.string))
add("length", input=T(b"abc"))

SUB = T([[b"ten", b"eleven", b"twelve"], [b"thirteen", b"fourteen", b"fifteen"]])
add("substr", input=T(b"Hello"), pos=1, len=3)
add("substr", input=T(b"Hello"), pos=-3, len=2)
add("substr", input=T(b"Hello"), pos=-5, len=50)
add("substr", input=T(b"Hello"), pos=5, len=1)
add("substr", input=T(b"Hello"), pos=6, len=1)
add("substr", input=T(b"Hello"), pos=-6, len=1)
add("substr", input=T(b"Hello"), pos=1, len=-1)
add("substr", input=T(b"Hello"), pos=1, len=0)
add("substr", input=SUB, pos=T([[1, 2, 3], [1, 0, 2]]), len=T([[2, 2, 1], [0, 9, 2]]))
add("substr", input=SUB, pos=T([1, 2, 3]), len=T([1, 2, 3]))
add("substr", input=T([b"ten", b"eleven", b"twelve"]), pos=T([[0], [1]]), len=T([[1], [2]]))
add("substr", input=T([b"ten", b"eleven"]), pos=T([0, 1, 2]), len=T([1, 1, 1]))
add("substr", input=T(b"thirteen"), pos=T([1, 5, 7]), len=T([3, 2, 11]))
add("substr", input=T(["日本語😀".encode(), "äöü".encode()]), pos=1, len=2, unit="UTF8_CHAR")
add("substr", input=T(["日本語😀".encode(), "äöü".encode()]), pos=-2, len=1, unit="UTF8_CHAR")
add("substr", input=T(["日本語😀".encode(), "äöü".encode()]), pos=3, len=1, unit="UTF8_CHAR")
add("substr", input=T(["日本語😀".encode(), "äöü".encode()]), pos=-4, len=1, unit="UTF8_CHAR")
add("substr", input=T(["日本語😀".encode(), "äöü".encode()]), pos=1, len=2)
add("substr", input=T([b"\xff\xe3a", b"\x80\x80b"]), pos=1, len=1, unit="UTF8_CHAR")
add("substr", input=T([], tf.string), pos=1, len=2)
add("substr", input=T(b"Hello"), pos=T(1, tf.int64), len=T(3, tf.int64))

add("join", inputs=[T(b"abc"), T(b"def")])
add("join", inputs=[T([b"abc", b"123"]), T([b"def", b"456"])], separator=" ")
add("join", inputs=[T([[b"a"], [b"b"]]), T(b"-"), T([[b"c"], [b"d"]])], separator="é")
add("join", inputs=[T([b"a", b"b"]), T([b"a", b"b", b"c"])])
add("join", inputs=[T([], tf.string), T(b"x")])
add("join", inputs=[T(b"\xe3"), T(b"\x81\x82")])
A = T([[b"a", b"b"], [b"c", b"d"]])
for axis in [None, 0, 1, -1, -2, [0, 1], [1, 0], []]:
    for keepdims in [False, True]:
        add("reduce_join", inputs=A, axis=axis, keepdims=keepdims, separator=".")
add("reduce_join", inputs=A, axis=2)
add("reduce_join", inputs=T(b"abc"), axis=None)
add("reduce_join", inputs=tf.zeros([2, 0], tf.string), axis=1)
add("reduce_join", inputs=tf.zeros([0, 2], tf.string), axis=1)
add("reduce_join", inputs=T([[[b"a", b"b"], [b"c", b"d"]], [[b"e", b"f"], [b"g", b"h"]]]), axis=[0, 2])
add("reduce_join", inputs=T([[[b"a", b"b"], [b"c", b"d"]], [[b"e", b"f"], [b"g", b"h"]]]), axis=[2, 0], separator="-")
add("unsorted_segment_join", inputs=T([b"this", b"a", b"test", b"is"]), segment_ids=T([0, 1, 1, 0]), num_segments=2, separator=":")
add("unsorted_segment_join", inputs=T([b"this", b"a", b"test", b"is"]), segment_ids=T([0, -1, 2, 0]), num_segments=3)
add("unsorted_segment_join", inputs=T([b"this", b"a"]), segment_ids=T([0, 3]), num_segments=3)
add("unsorted_segment_join", inputs=T([b"", b"x", b"", b"y", b"", b""]), segment_ids=T([0, 0, 1, 1, 1, 1]), num_segments=3, separator="-")
add("unsorted_segment_join", inputs=A, segment_ids=T([1, 1]), num_segments=2, separator=",")
add("unsorted_segment_join", inputs=A, segment_ids=T([[0, 1], [1, 0]]), num_segments=2, separator=",")

for text in ["{}", "a {} b {}", "no", "{} {} {}"]:
    add("format", template=text, inputs=[T([1, 2, 3, 4, 5, 6, 7, 8, 9]), T([[1.5, 2.0], [3.25, -1.0]])])
add("format", template="tensor: {}", inputs=T([[1, 2, 3], [4, 5, 6]]))
add("format", template="%s", inputs=[T(b"text")], placeholder="%s")
add("format", template="{}", inputs=[T([b"a", b"b\n", "é".encode(), b"\xff"])])
add("format", template="{}", inputs=[tf.range(20)], summarize=2)
add("format", template="{}", inputs=[tf.range(20)], summarize=-1)
add("format", template="{}", inputs=[T([True, False])])
add("format", template="{}", inputs=[T(1.1)])
add("format", template="{}", inputs=[T([], tf.float32)])

NUMS = [b"3.5", b" 4 ", b"-1e3", b"+.5", b"5.", b"inf", b"-Infinity", b"NaN", b"nan", b"0x1F", b"0x1p3", b"-0X.8P+2", b"0x1.8", b"0x1.p1", b"1e400", b"-0", b"1e-50", b"16777217", b"9007199254740993"]
BAD = [b"", b" ", b"abc", b"1 2", b"1,000", b"1e", b"--1", b"1.5.5", b"0x", b"0xp1", b"0x1p", b"1f", b"infinit", "１".encode(), b"1\x00", b"+", b".", b"1_0", b"nan(1)", b"+nan", b"-nan", b"+inf", b"INF"]
INTS = [b"3", b" 4 ", b"-7", b"+5", b"007", b"2147483647", b"-2147483648", b"2147483648", b"9223372036854775807", b"9223372036854775808", b"-9223372036854775808", b"1.0", b"1e3", b"0x10", b"- 1", b"\t12\n", b"4294967295", b"4294967296", b"18446744073709551615", b"18446744073709551616", b"-1"]
for dtype in [tf.float32, tf.float64]:
    for text in NUMS + BAD:
        add("to_number", input=T([text]), out_type=dtype)
for dtype in [tf.int32, tf.int64, tf.uint32, tf.uint64]:
    for text in INTS + BAD:
        add("to_number", input=T([text]), out_type=dtype)
add("to_number", input=T([[b"1", b"2"], [b"3", b"4"]]))
add("to_number", input=T(b"1"))
add("to_number", input=T([b"1"]), out_type=tf.int8)

FLOATS = [0.0, -0.0, 1.0, -2.5, 0.5, 1.5, 3.14159, 1e20, 1e22, 1.7e38, 1e-7, 1e-40, 123456.789, 0.1, 99999.95, 999999.5, float("inf"), float("-inf"), float("nan")]
for dtype in [tf.float32, tf.float64, tf.float16, tf.bfloat16]:
    x = tf.cast(T(FLOATS, tf.float64), dtype)
    for more in [{}, {"precision": 0}, {"precision": 3}, {"scientific": True}, {"scientific": True, "precision": 2}, {"shortest": True}, {"shortest": True, "precision": 3}, {"width": 12}, {"width": 12, "fill": "0"}, {"width": 12, "fill": "-"}, {"fill": "+"}, {"fill": " "}]:
        add("as_string", input=x, **more)
add("as_string", input=T([1.0]), scientific=True, shortest=True)
add("as_string", input=T([1.0]), fill="ab")
add("as_string", input=T([1.0]), fill="x")
add("as_string", input=T([1.0e300], tf.float64), precision=20)
for dtype in [tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int32, tf.uint32, tf.int64, tf.uint64]:
    x = T([dtype.min, 0, 7, dtype.max], dtype)
    for more in [{}, {"width": 6}, {"width": 6, "fill": "0"}, {"width": 6, "fill": "-"}, {"fill": "+"}, {"width": 6, "fill": " "}]:
        add("as_string", input=x, **more)
add("as_string", input=T([1]), precision=2)
add("as_string", input=T([1]), scientific=True)
add("as_string", input=T([True, False]))
add("as_string", input=T([True, False]), width=7)
add("as_string", input=T([True, False]), width=7, fill="0")
add("as_string", input=T([True, False]), precision=3)
add("as_string", input=T([1 + 2j, -0.5j]))
add("as_string", input=T([1 + 2j, -0.5j]), precision=2, width=8)
add("as_string", input=T([1 + 2j], tf.complex128), shortest=True)
add("as_string", input=T([b"a", b"bc"]))
add("as_string", input=T([b"a", b"bc"]), width=4)
add("as_string", input=T(5))
add("as_string", input=T([], tf.float32))

TEXTS = [b"", b"a", b"ab", b"abc", b"abcdefg", b"abcdefgh", b"hello world of hashes", b"x" * 15, b"x" * 16, b"y" * 17, b"z" * 32, b"w" * 33, b"v" * 63, b"u" * 64, b"t" * 65, b"s" * 127, b"r" * 128, b"q" * 200, "日本語".encode(), b"\xff\x00\x80", bytes(range(256))]
for n in [1, 2, 10, 1000, 2**31, 2**40, 2**52]:
    add("to_hash_bucket", input=T(TEXTS), num_buckets=n)
    add("to_hash_bucket_fast", input=T(TEXTS), num_buckets=n)
    add("to_hash_bucket_strong", input=T(TEXTS), num_buckets=n, key=[1, -2])
    add("to_hash_bucket_strong", input=T(TEXTS), num_buckets=n, key=[123456789012, 2**52])
add("to_hash_bucket", input=T(TEXTS), num_buckets=0)
add("to_hash_bucket_fast", input=T(b"x"), num_buckets=5)
add("to_hash_bucket_strong", input=T(b"x"), num_buckets=5, key=[1])

RE = [
    r"a.*", r"^a", r"a$", r"", r"[a-c]+", r"[^a-c]", r"\d+", r"\s+", r"\w*", r"(?i)HELLO", r"hel+o", r".", r"(?s).*", r"(?s)a.b", r"a.b",
    r"(?m)^b", r"a(?i)B", r"(?i:a)b", r"[[:alpha:]]+", r"[[:^digit:][:space:]]+", r"\pL+", r"\p{Greek}+", r"\p{^Lu}", r"\x{1F600}", r"\x41", r"\101", r"\Qa.b\E", r"x{2}", r"x{2,}", r"x{1,3}?",
    r"x{,3}", r"{", r"a|b|", r"(a)(b)?", r"(?P<name>a)", r"(?:ab)+", r"\bfoo\b", r"\Ba", r"\Aa\z", r"a\z", r"(?U)a+", r"[\d\-x]", r"[]a]", r"[a\]]", r"[\w.]+", r"[^\s,]+", r"\a\f\v", r"\.", r"\_", r"\z", r"é+", r"[é-ü]", r"😀", r"[[:punct:]]", r"[[:word:]]+", r"$", r"x*", r"(?i)é", r"(?i)[a-z]+", r"(?-s).", r"(?m)$", r"a{0}", r"\/", r"[&&]", r"[a--z]", r"[~~|]",
]
BADRE = [r"(", r")", r"[", r"a**", r"a++", r"*a", r"(?=a)", r"(?<=a)", r"\1", r"(a)\1", r"[z-a]", r"\Z", r"x{1001}", r"\8", r"(?P<a", r"[[:foo:]]", r"\p{Foo}", "\\", r"a{2}{3}", r"(?z)a", r"\k<a>", r"\u0041", r"\cA"]
SUBJECTS = T([b"", b"a", b"hello HELLO", b"ab", b"aab b", b"foo bar\nbaz", b"a\nb", "éÉüαΩ 日本😀".encode(), b"xx x xxxx", b"a.b {x} 12 [34], a-z_&|~", b"aXbxx12 ]\\", b"A,\t\v\f\r\x07"])
for pattern in RE + BADRE:
    add("regex_full_match", input=SUBJECTS, pattern=pattern)
    for every in [True, False]:
        add("regex_replace", input=SUBJECTS, pattern=pattern, rewrite="<\\0>", replace_global=every)
add("regex_replace", input=T([b"ab ab"]), pattern="(a)(b)", rewrite=r"\2\1\\$1$&")
add("regex_replace", input=T([b"ab ab"]), pattern="(a)(x)?", rewrite=r"[\2]")
add("regex_replace", input=T([b"ab ab"]), pattern=T(b"b"), rewrite=T(b"c"))
add("regex_replace", input=T([b"ab ab"]), pattern=T([b"b"]), rewrite=T(b"c"))
add("regex_full_match", input=T([[b"ab"], [b"b"]]), pattern=T(b"a?b"))

LINES = [b"hello world", b"", b"  a  b ", b"a,b,,c", b",", b"a<>b<><>c", b"\ta\nb\v", "é ü".encode(), b"\xff \xfe"]
for more in [{}, {"sep": ""}, {"sep": ","}, {"sep": "<>"}, {"maxsplit": 1}, {"maxsplit": 0}, {"sep": ",", "maxsplit": 1}, {"sep": ",", "maxsplit": 0}, {"sep": " ", "maxsplit": 2}, {"sep": " "}, {"maxsplit": -2}]:
    add("split", input=T(LINES), **more)
    for line in LINES:
        add("split", input=T(line), **more)
add("split", input=T([[b"a b", b"c"], [b"", b"d e f"]]))
add("split", input=T([], tf.string))
add("split", input=T([b"a b"]), sep=T([b" ", b","]))
add("bytes_split", input=T(b"hello"))
add("bytes_split", input=words)
add("bytes_split", input=T([[b"ab", b""], [b"c", b"d"]]))
add("bytes_split", input=T(b""))

GRAMS = T([[b"A", b"B", b"C", b"D"], [b"E", b"F", b"G", b"H"]])
for more in [
    {"ngram_width": 2}, {"ngram_width": 3}, {"ngram_width": (1, 2)}, {"ngram_width": 5}, {"ngram_width": 2, "separator": ""}, {"ngram_width": 2, "pad_values": "p"},
    {"ngram_width": 3, "pad_values": ("L", "R")}, {"ngram_width": 5, "pad_values": ("L", "R"), "padding_width": 1}, {"ngram_width": 5, "preserve_short_sequences": True},
    {"ngram_width": 3, "pad_values": "p", "padding_width": 0}, {"ngram_width": (6, 2), "preserve_short_sequences": True}, {"ngram_width": 0}, {"ngram_width": 2, "padding_width": 1}, {"ngram_width": 3, "pad_values": "p", "padding_width": -1}, {"ngram_width": 1, "pad_values": "p"}, {"ngram_width": (1, 4), "pad_values": "p", "padding_width": 2},
]:
    add("ngrams", data=GRAMS, **more)
    add("ngrams", data=T([b"a", b"b", b"c"]), **more)
add("ngrams", data=T(b"a"), ngram_width=1)
add("ngrams", data=tf.zeros([2, 0], tf.string), ngram_width=2)
add("ngrams", data=tf.zeros([2, 0], tf.string), ngram_width=2, pad_values="p")
for rows in [[[], []], [[], [b"a"]], [[b"a", b"b", b"c"], []]]:
    add("ngrams", data=tf.ragged.constant(rows, tf.string), ngram_width=2, pad_values="p")

RAGGED = tf.ragged.constant([[b"a", b"b"], [], [b"c"]])
DEEP = tf.ragged.constant([[[b"a", b"b"], []], [], [[b"c"], [b"d", b"e"]]])
PAIRS = tf.ragged.constant([[[b"a", b"b"]], [[b"c", b"d"], [b"e", b"f"]]], ragged_rank=1)
add("join", inputs=[RAGGED, RAGGED], separator="-")
add("join", inputs=[RAGGED, T(b"x")])
add("join", inputs=[DEEP, DEEP, T(b"x")], separator="+")
for rows in [RAGGED, DEEP, PAIRS]:
    for axis in [None, 0, 1, -1, [0, 1], [1, 0], *([2, [0, 2], [1, 2]] if rows is not RAGGED else [])]:
        for keepdims in [False, True]:
            if axis is not None or not keepdims:
                add("reduce_join", inputs=rows, axis=axis, keepdims=keepdims, separator=".")

UTF = T([b"", b"abc", "aé日😀".encode(), b"a\xffb", b"\xe3\x81", b"\xed\xa0\x80", b"a\x00\x07b", b"\xf8\x88\x80\x80\x80", b"\xc0\xafz", b"\xf4\x90\x80\x80"])
for op in ["unicode_decode", "unicode_decode_with_offsets", "unicode_split", "unicode_split_with_offsets"]:
    for errors in ["replace", "ignore", "strict"]:
        add(op, input=UTF, input_encoding="UTF-8", errors=errors)
        add(op, input=T(b"a\xffb"), input_encoding="UTF-8", errors=errors)
    add(op, input=UTF, input_encoding="UTF-8", replacement_char=63)
    add(op, input=T("aé日😀".encode()), input_encoding="UTF-8")
    add(op, input=T(["aé日😀".encode("utf-16-be"), b"\xd8\x00\x00a", b"abc", b"\xdc\x00"]), input_encoding="UTF-16-BE")
    add(op, input=T(["aé日😀".encode("utf-32-be"), b"\x00\x11\x00\x00", b"\x00\x00\xd8\x00", b"abc"]), input_encoding="UTF-32-BE")
    add(op, input=T([b"a\xe9\x80"]), input_encoding="ISO-8859-1")
    add(op, input=T([b"a\xe9\x80"]), input_encoding="US-ASCII")
    add(op, input=T([b"a\xe9\x80"]), input_encoding="windows-1252")
    add(op, input=T(["日本a".encode("shift-jis"), b"\x81"]), input_encoding="shift-jis")
    add(op, input=T(["日本a".encode("euc-jp")]), input_encoding="EUC-JP")
    add(op, input=T([b"a"]), input_encoding="nonsense")
    add(op, input=T([[b"ab", b"c"], [b"", b"de"]]), input_encoding="UTF-8")
    add(op, input=T([], tf.string), input_encoding="UTF-8")
for op in ["unicode_decode", "unicode_decode_with_offsets"]:
    add(op, input=T([b"a\x00\x07\tb\n\x7f"]), input_encoding="UTF-8", replace_control_characters=True)
    for errors in ["replace", "ignore", "strict"]:
        add(op, input=T([b"a\x00\x07\tb\xff"[: 5 if errors == "strict" else 6]]), input_encoding="UTF-8", errors=errors, replace_control_characters=True)
    add(op, input=T([b"a"]), input_encoding="UTF-8", replacement_char=0xD800)
POINTS = [72, 233, 0x65E5, 0x1F600, 0xD800, 0x110000, -1, 0]
for encoding in ["UTF-8", "UTF-16-BE", "UTF-32-BE", "UTF-16"]:
    for errors in ["replace", "ignore", "strict"]:
        add("unicode_encode", input=T(POINTS), output_encoding=encoding, errors=errors)
    add("unicode_encode", input=T([[72, 101], [233, 0x65E5]]), output_encoding=encoding)
add("unicode_encode", input=T(POINTS), output_encoding="UTF-8", replacement_char=63)
add("unicode_encode", input=T([[[72, 101], [72, 0x65E5]]]), output_encoding="UTF-8")
add("unicode_encode", input=T([], tf.int32), output_encoding="UTF-8")
add("unicode_encode", input=T(72), output_encoding="UTF-8")
for target in ["UTF-8", "UTF-16-BE", "UTF-32-BE"]:
    for errors in ["replace", "ignore", "strict"]:
        add("unicode_transcode", input=UTF, input_encoding="UTF-8", output_encoding=target, errors=errors)
    add("unicode_transcode", input=T([b"a\x00\x07\tb"]), input_encoding="UTF-8", output_encoding=target, replace_control_characters=True)
    add("unicode_transcode", input=T([b"a\xe9"]), input_encoding="ISO-8859-1", output_encoding=target)
    add("unicode_transcode", input=T([b"a\xe9"]), input_encoding="windows-1252", output_encoding=target)
    for errors in ["ignore", "strict"]:
        add("unicode_transcode", input=T([b"a\x00\x07\tb"]), input_encoding="UTF-8", output_encoding=target, errors=errors, replace_control_characters=True)
    for text in [b"\xff\xfea\x00b\x00", b"\xfe\xff\x00a", b"\x00a"]:
        add("unicode_transcode", input=T(text), input_encoding="UTF-16", output_encoding=target)
add("unicode_transcode", input=UTF, input_encoding="UTF-8", output_encoding="UTF-8", replacement_char=63)
add("unicode_transcode", input=UTF, input_encoding="UTF-8", output_encoding="latin1")
add("unicode_script", input=T([[65, 0x3042, 0x65E5], [0x1F600, 0x430, 0x5D0]]))
add("unicode_script", input=T([-1, 0x110000, 0x378, 0xE000, 0xD800, 0x300]))


def script_ranges():
    """Where the script of code points changes: [first code point, script]."""
    scripts = tf.strings.unicode_script(tf.range(0x110000)).numpy()
    places = [0, *(np.flatnonzero(np.diff(scripts)) + 1).tolist()]
    return [[p, int(scripts[p])] for p in places]


def main():
    data = {"versions": {"tensorflow": tf.__version__}, "cases": CASES}
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("{\n" + f'"versions": {json.dumps(data["versions"])},\n"scripts": {json.dumps(script_ranges(), separators=(",", ":"))},\n"cases": [\n' + ",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES) + "\n]}\n")
    print(f"{len(CASES)} calls, {OUT.stat().st_size >> 10} KB")


if __name__ == "__main__":
    main()
