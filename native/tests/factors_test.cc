// Cholesky, LU, QR, SelfAdjointEig, Eig, MatrixFunction, TriangularSolve, TridiagonalSolve: products of what they give against what they were given, of real
// and complex matrices (pairs of numbers), small ones and some of several blocks.
#include <complex>

#include "harness.h"

using namespace eagre;

namespace {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;

// Matrices of a batch as a tensor, with an axis of parts for complex ones.
template <class T> struct Tensors {
  bool complex;
  Array<T> make(Dims dims) const {
    if (complex) dims.push_back(2);
    return Array<T>(dims);
  }
  Array<T> random(const Dims& dims, uint64_t seed, double diagonal = 0) const {
    Random random(seed);
    Array<T> a = make(dims);
    const int64_t n = dims.back(), m = dims[dims.size() - 2];
    for (int64_t i = 0; i < a.size; i++) a[i] = static_cast<T>(random.uniform(-1, 1));
    for (int64_t i = 0; i < a.size / (complex ? 2 : 1); i++) {
      if (i / n % m == i % n) a[complex ? 2 * i : i] += static_cast<T>(diagonal);
    }
    return a;
  }
  Numbers matrix(const Array<T>& a, int64_t index, int64_t size) const {
    Numbers m(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; i++) {
      const int64_t at = index * size + i;
      m[static_cast<size_t>(i)] = complex ? Number(static_cast<double>(a[2 * at]), static_cast<double>(a[2 * at + 1])) : Number(static_cast<double>(a[at]), 0);
    }
    return m;
  }
};

Numbers product(const Numbers& a, const Numbers& b, int64_t m, int64_t n, int64_t k) {
  Numbers c(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; i++)
    for (int64_t l = 0; l < k; l++)
      for (int64_t j = 0; j < n; j++) c[static_cast<size_t>(i * n + j)] += a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(l * n + j)];
  return c;
}
Numbers adjoint(const Numbers& a, int64_t m, int64_t n) {
  Numbers b(a.size());
  for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) b[static_cast<size_t>(j * m + i)] = std::conj(a[static_cast<size_t>(i * n + j)]);
  return b;
}
double distance(const Numbers& a, const Numbers& b) {
  double most = a.size() == b.size() ? 0 : 1e300;
  for (size_t i = 0; i < a.size() && i < b.size(); i++) most = std::abs(a[i] - b[i]) > most || a[i] != a[i] ? std::abs(a[i] - b[i]) : most;
  return most;
}
Numbers identity(int64_t n) {
  Numbers one(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; i++) one[static_cast<size_t>(i * n + i)] = 1;
  return one;
}

