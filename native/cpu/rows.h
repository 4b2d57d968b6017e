// One function per (opcode, dtype) of scalar programs: out[i] = op(a[i], b[i], c[i]) over n elements.
#pragma once
#include <cmath>
#include <cstring>

#include "../runtime/programs.h"
#include "half.h"
#include "program_tile.h"
#include "special_vectors.h"

// The loops below read and write the same index only, so exact aliasing of input and output is harmless.

EAGRE_BEGIN
namespace {

// Compile-time facts of the element types; bool is a byte here.
template <class T> struct Type;
template <> struct Type<float> { using Unsigned = float; static constexpr bool floating = true; };
template <> struct Type<double> { using Unsigned = double; static constexpr bool floating = true; };
template <> struct Type<int32_t> {
  using Unsigned = uint32_t;
  static constexpr bool floating = false;
  static constexpr int32_t low = INT32_MIN, high = INT32_MAX;
  static constexpr double limit = 2147483648.0;
};
template <> struct Type<int64_t> {
  using Unsigned = uint64_t;
  static constexpr bool floating = false;
  static constexpr int64_t low = INT64_MIN, high = INT64_MAX;
  static constexpr double limit = 9223372036854775808.0;
};
template <> struct Type<uint8_t> {
  using Unsigned = uint32_t;
  static constexpr bool floating = false;
  static constexpr uint8_t low = 0, high = 255;
  static constexpr double limit = 256.0;
};
template <> struct Type<int8_t> {
  using Unsigned = uint32_t;
  static constexpr bool floating = false;
  static constexpr int8_t low = INT8_MIN, high = INT8_MAX;
  static constexpr double limit = 128.0;
};
template <> struct Type<int16_t> {
  using Unsigned = uint32_t;
  static constexpr bool floating = false;
  static constexpr int16_t low = INT16_MIN, high = INT16_MAX;
  static constexpr double limit = 32768.0;
};
template <> struct Type<uint16_t> {
  using Unsigned = uint32_t;
  static constexpr bool floating = false;
  static constexpr uint16_t low = 0, high = UINT16_MAX;
  static constexpr double limit = 65536.0;
};
template <> struct Type<uint32_t> {
  using Unsigned = uint32_t;
  static constexpr bool floating = false;
  static constexpr uint32_t low = 0, high = UINT32_MAX;
  static constexpr double limit = 4294967296.0;
};
template <> struct Type<uint64_t> {
  using Unsigned = uint64_t;
  static constexpr bool floating = false;
  static constexpr uint64_t low = 0, high = UINT64_MAX;
  static constexpr double limit = 18446744073709551616.0;
};

// Float to integer: toward zero, saturating, NaN to 0. The rest as C++ converts (integers wrap).
template <class To, class From> inline To convert(From x) {
  if constexpr (Type<From>::floating && !Type<To>::floating) {
    if (x != x) return 0;
    if (x >= static_cast<From>(Type<To>::limit)) return Type<To>::high;
    if (x <= static_cast<From>(Type<To>::low)) return Type<To>::low;
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class T> inline T integer_pow(T base, T exponent) {
  using U = typename Type<T>::Unsigned;
  U result = 1, b = static_cast<U>(base);
  for (U e = static_cast<U>(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= b;
    b *= b;
  }
  return static_cast<T>(result);
}

template <class T> inline T clamp_shift(T count) {
  constexpr T bits = sizeof(T) * 8 - 1;
  return count < 0 ? T(0) : count > bits ? bits : count;
}

// Every function of one or two operands of type T, but comparisons.
template <Op op, class T> inline T apply(T x, [[maybe_unused]] T y) {
  constexpr bool floating = Type<T>::floating;
  using U = typename Type<T>::Unsigned;
  [[maybe_unused]] double d = 0;
  if constexpr (floating) d = x;
  // clang-format off
  if constexpr (op == Op::neg) { if constexpr (floating) return -x; else return static_cast<T>(U(0) - static_cast<U>(x)); }
  else if constexpr (op == Op::abs) {
    if constexpr (floating) return std::fabs(x);
    else return x < 0 ? static_cast<T>(U(0) - static_cast<U>(x)) : x;
  }
  else if constexpr (op == Op::sign) return x > 0 ? T(1) : x < 0 ? static_cast<T>(-1) : x;
  else if constexpr (op == Op::floor) { if constexpr (floating) return std::floor(x); else return x; }
  else if constexpr (op == Op::ceil) { if constexpr (floating) return std::ceil(x); else return x; }
  else if constexpr (op == Op::round) { if constexpr (floating) return std::nearbyint(x); else return x; }
  else if constexpr (op == Op::sqrt) return std::sqrt(x);
  else if constexpr (op == Op::rsqrt) return T(1) / std::sqrt(x);
  else if constexpr (op == Op::exp) return static_cast<T>(std::exp(d));
  else if constexpr (op == Op::expm1) return static_cast<T>(std::expm1(d));
  else if constexpr (op == Op::log) return static_cast<T>(std::log(d));
  else if constexpr (op == Op::log1p) return static_cast<T>(std::log1p(d));
  else if constexpr (op == Op::sin) return static_cast<T>(std::sin(d));
  else if constexpr (op == Op::cos) return static_cast<T>(std::cos(d));
  else if constexpr (op == Op::tan) return static_cast<T>(std::tan(d));
  else if constexpr (op == Op::asin) return static_cast<T>(std::asin(d));
  else if constexpr (op == Op::acos) return static_cast<T>(std::acos(d));
  else if constexpr (op == Op::atan) return static_cast<T>(std::atan(d));
  else if constexpr (op == Op::sinh) return static_cast<T>(std::sinh(d));
  else if constexpr (op == Op::cosh) return static_cast<T>(std::cosh(d));
  else if constexpr (op == Op::tanh) return static_cast<T>(std::tanh(d));
  else if constexpr (op == Op::asinh) return static_cast<T>(std::asinh(d));
  else if constexpr (op == Op::acosh) return static_cast<T>(std::acosh(d));
  else if constexpr (op == Op::atanh) return static_cast<T>(std::atanh(d));
  else if constexpr (op == Op::sigmoid) {
    double e = std::exp(-std::fabs(d));
    return static_cast<T>((d < 0 ? e : 1) / (1 + e));
  }
  else if constexpr (op == Op::softplus)
    return static_cast<T>((d > 0 ? d : d != d ? d : 0) + std::log1p(std::exp(-std::fabs(d))));
  else if constexpr (op == Op::erf) return static_cast<T>(std::erf(d));
  else if constexpr (op == Op::erfc) return static_cast<T>(std::erfc(d));
  else if constexpr (op == Op::erfinv) return static_cast<T>(erf_inverse(d));
  else if constexpr (op == Op::lgamma) return static_cast<T>(log_gamma(d));
  else if constexpr (op == Op::digamma) return static_cast<T>(digamma(d));
  else if constexpr (op == Op::add) return static_cast<T>(static_cast<U>(x) + static_cast<U>(y));
  else if constexpr (op == Op::sub) return static_cast<T>(static_cast<U>(x) - static_cast<U>(y));
  else if constexpr (op == Op::mul) return static_cast<T>(static_cast<U>(x) * static_cast<U>(y));
  else if constexpr (op == Op::div) {
    if constexpr (floating) return x / y;
    else return y == static_cast<T>(-1) && T(-1) < T(0) ? static_cast<T>(U(0) - static_cast<U>(x)) : static_cast<T>(x / y);
  }
  else if constexpr (op == Op::floor_div) {
    if constexpr (floating) return std::floor(x / y);
    else {
      if (T(-1) < T(0) && y == static_cast<T>(-1)) return static_cast<T>(U(0) - static_cast<U>(x));
      T q = static_cast<T>(x / y);
      return static_cast<T>(q - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0));
    }
  }
  else if constexpr (op == Op::mod) {
    if constexpr (floating) {
      T r = std::fmod(x, y);
      return r != 0 && (r < 0) != (y < 0) ? r + y : r;
    } else {
      if (T(-1) < T(0) && y == static_cast<T>(-1)) return 0;
      T r = static_cast<T>(x % y);
      return r != 0 && (r < 0) != (y < 0) ? static_cast<T>(r + y) : r;
    }
  }
  else if constexpr (op == Op::pow) {
    if constexpr (floating) return static_cast<T>(std::pow(d, static_cast<double>(y)));
    else return integer_pow(x, y);
  }
  else if constexpr (op == Op::min) return x < y || x != x ? x : y;
  else if constexpr (op == Op::max) return x > y || x != x ? x : y;
  else if constexpr (op == Op::atan2) return static_cast<T>(std::atan2(d, static_cast<double>(y)));
  else if constexpr (op == Op::logical_not) return x ^ 1;
  else if constexpr (op == Op::logical_and || op == Op::bit_and) return x & y;
  else if constexpr (op == Op::logical_or || op == Op::bit_or) return x | y;
  else if constexpr (op == Op::logical_xor || op == Op::bit_xor) return x ^ y;
  else if constexpr (op == Op::bit_not) return static_cast<T>(~x);
  else if constexpr (op == Op::shift_left) return static_cast<T>(static_cast<U>(x) << clamp_shift(y));
  else if constexpr (op == Op::shift_right) return static_cast<T>(x >> clamp_shift(y));
  // clang-format on
}

template <Op op, class T> inline bool test(T x, [[maybe_unused]] T y) {
  if constexpr (op == Op::is_nan) return x != x;
  else if constexpr (op == Op::is_inf) {
    if constexpr (Type<T>::floating) return std::fabs(x) == static_cast<T>(kInfinity);
    else return false;
  } else if constexpr (op == Op::is_finite) {
    if constexpr (Type<T>::floating) return std::fabs(x) < static_cast<T>(kInfinity);
    else return true;
  } else if constexpr (op == Op::eq) return x == y;
  else if constexpr (op == Op::ne) return x != y;
  else if constexpr (op == Op::lt) return x < y;
  else if constexpr (op == Op::le) return x <= y;
  else if constexpr (op == Op::gt) return x > y;
  else if constexpr (op == Op::ge) return x >= y;
}

// Integer division by zero and powers below one are errors that only the values tell.
template <class T> inline void check_divisors(const T* y, int64_t n) {
  bool zero = false;
  for (int64_t i = 0; i < n; i++) zero |= y[i] == 0;
  if (zero) fail(Code::invalid_argument, "integer division by zero");
}
template <class T> inline void check_exponents(const T* y, int64_t n) {
  bool negative = false;
  for (int64_t i = 0; i < n; i++) negative |= y[i] < 0;
  if (negative) fail(Code::invalid_argument, "integers to negative integer powers are not allowed");
}

template <Op op, class T> void row1(const void* a, const void*, const void*, void* out, int64_t n) {
  const T* x = static_cast<const T*>(a);
  T* y = static_cast<T*>(out);
  EAGRE_INDEPENDENT
  for (int64_t i = 0; i < n; i++) y[i] = apply<op, T>(x[i], T(0));
}
template <Op op, class T> void row2(const void* a, const void* b, const void*, void* out, int64_t n) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  T* z = static_cast<T*>(out);
  if constexpr (!Type<T>::floating) {
    if constexpr (op == Op::div || op == Op::floor_div || op == Op::mod) check_divisors(y, n);
    if constexpr (op == Op::pow) check_exponents(y, n);
  }
  EAGRE_INDEPENDENT
  for (int64_t i = 0; i < n; i++) z[i] = apply<op, T>(x[i], y[i]);
}
template <Op op, class T> void test1(const void* a, const void*, const void*, void* out, int64_t n) {
  const T* x = static_cast<const T*>(a);
  uint8_t* y = static_cast<uint8_t*>(out);
  EAGRE_INDEPENDENT
  for (int64_t i = 0; i < n; i++) y[i] = test<op, T>(x[i], T(0));
}
template <Op op, class T> void test2(const void* a, const void* b, const void*, void* out, int64_t n) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  uint8_t* z = static_cast<uint8_t*>(out);
  EAGRE_INDEPENDENT
  for (int64_t i = 0; i < n; i++) z[i] = test<op, T>(x[i], y[i]);
}
template <class T> void select_row(const void* c, const void* a, const void* b, void* out, int64_t n) {
  const uint8_t* condition = static_cast<const uint8_t*>(c);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  T* z = static_cast<T*>(out);
  EAGRE_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    T u = x[i], v = y[i];
    z[i] = condition[i] ? u : v;
  }
}
template <class From, class To> void cast_row(const void* a, const void*, const void*, void* out, int64_t n) {
  const From* x = static_cast<const From*>(a);
  To* y = static_cast<To*>(out);
  EAGRE_INDEPENDENT
  for (int64_t i = 0; i < n; i++) y[i] = convert<To, From>(x[i]);
}
template <class From> void truth_row(const void* a, const void*, const void*, void* out, int64_t n) {
  const From* x = static_cast<const From*>(a);
  uint8_t* y = static_cast<uint8_t*>(out);
  EAGRE_INDEPENDENT
  for (int64_t i = 0; i < n; i++) y[i] = x[i] != 0;
}

