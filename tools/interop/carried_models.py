"""Checks that models of PyTorch, scikit-learn, TensorFlow and Keras, loaded and saved again by Eagre with open sizes, give the same in other runtimes:
as SavedModels in TensorFlow, as ONNX files in onnxruntime, and models of Keras as `.keras` in Keras.

    pnpm build
    python tools/interop/carried_models.py [model …]

It needs torch, skl2onnx, tf2onnx and scikit-learn.
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import warnings

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
warnings.filterwarnings("ignore")

import keras
import numpy as np
import onnx
import onnxruntime
import tensorflow as tf
import torch
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

HERE = pathlib.Path(__file__).parent
BATCHES = [1, 2, 5]
rng = np.random.default_rng(0)
torch.manual_seed(0)
keras.utils.set_random_seed(0)
MODELS = {}


def model(fn):
    """Registers a model: `fn(folder)` writes it, and returns its file and a function that gives its inputs for a batch."""
    MODELS[fn.__name__] = fn
    return fn


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def from_torch(module, given, folder, axes, names=("x",)):
    """`axes`: the open axes of each input."""
    file = folder / "model.onnx"
    module.eval()
    # PyTorch's newer exporter does not run beside TensorFlow: both bring an LLVM.
    open_axes = {name: {axis: f"{name}{axis}" if axis else "n" for axis in own} for name, own in zip(names, axes)}
    with torch.no_grad():
        torch.onnx.export(
            module, tuple(torch.from_numpy(x) for x in given), file, input_names=list(names), opset_version=17, dynamic_axes=open_axes, dynamo=False
        )
    return file


class Window(nn.Module):
    """A block of a Swin transformer: attention inside of windows, which are shifted."""

    def __init__(self, channels=8, heads=2, window=4, shift=2):
        super().__init__()
        self.heads, self.window, self.shift = heads, window, shift
        self.norm, self.qkv, self.out = nn.LayerNorm(channels), nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.bias = nn.Parameter(torch.randn(heads, window**2, window**2))

    def forward(self, x):
        n, h, w, c = x.shape
        s = self.window
        y = torch.roll(self.norm(x), (-self.shift, -self.shift), (1, 2))
        y = y.view(n, h // s, s, w // s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, s * s, c)
        q, k, v = self.qkv(y).reshape(-1, s * s, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        weights = (q @ k.transpose(-1, -2) * (c // self.heads) ** -0.5 + self.bias).softmax(-1)
        y = self.out((weights @ v).transpose(1, 2).reshape(-1, s * s, c))
        y = y.view(n, h // s, w // s, s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
        return x + torch.roll(y, (self.shift, self.shift), (1, 2))


@model
def window_attention(folder):
    file = from_torch(Window(), [normal(2, 8, 8, 8)], folder, [[0, 1, 2]])
    return file, lambda n: [normal(n, 4 * n, 8, 8)]


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTM(5, 6, num_layers=2, bidirectional=True, batch_first=True), nn.GRU(12, 4, batch_first=True)

    def forward(self, x):
        y, (h, _) = self.lstm(x)
        z, last = self.gru(y)
        return z, h.mean(0), last.squeeze(0)


@model
def recurrent(folder):
    return from_torch(Recurrent(), [normal(2, 7, 5)], folder, [[0, 1]]), lambda n: [normal(n, n + 2, 5)]


class Encoder(nn.Module):
    """A layer of a transformer; that of PyTorch is exported for one length."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.one, self.two = nn.LayerNorm(16), nn.LayerNorm(16)
        self.ahead = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, 4, 4).permute(2, 0, 3, 1, 4).unbind(0)
        causal = torch.ones(t, t, dtype=torch.bool).tril()
        y = nn.functional.scaled_dot_product_attention(q, k, v, causal)
        x = self.one(x + self.out(y.transpose(1, 2).reshape(n, t, c)))
        return self.two(x + self.ahead(x))


@model
def encoder(folder):
    return from_torch(nn.Sequential(Encoder(), Encoder()), [normal(2, 6, 16)], folder, [[0, 1]]), lambda n: [normal(n, n + 3, 16)]


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        conv = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())
        self.one, self.two, self.three = conv(3, 4), conv(4, 8), conv(12, 4)
        self.pool, self.out = nn.MaxPool2d(2), nn.Conv2d(4, 2, 1)

    def forward(self, x):
        a = self.one(x)
        b = self.two(self.pool(a))
        up = nn.functional.interpolate(b, size=a.shape[2:], mode="bilinear", align_corners=False)
        return nn.functional.interpolate(self.out(self.three(torch.cat([a, up], 1))), scale_factor=2, mode="nearest")


