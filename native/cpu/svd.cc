// Svd: singular values and vectors. Of small matrices in double: a Householder QR with column pivoting, then one-sided Jacobi (Hestenes) on the
// transpose of its triangle, which needs few sweeps there: Z. Drmač and K. Veselić, "New Fast and Accurate Jacobi SVD Algorithm I"
// (2008). Small singular values are as exact as large ones, since every test is relative to the two columns it compares. Larger
// matrices would take long: see bidiagonal.h and divide_and_conquer.h, which compute with the numbers of the matrix, and errors small beside
// the largest singular value.
#include <algorithm>
#include <cmath>

#include "bidiagonal.h"
#include "complex_svd.h"
#include "divide_and_conquer.h"

EAGRE_BEGIN
namespace {

constexpr int kSweeps = 60;
// Squared norms below count as zero: the largest element is about 1, and squares of smaller ones lose their bits.
constexpr double kTiny = 1e-290;
constexpr double kEpsilon = 0x1p-52;
constexpr int64_t kJacobi = 48;     // up to so many rows or columns
constexpr int64_t kWork = 1 << 16;  // multiplications of a chunk, about

struct Products {
  double xy, yy;
};

// x · y and y · y.
inline Products products(const double* x, const double* y, int64_t n) {
  constexpr int L = Lanes<double>::n;
  vf64 xy[2]{}, yy[2]{};
  int64_t i = 0;
  for (; i + 2 * L <= n; i += 2 * L) {
    for (int k = 0; k < 2; k++) {
      const vf64 v = load<double>(y + i + k * L);
      xy[k] = fma(load<double>(x + i + k * L), v, xy[k]);
      yy[k] = fma(v, v, yy[k]);
    }
  }
  for (; i < n; i += L) {
    const Part<double> part(n - i < L ? n - i : L);
    const vf64 v = part.load(y + i);
    xy[0] = fma(part.load(x + i), v, xy[0]);
    yy[0] = fma(v, v, yy[0]);
  }
  return {sum<double>(xy[0] + xy[1]), sum<double>(yy[0] + yy[1])};
}

// y -= w · x; the squares of what y becomes.
inline double subtract_measured(double w, const double* x, double* y, int64_t n) {
  constexpr int L = Lanes<double>::n;
  const vf64 by = broadcast(-w);
  vf64 squares{};
  int64_t i = 0;
  for (; i + L <= n; i += L) {
    const vf64 v = fma(by, load<double>(x + i), load<double>(y + i));
    store<double>(y + i, v);
    squares = fma(v, v, squares);
  }
  if (i < n) {
    const Part<double> part(n - i);
    const vf64 v = fma(by, part.load(x + i), part.load(y + i));
    part.store(y + i, v);
    squares = fma(v, v, squares);
  }
  return sum<double>(squares);
}

// (x, y) = (c x − s y, s x + c y), written with half = s/(1 + c) as Rutishauser does: a small angle then rounds little, and the
// norms stay through many turns. The squares of what x becomes.
inline double rotate(double half, double s, double* x, double* y, int64_t n) {
  constexpr int L = Lanes<double>::n;
  const vf64 h = broadcast(half), sn = broadcast(s), back = broadcast(-s);
  vf64 squares{};
  const auto turn = [&](vf64& a, vf64& b) {
    const vf64 first = fma(back, fma(h, a, b), a);
    b = fma(sn, fma(h, -b, a), b);
    a = first;
    squares = fma(a, a, squares);
  };
  int64_t i = 0;
  for (; i + L <= n; i += L) {
    vf64 a = load<double>(x + i), b = load<double>(y + i);
    turn(a, b);
    store<double>(x + i, a);
    store<double>(y + i, b);
  }
  if (i < n) {
    const Part<double> part(n - i);
    vf64 a = part.load(x + i), b = part.load(y + i);
    turn(a, b);
    part.store(x + i, a);
    part.store(y + i, b);
  }
  return sum<double>(squares);
}

// The SVD of one matrix with at least as many rows as columns; all matrices here are stored by columns.
struct Work {
  int64_t m, n, rank;
  bool vectors;
  double *a;      // [m, n]: the matrix, then its reflectors below the diagonal
  double *x;      // [n, n]: the transpose of the triangle, then its left vectors
  double *turns;  // [n, n]: the rotations, if vectors are wanted
  double *tau, *norms, *column;
  int64_t *pivots, *order;

