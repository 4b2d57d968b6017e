// Svd: products of what it gives against the matrix, in long double, and matrices whose singular values are known.
#include "harness.h"

using namespace eagre;

namespace {

// Whether the columns of [count, rows, columns] are orthonormal.
template <class T> bool orthonormal(const Array<T>& q, int64_t count, int64_t rows, int64_t columns, double error) {
  for (int64_t b = 0; b < count; b++) {
    for (int64_t i = 0; i < columns; i++) {
      for (int64_t j = 0; j <= i; j++) {
        long double dot = 0;
        for (int64_t k = 0; k < rows; k++) {
          const int64_t row = (b * rows + k) * columns;
          dot += static_cast<long double>(q[row + i]) * static_cast<long double>(q[row + j]);
        }
        if (!(std::fabs(static_cast<double>(dot) - (i == j ? 1 : 0)) <= error)) {
          std::printf("  columns %d, %d of %d: off by %g\n", static_cast<int>(j), static_cast<int>(i), static_cast<int>(columns), static_cast<double>(dot - (i == j ? 1 : 0)));
          return false;
        }
      }
    }
  }
  return q.intact();
}

template <class T> struct Decomposition {
  Array<T> s, u, v;
};

template <class T> Decomposition<T> decompose(const Array<T>& x, int64_t count, int64_t m, int64_t n, bool full) {
  const int64_t k = m < n ? m : n;
  Decomposition<T> d{Array<T>({count, k}), Array<T>({count, m, full ? m : k}), Array<T>({count, n, full ? n : k})};
  CHECK(Call().in(x).out(d.s).out(d.u).out(d.v).attr(0).run("Svd") == Code::ok);
  return d;
}

// Checks all that a decomposition promises.
template <class T> void check(const Array<T>& x, int64_t count, int64_t m, int64_t n, double times = 4) {
  const int64_t k = m < n ? m : n;
  const double e = (sizeof(T) == 4 ? 0x1p-23 : 0x1p-52) * times * (4 + std::sqrt(static_cast<double>(m + n)));
  for (bool full : {false, true}) {
    set_thread_count(1);
    const Decomposition<T> d = decompose(x, count, m, n, full);
    set_thread_count(2);
    const Decomposition<T> again = decompose(x, count, m, n, full);
    CHECK(same(d.s, again.s) && same(d.u, again.u) && same(d.v, again.v));
    Array<T> values({count, k});
    CHECK(Call().in(x).out(values).attr(0).run("Svd") == Code::ok);
    CHECK(same(values, d.s));
    const int64_t p = full ? m : k, q = full ? n : k;
    CHECK(orthonormal(d.u, count, m, p, e) && orthonormal(d.v, count, n, q, e));
    for (int64_t b = 0; b < count; b++) {
      for (int64_t j = 0; j < k; j++) CHECK(d.s[b * k + j] >= 0 && (j == 0 || d.s[b * k + j] <= d.s[b * k + j - 1]));
      const long double largest = k > 0 ? static_cast<long double>(d.s[b * k]) : 0;
      for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
          long double sum = 0;
          for (int64_t l = 0; l < k; l++) {
            sum += static_cast<long double>(d.u[(b * m + i) * p + l]) * static_cast<long double>(d.s[b * k + l]) *
                   static_cast<long double>(d.v[(b * n + j) * q + l]);
          }
          const long double difference = sum - static_cast<long double>(x[(b * m + i) * n + j]);
          if (!((difference < 0 ? -difference : difference) <= e * largest)) {
            std::printf("  [%d, %d] of %d by %d: off by %Lg\n", static_cast<int>(i), static_cast<int>(j), static_cast<int>(m), static_cast<int>(n), difference);
            CHECK(false);
            return;
          }
        }
      }
    }
  }
}

