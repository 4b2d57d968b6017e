// MatMul against plain loops. The values are small whole numbers, so every order of summation gives the same result.
#include "harness.h"

using namespace eagre;

namespace {

template <class T> Array<T> whole(Random& random, Dims dims) {
  return Array<T>::make(std::move(dims), [&](int64_t) { return random.below(9) - 4; });
}

template <class T>
void check(Random& random, Dims ab, Dims bb, Dims yb, int64_t m, int64_t n, int64_t k, bool ta, bool tb, bool bias, bool relu) {
  auto with = [](Dims d, int64_t x, int64_t y) {
    d.push_back(x);
    d.push_back(y);
    return d;
  };
  Array<T> a = whole<T>(random, ta ? with(ab, k, m) : with(ab, m, k)), b = whole<T>(random, tb ? with(bb, n, k) : with(bb, k, n));
  Array<T> c = whole<T>(random, {n});
  Array<T> y(with(yb, m, n), T(77)), expected(y.dims), again(y.dims, T(78));
  int64_t batch = 1;
  for (int64_t d : yb) batch *= d;
  for (int64_t index = 0; index < batch; index++) {
    int64_t ia = 0, ib = 0, rest = index, sa = 1, sb = 1;
    for (size_t i = 1; i <= yb.size(); i++) {
      int64_t x = rest % yb[yb.size() - i];
      rest /= yb[yb.size() - i];
      if (i <= ab.size()) {
        if (ab[ab.size() - i] != 1) ia += x * sa;
        sa *= ab[ab.size() - i];
      }
      if (i <= bb.size()) {
        if (bb[bb.size() - i] != 1) ib += x * sb;
        sb *= bb[bb.size() - i];
      }
    }
    for (int64_t i = 0; i < m; i++) {
      for (int64_t j = 0; j < n; j++) {
        double sum = bias ? static_cast<double>(c[j]) : 0;
        for (int64_t l = 0; l < k; l++) {
          sum += static_cast<double>(a[ia * m * k + (ta ? l * m + i : i * k + l)]) *
                 static_cast<double>(b[ib * k * n + (tb ? j * k + l : l * n + j)]);
        }
        expected[(index * m + i) * n + j] = static_cast<T>(relu && sum < 0 ? 0 : sum);
      }
    }
  }
  auto run = [&](Array<T>& out) {
    Call call;
    call.in(a).in(b);
    if (bias) call.in(c);
    Code code = call.out(out).attr(ta).attr(tb).attr(relu).run("MatMul");
    if (code != Code::ok) std::printf("%s\n", call.message);
    CHECK(code == Code::ok);
  };
  set_thread_count(1);
  run(again);
  set_thread_count(2);
  run(y);
  CHECK(same(y, again));
  if (!close(y, expected, 0)) {
    failures()++;
    std::printf("m %lld n %lld k %lld ta %d tb %d bias %d relu %d\n", (long long)m, (long long)n, (long long)k, ta, tb, bias,
                relu);
  }
}

// Fractions: the bits must not depend on the number of threads.
void check_threads(int64_t m, int64_t n, int64_t k, bool ta, bool tb) {
  Random random(static_cast<uint64_t>(m * 31 + n * 7 + k));
  auto a = Array<float>::make(ta ? Dims{k, m} : Dims{m, k}, [&](int64_t) { return random.uniform(); });
  auto b = Array<float>::make(tb ? Dims{n, k} : Dims{k, n}, [&](int64_t) { return random.uniform(); });
  Array<float> y1({m, n}), y2({m, n});
  set_thread_count(1);
  CHECK(Call().in(a).in(b).out(y1).attr(ta).attr(tb).attr(0).run("MatMul") == Code::ok);
  set_thread_count(2);
  CHECK(Call().in(a).in(b).out(y2).attr(ta).attr(tb).attr(0).run("MatMul") == Code::ok);
  CHECK(same(y1, y2));
}

template <class T> void all(uint64_t seed) {
  Random random(seed);
  const int64_t sizes[] = {1, 2, 3, 5, 8, 13, 14, 15, 17, 31, 32, 33, 47, 64, 65, 100};
  for (int i = 0; i < 300; i++) {
    int64_t m = sizes[random.below(16)], n = sizes[random.below(16)], k = sizes[random.below(16)];
    check<T>(random, {}, {}, {}, m, n, k, random.below(2), random.below(2), random.below(2), random.below(2));
  }
  for (int t = 0; t < 4; t++) {
    check<T>(random, {}, {}, {}, 0, 3, 4, t & 1, t & 2, true, false);
    check<T>(random, {}, {}, {}, 3, 0, 4, t & 1, t & 2, true, false);
    check<T>(random, {}, {}, {}, 3, 4, 0, t & 1, t & 2, true, true);
    check<T>(random, {2, 3}, {2, 3}, {2, 3}, 5, 7, 9, t & 1, t & 2, false, false);
    check<T>(random, {3}, {2, 1}, {2, 3}, 5, 18, 9, t & 1, t & 2, true, true);
    check<T>(random, {2, 1}, {}, {2, 1}, 5, 7, 9, t & 1, t & 2, true, false);
    check<T>(random, {}, {4}, {4}, 15, 7, 33, t & 1, t & 2, false, false);
    check<T>(random, {1, 3}, {2, 3}, {2, 3}, 1, 20, 64, t & 1, t & 2, false, false);
    check<T>(random, {40}, {40}, {40}, 30, 30, 40, t & 1, t & 2, false, true);
    check<T>(random, {}, {}, {}, 130, 300, 500, t & 1, t & 2, true, true);
    check<T>(random, {}, {}, {}, 70, 70, 900, t & 1, t & 2, false, false);
    check<T>(random, {}, {}, {}, 4, 700, 600, t & 1, t & 2, false, false);
  }
}

// Rounds after the product and after the bias.
void check_bfloat(Random& random, int64_t batch, int64_t m, int64_t n, int64_t k, bool ta, bool tb, bool bias, bool relu) {
  Array<float> a = whole<float>(random, ta ? Dims{batch, k, m} : Dims{batch, m, k}), b = whole<float>(random, tb ? Dims{n, k} : Dims{k, n});
  Array<float> c = whole<float>(random, {n});
  auto narrow = [](const Array<float>& x) { return Array<BFloat>::make(x.dims, [&](int64_t i) { return bfloat(x[i]); }); };
  const Array<BFloat> short_a = narrow(a), short_b = narrow(b), short_c = narrow(c);
  Array<BFloat> one({batch, m, n}, BFloat{77}), two({batch, m, n}, BFloat{78});
  for (int threads = 1; threads <= 2; threads++) {
    set_thread_count(threads);
    Call call;
    call.in(short_a).in(short_b);
    if (bias) call.in(short_c);
    CHECK(call.out(threads == 1 ? one : two).attr(ta).attr(tb).attr(relu).run("MatMul") == Code::ok);
  }
  int64_t wrong = 0;
  for (int64_t e = 0; e < batch; e++) {
    for (int64_t i = 0; i < m; i++) {
      for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t l = 0; l < k; l++) sum += static_cast<double>(a[e * m * k + (ta ? l * m + i : i * k + l)]) * static_cast<double>(b[tb ? j * k + l : l * n + j]);
        float y = rounded(sum);
        if (bias) y = rounded(static_cast<double>(y) + static_cast<double>(c[j]));
        if (relu && y < 0) y = 0;
        const int64_t at = (e * m + i) * n + j;
        wrong += one[at].bits != bfloat(y).bits || two[at].bits != one[at].bits;
      }
    }
  }
  if (wrong > 0) std::printf("bfloat16 m %lld n %lld k %lld ta %d tb %d: %lld wrong\n", (long long)m, (long long)n, (long long)k, ta, tb, (long long)wrong);
  CHECK(wrong == 0);
}