@model
def unet(folder):
    return from_torch(Unet(), [normal(2, 3, 9, 8)], folder, [[0, 2, 3]]), lambda n: [normal(n, 3, 7 + n, 11 - n)]


class Separable(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 6, 3, stride=2, padding=1, groups=3), nn.BatchNorm2d(6), nn.Hardswish(), nn.Conv2d(6, 8, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()
        )
        self.scale = nn.Linear(8, 4)

    def forward(self, x):
        return self.scale(self.layers(x)).log_softmax(-1)


@model
def separable(folder):
    return from_torch(Separable(), [normal(2, 3, 8, 8)], folder, [[0, 2, 3]]), lambda n: [normal(n, 3, 8 + n, 6)]


class Words(nn.Module):
    """Texts of their own lengths: a mean over the words that are there."""

    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(20, 8), nn.Linear(8, 3)

    def forward(self, words, lengths):
        there = (torch.arange(words.shape[1])[None] < lengths[:, None]).unsqueeze(-1)
        total = (self.table(words) * there).sum(1)
        return self.out(total / lengths.clamp(min=1)[:, None])


@model
def words(folder):
    draw = lambda n: [rng.integers(0, 20, (n, n + 3)), rng.integers(0, n + 3, n)]
    return from_torch(Words(), draw(2), folder, [[0, 1], [0]], ("words", "lengths")), draw


