#include "harness.h"

using namespace eagre;

namespace {

int64_t source(int64_t at, int64_t n, int mode) {
  if (at >= 0 && at < n) return at;
  if (mode == 0) return -1;
  if (mode == 1) return at < 0 ? -at : 2 * n - 2 - at;
  return at < 0 ? -at - 1 : 2 * n - 1 - at;
}

template <class T> void check(const Dims& shape, const Dims& before, const Dims& after, int mode) {
  const int rank = static_cast<int>(shape.size());
  Dims out;
  for (int i = 0; i < rank; i++) out.push_back(before[i] + shape[i] + after[i]);
  auto x = Array<T>::make(shape, [](int64_t i) { return i + 1; });
  Array<T> y(out), expected(out), dx(shape, T(9)), sums(shape, T(0));
  auto dy = Array<T>::make(out, [](int64_t i) { return i % 17; });
  for (int64_t i = 0; i < y.size; i++) {
    int64_t rest = i, at = 0, step = 1;
    bool constant = false;
    for (int k = rank - 1; k >= 0; k--) {
      int64_t s = source(rest % out[k] - before[k], shape[k], mode);
      constant |= s < 0;
      at += s * step;
      step *= shape[k];
      rest /= out[k];
    }
    expected[i] = constant ? T(1) : x[at];
    if (mode > 0) sums[at] = static_cast<T>(sums[at] + dy[i]);
  }
  CHECK(Call().in(x).out(y).list(before).list(after).attr(mode).attr(1).run("Pad") == Code::ok);
  CHECK(same(y, expected));
  if (mode == 0) return;
  CHECK(Call().in(dy).out(dx).list(before).list(after).attr(mode).run("MirrorPadGrad") == Code::ok);
  CHECK(same(dx, sums));
}

template <class T> void all() {
  for (int mode = 0; mode < 3; mode++) {
    check<T>({}, {}, {}, mode);
    check<T>({4}, {3}, {2}, mode);
    check<T>({4, 5}, {0, 4}, {3, 0}, mode);
    check<T>({4, 5, 3}, {1, 2, 0}, {2, 1, 0}, mode);
    check<T>({3, 28, 28, 1}, {0, 2, 2, 0}, {0, 2, 2, 0}, mode);
    check<T>({2, 28, 28, 16}, {0, 1, 1, 0}, {0, 2, 2, 0}, mode);
    check<T>({2, 2, 2, 2, 2, 2, 2, 2}, {1, 0, 1, 0, 1, 0, 1, 0}, {1, 1, 0, 0, 1, 1, 0, 1}, mode);
    check<T>({5, 5}, {0, 0}, {0, 0}, mode);
    check<T>({100, 300, 3}, {1, 2, 2}, {2, 1, 0}, mode);
    check<T>({0, 4}, {0, 1}, {0, 1}, mode);
  }
  check<T>({0, 4}, {1, 1}, {2, 0}, 0);
  check<T>({2, 0}, {1, 1}, {2, 1}, 0);
  check<T>({3}, {100}, {50}, 0);
  // Rows so long that threads share them, with what is copied in one piece, across two, and in none.
  check<T>({3}, {300000}, {400001}, 0);
  check<T>({2, 600000}, {1, 262143}, {0, 5}, 0);
  check<T>({3, 1}, {0, 0}, {1, 700000}, 0);
  check<T>({400000}, {300000}, {200001}, 1);
}

}  // namespace

int main() {
  all<float>();
  all<double>();
  all<int64_t>();
  all<uint8_t>();
  Array<float> x({3}), y({6});
  CHECK(Call().in(x).out(y).list({3}).list({0}).attr(1).attr(0).run("Pad") == Code::invalid_argument);
  CHECK(Call().in(x).out(y).list({1}).list({1}).attr(1).attr(0).run("Pad") == Code::internal);
  return finish();
}
