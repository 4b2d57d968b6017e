"""Makes packages/data/golden/sequence-examples.json with TensorFlow: messages of examples, and what tf.io.parse_sequence_example makes of them.

Run: python tools/golden/sequence_examples.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
from calls import encoded, plain

OUT = pathlib.Path(__file__).parents[2] / "packages/data/golden/sequence-examples.json"
F = tf.train.Feature


def ints(*v):
    return F(int64_list=tf.train.Int64List(value=v))


def floats(*v):
    return F(float_list=tf.train.FloatList(value=v))


def texts(*v):
    return F(bytes_list=tf.train.BytesList(value=v))


def sequence(context, lists):
    return tf.train.SequenceExample(
        context=tf.train.Features(feature=context),
        feature_lists=tf.train.FeatureLists(feature_list={k: tf.train.FeatureList(feature=v) for k, v in lists.items()}),
    ).SerializeToString(deterministic=True)


EXAMPLES = [
    sequence({"id": ints(7), "tags": texts(b"a", b"\xff")}, {"points": [floats(1, 2), floats(3, 4)], "words": [texts(b"x"), texts(b"y", b"z")]}),
    sequence({"id": ints(8)}, {"points": [floats(5, 6)], "words": []}),
    sequence({"id": ints(9), "tags": texts(b"c")}, {"points": [], "words": [texts(), texts(b"w")]}),
]
CONTEXT = {"id": tf.io.FixedLenFeature([], tf.int64), "tags": tf.io.RaggedFeature(tf.string)}
LISTS = {"points": tf.io.FixedLenSequenceFeature([2], tf.float32), "words": tf.io.RaggedFeature(tf.string)}


RAGGED = tf.io.RaggedFeature
# Values in rows of 2, 0 and 3, and these rows in rows of 1 and 2, said in each way.
ROWS = {
    "splits": ([0, 2, 2, 5], [0, 1, 3]),
    "lengths": ([2, 0, 3], [1, 2]),
    "starts": ([0, 2, 2], [0, 1]),
    "limits": ([2, 2, 5], [1, 3]),
    "ids": ([0, 0, 2, 2, 2], [0, 1, 1]),
}
KINDS = {"splits": "RowSplits", "lengths": "RowLengths", "starts": "RowStarts", "limits": "RowLimits", "ids": "ValueRowIds"}


def partition_cases():
    """Each way alone, each pair of ways, and rows of one length; as Examples and as steps of SequenceExamples."""
    first = {"v": ints(1, 2, 3, 4, 5), **{k + "1": ints(*a) for k, (a, _) in ROWS.items()}, **{k + "2": ints(*b) for k, (_, b) in ROWS.items()}}
    second = {"v": ints(6), **{k + n: ints(0) for k in ("starts", "ids") for n in "12"}, **{k + n: ints(1) for k in ("lengths", "limits") for n in "12"}}
    second.update({"splits1": ints(0, 1), "splits2": ints(0, 1)})
    even = {"v": ints(1, 2, 3, 4), "lengths1": ints(0, 2)}
    lists = [[(KINDS[k], k + "1")] for k in ROWS]
    lists += [[(KINDS[outer], outer + "2"), (KINDS[inner], inner + "1")] for outer in ROWS for inner in ROWS]
    uniform = [[("UniformRowLength", 2)], [("RowLengths", "lengths1"), ("UniformRowLength", 2)], [("UniformRowLength", 1), ("RowLengths", "lengths1")]]
    for parts, features in [(p, [first, second]) for p in lists] + [(uniform[0], [even, {}]), (uniform[1], [even, even]), (uniform[2], [first, {}, second])]:
        spec = {"f": RAGGED(tf.int64, "v", [getattr(RAGGED, kind)(of) for kind, of in parts], row_splits_dtype=tf.int64)}
        messages = [tf.train.Example(features=tf.train.Features(feature=f)).SerializeToString(deterministic=True) for f in features]
        keys = sorted({k for f in features for k in f})
        steps = [sequence({}, {k: [f.get(k, F()) for f in features[i:]] for k in keys}) for i in range(2)]
        yield {
            "partitions": [list(p) for p in parts],
            "examples": plain(messages),
            "single": described(tf.io.parse_single_example(messages[0], spec)),
            "batch": described(tf.io.parse_example(messages, spec)),
            "sequences": plain(steps),
            "steps": described(tf.io.parse_single_sequence_example(steps[0], sequence_features=spec)[1]),
            "lists": described(tf.io.parse_sequence_example(steps, sequence_features=spec)[1]),
        }


def described(values):
    return {k: encoded(v) for k, v in values.items()}


def main():
    context, lists, lengths = tf.io.parse_sequence_example(EXAMPLES, CONTEXT, LISTS)
    single = [tf.io.parse_single_sequence_example(e, CONTEXT, LISTS) for e in EXAMPLES]
    example = tf.train.Example(features=tf.train.Features(feature={"a": ints(1, -2), "b": floats(1.5), "c": texts(b"t", b"\xff"), "d": F()}))
    OUT.write_text(
        json.dumps(
            {
                "versions": {"tensorflow": tf.__version__},
                "examples": plain(EXAMPLES),
                "context": described(context),
                "sequences": described(lists),
                "lengths": {k: plain(v.numpy()) for k, v in lengths.items() if v is not None},
                "single": [[described(c), described(s)] for c, s in single],
                "example": plain(example.SerializeToString(deterministic=True)),
                "partitions": list(partition_cases()),
                "ragged": described(tf.io.parse_example([example.SerializeToString()], {"a": tf.io.RaggedFeature(tf.int64)})),
            },
            indent=1,
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
