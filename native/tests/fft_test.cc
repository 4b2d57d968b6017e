// FFT, RFFT, IRFFT against sums in long double, of lengths of all kinds.
#include "harness.h"

using namespace eagre;

namespace {

// The transform of pairs, by its definition.
template <class T> Array<T> expected(const Array<T>& x, int64_t rows, int64_t n, bool inverse) {
  Array<T> y({rows, n, 2});
  const long double turn = (inverse ? 2 : -2) * 3.14159265358979323846264338327950288L / static_cast<long double>(n);
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t k = 0; k < n; k++) {
      long double re = 0, im = 0;
      for (int64_t j = 0; j < n; j++) {
        const long double c = std::cos(turn * static_cast<long double>(j * k % n)), s = std::sin(turn * static_cast<long double>(j * k % n));
        const long double a = static_cast<long double>(x[(r * n + j) * 2]), b = static_cast<long double>(x[(r * n + j) * 2 + 1]);
        re += a * c - b * s;
        im += a * s + b * c;
      }
      const long double scale = inverse ? static_cast<long double>(n) : 1;
      y[(r * n + k) * 2] = static_cast<T>(re / scale);
      y[(r * n + k) * 2 + 1] = static_cast<T>(im / scale);
    }
  }
  return y;
}

template <class T> void lengths() {
  const double e = (sizeof(T) == 4 ? 0x1p-23 : 0x1p-52) * 30;
  for (int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 15, 31, 32, 37, 60, 64, 74, 97, 121, 128, 222, 343}) {
    for (int64_t rows : {1, 3}) {
      Random random(static_cast<uint64_t>(n * 10 + rows));
      const auto x = Array<T>::make({rows, n, 2}, [&](int64_t) { return random.uniform(-1, 1); });
      const double size = e * std::sqrt(static_cast<double>(n));
      for (bool inverse : {false, true}) {
        Array<T> y({rows, n, 2});
        CHECK(Call().in(x).out(y).attr(inverse).list({-1}).run("FFT") == Code::ok);
        CHECK(close(y, expected(x, rows, n, inverse), e, size));
      }
      // Real numbers, and back.
      const int64_t half = n / 2 + 1;
      Array<T> real({rows, n}), parts({rows, n, 2}), some({rows, half, 2}), back({rows, n});
      for (int64_t i = 0; i < rows * n; i++) parts[2 * i] = real[i] = x[2 * i];
      const Array<T> all = expected(parts, rows, n, false);
      Array<T> wanted({rows, half, 2});
      for (int64_t r = 0; r < rows; r++) for (int64_t k = 0; k < 2 * half; k++) wanted[r * 2 * half + k] = all[r * 2 * n + k];
      CHECK(Call().in(real).out(some).run("RFFT") == Code::ok);
      CHECK(close(some, wanted, e, size));
      CHECK(Call().in(some).out(back).run("IRFFT") == Code::ok);
      CHECK(close(back, real, e, size));
    }
  }
}

// One number of a transform, by its definition.
template <class T> void term(const T* x, int64_t n, int64_t k, long double& re, long double& im) {
  re = im = 0;
  const long double turn = -2 * 3.14159265358979323846264338327950288L / static_cast<long double>(n);
  for (int64_t j = 0; j < n; j++) {
    const long double angle = turn * static_cast<long double>(j * k % n), c = std::cos(angle), s = std::sin(angle);
    re += static_cast<long double>(x[2 * j]) * c - static_cast<long double>(x[2 * j + 1]) * s;
    im += static_cast<long double>(x[2 * j]) * s + static_cast<long double>(x[2 * j + 1]) * c;
  }
}

// What is cut, and what fills vectors with rows: some numbers of each length, and the way back.
template <class T> void ways(const Dims& sizes) {
  const double e = (sizeof(T) == 4 ? 0x1p-23 : 0x1p-52) * 30;
  const int64_t rows = sizes[0], n = sizes[1], half = n / 2 + 1;
  const double size = e * std::sqrt(static_cast<double>(n));
  Random random(static_cast<uint64_t>(n + rows));
  const auto x = Array<T>::make({rows, n, 2}, [&](int64_t) { return random.uniform(-1, 1); });
  Array<T> y({rows, n, 2}), back({rows, n, 2}), real({rows, n}), parts({rows, n, 2}), some({rows, half, 2}), real_back({rows, n});
  for (int64_t i = 0; i < rows * n; i++) parts[2 * i] = real[i] = x[2 * i];
  CHECK(Call().in(x).out(y).attr(0).list({-1}).run("FFT") == Code::ok);
  CHECK(Call().in(y).out(back).attr(1).list({-1}).run("FFT") == Code::ok);
  CHECK(close(back, x, e, size));
  CHECK(Call().in(real).out(some).run("RFFT") == Code::ok);
  CHECK(Call().in(some).out(real_back).run("IRFFT") == Code::ok);
  CHECK(close(real_back, real, e, size));
  for (int64_t row : {int64_t{0}, rows - 1}) {
    for (int64_t k : {int64_t{0}, int64_t{1}, n / 3, half - 1}) {
      long double re, im;
      term(x.data() + 2 * row * n, n, k, re, im);
      const T* found = y.data() + 2 * (row * n + k);
      CHECK(std::abs(static_cast<double>(found[0] - static_cast<T>(re))) <= size && std::abs(static_cast<double>(found[1] - static_cast<T>(im))) <= size);
      term(parts.data() + 2 * row * n, n, k, re, im);
      found = some.data() + 2 * (row * half + k);
      CHECK(std::abs(static_cast<double>(found[0] - static_cast<T>(re))) <= size && std::abs(static_cast<double>(found[1] - static_cast<T>(im))) <= size);
    }
  }
  CHECK(y.intact() && back.intact() && some.intact() && real_back.intact());
}

