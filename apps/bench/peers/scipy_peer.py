"""The side of NumPy and SciPy, of transforms and factors only; see serve.py for the protocol."""

from serve import Case, library_kernels, serve


def load(threads, compiled):
    import numpy as np
    import scipy
    import scipy.fft
    import scipy.linalg

    def library(compute, inputs, check, name, variant):
        return Case(lambda: compute(*inputs), 1, lambda: check(compute(*inputs)), variant)

    def numpy_svd(a):
        u, s, vh = np.linalg.svd(a)
        return s, u, vh

    def scipy_svd(a):
        u, s, vh = scipy.linalg.svd(a, check_finite=False)
        return s, u, vh

    # The threads of the factors are those of the environment.
    return scipy.__version__, library_kernels(
        library,
        {
            "fft_1m": lambda z: scipy.fft.fft(z, workers=threads),
            "fft2d_1000": lambda z: scipy.fft.fft2(z, workers=threads),
            "cholesky512": [
                ("numpy", np.linalg.cholesky),
                ("scipy", lambda a: scipy.linalg.cholesky(a, lower=True, check_finite=False)),
            ],
            "qr512": [
                ("numpy", lambda a: tuple(np.linalg.qr(a))),
                ("scipy", lambda a: scipy.linalg.qr(a, mode="economic", check_finite=False)),
            ],
            "svd512": [("numpy", numpy_svd), ("scipy", scipy_svd)],
            "solve512": [
                ("numpy", np.linalg.solve),
                ("scipy", lambda a, b: scipy.linalg.solve(a, b, check_finite=False)),
            ],
        },
    )


serve(load)
