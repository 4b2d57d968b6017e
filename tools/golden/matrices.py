"""Makes packages/core/golden/matrices.json with TensorFlow: factors, solutions and functions of matrices, their results and gradients.

Signs of vectors are not unique, so of eigenvectors and singular vectors only what does not depend on them is kept.

Run: python tools/golden/matrices.py
"""

import json
import pathlib

from golden_cases import Cases

import numpy as np
import tensorflow as tf

SEED = 52
OUT = pathlib.Path(__file__).parents[2] / "packages/core/golden"
cases = Cases(SEED)
normal, add, la = cases.normal, cases.add, tf.linalg
DTYPES = ["float32", "float64", "complex64", "complex128"]
SHAPES = [(1, 1), (3, 3), (2, 2, 2), (5, 5)]


def good(shape, dtype):
    """Matrices far from singular."""
    return normal(shape, dtype) + (3 * np.eye(shape[-1])).astype(dtype)


def positive(shape, dtype):
    x = normal(shape, dtype)
    return np.round(x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(shape[-1]), 3).astype(dtype)


def transposed(shape, k):
    return (*shape[:-2], shape[-1], k)


# What does not depend on the signs of vectors.
def eigh_product(x):
    e, v = la.eigh(x)
    scale = tf.cast(tf.range(1, tf.shape(x)[-1] + 1), x.dtype)
    return e, tf.matmul(v * scale, v, adjoint_b=True)


def svd_product(x, full_matrices=False):
    s, u, v = la.svd(x, full_matrices=full_matrices)
    k = s.shape[-1]
    scale = tf.cast(tf.range(1, k + 1), x.dtype)
    return s, tf.matmul(u[..., :k] * scale, v[..., :k], adjoint_b=True)


for dtype in DTYPES:
    complex_ = dtype.startswith("complex")
    for shape in SHAPES:
        x = positive(shape, dtype)
        add("cholesky", la.cholesky, x)
        add("choleskySolve", lambda c, b: la.cholesky_solve(c, b), np.linalg.cholesky(x).astype(dtype), normal(transposed(shape, 2), dtype))
        add("logdet", la.logdet, x)
        add("eighProduct", eigh_product, x)
        add("eigvalsh", la.eigvalsh, x)
        # TensorFlow's gradients of complex roots and determinants lack conjugates.
        add("sqrtm", la.sqrtm, x, gradient=not complex_)
        y, b = good(shape, dtype), normal(transposed(shape, 2), dtype)
        for adjoint in [False, True]:
            add("solve", la.solve, y, b, adjoint=adjoint)
            add("inv", la.inv, y, adjoint=adjoint)
            for lower in [True, False]:
                add("triangularSolve", la.triangular_solve, y, b, lower=lower, adjoint=adjoint)
        add("det", la.det, y, gradient=not complex_)
        add("slogdet", la.slogdet, y)
        add("lu", la.lu, y, gradient=False)
        lu, p = la.lu(y)
        add("luSolve", la.lu_solve, lu.numpy(), p.numpy(), b)
        add("luReconstruct", la.lu_reconstruct, lu.numpy(), p.numpy())
        add("luMatrixInverse", la.lu_matrix_inverse, lu.numpy(), p.numpy())
        add("expm", la.expm, y)
        add("adjoint", la.adjoint, y)
        if complex_:
            add("logm", la.logm, x, gradient=False)
    for scale in [0.01, 1, 30]:
        add("expm", la.expm, normal((3, 3), dtype) * np.array(scale, dtype))
    for shape in [(3, 3), (4, 2), (2, 4), (2, 3, 2), (1, 1), (2, 1, 3)]:
        x = normal(shape, dtype)
        add("qr", la.qr, x)
        add("qr", la.qr, x, full_matrices=True, gradient=shape[-2] <= shape[-1])
        add("svdProduct", svd_product, x)
        if abs(shape[-1] - shape[-2]) <= 1:
            add("svdProduct", svd_product, x, full_matrices=True)
        if not complex_:
            add("pinv", la.pinv, x)
            add("matrixRank", la.matrix_rank, x)
        b = normal((*shape[:-1], 2), dtype)
        if not complex_ or shape[-2] >= shape[-1]:
            add("lstsq", la.lstsq, x, b)
            if not complex_:
                add("lstsq", la.lstsq, x, b, l2_regularizer=0.5)
        if not complex_:
            add("lstsq", la.lstsq, x, b, fast=False, gradient=False)
    for n, k in [(1, 1), (2, 2), (5, 3)]:
        d, b = normal((3, n), dtype), normal((n, k), dtype)
        add("tridiagonalSolve", la.tridiagonal_solve, d, b, gradient=not complex_)
        add("tridiagonalSolve", la.tridiagonal_solve, d + np.array([[0], [3], [0]], dtype), b, partial_pivoting=False, gradient=not complex_)
        add("tridiagonalMatmul", la.tridiagonal_matmul, d, b, gradient=not complex_)
    add("tridiagonalSolve", la.tridiagonal_solve, normal((2, 3, 4), dtype), normal((2, 4), dtype), gradient=not complex_)
    add("tridiagonalSolve", la.tridiagonal_solve, normal((4, 4), dtype), normal((2, 4), dtype), diagonals_format="matrix", transpose_rhs=True, conjugate_rhs=True, gradient=not complex_)
    for lower in [True, False]:
        for adjoint in [False, True]:
            for shape in [(2, 4), (3, 3), (2, 2, 3), (1, 2)]:
                bands = normal(shape, dtype)
                bands[..., 0 if lower else -1, :] += 3
                add("bandedTriangularSolve", la.banded_triangular_solve, bands, normal((*shape[:-2], shape[-1], 2), dtype), lower=lower, adjoint=adjoint, gradient=False)