  static int64_t room(int64_t m, int64_t n) { return m * n + 2 * n * n + 4 * n + m; }
  Work(double* memory, int64_t rows, int64_t columns, bool wanted) : m(rows), n(columns), rank(0), vectors(wanted) {
    a = memory;
    x = a + m * n;
    turns = x + n * n;
    tau = turns + n * n;
    norms = tau + n;
    column = norms + n;
    pivots = reinterpret_cast<int64_t*>(column + m);
    order = pivots + n;
  }

  void factor() {
    for (int64_t j = 0; j < n; j++) {
      pivots[j] = j;
      norms[j] = products(a + j * m, a + j * m, m).yy;
    }
    for (int64_t i = 0; i < n * n; i++) x[i] = 0;
    for (rank = 0; rank < n; rank++) {
      const int64_t k = rank;
      int64_t p = k;
      for (int64_t j = k + 1; j < n; j++) p = norms[j] > norms[p] ? j : p;
      if (!(norms[p] >= kTiny)) return;
      if (p != k) swap_columns(k, p);
      double* v = a + k * m;
      const double norm = std::sqrt(norms[k]), beta = v[k] >= 0 ? -norm : norm;
      const double inverse = 1 / (v[k] - beta);
      tau[k] = (beta - v[k]) / beta;
      for (int64_t i = k + 1; i < m; i++) v[i] *= inverse;
      v[k] = 1;
      x[k * n + k] = beta;
      for (int64_t j = k + 1; j < n; j++) {
        double* y = a + j * m;
        const double w = tau[k] * products(y + k, v + k, m - k).xy;
        y[k] -= w;
        norms[j] = subtract_measured(w, v + k + 1, y + k + 1, m - k - 1);
        x[k * n + j] = y[k];
      }
    }
  }

  void swap_columns(int64_t k, int64_t p) {
    for (int64_t i = 0; i < m; i++) exchange(a[k * m + i], a[p * m + i]);
    // The rows of the triangle that are already there.
    for (int64_t i = 0; i < k; i++) exchange(x[i * n + k], x[i * n + p]);
    exchange(norms[k], norms[p]);
    exchange(pivots[k], pivots[p]);
  }
  template <class V> static void exchange(V& a, V& b) {
    const V first = a;
    a = b;
    b = first;
  }

  // Turns columns of x against each other until all are orthogonal.
  void orthogonalise() {
    if (vectors) {
      for (int64_t i = 0; i < n * n; i++) turns[i] = 0;
      for (int64_t i = 0; i < n; i++) turns[i * n + i] = 1;
    }
    const double root = std::sqrt(static_cast<double>(n)), tolerance = kEpsilon * (root > 4 ? root : 4);
    bool turned = true;
    for (int sweep = 0; sweep < kSweeps && turned; sweep++) {
      turned = false;
      for (int64_t p = 0; p + 1 < rank; p++) {
        double* xp = x + p * n;
        double pp = products(xp, xp, n).yy;
        for (int64_t q = p + 1; q < rank && pp >= kTiny; q++) {
          double* xq = x + q * n;
          const Products of = products(xp, xq, n);
          if (of.yy < kTiny || std::fabs(of.xy) <= tolerance * (std::sqrt(pp) * std::sqrt(of.yy))) continue;
          turned = true;
          const double zeta = (of.yy - pp) / (2 * of.xy), size = std::fabs(zeta);
          // A large zeta would overflow as a square.
          const double tangent = size > 1e9 ? 0.5 / size : 1 / (size + std::sqrt(1 + zeta * zeta));
          const double t = zeta < 0 ? -tangent : tangent, c = 1 / std::sqrt(1 + t * t), s = c * t;
          pp = rotate(s / (1 + c), s, xp, xq, n);
          if (vectors) rotate(s / (1 + c), s, turns + p * n, turns + q * n, n);
        }
      }
    }
    // The norms are the singular values; what has norm 1 is a vector.
    for (int64_t k = 0; k < n; k++) {
      const double square = k < rank ? products(x + k * n, x + k * n, n).yy : 0;
      norms[k] = square < kTiny ? 0 : std::sqrt(square);
      order[k] = k;
      for (int64_t i = k; i > 0 && norms[order[i]] > norms[order[i - 1]]; i--) exchange(order[i], order[i - 1]);
      if (vectors && norms[k] > 0) {
        for (int64_t i = 0; i < n; i++) x[k * n + i] /= norms[k];
      }
    }
  }

