"""Makes packages/onnx/golden/models.zip: models that other programs export as ONNX, with inputs and the outputs of those programs.

Models of PyTorch, by both of its exporters, and of scikit-learn. For each `name.onnx` there is `name.pb`, a GraphProto whose initializers are
inputs (`i0`, …) and outputs (`o0`, …); more runs have `name.1.pb`, … `info.json` has the versions. `tools/interop/onnx_models.py` has onnxruntime
compute the same outputs.

Run: python tools/golden/onnx_models.py, with torch, onnxscript, scikit-learn and skl2onnx
"""

import io
import json
import pathlib
import warnings
import zipfile

import numpy as np
import onnx
import skl2onnx
import sklearn
import torch
from onnx import numpy_helper
from skl2onnx import to_onnx
from skl2onnx.common.data_types import StringTensorType
from sklearn import datasets, ensemble, linear_model, naive_bayes, neighbors, neural_network, pipeline, preprocessing, svm, tree
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from torch import nn

warnings.filterwarnings("ignore")
OUT = pathlib.Path(__file__).parents[2] / "packages/onnx/golden"
SEED = 1


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, padding=1, stride=2)
        self.norm = nn.BatchNorm2d(6)
        self.second = nn.Conv2d(6, 6, 3, padding=1, groups=3)

    def forward(self, x):
        y = torch.relu(self.norm(self.first(x)))
        return torch.flatten(nn.functional.adaptive_avg_pool2d(y + self.second(y), 1), 1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")

    def forward(self, x):
        return self.block(x)


class Recurrent(nn.Module):
    def __init__(self, cls, **options):
        super().__init__()
        self.rnn = cls(3, 4, batch_first=True, **options)

    def forward(self, x):
        return self.rnn(x)[0]


class Shapes(nn.Module):
    def forward(self, x, y):
        z = torch.cat([x, y[:, :2]], 1).permute(1, 0).reshape(-1, x.shape[0])
        rows = torch.where(z > 0, z, z.abs().sqrt())
        return rows.sum(0, keepdim=True), torch.topk(x, 2)[0], x[:, None, ::2].expand(-1, 3, -1), x.clamp(-0.5, 0.5).std(1)


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 6)
        self.norm = nn.LayerNorm(6)
        self.out = nn.Linear(6, 3)

    def forward(self, ids):
        return torch.log_softmax(self.out(self.norm(self.table(ids)).mean(1)), -1)


class Loop(torch.nn.Module):
    def forward(self, x, n: int):
        for _ in range(n):
            x = torch.tanh(x) + 1
        if x.sum() > 10:
            y = x * 2
        else:
            y = x - 1
        return y


class Sizes(nn.Module):
    def forward(self, x):
        up = nn.functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        near = nn.functional.interpolate(x, size=(5, 7), mode="nearest")
        corners = nn.functional.interpolate(x, size=(6, 6), mode="bilinear", align_corners=True)
        cubic = nn.functional.interpolate(x, size=(6, 5), mode="bicubic")
        return up, near, corners, cubic, nn.functional.pad(x, (1, 2, 0, 1), mode="reflect")


def torch_models():
    normal = torch.randn
    ids = torch.randint
    yield "mlp", nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 3), nn.Softmax(-1)), [(normal(2, 4),), (normal(5, 4),)]
    yield "cnn", Residual(), [(normal(2, 3, 8, 8),), (normal(1, 3, 8, 8),)]
    yield "pools", nn.Sequential(nn.MaxPool2d(2, ceil_mode=True), nn.AvgPool2d(3, 1, 1), nn.ConvTranspose2d(2, 3, 3, 2, 1, 1), nn.GroupNorm(3, 3), nn.SiLU()), [(normal(1, 2, 7, 9),)]
    yield "conv1d", nn.Sequential(nn.Conv1d(2, 4, 3, dilation=2), nn.ELU(), nn.InstanceNorm1d(4, affine=True)), [(normal(2, 2, 9),)]
    yield "conv3d", nn.Sequential(nn.Conv3d(1, 2, 2), nn.Hardswish(), nn.MaxPool3d(2)), [(normal(1, 1, 5, 5, 5),)]
    yield "attention", Attention(), [(normal(2, 5, 8),), (normal(1, 5, 8),)]
    yield "lstm", Recurrent(nn.LSTM, bidirectional=True), [(normal(2, 5, 3),), (normal(1, 5, 3),)]
    yield "gru", Recurrent(nn.GRU, num_layers=2), [(normal(2, 5, 3),)]
    yield "rnn", Recurrent(nn.RNN), [(normal(2, 5, 3),)]
    yield "shapes", Shapes(), [(normal(3, 4), normal(3, 5)), (normal(2, 4), normal(2, 5))]
    yield "words", Words(), [(ids(0, 20, (2, 5)),), (ids(0, 20, (4, 5)),)]
    yield "sizes", Sizes(), [(normal(1, 2, 4, 4),)]