def from_nodes(folder, nodes, inputs, outputs, constants):
    infos = lambda of: [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in of.items()]
    graph = helper.make_graph(nodes, "g", infos(inputs), infos(outputs), [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(made, full_check=True)
    file = folder / "model.onnx"
    onnx.save(made, file)
    return file


def node(op, inputs, outputs, **attrs):
    return helper.make_node(op, inputs.split(), outputs.split(), **attrs)


FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


@model
def detection(folder):
    """A head of a detector: boxes around places, the best of which stay, and the best of these by their scores."""
    nodes = [
        node("Conv", "x filter bias", "map", pads=[1, 1, 1, 1]),
        node("Shape", "map", "n", start=0, end=1), node("Concat", "n six open", "to", axis=0), node("Reshape", "map to", "flat"),
        node("Split", "flat parts", "where logits", axis=1), node("Sigmoid", "logits", "scores"),
        node("Split", "where halves", "centres sizes", axis=1), node("Exp", "sizes", "spread"),
        node("Sub", "centres spread", "low"), node("Add", "centres spread", "high"), node("Concat", "low high", "corners", axis=1),
        node("Transpose", "corners", "boxes", perm=[0, 2, 1]),
        node("NonMaxSuppression", "boxes scores most overlap threshold", "kept"),
        node("GatherND", "scores kept", "kept_scores"),
        node("Gather", "kept box_place", "box_places", axis=1), node("GatherND", "boxes box_places", "kept_boxes"),
        node("Shape", "kept_scores", "count"), node("Min", "count three", "k"), node("TopK", "kept_scores k", "best at"), node("Gather", "kept_boxes at", "chosen", axis=0),
    ]
    constants = {
        "filter": normal(6, 2, 3, 3) * 0.3, "bias": normal(6), "six": np.array([6]), "open": np.array([-1]), "parts": np.array([4, 2]), "halves": np.array([2, 2]),
        "most": np.array([4]), "overlap": np.array([0.4], np.float32), "threshold": np.array([0.3], np.float32), "box_place": np.array([0, 2]), "three": np.array([3]),
    }
    outputs = {"best": (FLOAT, [None]), "chosen": (FLOAT, [None, 4]), "kept": (INT64, [None, 3])}
    return from_nodes(folder, nodes, {"x": (FLOAT, ["n", 2, "h", "w"])}, outputs, constants), lambda n: [normal(n, 2, 3 + n, 4)]


@model
def scan(folder):
    """A sum that decays, along the second axis and backwards, whose states and outputs have other sizes."""
    body = helper.make_graph(
        [node("Mul", "before decay", "less"), node("Add", "less row", "after"), node("Tanh", "after", "y"), node("ReduceSum", "after one", "total", keepdims=0)],
        "body",
        [helper.make_tensor_value_info("before", FLOAT, None), helper.make_tensor_value_info("row", FLOAT, None)],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in ["after", "y", "total"]],
    )
    nodes = [
        node("ReduceMean", "x one", "start", keepdims=0),
        node("Scan", "start x", "last ys totals", body=body, num_scan_inputs=1, scan_input_axes=[1], scan_input_directions=[1], scan_output_axes=[1, 0],
             scan_output_directions=[1, 0]),
    ]
    outputs = {"last": (FLOAT, ["n", 3]), "ys": (FLOAT, ["n", "t", 3]), "totals": (FLOAT, ["t", "n"])}
    constants = {"decay": np.float32(0.5), "one": np.array([1])}
    return from_nodes(folder, nodes, {"x": (FLOAT, ["n", "t", 3])}, outputs, constants), lambda n: [normal(n, [4, 20, 1][BATCHES.index(n)], 3)]


@model
def loop(folder):
    """Steps until a value is large, at most as many as are given, with an output of each."""
    body = helper.make_graph(
        [node("Add", "a x", "b"), node("Mul", "b factor", "c"), node("ReduceMax", "c", "top", keepdims=0), node("Less", "top limit", "go"), node("ReduceMean", "c", "mean", keepdims=0)],
        "body",
        [helper.make_tensor_value_info("i", INT64, []), helper.make_tensor_value_info("going", BOOL, []), helper.make_tensor_value_info("a", FLOAT, None)],
        [helper.make_tensor_value_info("go", BOOL, []), helper.make_tensor_value_info("c", FLOAT, None), helper.make_tensor_value_info("mean", FLOAT, [])],
    )
    nodes = [node("Loop", "most true x", "last means", body=body)]
    outputs = {"last": (FLOAT, ["n", 2]), "means": (FLOAT, ["steps"])}
    constants = {"factor": np.float32(1.3), "limit": np.float32(20), "true": np.array(True)}
    return from_nodes(folder, nodes, {"x": (FLOAT, ["n", 2]), "most": (INT64, [])}, outputs, constants), lambda n: [np.abs(normal(n, 2)) + 0.1, np.array(2 * n)]


def from_sklearn(estimator, folder):
    from skl2onnx import to_onnx

    data = load_iris()
    estimator.fit(data.data.astype(np.float32), data.target)
    options = {"zipmap": False} if hasattr(estimator, "predict_proba") else {}
    made = to_onnx(estimator, data.data[:1].astype(np.float32), options={id(estimator): options} if options else None, target_opset={"": 18, "ai.onnx.ml": 3})
    file = folder / "model.onnx"
    onnx.save(made, file)
    return file, lambda n: [data.data[rng.integers(0, 150, n)].astype(np.float32)]


@model
def trees(folder):
    return from_sklearn(GradientBoostingClassifier(n_estimators=5, random_state=0), folder)


@model
def forest(folder):
    return from_sklearn(RandomForestRegressor(n_estimators=5, max_depth=4, random_state=0), folder)


@model
def linear(folder):
    return from_sklearn(make_pipeline(StandardScaler(), PCA(3), LogisticRegression()), folder)


@model
def converted(folder):
    """Of TensorFlow: pictures of any size by convolutions, and a loop, written by tf2onnx."""
    import tf2onnx

    kernel = normal(3, 3, 2, 4)

    @tf.function(input_signature=[tf.TensorSpec([None, None, None, 2], name="x")])
    def fn(x):
        y = tf.nn.relu(tf.nn.conv2d(x, kernel, 2, "SAME"))
        y = tf.image.resize(y, tf.shape(x)[1:3], "bilinear")
        _, z = tf.while_loop(lambda i, _: i < tf.shape(x)[0] + 2, lambda i, z: (i + 1, tf.tanh(z + y[..., :2])), [0, x])
        return tf.reduce_mean(z, [1, 2]), z

    file = folder / "model.onnx"
    tf2onnx.convert.from_function(fn, input_signature=fn.input_signature, opset=17, output_path=str(file))
    return file, lambda n: [normal(n, 5 + n, 6, 2)]


@model
def checked(folder):
    """Of TensorFlow, with a check of values and rows of their own lengths."""

    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.table = tf.Variable(normal(10, 4))

        @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32, "ids")])
        def __call__(self, ids):
            tf.debugging.assert_less(ids, 10)
            rows = tf.RaggedTensor.from_tensor(ids, padding=0)
            return {"sums": tf.reduce_sum(tf.gather(self.table, rows), 1)}

    made = Module()
    tf.saved_model.save(made, folder / "model")
    return folder / "model", lambda n: [rng.integers(0, 10, (n, n + 2)).astype(np.int32)]


