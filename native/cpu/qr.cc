// QR: columns of the identity that Householder's reflections have turned, and what the matrix became.
#include "qr.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kSmall = 32;

}  // namespace

void qr(Args& args) {
  if (left_to_baseline(args)) return baseline::qr(args);
  Tensor x = args.tensor(), q = args.tensor(), r = args.tensor();
  const bool complex = args.flag();
  x = without_parts(x, complex);
  q = without_parts(q, complex);
  r = without_parts(r, complex);
  if (x.rank < 2 || q.rank != x.rank || r.rank != x.rank || q.dtype != x.dtype || r.dtype != x.dtype) fail(Code::internal, "qr of tensors that do not fit");
  const int64_t m = x.dim(-2), n = x.dim(-1), count = product(x.dims, 0, x.rank - 2), p = q.dim(-1);
  if (q.size != count * m * p || r.size != count * p * n || p < min64(m, n) || p > m) fail(Code::internal, "qr with results of other sizes");
  // Small matrices cost little in double, and their small elements keep their bits.
  const auto visit = [&](auto&& run) { min64(m, n) <= kSmall ? visit_wide_scalars(x.dtype, complex, run) : visit_scalars(x.dtype, complex, run); };
  visit([&](auto number) {
    using S = decltype(number);
    for_matrices(count, 2 * m * n * min64(m, n), [&](int64_t matrix) {
      Qr<S> work(room<S>(kMatrixSlot, Qr<S>::room(m, n, p)), m, n, p);
      S* rows = room<S>(kMoreSlot, 2 * m * max64(n, p));
      get_all(x, matrix * m * n, m * n, rows);
      turn(rows, n, m, n, work.a, m);
      work.factor();
      turn(work.a, m, n, p, rows, n);
      put_all(r, matrix * p * n, p * n, rows);
      S* columns = rows + m * max64(n, p);
      work.form(columns, p);
      turn(columns, m, p, m, rows, p);
      put_all(q, matrix * m * p, m * p, rows);
    });
  });
}

void register_qr(Registry& r) { r.add("QR", qr); }
EAGRE_END