def exported(model, inputs, dynamo):
    buffer = io.BytesIO()
    options = {"dynamo": dynamo, "opset_version": 18 if dynamo else 17, "input_names": [f"x{i}" for i in range(len(inputs[0]))]}
    if len(inputs) > 1:
        if dynamo:
            options["dynamic_shapes"] = tuple({0: torch.export.Dim("batch")} for _ in inputs[0])
        else:
            options["dynamic_axes"] = {f"x{i}": {0: "batch"} for i in range(len(inputs[0]))}
    if dynamo:
        program = torch.onnx.export(model, inputs[0], verbose=False, **options)
        return program.model_proto
    torch.onnx.export(model, inputs[0], buffer, **options)
    return onnx.load_from_string(buffer.getvalue())


def sklearn_models():
    x, y = datasets.load_iris(return_X_y=True)
    x = x.astype("float32")
    two = y < 2
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    r = datasets.make_regression(60, 5, random_state=SEED)
    rx, ry = r[0].astype("float32"), r[1] / 50
    no_map = {"zipmap": False}
    yield "linear-regression", linear_model.LinearRegression().fit(rx, ry), rx, {}
    yield "ridge", linear_model.Ridge().fit(rx, ry), rx, {}
    yield "logistic-regression", linear_model.LogisticRegression(max_iter=500).fit(x, y), x, no_map
    yield "logistic-strings", linear_model.LogisticRegression(max_iter=500).fit(x, labels), x, {}
    yield "logistic-binary", linear_model.LogisticRegression().fit(x[two], y[two]), x[two], no_map
    yield "decision-tree", tree.DecisionTreeClassifier(max_depth=4, random_state=SEED).fit(x, y), x, no_map
    yield "tree-regressor", tree.DecisionTreeRegressor(max_depth=4, random_state=SEED).fit(rx, ry), rx, {}
    yield "random-forest", ensemble.RandomForestClassifier(8, max_depth=4, random_state=SEED).fit(x, y), x, no_map
    yield "forest-regressor", ensemble.RandomForestRegressor(6, max_depth=4, random_state=SEED).fit(rx, ry), rx, {}
    yield "gradient-boosting", ensemble.GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=SEED).fit(x, y), x, no_map
    yield "boosting-binary", ensemble.GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=SEED).fit(x[two], y[two]), x[two], no_map
    yield "pipeline", pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.SGDClassifier(random_state=SEED)).fit(x, y), x, no_map
    yield "normalizer", pipeline.make_pipeline(preprocessing.MinMaxScaler(), preprocessing.Normalizer()).fit(x), x, {}
    yield "polynomial", preprocessing.PolynomialFeatures(2).fit(x), x, {}
    yield "svr", svm.SVR().fit(rx, ry), rx, {}
    yield "mlp-classifier", neural_network.MLPClassifier((6,), max_iter=50, random_state=SEED).fit(x, y), x, no_map
    yield "naive-bayes", naive_bayes.GaussianNB().fit(x, y), x, no_map
    yield "neighbors", neighbors.KNeighborsRegressor(3).fit(rx, ry), rx, {}
    yield "svc", svm.SVC().fit(x, y), x, no_map
    yield "svc-probability", svm.SVC(probability=True, random_state=SEED).fit(x, y), x, no_map
    # Thresholds that floats do not hold.
    yield "tree-doubles", tree.DecisionTreeRegressor(max_depth=6, random_state=SEED).fit(r[0], ry), r[0], {}
    yield "forest-doubles", ensemble.RandomForestClassifier(5, max_depth=4, random_state=SEED).fit(x.astype("float64"), y), x.astype("float64"), no_map
    words = np.array([["red", "s"], ["blue", "m"], ["red", "l"], ["green", "s"]])
    yield "one-hot-strings", preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(words), np.repeat(words, 11, 0), {}


