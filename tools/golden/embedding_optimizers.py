"""Makes packages/eagre/golden/embedding-optimizers.json: tables of an Embedding that optimizers train, whose gradients are some rows.

Run: KERAS_BACKEND=tensorflow python tools/golden/embedding_optimizers.py
With PyTorch: python tools/golden/embedding_optimizers.py lazy, which adds what torch.optim.SparseAdam gives.

No row stands in a batch twice: Keras on TensorFlow squares and clips the gradients of repeated rows one by one. Without
ScheduleFreeAdamW, which it computes otherwise than on other backends.
"""

import json
import os
import pathlib
import sys

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden/embedding-optimizers.json"
ROWS, WIDTH, STEPS = 10, 3, 6
random = np.random.default_rng(7)
TABLE = random.normal(size=(ROWS, WIDTH)).round(3)
KERNEL = random.normal(size=(4 * WIDTH, 1)).round(3)
IDS = [random.permutation(ROWS)[:4].reshape(1, 4).tolist() for _ in range(STEPS)]
CASES = [
    ("SGD", {}),
    ("SGD", {"momentum": 0.9}),
    ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("SGD", {"clipnorm": 0.5}),
    ("SGD", {"global_clipnorm": 0.5}),
    ("SGD", {"clipvalue": 0.2}),
    ("SGD", {"weight_decay": 0.1}),
    ("SGD", {"gradient_accumulation_steps": 2}),
    ("SGD", {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2}),
    ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.5, "centered": True}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True, "global_clipnorm": 0.5}),
    ("Adam", {"gradient_accumulation_steps": 3}),
    ("AdamW", {"weight_decay": 0.1}),
    ("Adamax", {}),
    ("Nadam", {}),
    ("Adagrad", {}),
    ("Adagrad", {"clipnorm": 0.5}),
    ("Adagrad", {"clipvalue": 0.2}),
    ("Adadelta", {}),
    ("Ftrl", {}),
    ("Ftrl", {"l1_regularization_strength": 0.01, "l2_regularization_strength": 0.1}),
    ("Lion", {}),
    ("Lamb", {}),
    ("Adafactor", {}),
    ("Muon", {}),
]


def keras_cases():
    import keras
    import tensorflow as tf

    def run(name, options):
        optimizer = getattr(keras.optimizers, name)(learning_rate=0.1, **options)
        model = keras.Sequential([
            keras.Input((4,), dtype="int32"), keras.layers.Embedding(ROWS, WIDTH), keras.layers.Flatten(),
            keras.layers.Dense(1, use_bias=False),
        ])
        model.set_weights([TABLE, KERNEL])
        model.compile(optimizer, "mse")
        losses = []
        for ids in IDS:
            losses.append(float(model.train_on_batch(np.array(ids), np.ones((1, 1)))))
        return {"optimizer": name, "options": options, "losses": losses, "table": model.get_weights()[0].astype("float64").ravel().tolist()}

    return [run(*case) for case in CASES], {"keras": keras.__version__, "tensorflow": tf.__version__}


def lazy_case():
    import torch

    table = torch.nn.Embedding(ROWS, WIDTH, sparse=True)
    table.weight.data = torch.tensor(TABLE, dtype=torch.float32)
    kernel = torch.tensor(KERNEL, dtype=torch.float32)
    optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.1, eps=1e-7)
    losses = []
    # A row may stand there twice, and row 0 may be missing.
    ids_of = [[[3, 5, 3, 9]], [[0, 3, 0, 0]], [[9, 9, 9, 9]], [[1, 2, 3, 4]], [[5, 0, 5, 1]]]
    for ids in ids_of:
        loss = ((table(torch.tensor(ids)).reshape(1, -1) @ kernel - 1) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    return {"ids": ids_of, "losses": losses, "table": table.weight.detach().double().numpy().ravel().tolist()}, torch.__version__


def main():
    if sys.argv[1:] == ["lazy"]:
        data = json.loads(OUT.read_text())
        data["lazy"], data["versions"]["torch"] = lazy_case()
    else:
        cases, versions = keras_cases()
        data = {"versions": versions, "table": TABLE.tolist(), "kernel": KERNEL.tolist(), "ids": IDS, "cases": cases}
    OUT.write_text(json.dumps(data, separators=(",", ":")) + "\n")


main()