  // Vectors of the singular values that are 0, orthogonal to the others and each other: of the axis that is farthest from those
  // there are, what they leave.
  void complete() {
    for (int64_t j = 0; j < n; j++) {
      if (norms[order[j]] > 0) continue;
      double* column = x + order[j] * n;
      int64_t far = 0;
      double most = -1;
      for (int64_t i = 0; i < n; i++) {
        double rest = 1;
        for (int64_t l = 0; l < j; l++) rest -= x[order[l] * n + i] * x[order[l] * n + i];
        if (rest > most) most = rest, far = i;
      }
      for (int64_t i = 0; i < n; i++) column[i] = i == far ? 1 : 0;
      double square = 1;
      for (int round = 0; round < 2; round++) {
        for (int64_t l = 0; l < j; l++) {
          const double* other = x + order[l] * n;
          square = subtract_measured(products(column, other, n).xy, other, column, n);
        }
      }
      const double norm = std::sqrt(square);
      for (int64_t i = 0; i < n; i++) column[i] /= norm;
    }
  }

  // The left vector at place j of [0, m) into `column`.
  void left(int64_t j) {
    for (int64_t i = 0; i < m; i++) column[i] = j < n ? (i < n ? turns[order[j] * n + i] : 0) : i == j ? 1 : 0;
    for (int64_t k = rank; k-- > 0;) {
      const double* v = a + k * m;
      subtract(tau[k] * products(column + k, v + k, m - k).xy, v + k, column + k, m - k);
    }
  }
};

// A larger matrix with at least as many rows as columns: two diagonals, their decomposition, and the reflections of its vectors.
// `wanted` left vectors are asked for.
template <class S> struct Large {
  static constexpr int64_t kTall = 2;  // a matrix with so many times as many rows as columns is a triangle first
  int64_t m, n, wanted;
  bool vectors;

  bool tall() const { return m >= kTall * n; }
  int64_t rows() const { return tall() ? n : m; }
  // Of vectors in no order and of those in order, which are never there at once; and what turns the former.
  int64_t numbers() const { return vectors ? max64(DivideAndConquer<S>::numbers(n), n * n + wanted * m) : 0; }
  // In numbers of S.
  int64_t room() const {
    const int64_t doubles = DivideAndConquer<S>::doubles(n) + n;
    return (tall() ? Qr<S>::room(m, n, wanted) : 0) + Bidiagonal<S>::room(rows(), n, wanted) + numbers() +
           doubles * static_cast<int64_t>(sizeof(double) / sizeof(S)) + 4 * kApart;
  }
  // The matrix, or its transpose if `turned`, is at `given` by rows. Handed over: the values; the vectors of the shorter side and those of
  // the longer, by rows. False without convergence.
  template <class F, class G> bool decompose(S* memory, S* given, bool turned, F&& put_values, G&& put_vectors) const {
    const auto take = [&](int64_t count) {
      S* own = memory;
      memory += ceil_div(count, kApart) * kApart;
      return own;
    };
    Qr<S> whole(take(tall() ? Qr<S>::room(m, n, wanted) : 0), m, n, wanted);
    Bidiagonal<S> two(take(Bidiagonal<S>::room(rows(), n, wanted)), rows(), n, wanted);
    S *sorted = take(numbers()), *long_ones = sorted + n * n;
    int64_t* order = reinterpret_cast<int64_t*>(take(n * static_cast<int64_t>(sizeof(int64_t) / sizeof(S))));
    S* columns = tall() ? whole.a : two.left.a;
    if (turned) std::memcpy(columns, given, static_cast<size_t>(m * n) * sizeof(S));
    else turn(given, n, m, n, columns, m);
    if (tall()) {
      whole.factor();
      for (int64_t j = 0; j < n; j++) std::memcpy(two.left.a + j * n, whole.a + j * m, static_cast<size_t>(n) * sizeof(S));
    }
    two.reduce();
    // The matrix is done with.
    S *left = two.left.a, *right = two.right.a;
    DivideAndConquer<S> parts(two.d, two.e, n, vectors, left, right, sorted, reinterpret_cast<double*>(memory));
    if (!parts.solve()) return false;
    for (int64_t k = 0; k < n; k++) order[k] = k;
    std::sort(order, order + n, [&](int64_t i, int64_t j) { return two.d[i] != two.d[j] ? two.d[i] > two.d[j] : i < j; });
    double* values = two.e;
    for (int64_t k = 0; k < n; k++) values[k] = two.d[order[k]];
    put_values(values);
    if (!vectors) return true;
    two.left.join_all();
    two.right.join_all();
    for (int64_t k = 0; k < n; k++) std::memcpy(sorted + k * n, right + order[k] * n, static_cast<size_t>(n) * sizeof(S));
    two.right.multiply(sorted, n);
    finish(sorted, n, n, given);
    put_vectors(false, given);
    std::fill(long_ones, long_ones + wanted * m, S(0));
    for (int64_t k = 0; k < wanted; k++) {
      if (k < n) std::memcpy(long_ones + k * m, left + order[k] * n, static_cast<size_t>(n) * sizeof(S));
      else long_ones[k * m + k] = 1;
    }
    if (!tall()) {
      two.left.multiply(long_ones, wanted);
    } else {
      // The first n numbers of the first n.
      for (int64_t k = 0; k < n; k++) std::memcpy(sorted + k * n, long_ones + k * m, static_cast<size_t>(n) * sizeof(S));
      two.left.multiply(sorted, n);
      for (int64_t k = 0; k < n; k++) std::memcpy(long_ones + k * m, sorted + k * n, static_cast<size_t>(n) * sizeof(S));
      whole.multiply(long_ones, wanted);
    }
    finish(long_ones, m, wanted, given);
    put_vectors(true, given);
    return true;
  }

 private:
  static constexpr int64_t kApart = 64 / sizeof(S);
  // Products move a norm by some last bits. Rows to columns.
  static void finish(S* vectors, int64_t length, int64_t count, S* to) {
    for (int64_t k = 0; k < count; k++) {
      S* row = vectors + k * length;
      multiply(static_cast<S>(1 / std::sqrt(dot(row, row, length))), row, length);
    }
    turn(vectors, length, count, length, to, count);
  }
};

// A batch of matrices; u and v have p and q columns.
struct Matrices {
  Tensor x, s, u, v;
  int64_t count, rows, columns, p, q;
  bool vectors;
  bool tall() const { return rows >= columns; }
  int64_t m() const { return tall() ? rows : columns; }
  int64_t n() const { return tall() ? columns : rows; }
  int64_t wanted() const { return tall() ? p : q; }
  // A result of one matrix: its values, the n vectors of the shorter side, the wanted ones of the longer.
  template <class S> void put_vectors(int64_t matrix, bool longer, const S* from) const {
    const int64_t size = longer ? m() * wanted() : n() * n();
    put_all(longer == tall() ? u : v, matrix * size, size, from);
  }
};

constexpr double kStep = 0x1p100;  // larger factors may be no numbers of float32

// False where it does not converge, or what is given is not finite.
template <class S> bool decompose_large(const Matrices& of, int64_t matrix) {
  const int64_t m = of.m(), n = of.n();
  const Large<S> large{m, n, of.wanted(), of.vectors};
  S* held = room<S>(kMoreSlot, m * max64(n, of.wanted()));
  get_all(of.x, matrix * m * n, m * n, held);
  if (!all_finite(held, m * n)) return false;
  // A power of two, which rounds nothing.
  const double down = scale_of(held, m * n);
  double rest = down;
  for (; rest > kStep; rest /= kStep) multiply(static_cast<S>(kStep), held, m * n);
  multiply(static_cast<S>(rest), held, m * n);
  const auto put_values = [&](double* values) {
    for (int64_t j = 0; j < n; j++) values[j] /= down;
    put_doubles(of.s, matrix * n, n, values);
  };
  return large.decompose(room<S>(kMatrixSlot, large.room()), held, !of.tall(), put_values, [&](bool longer, const S* from) { of.put_vectors(matrix, longer, from); });
}

void decompose_small(const Matrices& of, int64_t matrix) {
  const int64_t m = of.m(), n = of.n(), wanted = of.wanted();
  Work w(room<double>(kMatrixSlot, Work::room(m, n)), m, n, of.vectors);
  double* held = room<double>(kMoreSlot, m * max64(n, wanted));
  get_all(of.x, matrix * m * n, m * n, held);
  if (!all_finite(held, m * n)) {
    for (int64_t i = 0; i < m * max64(n, wanted); i++) held[i] = __builtin_nan("");
    put_doubles(of.s, matrix * n, n, held);
    if (of.vectors) of.put_vectors(matrix, false, held), of.put_vectors(matrix, true, held);
    return;
  }
  const double down = scale_of(held, m * n);
  multiply(down, held, m * n);
  if (of.tall()) turn(held, n, m, n, w.a, m);
  else std::memcpy(w.a, held, static_cast<size_t>(m * n) * sizeof(double));
  w.factor();
  w.orthogonalise();
  for (int64_t j = 0; j < n; j++) held[j] = w.norms[w.order[j]] / down;
  put_doubles(of.s, matrix * n, n, held);
  if (!of.vectors) return;
  w.complete();
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < n; i++) held[w.pivots[i] * n + j] = w.x[w.order[j] * n + i];
  }
  of.put_vectors(matrix, false, held);
  for (int64_t j = 0; j < wanted; j++) {
    w.left(j);
    for (int64_t i = 0; i < m; i++) held[i * wanted + j] = w.column[i];
  }
  of.put_vectors(matrix, true, held);
}

