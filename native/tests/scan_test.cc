#include "harness.h"

using namespace eagre;

namespace {

template <class T, class W> void check(const Dims& shape, int axis) {
  Random random(7);
  auto x = Array<T>::make(shape, [&](int64_t) {
    return DTypeOf<T>::value <= DType::f64 ? random.uniform(-1.5, 1.5) : double(random.below(5) + 1);
  });
  int64_t inner = 1, n = shape[axis];
  for (size_t i = axis + 1; i < shape.size(); i++) inner *= shape[i];
  for (int product = 0; product < 2; product++) {
    for (int exclusive = 0; exclusive < 2; exclusive++) {
      for (int reverse = 0; reverse < 2; reverse++) {
        Array<T> y(shape), expected(shape);
        for (int64_t r = 0; r < (n == 0 ? 0 : x.size / n); r++) {
          W sum = product;
          for (int64_t i = 0; i < n; i++) {
            int64_t at = r / inner * n * inner + (reverse ? n - 1 - i : i) * inner + r % inner;
            W next = product ? sum * static_cast<W>(x[at]) : sum + static_cast<W>(x[at]);
            expected[at] = static_cast<T>(exclusive ? sum : next);
            sum = next;
          }
        }
        CHECK(Call().in(x).out(y).attr(axis).attr(exclusive).attr(reverse).run(product ? "CumProd" : "CumSum") == Code::ok);
        CHECK(same(y, expected));
      }
    }
  }
}

template <class T, class W> void all() {
  check<T, W>({1}, 0);
  check<T, W>({1000}, 0);
  check<T, W>({40, 50}, 0);
  check<T, W>({40, 50}, 1);
  check<T, W>({5, 60, 700}, 1);
  check<T, W>({300, 300}, 0);
  check<T, W>({37, 50}, 1);
  check<T, W>({1003, 300}, 1);
  check<T, W>({0, 3}, 0);
  check<T, W>({3, 0}, 0);
}

}  // namespace

int main() {
  all<float, double>();
  all<double, double>();
  all<int32_t, uint32_t>();
  all<int64_t, uint64_t>();
  all<uint8_t, uint32_t>();
  Array<bool> b({3}), c({3});
  CHECK(Call().in(b).out(c).attr(0).attr(0).attr(0).run("CumSum") == Code::unimplemented);
  return finish();
}
