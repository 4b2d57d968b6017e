#include "harness.h"

using namespace eagre;

namespace {

template <class T> void check(const Dims& shape, const Dims& perm) {
  const int rank = static_cast<int>(shape.size());
  Dims out;
  for (int64_t p : perm) out.push_back(shape[p]);
  auto x = Array<T>::make(shape, [](int64_t i) { return i * 7 + 1; });
  Array<T> y(out), expected(out);
  Dims strides(rank, 1);
  for (int i = rank - 2; i >= 0; i--) strides[i] = strides[i + 1] * shape[i + 1];
  for (int64_t i = 0; i < y.size; i++) {
    int64_t rest = i, from = 0;
    for (int k = rank - 1; k >= 0; k--) {
      from += rest % out[k] * strides[perm[k]];
      rest /= out[k];
    }
    expected[i] = x[from];
  }
  CHECK(Call().in(x).out(y).list(perm).run("Transpose") == Code::ok);
  CHECK(same(y, expected));
}

template <class T> void all() {
  check<T>({}, {});
  check<T>({5}, {0});
  for (int64_t rows : {1, 2, 3, 16, 17, 64, 65, 131}) {
    for (int64_t columns : {1, 2, 15, 16, 33, 64, 200}) check<T>({rows, columns}, {1, 0});
  }
  check<T>({700, 333}, {1, 0});
  // Strides that share few sets of the cache.
  check<T>({70, 1024}, {1, 0});
  check<T>({1024, 70}, {1, 0});
  check<T>({300, 2048}, {1, 0});
  check<T>({3, 40, 1024}, {0, 2, 1});
  check<T>({5, 40, 1024}, {2, 1, 0});
  check<T>({4, 9, 31, 17}, {0, 3, 1, 2});
  check<T>({4, 17, 9, 31}, {0, 2, 3, 1});
  check<T>({3, 20, 4, 8}, {0, 2, 1, 3});
  check<T>({3, 20, 4, 8}, {3, 2, 1, 0});
  check<T>({3, 1, 20, 1, 4, 8}, {1, 5, 4, 0, 3, 2});
  check<T>({2, 3, 2, 3, 2, 3, 2, 3}, {7, 0, 6, 1, 5, 2, 4, 3});
  check<T>({0, 4}, {1, 0});
  // What the caches do not hold: rows of whole lines, with a part of a block at the end, and others.
  const int64_t scale = sizeof(T) == 1 ? 2 : 1;
  check<T>({1616 * scale, 1403 * scale}, {1, 0});
  check<T>({1601 * scale, 1412 * scale}, {1, 0});
  check<T>({5 * scale, 1216 * scale, 353}, {0, 2, 1});
  check<T>({70, 16384 * scale * scale, 2}, {2, 0, 1});
  Random random(3);
  for (int trial = 0; trial < 200; trial++) {
    int rank = static_cast<int>(random.below(6)) + 1;
    Dims shape, perm;
    for (int i = 0; i < rank; i++) {
      shape.push_back(random.below(6) + (random.below(4) == 0 ? 12 : 1));
      perm.push_back(i);
    }
    for (int i = rank - 1; i > 0; i--) std::swap(perm[i], perm[random.below(i + 1)]);
    check<T>(shape, perm);
  }
}

}  // namespace

int main() {
  all<float>();
  all<double>();
  all<uint8_t>();
  Array<float> x({2, 3}), y({2, 3});
  CHECK(Call().in(x).out(y).list({1, 0}).run("Transpose") == Code::internal);
  CHECK(Call().in(x).out(y).list({0, 0}).run("Transpose") == Code::internal);
  return finish();
}
