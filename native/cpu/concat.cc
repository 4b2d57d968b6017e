// Concat.
#include "strided.h"

EAGRE_BEGIN
namespace {

void concat(Args& a) {
  // The output and the axis come after the inputs, so those are read twice.
  Args inputs = a;
  for (int i = 0; i < a.inputs(); i++) a.tensor();
  Tensor y = a.tensor();
  int64_t axis = a.integer();
  if (axis < 0) axis += y.rank;
  if (axis < 0 || axis >= y.rank) fail(Code::internal, "axis %lld of rank %d", ll(axis), y.rank);
  const int64_t rows = product(y.dims, 0, static_cast<int>(axis));
  const int64_t inner = product(y.dims, static_cast<int>(axis) + 1, y.rank);
  const int64_t row = y.dims[axis] * inner;
  visit_size(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    int64_t offset = 0;
    for (int i = 0; i < inputs.inputs(); i++) {
      Tensor x = inputs.tensor();
      int64_t n = x.rank == y.rank ? x.dims[axis] * inner : -1;
      if (n < 0 || x.size != rows * n || offset + n > row) fail(Code::internal, "input %d does not fit", i);
      if (x.size > 0) {
        Move m;
        m.axis(rows, n, row);
        m.axis(n, 1, 1);
        move_strided(m, x.as<T>(), y.as<T>() + offset);
      }
      offset += n;
    }
    if (offset != row && rows > 0) fail(Code::internal, "the inputs do not fill the output");
  });
}

}  // namespace

void register_concat(Registry& r) { r.add("Concat", concat); }
EAGRE_END
