// Cholesky: x = L · Lᴴ, by blocks of columns: a product with what is to the left, then the block itself.
#include "matrices.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kBlock = 48;

// Of the lower triangle of a [n, n]; false where a is not positive definite.
template <class S> bool factor(S* a, int64_t n) {
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t last = min64(first + kBlock, n);
    S* rows = a + first * n;
    subtract_product<S>(n - first, last - first, first, {rows, n, 1, false}, {rows, 1, n, true}, rows + first, n);
    for (int64_t i = first; i < n; i++) {
      S* row = a + i * n;
      for (int64_t j = first; j < last && j <= i; j++) {
        const S* other = a + j * n;
        const S rest = row[j] - conj(dot(row + first, other + first, j - first));
        if (i > j) {
          row[j] = rest * (1 / real(other[j]));
          continue;
        }
        if (!(real(rest) > 0) || !is_finite(rest)) return false;
        row[j] = scalar<S>(std::sqrt(real(rest)));
      }
    }
  }
  for (int64_t i = 0; i < n; i++) for (int64_t j = i + 1; j < n; j++) a[i * n + j] = scalar<S>(0);
  return true;
}

void cholesky(Args& args) {
  Tensor x = args.tensor(), y = args.tensor();
  const bool complex = args.flag();
  x = without_parts(x, complex);
  y = without_parts(y, complex);
  if (x.rank < 2 || x.dim(-1) != x.dim(-2) || y.size != x.size || y.dtype != x.dtype) fail(Code::internal, "cholesky of tensors that do not fit");
  const int64_t n = x.dim(-1), count = product(x.dims, 0, x.rank - 2);
  visit_scalars(x.dtype, complex, [&](auto element, auto number) {
    using T = decltype(element);
    using S = decltype(number);
    for_matrices(count, n * n * n / 3, [&](int64_t i) {
      S* a = room<S>(kMatrixSlot, n * n);
      get_all(at_matrix(x.as<T>(), i * n * n, complex), a, n * n);
      if (!factor(a, n)) {
        for (int64_t k = 0; k < n * n; k++) a[k] = scalar<S>(__builtin_nan(""));
      }
      put_all(at_matrix(y.as<T>(), i * n * n, complex), a, n * n);
    });
  });
}

}  // namespace

void register_cholesky(Registry& r) { r.add("Cholesky", cholesky); }
EAGRE_END
