// QR: Householder's reflections, a block of columns at a time; what is behind a block gets its reflections by products (Schreiber and
// Van Loan, 1989). Matrices are stored by columns, so that each reflection reads what lies side by side.
#include "matrices.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kBlock = 32;

template <class S> struct Qr {
  int64_t m, n, k;
  S *a;    // [n, m]: the columns of the matrix
  S *v;    // [k, m]: the reflectors
  S *tau;  // [k]
  S *t, *w, *turned;

  static int64_t room(int64_t m, int64_t n, int64_t p) {
    const int64_t k = min64(m, n), rows = max64(n, p);
    return n * m + k * m + k + kBlock * kBlock + 2 * rows * kBlock;
  }
  Qr(S* memory, int64_t rows, int64_t columns, int64_t p) : m(rows), n(columns), k(min64(rows, columns)) {
    a = memory;
    v = a + n * m;
    tau = v + k * m;
    t = tau + k;
    w = t + kBlock * kBlock;
    turned = w + max64(n, p) * kBlock;
  }

  void factor() {
    for (int64_t first = 0; first < k; first += kBlock) {
      const int64_t last = min64(first + kBlock, k);
      for (int64_t j = first; j < last; j++) {
        S* own = v + j * m;
        for (int64_t i = 0; i < m; i++) own[i] = i < j ? scalar<S>(0) : a[j * m + i];
        const double beta = reflector(own + j, m - j, tau[j]);
        a[j * m + j] = scalar<S>(beta);
        for (int64_t i = j + 1; i < m; i++) a[j * m + i] = scalar<S>(0);
        for (int64_t c = j + 1; c < last; c++) subtract(conj(tau[j]) * dot(own + j, a + c * m + j, m - j), own + j, a + c * m + j, m - j);
      }
      if (last < n) apply(first, last, a + last * m, n - last, true);
    }
  }

  // Columns c, the rows of `x`, become those of (I − V · T · Vᴴ) · c, or of its adjoint.
  void apply(int64_t first, int64_t last, S* x, int64_t count, bool adjoint) {
    const int64_t size = last - first, rest = m - first;
    const S* own = v + first * m + first;
    for (int64_t j = 0; j < size; j++) {
      for (int64_t i = 0; i < j; i++) w[i] = dot(own + i * m, own + j * m, rest);
      for (int64_t i = 0; i < j; i++) {
        S sum = scalar<S>(0);
        for (int64_t l = i; l < j; l++) sum += t[i * kBlock + l] * w[l];
        t[i * kBlock + j] = scalar<S>(0) - tau[first + j] * sum;
      }
      t[j * kBlock + j] = tau[first + j];
    }
    product(count, size, rest, View<S>{x + first, m, 1, false}, View<S>{own, 1, m, true}, w, kBlock);
    for (int64_t r = 0; r < count; r++) {
      for (int64_t j = 0; j < size; j++) {
        S sum = scalar<S>(0);
        if (adjoint) for (int64_t l = 0; l <= j; l++) sum += w[r * kBlock + l] * conj(t[l * kBlock + j]);
        else for (int64_t l = j; l < size; l++) sum += w[r * kBlock + l] * t[j * kBlock + l];
        turned[r * kBlock + j] = sum;
      }
    }
    subtract_product<S>(count, rest, size, {turned, kBlock, 1, false}, {own, m, 1, false}, x + first, m);
  }

  // The first `count` columns of Q, as rows of q.
  void form(S* q, int64_t count) {
    for (int64_t r = 0; r < count; r++) for (int64_t i = 0; i < m; i++) q[r * m + i] = scalar<S>(r == i ? 1 : 0);
    for (int64_t block = ceil_div(k, kBlock); block-- > 0;) {
      const int64_t first = block * kBlock;
      apply(first, min64(first + kBlock, k), q, count, false);
    }
  }
};

void qr(Args& args) {
  Tensor x = args.tensor(), q = args.tensor(), r = args.tensor();
  const bool complex = args.flag();
  x = without_parts(x, complex);
  q = without_parts(q, complex);
  r = without_parts(r, complex);
  if (x.rank < 2 || q.rank != x.rank || r.rank != x.rank || q.dtype != x.dtype || r.dtype != x.dtype) fail(Code::internal, "qr of tensors that do not fit");
  const int64_t m = x.dim(-2), n = x.dim(-1), count = product(x.dims, 0, x.rank - 2), p = q.dim(-1);
  if (q.size != count * m * p || r.size != count * p * n || p < min64(m, n) || p > m) fail(Code::internal, "qr with results of other sizes");
  visit_scalars(x.dtype, complex, [&](auto element, auto number) {
    using T = decltype(element);
    using S = decltype(number);
    for_matrices(count, 2 * m * n * min64(m, n), [&](int64_t matrix) {
      Qr<S> work(room<S>(kMatrixSlot, Qr<S>::room(m, n, p)), m, n, p);
      const T* from = at_matrix(x.as<T>(), matrix * m * n, complex);
      for (int64_t j = 0; j < n; j++) for (int64_t i = 0; i < m; i++) get(from, i * n + j, work.a[j * m + i]);
      work.factor();
      T* to = at_matrix(r.as<T>(), matrix * p * n, complex);
      for (int64_t i = 0; i < p; i++) for (int64_t j = 0; j < n; j++) put(to, i * n + j, i <= j ? work.a[j * m + i] : scalar<S>(0));
      S* columns = room<S>(kMoreSlot, p * m);
      work.form(columns, p);
      T* vectors = at_matrix(q.as<T>(), matrix * m * p, complex);
      for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < p; j++) put(vectors, i * p + j, columns[j * m + i]);
    });
  });
}

}  // namespace

void register_qr(Registry& r) { r.add("QR", qr); }
EAGRE_END
