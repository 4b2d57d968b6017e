"""Makes packages/eagre/golden/keras-options.json with Keras on TensorFlow: options of metrics and layers that few programs use.

Run: KERAS_BACKEND=tensorflow python tools/golden/keras_options.py
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np

SEED = 71
OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden/keras-options.json"
rng = np.random.default_rng(SEED)


def plain(x):
    return np.asarray(x, "float64").round(7).tolist()


truth = (rng.uniform(size=(30, 3)) < [0.3, 0.5, 0.8]).astype("float32")
guess = np.clip(truth * 0.4 + rng.uniform(size=(30, 3)) * 0.6, 0, 1).astype("float32").round(4)
weights = rng.uniform(size=30).astype("float32").round(3)
AUCS = [
    {"multi_label": True},
    {"multi_label": True, "num_labels": 3, "curve": "PR"},
    {"multi_label": True, "curve": "PR", "summation_method": "minoring", "num_thresholds": 20},
    {"multi_label": True, "label_weights": [1.0, 0.0, 3.0]},
    {"multi_label": True, "label_weights": [1.0, 0.5, 3.0], "curve": "PR"},
    {"label_weights": [1.0, 0.5, 3.0]},
    {"curve": "PRGAIN"},
    {"curve": "PRGAIN", "summation_method": "majoring", "multi_label": True},
]
aucs = []
for options in AUCS:
    results = []
    for w in (None, weights):
        metric = keras.metrics.AUC(**options)
        metric.update_state(truth[:20], guess[:20], None if w is None else w[:20])
        metric.update_state(truth[20:], guess[20:], None if w is None else w[20:])
        results.append(float(metric.result()))
    config = metric.get_config()
    config = {k: (np.asarray(v).tolist() if k == "label_weights" and v is not None else v) for k, v in config.items() if k != "name"}
    aucs.append([options, results, config])

ids = rng.integers(0, 50, size=(6, 8)).astype("float32")
wanted = ids[np.arange(6), [0, 3, 7, 1, 6, 2]]
topk = []
for k in (1, 3, 5):
    metric = keras.metrics.SparseTopKCategoricalAccuracy(k=k, from_sorted_ids=True)
    metric.update_state(wanted, ids)
    topk.append([k, float(metric.result())])

attention = []
for options in [{"sliding_window": 2}, {"use_gate": True, "value_dim": 3}, {"sliding_window": 1, "use_gate": True, "use_bias": False}]:
    layer = keras.layers.MultiHeadAttention(2, 4, **options)
    query, value = rng.normal(size=(2, 5, 6)).astype("float32"), rng.normal(size=(2, 7, 6)).astype("float32")
    layer(query, value)
    values = [rng.normal(size=w.shape).astype("float32") * 0.5 for w in layer.weights]
    layer.set_weights(values)
    y = layer(query, value)
    z, scores = layer(query, value, use_causal_mask=True, return_attention_scores=True)
    config = {k: layer.get_config()[k] for k in ("use_gate", "sliding_window")}
    attention.append(
        [options, plain(query), plain(value), [w.path.split("/", 1)[1] for w in layer.weights], [plain(v) for v in values], plain(y), plain(z), plain(scores), config]
    )

found = {
    "versions": {"keras": keras.__version__},
    "seed": SEED,
    "auc": {"truth": plain(truth), "guess": plain(guess), "weights": plain(weights), "cases": aucs},
    "topk": {"ids": plain(ids), "wanted": plain(wanted), "cases": topk},
    "attention": attention,
    "unroll": keras.layers.LSTM(3, unroll=True).get_config()["unroll"],
}
OUT.write_text(json.dumps(found, separators=(",", ":")) + "\n")
