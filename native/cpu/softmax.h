// The largest element of a row, and its exponentials with their sum: what softmax and attention are made of.
#pragma once
#include <cmath>

#include "vecmath.h"
#include "widen.h"

EAGRE_BEGIN
namespace {

// The largest element. A NaN may be passed over: its exponential makes the whole row NaN anyway.
inline float row_max(const float* x, int64_t n) {
  constexpr float kLowest = -__builtin_inff();
  vf32 a = splat(kLowest), b = a;
  int64_t i = 0;
  for (; i + 2 * kF32 <= n; i += 2 * kF32) {
    vf32 u = load(x + i), v = load(x + i + kF32);
    a = u > a ? u : a;
    b = v > b ? v : b;
  }
  for (; i < n; i += kF32) {
    vf32 v = i + kF32 <= n ? load(x + i) : load_part(x + i, n - i, kLowest);
    a = v > a ? v : a;
  }
  return max_lanes(a > b ? a : b);
}
inline double row_max(const double* x, int64_t n) {
  double best = x[0];
  for (int64_t i = 1; i < n; i++) best = x[i] > best ? x[i] : best;
  return best;
}

// What one row's exponentials add up to (four vectors at a time in float, the rest in double); e[i] = exp(x[i] - shift) where
// e is given.
inline double exp_row(const float* x, float shift, int64_t n, float* e) {
  vf64 low{}, high{};
  int64_t i = 0;
  for (; i + 4 * kF32 <= n; i += 4 * kF32) {
    vf32 v[4];
    for (int k = 0; k < 4; k++) {
      v[k] = exp(load(x + i + k * kF32) - shift);
      if (e) store(e + i + k * kF32, v[k]);
    }
    vf64 a, b;
    widen((v[0] + v[1]) + (v[2] + v[3]), a, b);
    low += a;
    high += b;
  }
  vf32 rest{};
  for (; i < n; i += kF32) {
    vf32 v;
    if (i + kF32 <= n) {
      v = exp(load(x + i) - shift);
      if (e) store(e + i, v);
    } else {
      v = exp(load_part(x + i, n - i, -__builtin_inff()) - shift);
      if (e) store_part(e + i, n - i, v);
    }
    rest += v;
  }
  double total = static_cast<double>(sum_lanes(rest));
  if (n < 4 * kF32) return total;
  low += high;
  for (int k = 0; k < kF64; k++) total += low[k];
  return total;
}
inline double exp_row(const double* x, double shift, int64_t n, double* e) {
  double total = 0;
  for (int64_t i = 0; i < n; i++) {
    double v = std::exp(x[i] - shift);
    if (e) e[i] = v;
    total += v;
  }
  return total;
}

}  // namespace
EAGRE_END
