"""JAX's side of the workloads, all of it by `jax.jit`; see serve.py for the protocol."""

import os

from serve import Case, library_kernels, noise, random_integers, serve, shaped_kernels, values


def load(threads, compiled):
    # JAX has as many threads as the process may use processors; there is no other way to tell it.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    elif threads < (os.cpu_count() or 1):
        raise ImportError("JAX cannot be held to fewer threads here")
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp
    import numpy as np

    def tensor(shape, salt=0):
        return jnp.asarray(values(shape, salt))

    def timed(compute, *inputs):
        """Inputs are arguments: what a compiled function closes over is a constant, and its results may be too."""
        function = jax.jit(compute)

        def run():
            return jax.block_until_ready(function(*inputs))

        def mean_square():
            return sum(float(np.mean(np.asarray(y, np.float64) ** 2)) for y in jax.tree.leaves(run()))

        return Case(run, 1, mean_square)

    def gemm(m, k, n):
        return lambda: timed(lambda a, b: a @ b, tensor([m, k]), tensor([k, n], 1))

    def elementwise_chain(n):
        return lambda: timed(lambda x: jnp.tanh(2 * x + 1) * x - jax.nn.relu(x), tensor([n]))

    def layer_norm(x, scale, offset):
        mean = x.mean(-1, keepdims=True)
        variance = jnp.square(x - mean).mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + offset

    def concat(shape, axis):
        return lambda: timed(lambda *parts: jnp.concatenate(parts, axis), *(tensor(shape, salt) for salt in range(4)))

    def moments(shape, axis):
        return lambda: timed(lambda x: (x.mean(axis), x.var(axis)), tensor(shape))

    def cumsum(shape, axis):
        return lambda: timed(lambda x: jnp.cumsum(x, axis), tensor(shape))

    def transposed(shape, perm):
        return lambda: timed(lambda x: jnp.transpose(x, perm), tensor(shape))

    def conv2d():
        layout = ("NHWC", "HWIO", "NHWC")
        return timed(
            lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout),
            tensor([16, 56, 56, 64]),
            tensor([3, 3, 64, 64], 1),
        )

    def depthwise():
        layout = ("NHWC", "HWIO", "NHWC")
        return timed(
            lambda x, w: jax.lax.conv_general_dilated(
                x, w, (1, 1), "SAME", dimension_numbers=layout, feature_group_count=144
            ),
            tensor([16, 56, 56, 144]),
            tensor([3, 3, 1, 144], 1),
        )

    def adam(weights, mean, square, steps, gradient):
        steps = steps + 1
        mean = mean + (gradient - mean) * 0.1
        square = square + (gradient * gradient - square) * 0.001
        rate = 1e-3 * jnp.sqrt(1 - 0.999**steps) / (1 - 0.9**steps)
        return weights - rate * mean / (jnp.sqrt(square) + 1e-7), mean, square, steps

    def adam10m():
        gradient = tensor([10_000_000], 1)
        state = [tensor([10_000_000]), jnp.zeros([10_000_000]), jnp.zeros([10_000_000]), jnp.zeros([])]
        function = jax.jit(adam, donate_argnums=(0, 1, 2, 3))

        def run():
            nonlocal state
            state = jax.block_until_ready(function(*state, gradient))

        return Case(run)

    def library(compute, inputs, check, name, variant):
        inputs = [jnp.asarray(x) for x in inputs]
        # The sizes of these results depend on values.
        function = compute if name.startswith("unique") else jax.jit(compute)

        def run():
            return jax.block_until_ready(function(*inputs))

        return Case(run, 1, lambda: check(run()), variant)

    def svd(a):
        u, s, vh = jnp.linalg.svd(a)
        return s, u, vh

    ops = {
        "sort_rows": jnp.sort,
        "topk100": lambda x: tuple(jax.lax.top_k(x, 100)),
        "gather_rows": lambda x, ids: x[ids],
        "segment_sum": lambda x, ids: jax.ops.segment_sum(x, ids, 100_000),
        "unique_100k": lambda x: tuple(jnp.unique(x, return_inverse=True)),
        "unique_2g": lambda x: tuple(jnp.unique(x, return_inverse=True)),
        "resize_bilinear": lambda x: jax.image.resize(x, (32, 112, 112, 3), "bilinear", antialias=False),
        "einsum_attention": lambda q, k: jnp.einsum("bhqd,bhkd->bhqk", q, k),
        "fft_1m": jnp.fft.fft,
        "fft2d_1000": jnp.fft.fft2,
        "cholesky512": jnp.linalg.cholesky,
        "qr512": lambda a: tuple(jnp.linalg.qr(a)),
        "svd512": svd,
        "solve512": jnp.linalg.solve,
    }

    def embedding_adam():
        ids = jnp.asarray(random_integers(32 * 128, 100_000, 3).reshape(32, 128))

        def update(table, mean, square, steps):
            gradient = jax.grad(lambda t: jnp.sum(t[ids] ** 2))(table)
            return adam(table, mean, square, steps, gradient)

        function = jax.jit(update, donate_argnums=(0, 1, 2, 3))

        def make():
            zeros = [jnp.zeros([100_000, 64]) for _ in range(2)]
            state = [jnp.array(noise([100_000, 64])), *zeros, jnp.zeros([])]

            def step():
                nonlocal state
                state = jax.block_until_ready(function(*state))
                return state[0]

            return step

        def mean_square():
            step = make()
            step()
            moved = (np.asarray(step(), np.float64) - noise([100_000, 64])) * 1000
            return sum(float(np.mean(y**2)) for y in (moved[np.asarray(ids).reshape(-1)[:100]], moved[:100]))

        return Case(make(), 1, mean_square)

    return jax.__version__, {
        "gemm256": gemm(256, 256, 256),
        "gemm512": gemm(512, 512, 512),
        "elementwise_chain_10m_function": elementwise_chain(10_000_000),
        "softmax": lambda: timed(jax.nn.softmax, tensor([1024, 1000])),
        "layer_norm": lambda: timed(layer_norm, tensor([1024, 1024]), tensor([1024], 1), tensor([1024], 2)),
        "transpose": transposed([2000, 2000], [1, 0]),
        "sum10m": lambda: timed(jnp.sum, tensor([10_000_000]) + 0.5),
        "add10m": lambda: timed(jnp.add, tensor([10_000_000]), tensor([10_000_000], 1)),
        "bias_add": lambda: timed(jnp.add, tensor([2000, 1000]), tensor([1000], 1)),
        **shaped_kernels(concat, moments, cumsum, transposed),
        **library_kernels(library, ops),
        "embedding_adam": embedding_adam,
        "exp2m": lambda: timed(jnp.exp, tensor([2_000_000])),
        "matmul_batched": lambda: timed(jnp.matmul, tensor([64, 128, 64]), tensor([64, 64, 128], 1)),
        "conv2d": conv2d,
        "depthwise": depthwise,
        "adam10m": adam10m,
    }


serve(load)
