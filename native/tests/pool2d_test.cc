#include "harness.h"

using namespace eagre;

namespace {

struct Pool {
  int64_t n, h, w, c, kh, kw, sh, sw, top, bottom, left, right;
  int64_t oh() const { return (h + top + bottom - kh) / sh + 1; }
  int64_t ow() const { return (w + left + right - kw) / sw + 1; }
  Call& attrs(Call& call) const { return call.list({kh, kw}).list({sh, sw}).list({top, bottom, left, right}); }
};

template <class T, class F> void over(const Pool& p, F f) {
  int64_t o = 0;
  for (int64_t n = 0; n < p.n; n++)
    for (int64_t oy = 0; oy < p.oh(); oy++)
      for (int64_t ox = 0; ox < p.ow(); ox++)
        for (int64_t c = 0; c < p.c; c++, o++)
          for (int64_t ky = 0; ky < p.kh; ky++)
            for (int64_t kx = 0; kx < p.kw; kx++) {
              int64_t y = oy * p.sh - p.top + ky, x = ox * p.sw - p.left + kx;
              if (y >= 0 && y < p.h && x >= 0 && x < p.w) f(o, n, (y * p.w + x) * p.c + c);
            }
}

template <class T> void check(const Pool& p, bool nans) {
  Random random(23);
  const Dims large = {p.n, p.h, p.w, p.c}, small = {p.n, p.oh(), p.ow(), p.c};
  const int64_t image = p.h * p.w * p.c;
  auto value = [&](int64_t) { return nans && random.below(9) == 0 ? double(NAN) : double(random.below(9)) - 4; };
  auto x = Array<T>::make(large, value);
  auto dy = Array<T>::make(small, [&](int64_t) { return double(random.below(64)) - 30; });
  Array<T> y(small), best(small, -static_cast<T>(INFINITY)), dx(large), sums(large, T(0)), back(small), taken(small, T(0));
  Array<int32_t> argmax(small), at(small, -1);
  over<T>(p, [&](int64_t o, int64_t n, int64_t i) {
    T v = x[n * image + i];
    if (at[o] >= 0 && (v <= best[o] || best[o] != best[o])) return;
    best[o] = v;
    at[o] = static_cast<int32_t>(i);
  });
  Call forward;
  CHECK(p.attrs(forward.in(x).out(y).out(argmax)).run("MaxPool") == Code::ok);
  CHECK(same(argmax, at));
  CHECK(close(y, best, 0));
  for (int64_t o = 0; o < dy.size; o++) {
    if (at[o] < 0) continue;
    int64_t i = o / (dy.size / p.n) * image + at[o];
    sums[i] += dy[o];
    taken[o] = x[i];
  }
  CHECK(Call().in(dy).in(argmax).out(dx).run("MaxPoolGrad") == Code::ok);
  CHECK(same(dx, sums));
  CHECK(Call().in(x).in(argmax).out(back).run("MaxPoolGather") == Code::ok);
  CHECK(close(back, taken, 0));
  if (nans) return;

  Array<T> mean(small, T(0)), count(small, T(0)), avg(small), grad(large), shares(large, T(0));
  over<T>(p, [&](int64_t o, int64_t n, int64_t i) {
    mean[o] += x[n * image + i];
    count[o] += 1;
  });
  for (int64_t o = 0; o < mean.size; o++) mean[o] /= count[o];
  Call averages;
  CHECK(p.attrs(averages.in(x).out(avg)).run("AvgPool") == Code::ok);
  CHECK(close(avg, mean, 0));
  over<T>(p, [&](int64_t o, int64_t n, int64_t i) { shares[n * image + i] += dy[o] / count[o]; });
  Call gradient;
  CHECK(p.attrs(gradient.in(dy).out(grad)).run("AvgPoolGrad") == Code::ok);
  CHECK(close(grad, shares, 1e-6, 1e-5));
}

template <class T> void all() {
  for (bool nans : {false, true}) {
    for (int64_t c : {1, 3, 4, 8, 16, 21, 32, 40}) {
      check<T>({2, 6, 8, c, 2, 2, 2, 2, 0, 0, 0, 0}, nans);
      check<T>({2, 7, 9, c, 2, 2, 2, 2, 0, 0, 0, 0}, nans);
      check<T>({2, 7, 9, c, 2, 2, 2, 2, 0, 1, 0, 1}, nans);
      check<T>({2, 7, 9, c, 2, 2, 2, 2, 1, 0, 1, 0}, nans);
      check<T>({2, 7, 9, c, 3, 3, 2, 2, 1, 1, 1, 1}, nans);
      check<T>({1, 8, 8, c, 3, 3, 2, 2, 0, 1, 0, 1}, nans);
      check<T>({1, 8, 8, c, 2, 3, 1, 2, 0, 1, 1, 1}, nans);
      check<T>({1, 8, 8, c, 1, 1, 2, 2, 0, 0, 0, 0}, nans);
      check<T>({1, 9, 5, c, 3, 2, 1, 1, 0, 0, 0, 0}, nans);
      check<T>({3, 2, 2, c, 2, 2, 2, 2, 2, 3, 4, 2}, nans);
    }
    check<T>({32, 26, 26, 32, 2, 2, 2, 2, 0, 0, 0, 0}, nans);
    check<T>({0, 4, 4, 3, 2, 2, 2, 2, 0, 0, 0, 0}, nans);
  }
}

}  // namespace

int main() {
  all<float>();
  all<double>();
  Array<float> dy({1, 1, 1, 2}), dx({1, 2, 2, 2}), y({1, 1, 1, 2});
  for (int bad : {-2, 8}) {
    Array<int32_t> argmax({1, 1, 1, 2}, {0, bad});
    CHECK(Call().in(dy).in(argmax).out(dx).run("MaxPoolGrad") == Code::out_of_range);
    CHECK(Call().in(dx).in(argmax).out(y).run("MaxPoolGather") == Code::out_of_range);
  }
  Array<int32_t> integers({1, 2, 2, 1}), out({1, 1, 1, 1}), argmax({1, 1, 1, 1});
  Call refused;
  refused.in(integers).out(out).out(argmax).list({2, 2}).list({2, 2}).list({0, 0, 0, 0});
  CHECK(refused.run("MaxPool") == Code::unimplemented);
  return finish();
}