template <class T> void squares(bool complex, int64_t count, int64_t n) {
  const Tensors<T> of{complex};
  const double e = (sizeof(T) == 4 ? 0x1p-23 : 0x1p-52) * 50 * static_cast<double>(n + 4);
  const uint64_t seed = static_cast<uint64_t>(n * 10 + count);
  const Array<T> x = of.random({count, n, n}, seed, 3);
  // A positive definite matrix of each.
  Array<T> positive = of.make({count, n, n});
  for (int64_t b = 0; b < count; b++) {
    const Numbers m = of.matrix(x, b, n * n), p = product(m, adjoint(m, n, n), n, n, n);
    for (int64_t i = 0; i < n * n; i++) {
      const int64_t at = b * n * n + i;
      positive[complex ? 2 * at : at] = static_cast<T>(p[static_cast<size_t>(i)].real());
      if (complex) positive[2 * at + 1] = static_cast<T>(p[static_cast<size_t>(i)].imag());
    }
  }
  Array<T> l = of.make({count, n, n}), lu = of.make({count, n, n}), values = of.make({count, n}), vectors = of.make({count, n, n});
  Array<int32_t> order({count, n});
  CHECK(Call().in(positive).out(l).attr(complex).run("Cholesky") == Code::ok);
  CHECK(Call().in(x).out(lu).out(order).attr(complex).attr(1).run("LU") == Code::ok);
  CHECK(Call().in(positive).out(values).out(vectors).attr(complex).run("SelfAdjointEig") == Code::ok);
  const Array<T> right = of.random({count, n, 3}, seed + 1);
  Array<T> solution = of.make({count, n, 3}), backwards = of.make({count, n, 3});
  CHECK(Call().in(x).in(right).out(solution).attr(complex).attr(1).attr(0).attr(0).run("TriangularSolve") == Code::ok);
  CHECK(Call().in(x).in(right).out(backwards).attr(complex).attr(1).attr(1).attr(0).run("TriangularSolve") == Code::ok);
  CHECK(l.intact() && lu.intact() && order.intact() && values.intact() && vectors.intact() && solution.intact());
  for (int64_t b = 0; b < count; b++) {
    const Numbers p = of.matrix(positive, b, n * n), factor = of.matrix(l, b, n * n);
    CHECK(distance(product(factor, adjoint(factor, n, n), n, n, n), p) <= e * 40);
    const Numbers both = of.matrix(lu, b, n * n), given = of.matrix(x, b, n * n);
    Numbers lower = identity(n), upper(both.size()), sorted(both.size());
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = 0; j < n; j++) {
        const size_t at = static_cast<size_t>(i * n + j);
        (j < i ? lower : upper)[at] = both[at];
        sorted[at] = given[static_cast<size_t>(order[b * n + i] * n + j)];
        CHECK(j >= i || std::abs(both[at]) <= 1 + 1e-6);
      }
    }
    CHECK(distance(product(lower, upper, n, n, n), sorted) <= e);
    const Numbers v = of.matrix(vectors, b, n * n), d = of.matrix(values, b, n);
    Numbers scaled = v;
    for (int64_t i = 0; i < n * n; i++) scaled[static_cast<size_t>(i)] *= d[static_cast<size_t>(i % n)];
    CHECK(distance(product(p, v, n, n, n), scaled) <= e * 40);
    CHECK(distance(product(adjoint(v, n, n), v, n, n, n), identity(n)) <= e);
    for (int64_t i = 1; i < n; i++) CHECK(d[static_cast<size_t>(i)].real() >= d[static_cast<size_t>(i - 1)].real());
    Numbers triangle = given;
    for (int64_t i = 0; i < n; i++) for (int64_t j = i + 1; j < n; j++) triangle[static_cast<size_t>(i * n + j)] = 0;
    const Numbers r = of.matrix(right, b, n * 3);
    CHECK(distance(product(triangle, of.matrix(solution, b, n * 3), n, 3, n), r) <= e * 40);
    CHECK(distance(product(adjoint(triangle, n, n), of.matrix(backwards, b, n * 3), n, 3, n), r) <= e * 40);
  }
}

// Eigenvalues and eigenvectors, and roots and logarithms, of any square matrices.
template <class T> void functions(bool complex, int64_t count, int64_t n) {
  const Tensors<T> of{complex}, numbers{true};
  const double e = (sizeof(T) == 4 ? 0x1p-23 : 0x1p-52) * 100 * static_cast<double>(n + 4);
  const Array<T> x = of.random({count, n, n}, static_cast<uint64_t>(n * 7 + count));
  Array<T> values = numbers.make({count, n}), alone = numbers.make({count, n}), vectors = numbers.make({count, n, n});
  CHECK(Call().in(x).out(values).out(vectors).run("Eig") == Code::ok);
  CHECK(Call().in(x).out(alone).run("Eig") == Code::ok);
  CHECK(values.intact() && vectors.intact() && alone.intact());
  for (int64_t b = 0; b < count; b++) {
    const Numbers given = of.matrix(x, b, n * n), v = numbers.matrix(vectors, b, n * n), d = numbers.matrix(values, b, n);
    Numbers scaled = v;
    for (int64_t i = 0; i < n * n; i++) scaled[static_cast<size_t>(i)] *= d[static_cast<size_t>(i % n)];
    CHECK(distance(product(given, v, n, n, n), scaled) <= e);
    Number trace = 0, sum = 0, other = 0;
    const Numbers again = numbers.matrix(alone, b, n);
    for (int64_t i = 0; i < n; i++) {
      const size_t k = static_cast<size_t>(i);
      trace += given[static_cast<size_t>(i * n + i)];
      sum += d[k];
      other += again[k];
      double length = 0;
      for (int64_t r = 0; r < n; r++) length += std::norm(v[static_cast<size_t>(r * n + i)]);
      CHECK(std::fabs(length - 1) <= e);
      if (complex || d[k].imag() == 0) continue;
      // A pair of conjugates, behind each other.
      const size_t pair = d[k].imag() > 0 ? k + 1 : k - 1;
      CHECK(d[pair] == std::conj(d[k]));
      for (int64_t r = 0; r < n; r++) CHECK(v[static_cast<size_t>(r * n) + pair] == std::conj(v[static_cast<size_t>(r * n) + k]));
    }
    CHECK(std::abs(trace - sum) <= e && std::abs(trace - other) <= e);
  }
  // With eigenvalues on the right, all have a root.
  const Array<T> right = of.random({count, n, n}, static_cast<uint64_t>(n), 2 * static_cast<double>(n));
  Array<T> root = of.make({count, n, n});
  CHECK(Call().in(right).out(root).attr(complex).attr(0).run("MatrixFunction") == Code::ok && root.intact());
  for (int64_t b = 0; b < count; b++) {
    const Numbers r = of.matrix(root, b, n * n);
    CHECK(distance(product(r, r, n, n, n), of.matrix(right, b, n * n)) <= e * 2 * static_cast<double>(n));
  }
  // That of a root is half of a logarithm.
  Array<T> log = of.make({count, n, n}), half = of.make({count, n, n});
  CHECK(Call().in(right).out(log).attr(complex).attr(1).run("MatrixFunction") == Code::ok && log.intact());
  CHECK(Call().in(root).out(half).attr(complex).attr(1).run("MatrixFunction") == Code::ok);
  for (int64_t i = 0; i < log.size; i++) CHECK(std::fabs(static_cast<double>(log[i]) - 2 * static_cast<double>(half[i])) <= e * static_cast<double>(n));
}

