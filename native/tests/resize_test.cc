#include "harness.h"

using namespace eagre;

namespace {

// Spans of all lengths up to k, at places in no order.
template <class T> void check(int64_t n, int64_t from, int64_t to, int64_t c, int64_t k) {
  Array<int32_t> spans({to, 2});
  for (int64_t i = 0; i < to; i++) {
    const int64_t length = i % (k + 1), start = i * 7 % (from - length + 1);
    spans[2 * i] = static_cast<int32_t>(start);
    spans[2 * i + 1] = static_cast<int32_t>(start + length);
  }
  auto weights = Array<T>::make({to, k}, [](int64_t i) { return i % 5 - 2; });
  for (bool transposed : {false, true}) {
    auto x = Array<T>::make({n, transposed ? to : from, c}, [](int64_t i) { return i % 13 - 6; });
    Array<T> y({n, transposed ? from : to, c}, T(9)), expected({n, transposed ? from : to, c}, T(0));
    for (int64_t b = 0; b < n; b++)
      for (int64_t i = 0; i < to; i++)
        for (int64_t j = spans[2 * i]; j < spans[2 * i + 1]; j++)
          for (int64_t e = 0; e < c; e++) {
            const int64_t whole = (b * from + j) * c + e, part = (b * to + i) * c + e;
            expected[transposed ? whole : part] += weights[i * k + j - spans[2 * i]] * x[transposed ? part : whole];
          }
    CHECK(Call().in(x).in(spans).in(weights).out(y).attr(transposed).run("ResizeAxis") == Code::ok);
    CHECK(same(y, expected));
    CHECK(y.intact());
  }
}

template <class T> void all() {
  check<T>(1, 5, 3, 1, 3);
  check<T>(3, 5, 9, 3, 2);
  check<T>(40, 17, 33, 3, 4);
  check<T>(33, 30, 7, 15, 9);
  check<T>(2, 9, 20, 16, 4);
  check<T>(2, 9, 20, 1100, 9);
  check<T>(300, 50, 60, 1, 7);
  check<T>(0, 5, 3, 2, 3);
  check<T>(2, 5, 3, 0, 3);
}

// Only what a span holds is read.
void reads_spans_alone() {
  Array<float> x({1, 3, 1}, {1, NAN, 3}), weights({2, 1}, {2, 2}), y({1, 2, 1});
  Array<int32_t> spans({2, 2}, {0, 1, 2, 3});
  CHECK(Call().in(x).in(spans).in(weights).out(y).attr(0).run("ResizeAxis") == Code::ok);
  CHECK(y[0] == 2 && y[1] == 6);
}

void refuses_spans_outside() {
  Array<float> x({1, 3, 1}, 1), weights({1, 2}, 1), y({1, 1, 1});
  for (const auto& [start, end] : {std::pair<int, int>{-1, 1}, {2, 1}, {2, 4}, {0, 3}}) {
    Array<int32_t> spans({1, 2}, {start, end});
    CHECK(Call().in(x).in(spans).in(weights).out(y).attr(0).run("ResizeAxis") == Code::out_of_range);
  }
}

}  // namespace

int main() {
  all<float>();
  all<double>();
  reads_spans_alone();
  refuses_spans_outside();
  return finish();
}