for dtype in ["float32", "float64"]:
    alpha, beta = normal((6,), dtype), normal((5,), dtype)
    add("eighTridiagonal", la.eigh_tridiagonal, alpha, beta, gradient=False)
    add("eighTridiagonal", la.eigh_tridiagonal, alpha, beta, select="i", select_range=[1, 3], gradient=False)
    add("eighTridiagonal", la.eigh_tridiagonal, alpha, beta, select="v", select_range=[-1, 1], gradient=False)
add("eighTridiagonal", la.eigh_tridiagonal, normal((4,), "complex128"), normal((3,), "complex128"), gradient=False)
for shape in [(3,), (2, 3), (2, 2, 3)]:
    add("cross", la.cross, normal(shape), normal(shape))
    add("tensorDiag", la.tensor_diag, normal(shape))
    add("tensorDiagPart", la.tensor_diag_part, normal((*shape, *shape)))
for order, axis in [("euclidean", None), (1, 0), (2, [0, 1]), (np.inf, -1)]:
    more = {} if axis is None else {"axis": axis}
    add("normalize", lambda x, **o: la.normalize(x, **{**o, "ord": order}), normal((3, 4)), ord="Infinity" if order == np.inf else order, **more)
    add("normalize", lambda x, **o: la.normalize(x, **{**o, "ord": order}), normal((2, 3), "float32"), ord="Infinity" if order == np.inf else order, **more)

# Nothing, and matrices that are singular.
for shape in [(0, 0), (2, 0, 0), (0, 2, 2)]:
    for name, fn in [("cholesky", la.cholesky), ("inv", la.inv), ("det", la.det), ("slogdet", la.slogdet), ("expm", la.expm), ("eigvalsh", la.eigvalsh), ("sqrtm", la.sqrtm)]:
        add(name, fn, np.zeros(shape), gradient=False)
    add("solve", la.solve, np.zeros(shape), np.zeros(transposed(shape, 3)), gradient=False)
for shape in [(0, 3), (3, 0), (2, 0, 3)]:
    add("qr", la.qr, np.zeros(shape), gradient=False)
singular = np.array([[1.0, 2.0], [2.0, 4.0]])
for name, fn in [("cholesky", la.cholesky), ("inv", la.inv), ("det", la.det), ("slogdet", la.slogdet), ("lu", la.lu), ("matrixRank", la.matrix_rank), ("pinv", la.pinv), ("expm", la.expm), ("logdet", la.logdet)]:
    add(name, fn, singular, gradient=False)
    add(name, fn, np.zeros((2, 2)), gradient=False)
    add(name, fn, -np.eye(2), gradient=False)
    add(name, fn, np.stack([np.eye(2), singular]), gradient=False)
add("solve", la.solve, singular, np.ones((2, 1)), gradient=False)
add("triangularSolve", la.triangular_solve, np.array([[1.0, 2.0], [2.0, 0.0]]), np.ones((2, 1)), gradient=False)
add("tridiagonalSolve", la.tridiagonal_solve, np.zeros((3, 2)), np.ones((2, 1)), gradient=False)
add("cholesky", la.cholesky, np.ones((2, 3)), gradient=False)
add("solve", la.solve, np.eye(2), np.ones((3, 1)), gradient=False)
add("cross", la.cross, np.ones((2,)), np.ones((2,)), gradient=False)
add("tensorDiagPart", la.tensor_diag_part, np.ones((2, 3)), gradient=False)
add("logm", la.logm, np.eye(2), gradient=False)

text = json.dumps(cases.golden(seed=SEED), separators=(",", ":"))
(OUT / "matrices.json").write_text(text + "\n")
print(len(cases.list), "cases,", len(text), "bytes;", [c["fn"] + ": " + c["error"] for c in cases.list if "error" in c])
