"""What the Python peers share: the protocol, the timing loop, and the inputs.

A peer is started with `--threads n`, and with `--compiled` if it is to compile what it runs. It answers lines of JSON on stdin with lines of JSON on stdout:

    (at start)                                             {"ready": true, "version": "…"} or {"absent": "why"}
    {"phase": "prepare", "workload": name, "seconds": s}   {"variant": "…", "check": number or null}
    {"phase": "measure", "workload": name, "seconds": s}   {"median": …, "low": …, "high": …, "runs": n, "samples": [seconds…]}
    {"phase": "release", "workload": name}                 {}

or {"unsupported": true} for a workload it has not, {"error": "…"} for one that fails.
"""

import argparse
import json
import os
import sys
import time

# A sample lasts at least this long, so that the clock does not matter.
SAMPLE_SECONDS = 200e-6
MAX_SAMPLES = 500


class Case:
    """One way to do a workload: `run` does it `iterations` times; `check` gives a number that all libraries must agree on."""

    def __init__(self, run, iterations=1, check=None, variant=""):
        self.run, self.iterations, self.check, self.variant = run, iterations, check, variant


def sample(case, seconds):
    """Seconds of one iteration, one number for each sample, for about `seconds`."""
    run, clock = case.run, time.perf_counter

    def timed(count):
        repeat = range(count)
        start = clock()
        for _ in repeat:
            run()
        return clock() - start

    count = 1
    while timed(count) < SAMPLE_SECONDS:
        count *= 2
    samples, end = [], clock() + seconds
    while True:
        samples.append(timed(count) / (count * case.iterations))
        late = clock() - end
        if late > 0 and (len(samples) >= 5 or late > 3 * seconds):
            return samples


