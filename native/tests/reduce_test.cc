// Reductions against plain loops in long double or wide integers, over many shapes and axes.
#include <limits>
#include <type_traits>

#include "harness.h"

using namespace eagre;

namespace {

struct Case {
  Dims dims, axes;
};
const std::vector<Case> cases = {
    {{}, {}},          {{5}, {0}},         {{5}, {}},           {{3, 4}, {0}},         {{3, 4}, {1}},        {{3, 4}, {0, 1}},
    {{2, 3, 4}, {1}},  {{2, 3, 4}, {0, 2}}, {{2, 3, 4, 5}, {1, 3}}, {{2, 3, 4, 5}, {0, 2}}, {{2, 1, 4, 1}, {1, 2}}, {{1, 1}, {0}},
    {{200000}, {0}},   {{3, 100000}, {1}}, {{100000, 3}, {0}},  {{40000, 10}, {0}},    {{5000, 64}, {0}},    {{70, 2000}, {0}},
    {{2000, 70}, {1}}, {{4, 300, 33}, {1}}, {{2, 50, 3, 40}, {0, 2}}, {{50, 2, 700, 3}, {0, 2}}, {{8, 6, 5, 7}, {0, 1, 3}},
    {{20000, 2}, {1}}, {{0, 3}, {0}},      {{0, 3}, {1}},       {{3, 0}, {1}},         {{2, 2, 2, 2, 2, 2, 2, 2}, {0, 2, 4, 6}},
    {{3, 1700}, {0}},  {{1000, 1700}, {0}},
};

struct Walk {
  Dims out;
  std::vector<int64_t> to;  // for every element of x, its place in y
  int64_t count = 1, size = 1;
  explicit Walk(const Case& c) {
    std::vector<bool> reduced(c.dims.size(), false);
    for (int64_t a : c.axes) reduced[static_cast<size_t>(a)] = true;
    int64_t total = 1;
    for (size_t d = 0; d < c.dims.size(); d++) {
      total *= c.dims[d];
      if (reduced[d]) count *= c.dims[d];
      else out.push_back(c.dims[d]), size *= c.dims[d];
    }
    for (int64_t i = 0; i < total; i++) {
      int64_t rest = i, place = 0, stride = 1;
      for (size_t d = c.dims.size(); d-- > 0;) {
        int64_t index = rest % c.dims[d];
        rest /= c.dims[d];
        if (reduced[d]) continue;
        place += index * stride;
        stride *= c.dims[d];
      }
      to.push_back(place);
    }
  }
};

template <class T, class A, class F, class G>
void check(const char* name, A start, F combine, G finish, double tolerance, double absolute = 0) {
  for (const Case& c : cases) {
    Walk walk(c);
    Random random(3);
    auto x = Array<T>::make(c.dims, [&](int64_t) {
      if (std::is_floating_point<T>::value)
        return std::strcmp(name, "Prod") ? random.uniform(-1, 1) : random.uniform(0.9, 1.1112);
      return static_cast<double>(random.below(200)) - (std::numeric_limits<T>::is_signed ? 100 : 0);
    });
    Array<T> y(walk.out), want(walk.out);
    std::vector<A> acc(static_cast<size_t>(walk.size), start);
    for (int64_t i = 0; i < x.size; i++) {
      A& a = acc[static_cast<size_t>(walk.to[static_cast<size_t>(i)])];
      a = combine(a, static_cast<A>(x[i]));
    }
    for (int64_t i = 0; i < want.size; i++) want[i] = static_cast<T>(finish(acc[static_cast<size_t>(i)], walk.count));
    Call call;
    bool ok = call.in(x).out(y).list(c.axes).run(name) == Code::ok && close(y, want, tolerance, absolute);
    if (!ok) {
      std::printf("%s of dtype %d, x of %lld elements, rank %zu, %zu axes: %s\n", name, static_cast<int>(DTypeOf<T>::value),
                  static_cast<long long>(x.size), c.dims.size(), c.axes.size(), call.message);
      failures()++;
    }
    // The same on one thread, to the last bit.
    Array<T> alone(walk.out);
    int threads = thread_count();
    set_thread_count(1);
    Call().in(x).out(alone).list(c.axes).run(name);
    set_thread_count(threads);
    CHECK(same(y, alone));
  }
}

template <class T> void floats() {
  double e = sizeof(T) == 4 ? 1e-6 : 1e-14, a = sizeof(T) == 4 ? 2e-5 : 1e-12;
  using L = long double;
  auto plain = [](L v, int64_t) { return v; };
  check<T, L>("Sum", 0, [](L x, L y) { return x + y; }, plain, e, a);
  check<T, L>("Mean", 0, [](L x, L y) { return x + y; }, [](L v, int64_t n) { return v / static_cast<L>(n); }, e, a);
  check<T, L>("Max", -INFINITY, [](L x, L y) { return x > y ? x : y; }, plain, 0);
  check<T, L>("Min", INFINITY, [](L x, L y) { return x < y ? x : y; }, plain, 0);
  check<T, L>("Prod", 1, [](L x, L y) { return x * y; }, plain, sizeof(T) == 4 ? 2e-3 : 1e-11, 1e-30);
  for (int64_t n : {1, 3, 15, 16, 17, 100, 5000}) {
    for (int64_t at = 0; at < n; at += n / 5 + 1) {
      Array<T> x({n}, T(1)), y({});
      x[at] = static_cast<T>(NAN);
      Call().in(x).out(y).list({0}).run("Max");
      CHECK(y[0] != y[0]);
      Call().in(x).out(y).list({0}).run("Min");
      CHECK(y[0] != y[0]);
      // Places of extremes pass over NaN.
      int64_t first = at == 0 && n > 1 ? 1 : 0;
      Array<int32_t> i({});
      CHECK(Call().in(x).out(i).attr(0).run("ArgMax") == Code::ok && i[0] == first);
      CHECK(Call().in(x).out(i).attr(0).run("ArgMin") == Code::ok && i[0] == first);
      Array<T> wide({n, 3}, T(1));
      Array<int64_t> j({3});
      wide[at * 3 + 1] = static_cast<T>(NAN);
      wide[at * 3 + 2] = static_cast<T>(2);
      CHECK(Call().in(wide).out(j).attr(0).run("ArgMax") == Code::ok && j[0] == 0 && j[1] == first && j[2] == at);
    }
  }
}

template <class T> void integers() {
  using U = std::make_unsigned_t<T>;
  using W = long long;
  auto wrap = [](uint64_t v, int64_t) { return static_cast<U>(v); };
  check<T, uint64_t>("Sum", 0, [](uint64_t x, uint64_t y) { return x + y; }, wrap, 0);
  check<T, uint64_t>("Prod", 1, [](uint64_t x, uint64_t y) { return x * y; }, wrap, 0);
  check<T, W>("Mean", 0, [](W x, W y) { return x + y; }, [](W v, int64_t n) { return n == 0 ? 0 : v / n; }, 0);
  auto plain = [](T v, int64_t) { return v; };
  check<T, T>("Max", std::numeric_limits<T>::min(), [](T x, T y) { return x > y ? x : y; }, plain, 0);
  check<T, T>("Min", std::numeric_limits<T>::max(), [](T x, T y) { return x < y ? x : y; }, plain, 0);
  // The mean adds in 64 bits, with and without a sign.
  Array<T> ends({3}, T(0)), y({});
  ends[1] = std::numeric_limits<T>::max();
  CHECK(Call().in(ends).out(y).list({0}).run("Mean") == Code::ok && y[0] == ends[1] / 3);
}

void logical() {
  for (const Case& c : cases) {
    Walk walk(c);
    Random random(9);
    auto x = Array<bool>::make(c.dims, [&](int64_t) { return random.below(4) != 0; });
    Array<bool> all(walk.out, true), any(walk.out, false), y(walk.out);
    for (int64_t i = 0; i < x.size; i++) {
      int64_t to = walk.to[static_cast<size_t>(i)];
      all[to] = all[to] && x[i];
      any[to] = any[to] || x[i];
    }
    CHECK(Call().in(x).out(y).list(c.axes).run("All") == Code::ok && same(y, all));
    CHECK(Call().in(x).out(y).list(c.axes).run("Any") == Code::ok && same(y, any));
  }
}

template <class T, class I> void arguments() {
  for (const Dims& dims : {Dims{7}, Dims{3, 5}, Dims{4, 100}, Dims{2, 3, 4}, Dims{500, 7, 300}, Dims{1, 4}, Dims{3, 70000}}) {
    for (int axis = 0; axis < static_cast<int>(dims.size()); axis++) {
      Random random(5);
      auto x = Array<T>::make(dims, [&](int64_t) { return random.below(50); });
      Dims out = dims;
      out.erase(out.begin() + axis);
      Array<I> y(out), want(out);
      int64_t inner = 1, n = dims[static_cast<size_t>(axis)];
      for (size_t d = static_cast<size_t>(axis) + 1; d < dims.size(); d++) inner *= dims[d];
      for (bool largest : {true, false}) {
        for (int64_t i = 0; i < want.size; i++) {
          int64_t start = i / inner * n * inner + i % inner, best = 0;
          for (int64_t k = 1; k < n; k++) {
            T v = x[start + k * inner], b = x[start + best * inner];
            if (largest ? v > b : v < b) best = k;
          }
          want[i] = static_cast<I>(best);
        }
        CHECK(Call().in(x).out(y).attr(axis).run(largest ? "ArgMax" : "ArgMin") == Code::ok && same(y, want));
      }
    }
  }
  Array<T> none({2, 0}), nothing({0, 3});
  Array<I> two({2}), zero({0});
  CHECK(Call().in(none).out(two).attr(1).run("ArgMax") == Code::invalid_argument);
  CHECK(Call().in(nothing).out(zero).attr(1).run("ArgMax") == Code::ok);
}

}  // namespace

int main() {
  floats<float>();
  floats<double>();
  integers<int32_t>();
  integers<int64_t>();
  integers<uint8_t>();
  integers<int8_t>();
  integers<int16_t>();
  integers<uint16_t>();
  integers<uint32_t>();
  integers<uint64_t>();
  logical();
  arguments<float, int32_t>();
  arguments<double, int64_t>();
  arguments<int32_t, int64_t>();
  arguments<int64_t, int32_t>();
  arguments<uint8_t, int32_t>();
  arguments<int8_t, int32_t>();
  arguments<int16_t, int64_t>();
  arguments<uint16_t, int32_t>();
  arguments<uint32_t, int64_t>();
  arguments<uint64_t, int32_t>();
  return finish();
}
