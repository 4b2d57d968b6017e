"""Writes packages/layers/golden/keras_ops.json: calls of the functions of keras.ops, with what real Keras gives, and gradients.

Run with KERAS_BACKEND=tensorflow and a Python that has Keras and TensorFlow.
"""

import json
import math
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
import keras
import numpy as np
import tensorflow as tf

SEED = 7
rng = np.random.default_rng(SEED)
cases = []


def camel(name):
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(w[:1].upper() + w[1:] for w in rest)


def number(v):
    if isinstance(v, (bool, np.bool_)):
        return bool(v)
    v = v.item() if hasattr(v, "item") else v
    if isinstance(v, float):
        if math.isnan(v):
            return "NaN"
        if math.isinf(v):
            return "Infinity" if v > 0 else "-Infinity"
        return float(f"{v:.7g}")
    return v


def tensor(v):
    a = np.asarray(v)
    dtype = str(a.dtype)
    if dtype.startswith("complex"):
        flat = [number(p) for c in a.flatten() for p in (c.real, c.imag)]
    else:
        flat = [number(p) for p in a.flatten()]
    return {"shape": list(a.shape), "dtype": dtype, "values": flat}


def written(v):
    if isinstance(v, np.ndarray):
        return tensor(v)
    if isinstance(v, (list, tuple)):
        return [written(x) for x in v]
    return number(v)


def leaves(v):
    return [x for item in v for x in leaves(item)] if isinstance(v, (list, tuple)) else [v]


def weights(shape):
    return np.cos(np.arange(int(np.prod(shape)), dtype="float64")).reshape(shape)


def add(name, *args, grad=True, **kwargs):
    fn = keras.ops
    for part in name.split("."):
        fn = getattr(fn, part)
    entry = {"op": ".".join(camel(p) for p in name.split(".")), "args": [written(a) for a in args]}
    if kwargs:
        entry["options"] = {k if len(k) == 1 else camel(k): written(v) for k, v in kwargs.items()}
    first = args[0] if args else None
    first = first[0] if isinstance(first, list) and first and isinstance(first[0], np.ndarray) else first
    convert = lambda v: tf.constant(v) if isinstance(v, np.ndarray) else [convert(x) for x in v] if isinstance(v, list) and any(isinstance(x, np.ndarray) for x in v) else v
    given = [convert(a) for a in args]
    result = fn(*given, **{k: convert(v) for k, v in kwargs.items()})
    entry["result"] = [tensor(keras.ops.convert_to_numpy(r) if tf.is_tensor(r) else r) for r in leaves(result)]
    if grad and isinstance(first, np.ndarray) and first.dtype in ("float32", "float64"):
        x = tf.constant(first)

        def call(v):
            inputs = list(given)
            inputs[0] = [v, *inputs[0][1:]] if isinstance(inputs[0], list) else v
            return leaves(fn(*inputs, **{k: convert(v) for k, v in kwargs.items()}))

        with tf.GradientTape() as tape:
            tape.watch(x)
            outputs = [r for r in call(x) if tf.is_tensor(r) and r.dtype.is_floating]
            total = sum(tf.reduce_sum(tf.cast(r, tf.float64) * weights(r.shape)) for r in outputs)
        g = tape.gradient(total, x) if outputs else None
        if g is not None:
            entry["gradient"] = tensor(g.numpy())
    cases.append(entry)


def f(*shape, low=-1.0, high=1.0):
    return rng.uniform(low, high, shape).astype("float32")


def i(values):
    return np.array(values, "int32")


x, y, v = f(2, 3), f(2, 3, low=0.3, high=2.0), f(5)
n = np.array([[0.5, np.nan, -1.5], [2.0, 1.0, np.nan]], "float32")
k = i([[4, -6, 9], [12, 8, 0]])
b = np.array([[True, False, True], [False, False, True]])
spd = f(2, 3, 3)
spd = (spd @ np.swapaxes(spd, -1, -2) + 2 * np.eye(3, dtype="float32")).astype("float32")
m = (f(2, 3, 3) + 1.5 * np.eye(3, dtype="float32")).astype("float32")