def quantile(ordered, p):
    at = p * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def trimmed_mean(samples):
    """Of all but the slowest tenth: what only every few runs cost counts, what disturbed a few does not."""
    kept = sorted(samples)[: -(-9 * len(samples) // 10)]
    return sum(kept) / len(kept)


def summary(samples):
    ordered = sorted(samples)
    n = len(ordered)
    kept = ordered if n <= MAX_SAMPLES else [ordered[i * (n - 1) // (MAX_SAMPLES - 1)] for i in range(MAX_SAMPLES)]
    return {
        "median": quantile(ordered, 0.5),
        "low": quantile(ordered, 0.1),
        "high": quantile(ordered, 0.9),
        "runs": n,
        "samples": kept,
    }


def values(shape, salt=0):
    """The same inputs in every library: a multiplicative hash of the index, in -0.5 … 0.5."""
    import numpy as np

    n = int(np.prod(shape))
    i = np.arange(n, dtype=np.int64) + salt
    return ((i * 16807 % 65521) / 65521 - 0.5).astype(np.float32).reshape(shape)


def model_weights(shapes):
    """Weights of a model, by their shapes: kernels keep the size of what they are given, and what has one axis is around 1."""
    import numpy as np

    def weights(shape, salt):
        v = values(shape, salt).astype(np.float64)
        # Each channel has its own kernel of a depthwise convolution.
        summed = shape[0] * shape[1] if len(shape) == 4 and shape[3] == 1 else np.prod(shape[:-1])
        return (1 + v if len(shape) == 1 else v * (24 / summed) ** 0.5).astype(np.float32)

    return [weights(tuple(shape), salt) for salt, shape in enumerate(shapes)]


def class_labels(n):
    import numpy as np

    return (np.arange(n) * 7 % 10).astype(np.int64)


def whole_numbers(n):
    import numpy as np

    return (np.arange(n) * 7 % 1001).astype(np.int32)


def random_bits(n, salt=0):
    """Random bits of each index, the same in every library: the last steps of MurmurHash3."""
    import numpy as np

    h = np.arange(n, dtype=np.uint32) + np.uint32((salt + 1) * 0x9E3779B1 % 2**32)
    h = (h ^ h >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    h = (h ^ h >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return h ^ h >> np.uint32(16)


def noise(shape, salt=0):
    """Random numbers in -0.5 … 0.5, for work that depends on their order or on their rank: `values` repeat."""
    import numpy as np

    return (random_bits(int(np.prod(shape)), salt) / 2**32 - 0.5).astype(np.float32).reshape(shape)


def random_integers(n, below, salt=0):
    """Random integers from 0 to `below` - 1."""
    return (random_bits(n, salt) / 2**32 * below).astype("int32")


def text_lines(n):
    """Lines of six words, each with a number."""
    words = ["the", "quick", "brown", "fox", "jumps", "over"]
    return [" ".join(f"{word}{i * j % 97}" for j, word in enumerate(words)) for i in range(n)]


def mean_square_of_first(parts):
    """As `meanSquareOfFirst` of src/workloads/kernel.ts: of the first elements, which depend on the order of all."""
    import numpy as np

    total = 0.0
    for part in parts:
        part = np.asarray(part).reshape(-1)[:300]
        halves = (part.real, part.imag) if np.iscomplexobj(part) else (part,)
        total += sum(float(np.mean(half.astype(np.float64) ** 2)) for half in halves)
    return total


def library_kernels(make, ops):
    """
    The workloads of a library of tensors, as cases of `make(compute, inputs, check, name, variant)`.

    `ops` says what a peer computes of the inputs (arrays of NumPy): {workload: function, or [(variant, function)…]}. `check` gives the number to
    compare of its results, in arrays of NumPy.
    """
    import numpy as np

    def square():
        return noise([512, 512])

    def definite():
        a = square()
        return a @ a.T + 10 * np.eye(512, dtype=np.float32)

    def complex_noise(shape):
        return (noise(shape) + 1j * noise(shape, 1)).astype(np.complex64)

    def rows_and_ids():
        return [noise([100_000, 64]), random_integers(100_000, 100_000, 3)]

    def different(values, places):
        return [values[places] * (len(values) / values.max())]

    inputs = {
        "sort_rows": lambda: [noise([1000, 1000])],
        "topk100": lambda: [noise([1000, 1000])],
        "gather_rows": rows_and_ids,
        "segment_sum": rows_and_ids,
        "unique_100k": lambda: [random_integers(1_000_000, 100_000, 3)],
        "unique_2g": lambda: [random_integers(1_000_000, 2_000_000_000, 3)],
        "resize_bilinear": lambda: [noise([32, 224, 224, 3])],
        "einsum_attention": lambda: [noise([8, 8, 128, 64]), noise([8, 8, 128, 64], 1)],
        "fft_1m": lambda: [complex_noise([2**20])],
        "fft2d_1000": lambda: [complex_noise([1000, 1000])],
        "cholesky512": lambda: [definite()],
        "qr512": lambda: [square()],
        "svd512": lambda: [square()],
        "solve512": lambda: [square() + 10 * np.eye(512, dtype=np.float32), noise([512, 512], 1)],
    }
    compared = {
        "topk100": lambda values, places: [values * places],
        "unique_100k": different,
        "unique_2g": different,
        "cholesky512": lambda lower: [lower[-1, 200:]],
        "svd512": lambda s, u, v: [u * s],
    }

    def make_one(name):
        def check(results):
            arrays = [np.asarray(y) for y in (results if isinstance(results, (tuple, list)) else [results])]
            select = compared.get(name)
            return mean_square_of_first(arrays if select is None else select(*arrays))

        ways = ops[name] if isinstance(ops[name], list) else [("", ops[name])]
        cases = []
        for variant, compute in ways:
            made = make(compute, inputs[name](), check, name, variant)
            cases += made if isinstance(made, list) else [made]
        return cases

    return {name: lambda name=name: make_one(name) for name in ops}


def shaped_kernels(concat, moments, cumsum, transposed):
    """The workloads that are one kernel with several shapes, by functions of a shape and an axis (or axes) that make them."""
    return {
        "concat_rows": concat([500, 1000], 0),
        "concat_columns": concat([1000, 500], 1),
        "concat_narrow": concat([25_000, 20], 1),
        "moments_batch": moments([8000, 250], 0),
        "moments_rows": moments([2000, 1000], 1),
        "cumsum_rows": cumsum([1000, 1000], 1),
        "cumsum_columns": cumsum([1000, 1000], 0),
        "transpose_heads": transposed([32, 128, 8, 64], [0, 2, 1, 3]),
        "transpose_channels": transposed([16, 56, 56, 64], [0, 3, 1, 2]),
    }


def serve(load):
    """`load(threads, compiled)` imports the library and returns its version and {workload: () -> Case or [Case…]}."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--compiled", action="store_true")
    options = parser.parse_args()

    # Libraries print to stdout; the protocol has it for itself.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(message):
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    try:
        version, workloads = load(options.threads, options.compiled)
    except ImportError as error:
        answer({"absent": str(error)})
        return
    answer({"ready": True, "version": version})

    prepared = {}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer(handle(request, workloads, prepared))
        except Exception as error:  # the driver decides what a failure means
            answer({"error": f"{type(error).__name__}: {error}"[:500]})


def handle(request, workloads, prepared):
    name = request["workload"]
    if name not in workloads:
        return {"unsupported": True}
    if request["phase"] == "prepare":
        cases = workloads[name]()
        cases = cases if isinstance(cases, list) else [cases]
        # Warms up, and finds the fastest way of this library.
        best, best_cost = None, float("inf")
        for case in cases:
            sample(case, request["seconds"] / 2)
            cost = trimmed_mean(sample(case, request["seconds"] / 2))
            if cost < best_cost:
                best, best_cost = case, cost
        prepared[name] = best
        return {"variant": best.variant, "check": None if best.check is None else float(best.check())}
    if request["phase"] == "measure":
        return summary(sample(prepared[name], request["seconds"]))
    prepared.pop(name, None)
    return {}
