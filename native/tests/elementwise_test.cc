// Scalar programs: every opcode against its definition, broadcasting, aliasing, and errors.
#include <algorithm>
#include <iterator>
#include <limits>
#include <type_traits>

#include "scalar_code.h"

using namespace eagre;

namespace {

int single(Op o, std::vector<DType> in, DType out) {
  ScalarCode b(in);
  switch (in.size()) {
    case 1: return b.compile({b.op(o, out, {0})});
    case 2: return b.compile({b.op(o, out, {0, 1})});
    default: return b.compile({b.op(o, out, {0, 1, 2})});
  }
}

int refused(std::vector<double> code) {
  try {
    compile_program(code.data(), code.size());
  } catch (const KernelError&) {
    return 1;
  }
  return 0;
}

template <class T> std::vector<T> values() {
  std::vector<T> v;
  if constexpr (std::is_floating_point<T>::value) {
    v = {T(0),     T(-0.0),  T(1),     T(-1),  T(0.5),      T(-2.5),         T(2.5),           T(3.5),
         T(1e-3),  T(7.25),  T(-7.25), T(100), T(INFINITY), T(-INFINITY),    T(NAN),           T(1e30),
         T(-1e30), T(3),     T(-3),    T(0.9), T(-0.9),     T(4294967296.0), T(-4294967296.0), T(300),
         T(1e19),  T(-1e19), T(1e-30), T(12),  T(20)};
  } else if constexpr (sizeof(T) == 1) {
    v = {0, 1, 2, 3, 5, 7, 127, 128, 200, 254, 255, 10, 16, 33, 64, 99, 100, 101, 31, 63};
  } else {
    T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    v = {0, 1, -1, 2, -2, 7, -7, 3, -3, low, high, T(low + 1), T(high - 1), 100, -100, 31, 63, 32, 64, 12345};
  }
  return v;
}

// All pairs of the values above through the kernel and through f.
template <class T, class R, class F>
void binary(const char* name, Op o, F f, double tolerance = 0, bool skip_zero = false, bool skip_negative = false) {
  std::vector<T> v = values<T>();
  std::vector<T> a, b;
  for (T x : v) {
    for (T y : v) {
      if ((skip_zero && y == T(0)) || (skip_negative && y < T(0))) continue;
      a.push_back(x);
      b.push_back(y);
    }
  }
  int64_t n = static_cast<int64_t>(a.size());
  auto x = Array<T>::make({n}, [&](int64_t i) { return a[static_cast<size_t>(i)]; });
  auto y = Array<T>::make({n}, [&](int64_t i) { return b[static_cast<size_t>(i)]; });
  Array<R> out({n}), want({n});
  for (int64_t i = 0; i < n; i++) want[i] = static_cast<R>(f(x[i], y[i]));
  int p = single(o, {DTypeOf<T>::value, DTypeOf<T>::value}, DTypeOf<R>::value);
  Call call;
  if (call.in(x).in(y).out(out).attr(p).run("Elementwise") != Code::ok || !close(out, want, tolerance)) {
    std::printf("%s of %d: %s\n", name, static_cast<int>(DTypeOf<T>::value), call.message);
    failures()++;
  }
  CHECK(run_flat(p, n, {x.data(), y.data()}, {out.data()}) == Code::ok);
  CHECK(close(out, want, tolerance));
}
template <class T, class R, class F> void unary(const char* name, Op o, F f, double tolerance = 0) {
  std::vector<T> v = values<T>();
  int64_t n = static_cast<int64_t>(v.size());
  auto x = Array<T>::make({n}, [&](int64_t i) { return v[static_cast<size_t>(i)]; });
  Array<R> out({n}), want({n});
  for (int64_t i = 0; i < n; i++) want[i] = static_cast<R>(f(x[i]));
  int p = single(o, {DTypeOf<T>::value}, DTypeOf<R>::value);
  Call call;
  if (call.in(x).out(out).attr(p).run("Elementwise") != Code::ok || !close(out, want, tolerance)) {
    std::printf("%s of %d: %s\n", name, static_cast<int>(DTypeOf<T>::value), call.message);
    failures()++;
  }
}

template <class T> void comparisons() {
  binary<T, bool>("eq", Op::eq, [](T a, T b) { return a == b; });
  binary<T, bool>("ne", Op::ne, [](T a, T b) { return a != b; });
  binary<T, bool>("lt", Op::lt, [](T a, T b) { return a < b; });
  binary<T, bool>("le", Op::le, [](T a, T b) { return a <= b; });
  binary<T, bool>("gt", Op::gt, [](T a, T b) { return a > b; });
  binary<T, bool>("ge", Op::ge, [](T a, T b) { return a >= b; });
}

template <class T> void floats() {
  comparisons<T>();
  double e = sizeof(T) == 4 ? 3e-7 : 1e-12;
  binary<T, T>("add", Op::add, [](T a, T b) { return a + b; });
  binary<T, T>("sub", Op::sub, [](T a, T b) { return a - b; });
  binary<T, T>("mul", Op::mul, [](T a, T b) { return a * b; });
  binary<T, T>("div", Op::div, [](T a, T b) { return a / b; });
  binary<T, T>("floorDiv", Op::floor_div, [](T a, T b) { return std::floor(a / b); });
  binary<T, T>("mod", Op::mod, [](T a, T b) {
    T r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  });
  binary<T, T>("pow", Op::pow, [](T a, T b) { return std::pow(static_cast<double>(a), static_cast<double>(b)); }, e);
  binary<T, T>("min", Op::min, [](T a, T b) { return a != a ? a : b != b ? b : a < b ? a : b; });
  binary<T, T>("max", Op::max, [](T a, T b) { return a != a ? a : b != b ? b : a > b ? a : b; });
  binary<T, T>("atan2", Op::atan2, [](T a, T b) { return std::atan2(static_cast<double>(a), static_cast<double>(b)); }, e);
  unary<T, T>("neg", Op::neg, [](T a) { return -a; });
  unary<T, T>("abs", Op::abs, [](T a) { return std::fabs(a); });
  unary<T, T>("sign", Op::sign, [](T a) { return a > 0 ? T(1) : a < 0 ? T(-1) : a; });
  unary<T, T>("floor", Op::floor, [](T a) { return std::floor(a); });
  unary<T, T>("ceil", Op::ceil, [](T a) { return std::ceil(a); });
  unary<T, T>("round", Op::round, [](T a) { return std::nearbyint(a); });
  unary<T, T>("sqrt", Op::sqrt, [](T a) { return std::sqrt(a); });
  unary<T, T>("rsqrt", Op::rsqrt, [](T a) { return 1 / std::sqrt(static_cast<double>(a)); }, e);
  unary<T, bool>("isNaN", Op::is_nan, [](T a) { return a != a; });
  unary<T, bool>("isInf", Op::is_inf, [](T a) { return std::isinf(a); });
  unary<T, bool>("isFinite", Op::is_finite, [](T a) { return std::isfinite(a); });
#define LIBM(name) unary<T, T>(#name, Op::name, [](T a) { return std::name(static_cast<double>(a)); }, e)
  LIBM(exp); LIBM(expm1); LIBM(log); LIBM(log1p); LIBM(sin); LIBM(cos); LIBM(tan); LIBM(asin); LIBM(acos); LIBM(atan);
  LIBM(sinh); LIBM(cosh); LIBM(tanh); LIBM(asinh); LIBM(acosh); LIBM(atanh); LIBM(erf); LIBM(erfc); LIBM(lgamma);
  unary<T, T>("sigmoid", Op::sigmoid, [](T a) {
    double x = static_cast<double>(a), t = std::exp(-std::fabs(x));
    return x < 0 ? t / (1 + t) : 1 / (1 + t);
  }, e);
  unary<T, T>("softplus", Op::softplus, [](T a) {
    double x = static_cast<double>(a);
    return x != x ? x : std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
  }, e);
}

template <class T> void integers() {
  comparisons<T>();
  using W = __int128;
  binary<T, T>("add", Op::add, [](T a, T b) { return W(a) + W(b); });
  binary<T, T>("sub", Op::sub, [](T a, T b) { return W(a) - W(b); });
  binary<T, T>("mul", Op::mul, [](T a, T b) { return W(a) * W(b); });
  binary<T, T>("div", Op::div, [](T a, T b) { return W(a) / W(b); }, 0, true);
  auto floor_div = [](T a, T b) {
    W q = W(a) / W(b);
    return q - (W(a) % W(b) != 0 && (a < 0) != (b < 0) ? 1 : 0);
  };
  binary<T, T>("floorDiv", Op::floor_div, floor_div, 0, true);
  binary<T, T>("mod", Op::mod, [=](T a, T b) { return W(a) - floor_div(a, b) * W(b); }, 0, true);
  binary<T, T>("min", Op::min, [](T a, T b) { return a < b ? a : b; });
  binary<T, T>("max", Op::max, [](T a, T b) { return a > b ? a : b; });
  binary<T, T>("bitAnd", Op::bit_and, [](T a, T b) { return a & b; });
  binary<T, T>("bitOr", Op::bit_or, [](T a, T b) { return a | b; });
  binary<T, T>("bitXor", Op::bit_xor, [](T a, T b) { return a ^ b; });
  auto count = [](T b) { return static_cast<int>(b < 0 ? 0 : b > T(sizeof(T) * 8 - 1) ? T(sizeof(T) * 8 - 1) : b); };
  binary<T, T>("shiftLeft", Op::shift_left, [=](T a, T b) { return W(a) * (W(1) << count(b)); });
  binary<T, T>("shiftRight", Op::shift_right, [=](T a, T b) { return a >> count(b); });
  unary<T, T>("neg", Op::neg, [](T a) { return -W(a); });
  unary<T, T>("abs", Op::abs, [](T a) { return a < 0 ? -W(a) : W(a); });
  unary<T, T>("sign", Op::sign, [](T a) { return a > 0 ? 1 : a < 0 ? -1 : 0; });
  unary<T, T>("bitNot", Op::bit_not, [](T a) { return ~a; });
  binary<T, T>("pow", Op::pow, [](T a, T b) {
    uint64_t r = 1, x = static_cast<uint64_t>(a);
    for (uint64_t k = static_cast<uint64_t>(b); k; k >>= 1, x *= x) {
      if (k & 1) r *= x;
    }
    return static_cast<T>(r);
  }, 0, false, true);
  DType t = DTypeOf<T>::value;
  Array<T> x({3}, {1, 2, 3}), zero({3}, {1, 0, 2}), y({3});
  for (Op o : {Op::div, Op::floor_div, Op::mod}) {
    Call call;
    CHECK(call.in(x).in(zero).out(y).attr(single(o, {t, t}, t)).run("Elementwise") == Code::invalid_argument);
    CHECK(!std::strcmp(call.message, "integer division by zero"));
  }
  if (T(-1) < T(0)) {
    Array<T> negative({3}, {1, static_cast<T>(-1), 2});
    CHECK(Call().in(x).in(negative).out(y).attr(single(Op::pow, {t, t}, t)).run("Elementwise") == Code::invalid_argument);
  }
}

template <class From, class To> To expected_cast(From x) {
  if constexpr (std::is_same<To, bool>::value) return x != From(0);
  else if constexpr (std::is_floating_point<From>::value && std::is_integral<To>::value) {
    if (x != x) return 0;
    long double v = static_cast<long double>(x);
    if (v <= static_cast<long double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (v >= static_cast<long double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(x);
  } else return static_cast<To>(x);
}
template <class From, class To>
void cast() {
  unary<From, To>("cast", Op::cast, [](From x) { return expected_cast<From, To>(x); });
}
template <class From> void casts() {
  cast<From, float>();
  cast<From, double>();
  cast<From, int32_t>();
  cast<From, int64_t>();
  cast<From, uint8_t>();
  cast<From, bool>();
}

// out = a * b + select(c > 0, a, 2) over broadcast shapes, against a plain loop.
void broadcasting() {
  ScalarCode p({DType::f32, DType::f32, DType::f32});
  int product = p.op(Op::mul, DType::f32, {0, 1});
  int zero = p.op(Op::constant, DType::f32, {}, 0);
  int positive = p.op(Op::gt, DType::boolean, {2, zero});
  int two = p.op(Op::constant, DType::f32, {}, 2);
  int chosen = p.op(Op::select, DType::f32, {positive, 0, two});
  int id = p.compile({p.op(Op::add, DType::f32, {product, chosen})});
  struct Case { Dims y, a, b, c; };
  std::vector<Case> cases = {
      {{7}, {7}, {7}, {1}},           {{3, 5}, {3, 5}, {5}, {3, 1}},        {{3, 5}, {3, 1}, {1, 5}, {}},
      {{4, 300}, {4, 1}, {300}, {4, 300}}, {{2, 3, 4}, {2, 1, 4}, {3, 1}, {4}},   {{2, 3, 200}, {2, 1, 200}, {3, 1}, {200}},
      {{5000, 3}, {5000, 3}, {3}, {5000, 1}}, {{100000}, {100000}, {1}, {100000}}, {{1}, {1}, {}, {1}},
      {{2, 1, 3, 1, 2}, {1, 1, 3, 1, 1}, {2, 1, 1, 1, 2}, {2, 1, 3, 1, 2}}, {{130, 1000}, {130, 1}, {1000}, {1, 1000}},
      {{0, 3}, {0, 3}, {3}, {1}},     {{2, 2, 2, 2, 2, 2, 2, 3}, {2, 1, 2, 1, 2, 1, 2, 3}, {1, 2, 1, 2, 1, 2, 1, 1}, {3}},
      {{20000, 10}, {20000, 10}, {10}, {10}}, {{3, 70000}, {3, 70000}, {3, 1}, {70000}},
  };
  Random random(1);
  for (const Case& c : cases) {
    auto any = [&](int64_t) { return random.uniform(-2, 2); };
    auto a = Array<float>::make(c.a, any), b = Array<float>::make(c.b, any), d = Array<float>::make(c.c, any);
    Array<float> y(c.y), want(c.y);
    auto at = [&](const Array<float>& t, int64_t flat_index) {
      int64_t offset = 0, stride = 1;
      for (int i = static_cast<int>(c.y.size()) - 1, j = static_cast<int>(t.dims.size()) - 1; i >= 0; i--, j--) {
        int64_t index = flat_index % c.y[static_cast<size_t>(i)];
        flat_index /= c.y[static_cast<size_t>(i)];
        if (j < 0) continue;
        if (t.dims[static_cast<size_t>(j)] != 1) offset += index * stride;
        stride *= t.dims[static_cast<size_t>(j)];
      }
      return t[offset];
    };
    for (int64_t i = 0; i < y.size; i++) {
      float u = at(a, i), v = at(b, i), w = at(d, i);
      volatile float prod = u * v;
      want[i] = prod + (w > 0 ? u : 2.0f);
    }
    Call call;
    CHECK(call.in(a).in(b).in(d).out(y).attr(id).run("Elementwise") == Code::ok);
    CHECK(same(y, want));
  }
  Array<float> x({2, 3}), bad({2}), y({2, 3});
  CHECK(Call().in(x).in(bad).in(x).out(y).attr(id).run("Elementwise") == Code::internal);
}

// Outputs that share memory with inputs: sums and differences of a and b written over a and b, also exchanged.
void aliasing() {
  for (int64_t n : {1, 5, 1000, 100000}) {
    auto make_a = [](int64_t i) { return static_cast<double>(i % 17); };
    auto make_b = [](int64_t i) { return static_cast<double>(i % 5 - 2); };
    auto a = Array<float>::make({n}, make_a), b = Array<float>::make({n}, make_b), a0 = a, b0 = b;
    ScalarCode p({DType::f32, DType::f32});
    int sum = p.op(Op::add, DType::f32, {0, 1}), difference = p.op(Op::sub, DType::f32, {0, 1});
    int id = p.compile({sum, difference});
    CHECK(Call().in(a).in(b).out(a).out(b).attr(id).run("Elementwise") == Code::ok);
    for (int64_t i = 0; i < n; i++) CHECK(a[i] == a0[i] + b0[i] && b[i] == a0[i] - b0[i]);
    a = a0;
    b = b0;
    CHECK(run_flat(id, n, {a.data(), b.data()}, {b.data(), a.data()}) == Code::ok);
    for (int64_t i = 0; i < n; i++) CHECK(b[i] == a0[i] + b0[i] && a[i] == a0[i] - b0[i]);
    ScalarCode swap({DType::f32, DType::f32});
    id = swap.compile({1, 0});
    a = a0;
    b = b0;
    CHECK(run_flat(id, n, {a.data(), b.data()}, {a.data(), b.data()}) == Code::ok);
    for (int64_t i = 0; i < n; i++) CHECK(a[i] == b0[i] && b[i] == a0[i]);
    ScalarCode twice({DType::f32});
    int negative = twice.op(Op::neg, DType::f32, {0}), one = twice.op(Op::constant, DType::i64, {}, 1);
    id = twice.compile({negative, negative, one});
    Array<float> u({n}), v({n});
    Array<int64_t> w({n});
    CHECK(Call().in(a0).out(u).out(v).out(w).attr(id).run("Elementwise") == Code::ok);
    for (int64_t i = 0; i < n; i++) CHECK(u[i] == -a0[i] && v[i] == -a0[i] && w[i] == 1);
    // A wide input that is passed on beside a narrow result, which lies where it was.
    ScalarCode mixed({DType::i64, DType::i64});
    id = mixed.compile({1, mixed.op(Op::lt, DType::boolean, {0, 1}), 0});
    auto p64 = Array<int64_t>::make({n}, make_a), q64 = Array<int64_t>::make({n}, make_b), p0 = p64, q0 = q64;
    Array<bool> less({n});
    CHECK(run_flat(id, n, {p64.data(), q64.data()}, {p64.data(), less.data(), q64.data()}) == Code::ok);
    for (int64_t i = 0; i < n; i++) CHECK(p64[i] == q0[i] && q64[i] == p0[i] && less[i] == (p0[i] < q0[i]));
  }
}

// A long chain over several dtypes, whose buffers are used again and again.
void buffers() {
  ScalarCode p({DType::f32});
  int v = 0, ten = p.op(Op::constant, DType::i32, {}, 10);
  for (int i = 0; i < 20; i++) {
    int big = p.op(Op::cast, DType::i32, {v});
    int more = p.op(Op::add, DType::i32, {big, ten});
    int wide = p.op(Op::cast, DType::f64, {more});
    int back = p.op(Op::cast, DType::f32, {wide});
    v = p.op(Op::add, DType::f32, {back, 0});
  }
  int id = p.compile({v});
  auto x = Array<float>::make({3000}, [](int64_t i) { return static_cast<double>(i % 7); });
  Array<float> y({3000});
  CHECK(Call().in(x).out(y).attr(id).run("Elementwise") == Code::ok);
  for (int64_t i = 0; i < 3000; i++) CHECK(y[i] == 21 * x[i] + 200);
}

// Outputs that leave the caches: alone, after another step, beside a broadcast row, at an address that is not aligned.
void large() {
  int64_t rows = 1024 * 5 + 1, columns = 1000, n = rows * columns;
  auto value = [](int64_t i) { return static_cast<double>(i % 1021); };
  auto x = Array<float>::make({rows, columns}, value);
  auto row = Array<float>::make({columns}, value);
  auto at = [&](int64_t i) { return static_cast<float>(i % 1021); };
  int add = single(Op::add, {DType::f32, DType::f32}, DType::f32);
  ScalarCode b({DType::f32, DType::f32});
  int two = b.compile({b.op(Op::mul, DType::f32, {b.op(Op::add, DType::f32, {0, 1}), 0})});
  Array<float> y({rows, columns}), z({rows, columns});
  CHECK(Call().in(x).in(x).out(y).attr(add).run("Elementwise") == Code::ok);
  CHECK(Call().in(x).in(row).out(z).attr(two).run("Elementwise") == Code::ok);
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; i++) {
    wrong += y[i] != 2 * at(i);
    wrong += z[i] != (at(i) + at(i % columns)) * at(i);
  }
  std::vector<float> room(static_cast<size_t>(n) + 1, -1.0f);
  CHECK(run_flat(two, n - 1, {&x[0], &x[0]}, {room.data() + 1}) == Code::ok);
  for (int64_t i = 0; i < n - 1; i++) wrong += room[static_cast<size_t>(i) + 1] != 2 * at(i) * at(i);
  CHECK(wrong == 0 && room[0] == -1 && room.back() == -1);
  // The same programs on few elements, which may be another instruction set's.
  std::vector<float> few(100);
  for (int id : {add, two}) {
    CHECK(run_flat(id, 100, {&x[0], &x[0]}, {few.data()}) == Code::ok);
    for (int64_t i = 0; i < 100; i++) wrong += few[static_cast<size_t>(i)] != 2 * at(i) * (id == two ? at(i) : 1);
  }
  CHECK(wrong == 0);
}

// Programs at random, among whose instructions are those that share registers, against their instructions one by one.
void chains() {
  Random random(11);
  const Op unary[] = {Op::neg, Op::abs, Op::sqrt, Op::rsqrt, Op::floor, Op::exp, Op::log, Op::tanh, Op::sigmoid, Op::erf, Op::sin};
  const Op binary[] = {Op::add, Op::sub, Op::mul, Op::div, Op::min, Op::max};
  const Op compare[] = {Op::eq, Op::ne, Op::lt, Op::le, Op::gt, Op::ge};
  const double constants[] = {0, -0.0, 1, 2, -1.5, 0.3, INFINITY, NAN};
  const std::vector<float> special = values<float>();
  auto pick = [&](const auto& list) { return list[static_cast<size_t>(random.below(static_cast<int64_t>(std::size(list))))]; };
  for (int round = 0; round < 400; round++) {
    const int inputs = 1 + static_cast<int>(random.below(3));
    const int64_t n = pick(std::vector<int64_t>{1, 7, 16, 33, 127, 128, 300, 1000, 1024, 2500, 20000});
    std::vector<Array<float>> floats;
    std::vector<Array<bool>> truths;
    // Of each value: its dtype and its place in one of the lists.
    std::vector<std::pair<DType, size_t>> known;
    ScalarCode whole(std::vector<DType>(static_cast<size_t>(inputs), DType::f32));
    for (int i = 0; i < inputs; i++) {
      known.push_back({DType::f32, floats.size()});
      floats.push_back(Array<float>::make({n}, [&](int64_t) {
        return random.below(8) == 0 ? static_cast<double>(pick(special)) : random.uniform(-3, 3);
      }));
    }
    auto any = [&](DType t) {
      for (;;) {
        // Mostly what was made last.
        int64_t size = static_cast<int64_t>(known.size()), back = random.below(2) ? random.below(size) : random.below(size < 3 ? size : 3);
        const int v = static_cast<int>(size - 1 - back);
        if (known[static_cast<size_t>(v)].first == t) return v;
        if (t == DType::boolean && truths.empty()) return -1;
        if (t == DType::boolean && random.below(4) == 0) {
          for (size_t w = 0; w < known.size(); w++) {
            if (known[w].first == t) return static_cast<int>(w);
          }
        }
      }
    };
    const int count = 1 + static_cast<int>(random.below(24));
    for (int i = 0; i < count; i++) {
      const int kind = static_cast<int>(random.below(10));
      Op op = kind < 2 ? pick(unary) : kind < 6 ? pick(binary) : kind < 7 ? pick(compare) : kind < 8 ? Op::constant : Op::select;
      if (kind == 9 && random.below(2)) op = Op::cast;
      std::vector<int> args;
      double value = 0;
      DType result = kind == 6 ? DType::boolean : DType::f32;
      if (op == Op::constant) value = pick(constants);
      else if (op == Op::cast) args = {any(DType::boolean)};
      else if (op == Op::select) args = {any(DType::boolean), any(DType::f32), any(DType::f32)};
      else if (kind < 2) args = {any(DType::f32)};
      else args = {any(DType::f32), any(DType::f32)};
      if (!args.empty() && args[0] < 0) continue;
      switch (args.size()) {
        case 0: whole.op(op, result, {}, value); break;
        case 1: whole.op(op, result, {args[0]}); break;
        case 2: whole.op(op, result, {args[0], args[1]}); break;
        default: whole.op(op, result, {args[0], args[1], args[2]});
      }
      // By itself.
      std::vector<DType> types;
      std::vector<const void*> from;
      for (int v : args) {
        const auto& k = known[static_cast<size_t>(v)];
        types.push_back(k.first);
        from.push_back(k.first == DType::f32 ? static_cast<const void*>(floats[k.second].data()) : truths[k.second].data());
      }
      Array<float> number({n}, static_cast<float>(value));
      Array<bool> truth({n});
      if (!args.empty()) {
        void* to = result == DType::f32 ? static_cast<void*>(number.data()) : truth.data();
        CHECK(run_flat(single(op, types, result), n, from, {to}) == Code::ok);
      }
      known.push_back({result, result == DType::f32 ? floats.size() : truths.size()});
      if (result == DType::f32) floats.push_back(number);
      else truths.push_back(truth);
    }
    // The last value, and sometimes others.
    std::vector<int> results = {static_cast<int>(known.size()) - 1};
    while (random.below(3) == 0 && results.size() < 4) results.push_back(static_cast<int>(random.below(static_cast<int64_t>(known.size()))));
    const int id = results.size() == 1   ? whole.compile({results[0]})
                   : results.size() == 2 ? whole.compile({results[0], results[1]})
                   : results.size() == 3 ? whole.compile({results[0], results[1], results[2]})
                                         : whole.compile({results[0], results[1], results[2], results[3]});
    std::vector<Array<float>> numbers(results.size(), Array<float>({n}));
    std::vector<Array<bool>> bools(results.size(), Array<bool>({n}));
    std::vector<const void*> from;
    std::vector<void*> to;
    for (int i = 0; i < inputs; i++) from.push_back(floats[static_cast<size_t>(i)].data());
    // The first result over the first input.
    const bool in_place = random.below(3) == 0 && known[static_cast<size_t>(results[0])].first == DType::f32;
    Array<float> shared = floats[0];
    for (size_t k = 0; k < results.size(); k++) {
      const bool number = known[static_cast<size_t>(results[k])].first == DType::f32;
      to.push_back(number ? static_cast<void*>(numbers[k].data()) : bools[k].data());
    }
    if (in_place) from[0] = to[0] = shared.data();
    CHECK(run_flat(id, n, from, to) == Code::ok);
    for (size_t k = 0; k < results.size(); k++) {
      const auto& want = known[static_cast<size_t>(results[k])];
      if (want.first != DType::f32) {
        CHECK(same(bools[k], truths[want.second]));
        continue;
      }
      const Array<float>& got = in_place && k == 0 ? shared : numbers[k];
      int64_t wrong = 0;
      for (int64_t i = 0; i < n; i++) {
        const float a = got[i], b = floats[want.second][i];
        if (std::memcmp(&a, &b, 4) != 0 && !(a != a && b != b)) wrong++;
      }
      CHECK(wrong == 0 && got.intact());
      if (wrong) std::printf("  program %d of %d instructions, %lld elements, result %zu\n", round, count, static_cast<long long>(n), k);
    }
  }
}

// What is stored past the caches straight from registers, from any address on.
void streamed_chains() {
  const int64_t n = (int64_t{4} << 20) + 1000;
  ScalarCode b({DType::f32, DType::f32});
  const int two = b.op(Op::constant, DType::f32, {}, 2), zero = b.op(Op::constant, DType::f32, {}, 0);
  const int sum = b.op(Op::add, DType::f32, {b.op(Op::mul, DType::f32, {0, two}), 1});
  const int id = b.compile({b.op(Op::max, DType::f32, {sum, zero}), b.op(Op::sub, DType::f32, {sum, 0})});
  std::vector<float> x(static_cast<size_t>(n)), y(x.size()), u(x.size() + 64), v(u.size());
  for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i % 1021) - 500, y[i] = static_cast<float>(i % 13);
  for (size_t shift : {0, 1, 5, 16}) {
    std::fill(u.begin(), u.end(), -7.0f);
    std::fill(v.begin(), v.end(), -7.0f);
    CHECK(run_flat(id, n, {x.data(), y.data()}, {u.data() + shift, v.data() + 2 * shift}) == Code::ok);
    int64_t wrong = 0;
    for (size_t i = 0; i < x.size(); i++) {
      const float s = x[i] * 2 + y[i];
      wrong += u[i + shift] != (s > 0 ? s : 0.0f) || v[i + 2 * shift] != s - x[i];
    }
    CHECK(wrong == 0 && u[x.size() + shift] == -7 && v[x.size() + 2 * shift] == -7);
    CHECK(shift == 0 || (u[shift - 1] == -7 && v[2 * shift - 1] == -7));
  }
}

void programs() {
  CHECK(refused({}));
  CHECK(refused({1}));
  CHECK(refused({1, 99, 0, 1, 0}));                   // no such dtype
  CHECK(refused({1, 0, 1, 99, 0, 0, -1, -1, 0, 1, 1}));  // no such opcode
  CHECK(refused({1, 0, 1, 37, 0, 0, -1, -1, 0, 1, 1}));  // add of one operand
  CHECK(refused({1, 0, 1, 37, 0, 0, 1, -1, 0, 1, 1}));   // an operand that is not computed yet
  CHECK(refused({2, 0, 1, 1, 37, 0, 0, 1, -1, 0, 1, 2}));  // add of different dtypes
  CHECK(refused({1, 2, 1, 10, 2, 0, -1, -1, 0, 1, 1}));    // exp of int32
  CHECK(refused({1, 0, 0, 1, 1}));                     // no such result
  CHECK(refused({1, 0, 0, 1, 0, 7}));                  // too long
  CHECK(refused({1, NAN, 0, 1, 0}));
  int id = single(Op::add, {DType::f32, DType::f32}, DType::f32);
  CHECK(id == single(Op::add, {DType::f32, DType::f32}, DType::f32));
  CHECK(run_flat(1 << 20, 1, {}, {}) == Code::internal && run_flat(-1, 1, {}, {}) == Code::internal);
  // References: one for each time that it was asked for.
  auto scaled = [](double by) {
    ScalarCode b({DType::f32});
    return b.compile({b.op(Op::mul, DType::f32, {0, b.op(Op::constant, DType::f32, {}, by)})});
  };
  float x = 3, y = 0;
  const int first = scaled(1.25);
  CHECK(scaled(1.25) == first);
  release_program(first);
  CHECK(run_flat(first, 1, {&x}, {&y}) == Code::ok && y == 3.75f);
  release_program(first);
  CHECK(run_flat(first, 1, {&x}, {&y}) == Code::internal);
  CHECK(scaled(2.5) == first);
  CHECK(run_flat(first, 1, {&x}, {&y}) == Code::ok && y == 7.5f);
}

}  // namespace

int main() {
  programs();
  floats<float>();
  floats<double>();
  integers<int32_t>();
  integers<int64_t>();
  integers<uint8_t>();
  casts<float>();
  casts<double>();
  casts<int32_t>();
  casts<int64_t>();
  casts<uint8_t>();
  broadcasting();
  aliasing();
  buffers();
  chains();
  streamed_chains();
  large();
  return finish();
}