# ---- element by element
for name in "sqrt reciprocal exp exp2 expm1 log log1p log2 log10 sin cos tan sinh cosh tanh arctan arcsinh cbrt deg2rad rad2deg fabs".split():
    add(name, y)
for name in "arcsin arccos arctanh sinc sign abs negative floor ceil trunc square erf erfinv i0".split():
    add(name, (0.8 * x).astype("float32"))
add("arccosh", y + 1)
add("rsqrt", y)
add("erfc", x)
for name in "exp sqrt sin".split():
    add(name, i([1, 4, 9]))
for name in "isnan isinf isfinite isposinf isneginf isreal signbit".split():
    add(name, np.array([1.0, -np.inf, np.inf, np.nan, -2.0], "float32"))
    add(name, i([1, -2]))
for name in "add subtract multiply divide true_divide maximum minimum power arctan2 hypot logaddexp logaddexp2 fmod fmax fmin mod floor_divide divide_no_nan heaviside nextafter".split():
    add(name, y, f(3, low=0.4, high=1.5), grad=name not in ("fmod", "mod", "floor_divide", "heaviside", "nextafter"))
add("divide", i([1, 2]), i([4, 3]))
add("ldexp", x, i([1, 2, 3]))
for name in "gcd lcm".split():
    add(name, i([12, -18, 7]), i([8, 12, 21]))
for name in "equal not_equal less greater_equal".split():
    add(name, k, i([4, 8, 0]))
for name in "logical_and logical_or logical_xor".split():
    add(name, b, np.array([True, True, False]))
for name in "bitwise_and bitwise_or bitwise_xor left_shift right_shift".split():
    add(name, i([12, 7]), i([2, 1]))
add("round", x, 1, grad=False)
add("clip", x, -0.3, 0.4)
add("where", b, x, y)
add("where", b)
add("nonzero", k)
add("select", [b, np.logical_not(b)], [x, y], 0)
add("nan_to_num", n, nan=7.0, grad=False)
add("isclose", x, x + 1e-6)
add("allclose", x, x + 1.0)
add("copy", x)

# ---- made of nothing
add("arange", 5)
add("arange", 1, 2, 0.25)
add("full", [2, 3], 4.0)
add("full_like", x, 2)
add("zeros", [2, 2])
add("ones_like", k)
add("tri", 3, 4, 1)
add("eye", 3, 4, -1)
add("identity", 3)
add("linspace", 0.0, 2.0, 5)
add("linspace", f(2), f(2), 4, endpoint=False, axis=-1)
add("logspace", 0.0, 2.0, 4)
add("geomspace", 1.0, 16.0, 5)
add("meshgrid", f(2), f(3), indexing="ij")
for name in "hamming hanning blackman bartlett".split():
    add(name, 7)
add("kaiser", 6, 4.0)
add("vander", v, 3)
add("array", x)

# ---- many to one
for name in "sum mean std var max min prod amax amin ptp median nanmean nansum logsumexp".split():
    add(name, x, axis=1)
    add(name, x, keepdims=True)
add("mean", k)
add("median", k, axis=0)
add("sum", b, axis=0)
add("all", b, axis=1)
add("any", k, axis=0)
add("count_nonzero", k, axis=0)
add("max", x, axis=0, initial=0.25)
for name in "argmax argmin".split():
    add(name, x)
    add(name, x, axis=1, keepdims=True)
for name in "cumsum cumprod".split():
    add(name, x)
    add(name, x, axis=1)
for name in "nansum nanmean nanmax nanmin nanprod nanstd nanvar nanmedian nancumsum nancumprod nanargmax nanargmin".split():
    add(name, n, axis=1, grad=name in ("nansum",))
for method in "linear lower higher midpoint nearest".split():
    add("quantile", f(2, 5), np.array([0.25, 0.6], "float32"), axis=1, method=method, grad=method == "linear")
