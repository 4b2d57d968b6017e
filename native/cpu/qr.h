// Householder's reflections, a block of columns at a time; what is behind a block gets its reflections by products (Schreiber and
// Van Loan, 1989). Matrices are stored by columns, so that each reflection reads what lies side by side.
#pragma once
#include "matrices.h"

EAGRE_BEGIN
namespace {

template <class S> struct Qr {
  static constexpr int64_t kBlock = 32;
  int64_t m, n, k;
  S *a;    // [n, m]: the columns of the matrix, then those of R
  S *v;    // [k, m]: the reflectors
  S *tau;  // [k]
  S *t;    // [k, kBlock]: columns of the triangles T of blocks I − V · T · Vᴴ
  S *w, *turned;

  // For products with up to p columns.
  static int64_t room(int64_t m, int64_t n, int64_t p) {
    const int64_t k = min64(m, n), rows = max64(n, p);
    return n * m + k * m + k + k * kBlock + 2 * rows * kBlock;
  }
  Qr(S* memory, int64_t rows, int64_t columns, int64_t p) : m(rows), n(columns), k(min64(rows, columns)) {
    a = memory;
    v = a + n * m;
    tau = v + k * m;
    t = tau + k;
    w = t + k * kBlock;
    turned = w + max64(n, p) * kBlock;
  }

  __attribute__((noinline)) void factor() {
    for (int64_t first = 0; first < k; first += kBlock) {
      const int64_t last = min64(first + kBlock, k);
      for (int64_t j = first; j < last; j++) {
        S *own = v + j * m, *column = a + j * m;
        for (int64_t i = 0; i < m; i++) own[i] = i < j ? scalar<S>(0) : column[i];
        column[j] = scalar<S>(reflector(own + j, m - j, tau[j]));
        for (int64_t i = j + 1; i < m; i++) column[i] = scalar<S>(0);
        for (int64_t c = j + 1; c < last; c++) subtract(conj(tau[j]) * dot(own + j, a + c * m + j, m - j), own + j, a + c * m + j, m - j);
      }
      if (!few()) join(first, last);
      if (last < n) apply(first, last, a + last * m, n - last, true);
    }
  }

  // After reflectors and `tau` were set.
  void join_all() {
    each_block([&](int64_t first, int64_t last) { join(first, last); });
  }

  // The first `count` columns of Q, as rows of q.
  __attribute__((noinline)) void form(S* q, int64_t count) {
    for (int64_t i = 0; i < count * m; i++) q[i] = scalar<S>(0);
    for (int64_t r = 0; r < count; r++) q[r * m + r] = scalar<S>(1);
    // A block leaves the axes before it as they are.
    each_block([&](int64_t first, int64_t last) { apply(first, last, q + first * m, count - first, false); });
  }
  // The rows of x become Q times what they are.
  void multiply(S* x, int64_t count) {
    each_block([&](int64_t first, int64_t last) { apply(first, last, x, count, false); });
  }

 private:
  // Products cost more than they spare.
  bool few() const { return k <= kBlock && m * k <= 512; }
  template <class F> void each_block(F&& f) {
    for (int64_t block = ceil_div(k, kBlock); block-- > 0;) f(block * kBlock, min64((block + 1) * kBlock, k));
  }
  // The triangle of a block.
  __attribute__((noinline)) void join(int64_t first, int64_t last) {
    const int64_t size = last - first, rest = m - first;
    const S* own = v + first * m + first;
    product<S>(size, size, rest, {own, m, 1, false}, {own, 1, m, true}, w, kBlock);
    S* block = t + first * kBlock;
    for (int64_t j = 0; j < size; j++) {
      S* column = block + j * kBlock;
      for (int64_t i = 0; i < kBlock; i++) column[i] = scalar<S>(0);
      for (int64_t l = 0; l < j; l++) subtract(tau[first + j] * conj(w[l * kBlock + j]), block + l * kBlock, column, l + 1);
      column[j] = tau[first + j];
    }
  }
  // Columns c, the rows of `x`, become those of (I − V · T · Vᴴ) · c, or of its adjoint.
  __attribute__((noinline)) void apply(int64_t first, int64_t last, S* x, int64_t count, bool adjoint) {
    const int64_t size = last - first, rest = m - first;
    const S *own = v + first * m + first, *block = t + first * kBlock;
    if (few()) {
      for (int64_t step = 0; step < size; step++) {
        const int64_t j = adjoint ? step : size - 1 - step, from = first + j;
        const S* reflector = own + j * m + j;
        const S by = adjoint ? conj(tau[from]) : tau[from];
        for (S* c = x + from; c < x + count * m; c += m) subtract(by * dot(reflector, c, m - from), reflector, c, m - from);
      }
      return;
    }
    product<S>(count, size, rest, {x + first, m, 1, false}, {own, 1, m, true}, w, kBlock);
    const View<S> triangle = adjoint ? View<S>{block, 1, kBlock, true} : View<S>{block, kBlock, 1, false};
    product<S>(count, size, size, {w, kBlock, 1, false}, triangle, turned, kBlock);
    subtract_product<S>(count, rest, size, {turned, kBlock, 1, false}, {own, m, 1, false}, x + first, m);
  }
};

}  // namespace
EAGRE_END
