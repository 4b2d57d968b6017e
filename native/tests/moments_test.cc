// Moments against plain loops in long double.
#include "harness.h"

using namespace eagre;

namespace {

template <class T> void check(int64_t outer, int64_t n, int64_t inner, double offset) {
  Random random(static_cast<uint64_t>(outer * 31 + n * 7 + inner));
  auto x = Array<T>::make({outer, n, inner}, [&](int64_t) { return random.uniform(-2, 2) + offset; });
  Array<T> mean({outer, inner}), variance({outer, inner});
  for (int64_t o = 0; o < outer; o++) {
    for (int64_t j = 0; j < inner; j++) {
      const auto at = [&](int64_t i) { return static_cast<long double>(x[(o * n + i) * inner + j]); };
      long double m = 0, v = 0;
      for (int64_t i = 0; i < n; i++) m += at(i) / static_cast<long double>(n);
      for (int64_t i = 0; i < n; i++) v += (at(i) - m) * (at(i) - m) / static_cast<long double>(n);
      mean[o * inner + j] = static_cast<T>(m);
      variance[o * inner + j] = static_cast<T>(v);
    }
  }
  const double e = sizeof(T) == 4 ? 2e-6 : 1e-12;
  for (int threads : {1, 2}) {
    set_thread_count(threads);
    Array<T> m({outer, inner}), v({outer, inner});
    CHECK(Call().in(x).out(m).out(v).list({1}).run("Moments") == Code::ok);
    CHECK(close(m, mean, e, e) && close(v, variance, e, e));
  }
}

template <class T> void all() {
  for (int64_t outer : {1, 3}) {
    for (int64_t n : {1, 7, 16, 33, 100, 1000, 20000}) {
      for (int64_t inner : {1, 2, 5, 63, 64, 250}) check<T>(outer, n, inner, 0);
    }
  }
  check<T>(2, 40, 3000, 0);
  check<T>(700, 6, 4, 0);
  check<T>(500, 100, 1, 0);
  // Far from zero, where a difference of sums of squares would keep nothing.
  check<T>(2, 5000, 1, 1000);
  check<T>(2, 5000, 9, 1000);
}

}  // namespace

int main() {
  all<float>();
  all<double>();
  // No element: not a number; an infinite one: an infinite mean.
  Array<float> none({2, 0}), mean({2}), variance({2});
  CHECK(Call().in(none).out(mean).out(variance).list({1}).run("Moments") == Code::ok);
  CHECK(mean[0] != mean[0] && variance[1] != variance[1]);
  for (int64_t inner : {1, 2}) {
    Array<float> x({40, inner}), m({inner}), v({inner});
    x[3 * inner] = __builtin_inff();
    CHECK(Call().in(x).out(m).out(v).list({0}).run("Moments") == Code::ok);
    CHECK(m[0] == __builtin_inff() && v[0] != v[0]);
    CHECK(inner == 1 || (m[1] == 0 && v[1] == 0));
  }
  Array<float> x({2, 3, 4}), y({3}), z({3});
  CHECK(Call().in(x).out(y).out(z).list({0, 2}).run("Moments") == Code::internal);
  return finish();
}
