#include <algorithm>
#include <limits>

#include "harness.h"

using namespace eagre;

namespace {

enum { kSum, kMean, kProduct, kMaximum, kMinimum };

// Integers wrap.
template <class T> T plus(T a, T b) {
  if constexpr (std::is_integral<T>::value) return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else return a + b;
}
template <class T> T times(T a, T b) {
  if constexpr (std::is_integral<T>::value) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else return a * b;
}

// What the rows of each segment make, one by one, in the widest type.
template <class T> Array<T> expected(const Array<T>& x, const std::vector<int64_t>& ids, int64_t count, int reduction) {
  using Widest = typename std::conditional<std::is_floating_point<T>::value, double, typename std::conditional<std::is_signed<T>::value, int64_t, uint64_t>::type>::type;
  Dims dims = x.dims;
  dims[0] = count;
  Array<T> y(dims, T(reduction == kProduct ? 1 : 0));
  const int64_t inner = count == 0 ? 0 : y.size / count;
  for (int64_t id = 0; id < count; id++) {
    for (int64_t k = 0; k < inner; k++) {
      Widest found = 0;
      int64_t rows = 0;
      for (size_t r = 0; r < ids.size(); r++) {
        if (ids[r] != id) continue;
        const Widest v = x[static_cast<int64_t>(r) * inner + k];
        if (rows++ == 0) found = v;
        else if (reduction <= kMean) found = plus(found, v);
        else if (reduction == kProduct) found = times(found, v);
        else found = reduction == kMaximum ? std::max(found, v) : std::min(found, v);
      }
      if (rows == 0) continue;
      // Integers wrap before they are divided.
      if (reduction == kMean) found = static_cast<Widest>(static_cast<T>(found)) / static_cast<Widest>(rows);
      y[id * inner + k] = static_cast<T>(found);
    }
  }
  return y;
}

template <class T, class I> void reduce(const std::vector<int64_t>& ids, int64_t count, Dims rest) {
  Random random(7);
  Dims dims = {static_cast<int64_t>(ids.size())}, out = {count};
  for (int64_t d : rest) dims.push_back(d), out.push_back(d);
  const auto index = Array<I>::make({static_cast<int64_t>(ids.size())}, [&](int64_t i) { return ids[static_cast<size_t>(i)]; });
  for (int reduction = kSum; reduction <= kMinimum; reduction++) {
    // Of floats, such that neither sums nor products are rounded.
    const auto x = Array<T>::make(dims, [&](int64_t) {
      const int64_t v = random.below(7) - (std::is_signed<T>::value ? 3 : 0);
      return std::is_floating_point<T>::value && reduction == kProduct ? (v < 0 ? -1 : 1) : v;
    });
    Array<T> y(out);
    CHECK(Call().in(x).in(index).out(y).attr(reduction).run("SegmentReduce") == Code::ok);
    CHECK(same(y, expected(x, ids, count, reduction)));
  }
}

template <class T> void all() {
  for (const Dims& rest : {Dims{}, {2}, {3}, {2, 2}, {5}, {16}, {33}, {0}}) {
    reduce<T, int32_t>({0, 0, 2, 2, 2, 5}, 7, rest);
    reduce<T, int64_t>({3}, 4, rest);
    reduce<T, int64_t>({}, 0, rest);
    reduce<T, int32_t>({}, 3, rest);
  }
  // Segments of all lengths, beside each other and with gaps.
  std::vector<int64_t> ids;
  for (int64_t length = 1; length < 80; length++) ids.insert(ids.end(), static_cast<size_t>(length), 2 * length + length / 40);
  reduce<T, int32_t>(ids, ids.back() + 1, {});
  reduce<T, int64_t>(ids, ids.back() + 5, {17});
}

// More than one thread has its part.
void long_ones() {
  for (int64_t each : {1, 3, 1000, 400000}) {
    std::vector<int64_t> ids;
    for (int64_t i = 0; i < 300000; i++) ids.push_back(i / each);
    const uint32_t before = job_count();
    const auto index = Array<int32_t>::make({300000}, [&](int64_t i) { return ids[static_cast<size_t>(i)]; });
    const auto x = Array<float>::make({300000}, [](int64_t i) { return i % 11 - 5; });
    Array<float> y({ids.back() + 1});
    CHECK(Call().in(x).in(index).out(y).attr(kSum).run("SegmentReduce") == Code::ok);
    CHECK(thread_count() == 1 || job_count() != before);
    Array<float> sums(y.dims, 0);
    for (int64_t i = 0; i < 300000; i++) sums[ids[static_cast<size_t>(i)]] += x[i];
    CHECK(same(y, sums));
  }
}

void no_numbers() {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  Array<float> x({6}, {1, nan, 3, -inf, nan, 2});
  Array<int32_t> ids({6}, {0, 0, 0, 1, 2, 2});
  Array<float> y({3});
  for (int reduction : {kMaximum, kMinimum, kSum, kMean, kProduct}) {
    CHECK(Call().in(x).in(ids).out(y).attr(reduction).run("SegmentReduce") == Code::ok);
    CHECK(std::isnan(y[0]) && y[1] == -inf && std::isnan(y[2]) && y.intact());
  }
}

template <class I> void refused() {
  const auto code = [](std::initializer_list<I> list, int64_t count, int reduction = 0) {
    Array<I> ids({static_cast<int64_t>(list.size())}, list);
    Array<float> x({ids.size, 2}, 1.0f), y({count, 2});
    Call call;
    const Code found = call.in(x).in(ids).out(y).attr(reduction).run("SegmentReduce");
    CHECK(y.intact());
    return found;
  };
  CHECK(code({0, 2, 1}, 3) == Code::invalid_argument);
  CHECK(code({-1, 0, 1}, 3) == Code::invalid_argument);
  CHECK(code({-1}, 0) == Code::invalid_argument);
  CHECK(code({0, 3}, 3) == Code::out_of_range);
  CHECK(code({0, std::numeric_limits<I>::max()}, 3) == Code::out_of_range);
  CHECK(code({0, std::numeric_limits<I>::max(), std::numeric_limits<I>::min()}, 3) == Code::invalid_argument);
  CHECK(code({0, 1}, 2, 5) == Code::internal);
  CHECK(code({0, 1}, 2, -1) == Code::internal);
  CHECK(code({0, 1}, 2) == Code::ok);
}

}  // namespace

int main() {
  all<float>();
  all<double>();
  all<int32_t>();
  all<int64_t>();
  all<uint8_t>();
  all<int8_t>();
  all<int16_t>();
  all<uint16_t>();
  all<uint32_t>();
  all<uint64_t>();
  long_ones();
  no_numbers();
  refused<int32_t>();
  refused<int64_t>();
  Array<float> x({2, 3}, 1.0f), y({2, 3}), other({2, 2});
  Array<int32_t> ids({2}, {0, 1}), three({3}, {0, 1, 1});
  CHECK(Call().in(x).in(three).out(y).attr(0).run("SegmentReduce") == Code::internal);
  CHECK(Call().in(x).in(ids).out(other).attr(0).run("SegmentReduce") == Code::internal);
  return finish();
}
