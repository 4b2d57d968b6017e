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
        CHECK(Call().in(x).out(y).attr(inverse).run("FFT") == Code::ok);
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

}  // namespace

int main() {
  lengths<float>();
  lengths<double>();
  {
    // More lengths than are kept, on several threads, give the same bits again.
    set_thread_count(3);
    Random random(7);
    for (int round = 0; round < 2; round++) {
      for (int64_t n = 20; n < 60; n++) {
        const auto x = Array<float>::make({50, n, 2}, [&](int64_t i) { return std::sin(static_cast<double>(i * n)); });
        Array<float> y({50, n, 2}), again({50, n, 2});
        CHECK(Call().in(x).out(y).attr(0).run("FFT") == Code::ok);
        set_thread_count(1);
        CHECK(Call().in(x).out(again).attr(0).run("FFT") == Code::ok);
        set_thread_count(3);
        CHECK(same(y, again));
      }
    }
    set_thread_count(0);
  }
  {
    Array<float> none({0, 4, 2}), empty({3, 0}), one({3, 1, 2});
    CHECK(Call().in(none).out(none).attr(0).run("FFT") == Code::ok);
    CHECK(Call().in(empty).out(one).run("RFFT") == Code::ok);
    Array<float> x({4, 2}), wrong({3, 2});
    CHECK(Call().in(x).out(wrong).attr(0).run("FFT") == Code::internal);
    CHECK(Call().in(x).out(wrong).run("IRFFT") == Code::internal);
    Array<int32_t> integers({4, 2}), result({4, 2});
    CHECK(Call().in(integers).out(result).attr(0).run("FFT") == Code::unimplemented);
  }
  return finish();
}
