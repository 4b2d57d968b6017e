// What the kernels of factors and solutions share: complex numbers, products of blocks, and the matrices of a batch one by one. All
// is computed in double.
#pragma once
#include <cmath>

#include "gemm.h"
#include "strided.h"

EAGRE_BEGIN
namespace {

// std::complex would call a function for each product, for the sake of infinities.
struct Complex {
  double re, im;
};
inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
inline Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
inline Complex operator*(Complex a, double b) { return {a.re * b, a.im * b}; }
inline Complex operator/(Complex a, Complex b) {
  // By the larger part, so that squares do not overflow (Smith, 1962).
  if (std::fabs(b.re) >= std::fabs(b.im)) {
    const double r = b.im / b.re, q = b.re + b.im * r;
    return {(a.re + a.im * r) / q, (a.im - a.re * r) / q};
  }
  const double r = b.re / b.im, q = b.re * r + b.im;
  return {(a.re * r + a.im) / q, (a.im * r - a.re) / q};
}
inline Complex& operator-=(Complex& a, Complex b) { return a = a - b; }
inline Complex& operator+=(Complex& a, Complex b) { return a = a + b; }

inline double conj(double x) { return x; }
inline Complex conj(Complex x) { return {x.re, -x.im}; }
inline double real(double x) { return x; }
inline double real(Complex x) { return x.re; }
inline double imag(double) { return 0; }
inline double imag(Complex x) { return x.im; }
inline double square(double x) { return x * x; }
inline double square(Complex x) { return x.re * x.re + x.im * x.im; }
inline double size_of(double x) { return std::fabs(x); }
inline double size_of(Complex x) { return std::hypot(x.re, x.im); }
inline bool is_finite(double x) { return x - x == 0; }
inline bool is_finite(Complex x) { return is_finite(x.re) && is_finite(x.im); }
template <class S> inline S scalar(double re);
template <> inline double scalar<double>(double re) { return re; }
template <> inline Complex scalar<Complex>(double re) { return {re, 0}; }

// Elements of a tensor, whose complex numbers are pairs.
template <class T> inline void get(const T* from, int64_t i, double& x) { x = static_cast<double>(from[i]); }
template <class T> inline void get(const T* from, int64_t i, Complex& x) { x = {static_cast<double>(from[2 * i]), static_cast<double>(from[2 * i + 1])}; }
template <class T> inline void put(T* to, int64_t i, double x) { to[i] = static_cast<T>(x); }
template <class T> inline void put(T* to, int64_t i, Complex x) {
  to[2 * i] = static_cast<T>(x.re);
  to[2 * i + 1] = static_cast<T>(x.im);
}
template <class T, class S> inline void get_all(const T* from, S* to, int64_t n) {
  for (int64_t i = 0; i < n; i++) get(from, i, to[i]);
}
template <class T, class S> inline void put_all(T* to, const S* from, int64_t n) {
  for (int64_t i = 0; i < n; i++) put(to, i, from[i]);
}
template <class T> inline T* at_matrix(T* data, int64_t elements, bool complex) { return data + (complex ? 2 * elements : elements); }
constexpr bool is_complex(double) { return false; }
constexpr bool is_complex(Complex) { return true; }

// A tensor of matrices or vectors: complex ones have an axis of two numbers behind, which is taken off here.
inline Tensor without_parts(Tensor t, bool complex) {
  if (!complex) return t;
  if (t.rank < 1 || t.dims[t.rank - 1] != 2) fail(Code::internal, "complex numbers without two parts");
  t.rank--;
  t.size /= 2;
  return t;
}

// f(T, S): the type of the elements in memory, and what is computed with.
template <class F> inline void visit_scalars(DType dtype, bool complex, F&& f) {
  if (dtype == DType::f32) complex ? f(float{}, Complex{}) : f(float{}, double{});
  else if (dtype == DType::f64) complex ? f(double{}, Complex{}) : f(double{}, double{});
  else fail(Code::unimplemented, "factors of matrices are those of float32 and float64");
}

constexpr int kTempSlot = 3, kMatrixSlot = 4, kMoreSlot = 5;
template <class S> inline S* room(int slot, int64_t n) { return static_cast<S*>(scratch(slot, (n > 0 ? n : 1) * static_cast<int64_t>(sizeof(S)))); }

// Runs f(i) for each matrix of a batch: small ones in parallel, large ones one after the other, as their products use the threads.
template <class F> inline void for_matrices(int64_t count, int64_t multiplications, F&& f) {
  constexpr int64_t kLarge = 2 << 20, kTask = 1 << 16;
  const int64_t grain = multiplications > kLarge ? count : kTask / (multiplications + 1) + 1;
  if (count <= grain) {
    for (int64_t i = 0; i < count; i++) f(i);
    return;
  }
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) f(i);
  });
}

