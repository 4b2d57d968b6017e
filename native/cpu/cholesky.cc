// Cholesky: x = L · Lᴴ, by halves, as the rows of Lᴴ.
#include "triangle.h"

EAGRE_BEGIN
namespace {

// The upper triangle of a [n, n] becomes that of Lᴴ.
template <class S> struct Cholesky {
  static constexpr int64_t kLeast = 16, kTile = 64;
  S* a;
  int64_t n;

  // False where a is not positive definite.
  bool factor(int64_t begin, int64_t end) const {
    if (end - begin <= kLeast) return factor_rows(begin, end);
    const int64_t middle = begin + ceil_div((end - begin) / 2, kLeast) * kLeast;
    if (!factor(begin, middle)) return false;
    Triangle<S>{a + begin * n + begin, middle - begin, n, false, true, false}.solve(a + begin * n + middle, end - middle, n);
    update(begin, middle, middle, end);
    return factor(middle, end);
  }

 private:
  bool factor_rows(int64_t begin, int64_t end) const {
    for (int64_t i = begin; i < end; i++) {
      S* row = a + i * n;
      const double square = real(row[i]);
      if (!(square > 0) || !is_finite(row[i])) return false;
      const double d = std::sqrt(square);
      row[i] = scalar<S>(d);
      for (int64_t j = i + 1; j < end; j++) row[j] = row[j] * scalar<S>(1 / d);
      for (int64_t j = i + 1; j < end; j++) subtract(conj(row[j]), row + j, a + j * n + j, end - j);
    }
    return true;
  }
  // The upper triangle of rows and columns [begin, end) loses the product of the rows [from, to) with themselves.
  void update(int64_t from, int64_t to, int64_t begin, int64_t end) const {
    if (end - begin <= kTile) return subtract_rows(from, to, begin, end, begin, end);
    const int64_t middle = begin + ceil_div((end - begin) / 2, kLeast) * kLeast;
    update(from, to, begin, middle);
    subtract_rows(from, to, begin, middle, middle, end);
    update(from, to, middle, end);
  }
  void subtract_rows(int64_t from, int64_t to, int64_t row, int64_t last_row, int64_t column, int64_t last_column) const {
    const S* rows = a + from * n;
    subtract_product<S>(last_row - row, last_column - column, to - from, {rows + row, 1, n, true}, {rows + column, n, 1, false}, a + row * n + column, n);
  }
};

// to[j, i] = conj(from[i, j]).
template <class S> void adjoint(const S* from, int64_t n, S* to) {
  turn(from, n, n, n, to, n);
  if constexpr (kIsComplex<S>) for (int64_t i = 0; i < n * n; i++) to[i] = conj(to[i]);
}

}  // namespace

void cholesky(Args& args) {
  if (left_to_baseline(args)) return baseline::cholesky(args);
  Tensor x = args.tensor(), y = args.tensor();
  const bool complex = args.flag();
  x = without_parts(x, complex);
  y = without_parts(y, complex);
  if (x.rank < 2 || x.dim(-1) != x.dim(-2) || y.size != x.size || y.dtype != x.dtype) fail(Code::internal, "cholesky of tensors that do not fit");
  const int64_t n = x.dim(-1), count = product(x.dims, 0, x.rank - 2);
  visit_scalars(x.dtype, complex, [&](auto number) {
    using S = decltype(number);
    for_matrices(count, n * n * n / 3, [&](int64_t i) {
      S *a = room<S>(kMatrixSlot, n * n), *held = room<S>(kMoreSlot, n * n), *there = in_place<S>(y, i * n * n);
      const S* given = in_place<S>(x, i * n * n);
      if (!given) get_all(x, i * n * n, n * n, held);
      adjoint(given ? given : held, n, a);
      const bool good = Cholesky<S>{a, n}.factor(0, n);
      S* to = there ? there : held;
      if (good) adjoint(a, n, to);
      for (int64_t r = 0; r < n; r++) {
        for (int64_t c = good ? r + 1 : 0; c < n; c++) to[r * n + c] = scalar<S>(good ? 0 : __builtin_nan(""));
      }
      if (!there) put_all(y, i * n * n, n * n, held);
    });
  });
}

void register_cholesky(Registry& r) { r.add("Cholesky", cholesky); }
EAGRE_END
