// Slice, SliceGrad, Reverse, Tile: strided views that are written out.
#include "strided.h"

EAGRE_BEGIN
namespace {

// The region begin + i·strides of `whole`, as strides into it; the other side has `part`'s shape and is dense.
struct Region {
  int64_t offset = 0;
  Move whole_to_part, part_to_whole;
};

Region region(const Tensor& whole, const Tensor& part, Args& a) {
  int64_t begin[kMaxRank], strides[kMaxRank], steps[kMaxRank], dense[kMaxRank];
  int n = a.list(begin, kMaxRank), m = a.list(strides, kMaxRank);
  if (n != whole.rank || m != n || part.rank != n) fail(Code::internal, "begin and strides must have rank %d", whole.rank);
  dense_strides(whole, steps);
  dense_strides(part, dense);
  Region r;
  for (int i = 0; i < n; i++) {
    int64_t d = part.dims[i], last = begin[i] + (d - 1) * strides[i];
    if (d > 0 && (begin[i] < 0 || begin[i] >= whole.dims[i] || last < 0 || last >= whole.dims[i])) {
      fail(Code::invalid_argument, "slice of axis %d leaves the tensor", i);
    }
    r.offset += begin[i] * steps[i];
    r.whole_to_part.axis(d, strides[i] * steps[i], dense[i]);
    r.part_to_whole.axis(d, dense[i], strides[i] * steps[i]);
  }
  return r;
}

void slice(Args& a) {
  Tensor x = a.tensor(), y = a.tensor();
  Region r = region(x, y, a);
  if (y.size == 0) return;
  visit_size(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    move_strided(r.whole_to_part, x.as<T>() + r.offset, y.as<T>());
  });
}

void slice_grad(Args& a) {
  Tensor dy = a.tensor(), dx = a.tensor();
  Region r = region(dx, dy, a);
  if (dy.size < dx.size) parallel_zero(dx.data, dx.size * static_cast<int64_t>(dtype_size(dx.dtype)));
  if (dy.size == 0) return;
  visit_size(dx.dtype, [&](auto tag) {
    using T = decltype(tag);
    move_strided(r.part_to_whole, dy.as<T>(), dx.as<T>() + r.offset);
  });
}

void reverse(Args& a) {
  Tensor x = a.tensor(), y = a.tensor();
  int64_t axes[kMaxRank], steps[kMaxRank];
  int n = a.list(axes, kMaxRank);
  bool turned[kMaxRank] = {};
  for (int i = 0; i < n; i++) {
    if (axes[i] < 0 || axes[i] >= x.rank) fail(Code::internal, "axis %lld of rank %d", ll(axes[i]), x.rank);
    turned[axes[i]] = true;
  }
  if (x.size != y.size) fail(Code::internal, "sizes differ");
  if (y.size == 0) return;
  dense_strides(x, steps);
  Move m;
  int64_t offset = 0;
  for (int i = 0; i < x.rank; i++) {
    if (turned[i]) offset += (x.dims[i] - 1) * steps[i];
    m.axis(x.dims[i], turned[i] ? -steps[i] : steps[i], steps[i]);
  }
  visit_size(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    move_strided(m, x.as<T>() + offset, y.as<T>());
  });
}

void tile(Args& a) {
  Tensor x = a.tensor(), y = a.tensor();
  if (x.rank != y.rank) fail(Code::internal, "ranks differ");
  if (y.size == 0) return;
  int64_t in[kMaxRank], out[kMaxRank];
  dense_strides(x, in);
  dense_strides(y, out);
  Move m;
  for (int i = 0; i < x.rank; i++) {
    if (x.dims[i] == 0 || y.dims[i] % x.dims[i] != 0) fail(Code::internal, "axis %d is no multiple", i);
    m.axis(y.dims[i] / x.dims[i], 0, out[i] * x.dims[i]);
    m.axis(x.dims[i], in[i], out[i]);
  }
  visit_size(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    move_strided(m, x.as<T>(), y.as<T>());
  });
}

}  // namespace

void register_slice(Registry& r) {
  r.add("Slice", slice);
  r.add("SliceGrad", slice_grad);
  r.add("Reverse", reverse);
  r.add("Tile", tile);
}
EAGRE_END
