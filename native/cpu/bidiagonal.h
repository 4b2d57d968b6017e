// A matrix to two diagonals by Householder's reflections from both sides (Golub and Kahan, 1965). The matrix loses the reflections of a
// column and a row only in the pass that reads it for the next ones. That pass reads it once: a strip of columns gives its part of the
// next row, and at once what this part gives to the product with that row (Howell et al., "Cache Efficient Bidiagonalization Using
// BLAS 2.5 Operators", 2008).
#pragma once
#include "qr.h"

EAGRE_BEGIN
namespace {

// Of one matrix [m, n], m >= n.
template <class S> struct Bidiagonal {
  using V = typename Lanes<S>::V;
  static constexpr int kTogether = 4;      // columns that are read side by side
  static constexpr int64_t kColumns = 64;  // of a strip

  int64_t m, n;
  Qr<S> left, right;  // the reflections; left.a holds the columns of the matrix
  double *d, *e;      // the diagonal, and what stands right of it; the last of e is 0
  S *y, *next, *z, *shares;

  static int64_t strips(int64_t n) { return ceil_div(n, kColumns); }
  static int64_t room(int64_t m, int64_t n, int64_t wanted) {
    return Qr<S>::room(m, n, wanted) + Qr<S>::room(n, n, n) + 4 * n + 2 * n + (1 + strips(n)) * m + 8;
  }
  // For products of the left reflections with up to `wanted` columns.
  Bidiagonal(S* memory, int64_t rows, int64_t columns, int64_t wanted)
      : m(rows), n(columns), left(memory, m, n, wanted), right(memory + Qr<S>::room(m, n, wanted), n, n, n) {
    const int64_t used = Qr<S>::room(m, n, wanted) + Qr<S>::room(n, n, n);
    d = reinterpret_cast<double*>(memory + ceil_div(used, 8) * 8);
    e = d + n;
    y = reinterpret_cast<S*>(e + n);
    next = y + n;
    z = next + n;
    shares = z + m;
  }

  __attribute__((noinline)) void reduce() {
    for (int64_t j = 0; j < n; j++) y[j] = 0;
    for (int64_t i = 0; i < m; i++) z[i] = 0;
    // Before the first pass there is nothing to lose: any vectors do.
    const S *last_u = z, *last_v = y;
    for (int64_t k = 0; k < n; k++) {
      S *u = left.v + k * m, *v = right.v + k * n;
      const S* own = left.a + k * m;
      for (int64_t i = 0; i < k; i++) u[i] = 0;
      for (int64_t i = k; i < m; i++) u[i] = own[i] - last_u[i] * y[k] - z[i] * last_v[k];
      d[k] = reflector(u + k, m - k, left.tau[k]);
      for (int64_t j = 0; j <= k; j++) v[j] = 0;
      right.tau[k] = 0;
      e[k] = 0;
      const int64_t first = k + 1, rest = n - first;
      if (rest == 0) break;
      // Rows before `from` are done with; it is a border of vectors.
      const int64_t from = k / Lanes<S>::n * Lanes<S>::n, count = strips(rest);
      for_large(count, (m - k) * rest, 1, [&](int64_t begin, int64_t end) {
        for (int64_t strip = begin; strip < end; strip++) {
          S* share = shares + strip * m;
          for (int64_t i = from; i < m; i++) share[i] = 0;
          int64_t j = first + strip * kColumns;
          const int64_t last = min64(j + kColumns, n);
          for (; j + kTogether <= last; j += kTogether) pass<kTogether>(k, from, j, u, last_u, last_v, v, share);
          for (; j < last; j++) pass<1>(k, from, j, u, last_u, last_v, v, share);
        }
      });
      for (int64_t strip = 1; strip < count; strip++) subtract(S(-1), shares + strip * m + from, shares + from, m - from);
      const double head = static_cast<double>(v[first]), beta = reflector(v + first, rest, right.tau[k]);
      e[k] = beta;
      turn_product(k, from, u, v, head, beta);
      S* held = y;
      y = next;
      next = held;
      last_u = u;
      last_v = v;
    }
  }

 private:
  // Columns j … j + C − 1 lose the last reflections; of them next = tau · Aᵀ · u, v, the row k without it, and share += A · v.
  template <int C> void pass(int64_t k, int64_t from, int64_t j, const S* u, const S* last_u, const S* last_v, S* v, S* share) const {
    S* a = left.a + j * m;
    V down[C], across[C], sums[C]{};
#pragma GCC unroll 4
    for (int c = 0; c < C; c++) down[c] = broadcast(-y[j + c]), across[c] = broadcast(-last_v[j + c]);
    each(from, [&](auto&& get, auto&& put, int64_t i) __attribute__((always_inline)) {
      const V own = get(u + i), left_one = get(last_u + i), right_one = get(z + i);
#pragma GCC unroll 4
      for (int c = 0; c < C; c++) {
        const V x = fma(down[c], left_one, fma(across[c], right_one, get(a + c * m + i)));
        put(a + c * m + i, x);
        sums[c] = fma(own, x, sums[c]);
      }
    });
    V by[C];
#pragma GCC unroll 4
    for (int c = 0; c < C; c++) {
      next[j + c] = left.tau[k] * sum<S>(sums[c]);
      v[j + c] = a[c * m + k] - next[j + c];
      by[c] = broadcast(v[j + c]);
    }
    each(from, [&](auto&& get, auto&& put, int64_t i) __attribute__((always_inline)) {
      V x = get(share + i);
#pragma GCC unroll 4
      for (int c = 0; c < C; c++) x = fma(by[c], get(a + c * m + i), x);
      put(share + i, x);
    });
  }
  template <class F> __attribute__((always_inline)) void each(int64_t from, F&& f) const {
    constexpr int L = Lanes<S>::n;
    int64_t i = from;
    for (; i + L <= m; i += L) f([](const S* p) { return load<S>(p); }, [](S* p, V x) { store<S>(p, x); }, i);
    if (i < m) {
      const Part<S> part(m - i);
      f([&](const S* p) { return part.load(p); }, [&](S* p, V x) { part.store(p, x); }, i);
    }
  }
  // z = tau · (A − u · nextᵀ) · v. The product is that with the row before it became v: without beta in its first place, and scaled.
  void turn_product(int64_t k, int64_t from, const S* u, const S* v, double head, double beta) {
    const int64_t first = k + 1, rest = n - first;
    for (int64_t i = from; i < first; i++) z[i] = 0;
    const S by = right.tau[k];
    if (by == 0) {
      for (int64_t i = first; i < m; i++) z[i] = 0;
      return;
    }
    const S scale = static_cast<S>(static_cast<double>(by) / (head - beta)), less = static_cast<S>(-beta);
    const S along = by * dot(next + first, v + first, rest);
    const S* column = left.a + first * m;
    for (int64_t i = first; i < m; i++) z[i] = scale * (shares[i] + less * column[i]) - u[i] * along;
  }
};

}  // namespace
EAGRE_END
