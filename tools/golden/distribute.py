"""Makes packages/eagre/golden/distribute.json with TensorFlow's strategies on logical CPUs: values, variables, datasets, and Keras's fit.

Run: python tools/golden/distribute.py
"""

import json
import os
import pathlib

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = 53
OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden/distribute.json"
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)
tf.config.threading.set_intra_op_parallelism_threads(1)


def numbers(x):
    return np.asarray(x).tolist()


def strategy(n):
    return tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(n)])


TWO = strategy(2)
STRATEGIES = {2: TWO, 3: strategy(3), 4: strategy(4)}


def reductions():
    found = []
    for shapes in ([[3], [3]], [[2, 3], [2, 3]], [[2, 2], [1, 2]]):
        values = [(np.arange(np.prod(s)) + 10 * i).reshape(s).astype("float32") for i, s in enumerate(shapes)]

        def replica(_values=values):
            i = tf.distribute.get_replica_context().replica_id_in_sync_group
            return tf.constant(_values[0]) if i == 0 else tf.constant(_values[1])

        per = TWO.experimental_distribute_values_from_function(lambda c: tf.constant(values[c.replica_id_in_sync_group]))
        case = {"values": [numbers(v) for v in values], "gather": numbers(TWO.gather(per, axis=0))}
        for op in ("SUM", "MEAN"):
            for axis in (None, 0):
                if axis is None and shapes[0] != shapes[1]:
                    continue
                case[f"{op} {axis}"] = numbers(TWO.reduce(op, per, axis=axis))
        found.append(case)
    return found


def splits():
    found = []
    for n, count, batch, drop in [
        (2, 10, 4, False), (2, 7, 3, False), (2, 9, 4, False), (2, 9, 4, True), (2, 5, 1, False),
        (3, 10, 4, False), (3, 8, 6, False), (3, 7, 5, False), (4, 9, 4, False), (4, 11, 6, False),
    ]:
        s = STRATEGIES[n]
        data = tf.data.Dataset.range(count).batch(batch, drop_remainder=drop)
        parts = [[numbers(x) for x in s.experimental_local_results(b)] for b in s.experimental_distribute_dataset(data)]
        found.append({"replicas": n, "count": count, "batch": batch, "dropRemainder": drop, "parts": parts})
    return found


def from_function():
    seen = []

    def make(context):
        seen.append([
            context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync,
            context.get_per_replica_batch_size(4),
        ])
        return tf.data.Dataset.range(9).batch(context.get_per_replica_batch_size(4))

    parts = [
        [numbers(x) for x in TWO.experimental_local_results(b)] for b in TWO.distribute_datasets_from_function(make)
    ]
    return {"context": seen[0], "parts": parts}


def variables():
    found = []
    for synchronization in ("ON_WRITE", "ON_READ"):
        for aggregation in ("SUM", "MEAN", "ONLY_FIRST_REPLICA"):
            case = {"synchronization": synchronization, "aggregation": aggregation}
            for how in ("assign", "assign_add", "assign_sub"):
                with TWO.scope():
                    v = tf.Variable(
                        8.0,
                        trainable=False,
                        synchronization=getattr(tf.VariableSynchronization, synchronization),
                        aggregation=getattr(tf.VariableAggregation, aggregation),
                    )

                @tf.function
                def step():
                    def replica():
                        i = tf.distribute.get_replica_context().replica_id_in_sync_group
                        getattr(v, how)(tf.cast(i + 1, tf.float32) * 2.0)

                    TWO.run(replica)

                step()
                case[how] = {"parts": [numbers(x) for x in v.values], "read": numbers(v.read_value())}
            v.assign(10.0)
            case["outside"] = {"parts": [numbers(x) for x in v.values], "read": numbers(v.read_value())}
            found.append(case)
    return found


def gradients():
    """allReduce and allGather have gradients."""

    @tf.function
    def step():
        def replica():
            c = tf.distribute.get_replica_context()
            i = tf.cast(c.replica_id_in_sync_group, tf.float32)
            x = tf.constant([1.0, 2.0]) + i
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                total = c.all_reduce("SUM", x * x)
                mean = c.all_reduce("MEAN", x * x)
                rows = c.all_gather(x * x, 0)
                a = tf.reduce_sum(total * (i + 1.0))
                b = tf.reduce_sum(mean * (i + 1.0))
                g = tf.reduce_sum(rows * tf.constant([1.0, 2.0, 3.0, 4.0]) * (i + 1.0))
            return [total, mean, rows, tape.gradient(a, x), tape.gradient(b, x), tape.gradient(g, x)]

        return TWO.run(replica)

    return [[numbers(x) for x in TWO.experimental_local_results(v)] for v in step()]


rng = np.random.default_rng(SEED)
N = {"even": 36, "uneven": 37}
X = rng.normal(size=(37, 4)).astype("float32")
Y = (X @ rng.normal(size=(4, 2)) + 0.1 * rng.normal(size=(37, 2))).astype("float32")
Z = rng.integers(0, 3, 37)
W = rng.uniform(0.2, 2, 37).astype("float32")
INTEGERS = rng.integers(-3, 4, size=(36, 4)).astype("float32")
TARGETS = rng.integers(-5, 6, size=(36, 1)).astype("float32")
INITIAL = {}


def initial(name, shape):
    if name not in INITIAL:
        INITIAL[name] = (np.random.default_rng(len(INITIAL) + 7).normal(size=shape) * 0.5).round(3).astype("float32")
    return INITIAL[name]


def set_initial(model):
    for layer in model.layers:
        if isinstance(layer, layers.Dense):
            kernel, bias = layer.kernel, layer.bias
            layer.set_weights([initial(f"{layer.name} {tuple(kernel.shape)}", kernel.shape), np.zeros(bias.shape, "float32")])


