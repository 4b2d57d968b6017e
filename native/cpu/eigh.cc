// SelfAdjointEig: Householder's reflections to three real diagonals, then implicit QL steps (Golub and Van Loan, chapter 8).
#include "matrices.h"

EAGRE_BEGIN
namespace {

constexpr int kSteps = 80;
constexpr int64_t kRows = 64;

template <class S> struct Eigh {
  int64_t n;
  S *a;        // [n, n]: the matrix, both halves
  S *vectors;  // [n, n]: eigenvectors, one a row
  S *v;        // [n, n]: reflectors, one a row
  S *tau, *w;
  double *d, *e;
  int64_t* order;

  // In bytes.
  static int64_t room(int64_t n) { return (3 * n * n + 2 * n) * static_cast<int64_t>(sizeof(S)) + 3 * n * 8; }
  Eigh(void* memory, int64_t size) : n(size) {
    a = static_cast<S*>(memory);
    vectors = a + n * n;
    v = vectors + n * n;
    tau = v + n * n;
    w = tau + n;
    d = reinterpret_cast<double*>(w + n);
    e = d + n;
    order = reinterpret_cast<int64_t*>(e + n);
  }

  // A matrix of a batch has one thread.
  template <class F> static void each_row(int64_t rows, F&& f) {
    for_large(rows, rows * rows, kRows, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) f(i);
    });
  }

  void to_tridiagonal() {
    for (int64_t k = 0; k + 1 < n; k++) {
      const int64_t rest = n - k - 1;
      S* own = v + k * n + k + 1;
      for (int64_t i = 0; i < rest; i++) own[i] = a[(k + 1 + i) * n + k];
      e[k] = reflector(own, rest, tau[k]);
      if (size_of(tau[k]) == 0) continue;
      // A -= v wᴴ + w vᴴ with w = tau A v − ½ tau (pᴴ v) v.
      each_row(rest, [&](int64_t i) {
        const S* row = a + (k + 1 + i) * n + k + 1;
        S sum = scalar<S>(0);
        if constexpr (kIsComplex<S>) for (int64_t j = 0; j < rest; j++) sum += row[j] * own[j];
        else sum = dot(row, own, rest);
        w[i] = tau[k] * sum;
      });
      const S half = tau[k] * dot(w, own, rest) * scalar<S>(0.5);
      subtract(half, own, w, rest);
      each_row(rest, [&](int64_t i) {
        S* row = a + (k + 1 + i) * n + k + 1;
        if constexpr (kIsComplex<S>) {
          for (int64_t j = 0; j < rest; j++) row[j] -= own[i] * conj(w[j]) + w[i] * conj(own[j]);
        } else {
          subtract(own[i], w, row, rest);
          subtract(w[i], own, row, rest);
        }
      });
    }
    for (int64_t k = 0; k < n; k++) d[k] = real(a[k * n + k]);
    if (n > 0) e[n - 1] = 0;
  }

  void form() {
    for (int64_t i = 0; i < n * n; i++) vectors[i] = scalar<S>(0);
    for (int64_t i = 0; i < n; i++) vectors[i * n + i] = scalar<S>(1);
    for (int64_t k = n - 1; k-- > 0;) {
      const int64_t rest = n - k - 1;
      const S* own = v + k * n + k + 1;
      each_row(rest, [&](int64_t r) {
        S* column = vectors + (k + 1 + r) * n + k + 1;
        subtract(tau[k] * dot(own, column, rest), own, column, rest);
      });
    }
  }

  // False where it does not converge.
  bool to_diagonal(bool wanted) {
    for (int64_t l = 0; l < n; l++) {
      for (int step = 0;; step++) {
        int64_t m = l;
        for (; m + 1 < n; m++) if (std::fabs(e[m]) <= 0x1p-53 * (std::fabs(d[m]) + std::fabs(d[m + 1]))) break;
        if (m == l) break;
        if (step == kSteps) return false;
        double g = (d[l + 1] - d[l]) / (2 * e[l]), r = std::hypot(g, 1.0);
        g = d[m] - d[l] + e[l] / (g + (g < 0 ? -r : r));
        double s = 1, c = 1, p = 0;
        int64_t i = m - 1;
        for (; i >= l; i--) {
          const double f = s * e[i], b = c * e[i];
          r = std::hypot(f, g);
          e[i + 1] = r;
          if (r == 0) {
            d[i + 1] -= p;
            e[m] = 0;
            break;
          }
          s = f / r;
          c = g / r;
          g = d[i + 1] - p;
          r = (d[i] - g) * s + 2 * c * b;
          p = s * r;
          d[i + 1] = g + p;
          g = c * r - b;
          if (wanted) rotate(vectors + i * n, vectors + (i + 1) * n, c, s);
        }
        if (r == 0 && i >= l) continue;
        d[l] -= p;
        e[l] = g;
        e[m] = 0;
      }
    }
    return true;
  }
  void rotate(S* x, S* y, double c, double s) const {
    int64_t i = 0;
    if constexpr (!kIsComplex<S>) {
      constexpr int L = Lanes<double>::n;
      const vf64 cosine = broadcast(c), sine = broadcast(s);
      for (; i + L <= n; i += L) {
        const vf64 f = load<double>(y + i), own = load<double>(x + i);
        store<double>(y + i, fma(own, sine, f * cosine));
        store<double>(x + i, fma(own, cosine, -(f * sine)));
      }
    }
    for (; i < n; i++) {
      const S f = y[i], own = x[i];
      y[i] = own * s + f * c;
      x[i] = own * c - f * s;
    }
  }
};

}  // namespace

