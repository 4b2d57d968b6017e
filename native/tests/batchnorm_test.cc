// Batch normalization and its gradient against plain loops in long double.
#include "harness.h"

using namespace eagre;

namespace {

template <class T> void check(Dims dims, double center) {
  int64_t c = dims.back(), n = 1;
  for (size_t d = 0; d + 1 < dims.size(); d++) n *= dims[d];
  Random random(static_cast<uint64_t>(n + c));
  auto x = Array<T>::make(dims, [&](int64_t i) { return random.uniform(-1, 1) + center + static_cast<double>(i % c % 7); });
  auto dy = Array<T>::make(dims, [&](int64_t) { return random.uniform(-1, 1); });
  auto scale = Array<T>::make({c}, [&](int64_t) { return random.uniform(0.5, 2); });
  auto offset = Array<T>::make({c}, [&](int64_t) { return random.uniform(-1, 1); });
  Array<T> y(dims), mean({c}), variance({c}), want(dims), want_mean({c}), want_variance({c});
  Array<T> dx(dims), dscale({c}), doffset({c}), want_dx(dims), want_dscale({c}), want_doffset({c});
  double epsilon = 1e-3;
  using L = long double;
  for (int64_t j = 0; j < c; j++) {
    L sum = 0, square = 0, g = 0, gx = 0, count = static_cast<L>(n);
    for (int64_t i = 0; i < n; i++) sum += static_cast<L>(x[i * c + j]);
    L m = sum / count;
    for (int64_t i = 0; i < n; i++) square += (static_cast<L>(x[i * c + j]) - m) * (static_cast<L>(x[i * c + j]) - m);
    L v = square / count, r = 1 / std::sqrt(v + static_cast<L>(epsilon));
    want_mean[j] = static_cast<T>(m);
    want_variance[j] = static_cast<T>(v);
    for (int64_t i = 0; i < n; i++) {
      L h = (static_cast<L>(x[i * c + j]) - m) * r, h2 = (static_cast<L>(x[i * c + j]) - static_cast<L>(want_mean[j])) * r;
      want[i * c + j] = static_cast<T>(h * static_cast<L>(scale[j]) + static_cast<L>(offset[j]));
      g += static_cast<L>(dy[i * c + j]);
      gx += static_cast<L>(dy[i * c + j]) * h2;
    }
    want_doffset[j] = static_cast<T>(g);
    want_dscale[j] = static_cast<T>(gx);
    for (int64_t i = 0; i < n; i++) {
      L h = (static_cast<L>(x[i * c + j]) - static_cast<L>(want_mean[j])) * r;
      want_dx[i * c + j] =
          static_cast<T>(static_cast<L>(scale[j]) * r * (static_cast<L>(dy[i * c + j]) - g / count - h * gx / count));
    }
  }
  double e = sizeof(T) == 4 ? 2e-5 : 1e-11, a = (sizeof(T) == 4 ? 3e-5 : 1e-11) * (1 + center * 0.01);
  CHECK(Call().in(x).in(scale).in(offset).out(y).out(mean).out(variance).attr(epsilon).run("FusedBatchNorm") == Code::ok);
  CHECK(close(mean, want_mean, e, a * 0.1) && close(variance, want_variance, e * 2, a * 0.1) && close(y, want, e, a * 3));
  Call call;
  CHECK(call.in(dy)
            .in(x)
            .in(scale)
            .in(want_mean)
            .in(want_variance)
            .out(dx)
            .out(dscale)
            .out(doffset)
            .attr(epsilon)
            .run("FusedBatchNormGrad") == Code::ok);
  CHECK(close(doffset, want_doffset, e, a * 10) && close(dscale, want_dscale, e, a * 10) && close(dx, want_dx, e, a * 3));
  Array<T> again(dims), mean1({c}), variance1({c});
  int threads = thread_count();
  set_thread_count(1);
  Call().in(x).in(scale).in(offset).out(again).out(mean1).out(variance1).attr(epsilon).run("FusedBatchNorm");
  set_thread_count(threads);
  CHECK(same(again, y) && same(mean1, mean) && same(variance1, variance));
}

}  // namespace

int main() {
  for (const Dims& dims : {Dims{4, 1}, Dims{4, 3}, Dims{1, 5}, Dims{7, 10}, Dims{8, 28, 28, 16}, Dims{50000, 3}, Dims{300, 100},
                           Dims{40, 2000}, Dims{16, 33, 65}}) {
    check<float>(dims, 0);
    check<float>(dims, 100);
    check<double>(dims, 1000);
  }
  Array<float> none({0, 3}), three({3}), mean({3}), variance({3});
  CHECK(Call().in(none).in(three).in(three).out(none).out(mean).out(variance).attr(0).run("FusedBatchNorm") == Code::ok &&
        mean[0] != mean[0]);
  return finish();
}
