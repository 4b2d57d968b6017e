"""Makes packages/core/golden/linear-operators.json with TensorFlow: what linear operators of all classes compute, and gradients.

Run: python tools/golden/linear_operators.py
"""

import json
import pathlib

from golden_cases import Cases

import numpy as np
import tensorflow as tf

SEED = 53
OUT = pathlib.Path(__file__).parents[2] / "packages/core/golden"
cases = Cases(SEED)
normal, la = cases.normal, tf.linalg


def all_of(operator, x):
    square = operator.shape[-1] == operator.shape[-2]
    results = [operator.to_dense(), operator.matmul(x), operator.diag_part(), operator.trace()]
    if square:
        results += [operator.matmul(x, adjoint=True)]
    if square and operator.is_non_singular is not False:
        results += [operator.solve(x), operator.solve(x, adjoint=True), operator.determinant(), operator.log_abs_determinant()]
        # The adjoint of a circulant operator has complex64 in TensorFlow, whatever the operator has.
        circulant = "Circulant" in type(operator).__name__
        results += [operator.inverse().to_dense(), la.adjoint(operator.to_dense()) if circulant else operator.adjoint().to_dense()]
        results += [operator.cond()]
    # TensorFlow says that the logarithm has the dtype of the operator; that of two classes has not.
    return [tf.cast(r, operator.dtype) if i == 8 else r for i, r in enumerate(results)]


def spectral(operator):
    """What eigenvalues decide."""
    return [*([operator.eigvals()] if operator.is_self_adjoint else []), operator.cond()]


def case(name, make, x, *tensors):
    cases.add(name, lambda x, *tensors: all_of(make(*tensors), x), x, *tensors, gradient=x.dtype == np.float64 and "Circulant" not in name)


def far(x):
    """Away from 0."""
    return x + np.where(np.real(x) < 0, -1, 1).astype(x.dtype)


def good(shape, dtype):
    return normal(shape, dtype) + (3 * np.eye(shape[-1])).astype(dtype)


for dtype in ["float64", "complex128"]:
    for batch in [(), (2,)]:
        x3, x4 = normal((*batch, 3, 2), dtype), normal((*batch, 4, 2), dtype)
        case("FullMatrix", la.LinearOperatorFullMatrix, x3, good((*batch, 3, 3), dtype))
        case("LowerTriangular", la.LinearOperatorLowerTriangular, x3, good((*batch, 3, 3), dtype))
        case("Diag", la.LinearOperatorDiag, x3, far(normal((*batch, 3), dtype)))
        case("ScaledIdentity", lambda m: la.LinearOperatorScaledIdentity(3, m), x3, far(normal(batch, dtype)))
        case("Householder", la.LinearOperatorHouseholder, x3, normal((*batch, 3), dtype))
        case("Toeplitz", lambda c, r: la.LinearOperatorToeplitz(c, r), x3, far(normal((*batch, 3), dtype)) + np.array([4, 0, 0], dtype), normal((*batch, 3), dtype))
        case("Tridiag", la.LinearOperatorTridiag, x4, normal((*batch, 3, 4), dtype) + np.array([[0], [3], [0]], dtype))
        f = la.LinearOperatorFullMatrix
        case("Composition", lambda a, b: la.LinearOperatorComposition([f(a), f(b)]), x3, good((*batch, 3, 3), dtype), good((3, 3), dtype))
        case("Kronecker", lambda a, b: la.LinearOperatorKronecker([f(a), f(b)]), normal((*batch, 6, 2), dtype), good((*batch, 2, 2), dtype), good((3, 3), dtype))
        case("BlockDiag", lambda a, b: la.LinearOperatorBlockDiag([f(a), f(b)]), normal((*batch, 5, 2), dtype), good((*batch, 2, 2), dtype), good((3, 3), dtype))
        case("BlockLowerTriangular", lambda a, b, c: la.LinearOperatorBlockLowerTriangular([[f(a)], [f(b), f(c)]]), normal((*batch, 5, 2), dtype), good((*batch, 2, 2), dtype), normal((*batch, 3, 2), dtype), good((*batch, 3, 3), dtype))
        case("LowRankUpdate", lambda a, u, d, v: la.LinearOperatorLowRankUpdate(f(a), u, d, v), x3, good((*batch, 3, 3), dtype), normal((*batch, 3, 1), dtype), normal((*batch, 1), dtype), normal((*batch, 3, 1), dtype))
        case("Inversion", lambda a: la.LinearOperatorInversion(f(a)), x3, good((*batch, 3, 3), dtype))
        case("Adjoint", lambda a: la.LinearOperatorAdjoint(f(a)), x3, good((*batch, 3, 3), dtype))
