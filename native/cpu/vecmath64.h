// float32 functions computed in vectors of doubles, where a few more bits are all that the hard cases need: pow and the
// inverse, hyperbolic and shifted functions. The double kernels below are accurate to about 2^-40.
#pragma once
#include "vecmath.h"
#include "widen.h"

EAGRE_BEGIN
namespace {

typedef uint64_t vu64 __attribute__((vector_size(kVectorBytes)));

EAGRE_INLINE vf64 muladd(vf64 a, vf64 b, vf64 c) {
#if defined(__AVX512F__)
  return (vf64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
  return (vf64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__aarch64__)
  return (vf64)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
  return a * b + c;
#endif
}
EAGRE_INLINE vf64 root(vf64 x) {
#if defined(__AVX512F__)
  return (vf64)_mm512_maskz_sqrt_pd(0xff, (__m512d)x);
#elif defined(__AVX2__)
  return (vf64)_mm256_sqrt_pd((__m256d)x);
#elif defined(__SSE4_2__)
  return (vf64)_mm_sqrt_pd((__m128d)x);
#else
  for (int i = 0; i < kF64; i++) x[i] = std::sqrt(x[i]);
  return x;
#endif
}
EAGRE_INLINE vf64 wide(double x) { return vf64{} + x; }
EAGRE_INLINE vf64 magnitude(vf64 x) { return (vf64)((vu64)x & 0x7fffffffffffffffu); }
EAGRE_INLINE vf64 with_sign(vf64 x, vf64 sign) { return (vf64)((vu64)x | ((vu64)sign & 0x8000000000000000u)); }

// A polynomial by Estrin's scheme, in pairs: shorter chains than Horner's, which would leave the processor waiting here.
template <int N> EAGRE_INLINE vf64 pairs(const vf64* c, vf64 x) {
  if constexpr (N == 1) {
    return c[0];
  } else {
    vf64 next[(N + 1) / 2];
#pragma GCC unroll 16
    for (int i = 0; i < N / 2; i++) next[i] = muladd(c[2 * i + 1], x, c[2 * i]);
    if (N % 2) next[N / 2] = c[N - 1];
    return pairs<(N + 1) / 2>(next, x * x);
  }
}
template <int N> EAGRE_INLINE vf64 polynomial(const double (&c)[N], vf64 x) {
  vf64 terms[N];
#pragma GCC unroll 16
  for (int i = 0; i < N; i++) terms[i] = wide(c[i]);
  return pairs<N>(terms, x);
}

constexpr double kLn2High = 0.6931471803691238, kLn2Low = 1.9082149292705877e-10;

// exp(x), beyond ±700 that of ±700.
EAGRE_INLINE vf64 exp64(vf64 x) {
  static const double q[] = {4.99999999996512789e-01, 1.66666666672889874e-01, 4.16666669708850024e-02, 8.33333308802353817e-03,
                             1.38888096298625725e-03, 1.98415443977866831e-04, 2.48815801598380761e-05, 2.74924277090168162e-06};
  x = x < -700.0 ? wide(-700) : x;
  x = x > 700.0 ? wide(700) : x;
  constexpr double kRound = 6755399441055744.0;  // 1.5 · 2^52
  vf64 t = muladd(x, wide(1.4426950408889634), wide(kRound));
  vf64 n = t - kRound;
  vf64 r = muladd(n, wide(-kLn2Low), muladd(n, wide(-kLn2High), x));
  vf64 p = muladd(r * r, polynomial(q, r), r) + 1.0;
  return p * (vf64)(((vu64)t << 52) + 0x3ff0000000000000u);
}

// log(x) for x > 0, normal and finite: log(m) = 2 atanh((m - 1) / (m + 1)), m in [sqrt(1/2), sqrt(2)).
EAGRE_INLINE vf64 log64(vf64 x) {
  static const double q[] = {3.33333333379775276e-01, 1.99999977805894014e-01, 1.42860581916193996e-01, 1.10879280994684498e-01,
                             9.79467334232248382e-02};
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcdu, kFraction = 0x000fffffffffffffu, kBias = uint64_t{1023} << 52;
  vu64 u = (vu64)x - kRootHalf + kBias;
  // The biased exponent as a number, by the trick of 2^52.
  vf64 e = (vf64)((u >> 52) | 0x4330000000000000u) - (4503599627370496.0 + 1023.0);
  vf64 m = (vf64)((u & kFraction) + kRootHalf);
  vf64 s = (m - 1.0) / (m + 1.0), z = s * s;
  s = s + s;
  vf64 r = muladd(s * z, polynomial(q, z), s);
  return muladd(e, wide(kLn2High), muladd(e, wide(kLn2Low), r));
}

// log(1 + u) for u > -1, finite; 1 + u loses what matters only for small u.
EAGRE_INLINE vf64 log1p64(vf64 u) {
  vf64 small = u * (1.0 - u * (0.5 - u * (1.0 / 3)));
  return magnitude(u) < 0x1p-14 ? small : log64(u + 1.0);
}

// atan(x) for x >= 0 (also inf): by 1 / x beyond 1, then by (x - 1) / (x + 1) beyond tan(π/8).
EAGRE_INLINE vf64 atan64(vf64 x) {
  static const double q[] = {-3.33333333316586322e-01, 1.99999996798047919e-01,  -1.42856932991241498e-01,
                             1.11104428031995855e-01,  -9.07904479671144821e-02, 7.56788100995948038e-02,
                             -5.88863412499319866e-02, 3.08585925294937863e-02};
  constexpr double kQuarter = 0.78539816339744831, kHalf = 1.5707963267948966;
  vf64 y = x > 1.0 ? 1.0 / x : x;
  vf64 w = y > 0.41421356237309503 ? (y - 1.0) / (y + 1.0) : y;
  vf64 z = w * w;
  vf64 r = muladd(w * z, polynomial(q, z), w);
  r = y > 0.41421356237309503 ? r + kQuarter : r;
  return x > 1.0 ? kHalf - r : r;
}

template <class F> EAGRE_INLINE vf32 in_double(vf32 x, F f) {
  vf64 a, b;
  widen(x, a, b);
  return narrow(f(a), f(b));
}

constexpr double kInf64 = __builtin_inf(), kNaN64 = __builtin_nan("");

EAGRE_INLINE vf32 pow(vf32 x, vf32 y) {
  vf32 a = magnitude(x), size = magnitude(y);
  vf64 base[2], exponent[2];
  widen(a, base[0], base[1]);
  widen(y, exponent[0], exponent[1]);
  for (int k = 0; k < 2; k++) {
    vf64 l = log64(base[k]);
    l = base[k] == 0.0 ? wide(-kInf64) : l;
    l = base[k] < kInf64 ? l : base[k];
    base[k] = exp64(exponent[k] * l);
  }
  vf32 r = narrow(base[0], base[1]);
  // Adding 2^23 rounds to integers.
  vi32 whole = (size >= 8388608.0f) | ((size + 8388608.0f) - 8388608.0f == size);
  vf32 half = size * 0.5f;
  vi32 even = (size >= 16777216.0f) | ((half + 8388608.0f) - 8388608.0f == half);
  r = (x < 0.0f) & (a < __builtin_inff()) & ~whole ? splat(__builtin_nanf("")) : r;
  r = from_bits(bits(r) ^ (bits(x) & (whole & ~even) & INT32_MIN));
  return (y == 0.0f) | (x == 1.0f) | ((x == -1.0f) & (size == __builtin_inff())) ? splat(1) : r;
}

EAGRE_INLINE vf32 expm1(vf32 x) {
  return in_double(x, [](vf64 v) __attribute__((always_inline)) {
    vf64 small = v * (1.0 + v * (0.5 + v * (1.0 / 6)));
    return magnitude(v) < 0x1p-9 ? small : exp64(v) - 1.0;
  });
}
EAGRE_INLINE vf32 log1p(vf32 x) {
  return in_double(x, [](vf64 v) __attribute__((always_inline)) {
    vf64 r = log1p64(v);
    r = v < kInf64 ? r : v;
    r = v == -1.0 ? wide(-kInf64) : r;
    return v < -1.0 ? wide(kNaN64) : r;
  });
}
EAGRE_INLINE vf32 softplus(vf32 x) {
  return in_double(x, [](vf64 v) __attribute__((always_inline)) {
    vf64 r = log1p64(exp64((vf64)((vu64)v | 0x8000000000000000u)));
    r = v > 0.0 ? v + r : r;
    return v == v ? r : v;
  });
}
EAGRE_INLINE vf32 sinh(vf32 x) {
  return in_double(x, [](vf64 v) __attribute__((always_inline)) {
    vf64 a = magnitude(v), z = a * a, e = exp64(a);
    vf64 small = a * (1.0 + z * (1.0 / 6 + z * (1.0 / 120)));
    return with_sign(a < 0x1p-5 ? small : 0.5 * (e - 1.0 / e), v);
  });
}
EAGRE_INLINE vf32 cosh(vf32 x) {
  return in_double(x, [](vf64 v) __attribute__((always_inline)) {
    vf64 e = exp64(magnitude(v));
    return 0.5 * (e + 1.0 / e);
  });
}
EAGRE_INLINE vf32 asinh(vf32 x) {
  return in_double(x, [](vf64 v) __attribute__((always_inline)) {
    vf64 a = magnitude(v), z = a * a;
    vf64 r = log1p64(a + z / (1.0 + root(z + 1.0)));
    return with_sign(a < kInf64 ? r : a, v);
  });
}
EAGRE_INLINE vf32 acosh(vf32 x) {
  return in_double(x, [](vf64 v) __attribute__((always_inline)) {
    vf64 t = v - 1.0;
    vf64 r = log1p64(t + root(t * (t + 2.0)));
    r = v < kInf64 ? r : v;
    return v < 1.0 ? wide(kNaN64) : r;
  });
}
EAGRE_INLINE vf32 atanh(vf32 x) {
  return in_double(x, [](vf64 v) __attribute__((always_inline)) {
    vf64 a = magnitude(v);
    vf64 r = 0.5 * log1p64((a + a) / (1.0 - a));
    r = a < 1.0 ? r : wide(kNaN64);
    r = a == 1.0 ? wide(kInf64) : r;
    return with_sign(v == v ? r : v, v);
  });
}
EAGRE_INLINE vf32 atan(vf32 x) {
  return in_double(x, [](vf64 v) __attribute__((always_inline)) { return with_sign(atan64(magnitude(v)), v); });
}
EAGRE_INLINE vf32 asin(vf32 x) {
  return in_double(x, [](vf64 v) __attribute__((always_inline)) {
    vf64 a = magnitude(v);
    return with_sign(atan64(a / root((1.0 - a) * (1.0 + a))), v);
  });
}
EAGRE_INLINE vf32 acos(vf32 x) {
  return in_double(x, [](vf64 v) __attribute__((always_inline)) {
    vf64 r = atan64(root((1.0 - v) / (1.0 + v)));
    return r + r;
  });
}
// exp(-a²) P((a - c) / (a + c)) / (1 + 2a), for a = |x|; a² is exact here.
EAGRE_INLINE vf32 erfc(vf32 x) {
  return in_double(x, [](vf64 v) __attribute__((always_inline)) {
    static const double q[] = {1.23751263084430496e+00,  -1.40240598517792525e-01, 3.58541416530904974e-03,
                               8.22767333597061168e-02,  -1.08803888679051386e-01, 9.23044468570492216e-02,
                               -5.86938365525359815e-02, 2.83609025994727010e-02,  -9.74493027020711597e-03,
                               1.76270292351398176e-03,  2.93688426857447729e-04,  -3.05767132428144271e-04,
                               4.11659077986019047e-05,  3.18237588596558424e-05};
    vf64 a = magnitude(v);
    a = a > 10.6 ? wide(10.6) : a;
    vf64 r = exp64(-a * a) * polynomial(q, (a - 3.75) / (a + 3.75)) / (1.0 + 2.0 * a);
    r = v < 0.0 ? 2.0 - r : r;
    return v == v ? r : v;
  });
}
EAGRE_INLINE vf32 tan(vf32 x) {
  constexpr float kLargest = 100000.0f;
  if (__builtin_expect(any(~(magnitude(x) <= kLargest)), 0)) return by_lanes(x, [](double v) { return std::tan(v); });
  return in_double(x, [](vf64 v) __attribute__((always_inline)) {
    static const double s[] = {-1.66666666666303087e-01, 8.33333332506988600e-03, -1.98412637241899382e-04,
                               2.75553386918577345e-06, -2.47603834948267061e-08};
    static const double c[] = {4.16666666665965815e-02, -1.38888888776149606e-03, 2.48015807080559166e-05,
                               -2.75555231292203258e-07, 2.06451122132996745e-09};
    constexpr double kRound = 6755399441055744.0;
    vf64 a = magnitude(v);
    vf64 t = muladd(a, wide(0.63661977236758134), wide(kRound)), n = t - kRound;
    vf64 r = muladd(n, wide(-6.077100506303966e-11), muladd(n, wide(-1.5707963267341256), a));
    r = muladd(n, wide(-2.0222662487959506e-21), r);
    vf64 z = r * r;
    vf64 sine = muladd(r * z, polynomial(s, z), r), cosine = muladd(z * z, polynomial(c, z), 1.0 - 0.5 * z);
    vf64 y = ((vu64)t & 1) != 0 ? -cosine / sine : sine / cosine;
    return (vf64)((vu64)y ^ ((vu64)v & 0x8000000000000000u));
  });
}

}  // namespace
EAGRE_END
