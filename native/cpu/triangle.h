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
  // x [n, k], whose rows are `step` apart, or what `given`, with rows of k, has for it. Columns do not depend on each other.
  void solve(S* x, int64_t k, int64_t step, const S* given = nullptr) const {
    const int64_t strips = ceil_div(k, kStrip);
    const auto columns = [&](int64_t from, int64_t count) {
      if (given && given != x) for (int64_t i = 0; i < n; i++) std::memcpy(x + i * step + from, given + i * k + from, static_cast<size_t>(count) * sizeof(S));
      solve(x + from, count, step, 0, n);
    };
    if (strips < 2 || n * n / 2 * k < kParallel) return columns(0, k);
    parallel_for(strips, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) columns(i * kStrip, min64(kStrip, k - i * kStrip));
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
    int64_t c = 0;
    if constexpr (!kIsComplex<S>) {
      constexpr int64_t L = Lanes<S>::n;
      for (; c + 4 * L <= k; c += 4 * L) substitute<4>(x + c, step, begin, end);
      for (; c + L <= k; c += L) substitute<1>(x + c, step, begin, end);
    }
    if (c == k) return;
    each_row(begin, end, [&](int64_t i, int64_t first, int64_t last) {
      S* row = x + i * step + c;
      for (int64_t j = first; j < last; j++) subtract(at(i, j), x + j * step + c, row, k - c);
      if (!unit) divide(at(i, i), row, k - c);
    });
  }
  // N vectors of columns, whose rows stay in registers.
  template <int N> void substitute(S* x, int64_t step, int64_t begin, int64_t end) const {
    using V = typename Lanes<S>::V;
    constexpr int L = Lanes<S>::n;
    each_row(begin, end, [&](int64_t i, int64_t first, int64_t last) {
      V row[N];
#pragma GCC unroll 4
      for (int v = 0; v < N; v++) row[v] = load<S>(x + i * step + v * L);
      for (int64_t j = first; j < last; j++) {
        const V by = broadcast(-at(i, j));
#pragma GCC unroll 4
        for (int v = 0; v < N; v++) row[v] = fma(by, load<S>(x + j * step + v * L), row[v]);
      }
      const V by = broadcast(unit ? S(1) : at(i, i));
#pragma GCC unroll 4
      for (int v = 0; v < N; v++) store<S>(x + i * step + v * L, unit ? row[v] : row[v] / by);
    });
  }
  // f(row, the first of the rows that are known, the end of these), in the order of the substitution.
  template <class F> void each_row(int64_t begin, int64_t end, F&& f) const {
    if (lower != adjoint) for (int64_t i = begin; i < end; i++) f(i, begin, i);
    else for (int64_t i = end - 1; i >= begin; i--) f(i, i + 1, end);
  }
};

}  // namespace
EAGRE_END
