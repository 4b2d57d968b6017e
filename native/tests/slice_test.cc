#include "harness.h"

using namespace eagre;

namespace {

// The offset of row-major position i of `part` within `whole`.
int64_t place(int64_t i, const Dims& part, const Dims& whole, const Dims& begin, const Dims& strides) {
  int64_t at = 0, step = 1;
  for (int k = static_cast<int>(part.size()) - 1; k >= 0; k--) {
    at += (begin[k] + i % part[k] * strides[k]) * step;
    i /= part[k];
    step *= whole[k];
  }
  return at;
}

template <class T> void check(const Dims& whole, const Dims& part, const Dims& begin, const Dims& strides) {
  auto x = Array<T>::make(whole, [](int64_t i) { return i * 3 + 1; });
  Array<T> y(part), expected(part);
  for (int64_t i = 0; i < y.size; i++) expected[i] = x[place(i, part, whole, begin, strides)];
  CHECK(Call().in(x).out(y).list(begin).list(strides).run("Slice") == Code::ok);
  CHECK(same(y, expected));
  Array<T> dx(whole, T(1)), back(whole, T(0));
  for (int64_t i = 0; i < y.size; i++) back[place(i, part, whole, begin, strides)] = y[i];
  CHECK(Call().in(y).out(dx).list(begin).list(strides).run("SliceGrad") == Code::ok);
  CHECK(same(dx, back));
}

template <class T> void reverse(const Dims& shape, const Dims& axes) {
  auto x = Array<T>::make(shape, [](int64_t i) { return i + 1; });
  Array<T> y(shape), expected(shape);
  Dims begin(shape.size(), 0), strides(shape.size(), 1);
  for (int64_t axis : axes) {
    begin[axis] = shape[axis] - 1;
    strides[axis] = -1;
  }
  for (int64_t i = 0; i < y.size; i++) expected[i] = x[place(i, shape, shape, begin, strides)];
  CHECK(Call().in(x).out(y).list(axes).run("Reverse") == Code::ok);
  CHECK(same(y, expected));
}

template <class T> void tile(const Dims& shape, const Dims& multiples) {
  auto x = Array<T>::make(shape, [](int64_t i) { return i + 1; });
  Dims big;
  for (size_t i = 0; i < shape.size(); i++) big.push_back(shape[i] * multiples[i]);
  Array<T> y(big), expected(big);
  for (int64_t i = 0; i < y.size; i++) {
    int64_t rest = i, at = 0, step = 1;
    for (int k = static_cast<int>(big.size()) - 1; k >= 0; k--) {
      at += rest % big[k] % shape[k] * step;
      rest /= big[k];
      step *= shape[k];
    }
    expected[i] = x[at];
  }
  CHECK(Call().in(x).out(y).run("Tile") == Code::ok);
  CHECK(same(y, expected));
}

template <class T> void all() {
  check<T>({}, {}, {}, {});
  check<T>({10}, {4}, {3}, {1});
  check<T>({10}, {4}, {9}, {-3});
  check<T>({10}, {0}, {4}, {1});
  check<T>({300000}, {150000}, {1}, {2});
  check<T>({300000}, {290001}, {9999}, {1});
  check<T>({7, 9}, {3, 4}, {6, 1}, {-2, 2});
  check<T>({40, 30, 20}, {40, 30, 5}, {0, 0, 7}, {1, 1, 1});
  check<T>({40, 30, 20}, {13, 30, 20}, {20, 0, 0}, {1, 1, 1});
  check<T>({40, 300, 200}, {40, 100, 200}, {0, 100, 0}, {1, 2, 1});
  check<T>({3, 4, 5, 2, 3, 2, 2, 2}, {2, 2, 3, 1, 2, 2, 1, 2}, {0, 3, 0, 1, 2, 0, 1, 1}, {2, -1, 2, 1, -2, 1, 1, -1});
  Random random(5);
  for (int trial = 0; trial < 300; trial++) {
    int rank = static_cast<int>(random.below(5)) + 1;
    Dims whole, part, begin, strides;
    for (int i = 0; i < rank; i++) {
      int64_t n = random.below(9) + 1, stride = random.below(3) + 1;
      int64_t start = random.below(n), most = (n - 1 - start) / stride + 1;
      if (random.below(2)) {
        stride = -stride;
        most = start / -stride + 1;
      }
      whole.push_back(n);
      part.push_back(random.below(most) + 1);
      begin.push_back(start);
      strides.push_back(stride);
    }
    check<T>(whole, part, begin, strides);
  }
  reverse<T>({}, {});
  reverse<T>({1000}, {0});
  reverse<T>({0, 3}, {1});
  reverse<T>({300000}, {0});
  reverse<T>({30, 40, 50}, {0, 2});
  reverse<T>({30, 40, 50}, {1});
  reverse<T>({3, 4, 5, 3}, {0, 1, 2, 3});
  tile<T>({}, {});
  tile<T>({3}, {100000});
  tile<T>({1}, {1000});
  tile<T>({2, 3}, {3, 1});
  tile<T>({2, 3}, {1, 4});
  tile<T>({2, 0}, {2, 4});
  tile<T>({2, 1, 3, 1, 2}, {3, 4, 1, 5, 2});
  tile<T>({1, 2, 1, 2, 1, 2, 1, 2}, {2, 2, 3, 1, 2, 2, 2, 3});
  tile<T>({700, 1}, {1, 500});
}

}  // namespace

int main() {
  all<float>();
  all<int64_t>();
  all<uint8_t>();
  Array<float> x({5}), y({3});
  CHECK(Call().in(x).out(y).list({3}).list({1}).run("Slice") == Code::invalid_argument);
  CHECK(Call().in(x).out(y).list({1}).list({-1}).run("Slice") == Code::invalid_argument);
  CHECK(Call().in(y).out(x).list({3}).list({1}).run("SliceGrad") == Code::invalid_argument);
  return finish();
}
