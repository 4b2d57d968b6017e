// Softmax, LogSoftmax and the two cross-entropies over the last axis, row by row.
#include <cmath>

#include "softmax.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kWork = 1 << 13;  // elements per chunk, about

inline int64_t rows_per_chunk(int64_t width) { return kWork / (width + 8) + 1; }

template <class T> void softmax_rows(const T* x, T* y, int64_t rows, int64_t n) {
  parallel_for(rows, rows_per_chunk(n), [=](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; r++) {
      const T* row = x + r * n;
      T* out = y + r * n;
      T scale = static_cast<T>(1 / exp_row(row, row_max(row, n), n, out));
      for (int64_t i = 0; i < n; i++) out[i] *= scale;
    }
  });
}

template <class T> void log_softmax_rows(const T* x, T* y, int64_t rows, int64_t n) {
  parallel_for(rows, rows_per_chunk(n), [=](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; r++) {
      const T* row = x + r * n;
      T* out = y + r * n;
      T shift = row_max(row, n);
      T log_sum = static_cast<T>(std::log(exp_row(row, shift, n, static_cast<T*>(nullptr))));
      for (int64_t i = 0; i < n; i++) out[i] = row[i] - shift - log_sum;
    }
  });
}

// loss = Σ labels · (log Σ exp - (x - max)). A label of 0 adds nothing, even where its logit is -inf.
template <class T> void dense_rows(const T* x, const T* labels, T* loss, T* backprop, int64_t rows, int64_t n) {
  parallel_for(rows, rows_per_chunk(2 * n), [=](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; r++) {
      const T *row = x + r * n, *want = labels + r * n;
      T* out = backprop + r * n;
      T shift = row_max(row, n);
      double total = exp_row(row, shift, n, out), sum = 0, lost = 0;
      T log_sum = static_cast<T>(std::log(total));
      for (int64_t i = 0; i < n; i++) {
        sum += static_cast<double>(want[i]);
        lost += want[i] == 0 ? 0 : static_cast<double>(want[i] * (log_sum - (row[i] - shift)));
      }
      T scale = static_cast<T>(sum / total);
      for (int64_t i = 0; i < n; i++) out[i] = out[i] * scale - want[i];
      loss[r] = static_cast<T>(lost);
    }
  });
}

template <class T, class L> void sparse_rows(const T* x, const L* labels, T* loss, T* backprop, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; r++) {
    if (labels[r] < 0 || labels[r] >= n) {
      fail(Code::out_of_range, "label %lld (of row %lld) is outside of the %lld classes", static_cast<long long>(labels[r]),
           static_cast<long long>(r), static_cast<long long>(n));
    }
  }
  parallel_for(rows, rows_per_chunk(n), [=](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; r++) {
      const T* row = x + r * n;
      T* out = backprop + r * n;
      T shift = row_max(row, n);
      double total = exp_row(row, shift, n, out);
      T scale = static_cast<T>(1 / total);
      for (int64_t i = 0; i < n; i++) out[i] *= scale;
      out[labels[r]] -= 1;
      loss[r] = static_cast<T>(std::log(total)) - (row[labels[r]] - shift);
    }
  });
}

template <class F> void floating(DType t, F&& f) {
  if (t == DType::f32) f(float{});
  else if (t == DType::f64) f(double{});
  else fail(Code::unimplemented, "this kernel takes float32 and float64");
}

inline int64_t width_of(const Tensor& x) { return x.rank > 0 ? x.dim(-1) : 1; }

template <bool logarithm> void softmax(Args& a) {
  Tensor x = a.tensor(), y = a.tensor();
  if (y.size != x.size || y.dtype != x.dtype) fail(Code::internal, "Softmax into a tensor of another size or dtype");
  if (x.size == 0) return;
  int64_t n = width_of(x);
  floating(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    if (logarithm) log_softmax_rows(x.as<T>(), y.as<T>(), x.size / n, n);
    else softmax_rows(x.as<T>(), y.as<T>(), x.size / n, n);
  });
}

// Rows without classes lose nothing.
void no_classes(const Tensor& loss) {
  for (int64_t i = 0; i < loss.size * static_cast<int64_t>(dtype_size(loss.dtype)); i++) loss.as<char>()[i] = 0;
}

void dense_cross_entropy(Args& a) {
  Tensor x = a.tensor(), labels = a.tensor(), loss = a.tensor(), backprop = a.tensor();
  int64_t n = width_of(x), rows = loss.size;
  if (labels.size != x.size || backprop.size != x.size || rows * n != x.size || labels.dtype != x.dtype) {
    fail(Code::internal, "logits, labels and results that do not fit");
  }
  floating(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    if (n == 0) no_classes(loss);
    else dense_rows(x.as<T>(), labels.as<T>(), loss.as<T>(), backprop.as<T>(), rows, n);
  });
}

void sparse_cross_entropy(Args& a) {
  Tensor x = a.tensor(), labels = a.tensor(), loss = a.tensor(), backprop = a.tensor();
  int64_t n = width_of(x), rows = loss.size;
  if (labels.size != rows || backprop.size != x.size || rows * n != x.size)
    fail(Code::internal, "logits, labels and results that do not fit");
  floating(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    if (labels.dtype == DType::i32) sparse_rows(x.as<T>(), labels.as<int32_t>(), loss.as<T>(), backprop.as<T>(), rows, n);
    else if (labels.dtype == DType::i64) sparse_rows(x.as<T>(), labels.as<int64_t>(), loss.as<T>(), backprop.as<T>(), rows, n);
    else fail(Code::unimplemented, "labels are int32 or int64");
  });
}

}  // namespace

void register_softmax(Registry& r) {
  r.add("Softmax", softmax<false>);
  r.add("LogSoftmax", softmax<true>);
  r.add("SoftmaxCrossEntropyWithLogits", dense_cross_entropy);
  r.add("SparseSoftmaxCrossEntropyWithLogits", sparse_cross_entropy);
}
EAGRE_END