# Without words of one letter, which only scikit-learn leaves out.
TEXTS = ["The cat sat on the mat", "one dog ate the cat", "birds fly high in the sky", "dogs and cats are pets", "The sky is blue today", ""]


def text_models():
    yield "tfidf", TfidfVectorizer(ngram_range=(1, 2)).fit(TEXTS)
    yield "counts", CountVectorizer(stop_words=["the", "on"]).fit(TEXTS)
    yield "characters", CountVectorizer(analyzer="char", lowercase=False).fit(TEXTS)


def packed(inputs, outputs):
    graph = onnx.GraphProto(name="values")
    for prefix, values in (("i", inputs), ("o", outputs)):
        for i, value in enumerate(values):
            array = np.asarray(value)
            array = array.astype(object) if array.dtype.kind == "U" else array
            graph.initializer.append(numpy_helper.from_array(array, f"{prefix}{i}"))
    return graph.SerializeToString()


def results(model, x):
    if not hasattr(model, "predict"):
        return [np.asarray(model.transform(x), "float32")]
    labels = model.predict(x)
    if labels.dtype.kind == "f":
        return [labels.astype("float32").reshape(-1, 1)]
    labels = labels.astype("int64") if labels.dtype.kind in "iub" else labels.astype(object)
    scores = model.predict_proba(x) if hasattr(model, "predict_proba") else model.decision_function(x)
    return [labels, scores.astype("float32")]


def main():
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    info = {"onnx": onnx.__version__, "torch": torch.__version__, "skl2onnx": skl2onnx.__version__, "sklearn": sklearn.__version__, "seed": SEED, "models": {}}
    with zipfile.ZipFile(OUT / "models.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:

        def add(name, model, runs):
            # Neither paths nor stacks of the machine.
            for node in model.graph.node:
                del node.metadata_props[:]
                node.doc_string = ""
            del model.graph.metadata_props[:]
            for value in [*model.graph.value_info, *model.graph.input, *model.graph.output]:
                del value.metadata_props[:]
            archive.writestr(f"{name}.onnx", model.SerializeToString())
            for i, (inputs, outputs) in enumerate(runs):
                archive.writestr(f"{name}.{i}.pb", packed(inputs, outputs))
            info["models"][name] = len(runs)

        for name, model, inputs in torch_models():
            model.eval()
            for dynamo in (False, True):
                runs = []
                for given in inputs:
                    with torch.no_grad():
                        result = model(*given)
                    outputs = result if isinstance(result, tuple) else (result,)
                    runs.append(([t.numpy() for t in given], [t.numpy() for t in outputs]))
                try:
                    add(f"torch-{name}{'-dynamo' if dynamo else ''}", exported(model, inputs, dynamo), runs)
                except Exception as error:  # noqa: BLE001
                    print(f"{name} (dynamo: {dynamo}): {type(error).__name__}: {str(error)[:200]}")
        scripted = torch.jit.script(Loop())
        buffer = io.BytesIO()
        x = torch.randn(2, 3)
        torch.onnx.export(scripted, (x, 3), buffer, dynamo=False, opset_version=17, input_names=["x", "n"])
        runs = [([x.numpy(), np.asarray(n)], [Loop()(x, n).numpy()]) for n in (3, 12)]
        add("torch-loop", onnx.load_from_string(buffer.getvalue()), runs)
        for name, model, x, options in sklearn_models():
            rows = x[::11][:9]
            proto = to_onnx(model, x[:1], target_opset={"": 18, "ai.onnx.ml": 3}, options={id(model): options} if options else None)
            add(f"sklearn-{name}", proto, [([rows], results(model, rows))])
        for name, model in text_models():
            proto = to_onnx(model, initial_types=[("text", StringTensorType([None, 1]))], target_opset={"": 18, "ai.onnx.ml": 3})
            outputs = [model.transform(TEXTS).toarray().astype("float32")]
            add(f"sklearn-{name}", proto, [([np.array(TEXTS, object).reshape(-1, 1)], outputs)])
        archive.writestr("info.json", json.dumps(info))
    print(len(info["models"]), "models;", (OUT / "models.zip").stat().st_size, "bytes")


main()
