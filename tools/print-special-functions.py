"""Prints packages/core/src/ops/elementwise/special-tables.ts: Chebyshev coefficients of special functions, fitted to 30 digits.

Run: python tools/print-special-functions.py > packages/core/src/ops/elementwise/special-tables.ts (needs mpmath)
"""

import mpmath as mp

mp.mp.dps = 40
NODES = 72


def fit(f, low, high):
    """Coefficients of f between two numbers, up to where they no longer count in float64."""
    low, high = mp.mpf(low), mp.mpf(high)
    angles = [mp.pi * (k + mp.mpf(1) / 2) / NODES for k in range(NODES)]
    found = [f((high - low) * (mp.cos(a) + 1) / 2 + low) for a in angles]
    c = [2 * sum(v * mp.cos(j * a) for v, a in zip(found, angles)) / NODES for j in range(NODES)]
    c[0] /= 2
    scale = max(abs(v) for v in found)
    n = NODES
    while n > 1 and abs(c[n - 1]) < scale * mp.mpf("4e-18"):
        n -= 1
    return [float(v) for v in c[:n]]


def root(s):
    return mp.sqrt(s)


def hankel(order):
    """P and Q of J = √(2/πx) (P cos χ − (8/x) Q sin χ), over t = (8/x)²."""

    def parts(t):
        x = 8 / mp.sqrt(t)
        chi = x - (2 * order + 1) * mp.pi / 4
        scale = mp.sqrt(mp.pi * x / 2)
        j, y = scale * mp.besselj(order, x), scale * mp.bessely(order, x)
        return j * mp.cos(chi) + y * mp.sin(chi), (y * mp.cos(chi) - j * mp.sin(chi)) * x / 8

    return lambda t: parts(t)[0], lambda t: parts(t)[1]


def auxiliary(x):
    """f and g of C = 1/2 + f sin − g cos and S = 1/2 − f cos − g sin."""
    c, s, a = mp.fresnelc(x) - mp.mpf(1) / 2, mp.fresnels(x) - mp.mpf(1) / 2, mp.pi * x * x / 2
    return c * mp.sin(a) - s * mp.cos(a), -c * mp.cos(a) - s * mp.sin(a)


def li(y):
    return mp.mpf(1) if abs(y - 1) < mp.mpf("1e-25") else mp.re(mp.polylog(2, 1 - y)) / (1 - y)


p0, q0 = hankel(0)
p1, q1 = hankel(1)
LATE = mp.mpf("1e-9")
tables = {
    "i0eNear": (lambda x: mp.exp(-x) * mp.besseli(0, x), 0, 8),
    "i0eFar": (lambda t: mp.sqrt(8 / t) * mp.exp(-8 / t) * mp.besseli(0, 8 / t), LATE, 1),
    "i1eNear": (lambda x: mp.exp(-x) * mp.besseli(1, x) / x, 0, 8),
    "i1eFar": (lambda t: mp.sqrt(8 / t) * mp.exp(-8 / t) * mp.besseli(1, 8 / t), LATE, 1),
    "i0Small": (lambda s: mp.besseli(0, root(s)), 0, 4),
    "i1Small": (lambda s: mp.besseli(1, root(s)) / root(s), 0, 4),
    "j0Near": (lambda s: mp.besselj(0, root(s)), 0, 64),
    "j1Near": (lambda s: mp.besselj(1, root(s)) / root(s), 0, 64),
    "p0": (p0, LATE, 1),
    "q0": (q0, LATE, 1),
    "p1": (p1, LATE, 1),
    "q1": (q1, LATE, 1),
    "y0Near": (lambda s: mp.bessely(0, root(s)) - mp.log(s) / mp.pi * mp.besselj(0, root(s)), 0, 64),
    "y1Near": (
        lambda s: (mp.bessely(1, root(s)) - 2 / mp.pi * (mp.log(s) / 2 * mp.besselj(1, root(s)) - 1 / root(s)))
        / root(s),
        0,
        64,
    ),
    "k0Near": (lambda s: mp.besselk(0, root(s)) + mp.log(root(s) / 2) * mp.besseli(0, root(s)), 0, 4),
    "k0eFar": (lambda t: mp.sqrt(2 / t) * mp.exp(2 / t) * mp.besselk(0, 2 / t), LATE, 1),
    "k1Near": (
        lambda s: root(s) * (mp.besselk(1, root(s)) - mp.log(root(s) / 2) * mp.besseli(1, root(s))),
        0,
        4,
    ),
    "k1eFar": (lambda t: mp.sqrt(2 / t) * mp.exp(2 / t) * mp.besselk(1, 2 / t), LATE, 1),
    "dawsonNear": (lambda s: mp.sqrt(mp.pi) / 2 * mp.exp(-s) * mp.erfi(root(s)) / root(s), 0, 16),
    "dawsonFar": (
        lambda t: mp.sqrt(mp.pi) * 4 / mp.sqrt(t) * mp.exp(-16 / t) * mp.erfi(4 / mp.sqrt(t)),
        mp.mpf("1e-4"),
        1,
    ),
    "eiNear": (lambda x: (mp.ei(x) - mp.log(x) - mp.euler) / x, 0, 6),
    "eiMiddle": (lambda x: x * mp.exp(-x) * mp.ei(x), 6, 24),
    "eiFar": (lambda t: 24 / t * mp.exp(-24 / t) * mp.ei(24 / t), mp.mpf("1e-4"), 1),
    "fresnelSinNear": (lambda u: mp.fresnels(u ** mp.mpf("0.25")) / u ** mp.mpf("0.75"), 0, mp.mpf("2.6") ** 4),
    "fresnelCosNear": (lambda u: mp.fresnelc(u ** mp.mpf("0.25")) / u ** mp.mpf("0.25"), 0, mp.mpf("2.6") ** 4),
    "fresnelF": (lambda t: (lambda x: mp.pi * x * auxiliary(x)[0])(mp.mpf("2.6") / t ** mp.mpf("0.25")), mp.mpf("1e-7"), 1),
    "fresnelG": (lambda t: (lambda x: mp.pi**2 * x**3 * auxiliary(x)[1])(mp.mpf("2.6") / t ** mp.mpf("0.25")), mp.mpf("1e-7"), 1),
    "spence": (li, mp.mpf("0.5"), 2),
}

print("// Chebyshev coefficients of special functions. Printed by tools/print-special-functions.py; do not edit.")
print()
print("/** A function between two numbers. */")
print("export interface Table {\n  readonly low: number;\n  readonly high: number;\n  readonly coefficients: readonly number[];\n}")
for name, (f, low, high) in tables.items():
    c = fit(f, low, high)
    print()
    print("// biome-ignore format: numbers")
    print(f"export const {name}: Table = {{ low: {float(low)!r}, high: {float(high)!r}, coefficients: [")
    print(",\n".join("  " + repr(v) for v in c) + ",")
    print("] };")
