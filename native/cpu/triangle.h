// Substitution: x becomes the solution of a · x = x, a triangular.
#pragma once
#include "matrices.h"

EAGRE_BEGIN
namespace {

template <class S> struct Triangle {
  static constexpr int64_t kLeast = 16;         // rows that are solved one by one
  static constexpr int64_t kStrip = 64;         // columns of x that a thread solves at a time
  static constexpr int64_t kParallel = 1 << 18;  // multiplications that are worth threads
  const S* a;
  int64_t n, stride;
  bool lower, adjoint, unit;

  S at(int64_t i, int64_t j) const { return adjoint ? conj(a[j * stride + i]) : a[i * stride + j]; }
  // Rows from `row` on and columns from `column` on.
  View<S> from(int64_t row, int64_t column) const {
    return adjoint ? View<S>{a + column * stride + row, 1, stride, true} : View<S>{a + row * stride + column, stride, 1, false};
  }
  // x [n, k], whose rows are `step` apart. Columns do not depend on each other.
  void solve(S* x, int64_t k, int64_t step) const {
    const int64_t strips = ceil_div(k, kStrip);
    if (strips < 2 || n * n / 2 * k < kParallel) return solve(x, k, step, 0, n);
    parallel_for(strips, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) solve(x + i * kStrip, min64(kStrip, k - i * kStrip), step, 0, n);
    });
  }

 private:
  // Rows and columns [begin, end): a half, its product with what the other half needs, the other half.
  void solve(S* x, int64_t k, int64_t step, int64_t begin, int64_t end) const {
    const bool down = lower != adjoint;
    if (end - begin <= kLeast) return substitute(x, k, step, begin, end);
    const int64_t middle = begin + ceil_div((end - begin) / 2, kLeast) * kLeast;
    const int64_t first = down ? begin : middle, second = down ? middle : begin, last = down ? middle : end;
    solve(x, k, step, first, last);
    const int64_t rest = down ? end - middle : middle - begin;
    subtract_product<S>(rest, k, last - first, from(second, first), {x + first * step, step, 1, false}, x + second * step, step);
    solve(x, k, step, second, second + rest);
  }
  void substitute(S* x, int64_t k, int64_t step, int64_t begin, int64_t end) const {
    const bool down = lower != adjoint;
    for (int64_t count = 0; count < end - begin; count++) {
      const int64_t i = down ? begin + count : end - 1 - count;
      S* row = x + i * step;
      for (int64_t j = down ? begin : i + 1; j < (down ? i : end); j++) subtract(at(i, j), x + j * step, row, k);
      if (unit) continue;
      const S d = at(i, i);
      for (int64_t c = 0; c < k; c++) row[c] = row[c] / d;
    }
  }
};

}  // namespace
EAGRE_END
