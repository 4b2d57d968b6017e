// FusedBatchNorm in training and its gradient: x is a matrix of channels last.
#include <cmath>

#include "column_moments.h"

EAGRE_BEGIN
namespace {

template <class T>
void forward(const T* x, const T* scale, const T* offset, T* y, T* mean, T* variance, const Layout& l, double epsilon) {
  int64_t c = l.channels;
  // Per chunk: the means, then the sums of squares around them.
  double* partial = static_cast<double*>(scratch(0, l.chunks * 2 * c * static_cast<int64_t>(sizeof(double))));
  parallel_for(l.chunks, 1, [=](int64_t begin, int64_t end) {
    T* memory = static_cast<T*>(scratch(1, 3 * l.width * static_cast<int64_t>(sizeof(T))));
    for (int64_t k = begin; k < end; k++) chunk_moments(x, l, k, memory, partial + k * 2 * c);
  });
  double* total = static_cast<double*>(scratch(2, 2 * c * static_cast<int64_t>(sizeof(double))));
  const double* spread = total + c;
  combine_chunks(l, partial, total);
  T* wide = static_cast<T*>(scratch(3, 3 * l.width * static_cast<int64_t>(sizeof(T))));
  T *shift = wide, *factor = wide + l.width, *bias = factor + l.width;
  for (int64_t j = 0; j < c; j++) {
    double v = spread[j] / static_cast<double>(l.rows);
    mean[j] = static_cast<T>(l.rows > 0 ? total[j] : v);
    variance[j] = static_cast<T>(v);
    shift[j] = mean[j];
    factor[j] = static_cast<T>(static_cast<double>(scale[j]) / std::sqrt(v + epsilon));
    // The part of the mean that T cannot hold goes into the offset.
    bias[j] = static_cast<T>(static_cast<double>(offset[j]) -
                             (total[j] - static_cast<double>(shift[j])) * static_cast<double>(factor[j]));
  }
  repeat(l, shift);
  repeat(l, factor);
  repeat(l, bias);
  parallel_for(l.chunks, 2, [=](int64_t begin, int64_t end) {
    int64_t row = begin * l.chunk_rows, last = end * l.chunk_rows < l.rows ? end * l.chunk_rows : l.rows;
    each_group(l, row, last - row, [=](int64_t at, int64_t n) {
      const T* from = x + at;
      T* __restrict to = y + at;
      for (int64_t j = 0; j < n; j++) to[j] = (from[j] - shift[j]) * factor[j] + bias[j];
    });
  });
}

template <class T>
void backward(const T* dy, const T* x, const T* scale, const T* mean, const T* variance, T* dx, T* dscale, T* doffset,
              const Layout& l, double epsilon) {
  int64_t c = l.channels;
  // Per chunk: Σ dy, then Σ dy (x - mean).
  T* partial = static_cast<T*>(scratch(0, l.chunks * 2 * c * static_cast<int64_t>(sizeof(T))));
  T* wide = static_cast<T*>(scratch(3, 4 * l.width * static_cast<int64_t>(sizeof(T))));
  T *shift = wide, *factor = wide + l.width, *level = factor + l.width, *slope = level + l.width;
  for (int64_t j = 0; j < c; j++) shift[j] = mean[j];
  repeat(l, shift);
  parallel_for(l.chunks, 1, [=](int64_t begin, int64_t end) {
    T* plain = static_cast<T*>(scratch(1, 2 * l.width * static_cast<int64_t>(sizeof(T))));
    T* product = plain + l.width;
    for (int64_t k = begin; k < end; k++) {
      int64_t row = k * l.chunk_rows, rows = l.rows - row < l.chunk_rows ? l.rows - row : l.chunk_rows;
      clear(plain, 2 * l.width);
      each_group(l, row, rows, [=](int64_t at, int64_t n) {
        const T *g = dy + at, *from = x + at;
        T *__restrict a = plain, *__restrict b = product;
        for (int64_t j = 0; j < n; j++) {
          a[j] += g[j];
          b[j] += g[j] * (from[j] - shift[j]);
        }
      });
      fold(l, plain);
      fold(l, product);
      T* out = partial + k * 2 * c;
      for (int64_t j = 0; j < c; j++) out[j] = plain[j], out[c + j] = product[j];
    }
  });
  double* total = static_cast<double*>(scratch(2, 2 * c * static_cast<int64_t>(sizeof(double))));
  clear(total, 2 * c);
  for (int64_t k = 0; k < l.chunks; k++) {
    for (int64_t j = 0; j < 2 * c; j++) total[j] += static_cast<double>(partial[k * 2 * c + j]);
  }
  double count = static_cast<double>(l.rows);
  for (int64_t j = 0; j < c; j++) {
    double inverse = 1 / std::sqrt(static_cast<double>(variance[j]) + epsilon);
    doffset[j] = static_cast<T>(total[j]);
    dscale[j] = static_cast<T>(total[c + j] * inverse);
    factor[j] = static_cast<T>(static_cast<double>(scale[j]) * inverse);
    level[j] = static_cast<T>(total[j] / count);
    slope[j] = static_cast<T>(total[c + j] * inverse * inverse / count);
  }
  repeat(l, factor);
  repeat(l, level);
  repeat(l, slope);
  parallel_for(l.chunks, 2, [=](int64_t begin, int64_t end) {
    int64_t row = begin * l.chunk_rows, last = end * l.chunk_rows < l.rows ? end * l.chunk_rows : l.rows;
    each_group(l, row, last - row, [=](int64_t at, int64_t n) {
      const T *g = dy + at, *from = x + at;
      T* __restrict to = dx + at;
      for (int64_t j = 0; j < n; j++) to[j] = (g[j] - level[j] - (from[j] - shift[j]) * slope[j]) * factor[j];
    });
  });
}

template <class F> void floating(DType t, F&& f) {
  if (t == DType::f32) f(float{});
  else if (t == DType::f64) f(double{});
  else fail(Code::unimplemented, "batch normalization takes float32 and float64");
}

// All tensors of one dtype, `whole` of them of x's size and the others of one element a channel.
Layout layout_of(const Tensor& x, const Tensor* const* whole, int wholes, const Tensor* const* per_channel, int count) {
  int64_t c = x.rank > 0 ? x.dim(-1) : 1;
  bool fits = true;
  for (int i = 0; i < wholes; i++) fits = fits && whole[i]->size == x.size && whole[i]->dtype == x.dtype;
  for (int i = 0; i < count; i++) fits = fits && per_channel[i]->size == c && per_channel[i]->dtype == x.dtype;
  if (!fits) fail(Code::internal, "batch normalization of tensors that do not fit");
  return c == 0 ? Layout(0, 1) : Layout(x.size / c, c);
}

void fused_batch_norm(Args& a) {
  Tensor x = a.tensor(), scale = a.tensor(), offset = a.tensor(), y = a.tensor(), mean = a.tensor(), variance = a.tensor();
  double epsilon = a.number();
  const Tensor *whole[] = {&y}, *per_channel[] = {&scale, &offset, &mean, &variance};
  Layout l = layout_of(x, whole, 1, per_channel, 4);
  if (mean.size == 0) return;
  floating(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    forward(x.as<T>(), scale.as<T>(), offset.as<T>(), y.as<T>(), mean.as<T>(), variance.as<T>(), l, epsilon);
  });
}

void fused_batch_norm_grad(Args& a) {
  Tensor dy = a.tensor(), x = a.tensor(), scale = a.tensor(), mean = a.tensor(), variance = a.tensor();
  Tensor dx = a.tensor(), dscale = a.tensor(), doffset = a.tensor();
  double epsilon = a.number();
  const Tensor *whole[] = {&dy, &dx}, *per_channel[] = {&scale, &mean, &variance, &dscale, &doffset};
  Layout l = layout_of(x, whole, 2, per_channel, 5);
  if (mean.size == 0) return;
  floating(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    backward(dy.as<T>(), x.as<T>(), scale.as<T>(), mean.as<T>(), variance.as<T>(), dx.as<T>(), dscale.as<T>(), doffset.as<T>(), l,
             epsilon);
  });
}

}  // namespace

void register_batchnorm(Registry& r) {
  r.add("FusedBatchNorm", fused_batch_norm);
  r.add("FusedBatchNormGrad", fused_batch_norm_grad);
}
EAGRE_END
