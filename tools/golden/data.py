"""Makes packages/data/golden/transformations.json with TensorFlow: the elements, cardinalities, shapes and errors of pipelines that do not
depend on random numbers. The pipelines of each name are in transformations.golden.test.ts again.

Run: python tools/golden/data.py
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).parents[2] / "packages/data/golden"
D = tf.data.Dataset


def ragged(lengths):
    return D.from_generator(
        lambda: ([i + 1] * n for i, n in enumerate(lengths)), output_signature=tf.TensorSpec([None], tf.float32)
    )


def matrices():
    return D.from_generator(
        lambda: ([[r * 10.0 + c for c in range(n)] for r in range(m)] for m, n in [(1, 3), (2, 1), (3, 2)]),
        output_signature=tf.TensorSpec([None, None], tf.float32),
    )


def records():
    return D.from_tensor_slices({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})


def texts():
    return D.from_generator(
        lambda: iter([{"x": [1, 2], "n": "q"}, {"x": [3], "n": "r"}]),
        output_signature={"x": tf.TensorSpec([None], tf.int32), "n": tf.TensorSpec([], tf.string)},
    )


def words():
    return D.from_generator(
        lambda: iter([["a"], ["b", "c"], ["d", "e", "f"]]), output_signature=tf.TensorSpec([None], tf.string)
    )


PIPELINES = {
    "range": lambda: D.range(2, 11, 3),
    "range down": lambda: D.range(5, 0, -2),
    "slices": lambda: D.from_tensor_slices({"a": [[1, 2], [3, 4]], "b": ([5, 6], ["x", "y"])}),
    "tensors": lambda: D.from_tensors(([1, 2], 3)),
    "batch": lambda: D.range(8).batch(3),
    "batch whole": lambda: D.range(8).batch(3, drop_remainder=True),
    "batch of batch": lambda: D.range(9).batch(2).batch(2, drop_remainder=True),
    "padded": lambda: ragged([1, 3, 2, 4, 0]).padded_batch(2),
    "padded to 5": lambda: ragged([1, 3, 2]).padded_batch(2, padded_shapes=[5], padding_values=-1.0),
    "padded matrices": lambda: matrices().padded_batch(3, padding_values=9.0),
    "padded axis": lambda: matrices().padded_batch(2, padded_shapes=[3, None], drop_remainder=True),
    "padded words": lambda: words().padded_batch(3, padding_values="-"),
    "unbatch": lambda: D.from_tensor_slices(([[1, 2], [3, 4], [5, 6]], [7, 8, 9])).batch(2).unbatch(),
    "rebatch": lambda: D.range(10).batch(4).rebatch(3),
    "rebatch sizes": lambda: D.range(10).batch(4).rebatch([2, 1]),
    "rebatch whole": lambda: D.range(10).batch(4).rebatch([3, 2], drop_remainder=True),
    "window": lambda: D.range(7).window(3),
    "window shift": lambda: D.range(7).window(3, shift=1, drop_remainder=True),
    "window stride": lambda: D.range(10).window(3, shift=2, stride=2),
    "window stride whole": lambda: D.range(10).window(3, shift=2, stride=2, drop_remainder=True),
    "window gaps": lambda: D.range(10).window(2, shift=4),
    "window tuple": lambda: D.zip(D.range(4), D.range(10, 14)).window(2).flat_map(
        lambda a, b: D.zip(a.batch(2), b.batch(2))
    ),
    "zip": lambda: D.zip({"x": D.range(3), "y": (D.range(5), D.range(10, 14))}),
    "concatenate": lambda: D.range(3).concatenate(D.range(7, 9)),
    "interleave": lambda: D.range(1, 6).interleave(
        lambda x: D.from_tensors(x).repeat(6), cycle_length=2, block_length=4
    ),
    "interleave uneven": lambda: D.range(0, 7).interleave(
        lambda x: D.from_tensors(x).repeat(x), cycle_length=3, block_length=2
    ),
    "interleave one": lambda: D.range(4).interleave(lambda x: D.range(x), cycle_length=1, block_length=3),
    "flat map": lambda: D.range(4).flat_map(lambda x: D.range(x)),
    "filter": lambda: D.range(10).filter(lambda x: x % 3 == 1),
    "take while": lambda: D.range(10).take_while(lambda x: x < 4),
    "take skip": lambda: D.range(10).skip(2).take(5),
    "take all": lambda: D.range(3).take(-1),
    "skip all": lambda: D.range(3).skip(-1),
    "shard": lambda: D.range(10).shard(3, 1),
    "repeat": lambda: D.range(3).repeat(2),
    "repeat batch": lambda: D.range(5).repeat(2).batch(4),
    "scan": lambda: D.range(6).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s * x)),
    "enumerate": lambda: D.range(10, 13).enumerate(5),
    "unique": lambda: D.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique(),
    "choose": lambda: D.choose_from_datasets(
        [D.from_tensors(1).repeat(2), D.from_tensors(2).repeat(5)], D.range(2).repeat(4), stop_on_empty_dataset=False
    ),
    "choose until": lambda: D.choose_from_datasets(
        [D.from_tensors(1).repeat(2), D.from_tensors(2).repeat(5)], D.range(2).repeat(4)
    ),
    "group": lambda: D.range(11).group_by_window(
        key_func=lambda x: x % 3, reduce_func=lambda key, d: d.batch(2), window_size=3
    ),
    "bucket": lambda: ragged([1, 5, 2, 7, 3, 8, 1]).bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], bucket_boundaries=[3, 6], bucket_batch_sizes=[2, 2, 2]
    ),
    "map structure": lambda: D.range(3).map(lambda x: {"d": x * 2, "t": (x, tf.cast(x, tf.float32) / 2)}),
    "counter": lambda: D.counter(3, 2).take(3),
    "infinite": lambda: D.range(3).repeat(),
    "interleave several": lambda: D.range(9).interleave(
        lambda x: D.from_tensors(x).repeat((x * 5) % 4), cycle_length=3, block_length=2, num_parallel_calls=3
    ),
    "map nested": lambda: D.zip((D.range(3), (D.range(3), D.range(1, 4)))).map(lambda x, yz: x + yz[0] * yz[1]),
    "scan pairs": lambda: D.zip(D.range(3), D.range(4)).scan(
        tf.constant(0, tf.int64), lambda s, x: (s + x[0], (s, x[1]))
    ),
    "unique words": lambda: D.from_tensor_slices(["a", "b", "a"]).unique(),
    "unique rows": lambda: D.from_tensor_slices([[1, 2], [1, 2], [2, 1]]).unique(),
    "window structure": lambda: records().window(2),
    "window of window": lambda: D.range(6).window(2).window(2).flat_map(lambda w: w.flat_map(lambda v: v.batch(2))),
    "window batches": lambda: records().window(2, shift=1, drop_remainder=True).flat_map(lambda w: D.zip(w).batch(2)),
    "group sizes": lambda: D.range(10).group_by_window(
        lambda x: x % 2, lambda key, d: d.batch(10), window_size_func=lambda key: key + 1
    ),
    "bucket to boundary": lambda: ragged([1, 2, 3, 1, 2]).bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [2, 4], [2, 2, 2], pad_to_bucket_boundary=True
    ),
    "bucket whole": lambda: ragged([1, 2, 3, 4, 5, 6, 2, 1]).bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [2, 4], [2, 2, 2], drop_remainder=True
    ),
    "bucket values": lambda: ragged([1, 2, 3]).bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [2, 4], [2, 2, 2], padding_values=-1.0
    ),
    "bucket as they are": lambda: ragged([2, 2, 1]).bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [2], [2, 2], no_padding=True
    ),
    "padded structure": lambda: texts().padded_batch(2, padded_shapes={"x": [4], "n": []}, padding_values={"x": -1, "n": ""}),
    "padded scalars": lambda: D.range(5).padded_batch(2),
    "padded rows": lambda: D.from_tensor_slices([[1.0, 2.0], [3.0, 4.0]]).padded_batch(2),
    "padded truths": lambda: D.from_generator(
        lambda: iter([[True], [True, True]]), output_signature=tf.TensorSpec([None], tf.bool)
    ).padded_batch(2),
    "rebatch halves": lambda: D.range(8).batch(4, drop_remainder=True).rebatch(2),
    "choose some": lambda: D.choose_from_datasets(
        [D.range(1), D.range(10, 13)], D.from_tensor_slices(np.array([0, 0, 1, 0, 1], np.int64)), stop_on_empty_dataset=False
    ),
    "sample one": lambda: D.sample_from_datasets([D.range(2), D.range(10, 13)], weights=[0.0, 1.0]),
    "resample none": lambda: D.range(4).rejection_resample(
        lambda x: tf.constant(0), [1.0, 0.0], [1.0, 0.0]
    ).map(lambda kind, x: x),
    "ignore errors": lambda: D.from_tensor_slices([1.0, 0.0, 2.0])
    .map(lambda x: tf.debugging.check_numerics(1 / x, "not finite"))
    .ignore_errors(),
    "concatenate shapes": lambda: D.from_tensors([1.0]).concatenate(D.from_tensors([1.0, 2.0])),
    "counter halves": lambda: D.counter(0.5, 0.25, tf.float32).take(3),
    "enumerate below 0": lambda: D.range(2).enumerate(-3),
    "unbatch known": lambda: D.range(7).batch(3, drop_remainder=True).unbatch(),
    "reduce": lambda: D.from_tensors(
        D.range(5).reduce((np.int64(0), np.int64(1)), lambda s, x: (s[0] + x, s[1] * (x + 1)))
    ),
    "reduce grows": lambda: D.from_tensors(
        D.range(3).reduce(tf.zeros([0], tf.int64), lambda s, x: tf.concat([s, [x]], 0))
    ),
}

ERRORS = {
    "batch shapes": lambda: list(ragged([1, 2]).batch(2)),
    "padded too small": lambda: list(ragged([1, 3]).padded_batch(2, padded_shapes=[2])),
    "cardinality": lambda: list(D.range(5).apply(tf.data.experimental.assert_cardinality(4))),
    "cardinality few": lambda: list(D.range(3).apply(tf.data.experimental.assert_cardinality(4))),
    "single none": lambda: D.range(0).get_single_element(),
    "single several": lambda: D.range(2).get_single_element(),
    "reduce dtype": lambda: D.range(3).reduce(0, lambda s, x: tf.cast(x, tf.float32)),
    "scan dtype": lambda: D.range(3).scan(0, lambda s, x: (x, s)),
    "choice": lambda: list(D.choose_from_datasets([D.range(2), D.range(2)], D.range(2, 3))),
    "generated shape": lambda: list(D.from_generator(lambda: iter([[1]]), output_signature=tf.TensorSpec([2], tf.int32))),
    "predicate": lambda: D.range(3).filter(lambda x: x),
    "many calls": lambda: list(D.range(3).interleave(lambda x: D.range(2), cycle_length=2, num_parallel_calls=3)),
}


def plain(element):
    if isinstance(element, dict):
        return {k: plain(v) for k, v in element.items()}
    if isinstance(element, tuple):
        return [plain(v) for v in element]
    if isinstance(element, tf.data.Dataset):
        return {"window": [plain(v) for v in element]}
    value = element.numpy()
    if element.dtype == tf.string:
        decode = lambda v: v.decode() if isinstance(v, bytes) else [decode(i) for i in v]
        return decode(value.tolist() if hasattr(value, "tolist") else value)
    return value.tolist()


def shapes(spec):
    if isinstance(spec, dict):
        return {k: shapes(v) for k, v in spec.items()}
    if isinstance(spec, tuple):
        return [shapes(v) for v in spec]
    if isinstance(spec, tf.data.DatasetSpec):
        return {"window": shapes(spec.element_spec)}
    return None if spec.shape.rank is None else {"shape": list(spec.shape)}


def message(fn):
    try:
        fn()
    except Exception as error:  # the classes are TensorFlow's
        # Without the lines of a trace, which name places of this machine.
        return f"{type(error).__name__}: {getattr(error, 'message', None) or error}".split("\n")[0]
    raise SystemExit("no error")


golden = {
    "tensorflow": tf.__version__,
    "pipelines": {},
    "errors": {name: message(fn) for name, fn in ERRORS.items()},
}
for name, make in PIPELINES.items():
    d = make()
    golden["pipelines"][name] = {
        "cardinality": int(d.cardinality()),
        "shapes": shapes(d.element_spec),
        "elements": [plain(e) for e in d.take(20)],
    }
OUT.mkdir(exist_ok=True)
lines = ",\n".join(f'    {json.dumps(n)}: {json.dumps(v)}' for n, v in golden["pipelines"].items())
(OUT / "transformations.json").write_text(
    f'{{\n  "tensorflow": {json.dumps(golden["tensorflow"])},\n  "errors": {json.dumps(golden["errors"])},\n  "pipelines": {{\n{lines}\n  }}\n}}\n'
)