for batch in [(), (2,)]:
    x3, x4, x8 = normal((*batch, 3, 2), "complex128"), normal((*batch, 4, 2), "complex128"), normal((*batch, 8, 2), "complex128")
    for name, shape, x in [("Circulant", (3,), x3), ("Circulant2D", (2, 2), x4), ("Circulant3D", (2, 2, 2), x8)]:
        case(name, lambda s: getattr(la, "LinearOperator" + name)(s, input_output_dtype=tf.complex128), x, far(normal((*batch, *shape), "complex128")))
    case("Permutation", lambda p: la.LinearOperatorPermutation(p, dtype=tf.float64), normal((*batch, 3, 2)), np.broadcast_to(np.array([2, 0, 1], np.int32), (*batch, 3)))
case("Identity", lambda: la.LinearOperatorIdentity(3, dtype=tf.float64), normal((3, 2)))
case("Zeros", lambda: la.LinearOperatorZeros(3, dtype=tf.float64), normal((3, 2)))

hermitian = dict(is_self_adjoint=True)
for dtype in ["float64", "complex128"]:
    def symmetric(n):
        m = good((n, n), dtype)
        return m + m.conj().T

    def spectral_case(name, make, *tensors):
        cases.add(name, lambda *tensors: spectral(make(*tensors)), *tensors, gradient=dtype == "float64")

    own = lambda m: f(m, **hermitian)
    spectral_case("SelfAdjoint", own, symmetric(3))
    spectral_case("SelfAdjointInversion", lambda m: la.LinearOperatorInversion(own(m)), symmetric(3))
    spectral_case("SelfAdjointBlockDiag", lambda a, b: la.LinearOperatorBlockDiag([own(a), own(b)]), symmetric(2), symmetric(3))
    spectral_case("SelfAdjointKronecker", lambda a, b: la.LinearOperatorKronecker([own(a), own(b)]), symmetric(2), symmetric(3))
    spectral_case("SpectralDiag", la.LinearOperatorDiag, far(normal((3,), dtype)))
    spectral_case("SpectralScaledIdentity", lambda m: la.LinearOperatorScaledIdentity(3, m), far(normal((2,), dtype)))
    spectral_case("SpectralHouseholder", la.LinearOperatorHouseholder, normal((2, 3), dtype))
    spectral_case("SpectralCirculant2D", la.LinearOperatorCirculant2D, far(normal((2, 3, 2), dtype)))
# Circulant operators compute in the dtype of the spectrum, and give another. TensorFlow forgets the cast in solve.
for of in ["float32", "float64", "complex64", "complex128"]:
    for to in ["float32", "float64", "complex64", "complex128", None]:
        # The spectrum of a real kernel.
        kernel = np.fft.fft(np.array([5.0, 1, 2])) if "complex" in of else np.array([3.0, 2, 2])
        given = {} if to is None else {"input_output_dtype": to}
        cases.add(f"Circulant as {to}", lambda s, x: [(o := la.LinearOperatorCirculant(s, **given)).matmul(x), o.to_dense(), o.determinant(), o.log_abs_determinant(), o.trace(), o.convolution_kernel()], kernel.astype(of), normal((3, 2), to or "complex64"), gradient=False)

text = json.dumps(cases.golden(seed=SEED), separators=(",", ":"))
(OUT / "linear-operators.json").write_text(text + "\n")
print(len(cases.list), "cases,", len(text), "bytes;", [c["fn"] + ": " + c["error"] for c in cases.list if "error" in c])
