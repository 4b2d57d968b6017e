// LayerNorm, RMSNorm and their gradients against plain loops in long double.
#include "harness.h"

using namespace eagre;

namespace {

template <class T> void check(int64_t rows, int64_t n, bool centered, bool scaled, bool shifted) {
  Random random(static_cast<uint64_t>(n * 7 + rows));
  auto x = Array<T>::make({rows, n}, [&](int64_t) { return random.uniform(-2, 2) + 3; });
  auto dy = Array<T>::make({rows, n}, [&](int64_t) { return random.uniform(-1, 1); });
  auto gamma = Array<T>::make({n}, [&](int64_t) { return random.uniform(0.5, 1.5); });
  auto beta = Array<T>::make({n}, [&](int64_t) { return random.uniform(-1, 1); });
  const long double epsilon = 1e-3L;
  Array<T> y({rows, n}), mean({rows}), rstd({rows}), dx({rows, n}), dgamma({n}), dbeta({n});
  std::vector<long double> want_gamma(static_cast<size_t>(n)), want_beta(static_cast<size_t>(n));
  for (int64_t r = 0; r < rows; r++) {
    long double m = 0, v = 0, level = 0, slope = 0;
    for (int64_t i = 0; i < n; i++) m += static_cast<long double>(x[r * n + i]) / static_cast<long double>(n);
    if (!centered) m = 0;
    for (int64_t i = 0; i < n; i++) v += std::pow(static_cast<long double>(x[r * n + i]) - m, 2) / static_cast<long double>(n);
    long double inverse = 1 / std::sqrt(v + epsilon);
    mean[r] = static_cast<T>(m);
    rstd[r] = static_cast<T>(inverse);
    auto normal = [&](int64_t i) { return (static_cast<long double>(x[r * n + i]) - m) * inverse; };
    auto h = [&](int64_t i) { return static_cast<long double>(dy[r * n + i]) * (scaled ? static_cast<long double>(gamma[i]) : 1); };
    for (int64_t i = 0; i < n; i++) {
      level += centered ? h(i) / static_cast<long double>(n) : 0;
      slope += h(i) * normal(i) / static_cast<long double>(n);
      want_gamma[static_cast<size_t>(i)] += static_cast<long double>(dy[r * n + i]) * normal(i);
      want_beta[static_cast<size_t>(i)] += static_cast<long double>(dy[r * n + i]);
    }
    for (int64_t i = 0; i < n; i++) {
      y[r * n + i] = static_cast<T>(normal(i) * (scaled ? static_cast<long double>(gamma[i]) : 1) +
                                    (shifted ? static_cast<long double>(beta[i]) : 0));
      dx[r * n + i] = static_cast<T>(inverse * (h(i) - level - normal(i) * slope));
    }
  }
  for (int64_t i = 0; i < n; i++) {
    dgamma[i] = static_cast<T>(want_gamma[static_cast<size_t>(i)]);
    dbeta[i] = static_cast<T>(want_beta[static_cast<size_t>(i)]);
  }
  const double e = sizeof(T) == 4 ? 2e-6 : 1e-13, a = sizeof(T) == 4 ? 4e-6 : 1e-13, sums = a * static_cast<double>(rows + 1);
  for (int threads : {1, 2}) {
    set_thread_count(threads);
    Array<T> y2({rows, n}), mean2({rows}), rstd2({rows}), dx2({rows, n}), dgamma2({n}), dbeta2({n});
    Call f, b;
    f.in(x);
    if (scaled) f.in(gamma);
    if (shifted) f.in(beta);
    f.out(y2);
    if (centered) f.out(mean2);
    f.out(rstd2).attr(1e-3).attr(scaled);
    if (centered) f.attr(shifted);
    CHECK(f.run(centered ? "LayerNorm" : "RMSNorm") == Code::ok);
    CHECK(close(y2, y, e, a) && close(rstd2, rstd, e) && (!centered || close(mean2, mean, e, a)));
    b.in(dy).in(x);
    if (centered) b.in(mean);
    b.in(rstd);
    if (scaled) b.in(gamma);
    b.out(dx2).out(dgamma2);
    if (centered) b.out(dbeta2);
    CHECK(b.run(centered ? "LayerNormGrad" : "RMSNormGrad") == Code::ok);
    CHECK(close(dx2, dx, e, a) && close(dgamma2, dgamma, e, sums) && (!centered || close(dbeta2, dbeta, e, sums)));
  }
}

template <class T> void all() {
  for (int64_t rows : {0, 1, 3, 700}) {
    for (int64_t n : {1, 7, 16, 33, 100, 256}) {
      for (int mask = 0; mask < 4; mask++) check<T>(rows, n, true, mask & 1, mask & 2);
      for (bool scaled : {false, true}) check<T>(rows, n, false, scaled, false);
    }
  }
}

}  // namespace

int main() {
  all<float>();
  all<double>();
  Array<float> x({2, 0}), y({2, 0}), mean({2}), rstd({2}), none({0}), none2({0});
  CHECK(Call().in(x).out(y).out(mean).out(rstd).attr(1e-3).attr(0).attr(0).run("LayerNorm") == Code::ok);
  CHECK(Call().in(x).in(y).in(mean).in(rstd).out(x).out(none).out(none2).run("LayerNormGrad") == Code::ok);
  return finish();
}