template <class T> void rectangles(bool complex, int64_t count, int64_t m, int64_t n) {
  const Tensors<T> of{complex};
  const double e = (sizeof(T) == 4 ? 0x1p-23 : 0x1p-52) * 50 * static_cast<double>(m + n);
  const Array<T> x = of.random({count, m, n}, static_cast<uint64_t>(m * 100 + n));
  for (int64_t p : {m < n ? m : n, m}) {
    Array<T> q = of.make({count, m, p}), r = of.make({count, p, n});
    CHECK(Call().in(x).out(q).out(r).attr(complex).run("QR") == Code::ok);
    CHECK(q.intact() && r.intact());
    for (int64_t b = 0; b < count; b++) {
      const Numbers left = of.matrix(q, b, m * p), right = of.matrix(r, b, p * n);
      CHECK(distance(product(left, right, m, n, p), of.matrix(x, b, m * n)) <= e);
      CHECK(distance(product(adjoint(left, m, p), left, p, p, m), identity(p)) <= e);
      for (int64_t i = 0; i < p; i++) for (int64_t j = 0; j < i && j < n; j++) CHECK(right[static_cast<size_t>(i * n + j)] == Number(0, 0));
    }
  }
}

template <class T> void diagonals(bool complex, bool pivoting, int64_t n) {
  const Tensors<T> of{complex};
  Array<T> d = of.random({2, 3, n}, static_cast<uint64_t>(n));
  if (!pivoting) for (int64_t b = 0; b < 2; b++) for (int64_t j = 0; j < n; j++) d[((b * 3 + 1) * n + j) * (complex ? 2 : 1)] += 3;
  const Array<T> right = of.random({2, n, 2}, 3);
  Array<T> x = of.make({2, n, 2});
  CHECK(Call().in(d).in(right).out(x).attr(complex).attr(pivoting).run("TridiagonalSolve") == Code::ok);
  for (int64_t b = 0; b < 2; b++) {
    const Numbers rows = of.matrix(d, b, 3 * n), r = of.matrix(right, b, n * 2);
    Numbers whole(static_cast<size_t>(n * n));
    for (int64_t i = 0; i < n; i++) {
      whole[static_cast<size_t>(i * n + i)] = rows[static_cast<size_t>(n + i)];
      if (i + 1 < n) whole[static_cast<size_t>(i * n + i + 1)] = rows[static_cast<size_t>(i)];
      if (i > 0) whole[static_cast<size_t>(i * n + i - 1)] = rows[static_cast<size_t>(2 * n + i)];
    }
    CHECK(distance(product(whole, of.matrix(x, b, n * 2), n, 2, n), r) <= (sizeof(T) == 4 ? 1e-2 : 1e-9));
  }
}

template <class T> void all() {
  for (bool complex : {false, true}) {
    for (int64_t n : {1, 2, 3, 5, 8, 17}) squares<T>(complex, 3, n);
    squares<T>(complex, 1, 110);
    for (int64_t n : {1, 2, 3, 4, 9, 30}) functions<T>(complex, 3, n);
    functions<T>(complex, 1, 70);
    for (int64_t m : {1, 2, 3, 5, 9, 40}) for (int64_t n : {1, 2, 4, 7, 36}) rectangles<T>(complex, 2, m, n);
    rectangles<T>(complex, 1, 90, 75);
    for (bool pivoting : {false, true}) for (int64_t n : {1, 2, 3, 7, 30}) diagonals<T>(complex, pivoting, n);
  }
}

}  // namespace