add("percentile", f(2, 4), 30.0)
add("nanquantile", n, 0.5, axis=1, grad=False)
add("nanpercentile", n, 50.0, grad=False)
add("average", x, axis=1, weights=f(3, low=0.2, high=1))
add("corrcoef", f(3, 6), grad=False)
add("trapezoid", x, dx=0.5)
add("diff", x, n=1, axis=1)
add("bincount", i([0, 3, 1, 3]), minlength=5)
add("bincount", i([[0, 1], [2, 1]]))
add("histogram", v, 4, grad=False)

# ---- places
add("concatenate", [x, y], 1)
add("stack", [x, y], 1)
for name in "vstack hstack dstack".split():
    add(name, [x, y])
    # On TensorFlow, Keras's vstack of vectors is a vector, unlike NumPy's.
    if name != "vstack":
        add(name, [v, v])
add("append", x, y)
add("append", x, y, 0)
add("split", f(6), 3)
add("split", f(6, 2), [1, 4])
add("array_split", f(7), 3)
add("hsplit", f(2, 4), 2)
add("vsplit", f(4, 2), 2)
add("dsplit", f(2, 2, 4), 2)
add("reshape", x, [3, -1])
add("ravel", x)
add("transpose", f(2, 3, 4), [1, 0, 2])
add("moveaxis", f(2, 3, 4), [0, 1], [-1, 0])
add("swapaxes", f(2, 3, 4), 0, 2)
add("flip", x)
add("fliplr", x)
add("flipud", x)
# By two turns, Keras on TensorFlow mirrors at the diagonal, unlike NumPy.
for turns in (1, 3):
    add("rot90", x, turns)
add("roll", x, 2)
add("roll", x, 1, axis=1)
add("repeat", x, 2)
add("repeat", x, 2, axis=1)
add("tile", x, [2, 1])
add("tile", v, [2, 1])
add("pad", x, [[1, 1], [1, 1]])
add("pad", x, [[1, 0], [2, 1]], mode="constant", constant_values=3)
add("pad", x, [[1, 0], [2, 1]], mode="reflect")
add("pad", x, [[0, 1], [1, 1]], mode="symmetric")
add("expand_dims", x, 1)
add("squeeze", f(2, 1, 3))
add("broadcast_to", v, [2, 5])
add("diag", v, 1)
add("diag", f(3, 4), -1)
add("diagflat", x)
add("diagonal", f(2, 3, 4), 1, 1, 2)
add("trace", f(2, 3, 3), 0, 1, 2)
add("tril", f(3, 3), -1)
add("triu", f(3, 3), 1)
add("take", x, i([1, -1, 4]))
add("take", x, i([[0, 2]]), axis=1)
add("take_along_axis", x, i([[0, 2], [1, -1]]), axis=1)
add("sort", x, axis=0)
add("argsort", x)
add("argpartition", np.array([3.0, 1.0, 2.0], "float32"), 2)
add("searchsorted", i([1, 3, 3, 7]), i([3, 0, 8, 4]))
add("searchsorted", i([1, 3, 3, 7]), i([3, 0, 8, 4]), side="right")
add("digitize", v, np.array([-0.5, 0.0, 0.5], "float32"))
add("isin", k, i([4, 8]))
add("unravel_index", i([5, 3]), [2, 3])
add("unique", i([3, 1, 3, 2]), return_inverse=True, return_counts=True)
add("view", i([1, 1065353216]), dtype="float32")
add("scatter", i([[1], [3], [1]]), f(3, 2), [4, 2], grad=False)
for reduction in (None, "add", "max", "min", "mul"):
    add("scatter_update", f(4), i([[1], [3]]), f(2), reduction=reduction)
add("slice", f(3, 4), [1, 1], [2, 2])
add("slice_update", f(3, 4), [1, 2], f(2, 2), grad=False)
add("unstack", x, axis=1)
add("rearrange", f(2, 6, 3), "b (h w) c -> b c h w", h=2)
add("cast", x * 3, "int32")
add("saturate_cast", i([300, -5]), "uint8")

