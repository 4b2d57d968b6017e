#include <algorithm>

#include "harness.h"

using namespace eagre;

namespace {

// batch, outer, n, inner of params; `count` indices a batch.
template <class T, class I> void gather(int64_t batch, int64_t outer, int64_t n, int64_t inner, int64_t count) {
  Random random(13);
  auto params = Array<T>::make({batch, outer, n, inner}, [](int64_t i) { return i % 127; });
  auto indices = Array<I>::make({batch, count}, [&](int64_t) { return random.below(n); });
  Array<T> y({batch, outer, count, inner}), expected(y.dims), grad(params.dims, T(5)), sums(params.dims, T(0));
  for (int64_t i = 0; i < y.size; i++) {
    int64_t k = i % inner, at = i / inner % count, plane = i / inner / count;
    int64_t from = (plane * n + indices[plane / outer * count + at]) * inner + k;
    expected[i] = params[from];
    sums[from] = static_cast<T>(sums[from] + expected[i]);
  }
  CHECK(Call().in(params).in(indices).out(y).attr(2).attr(1).run("Gather") == Code::ok);
  CHECK(same(y, expected));
  CHECK(Call().in(y).in(indices).out(grad).attr(2).attr(1).run("GatherGrad") == Code::ok);
  CHECK(same(grad, sums));
  if (indices.size == 0 || params.size == 0) return;
  for (int64_t bad : {int64_t(-1), n}) {
    indices[indices.size / 2] = static_cast<I>(bad);
    CHECK(Call().in(params).in(indices).out(y).attr(2).attr(1).run("Gather") == Code::out_of_range);
    CHECK(Call().in(y).in(indices).out(grad).attr(2).attr(1).run("GatherGrad") == Code::out_of_range);
    CHECK(y.intact() && grad.intact());
  }
}

template <class T, class I> void gathers() {
  gather<T, I>(1, 1, 10, 1, 7);
  gather<T, I>(1, 1, 10, 3, 100);
  gather<T, I>(1, 1, 1000, 128, 500);
  gather<T, I>(1, 1, 5, 20000, 9);
  gather<T, I>(3, 1, 11, 5, 4);
  gather<T, I>(3, 4, 11, 5, 6);
  gather<T, I>(1, 300, 70, 1, 40);
  gather<T, I>(2, 3, 4, 0, 5);
  gather<T, I>(2, 3, 4, 2, 0);
  gather<T, I>(0, 3, 4, 2, 5);
}

template <class T> void nd() {
  auto params = Array<T>::make({4, 5, 3}, [](int64_t i) { return i; });
  Array<int32_t> two({3, 2}, {0, 1, 3, 4, 0, 1});
  Array<T> y({3, 3});
  CHECK(Call().in(params).in(two).out(y).run("GatherNd") == Code::ok);
  const int rows[] = {1, 19, 1};
  for (int64_t i = 0; i < 9; i++) CHECK(y[i] == static_cast<T>(rows[i / 3] * 3 + i % 3));
  Array<int64_t> three({2, 1, 3}, {0, 1, 2, 3, 4, 0});
  Array<T> z({2, 1});
  CHECK(Call().in(params).in(three).out(z).run("GatherNd") == Code::ok);
  CHECK(z[0] == T(5) && z[1] == T(57));
  Array<int64_t> none({2, 0});
  Array<T> all({2, 4, 5, 3});
  CHECK(Call().in(params).in(none).out(all).run("GatherNd") == Code::ok);
  for (int64_t i = 0; i < 120; i++) CHECK(all[i] == params[i % 60]);
  Array<int64_t> many({int64_t{1} << 50, 0});
  Array<T> empty({0}), nothing({int64_t{1} << 50, 0});
  CHECK(Call().in(empty).in(many).out(nothing).run("GatherNd") == Code::ok);
  two[3] = 5;
  CHECK(Call().in(params).in(two).out(y).run("GatherNd") == Code::out_of_range);

  two[3] = 4;
  auto updates = Array<T>::make({3, 3}, [](int64_t i) { return 10 * (i / 3) + 2; });
  for (int mode = 0; mode < 5; mode++) {
    Array<T> out(params.dims), expected = params;
    for (int64_t i = 0; i < 9; i++) {
      T& to = expected[rows[i / 3] * 3 + i % 3];
      T u = updates[i];
      if (mode == 0) to = u;
      if (mode == 1) to = static_cast<T>(to + u);
      if (mode == 2) to = static_cast<T>(to - u);
      if (mode == 3) to = std::max(to, u);
      if (mode == 4) to = std::min(to, u);
    }
    CHECK(Call().in(params).in(two).in(updates).out(out).attr(mode).run("ScatterNd") == Code::ok);
    CHECK(same(out, expected));
    two[0] = -1;
    CHECK(Call().in(params).in(two).in(updates).out(out).attr(mode).run("ScatterNd") == Code::out_of_range);
    two[0] = 0;
  }
}

template <class T, class I> void set_row(int64_t n, const Dims& rest) {
  Dims whole = {n};
  whole.insert(whole.end(), rest.begin(), rest.end());
  const auto x = Array<T>::make(whole, [](int64_t i) { return i % 127; });
  const auto row = Array<T>::make(rest, [](int64_t i) { return i % 5 + 200; });
  Array<I> index(Dims{});
  for (int mode = 0; mode < 2; mode++) {
    for (int64_t at : {int64_t(0), n / 2, n - 1}) {
      if (mode == 1 && DTypeOf<T>::value == DType::boolean) continue;
      index[0] = static_cast<I>(at);
      Array<T> expected = x, y(whole), own = x;
      for (int64_t k = 0; k < row.size; k++) {
        T& to = expected[at * row.size + k];
        to = mode == 0 ? row[k] : static_cast<T>(to + row[k]);
      }
      CHECK(Call().in(x).in(index).in(row).out(y).attr(mode).run("SetRow") == Code::ok);
      CHECK(same(y, expected));
      CHECK(Call().in(own).in(index).in(row).out(own).attr(mode).run("SetRow") == Code::ok);
      CHECK(same(own, expected));
    }
    for (int64_t bad : {int64_t(-1), n}) {
      Array<T> own = x;
      index[0] = static_cast<I>(bad);
      if (mode == 1 && DTypeOf<T>::value == DType::boolean) continue;
      CHECK(Call().in(own).in(index).in(row).out(own).attr(mode).run("SetRow") == Code::out_of_range);
      CHECK(same(own, x));
    }
  }
}

template <class T> void set_rows() {
  set_row<T, int32_t>(5, {});
  set_row<T, int64_t>(1, {3});
  set_row<T, int32_t>(7, {2, 3});
  set_row<T, int64_t>(4, {0, 3});
  set_row<T, int32_t>(3, {70000, 3});
}

template <class T, class I> void one_hot(int64_t outer, int64_t depth, int64_t inner) {
  Random random(17);
  const int64_t least = DTypeOf<I>::value == DType::u8 ? 0 : -1;
  auto indices = Array<I>::make({outer, inner}, [&](int64_t) { return random.below(depth + 3) + least; });
  Array<T> y({outer, depth, inner}), expected(y.dims);
  for (int64_t i = 0; i < y.size; i++) {
    expected[i] = static_cast<int64_t>(indices[i / inner / depth * inner + i % inner]) == i / inner % depth ? T(1) : T(0);
  }
  CHECK(Call().in(indices).out(y).attr(1).attr(1).attr(0).run("OneHot") == Code::ok);
  CHECK(same(y, expected));
}

template <class T> void nonzero(const Dims& shape, int64_t every) {
  auto x = Array<T>::make(shape, [&](int64_t i) { return i % every == 0; });
  const int64_t rank = static_cast<int64_t>(shape.size()), n = (x.size + every - 1) / every;
  Array<int64_t> y({n, rank}), expected(y.dims);
  for (int64_t i = 0; i < n; i++) {
    int64_t rest = i * every;
    for (int64_t k = rank - 1; k >= 0; k--) {
      expected[i * rank + k] = rest % shape[k];
      rest /= shape[k];
    }
  }
  CHECK(Call().in(x).out(y).run("Nonzero") == Code::ok);
  CHECK(same(y, expected));
  Array<int64_t> wrong({n + 1, rank});
  CHECK(Call().in(x).out(wrong).run("Nonzero") == Code::internal);
}

}  // namespace