// The element (i, j) lies at data[i · row + j · col]; one of the strides is 1. Conjugated if `conjugate`.
template <class S> struct View {
  const S* data;
  int64_t row, col;
  bool conjugate;
};

// c[m, n] = a[m, k] · b[k, n].
inline void product(int64_t m, int64_t n, int64_t k, View<double> a, View<double> b, double* c, int64_t ldc) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) c[i * ldc + j] = 0;
    return;
  }
  gemm(Gemm<double>{m, n, k, a.data, a.row, a.col, b.data, b.row, b.col, c, ldc, nullptr, false});
}
inline void product(int64_t m, int64_t n, int64_t k, View<Complex> a, View<Complex> b, Complex* c, int64_t ldc) {
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) c[i * ldc + j] = {0, 0};
    for (int64_t l = 0; l < k; l++) {
      const Complex x = a.data[i * a.row + l * a.col], f = a.conjugate ? conj(x) : x;
      for (int64_t j = 0; j < n; j++) {
        const Complex y = b.data[l * b.row + j * b.col];
        c[i * ldc + j] += f * (b.conjugate ? conj(y) : y);
      }
    }
  }
}
// c -= a · b.
template <class S> inline void subtract_product(int64_t m, int64_t n, int64_t k, View<S> a, View<S> b, S* c, int64_t ldc) {
  if (m == 0 || n == 0 || k == 0) return;
  S* temp = room<S>(kTempSlot, m * n);
  product(m, n, k, a, b, temp, n);
  for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) c[i * ldc + j] -= temp[i * n + j];
}

// xᴴ · y.
template <class S> inline S dot(const S* x, const S* y, int64_t n) {
  S a = scalar<S>(0), b = scalar<S>(0), c = scalar<S>(0), d = scalar<S>(0);
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    a += conj(x[i]) * y[i];
    b += conj(x[i + 1]) * y[i + 1];
    c += conj(x[i + 2]) * y[i + 2];
    d += conj(x[i + 3]) * y[i + 3];
  }
  for (; i < n; i++) a += conj(x[i]) * y[i];
  return (a + b) + (c + d);
}
// y -= f · x.
template <class S> inline void subtract(S f, const S* x, S* y, int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i] -= f * x[i];
}

template <class S> inline bool all_finite(const S* x, int64_t n) {
  for (int64_t i = 0; i < n; i++) if (!is_finite(x[i])) return false;
  return true;
}

// A power of two by which the largest element comes near 1, so that squares neither overflow nor vanish.
template <class S> inline double scale_of(const S* x, int64_t n) {
  double largest = 0;
  for (int64_t i = 0; i < n; i++) {
    const double a = std::fabs(real(x[i])), b = std::fabs(imag(x[i]));
    largest = a > largest ? a : largest;
    largest = b > largest ? b : largest;
  }
  int exponent = 0;
  std::frexp(largest, &exponent);
  exponent = exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
  return std::ldexp(1.0, -exponent);
}

// Householder's reflection I − tau · v · vᴴ whose adjoint takes x to (beta, 0, …), beta real; x becomes v, whose first element is 1.
// As in LAPACK and Eigen: no reflection where nothing but a real number stands first.
template <class S> inline double reflector(S* x, int64_t n, S& tau) {
  double tail = 0;
  for (int64_t i = 1; i < n; i++) tail += square(x[i]);
  const S head = x[0];
  x[0] = scalar<S>(1);
  if (tail < 1e-290 && imag(head) == 0) {
    for (int64_t i = 1; i < n; i++) x[i] = scalar<S>(0);
    tau = scalar<S>(0);
    return real(head);
  }
  const double norm = std::sqrt(square(head) + tail), beta = real(head) >= 0 ? -norm : norm;
  const S inverse = scalar<S>(1) / (head - scalar<S>(beta));
  for (int64_t i = 1; i < n; i++) x[i] = x[i] * inverse;
  tau = (scalar<S>(beta) - head) * (1 / beta);
  return beta;
}

}  // namespace
EAGRE_END