@model
def keras_texts(folder):
    inputs = keras.Input([None], dtype="int32")
    x = keras.layers.Embedding(20, 8, mask_zero=True)(inputs)
    x = keras.layers.Bidirectional(keras.layers.LSTM(4, return_sequences=True))(x)
    x = keras.layers.MultiHeadAttention(2, 4)(x, x)
    x = keras.layers.GRU(5)(keras.layers.LayerNormalization()(x))
    made = keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(x))
    made.save(folder / "model.keras")
    # Words in front, and 0 for what is missing behind them.
    draw = lambda n: [np.stack([np.pad(rng.integers(1, 20, k), (0, n + 3 - k)) for k in rng.integers(1, n + 4, n)]).astype(np.int32)]
    return folder / "model.keras", draw


@model
def keras_pictures(folder):
    inputs = keras.Input([None, None, 3])
    x = keras.layers.DepthwiseConv2D(3, padding="same", depth_multiplier=2)(inputs)
    x = keras.layers.Activation("swish")(keras.layers.BatchNormalization()(x))
    y = keras.layers.MaxPooling2D(padding="same")(x)
    y = keras.layers.UpSampling2D(interpolation="bilinear")(keras.layers.SeparableConv2D(6, 3, padding="same")(y))
    z = keras.layers.GlobalAveragePooling2D()(keras.layers.Add()([x, y]))
    made = keras.Model(inputs, [keras.layers.Dense(4)(z), y])
    made.layers[2].set_weights([np.abs(normal(6)) + 0.5 for _ in range(4)])
    made.save(folder / "model.keras")
    return folder / "model.keras", lambda n: [normal(n, 4 + 2 * n, 6, 3)]


def session_of(file):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def in_onnxruntime(file):
    session = session_of(file)
    return lambda *given: session.run(None, dict(zip([i.name for i in session.get_inputs()], given, strict=True)))


def flat(value):
    return [np.asarray(v) for v in tf.nest.flatten(value)]


def original(file):
    """What the model gives in the runtime that it is for."""
    if file.suffix == ".onnx":
        return in_onnxruntime(file)
    loaded = keras.models.load_model(file) if file.suffix == ".keras" else tf.saved_model.load(str(file))
    return lambda *given: flat(loaded(*given))


def written(folder):
    """What Eagre has written, by the runtime that reads it."""
    runtimes = {}
    if (folder / "again.onnx").exists():
        onnx.checker.check_model(onnx.load(folder / "again.onnx"), full_check=True)
        runtimes["onnxruntime"] = in_onnxruntime(folder / "again.onnx")
    loaded = tf.saved_model.load(str(folder / "again"))
    runtimes["TensorFlow"] = lambda *given: flat(loaded.run(*map(tf.constant, given)))
    if (folder / "again.keras").exists():
        again = keras.models.load_model(folder / "again.keras")
        runtimes["Keras"] = lambda *given: flat(again(*given))
    return runtimes


def check(name, folder, file, draw):
    first = original(file)
    for runtime, run in written(folder).items():
        for batch in BATCHES:
            given = draw(batch)
            for got, wanted in zip(run(*given), first(*given), strict=True):
                assert got.dtype == wanted.dtype and got.shape == wanted.shape, (name, runtime, batch, got.dtype, got.shape, wanted.dtype, wanted.shape)
                np.testing.assert_allclose(got, wanted, 2e-4, 2e-5, err_msg=f"{name}, {runtime}, {batch}")
    if name == "checked":
        loaded = tf.saved_model.load(str(folder / "again"))
        try:
            loaded.run(tf.constant([[3, 12]]))
        except tf.errors.InvalidArgumentError:
            return
        raise AssertionError("the check of a value is lost")


def main(names, temporary):
    made = {}
    for name in names or MODELS:
        folder = temporary / name
        folder.mkdir()
        made[name] = (folder, *MODELS[name](folder))
    command = [*shlex.split(os.environ.get("EAGRE_NODE", "node")), HERE / "carried_models.mjs", temporary]
    listed = json.dumps({name: str(file) for name, (_, file, _) in made.items()})
    refused = json.loads(subprocess.run(command, input=listed, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])
    failed = 0
    for name, (folder, file, draw) in made.items():
        try:
            assert name not in refused, refused[name]
            check(name, folder, file, draw)
        except Exception as error:  # noqa: BLE001
            failed += 1
            print(f"{name}: {type(error).__name__}: {str(error)[:700]}")
    print(f"{len(made) - failed} of {len(made)} models give the same in other runtimes, at {len(BATCHES)} batch sizes")
    return failed


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(min(1, main(sys.argv[1:], pathlib.Path(temporary))))
