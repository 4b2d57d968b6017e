// Functions of float64 in vectors, and more of float32 in vectors of doubles: those that need all of their digits.
#pragma once
#include "random_math.h"
#include "special.h"
#include "vecmath64.h"

EAGRE_BEGIN
namespace {

EAGRE_INLINE vf64 atan2_64(vf64 y, vf64 x) {
  const vf64 a = magnitude(y), b = magnitude(x);
  vf64 q = a / b;
  q = a == b ? wide(1) : q;
  q = a == 0.0 ? vf64{} : q;
  vf64 r = atan64(q);
  r = (vi64)x < 0 ? kPi - r : r;
  return with_sign((x == x) & (y == y) ? r : wide(kNaN64), y);
}
// ---- float64, within about an ULP

constexpr double kRounder64 = 0x1.8p52;
// 2^k for an integer k in [-1022, 1023].
EAGRE_INLINE vf64 power_of_two(vf64 k) { return (vf64)(((vu64)(k + kRounder64) << 52) + 0x3ff0000000000000u); }

// exp(x) = 2^n exp(r), |r| <= ln(2) / 2, by Taylor's series.
EAGRE_INLINE vf64 exp_full(vf64 x) {
  x = x < -746.0 ? wide(-746) : x;
  x = x > 710.0 ? wide(710) : x;
  const vf64 n = (x * 1.4426950408889634 + kRounder64) - kRounder64;
  const vf64 r = (x - n * 0x1.62e42fep-1) - n * 0x1.f473de6af278fp-30;
  vf64 p = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = 1.0 + (r + r * r * p);
  // In two steps, as results may be subnormal.
  const vf64 half = (n * 0.5 + kRounder64) - kRounder64;
  return p * power_of_two(half) * power_of_two(n - half);
}

EAGRE_INLINE vf64 log_full(vf64 x) {
  const vi64 tiny = x < 0x1p-1022;
  vf64 r = natural_log(tiny ? x * 0x1p54 : x);
  r = tiny ? r - 37.429947750237048 : r;
  r = x < kInf64 ? r : x;
  r = x == 0.0 ? wide(-kInf64) : r;
  return x < 0.0 ? wide(kNaN64) : r;
}

EAGRE_INLINE vf64 sigmoid_full(vf64 x) {
  const vf64 e = exp_full((vf64)((vu64)x | 0x8000000000000000u));
  return (x < 0.0 ? e : wide(1)) / (e + 1.0);
}

// cos and sin for |x| <= kLargestAngle64: x less quarters of a turn, in parts whose products are exact, and what the difference lost.
constexpr double kLargestAngle64 = 100000;
EAGRE_INLINE void circle_full(vf64 x, vf64& cosine, vf64& sine) {
  const vf64 n = (x * 0.63661977236758134 + kRounder64) - kRounder64;
  const vf64 head = x - n * 1.5707963267341256, second = n * 6.077100506303966e-11;
  const vf64 rest = head - second;
  const vf64 r = rest + (((head - rest) - second) - n * 2.0222662487959506e-21);
  const vf64 turns = ((n * 0.25 - 0.375) + kRounder64) - kRounder64;  // rounded down
  in_quarter(n - turns * 4.0, r, cosine, sine);
}

template <class F> inline vf64 by_lanes64(vf64 x, F f) {
  for (int i = 0; i < kF64; i++) x[i] = f(x[i]);
  return x;
}
EAGRE_INLINE bool any64(vi64 mask) {
  int64_t all = 0;
  for (int i = 0; i < kF64; i++) all |= mask[i];
  return all != 0;
}
EAGRE_INLINE vf64 sin_full(vf64 x) {
  if (__builtin_expect(any64(~(magnitude(x) <= kLargestAngle64)), 0)) return by_lanes64(x, [](double v) { return std::sin(v); });
  vf64 cosine, sine;
  circle_full(x, cosine, sine);
  return x == 0.0 ? x : sine;
}
EAGRE_INLINE vf64 cos_full(vf64 x) {
  if (__builtin_expect(any64(~(magnitude(x) <= kLargestAngle64)), 0)) return by_lanes64(x, [](double v) { return std::cos(v); });
  vf64 cosine, sine;
  circle_full(x, cosine, sine);
  return cosine;
}

// ---- float32

EAGRE_INLINE vf32 atan2(vf32 y, vf32 x) {
  vf64 a[2], b[2];
  widen(y, a[0], a[1]);
  widen(x, b[0], b[1]);
  return narrow(atan2_64(a[0], b[0]), atan2_64(a[1], b[1]));
}

// log Γ(x) by Stirling's series of x + 8, whose relative error shows near the zeros, 1 and 2: there, and where x is not an
// ordinary positive number, lane by lane.
EAGRE_INLINE vf32 lgamma(vf32 x) {
  const vi32 ordinary = (x > 1e-30f) & (x < 1e30f) & (magnitude(x - 1.0f) > 1e-3f) & (magnitude(x - 2.0f) > 1e-3f);
  if (__builtin_expect(any(~ordinary), 0)) return by_lanes(x, [](double v) { return log_gamma(v); });
  return in_double(x, [](vf64 v) __attribute__((always_inline)) {
    const vf64 low = v * (v + 7.0);  // of pairs from both ends: x (x + 7), (x + 1) (x + 6) is 6 more, and so on
    const vf64 product = low * (low + 6.0) * ((low + 10.0) * (low + 12.0));
    const vf64 far = v > 1e5 ? wide(1) : vf64{};
    const vf64 z = far == 1.0 ? v : v + 8.0, w = 1.0 / z, s = w * w;
    const vf64 series =
        w * (1.0 / 12 + s * (-1.0 / 360 + s * (1.0 / 1260 + s * (-1.0 / 1680 + s * (1.0 / 1188 + s * (-691.0 / 360360 + s * (1.0 / 156)))))));
    const vf64 r = ((z - 0.5) * natural_log(z) - z) + (0.91893853320467274 + series);
    return far == 1.0 ? r : r - natural_log(far == 1.0 ? wide(1) : product);
  });
}

EAGRE_INLINE vf32 erfinv(vf32 x) {
  vf32 r = in_double(x, [](vf64 v) __attribute__((always_inline)) {
    return with_sign(normal_quantile(0.5 * magnitude(v)) * 0.70710678118654752, v);
  });
  const vf32 a = magnitude(x);
  r = a == 1.0f ? x * __builtin_inff() : r;
  return a <= 1.0f ? r : splat(__builtin_nanf(""));
}

}  // namespace
EAGRE_END