constexpr int number_of(DType t) { return static_cast<int>(t); }
struct Rows {
  RowFn op[kScalarOps][kDTypes];   // by the operands' dtype
  RowFn cast[kDTypes][kDTypes];    // from, to
};

template <Op op, int arity, char kind, bool boolean, class T> inline RowFn row_of() {
  constexpr bool floating = Type<T>::floating;
  if constexpr (op == Op::constant || op == Op::cast) return nullptr;
  else if constexpr ((kind == 'f' && !floating) || (kind == 'i' && floating)) return nullptr;
  else if constexpr (kind == 'b' && !(sizeof(T) == 1)) return nullptr;
  else if constexpr (op == Op::select) return select_row<T>;
  else if constexpr (boolean && arity == 1) return test1<op, T>;
  else if constexpr (boolean) return test2<op, T>;
  else if constexpr (arity == 1) return row1<op, T>;
  else return row2<op, T>;
}

template <class From> inline void fill_casts(RowFn* to) {
  to[number_of(DType::f32)] = cast_row<From, float>;
  to[number_of(DType::f64)] = cast_row<From, double>;
  to[number_of(DType::i32)] = cast_row<From, int32_t>;
  to[number_of(DType::i64)] = cast_row<From, int64_t>;
  to[number_of(DType::u8)] = cast_row<From, uint8_t>;
  to[number_of(DType::u64)] = cast_row<From, uint64_t>;
  to[number_of(DType::boolean)] = truth_row<From>;
}
// Of a dtype that programs do not compute with: it can be chosen, and cast to and from the one that they compute with instead.
template <class Kept, class Computed> inline void fill_kept(Rows& rows, DType kept) {
  const int at = number_of(kept), home = number_of(info_of(kept).computes_in);
  rows.cast[at][home] = cast_row<Kept, Computed>;
  rows.cast[home][at] = cast_row<Computed, Kept>;
  rows.op[static_cast<int>(Op::select)][at] = select_row<Kept>;
}
template <class H> void widening_row(const void* a, const void*, const void*, void* out, int64_t n) {
  widen_row(static_cast<const H*>(a), static_cast<float*>(out), n);
}
template <class H> void narrowing_row(const void* a, const void*, const void*, void* out, int64_t n) {
  narrow_row(static_cast<const float*>(a), static_cast<H*>(out), n);
}
template <class H> inline void fill_half(Rows& rows, DType half) {
  rows.cast[number_of(half)][number_of(DType::f32)] = widening_row<H>;
  rows.cast[number_of(DType::f32)][number_of(half)] = narrowing_row<H>;
  rows.op[static_cast<int>(Op::select)][number_of(half)] = select_row<H>;
}

