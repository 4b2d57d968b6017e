// The singular value decomposition of complex matrices: one-sided Jacobi on the columns themselves (Hestenes, 1958).
#pragma once
#include "matrices.h"

EAGRE_BEGIN
namespace {

// One matrix [m, n] with at least as many rows as columns, stored by columns.
struct ComplexSvd {
  static constexpr int kMostSweeps = 60;
  static constexpr double kNothing = 1e-290;
  int64_t m, n;
  Complex *x;      // [p, m]: the columns, then the left vectors; p of them are wanted
  Complex *turns;  // [n, n]: what is done to columns
  double* values;
  int64_t* order;

  // In bytes.
  static int64_t room(int64_t m, int64_t n, int64_t p) { return (max64(n, p) * m + n * n) * static_cast<int64_t>(sizeof(Complex)) + 2 * n * 8 + 16; }
  ComplexSvd(void* memory, int64_t rows, int64_t columns, int64_t p) : m(rows), n(columns) {
    x = static_cast<Complex*>(memory);
    turns = x + max64(n, p) * m;
    values = reinterpret_cast<double*>(turns + n * n);
    order = reinterpret_cast<int64_t*>(values + n);
  }

  static void turn(Complex* a, Complex* b, Complex phase, double c, double s, int64_t length) {
    for (int64_t i = 0; i < length; i++) {
      const Complex p = a[i], q = b[i] * phase;
      a[i] = p * c - q * s;
      b[i] = p * s + q * c;
    }
  }

  void decompose() {
    for (int64_t i = 0; i < n * n; i++) turns[i] = {0, 0};
    for (int64_t i = 0; i < n; i++) turns[i * n + i] = {1, 0};
    const double root = std::sqrt(static_cast<double>(m)), tolerance = 0x1p-52 * (root > 4 ? root : 4);
    bool turned = true;
    for (int sweep = 0; sweep < kMostSweeps && turned; sweep++) {
      turned = false;
      for (int64_t p = 0; p < n; p++) {
        for (int64_t q = p + 1; q < n; q++) {
          Complex *a = x + p * m, *b = x + q * m;
          const double aa = dot(a, a, m).re, bb = dot(b, b, m).re;
          const Complex ab = dot(a, b, m);
          const double size = size_of(ab);
          if (aa < kNothing || bb < kNothing || size <= tolerance * (std::sqrt(aa) * std::sqrt(bb))) continue;
          turned = true;
          const double zeta = (bb - aa) / (2 * size), far = std::fabs(zeta);
          const double tangent = far > 1e9 ? 0.5 / far : 1 / (far + std::sqrt(1 + zeta * zeta));
          const double t = zeta < 0 ? -tangent : tangent, c = 1 / std::sqrt(1 + t * t);
          const Complex phase = conj(ab) * (1 / size);
          turn(a, b, phase, c, c * t, m);
          turn(turns + p * n, turns + q * n, phase, c, c * t, n);
        }
      }
    }
    for (int64_t k = 0; k < n; k++) {
      const double square = dot(x + k * m, x + k * m, m).re;
      values[k] = square < kNothing ? 0 : std::sqrt(square);
      for (int64_t i = 0; values[k] > 0 && i < m; i++) x[k * m + i] = x[k * m + i] * (1 / values[k]);
      order[k] = k;
      for (int64_t i = k; i > 0 && values[order[i]] > values[order[i - 1]]; i--) {
        const int64_t held = order[i];
        order[i] = order[i - 1];
        order[i - 1] = held;
      }
    }
  }

  Complex* left(int64_t j) { return x + (j < n ? order[j] : j) * m; }
  // Left vectors of what has none, up to `count`: of the axis that is farthest from those there are, what they leave.
  void complete(int64_t count) {
    for (int64_t j = 0; j < count; j++) {
      if (j < n && values[order[j]] > 0) continue;
      int64_t far = 0;
      double most = -1;
      for (int64_t i = 0; i < m; i++) {
        double rest = 1;
        for (int64_t l = 0; l < j; l++) rest -= square(left(l)[i]);
        if (rest > most) most = rest, far = i;
      }
      Complex* column = left(j);
      for (int64_t i = 0; i < m; i++) column[i] = {i == far ? 1.0 : 0.0, 0};
      for (int round = 0; round < 2; round++) {
        for (int64_t l = 0; l < j; l++) {
          const Complex along = dot(left(l), column, m);
          for (int64_t i = 0; i < m; i++) column[i] -= along * left(l)[i];
        }
      }
      const double norm = std::sqrt(dot(column, column, m).re);
      for (int64_t i = 0; i < m; i++) column[i] = column[i] * (1 / norm);
    }
  }
};

// `p` and `q` columns of u and v are wanted.
inline void decompose_complex(const Tensor& x, const Tensor& s, const Tensor& u, const Tensor& v, int64_t count, int64_t rows, int64_t columns, int64_t p, int64_t q, bool vectors) {
  const bool tall = rows >= columns;
  const int64_t m = tall ? rows : columns, n = tall ? columns : rows, wanted = vectors ? (tall ? p : q) : n, others = vectors ? (tall ? q : p) : 0;
  const int64_t grain = (1 << 16) / (40 * m * n * n + 1) + 1;
  parallel_for(count, grain, [=](int64_t begin, int64_t end) {
    ComplexSvd w(scratch(kMatrixSlot, ComplexSvd::room(m, n, wanted)), m, n, wanted);
    Complex* held = room<Complex>(kMoreSlot, m * max64(n, wanted));
    for (int64_t matrix = begin; matrix < end; matrix++) {
      get_all(x, matrix * m * n, m * n, held);
      const bool good = all_finite(held, m * n);
      const double down = good ? scale_of(held, m * n) : 1;
      for (int64_t i = 0; i < m * n; i++) held[i] = held[i] * down;
      if (tall) turn(held, n, m, n, w.x, m);
      else for (int64_t i = 0; i < m * n; i++) w.x[i] = conj(held[i]);
      const Complex nan = {__builtin_nan(""), __builtin_nan("")};
      if (good) {
        w.decompose();
        if (vectors) w.complete(wanted);
      }
      for (int64_t j = 0; j < n; j++) held[j] = good ? Complex{w.values[w.order[j]] * (1 / down), 0} : nan;
      put_all(s, matrix * n, n, held);
      if (!vectors) continue;
      for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < wanted; j++) held[i * wanted + j] = good ? w.left(j)[i] : nan;
      put_all(tall ? u : v, matrix * m * wanted, m * wanted, held);
      for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < others; j++) held[i * others + j] = good ? w.turns[w.order[j] * n + i] : nan;
      put_all(tall ? v : u, matrix * n * others, n * others, held);
    }
  });
}

}  // namespace
EAGRE_END
