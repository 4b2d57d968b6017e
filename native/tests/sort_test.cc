#include <algorithm>
#include <limits>

#include "harness.h"

using namespace eagre;

namespace {

template <class T> bool before(T a, T b) {  // in ascending order, NaN last
  if (a != a) return false;
  if (b != b) return true;
  return a < b;
}

template <class T, class F> void check(int64_t rows, int64_t n, int64_t k, F value) {
  auto x = Array<T>::make({rows, n}, value);
  for (int descending = 0; descending < 2; descending++) {
    Array<T> values({rows, k}), expected({rows, k});
    Array<int32_t> indices({rows, k}), places({rows, k});
    for (int64_t r = 0; r < rows; r++) {
      std::vector<int32_t> order(n);
      for (int64_t i = 0; i < n; i++) order[i] = static_cast<int32_t>(i);
      const T* row = x.data() + r * n;
      std::stable_sort(order.begin(), order.end(),
                       [&](int32_t a, int32_t b) { return descending ? before(row[b], row[a]) : before(row[a], row[b]); });
      for (int64_t i = 0; i < k; i++) {
        places[r * k + i] = order[i];
        expected[r * k + i] = row[order[i]];
      }
    }
    CHECK(Call().in(x).out(values).out(indices).attr(descending).run("TopK") == Code::ok);
    CHECK(same(indices, places));
    CHECK(same(values, expected));
  }
}

template <class T> void all() {
  Random random(11);
  auto few = [&](int64_t) -> double {
    double v = double(random.below(7)) - (DTypeOf<T>::value < DType::u8 ? 3 : 0);
    if (DTypeOf<T>::value <= DType::f64) {
      int64_t special = random.below(40);
      if (special == 0) return NAN;
      if (special == 1) return -NAN;
      if (special == 2) return INFINITY;
      if (special == 3) return -INFINITY;
      if (special == 4) return -0.0;
    }
    return DTypeOf<T>::value == DType::boolean ? v > 2 : v;
  };
  auto many = [&](int64_t) -> double {
    double v = random.uniform(-1e9, 1e9);
    return DTypeOf<T>::value == DType::boolean ? v > 0 : DTypeOf<T>::value == DType::u8 ? double(random.below(256)) : v;
  };
  for (int64_t n : {1, 2, 7, 48, 49, 64, 65, 100, 1000}) {
    for (int64_t k : {int64_t(0), int64_t(1), int64_t(2), int64_t(5), int64_t(30), n / 8, n / 2, n}) {
      if (k > n) continue;
      check<T>(5, n, k, few);
      check<T>(5, n, k, many);
    }
  }
  check<T>(1, 30000, 30000, many);
  check<T>(1, 30000, 100, many);
  check<T>(3, 1000, 60, many);
  check<T>(3, 1000, 62, few);
  check<T>(2, 30001, 1800, few);
  check<T>(2, 30001, 1800, many);
  check<T>(1, 30000, 3, [](int64_t i) -> double { return i % 2; });
  check<T>(1, 5000, 40, [](int64_t i) -> double {
    if (DTypeOf<T>::value == DType::boolean) return i > 2500;
    return DTypeOf<T>::value == DType::u8 ? double(i / 20) : double(i);
  });
  check<T>(0, 5, 2, few);
  check<T>(600, 37, 4, many);
}

}  // namespace

int main() {
  all<float>();
  all<double>();
  all<int32_t>();
  all<int64_t>();
  all<uint8_t>();
  all<bool>();
  Array<float> x({2, 3}), v({2, 4});
  Array<int32_t> i({2, 4});
  CHECK(Call().in(x).out(v).out(i).attr(1).run("TopK") == Code::internal);
  return finish();
}
