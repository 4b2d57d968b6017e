"""JAX's side of the workloads, all of it by `jax.jit`; see serve.py for the protocol."""

import os

from serve import Case, serve, shaped_kernels, values


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

    def adam10m():
        gradient = tensor([10_000_000], 1)
        state = [tensor([10_000_000]), jnp.zeros([10_000_000]), jnp.zeros([10_000_000]), jnp.zeros([])]

        def update(weights, mean, square, steps, gradient):
            steps = steps + 1
            mean = mean + (gradient - mean) * 0.1
            square = square + (gradient * gradient - square) * 0.001
            rate = 1e-3 * jnp.sqrt(1 - 0.999**steps) / (1 - 0.9**steps)
            return weights - rate * mean / (jnp.sqrt(square) + 1e-7), mean, square, steps

        function = jax.jit(update, donate_argnums=(0, 1, 2, 3))

        def run():
            nonlocal state
            state = jax.block_until_ready(function(*state, gradient))

        return Case(run)

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
        "exp2m": lambda: timed(jnp.exp, tensor([2_000_000])),
        "matmul_batched": lambda: timed(jnp.matmul, tensor([64, 128, 64]), tensor([64, 64, 128], 1)),
        "conv2d": conv2d,
        "adam10m": adam10m,
    }


serve(load)
