// FusedBatchNorm in training and its gradient: x is a matrix of channels last.
//
// The rows are cut into chunks whose borders depend on the shape alone. Each chunk takes its mean and then the squares around
// that mean while it is in cache; chunks are combined in order, in double, by the update of Chan, Golub and LeVeque (1979).
#include <cmath>

#include "isa.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kChunk = 1 << 14;  // elements of a chunk, about
constexpr int64_t kWide = 64;        // a row of fewer channels is taken several at a time

// Rows are worked on `together` at a time: arrays by column repeat the channels that often.
struct Layout {
  int64_t rows, channels, together, width, chunk_rows, chunks;
  Layout(int64_t r, int64_t c) : rows(r), channels(c) {
    together = c < kWide ? kWide / c : 1;
    width = together * c;
    chunk_rows = (kChunk / c / together + 1) * together;
    chunks = (r + chunk_rows - 1) / chunk_rows;
  }
};

// acc[j] += f(element j of a row), where rows past the end of whole groups fill only the first columns of one more group.
template <class T, class F> inline void each_group(const Layout& l, int64_t row, int64_t rows, F f) {
  int64_t at = row * l.channels, end = at + rows * l.channels;
  for (; at + l.width <= end; at += l.width) f(at, l.width);
  if (at < end) f(at, end - at);
}

template <class T> inline void clear(T* acc, int64_t n) {
  for (int64_t j = 0; j < n; j++) acc[j] = 0;
}
// The channels' sums from those of the repeated columns.
template <class T> inline void fold(const Layout& l, T* acc) {
  for (int64_t k = l.channels; k < l.width; k += l.channels) {
    for (int64_t c = 0; c < l.channels; c++) acc[c] += acc[k + c];
  }
}
template <class T> inline void repeat(const Layout& l, T* values) {
  for (int64_t j = l.channels; j < l.width; j++) values[j] = values[j - l.channels];
}

template <class T>
void forward(const T* x, const T* scale, const T* offset, T* y, T* mean, T* variance, const Layout& l, double epsilon) {
  int64_t c = l.channels;
  // Per chunk: the means, then the sums of squares around them.
  double* partial = static_cast<double*>(scratch(0, l.chunks * 2 * c * static_cast<int64_t>(sizeof(double))));
  parallel_for(l.chunks, 1, [=](int64_t begin, int64_t end) {
    T* sum = static_cast<T*>(scratch(1, 3 * l.width * static_cast<int64_t>(sizeof(T))));
    T* center = sum + l.width;
    T* square = center + l.width;
    for (int64_t k = begin; k < end; k++) {
      int64_t row = k * l.chunk_rows, rows = l.rows - row < l.chunk_rows ? l.rows - row : l.chunk_rows;
      clear(sum, l.width);
      each_group<T>(l, row, rows, [=](int64_t at, int64_t n) {
        const T* from = x + at;
        T* __restrict to = sum;
        for (int64_t j = 0; j < n; j++) to[j] += from[j];
      });
      fold(l, sum);
      for (int64_t j = 0; j < c; j++) center[j] = sum[j] / static_cast<T>(rows);
      repeat(l, center);
      clear(sum, l.width);
      clear(square, l.width);
      each_group<T>(l, row, rows, [=](int64_t at, int64_t n) {
        const T* from = x + at;
        T *__restrict to = square, *__restrict rest = sum;
        for (int64_t j = 0; j < n; j++) {
          T d = from[j] - center[j];
          rest[j] += d;
          to[j] += d * d;
        }
      });
      fold(l, sum);
      fold(l, square);
      // What is left around a rounded mean corrects it.
      double* out = partial + k * 2 * c;
      for (int64_t j = 0; j < c; j++) {
        double left = static_cast<double>(sum[j]) / static_cast<double>(rows);
        out[j] = static_cast<double>(center[j]) + left;
        out[c + j] = static_cast<double>(square[j]) - left * static_cast<double>(sum[j]);
      }
    }
  });
  double* total = static_cast<double*>(scratch(2, 2 * c * static_cast<int64_t>(sizeof(double))));
  double* spread = total + c;
  clear(total, 2 * c);
  for (int64_t k = 0; k < l.chunks; k++) {
    int64_t row = k * l.chunk_rows, rows = l.rows - row < l.chunk_rows ? l.rows - row : l.chunk_rows;
    const double* from = partial + k * 2 * c;
    double before = static_cast<double>(row), added = static_cast<double>(rows), all = before + added;
    for (int64_t j = 0; j < c; j++) {
      double delta = from[j] - total[j];
      total[j] += delta * (added / all);
      spread[j] += from[c + j] + delta * delta * (before * added / all);
    }
  }
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
    each_group<T>(l, row, last - row, [=](int64_t at, int64_t n) {
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
      each_group<T>(l, row, rows, [=](int64_t at, int64_t n) {
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
    each_group<T>(l, row, last - row, [=](int64_t at, int64_t n) {
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