template <vf32 (*f)(vf32)> void vector_row(const void* a, const void*, const void*, void* out, int64_t n) {
  map_vectors(static_cast<const float*>(a), static_cast<float*>(out), n, [](vf32 x) { return f(x); });
}
template <vf32 (*f)(vf32, vf32)> void vector_row2(const void* a, const void* b, const void*, void* out, int64_t n) {
  map_vectors(static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(out), n,
              [](vf32 x, vf32 y) { return f(x, y); });
}

template <vf64 (*f)(vf64)> void double_row(const void* a, const void*, const void*, void* out, int64_t n) {
  const double* x = static_cast<const double*>(a);
  double* y = static_cast<double*>(out);
  int64_t i = 0;
  for (; i + kF64 <= n; i += kF64) *reinterpret_cast<vf64u*>(y + i) = f(*reinterpret_cast<const vf64u*>(x + i));
  if (i == n) return;
  vf64 rest = vf64{} + 1.0;
  std::memcpy(&rest, x + i, static_cast<size_t>(n - i) * 8);
  rest = f(rest);
  std::memcpy(y + i, &rest, static_cast<size_t>(n - i) * 8);
}

// Functions that have a vector form.
inline void fill_vector_rows(Rows& rows) {
#define EAGRE_VECTOR(name) rows.op[static_cast<int>(Op::name)][number_of(DType::f32)] = vector_row<EAGRE_ISA::name>;
  EAGRE_VECTOR(exp) EAGRE_VECTOR(expm1) EAGRE_VECTOR(log) EAGRE_VECTOR(log1p) EAGRE_VECTOR(sigmoid) EAGRE_VECTOR(softplus)
  EAGRE_VECTOR(sin) EAGRE_VECTOR(cos) EAGRE_VECTOR(tan) EAGRE_VECTOR(asin) EAGRE_VECTOR(acos) EAGRE_VECTOR(atan)
  EAGRE_VECTOR(sinh) EAGRE_VECTOR(cosh) EAGRE_VECTOR(tanh) EAGRE_VECTOR(asinh) EAGRE_VECTOR(acosh) EAGRE_VECTOR(atanh)
  EAGRE_VECTOR(erf) EAGRE_VECTOR(erfc) EAGRE_VECTOR(erfinv) EAGRE_VECTOR(lgamma)
#undef EAGRE_VECTOR
#define EAGRE_DOUBLE(name) rows.op[static_cast<int>(Op::name)][number_of(DType::f64)] = double_row<EAGRE_ISA::name##_full>;
  EAGRE_DOUBLE(exp) EAGRE_DOUBLE(log) EAGRE_DOUBLE(sigmoid) EAGRE_DOUBLE(sin) EAGRE_DOUBLE(cos)
#undef EAGRE_DOUBLE
  rows.op[static_cast<int>(Op::pow)][number_of(DType::f32)] = vector_row2<EAGRE_ISA::pow>;
  rows.op[static_cast<int>(Op::atan2)][number_of(DType::f32)] = vector_row2<EAGRE_ISA::atan2>;
}