template <class T> void random_matrices() {
  for (int64_t count : {1, 3}) {
    for (int64_t m : {1, 2, 3, 5, 8, 17, 40}) {
      for (int64_t n : {1, 2, 3, 7, 16, 33}) {
        Random random(static_cast<uint64_t>(count * 1000 + m * 50 + n));
        check(Array<T>::make({count, m, n}, [&](int64_t) { return random.uniform(-2, 2); }), count, m, n);
      }
    }
  }
  Random random(5);
  check(Array<T>::make({200, 6, 4}, [&](int64_t) { return random.uniform(-2, 2); }), 200, 6, 4);
  check(Array<T>::make({1, 120, 90}, [&](int64_t) { return random.uniform(-2, 2); }), 1, 120, 90);
}

template <class T> void special_matrices() {
  // Nothing, the identity, ones, equal columns, a product of low rank, a Hilbert matrix.
  for (int64_t n : {1, 4, 30, 52}) {
    for (int64_t m : {n, n + 5}) {
      for (bool turned : {false, true}) {
        const int64_t rows = turned ? n : m, columns = turned ? m : n;
        const auto make = [&](auto f) { check(Array<T>::make({1, rows, columns}, [&](int64_t at) { return f(at / columns, at % columns); }), 1, rows, columns); };
        make([](int64_t, int64_t) { return 0.0; });
        make([](int64_t i, int64_t j) { return i == j ? 1.0 : 0.0; });
        make([](int64_t, int64_t) { return 1.0; });
        make([](int64_t i, int64_t j) { return 1.0 + static_cast<double>(i % 3) * static_cast<double>(j / 2); });
        make([](int64_t i, int64_t j) { return 1 / static_cast<double>(i + j + 1); });
        make([](int64_t i, int64_t j) { return (i + j) % 2 ? 0.0 : static_cast<double>(i - j); });
        // At the ends of the range.
        const double low = sizeof(T) == 4 ? 1e-44 : 4e-323, high = sizeof(T) == 4 ? 1e36 : 1e305;
        Random random(9);
        make([&](int64_t, int64_t) { return random.uniform(0.5, 1) * high; });
        make([&](int64_t i, int64_t j) { return i == 0 && j == 0 ? 1.0 : i == j ? low : 0.0; });
      }
    }
  }
}

// Larger ones, of several parts: two diagonals that are hard to take apart, equal, falling and missing singular values; tall and wide ones.
template <class T> void large_matrices() {
  const int64_t n = 133;
  Random random(11);
  const auto make = [&](int64_t rows, int64_t columns, auto f, double times = 4) {
    check(Array<T>::make({1, rows, columns}, [&](int64_t at) { return f(at / columns, at % columns); }), 1, rows, columns, times);
  };
  const auto diagonals = [&](auto d, auto e) { make(n, n, [&](int64_t i, int64_t j) { return i == j ? d(static_cast<double>(i)) : i + 1 == j ? e(static_cast<double>(i)) : 0.0; }); };
  const auto any = [&](double) { return random.uniform(-1, 1); };
  const auto one = [](double) { return 1.0; };
  diagonals(any, any);
  diagonals(one, one);
  diagonals([](double) { return 0.0; }, any);
  diagonals([&](double) { return 1 + 1e-7 * random.uniform(-1, 1); }, [&](double) { return 1e-7 * random.uniform(-1, 1); });
  diagonals([&](double) { return 1 + 1e-15 * random.uniform(-1, 1); }, [&](double) { return std::pow(10, random.uniform(-16, 0)); });
  diagonals([&](double) { return std::pow(10, random.uniform(-30, 0)); }, [&](double) { return std::pow(10, random.uniform(-30, 0)); });
  diagonals([](double i) { return std::pow(10, -12 * i / 133); }, [](double i) { return std::pow(10, -12 * i / 133); });
  diagonals([](double i) { return std::fabs(i - 66); }, one);
  diagonals([](double i) { return i < 66 ? 1.0 : 1e-30; }, [](double i) { return static_cast<int>(i) % 20 == 19 ? 1e-8 : 1.0; });
  for (int64_t m : {n, 2 * n}) {
    make(m, n, [&](int64_t, int64_t) { return random.uniform(-1, 1); });
    make(n, m, [&](int64_t, int64_t j) { return random.uniform(-1, 1) * std::pow(10, -static_cast<double>(j) / 20); });
    make(m, n, [](int64_t i, int64_t j) { return __builtin_popcountll(static_cast<uint64_t>(i & j)) % 2 ? -1.0 : 1.0; });
    make(n, m, [](int64_t i, int64_t j) { return 1 / static_cast<double>(i + j + 1); });
    // Equal numbers are rounded alike, so that errors add up; the second is Kahan's matrix.
    make(m, n, [](int64_t i, int64_t j) { return 1.0 + static_cast<double>(i % 3) * static_cast<double>(j / 2); }, 16);
    make(n, m, [](int64_t i, int64_t j) { return i > j ? 0.0 : std::pow(0.9, static_cast<double>(i)) * (i == j ? 1 : -0.4); }, 16);
  }
}

}  // namespace