void bfloats() {
  if (!has_bfloat_products()) {
    Array<BFloat> a({1, 1}), b({1, 1}), y({1, 1});
    CHECK(Call().in(a).in(b).out(y).attr(0).attr(0).attr(0).run("MatMul") == Code::unimplemented);
    return;
  }
  Random random(6);
  const int64_t sizes[] = {0, 1, 2, 3, 8, 15, 16, 17, 31, 32, 33, 47, 64, 65, 100, 130};
  for (int i = 0; i < 300; i++) {
    const int64_t m = sizes[random.below(16)], n = sizes[random.below(16)], k = sizes[random.below(16)];
    check_bfloat(random, 1 + random.below(2), m, n, k, random.below(2), random.below(2), random.below(2), random.below(2));
  }
  for (int t = 0; t < 4; t++) {
    check_bfloat(random, 40, 30, 50, 40, t & 1, t & 2, false, true);
    check_bfloat(random, 1, 300, 500, 700, t & 1, t & 2, true, true);
    // More of k, of rows or of columns than one round has.
    check_bfloat(random, 1, 40, 50, 9000, t & 1, t & 2, true, false);
    check_bfloat(random, 1, 1100, 20, 4100, t & 1, t & 2, false, false);
    check_bfloat(random, 1, 20, 1100, 4100, t & 1, t & 2, t == 1, false);
  }
  const BFloat nan{0x7fc1}, infinite{0x7f80}, zero{0}, one{0x3f80};
  Array<BFloat> x({1, 1}, nan), y({1, 1}, one), out({1, 1});
  CHECK(Call().in(x).in(y).out(out).attr(0).attr(0).attr(1).run("MatMul") == Code::ok && out[0].bits >= 0x7f81);
  x[0] = infinite;
  CHECK(Call().in(x).in(y).out(out).attr(0).attr(0).attr(0).run("MatMul") == Code::ok && out[0].bits == 0x7f80);
  y[0] = zero;
  CHECK(Call().in(x).in(y).out(out).attr(0).attr(0).attr(0).run("MatMul") == Code::ok && (out[0].bits & 0x7fff) > 0x7f80);
}

}  // namespace