int main() {
  all<float>();
  all<double>();
  {
    // Not positive definite, singular, nothing.
    Array<double> x({2, 2}, {1, 2, 2, 1}), y({2, 2}), ones({2, 2}, 1);
    Array<int32_t> p({2});
    CHECK(Call().in(x).out(y).attr(0).run("Cholesky") == Code::ok);
    for (int64_t i = 0; i < 4; i++) CHECK(y[i] != y[i]);
    CHECK(Call().in(ones).out(y).out(p).attr(0).attr(1).run("LU") == Code::invalid_argument);
    CHECK(Call().in(ones).out(y).out(p).attr(0).attr(0).run("LU") == Code::ok);
    Array<double> none({0, 0}), values({0});
    CHECK(Call().in(none).out(none).attr(0).run("Cholesky") == Code::ok);
    CHECK(Call().in(none).out(values).attr(0).run("SelfAdjointEig") == Code::ok);
    Array<double> no_pairs({0, 2}), no_vectors({0, 0, 2});
    CHECK(Call().in(none).out(no_pairs).out(no_vectors).run("Eig") == Code::ok);
    CHECK(Call().in(none).out(none).attr(0).attr(0).run("MatrixFunction") == Code::ok);
    {
      // A block of Jordan, of which elements of vectors grow without end; and numbers whose squares overflow.
      Array<double> block({40, 40}), large({2, 2}, {1e300, 0, 3e300, 4e300}), values({40, 2}), vectors({40, 40, 2}), root({2, 2});
      for (int64_t i = 0; i < 1600; i++) block[i] = i % 41 == 0 ? 2 : i % 41 == 1 ? 1 : 0;
      CHECK(Call().in(block).out(values).out(vectors).run("Eig") == Code::ok);
      for (int64_t i = 0; i < 40; i++) CHECK(values[2 * i] == 2 && std::fabs(std::fabs(vectors[2 * i]) - 1) < 1e-6);
      CHECK(Call().in(large).out(root).attr(0).attr(0).run("MatrixFunction") == Code::ok);
      CHECK(std::fabs(root[0] / 1e150 - 1) < 1e-12 && std::fabs(root[2] / 1e150 - 1) < 1e-12 && std::fabs(root[3] / 2e150 - 1) < 1e-12);
    }
    {
      // No root of a real matrix is real where an eigenvalue is negative.
      Array<double> negative({1, 1}, {-1}), y({1, 1});
      CHECK(Call().in(negative).out(y).attr(0).attr(0).run("MatrixFunction") == Code::ok && y[0] != y[0]);
      Array<double> zero({2, 2}, {0, 0, 0, 0}), of({2, 2});
      CHECK(Call().in(zero).out(of).attr(0).attr(0).run("MatrixFunction") == Code::ok && of[0] == 0 && of[3] == 0);
      CHECK(Call().in(zero).out(of).attr(0).attr(1).run("MatrixFunction") == Code::ok && of[0] != of[0]);
    }
    x[0] = __builtin_nan("");
    Array<double> pairs({2, 2}), nothing({2, 2});
    CHECK(Call().in(x).out(pairs).run("Eig") == Code::ok && pairs[0] != pairs[0] && pairs[3] != pairs[3]);
    CHECK(Call().in(x).out(nothing).attr(0).attr(0).run("MatrixFunction") == Code::ok && nothing[1] != nothing[1]);
    Array<double> e({2}), v({2, 2});
    CHECK(Call().in(x).out(e).out(v).attr(0).run("SelfAdjointEig") == Code::ok);
    CHECK(e[0] != e[0] && v[3] != v[3]);
  }
  {
    Array<float> x({2, 3}), y({2, 3});
    CHECK(Call().in(x).out(y).attr(0).run("Cholesky") == Code::internal);
    Array<float> values({2, 2});
    CHECK(Call().in(x).out(values).run("Eig") == Code::invalid_argument);
    CHECK(Call().in(x).out(y).attr(0).attr(0).run("MatrixFunction") == Code::invalid_argument);
    Array<int32_t> integers({2, 2}), result({2, 2});
    CHECK(Call().in(integers).out(result).attr(0).run("Cholesky") == Code::unimplemented);
  }
  return finish();
}