int main() {
  random_matrices<float>();
  random_matrices<double>();
  special_matrices<float>();
  special_matrices<double>();
  large_matrices<float>();
  large_matrices<double>();
  {
    // Each singular value to its own last bits, however small beside the first: columns of very different lengths.
    Array<double> x({4, 4}), s({4}), expected({4}, {3e5, 2, 5e-30, 7e-90});
    const double lengths[] = {5e-30, 3e5, 7e-90, 2};
    // The columns of a Hadamard matrix are orthogonal.
    for (int64_t i = 0; i < 4; i++) {
      for (int64_t j = 0; j < 4; j++) x[i * 4 + j] = lengths[j] * (__builtin_popcountll(static_cast<uint64_t>(i & j)) % 2 ? -0.5 : 0.5);
    }
    CHECK(Call().in(x).out(s).attr(0).run("Svd") == Code::ok);
    CHECK(close(s, expected, 1e-14));
  }
  {
    // [[1, 1], [0, d]]: the product of the singular values is d, though the second is below the last bit of the first.
    const double d = 1e-20;
    Array<double> x({2, 2}, {1, 1, 0, d}), s({2}), expected({2}, {std::sqrt(2.0), d / std::sqrt(2.0)});
    CHECK(Call().in(x).out(s).attr(0).run("Svd") == Code::ok);
    CHECK(close(s, expected, 1e-14));
  }
  {
    // Not a number in one matrix says nothing of the next.
    for (float bad : {__builtin_nanf(""), __builtin_inff(), -__builtin_inff()}) {
      Array<float> x({2, 3, 2}, {1, 2, 3, bad, 5, 6, 1, 0, 0, 2, 0, 0}), s({2, 2}), u({2, 3, 3}), v({2, 2, 2});
      CHECK(Call().in(x).out(s).out(u).out(v).attr(0).run("Svd") == Code::ok);
      for (int64_t i = 0; i < 2; i++) CHECK(s[i] != s[i]);
      for (int64_t i = 0; i < 9; i++) CHECK(u[i] != u[i] && u[9 + i] == u[9 + i]);
      for (int64_t i = 0; i < 4; i++) CHECK(v[i] != v[i] && v[4 + i] == v[4 + i]);
      CHECK(s[2] == 2 && s[3] == 1);
    }
  }
  {
    // No column: an orthonormal basis all the same; no matrix: nothing.
    Array<double> x({3, 0}), s({0}), u({3, 3}), v({0, 0}), basis({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
    CHECK(Call().in(x).out(s).out(u).out(v).attr(0).run("Svd") == Code::ok);
    CHECK(same(u, basis));
    Array<double> none({0, 3, 2}), values({0, 2});
    CHECK(Call().in(none).out(values).attr(0).run("Svd") == Code::ok);
  }
  Array<float> x({2, 3}), s({3}), u({2, 2}), v({3, 2});
  CHECK(Call().in(x).out(s).attr(0).run("Svd") == Code::internal);
  Array<float> values({2});
  CHECK(Call().in(x).out(values).out(u).out(u).attr(0).run("Svd") == Code::internal);
  CHECK(Call().in(x).out(values).out(u).out(v).attr(0).run("Svd") == Code::ok);
  Array<int32_t> integers({2, 2}), result({2});
  CHECK(Call().in(integers).out(result).attr(0).run("Svd") == Code::unimplemented);
  return finish();
}