// Along any axes, also in place of what is there, as along the last axis of what is transposed.
void axes() {
  for (const Dims& dims : {Dims{3, 5, 7}, Dims{2, 16, 9}, Dims{1, 37, 33}, Dims{2, 12, 1}, Dims{1, 20011, 2}}) {
    const int64_t a = dims[0], b = dims[1], c = dims[2];
    Random random(static_cast<uint64_t>(b));
    const auto x = Array<float>::make({a, b, c, 2}, [&](int64_t) { return random.uniform(-1, 1); });
    Array<float> turned({a, c, b, 2}), lines({a, c, b, 2}), wanted({a, b, c, 2}), found({a, b, c, 2}), both({a, b, c, 2}), last({a, b, c, 2});
    const auto each = [&](auto fn) {
      for (int64_t i = 0; i < a * b * c; i++) for (int64_t part : {0, 1}) fn(2 * i + part, 2 * ((i / (b * c) * c + i % c) * b + i / c % b) + part);
    };
    each([&](int64_t i, int64_t t) { turned[t] = x[i]; });
    CHECK(Call().in(turned).out(lines).attr(0).list({-1}).run("FFT") == Code::ok);
    each([&](int64_t i, int64_t t) { wanted[i] = lines[t]; });
    CHECK(Call().in(x).out(found).attr(0).list({-2}).run("FFT") == Code::ok);
    CHECK(close(found, wanted, 0x1p-19, 0x1p-19 * std::sqrt(static_cast<double>(b))) && found.intact());
    CHECK(Call().in(found).out(last).attr(0).list({-1}).run("FFT") == Code::ok);
    CHECK(Call().in(x).out(both).attr(0).list({-2, -1}).run("FFT") == Code::ok);
    CHECK(same(both, last));
    CHECK(Call().in(both).out(found).attr(1).list({-1, -2}).run("FFT") == Code::ok);
    CHECK(close(found, x, 0x1p-19, 0x1p-19));
  }
}

}  // namespace

int main() {
  lengths<float>();
  lengths<double>();
  for (const Dims& sizes : {Dims{1, 1 << 14}, Dims{2, 15015}, Dims{1, 10007}, Dims{9, 4100}, Dims{40, 1000}, Dims{37, 257}, Dims{70, 1023}, Dims{1, 30030}}) {
    ways<float>(sizes);
    ways<double>(sizes);
  }
  axes();
  {
    // More lengths than are kept, on several threads, give the same bits again.
    set_thread_count(3);
    Random random(7);
    for (int round = 0; round < 2; round++) {
      for (int64_t n = 20; n < 60; n++) {
        const auto x = Array<float>::make({50, n, 2}, [&](int64_t i) { return std::sin(static_cast<double>(i * n)); });
        Array<float> y({50, n, 2}), again({50, n, 2});
        CHECK(Call().in(x).out(y).attr(0).list({-1}).run("FFT") == Code::ok);
        set_thread_count(1);
        CHECK(Call().in(x).out(again).attr(0).list({-1}).run("FFT") == Code::ok);
        set_thread_count(3);
        CHECK(same(y, again));
      }
    }
    set_thread_count(0);
  }
  {
    Array<float> none({0, 4, 2}), empty({3, 0}), one({3, 1, 2});
    CHECK(Call().in(none).out(none).attr(0).list({-1}).run("FFT") == Code::ok);
    CHECK(Call().in(empty).out(one).run("RFFT") == Code::ok);
    Array<float> x({4, 2}), wrong({3, 2});
    CHECK(Call().in(x).out(wrong).attr(0).list({-1}).run("FFT") == Code::internal);
    CHECK(Call().in(x).out(wrong).run("IRFFT") == Code::internal);
    CHECK(Call().in(x).out(x).attr(0).list({-2}).run("FFT") == Code::internal);
    CHECK(Call().in(x).out(x).attr(0).list({0}).run("FFT") == Code::internal);
    CHECK(Call().in(x).out(x).attr(0).list({}).run("FFT") == Code::internal);
    Array<int32_t> integers({4, 2}), result({4, 2});
    CHECK(Call().in(integers).out(result).attr(0).list({-1}).run("FFT") == Code::unimplemented);
  }
  return finish();
}
