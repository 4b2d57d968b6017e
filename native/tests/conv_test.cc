// Conv2D and its gradients against plain loops; small whole numbers, so that every order of summation gives the same result.
#include <cmath>
#include <cstdlib>

#include "harness.h"

using namespace eagre;

namespace {

struct Shape {
  int64_t n, h, w, c, kh, kw, o;
  Dims strides = {1, 1}, padding = {0, 0, 0, 0}, dilations = {1, 1};
  int64_t groups = 1;
};

int64_t outputs(int64_t in, int64_t k, int64_t stride, int64_t padding, int64_t dilation) {
  int64_t span = in + padding - (k - 1) * dilation - 1;
  return span < 0 ? 0 : span / stride + 1;
}

template <class T> Array<T> whole(Random& random, Dims dims) {
  return Array<T>::make(std::move(dims), [&](int64_t) { return random.below(7) - 3; });
}

// As it is stored: T itself, or rounded to bfloat16.
template <class S, class T> Array<S> stored(const Array<T>& x) {
  if constexpr (std::is_same_v<S, T>) return x;
  else return Array<S>::make(x.dims, [&](int64_t i) { return bfloat(x[i]); });
}

template <class T, class S = T> void check(Random& random, const Shape& s) {
  const int64_t oh = outputs(s.h, s.kh, s.strides[0], s.padding[0] + s.padding[1], s.dilations[0]);
  const int64_t ow = outputs(s.w, s.kw, s.strides[1], s.padding[2] + s.padding[3], s.dilations[1]);
  const int64_t cg = s.c / s.groups, og = s.o / s.groups;
  const Dims xd = {s.n, s.h, s.w, s.c}, fd = {s.kh, s.kw, cg, s.o}, yd = {s.n, oh, ow, s.o};
  Array<T> x = whole<T>(random, xd), f = whole<T>(random, fd), dy = whole<T>(random, yd), bias = whole<T>(random, {s.o});
  Array<T> y(yd), dx(xd), df(fd), plain(yd);
  for (int64_t b = 0; b < s.n; b++) {
    for (int64_t i = 0; i < oh; i++) {
      for (int64_t j = 0; j < ow; j++) {
        for (int64_t th = 0; th < s.kh; th++) {
          for (int64_t tw = 0; tw < s.kw; tw++) {
            const int64_t yy = i * s.strides[0] - s.padding[0] + th * s.dilations[0],
                          xx = j * s.strides[1] - s.padding[2] + tw * s.dilations[1];
            if (yy < 0 || yy >= s.h || xx < 0 || xx >= s.w) continue;
            for (int64_t l = 0; l < cg; l++) {
              for (int64_t m = 0; m < s.o; m++) {
                const int64_t at = ((b * s.h + yy) * s.w + xx) * s.c + m / og * cg + l,
                              tap = ((th * s.kw + tw) * cg + l) * s.o + m;
                const int64_t to = ((b * oh + i) * ow + j) * s.o + m;
                y[to] += x[at] * f[tap];
                dx[at] += dy[to] * f[tap];
                df[tap] += dy[to] * x[at];
              }
            }
          }
        }
      }
    }
  }
  plain = y;
  for (int64_t i = 0; i < y.size; i++) {
    // Kernels round before the bias, too.
    const T product = std::is_same_v<S, T> ? y[i] : static_cast<T>(rounded(y[i]));
    y[i] = product + bias[i % s.o] < 0 ? 0 : product + bias[i % s.o];
  }
  auto run = [&](const char* name, const Array<T>& wide_a, const Array<T>& wide_b, bool with_bias, const Array<T>& wide_expected,
                 int activation) {
    const Array<S> a = stored<S>(wide_a), b = stored<S>(wide_b), expected = stored<S>(wide_expected), short_bias = stored<S>(bias);
    Array<S> out = stored<S>(Array<T>(expected.dims, T(77))), again = stored<S>(Array<T>(expected.dims, T(78)));
    for (int threads = 1; threads <= 2; threads++) {
      set_thread_count(threads);
      Call call;
      call.in(a).in(b);
      if (with_bias) call.in(short_bias);
      call.out(threads == 1 ? out : again)
          .list(s.strides)
          .list(s.padding)
          .list(s.dilations)
          .attr(static_cast<double>(s.groups))
          .attr(activation);
      Code code = call.run(name);
      if (code != Code::ok) std::printf("%s: %s\n", name, call.message);
      CHECK(code == Code::ok);
    }
    CHECK(same(out, again));
    bool equal;
    if constexpr (std::is_same_v<S, T>) equal = close(out, expected, 0);
    else equal = same(out, expected);
    if (!equal) {
      failures()++;
      std::printf(
          "%s n %lld image %lldx%lldx%lld filter %lldx%lldx%lld strides %lld %lld padding %lld %lld %lld %lld dilations %lld "
          "%lld groups %lld\n",
          name, (long long)s.n, (long long)s.h, (long long)s.w, (long long)s.c, (long long)s.kh, (long long)s.kw, (long long)s.o,
          (long long)s.strides[0], (long long)s.strides[1], (long long)s.padding[0], (long long)s.padding[1],
          (long long)s.padding[2], (long long)s.padding[3], (long long)s.dilations[0], (long long)s.dilations[1],
          (long long)s.groups);
    }
  };
  run("Conv2D", x, f, false, plain, 0);
  run("Conv2D", x, f, true, y, 1);
  run("Conv2DBackpropInput", f, dy, false, dx, 0);
  run("Conv2DBackpropFilter", x, dy, false, df, 0);
}

template <class T, class S = T> void all(uint64_t seed, int count) {
  Random random(seed);
  const int64_t channels[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 33};
  for (int i = 0; i < count; i++) {
    Shape s{};
    s.n = 1 + random.below(3);
    s.h = 1 + random.below(12);
    s.w = 1 + random.below(40);
    s.kh = 1 + random.below(4);
    s.kw = 1 + random.below(4);
    s.strides = {1 + random.below(3), 1 + random.below(3)};
    s.dilations = {1 + random.below(3), 1 + random.below(3)};
    if (random.below(2)) s.strides = {1, 1};
    if (random.below(2)) s.dilations = {1, 1};
    s.padding = {0, 0, 0, 0};
    if (random.below(2)) s.padding = {random.below(4), random.below(4), random.below(4), random.below(4)};
    s.groups = 1;
    s.c = channels[random.below(10)];
    s.o = channels[random.below(10)];
    if (random.below(3) == 0) {
      s.groups = 1 + random.below(4);
      s.c *= s.groups;
      s.o *= s.groups;
    } else if (random.below(3) == 0) {
      s.groups = s.c = 1 + random.below(70);
      s.o = s.c * (random.below(2) ? 1 : 1 + random.below(3));
    }
    check<T, S>(random, s);
  }
  check<T, S>(random, {0, 5, 5, 3, 3, 3, 4});
  check<T, S>(random, {2, 5, 5, 0, 3, 3, 4});
  check<T, S>(random, {2, 5, 5, 3, 3, 3, 0});
  check<T, S>(random, {2, 2, 5, 3, 3, 3, 4});
  check<T, S>(random, {2, 5, 2, 3, 3, 3, 4});
  check<T, S>(random, {2, 0, 5, 3, 1, 1, 4});
}

// One pixel that is infinite reaches the outputs around it, and no others.
void check_infinity(Random& random) {
  auto f = Array<float>::make({3, 3, 32, 32}, [&](int64_t) { return static_cast<float>(1 + random.below(3)); });
  auto x = whole<float>(random, {1, 12, 12, 32});
  Array<float> before({1, 12, 12, 32}), after(before.dims);
  const int64_t row = 5, column = 6;
  for (Array<float>* y : {&before, &after}) {
    Call call;
    call.in(x).in(f).out(*y).list({1, 1}).list({1, 1, 1, 1}).list({1, 1}).attr(1).attr(0);
    CHECK(call.run("Conv2D") == Code::ok);
    x[(row * 12 + column) * 32] = INFINITY;
  }
  for (int64_t i = 0; i < after.size; i++) {
    const int64_t pixel = i / 32;
    const bool reached = std::abs(pixel / 12 - row) <= 1 && std::abs(pixel % 12 - column) <= 1;
    CHECK(reached ? after[i] == INFINITY : after[i] == before[i]);
  }
}

}  // namespace