int main() {
  bfloats();
  all<float>(1);
  all<double>(2);
  all<int32_t>(3);
  all<int64_t>(4);
  Random random(5);
  for (int t = 0; t < 4; t++) {
    check<float>(random, {}, {}, {}, 60, 2100, 1100, t & 1, t & 2, false, true);
    check<float>(random, {}, {}, {}, 32, 512, 1024, t & 1, t & 2, true, true);
    // Many that no near cache holds fetch each other; B of many rows is small, or not.
    check<float>(random, {3, 20}, {20}, {3, 20}, 131, 67, 33, t & 1, t & 2, t == 1, false);
    check<double>(random, {30}, {30}, {30}, 57, 67, 63, t & 1, t & 2, false, t == 1);
    check<float>(random, {}, {}, {}, 800, 130, 40, t & 1, t & 2, false, false);
    // Of one row, a B that fits in no cache is read otherwise.
    check<float>(random, {}, {}, {}, 1, 1101, 1003, t & 1, false, t & 2, t == 3);
    check_threads(1, 1100, 1000, t & 1, false);
    check_threads(1, 2100, 701, t & 1, false);
    check_threads(257, 300, 1000, t & 1, t & 2);
    check_threads(32, 128, 784, t & 1, t & 2);
    check_threads(3, 1000, 784, t & 1, t & 2);
    check_threads(1000, 1, 784, t & 1, t & 2);
  }
  Array<float> a({2, 2}), b({3, 2}), y({2, 2});
  CHECK(Call().in(a).in(b).out(y).attr(0).attr(0).attr(0).run("MatMul") == Code::internal);
  // relu keeps NaN
  Array<float> nan({1, 1}, NAN), one({1, 1}, 1), out({1, 1});
  CHECK(Call().in(nan).in(one).out(out).attr(0).attr(0).attr(1).run("MatMul") == Code::ok && out[0] != out[0]);
  return finish();
}