void eigh(Args& args) {
  if (left_to_baseline(args)) return baseline::eigh(args);
  const bool wanted = args.outputs() > 1;
  Tensor x = args.tensor(), e = args.tensor(), v{};
  if (wanted) v = args.tensor();
  const bool complex = args.flag();
  x = without_parts(x, complex);
  e = without_parts(e, complex);
  if (wanted) v = without_parts(v, complex);
  if (x.rank < 2 || x.dim(-1) != x.dim(-2) || e.dtype != x.dtype || (wanted && (v.size != x.size || v.dtype != x.dtype))) fail(Code::internal, "eigenvalues of tensors that do not fit");
  const int64_t n = x.dim(-1), count = product(x.dims, 0, x.rank - 2);
  if (e.size != count * n) fail(Code::internal, "eigenvalues of another number");
  visit_wide_scalars(x.dtype, complex, [&](auto number) {
    using S = decltype(number);
    // One matrix is one task: it has no products to share.
    const int64_t grain = (1 << 16) / (4 * n * n * n + 1) + 1;
    parallel_for(count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t matrix = begin; matrix < end; matrix++) {
        Eigh<S> work(scratch(kMatrixSlot, Eigh<S>::room(n) + 1), n);
        get_all(x, matrix * n * n, n * n, work.a);
        // The lower half counts, and of its diagonal the real parts.
        for (int64_t i = 0; i < n; i++) {
          work.a[i * n + i] = scalar<S>(real(work.a[i * n + i]));
          for (int64_t j = i + 1; j < n; j++) work.a[i * n + j] = conj(work.a[j * n + i]);
        }
        bool good = all_finite(work.a, n * n);
        double up = 1;
        if (good) {
          const double down = scale_of(work.a, n * n);
          up = 1 / down;
          for (int64_t i = 0; i < n * n; i++) work.a[i] = work.a[i] * down;
          work.to_tridiagonal();
          if (wanted) work.form();
          good = work.to_diagonal(wanted);
        }
        const S nan = scalar<S>(__builtin_nan(""));
        for (int64_t i = 0; i < n; i++) {
          work.order[i] = i;
          for (int64_t k = i; good && k > 0 && work.d[work.order[k]] < work.d[work.order[k - 1]]; k--) {
            const int64_t held = work.order[k];
            work.order[k] = work.order[k - 1];
            work.order[k - 1] = held;
          }
        }
        // Where the matrix was.
        for (int64_t i = 0; i < n; i++) work.w[i] = good ? scalar<S>(work.d[work.order[i]] * up) : nan;
        put_all(e, matrix * n, n, work.w);
        if (!wanted) continue;
        for (int64_t j = 0; j < n; j++) {
          for (int64_t i = 0; i < n; i++) work.v[j * n + i] = good ? work.vectors[work.order[j] * n + i] : nan;
        }
        turn(work.v, n, n, n, work.a, n);
        put_all(v, matrix * n * n, n * n, work.a);
      }
    });
  });
}

void register_eigh(Registry& r) { r.add("SelfAdjointEig", eigh); }
EAGRE_END