void decompose(const Matrices& of) {
  const int64_t m = of.m(), n = of.n();
  parallel_for(of.count, kWork / (10 * m * n * n + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t matrix = begin; matrix < end; matrix++) {
      const bool done = n > kJacobi && (of.x.dtype == DType::f32 ? decompose_large<float>(of, matrix) : decompose_large<double>(of, matrix));
      if (!done) decompose_small(of, matrix);
    }
  });
}

}  // namespace

void svd(Args& a) {
  if (left_to_baseline(a)) return baseline::svd(a);
  const bool vectors = a.outputs() > 1;
  Tensor x = a.tensor(), s = a.tensor(), u{}, v{};
  if (vectors) {
    u = a.tensor();
    v = a.tensor();
  }
  const bool complex = a.flag();
  x = without_parts(x, complex);
  s = without_parts(s, complex);
  if (vectors) u = without_parts(u, complex), v = without_parts(v, complex);
  if (x.rank < 2) fail(Code::internal, "svd of rank %d", x.rank);
  const int64_t m = x.dim(-2), n = x.dim(-1), count = product(x.dims, 0, x.rank - 2), least = min64(m, n);
  bool fit = s.dtype == x.dtype && s.size == count * least;
  if (vectors) {
    const auto fits = [&](const Tensor& t, int64_t rows) {
      return t.rank == x.rank && t.dtype == x.dtype && t.dim(-2) == rows && t.dim(-1) >= least && t.dim(-1) <= rows &&
             t.size == count * rows * t.dim(-1);
    };
    fit = fit && fits(u, m) && fits(v, n);
  }
  if (!fit) fail(Code::internal, "svd of tensors that do not fit");
  check_factors(x.dtype);
  const int64_t p = vectors ? u.dim(-1) : 0, q = vectors ? v.dim(-1) : 0;
  if (!complex) decompose(Matrices{x, s, u, v, count, m, n, p, q, vectors});
  else if constexpr (kBaseline) decompose_complex(x, s, u, v, count, m, n, p, q, vectors);
}

void register_svd(Registry& r) { r.add("Svd", svd); }
EAGRE_END