int main() {
  gathers<float, int32_t>();
  gathers<float, int64_t>();
  gathers<double, int32_t>();
  gathers<uint8_t, int32_t>();
  gathers<int64_t, int64_t>();
  // Results that the caches do not hold: rows of whole lines, and others.
  gather<float, int32_t>(2, 1, 300, 64, 35000);
  gather<float, int32_t>(1, 1, 300, 65, 66000);
  nd<float>();
  nd<int32_t>();
  nd<uint8_t>();
  set_rows<float>();
  set_rows<double>();
  set_rows<int32_t>();
  set_rows<int64_t>();
  set_rows<uint8_t>();
  set_rows<bool>();
  Array<bool> flags({2, 1}), flag({1});
  Array<int32_t> first(Dims{});
  CHECK(Call().in(flags).in(first).in(flag).out(flags).attr(1).run("SetRow") == Code::unimplemented);
  Array<uint8_t> single(Dims{});
  CHECK(Call().in(flags).in(single).in(flag).out(flags).attr(0).run("SetRow") == Code::unimplemented);
  one_hot<float, int32_t>(100, 10, 1);
  one_hot<uint8_t, int64_t>(7, 3, 5);
  one_hot<int64_t, uint8_t>(7, 5, 3);
  one_hot<bool, int32_t>(60000, 10, 1);
  one_hot<double, int32_t>(0, 10, 1);
  nonzero<float>({}, 1);
  nonzero<float>({10}, 3);
  nonzero<bool>({300, 500, 2}, 7);
  nonzero<int64_t>({0, 3}, 2);

  // NaN survives a maximum; a float gradient is the same with any number of threads.
  Array<float> base({2}, {1, NAN}), updates({2}, {NAN, 5}), y({2});
  Array<int32_t> rows({2, 1}, {0, 1});
  for (int mode : {3, 4}) {
    CHECK(Call().in(base).in(rows).in(updates).out(y).attr(mode).run("ScatterNd") == Code::ok);
    CHECK(y[0] != y[0] && y[1] != y[1]);
  }
  // Over what it adds to, a row that comes twice included.
  Array<float> sums({3}, {1, 2, 3}), more({3}, {10, 20, 30});
  Array<int32_t> twice({3, 1}, {2, 0, 2});
  CHECK(Call().in(sums).in(twice).in(more).out(sums).attr(1).run("ScatterNd") == Code::ok);
  CHECK(sums[0] == 21 && sums[1] == 2 && sums[2] == 43);
  Random random(19);
  auto dy = Array<float>::make({40000, 64}, [&](int64_t) { return random.uniform(); });
  auto indices = Array<int32_t>::make({40000}, [&](int64_t) { return random.below(3000); });
  Array<float> one({3000, 64}), two({3000, 64});
  int threads = thread_count();
  set_thread_count(1);
  CHECK(Call().in(dy).in(indices).out(one).attr(0).attr(0).run("GatherGrad") == Code::ok);
  set_thread_count(4);
  CHECK(Call().in(dy).in(indices).out(two).attr(0).attr(0).run("GatherGrad") == Code::ok);
  set_thread_count(threads);
  CHECK(same(one, two));
  return finish();
}
