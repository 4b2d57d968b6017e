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
                "ragged": described(tf.io.parse_example([example.SerializeToString()], {"a": tf.io.RaggedFeature(tf.int64)})),
            },
            indent=1,
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
