#include "harness.h"

using namespace eagre;

namespace {

template <class T> void check(const Dims& shape, int axis, const Dims& sizes) {
  std::vector<Array<T>> inputs;
  Dims out = shape;
  out[axis] = 0;
  Call call;
  int64_t start = 0;
  for (int64_t n : sizes) {
    Dims part = shape;
    part[axis] = n;
    out[axis] += n;
    inputs.push_back(Array<T>::make(part, [&](int64_t i) { return start + i; }));
    start += 1000;
  }
  for (auto& x : inputs) call.in(x);
  Array<T> y(out), expected(out);
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; i++) outer *= shape[i];
  for (size_t i = axis + 1; i < shape.size(); i++) inner *= shape[i];
  int64_t to = 0;
  for (int64_t o = 0; o < outer; o++) {
    for (auto& x : inputs) {
      int64_t n = x.dims[axis] * inner;
      for (int64_t i = 0; i < n; i++) expected[to++] = x[o * n + i];
    }
  }
  CHECK(call.out(y).attr(axis).run("Concat") == Code::ok);
  CHECK(same(y, expected));
}

template <class T> void all() {
  check<T>({3}, 0, {3, 4, 0, 1});
  check<T>({3, 5}, 0, {1, 2});
  check<T>({3, 5}, 1, {1, 2, 30});
  check<T>({300, 5}, 1, {1, 1, 1});
  check<T>({300, 700}, 1, {300, 400, 1});
  check<T>({3, 2, 4}, 1, {300, 400});
  check<T>({4, 0, 3}, 2, {1, 2});
  check<T>({100000}, 0, {100000, 90000});
  check<T>({40, 5}, 1, {17, 65, 127, 129, 0, 513, 600});
}

}  // namespace

int main() {
  all<float>();
  all<double>();
  all<bool>();
  // Every width that has a way of its own.
  for (int64_t n = 0; n < 300; n++) check<bool>({7, 3}, 1, {n, n + 1, 2});
  for (int64_t n = 0; n < 160; n++) check<bool>({1000, 3}, 1, {n, n, n});
  // So large that it leaves past the caches.
  check<float>({60000, 9}, 1, {20, 33, 17});
  check<float>({3, 9}, 0, {200000, 300001, 7});
  Array<float> a({2, 2}), b({2, 3}), y({2, 4});
  CHECK(Call().in(a).in(b).out(y).attr(1).run("Concat") == Code::internal);
  return finish();
}