int main() {
  all<float>(1, 400);
  all<double>(2, 100);
  Random random(3);
  check<float>(random, {8, 26, 26, 32, 3, 3, 64});
  check<float>(random, {8, 28, 28, 1, 3, 3, 32});
  check<float>(random, {4, 14, 14, 64, 3, 3, 64, {1, 1}, {1, 1, 1, 1}});
  check<float>(random, {4, 14, 14, 64, 1, 1, 96});
  check<float>(random, {4, 15, 15, 64, 3, 3, 70, {2, 2}, {1, 1, 1, 1}});
  check<float>(random, {4, 20, 20, 96, 3, 3, 96, {1, 1}, {1, 1, 1, 1}, {1, 1}, 96});
  check<float>(random, {2, 40, 40, 3, 7, 7, 64, {2, 2}, {3, 3, 3, 3}});
  check<float>(random, {1, 7, 7, 256, 3, 3, 256, {1, 1}, {1, 1, 1, 1}});
  check<float>(random, {16, 4, 4, 64, 4, 4, 64});
  check<float>(random, {2, 14, 14, 1, 5, 5, 64, {2, 2}, {2, 2, 2, 2}});
  for (int64_t o = 1; o <= 5; o++) check<float>(random, {2, 9, 23, 40, 3, 3, o, {1, 1}, {1, 1, 1, 1}});
  // By minimal filtering.
  check<float>(random, {3, 11, 13, 33, 3, 3, 47, {1, 1}, {1, 1, 1, 1}});
  check<float>(random, {2, 10, 17, 70, 3, 3, 65, {1, 1}, {2, 0, 1, 3}});
  check<float>(random, {1, 150, 1, 32, 3, 3, 40, {1, 1}, {1, 1, 1, 1}});
  check<float>(random, {2, 12, 12, 64, 3, 3, 32});
  check_infinity(random);
  if (has_bfloat_products()) {
    all<float, BFloat>(4, 400);
    check<float, BFloat>(random, {8, 26, 26, 32, 3, 3, 64});
    check<float, BFloat>(random, {8, 28, 28, 1, 3, 3, 32});
    check<float, BFloat>(random, {4, 15, 15, 64, 3, 3, 70, {2, 2}, {1, 1, 1, 1}});
    check<float, BFloat>(random, {4, 14, 14, 64, 1, 1, 96});
    check<float, BFloat>(random, {4, 20, 20, 96, 3, 3, 96, {1, 1}, {1, 1, 1, 1}, {1, 1}, 96});
    check<float, BFloat>(random, {1, 7, 7, 256, 3, 3, 256, {1, 1}, {1, 1, 1, 1}});
    check<float, BFloat>(random, {16, 4, 4, 64, 4, 4, 64});
  } else {
    Array<BFloat> x({1, 1, 1, 1}), f({1, 1, 1, 1}), y({1, 1, 1, 1});
    Call call;
    call.in(x).in(f).out(y).list({1, 1}).list({0, 0, 0, 0}).list({1, 1}).attr(1).attr(0);
    CHECK(call.run("Conv2D") == Code::unimplemented);
  }
  // Fractions: the bits must not depend on the number of threads.
  auto x = Array<float>::make({8, 26, 26, 32}, [&](int64_t) { return random.uniform(); });
  auto dy = Array<float>::make({8, 24, 24, 64}, [&](int64_t) { return random.uniform(); });
  Array<float> one({3, 3, 32, 64}), two({3, 3, 32, 64});
  for (int t = 1; t <= 2; t++) {
    set_thread_count(t);
    Call call;
    call.in(x).in(dy).out(t == 1 ? one : two).list({1, 1}).list({0, 0, 0, 0}).list({1, 1}).attr(1);
    CHECK(call.run("Conv2DBackpropFilter") == Code::ok);
  }
  CHECK(same(one, two));
  return finish();
}