# ---- products
add("matmul", x, f(3, 2))
add("matmul", x, f(3))
add("dot", x, f(3, 2))
add("dot", x, f(3))
add("inner", x, f(4, 3))
add("outer", f(2), f(3))
add("vdot", x, y)
add("tensordot", f(2, 3, 4), f(4, 3), axes=[[1, 2], [1, 0]])
add("einsum", "ij,jk->ik", x, f(3, 2))
add("kron", x, f(2, 2))
add("cross", f(2, 3), f(2, 3))
add("cross", f(2, 2), f(2, 2))
for mode in "valid same full".split():
    add("correlate", f(5), f(3), mode=mode, grad=False)

# ---- nn
for name in "relu relu6 sigmoid log_sigmoid softplus softsign silu hard_silu hard_sigmoid elu selu celu gelu leaky_relu hard_tanh hard_shrink soft_shrink tanh_shrink sparse_plus sparse_sigmoid squareplus softmax log_softmax".split():
    add(name, f(2, 4, low=-2, high=2))
add("gelu", x, approximate=False)
add("glu", f(2, 4))
add("threshold", x, 0.1, -1.0)
add("one_hot", i([1, 0, 3]), 4)
add("one_hot", i([1, -1]), 3, axis=0, dtype="int32")
add("multi_hot", i([[0, 2], [1, 1]]), 4)
probabilities = np.array([[0.2, 0.5, 0.3], [0.1, 0.6, 0.4]], "float32")
add("categorical_crossentropy", np.eye(3, dtype="float32")[[0, 2]], probabilities, grad=False)
add("categorical_crossentropy", np.eye(3, dtype="float32")[[0, 2]], x, from_logits=True, grad=False)
add("sparse_categorical_crossentropy", i([0, 2]), probabilities)
add("binary_crossentropy", np.array([[1.0, 0, 1], [0, 0, 1]], "float32"), probabilities, grad=False)
add("psnr", x, y, 2.0)
add("moments", f(2, 3, 4), [0, 2], keepdims=True)
add("batch_normalization", f(2, 3, 4), f(3), f(3, low=0.5, high=1), 1, offset=f(3), scale=f(3))
add("layer_normalization", f(2, 4), f(4), f(4))
add("rms_normalization", f(2, 4), f(4))
for order in (1, 2, 3):
    add("normalize", x, axis=-1, order=order)
add("conv", f(1, 5, 6, 2), f(2, 3, 2, 3), strides=2, padding="same")
add("conv", f(1, 6, 2), f(3, 2, 3), dilation_rate=2)
add("depthwise_conv", f(1, 5, 5, 2), f(2, 2, 2, 2))
add("separable_conv", f(1, 5, 5, 2), f(2, 2, 2, 2), f(1, 1, 4, 3))
add("conv_transpose", f(1, 3, 3, 2), f(2, 2, 3, 2), strides=2, padding="same")
add("conv_transpose", f(1, 4, 2), f(3, 3, 2), strides=2, output_padding=1)
add("max_pool", f(1, 4, 4, 2), 2)
add("average_pool", f(1, 5, 4, 2), [2, 2], strides=1, padding="same")
add("adaptive_average_pool", f(1, 5, 4, 2), [2, 3], data_format="channels_last")
add("adaptive_max_pool", f(1, 5, 4, 2), [2, 3], data_format="channels_last")
add("dot_product_attention", f(1, 3, 2, 4), f(1, 5, 2, 4), f(1, 5, 2, 4), scale=0.4)
add("dot_product_attention", f(1, 3, 2, 4), f(1, 3, 2, 4), f(1, 3, 2, 4), is_causal=True)
add("unfold", f(1, 2, 4, 5), 2, padding=1, stride=2)
add("fold", f(1, 8, 6), [3, 4], 2)
add("space_to_depth", f(1, 4, 4, 1), 2)
add("depth_to_space", f(1, 2, 2, 4), 2)
add("polar", f(3, low=0.5), f(3))

