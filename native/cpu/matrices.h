// What the kernels of factors and solutions share: complex numbers, products of blocks, and the matrices of a batch one by one. Complex
// numbers are computed with in double.
#pragma once
#include <cmath>
#include <cstring>
#include <type_traits>

#include "gemm.h"
#include "gemm_micro.h"
#include "strided.h"

// Complex matrices, which are computed with one number at a time, have kernels for one instruction set alone.
namespace eagre { namespace baseline {
void lu(Args& args);
void triangular_solve(Args& args);
void qr(Args& args);
void cholesky(Args& args);
void svd(Args& args);
void eigh(Args& args);
} }

EAGRE_BEGIN
namespace {

#if defined(EAGRE_BASELINE)
constexpr bool kBaseline = true;
#else
constexpr bool kBaseline = false;
#endif
// The first attribute of all of them says whether matrices are complex.
inline bool left_to_baseline(Args args) {
  if (kBaseline) return false;
  for (int i = args.inputs() + args.outputs(); i > 0; i--) args.tensor();
  return args.flag();
}

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

inline float conj(float x) { return x; }
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
template <class S> inline S scalar(double re) { return static_cast<S>(re); }
template <> inline Complex scalar<Complex>(double re) { return {re, 0}; }

template <class S> constexpr bool kIsComplex = std::is_same_v<S, Complex>;

// Doubles to and from the memory of a tensor. They do not depend on what a kernel computes with, so there is one of each.
inline void get_doubles(const Tensor& t, int64_t at, int64_t n, double* to) {
  if (t.dtype == DType::f64) {
    if (n > 0) std::memcpy(to, t.as<double>() + at, static_cast<size_t>(n) * sizeof(double));
    return;
  }
  const float* from = t.as<float>() + at;
  for (int64_t i = 0; i < n; i++) to[i] = static_cast<double>(from[i]);
}
inline void put_doubles(const Tensor& t, int64_t at, int64_t n, const double* from) {
  if (t.dtype == DType::f64) {
    if (n > 0) std::memcpy(t.as<double>() + at, from, static_cast<size_t>(n) * sizeof(double));
    return;
  }
  float* to = t.as<float>() + at;
  for (int64_t i = 0; i < n; i++) to[i] = static_cast<float>(from[i]);
}
// Elements [at, at + n) of a tensor, whose complex numbers are pairs.
template <class S> inline void get_all(const Tensor& t, int64_t at, int64_t n, S* to) {
  if constexpr (kIsComplex<S>) get_doubles(t, 2 * at, 2 * n, reinterpret_cast<double*>(to));
  else if constexpr (std::is_same_v<S, double>) get_doubles(t, at, n, to);
  else if (n > 0) std::memcpy(to, t.as<float>() + at, static_cast<size_t>(n) * sizeof(float));
}
template <class S> inline void put_all(const Tensor& t, int64_t at, int64_t n, const S* from) {
  if constexpr (kIsComplex<S>) put_doubles(t, 2 * at, 2 * n, reinterpret_cast<const double*>(from));
  else if constexpr (std::is_same_v<S, double>) put_doubles(t, at, n, from);
  else if (n > 0) std::memcpy(t.as<float>() + at, from, static_cast<size_t>(n) * sizeof(float));
}
// The elements from `at` on where they lie, if that is what a kernel computes with.
template <class S> inline S* in_place(const Tensor& t, int64_t at) {
  if ((t.dtype == DType::f32) != std::is_same_v<S, float>) return nullptr;
  return reinterpret_cast<S*>(t.data) + at;
}

// A tensor of matrices or vectors: complex ones have an axis of two numbers behind, which is taken off here.
inline Tensor without_parts(Tensor t, bool complex) {
  if (!complex) return t;
  if (t.rank < 1 || t.dims[t.rank - 1] != 2) fail(Code::internal, "complex numbers without two parts");
  t.rank--;
  t.size /= 2;
  return t;
}

inline void check_factors(DType dtype) {
  if (dtype != DType::f32 && dtype != DType::f64) fail(Code::unimplemented, "factors of matrices are those of float32 and float64");
}
// f(S): what is computed with, where float32 is exact enough for float32.
template <class F> inline void visit_scalars(DType dtype, bool complex, F&& f) {
  check_factors(dtype);
  if (!complex) return dtype == DType::f32 ? f(float{}) : f(double{});
  if constexpr (kBaseline) f(Complex{});
}
// The same where all is computed in double.
template <class F> inline void visit_wide_scalars(DType dtype, bool complex, F&& f) {
  check_factors(dtype);
  if (!complex) return f(double{});
  if constexpr (kBaseline) f(Complex{});
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

// f(begin, end) for parts of what is done to so many elements of one matrix; over threads where that is worth it.
template <class F> inline void for_large(int64_t count, int64_t elements, int64_t grain, F&& f) {
  constexpr int64_t kParallel = 1 << 14;
  if (elements < kParallel) f(int64_t{0}, count);
  else parallel_for(count, grain, f);
}

// The element (i, j) lies at data[i · row + j · col]; one of the strides is 1. Conjugated if `conjugate`.
template <class S> struct View {
  const S* data;
  int64_t row, col;
  bool conjugate;
};

// c[m, n] = a[m, k] · b[k, n], or that much more, or with `subtract` that much less.
template <class S>
inline void product(int64_t m, int64_t n, int64_t k, View<S> a, View<S> b, S* c, int64_t ldc, bool add = false, bool subtract = false) {
  gemm(Gemm<S>{m, n, k, a.data, a.row, a.col, b.data, b.row, b.col, c, ldc, nullptr, false, add, subtract});
}
inline void add_scaled_product(int64_t m, int64_t n, int64_t k, double scale, View<Complex> a, View<Complex> b, Complex* c, int64_t ldc) {
  for (int64_t i = 0; i < m; i++) {
    for (int64_t l = 0; l < k; l++) {
      const Complex x = a.data[i * a.row + l * a.col], f = (a.conjugate ? conj(x) : x) * scale;
      for (int64_t j = 0; j < n; j++) {
        const Complex y = b.data[l * b.row + j * b.col];
        c[i * ldc + j] += f * (b.conjugate ? conj(y) : y);
      }
    }
  }
}
template <>
inline void product(int64_t m, int64_t n, int64_t k, View<Complex> a, View<Complex> b, Complex* c, int64_t ldc, bool add, bool /*subtract*/) {
  if (!add) for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) c[i * ldc + j] = {0, 0};
  add_scaled_product(m, n, k, 1, a, b, c, ldc);
}
// c -= a · b.
template <class S> __attribute__((noinline)) void subtract_product(int64_t m, int64_t n, int64_t k, View<S> a, View<S> b, S* c, int64_t ldc) {
  if (m == 0 || n == 0 || k == 0) return;
  if constexpr (kIsComplex<S>) {
    add_scaled_product(m, n, k, -1, a, b, c, ldc);
  } else {
    product(m, n, k, a, b, c, ldc, true, true);
  }
}

// to[j, i] = from[i, j], where rows are so far apart.
template <class S> __attribute__((noinline)) void turn(const S* from, int64_t step, int64_t rows, int64_t columns, S* to, int64_t to_step) {
  int64_t done = 0;
  if constexpr (!kIsComplex<S>) {
    constexpr int64_t L = Lanes<S>::n;
    for (; done + L <= rows; done += L) pack_panel<S>(from + done * step, 1, step, columns, L, to + done, to_step);
  }
  constexpr int64_t kTile = 8;
  for (int64_t j0 = 0; j0 < columns; j0 += kTile) {
    const int64_t j1 = min64(j0 + kTile, columns);
    for (int64_t i = done; i < rows; i++) for (int64_t j = j0; j < j1; j++) to[j * to_step + i] = from[i * step + j];
  }
}

// Shorter vectors are no gain.
constexpr int64_t kFew = 8;

// xᴴ · y.
template <class S> inline S dot(const S* x, const S* y, int64_t n) {
  if constexpr (kIsComplex<S>) {
    S sum = {0, 0};
    for (int64_t i = 0; i < n; i++) sum += conj(x[i]) * y[i];
    return sum;
  } else {
    constexpr int L = Lanes<S>::n;
    int64_t i = 0;
    if (n < kFew) {
      S sum = 0;
      for (; i < n; i++) sum += x[i] * y[i];
      return sum;
    }
    typename Lanes<S>::V sums[4]{};
    for (; i + 4 * L <= n; i += 4 * L) {
      for (int k = 0; k < 4; k++) sums[k] = fma(load<S>(x + i + k * L), load<S>(y + i + k * L), sums[k]);
    }
    for (; i + L <= n; i += L) sums[0] = fma(load<S>(x + i), load<S>(y + i), sums[0]);
    if (i < n) {
      const Part<S> part(n - i);
      sums[1] = fma(part.load(x + i), part.load(y + i), sums[1]);
    }
    return sum<S>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
}
// y -= f · x.
template <class S> inline void subtract(S f, const S* x, S* y, int64_t n) {
  if constexpr (kIsComplex<S>) {
    for (int64_t i = 0; i < n; i++) y[i] -= f * x[i];
  } else {
    constexpr int L = Lanes<S>::n;
    int64_t i = 0;
    // The next read of what a masked write left would wait for it.
    if (n < kFew) {
      for (; i < n; i++) y[i] -= f * x[i];
      return;
    }
    const auto by = broadcast(-f);
    for (; i + L <= n; i += L) store<S>(y + i, fma(by, load<S>(x + i), load<S>(y + i)));
    if (i < n) {
      const Part<S> part(n - i);
      part.store(y + i, fma(by, part.load(x + i), part.load(y + i)));
    }
  }
}

// y /= d.
template <class S> inline void divide(S d, S* y, int64_t n) {
  if constexpr (kIsComplex<S>) {
    for (int64_t i = 0; i < n; i++) y[i] = y[i] / d;
  } else {
    constexpr int L = Lanes<S>::n;
    const auto by = broadcast(d);
    int64_t i = 0;
    for (; i + L <= n; i += L) store<S>(y + i, load<S>(y + i) / by);
    for (; i < n; i++) y[i] = y[i] / d;
  }
}
// Where the first of the largest of n > 0 numbers stands: at 0 if that is none, else behind those that are none.
template <class S> inline int64_t largest(const S* x, int64_t n) {
  int64_t found = 0, i = 1;
  double most = size_of(x[0]);
  if constexpr (!kIsComplex<S>) {
    constexpr int L = Lanes<S>::n;
    auto top = broadcast(static_cast<S>(most));
    for (; i + L <= n; i += L) {
      const auto own = load<S>(x + i), size = own < -own ? -own : own;
      top = size > top ? size : top;
    }
    for (int l = 0; l < L; l++) most = static_cast<double>(top[l]) > most ? static_cast<double>(top[l]) : most;
    if (most > size_of(x[0])) while (size_of(x[++found]) != most) {}
  }
  for (; i < n; i++) if (size_of(x[i]) > most) most = size_of(x[i]), found = i;
  return found;
}

// y *= f.
template <class S> inline void multiply(S f, S* y, int64_t n) {
  constexpr int L = Lanes<S>::n;
  const auto by = broadcast(f);
  int64_t i = 0;
  for (; i + L <= n; i += L) store<S>(y + i, by * load<S>(y + i));
  for (; i < n; i++) y[i] *= f;
}

template <class S> __attribute__((noinline)) bool all_finite(const S* x, int64_t n) {
  int64_t i = 0;
  if constexpr (!kIsComplex<S>) {
    constexpr int L = Lanes<S>::n;
    typename Lanes<S>::V odd{};
    for (; i + L <= n; i += L) odd += load<S>(x + i) - load<S>(x + i);
    if (sum<S>(odd) != 0) return false;
  }
  for (; i < n; i++) if (!is_finite(x[i])) return false;
  return true;
}

// A power of two by which the largest element comes near 1, so that squares neither overflow nor vanish.
template <class S> __attribute__((noinline)) double scale_of(const S* x, int64_t n) {
  double largest = 0;
  int64_t i = 0;
  if constexpr (!kIsComplex<S>) {
    constexpr int L = Lanes<S>::n;
    typename Lanes<S>::V most{};
    for (; i + L <= n; i += L) {
      const auto own = load<S>(x + i), size = own < -own ? -own : own;
      most = size > most ? size : most;
    }
    for (int l = 0; l < L; l++) largest = static_cast<double>(most[l]) > largest ? static_cast<double>(most[l]) : largest;
  }
  for (; i < n; i++) {
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
template <class S> __attribute__((noinline)) double reflector(S* x, int64_t n, S& tau) {
  double tail = 0, parts[8]{};
  int64_t at = 1;
  for (; at + 8 <= n; at += 8) for (int k = 0; k < 8; k++) parts[k] += square(x[at + k]);
  for (; at < n; at++) tail += square(x[at]);
  for (double part : parts) tail += part;
  const S head = x[0];
  x[0] = scalar<S>(1);
  if (tail < 1e-290 && imag(head) == 0) {
    for (int64_t i = 1; i < n; i++) x[i] = scalar<S>(0);
    tau = scalar<S>(0);
    return real(head);
  }
  const double norm = std::sqrt(square(head) + tail), beta = real(head) >= 0 ? -norm : norm;
  if constexpr (kIsComplex<S>) {
    const S inverse = scalar<S>(1) / (head - scalar<S>(beta));
    for (int64_t i = 1; i < n; i++) x[i] = x[i] * inverse;
    tau = (scalar<S>(beta) - head) * (1 / beta);
  } else {
    const double whole = static_cast<double>(head), inverse = 1 / (whole - beta);
    for (int64_t i = 1; i < n; i++) x[i] = static_cast<S>(static_cast<double>(x[i]) * inverse);
    tau = static_cast<S>((beta - whole) / beta);
  }
  return beta;
}

}  // namespace
EAGRE_END
