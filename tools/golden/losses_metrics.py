"""Makes packages/metrics/golden/*.json with Keras on TensorFlow: values of losses and metrics.

Run: KERAS_BACKEND=tensorflow python tools/golden/losses_metrics.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

SEED = 19
OUT = pathlib.Path(__file__).parents[2] / "packages/metrics/golden"
rng = np.random.default_rng(SEED)


def rounded(x):
    """Few digits: short files, and the same number in float32 and as text."""
    return np.round(x, 3).tolist()


def normal(*shape):
    return rounded(rng.normal(size=shape))


def positive(*shape):
    return rounded(rng.uniform(0.1, 2, size=shape))


def probability(*shape):
    return rounded(rng.uniform(0.05, 0.95, size=shape))


def distribution(*shape):
    x = rng.uniform(0.1, 1, size=shape)
    return rounded(x / x.sum(-1, keepdims=True))


def bits(*shape):
    return rng.integers(0, 2, size=shape).astype(float).tolist()


def labels(classes, *shape):
    return rng.integers(0, classes, size=shape).tolist()


def one_hot(classes, *shape):
    return np.eye(classes)[rng.integers(0, classes, size=shape)].tolist()


def plain(x):
    x = np.asarray(x)
    return [float(f"{v:.9g}") for v in x.ravel()] if x.dtype == np.float32 else [float(v) for v in x.ravel()]


N, C = 4, 3
LOSSES = [
    ("MeanSquaredError", {}, normal(N, C), normal(N, C)),
    ("MeanAbsoluteError", {}, normal(N, C), normal(N, C)),
    ("MeanAbsolutePercentageError", {}, positive(N, C), normal(N, C)),
    ("MeanSquaredLogarithmicError", {}, positive(N, C), positive(N, C)),
    ("Huber", {}, normal(N, C), normal(N, C)),
    ("Huber", {"delta": 0.25}, normal(N, C), normal(N, C)),
    ("LogCosh", {}, normal(N, C), normal(N, C)),
    ("KLDivergence", {}, distribution(N, C), distribution(N, C)),
    ("Poisson", {}, positive(N, C), positive(N, C)),
    ("Hinge", {}, bits(N, C), normal(N, C)),
    ("Hinge", {}, np.sign(normal(N, C)).tolist(), normal(N, C)),
    ("SquaredHinge", {}, bits(N, C), normal(N, C)),
    ("CategoricalHinge", {}, one_hot(C, N), normal(N, C)),
    ("CosineSimilarity", {}, normal(N, C), normal(N, C)),
    ("CosineSimilarity", {"axis": 1}, normal(N, C, 2), normal(N, C, 2)),
    ("BinaryCrossentropy", {}, bits(N, C), probability(N, C)),
    ("BinaryCrossentropy", {"label_smoothing": 0.2}, bits(N, C), probability(N, C)),
    ("BinaryCrossentropy", {"from_logits": True}, bits(N, C), normal(N, C)),
    ("BinaryCrossentropy", {"from_logits": True}, bits(N), normal(N, 1)),
    ("CategoricalCrossentropy", {}, one_hot(C, N), distribution(N, C)),
    ("CategoricalCrossentropy", {}, one_hot(C, N), probability(N, C)),
    ("CategoricalCrossentropy", {"label_smoothing": 0.1}, one_hot(C, N), distribution(N, C)),
    ("CategoricalCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, one_hot(C, N), normal(N, C)),
    ("CategoricalCrossentropy", {"axis": 1}, np.swapaxes(one_hot(C, N, 2), 1, 2).tolist(), probability(N, C, 2)),
    ("CategoricalCrossentropy", {"axis": 1, "from_logits": True}, np.swapaxes(one_hot(C, N, 2), 1, 2).tolist(), normal(N, C, 2)),
    ("SparseCategoricalCrossentropy", {}, labels(C, N), distribution(N, C)),
    ("SparseCategoricalCrossentropy", {}, labels(C, N, 1), probability(N, C)),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, labels(C, N), normal(N, C)),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, labels(C, N, 2), normal(N, 2, C)),
    ("SparseCategoricalCrossentropy", {"ignore_class": 1}, [0, 1, 2, 1], distribution(N, C)),
    ("SparseCategoricalCrossentropy", {"from_logits": True, "ignore_class": -1}, [0, -1, 2, 1], normal(N, C)),
]
WEIGHTS = positive(N)


def loss_case(name, options, y_true, y_pred, dtype):
    each = getattr(keras.losses, name)(reduction="none", **options)(np.array(y_true), np.array(y_pred, "float32"))
    wide = [N] + [1] * (len(each.shape) - 1)

    def value(reduction, weight):
        loss = getattr(keras.losses, name)(reduction=reduction, dtype=dtype, **options)
        # Keras wants one axis more where there are several losses for each example.
        weight = None if weight is None else np.array(weight, dtype).reshape(wide)
        return plain(loss(np.array(y_true), np.array(y_pred, dtype), sample_weight=weight))

    config = getattr(keras.losses, name)(**options).get_config()
    return {
        "loss": name,
        "options": options,
        "dtype": dtype,
        "yTrue": y_true,
        "yPred": y_pred,
        "config": config,
        "plain": value("sum_over_batch_size", None),
        "weighted": value("sum_over_batch_size", WEIGHTS),
        "sum": value("sum", WEIGHTS),
        "meanWithSampleWeight": value("mean_with_sample_weight", WEIGHTS),
        "none": value("none", None),
        "noneWeighted": value("none", WEIGHTS),
    }


def two(make, *shape):
    return [make(*shape), make(*shape)]


# Metric, options, targets and predictions of two updates.
METRICS = [
    ("MeanSquaredError", {}, two(normal, N, C), two(normal, N, C)),
    ("RootMeanSquaredError", {}, two(normal, N, C), two(normal, N, C)),
    ("MeanAbsoluteError", {}, two(normal, N, C), two(normal, N, C)),
    ("MeanAbsolutePercentageError", {}, two(positive, N, C), two(normal, N, C)),
    ("MeanSquaredLogarithmicError", {}, two(positive, N, C), two(positive, N, C)),
    ("CosineSimilarity", {}, two(normal, N, C), two(normal, N, C)),
    ("LogCoshError", {}, two(normal, N, C), two(normal, N, C)),
    ("KLDivergence", {}, two(distribution, N, C), two(distribution, N, C)),
    ("Poisson", {}, two(positive, N, C), two(positive, N, C)),
    ("Hinge", {}, two(bits, N, C), two(normal, N, C)),
    ("SquaredHinge", {}, two(bits, N, C), two(normal, N, C)),
    ("CategoricalHinge", {}, two(one_hot, C, N), two(normal, N, C)),
    ("BinaryCrossentropy", {"label_smoothing": 0.1}, two(bits, N, C), two(probability, N, C)),
    ("CategoricalCrossentropy", {}, two(one_hot, C, N), two(distribution, N, C)),
    ("CategoricalCrossentropy", {"from_logits": True}, two(one_hot, C, N), two(normal, N, C)),
    ("SparseCategoricalCrossentropy", {}, two(labels, C, N), two(distribution, N, C)),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, two(labels, C, N, 1), two(normal, N, C)),
    ("Accuracy", {}, two(labels, 2, N), two(labels, 2, N)),
    ("BinaryAccuracy", {}, two(bits, N, C), two(probability, N, C)),
    ("BinaryAccuracy", {"threshold": 0.3}, two(bits, N), two(probability, N, 1)),
    ("CategoricalAccuracy", {}, two(one_hot, C, N), two(probability, N, C)),
    ("SparseCategoricalAccuracy", {}, two(labels, C, N), two(probability, N, C)),
    ("SparseCategoricalAccuracy", {}, two(labels, C, N, 1), two(probability, N, C)),
    ("TopKCategoricalAccuracy", {"k": 2}, two(one_hot, 5, N), two(probability, N, 5)),
    ("SparseTopKCategoricalAccuracy", {"k": 3}, two(labels, 5, N), two(probability, N, 5)),
    ("Precision", {}, two(bits, N, C), two(probability, N, C)),
    ("Precision", {"thresholds": [0.2, 0.6]}, two(bits, N), two(probability, N)),
    ("Precision", {"top_k": 2}, two(bits, N, 5), two(probability, N, 5)),
    ("Precision", {"class_id": 1}, two(bits, N, C), two(probability, N, C)),
    ("Recall", {}, two(bits, N), two(probability, N, 1)),
    ("Recall", {"thresholds": 0.3}, two(bits, N, C), two(probability, N, C)),
    ("Recall", {"top_k": 1, "class_id": 2}, two(one_hot, C, N), two(probability, N, C)),
    ("AUC", {}, two(bits, N, C), two(probability, N, C)),
    ("AUC", {"num_thresholds": 5}, two(bits, N, C), two(probability, N, C)),
    ("AUC", {"curve": "PR"}, two(bits, N, C), two(probability, N, C)),
    ("AUC", {"curve": "PR", "summation_method": "majoring"}, two(bits, N, C), two(probability, N, C)),
    ("AUC", {"summation_method": "minoring", "num_thresholds": 9}, two(bits, N, C), two(probability, N, C)),
    ("AUC", {"thresholds": [0.3, 0.5, 0.9]}, two(bits, N, C), two(probability, N, C)),
    ("AUC", {"from_logits": True}, two(bits, N, C), two(normal, N, C)),
    ("F1Score", {}, two(one_hot, C, N), two(probability, N, C)),
    ("F1Score", {"average": "macro", "threshold": 0.5}, two(bits, N, C), two(probability, N, C)),
    ("FBetaScore", {"average": "micro", "beta": 2.0}, two(one_hot, C, N), two(probability, N, C)),
    ("FBetaScore", {"average": "weighted", "beta": 0.5, "threshold": 0.4}, two(bits, N, C), two(probability, N, C)),
]
METRIC_WEIGHTS = two(positive, N)


# Drawn apart, so that the numbers of what came before stay.
before, rng = rng, np.random.default_rng(SEED + 1)


def unit(*shape):
    x = rng.normal(size=shape)
    return rounded(x / np.linalg.norm(x, axis=-1, keepdims=True))


LOSSES += [
    ("BinaryFocalCrossentropy", {}, bits(N, C), probability(N, C)),
    ("BinaryFocalCrossentropy", {"apply_class_balancing": True, "alpha": 0.6, "gamma": 1.5}, bits(N, C), probability(N, C)),
    ("BinaryFocalCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, bits(N, C), normal(N, C)),
    ("CategoricalFocalCrossentropy", {}, one_hot(C, N), probability(N, C)),
    ("CategoricalFocalCrossentropy", {"alpha": [0.25, 0.375, 0.5], "gamma": 1.0}, one_hot(C, N), distribution(N, C)),
    ("CategoricalFocalCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, one_hot(C, N), normal(N, C)),
    ("Dice", {"axis": [1, 2]}, bits(N, C, 2), probability(N, C, 2)),
    ("Tversky", {"axis": [1, 2], "alpha": 0.3, "beta": 0.6}, bits(N, C, 2), probability(N, C, 2)),
    ("Circle", {}, [0, 1, 0, 1], unit(N, C)),
    ("Circle", {"gamma": 2.0, "margin": 0.1, "remove_diagonal": False}, [0, 1, 2, 1], unit(N, C)),
    ("Circle", {"gamma": 2.0}, [0, 1, 2, 1], unit(N, C)),
    ("CategoricalGeneralizedCrossEntropy", {}, labels(C, N), distribution(N, C)),
    ("CategoricalGeneralizedCrossEntropy", {"q": 0.25}, labels(C, N), probability(N, C)),
]
METRICS += [
    ("TruePositives", {}, two(bits, N, C), two(probability, N, C)),
    ("TrueNegatives", {"thresholds": [0.2, 0.6]}, two(bits, N), two(probability, N)),
    ("FalsePositives", {"thresholds": 0.3}, two(bits, N, C), two(probability, N, C)),
    ("FalseNegatives", {}, two(bits, N), two(probability, N)),
    ("SensitivityAtSpecificity", {"specificity": 0.4}, two(bits, N, C), two(probability, N, C)),
    ("SensitivityAtSpecificity", {"specificity": 0.5, "num_thresholds": 1}, two(bits, N, C), two(probability, N, C)),
    ("SpecificityAtSensitivity", {"sensitivity": 0.6, "num_thresholds": 10}, two(bits, N, C), two(probability, N, C)),
    ("PrecisionAtRecall", {"recall": 0.5}, two(bits, N, C), two(probability, N, C)),
    ("PrecisionAtRecall", {"recall": 0.5, "class_id": 1}, two(bits, N, C), two(probability, N, C)),
    ("RecallAtPrecision", {"precision": 0.6}, two(bits, N, C), two(probability, N, C)),
    ("IoU", {"num_classes": 3, "target_class_ids": [0, 2], "dtype": "float32"}, two(labels, C, N), two(labels, C, N)),
    ("IoU", {"num_classes": 3, "target_class_ids": [1], "dtype": "float32", "sparse_y_pred": False}, two(labels, C, N), two(probability, N, C)),
    ("MeanIoU", {"num_classes": 4, "dtype": "float32"}, two(labels, C, N), two(labels, C, N)),
    ("MeanIoU", {"num_classes": 3, "ignore_class": 1, "dtype": "float32"}, two(labels, C, N), two(labels, C, N)),
    ("OneHotIoU", {"num_classes": 3, "target_class_ids": [0, 1], "dtype": "float32"}, two(one_hot, C, N), two(probability, N, C)),
    ("OneHotMeanIoU", {"num_classes": 3, "dtype": "float32"}, two(one_hot, C, N), two(probability, N, C)),
    ("BinaryIoU", {"dtype": "float32"}, two(labels, 2, N), two(probability, N)),
    ("BinaryIoU", {"target_class_ids": [1], "threshold": 0.3, "dtype": "float32"}, two(labels, 2, N), two(probability, N)),
    ("R2Score", {}, two(normal, N, C), two(normal, N, C)),
    ("R2Score", {"class_aggregation": "variance_weighted_average", "num_regressors": 2}, two(normal, N, C), two(normal, N, C)),
    ("R2Score", {"class_aggregation": None}, two(normal, N, C), two(normal, N, C)),
    ("PearsonCorrelation", {}, two(normal, N, C), two(normal, N, C)),
    ("ConcordanceCorrelation", {}, two(normal, N, C), two(normal, N, C)),
]
rng = np.random.default_rng(SEED + 2)
LOSSES += [
    ("CTC", {}, [[1, 2, 0], [2, 2, 0], [3, 0, 0], [0, 0, 0]], normal(N, 5, 4)),
    # Labels that do not fit: five frames have no place for three that are equal, and a fourth.
    ("CTC", {}, [[1, 2, 1, 0], [1, 1, 1, 2], [2, 2, 3, 3], [3, 2, 1, 3]], normal(N, 5, 4)),
]
rng = before


def metric_case(name, options, y_true, y_pred):
    def values(weights):
        keras.utils.clear_session()  # Names are counted.
        metric = getattr(keras.metrics, name)(**options)
        out = []
        for t, p, w in zip(y_true, y_pred, weights):
            metric.update_state(np.array(t), np.array(p, "float32"), sample_weight=None if w is None else np.array(w, "float32"))
            out.append(plain(metric.result()))
        return out, metric

    weighted, _ = values(METRIC_WEIGHTS)
    unweighted, metric = values([None, None])
    config = {k: v for k, v in metric.get_config().items() if isinstance(v, (str, bool, int, float, list, type(None)))}
    return {
        "metric": name,
        "options": options,
        "yTrue": y_true,
        "yPred": y_pred,
        "plain": unweighted,
        "weighted": weighted,
        "variables": [{"name": v.path, "shape": list(v.shape), "value": plain(v)} for v in metric.variables]
        if metric.variables[0].shape in ((), (1,))
        else [],
        "config": config,
    }


def reductions():
    """Mean and Sum of values of several ranks, with weights of several ranks."""
    cases = []
    for name in ("Mean", "Sum"):
        for shape, weight_shape in [((), None), ((3,), None), ((3, 2), None), ((3,), (3,)), ((3, 2), (3,)), ((3, 2), (3, 1)), ((3, 2), (3, 2)), ((3, 2), ())]:
            metric = getattr(keras.metrics, name)()
            value = normal(*shape)
            weight = None if weight_shape is None else positive(*weight_shape)
            metric.update_state(np.array(value, "float32"), sample_weight=None if weight is None else np.array(weight, "float32"))
            metric.update_state(2.5)
            cases.append({"metric": name, "values": value, "sampleWeight": weight, "result": plain(metric.result())})
    return cases


def write(name, **content):
    about = {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__, "seed": SEED}
    (OUT / name).write_text(json.dumps({"made": about, **content}) + "\n")


OUT.mkdir(parents=True, exist_ok=True)
write("losses.json", sampleWeight=WEIGHTS, cases=[loss_case(*c, d) for c in LOSSES for d in ("float32", "float64")])
write("metrics.json", sampleWeight=METRIC_WEIGHTS, cases=[metric_case(*c) for c in METRICS], reductions=reductions())