# ---- math
add("top_k", f(2, 5), 3)
add("in_top_k", i([1, 0]), f(2, 4), 2)
for name in "segment_sum segment_max segment_min segment_prod".split():
    add(name, f(4, 2), i([0, 2, 0, 1]), 3)
add("cdist", x, f(4, 3))
add("logdet", spd)
add("extract_sequences", f(2, 9), 4, 2)
for size in (6, 45, 64):
    add("fft", [f(2, size), f(2, size)])
add("fft2", [f(4, 6), f(4, 6)])
add("ifft2", [f(4, 6), f(4, 6)])
add("rfft", f(2, 10))
add("rfft", f(2, 10), 8, grad=False)
add("irfft", [f(2, 5), f(2, 5)])
add("stft", f(24), 8, 4, 8)
add("istft", [f(7, 5), f(7, 5)], 8, 4, 8, grad=False)
add("view_as_complex", f(3, 2))

# ---- linalg
add("cholesky", spd, grad=False)
add("cholesky_inverse", np.linalg.cholesky(spd).astype("float32"))
add("det", m)
add("slogdet", m, grad=False)
add("inv", m)
add("solve", m, f(2, 3, 2))
add("solve", m[0], f(3))
add("solve_triangular", np.tril(m).astype("float32"), f(2, 3, 1), lower=True, grad=False)
add("lu_factor", m[0], grad=False)
add("qr", f(4, 3))
add("qr", f(3, 3), mode="complete", grad=False)
add("svd", m, compute_uv=False)
add("pinv", f(4, 3))
add("lstsq", f(4, 3), f(4), grad=False)
add("matrix_rank", np.array([[1.0, 2], [2, 4]], "float32"))
for order in (None, 1, 2, 3, np.inf):
    add("norm", x, ord=order, axis=1)
for order in ("fro", "nuc", 1, 2, -np.inf):
    add("norm", x, ord=order, grad=order not in (2, "nuc"))

# ---- image
images = f(1, 4, 5, 3, low=0, high=1)
for name in "rgb_to_hsv hsv_to_rgb rgb_to_grayscale gaussian_blur sobel_edges".split():
    add(f"image.{name}", images)
add("image.resize", images, [3, 7])
add("image.resize", images, [2, 2], interpolation="bicubic", antialias=True)
add("image.resize", images, [4, 4], crop_to_aspect_ratio=True)
add("image.crop_images", images, top_cropping=1, left_cropping=1, target_height=2, target_width=3)
add("image.pad_images", images, top_padding=1, left_padding=2, target_height=6, target_width=9)
add("image.extract_patches", images, 2, strides=1)
add("image.extract_patches", images, [2, 3], padding="same")
add("image.affine_transform", images, np.array([[1, 0.1, 0.3, -0.1, 0.9, 0.2, 0, 0]], "float32"), grad=False)
for order in (0, 1):
    for mode in "constant nearest wrap mirror reflect".split():
        places = np.array([[0.3, 3.2, -0.6, 1.5], [1.2, 4.4, 2.6, -1.3]], "float32")
        if mode != "mirror":
            add("image.map_coordinates", f(4, 5), places, order, fill_mode=mode)
add("image.scale_and_translate", images, [1, 6, 6, 3], np.array([1.5, 1.2], "float32"), np.array([0.3, -0.2], "float32"), [1, 2], "linear")
add("image.ssim", f(1, 12, 12, 1, low=0), f(1, 12, 12, 1, low=0), max_val=1.0)

golden = {
    "versions": {"keras": keras.__version__, "tensorflow": tf.__version__, "numpy": np.__version__},
    "seed": SEED,
    "cases": cases,
}
path = pathlib.Path(__file__).parents[2] / "packages/layers/golden/keras_ops.json"
lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
head = json.dumps({k: v for k, v in golden.items() if k != "cases"})[:-1]
path.write_text(f'{head}, "cases": [\n{lines}\n]}}\n')
print(len(cases), "cases,", path.stat().st_size, "bytes")