// bool shares the byte functions; which of them it may use was checked when the program was compiled.
inline void fill_rows(Rows& rows) {
  constexpr int bytes = number_of(DType::boolean);
#define X(name, arity, kind, boolean)                                              \
  {                                                                                \
    RowFn* row = rows.op[static_cast<int>(Op::name)];                              \
    row[number_of(DType::f32)] = row_of<Op::name, arity, kind, boolean, float>();    \
    row[number_of(DType::f64)] = row_of<Op::name, arity, kind, boolean, double>();   \
    row[number_of(DType::i32)] = row_of<Op::name, arity, kind, boolean, int32_t>();  \
    row[number_of(DType::i64)] = row_of<Op::name, arity, kind, boolean, int64_t>();  \
    row[number_of(DType::u64)] = row_of<Op::name, arity, kind, boolean, uint64_t>(); \
    row[number_of(DType::u8)] = row_of<Op::name, arity, kind, boolean, uint8_t>();   \
    row[bytes] = row[number_of(DType::u8)];                                          \
  }
  EAGRE_SCALAR_OPS(X)
#undef X
  fill_casts<float>(rows.cast[number_of(DType::f32)]);
  fill_casts<double>(rows.cast[number_of(DType::f64)]);
  fill_casts<int32_t>(rows.cast[number_of(DType::i32)]);
  fill_casts<int64_t>(rows.cast[number_of(DType::i64)]);
  fill_casts<uint8_t>(rows.cast[number_of(DType::u8)]);
  fill_casts<uint64_t>(rows.cast[number_of(DType::u64)]);
  fill_casts<uint8_t>(rows.cast[number_of(DType::boolean)]);
  fill_kept<int8_t, int32_t>(rows, DType::i8);
  fill_kept<int16_t, int32_t>(rows, DType::i16);
  fill_kept<uint16_t, int32_t>(rows, DType::u16);
  fill_kept<uint32_t, int64_t>(rows, DType::u32);
#define X(name, type) fill_half<type>(rows, DType::name);
  EAGRE_HALVES(X)
#undef X
  fill_vector_rows(rows);
}

}  // namespace
EAGRE_END