def plain(**dense):
    return keras.Sequential([
        keras.Input((4,)), layers.Dense(5, "tanh", name="hidden", **dense), layers.Dense(2, name="out"),
    ])


def normed(synchronized):
    return keras.Sequential([
        keras.Input((4,)), layers.Dense(5, name="hidden"),
        layers.BatchNormalization(momentum=0.5, synchronized=synchronized, name="bn"), layers.Dense(2, name="out"),
    ])


def two_outputs():
    x = keras.Input((4,), name="x")
    h = layers.Dense(5, "tanh", name="hidden")(x)
    return keras.Model(x, [layers.Dense(2, name="size")(h), layers.Dense(3, "softmax", name="digit")(h)])


def linear():
    return keras.Sequential([keras.Input((4,)), layers.Dense(1, name="sum")])


O = keras.optimizers
CASES = {
    "sgd": dict(make=plain, optimizer=lambda: O.SGD(0.05)),
    "momentum": dict(make=plain, optimizer=lambda: O.SGD(0.02, momentum=0.9, nesterov=True)),
    "adam": dict(make=plain, optimizer=lambda: O.Adam(0.01)),
    "adamw": dict(make=plain, optimizer=lambda: O.AdamW(0.01, weight_decay=0.05)),
    "rmsprop": dict(make=plain, optimizer=lambda: O.RMSprop(0.005, momentum=0.5)),
    "clipped": dict(make=plain, optimizer=lambda: O.SGD(0.1, global_clipnorm=0.5)),
    "clippedEach": dict(make=plain, optimizer=lambda: O.Adam(0.01, clipnorm=0.3)),
    "averaged": dict(make=plain, optimizer=lambda: O.SGD(0.05, use_ema=True, ema_momentum=0.9)),
    "accumulated": dict(make=plain, optimizer=lambda: O.SGD(0.05, gradient_accumulation_steps=2)),
    "penalty": dict(make=lambda: plain(kernel_regularizer="l2", activity_regularizer="l1"), optimizer=lambda: O.SGD(0.05)),
    "weighted": dict(make=plain, optimizer=lambda: O.SGD(0.05), weight=True),
    "normed": dict(make=lambda: normed(False), optimizer=lambda: O.SGD(0.05)),
    "synchronized": dict(make=lambda: normed(True), optimizer=lambda: O.Adam(0.01)),
    "outputs": dict(
        make=two_outputs, optimizer=lambda: O.Adam(0.01), y=lambda: [Y, Z],
        loss=["mse", "sparse_categorical_crossentropy"], loss_weights=[0.5, 2.0], metrics=[["mae"], ["accuracy"]],
    ),
    "integers": dict(
        make=linear, optimizer=lambda: O.SGD(0.015625), x=INTEGERS, y=lambda: TARGETS, loss="mse", epochs=1,
        metrics=[],
    ),
}


def fit(case, kind, s):
    n = N[kind]
    x = case.get("x", X)[:n]
    y = case.get("y", lambda: Y)()
    y = [v[:n] for v in y] if isinstance(y, list) else y[:n]
    with s.scope():
        model = case["make"]()
        set_initial(model)
        model.compile(
            case["optimizer"](), loss=case.get("loss", "mse"), metrics=case.get("metrics", ["mae"]),
            loss_weights=case.get("loss_weights"), jit_compile=False,
        )
    weight = W[:n] if case.get("weight") else None
    history = model.fit(
        x, y, batch_size=8, epochs=case.get("epochs", 10), shuffle=False, verbose=0, sample_weight=weight
    ).history
    tested = model.evaluate(x, y, batch_size=8, verbose=0, return_dict=True)
    weights = [v for layer in model.layers if isinstance(layer, layers.Dense) for v in layer.get_weights()]
    return {
        "history": {k: [float(f"{v:.9g}") for v in h] for k, h in history.items()},
        "evaluate": {k: float(f"{v:.9g}") for k, v in tested.items()},
        "weights": [[float(f"{v:.9g}") for v in w.ravel().tolist()] for w in weights],
    }


def attempt(case, kind):
    """Keras fails with gradient accumulation under a strategy."""
    try:
        return fit(case, kind, TWO)
    except Exception as error:
        print(type(error).__name__, str(error)[:100])
        return None


def fits():
    one = tf.distribute.get_strategy()
    found = {}
    for name, case in sorted(CASES.items(), key=lambda item: "clipped" in item[0] or item[0] in ("momentum", "averaged")):
        found[name] = {}
        for kind in ("even",) if name == "integers" else ("even", "uneven"):
            found[name][kind] = {"one": fit(case, kind, one), "two": attempt(case, kind)}
        save(found)
        print(name, {k: float(np.abs(np.subtract(sum(v["one"]["weights"], []), sum(v["two"]["weights"], []))).max()) for k, v in found[name].items() if v["two"]})
    return found


result = {
    "versions": {"tensorflow": tf.__version__, "keras": keras.__version__},
    "seed": SEED,
    "reductions": reductions(),
    "splits": splits(),
    "fromFunction": from_function(),
    "variables": variables(),
    "gradients": gradients(),
    "data": {"x": numbers(X), "y": numbers(Y), "z": numbers(Z), "w": numbers(W), "integers": numbers(INTEGERS), "targets": numbers(TARGETS)},
}


def save(found):
    result["fits"] = found
    result["initial"] = {k: numbers(v) for k, v in INITIAL.items()}
    OUT.write_text(json.dumps(result, separators=(",", ":")) + "\n")


save({})
save(fits())
print(OUT, OUT.stat().st_size)
