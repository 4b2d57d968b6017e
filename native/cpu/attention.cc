// ScaledDotProductAttention and its gradient: blocks of queries against blocks of keys, so that no more of the matrix of scores
// exists at a time than fits into L2. The softmax is taken block by block as in FlashAttention (T. Dao et al., 2022) after
// M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax" (2018); the gradient computes scores again from the
// rows' log-sum-exp.
#include <cmath>
#include <cstring>

#include "gemm.h"
#include "softmax.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kQueries = 64, kGradQueries = 128, kKeys = 256;  // rows and columns of a block
constexpr int64_t kChunkWork = 1 << 20;                            // multiply-adds that are worth a chunk of their own
constexpr int64_t kTasks = 8;  // so many tasks the gradient makes by cutting the keys, where batch and heads are fewer

// Where row t of head h of example b begins: [batch, heads, time, width], or [batch, time, heads, width].
template <class T> struct Rows {
  T* data;
  int64_t batch, head, step, time, width;
  Rows(const Tensor& x, bool time_first) : data(x.as<T>()), width(x.dims[3]) {
    time = x.dims[time_first ? 1 : 2];
    const int64_t heads = x.dims[time_first ? 2 : 1];
    batch = time * heads * width;
    head = time_first ? width : time * width;
    step = time_first ? heads * width : width;
  }
  T* at(int64_t b, int64_t h, int64_t t) const { return data + b * batch + h * head + t * step; }
};

enum class MaskKind { none, additive, boolean };
struct Mask {
  MaskKind kind = MaskKind::none;
  const void* data = nullptr;
  int64_t stride[4] = {};
  // Broadcasts against [batch, heads, queries, keys].
  void set(const Tensor& m, const int64_t (&shape)[4], DType scores) {
    kind = m.dtype == DType::boolean ? MaskKind::boolean : MaskKind::additive;
    if (kind == MaskKind::additive && m.dtype != scores) fail(Code::unimplemented, "a mask is bool or of the scores' dtype");
    if (m.rank != 4) fail(Code::internal, "a mask of rank %d", m.rank);
    data = m.data;
    int64_t step = 1;
    for (int i = 3; i >= 0; i--) {
      if (m.dims[i] != 1 && m.dims[i] != shape[i]) fail(Code::internal, "a mask that does not broadcast");
      stride[i] = m.dims[i] == 1 ? 0 : step;
      step *= m.dims[i];
    }
  }
};

struct Problem {
  int64_t batch, heads, queries, keys, width, value_width;
  double scale;
  bool causal;
  Mask mask;
};

// Adds the mask to one row of scores for the keys [first, first + n), and takes out what a causal mask hides.
template <class T> inline void mask_row(const Problem& p, T* s, int64_t b, int64_t h, int64_t query, int64_t first, int64_t n) {
  const T lowest = static_cast<T>(-__builtin_inf());
  if (p.mask.kind != MaskKind::none) {
    const int64_t* stride = p.mask.stride;
    const int64_t at = b * stride[0] + h * stride[1] + query * stride[2] + first * stride[3];
    if (p.mask.kind == MaskKind::additive) {
      const T* m = static_cast<const T*>(p.mask.data) + at;
      if (stride[3] == 1) for (int64_t j = 0; j < n; j++) s[j] += m[j];
      else for (int64_t j = 0; j < n; j++) s[j] += m[0];
    } else {
      const uint8_t* m = static_cast<const uint8_t*>(p.mask.data) + at;
      if (stride[3] == 1) for (int64_t j = 0; j < n; j++) s[j] = m[j] ? s[j] : lowest;
      else if (!m[0]) for (int64_t j = 0; j < n; j++) s[j] = lowest;
    }
  }
  if (p.causal) for (int64_t j = max64(0, query + 1 - first); j < n; j++) s[j] = lowest;
}

// c[m, n] = A · B, given by strides.
template <class T>
inline void product(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, int64_t a_step, const T* b, int64_t b_step,
                    int64_t b_col, T* c, int64_t ldc) {
  Gemm<T> g{};
  g.m = m, g.n = n, g.k = k;
  g.a = a, g.a_row = a_row, g.a_step = a_step;
  g.b = b, g.b_step = b_step, g.b_col = b_col;
  g.c = c, g.ldc = ldc;
  gemm(g);
}

template <class T> inline void scaled_rows(const T* x, int64_t step, int64_t rows, int64_t width, T scale, T* out) {
  for (int64_t i = 0; i < rows; i++) for (int64_t j = 0; j < width; j++) out[i * width + j] = x[i * step + j] * scale;
}
template <class T> inline void add_rows(const T* x, int64_t rows, int64_t width, bool first, T* out, int64_t step) {
  for (int64_t i = 0; i < rows; i++) {
    T* to = out + i * step;
    const T* from = x + i * width;
    if (first) for (int64_t j = 0; j < width; j++) to[j] = from[j];
    else for (int64_t j = 0; j < width; j++) to[j] += from[j];
  }
}
template <class T> inline void clear_rows(int64_t rows, int64_t width, T* out, int64_t step) {
  for (int64_t i = 0; i < rows; i++) for (int64_t j = 0; j < width; j++) out[i * step + j] = 0;
}

// Keys that a block of queries [.., end) can see.
inline int64_t visible(const Problem& p, int64_t end) { return p.causal ? min64(p.keys, end) : p.keys; }

template <class T>
void forward(const Problem& p, const Rows<const T>& query, const Rows<const T>& key, const Rows<const T>& value, const Rows<T>& y,
             T* lse) {
  const int64_t blocks = ceil_div(p.queries, kQueries), dv = p.value_width;
  const int64_t work = min64(p.queries, kQueries) * p.keys * (p.width + dv + 16);
  parallel_for(p.batch * p.heads * blocks, ceil_div(kChunkWork, work + 1), [&](int64_t begin, int64_t end) {
    constexpr int64_t size = sizeof(T);
    const int64_t columns = min64(p.keys, kKeys);
    T* scores = static_cast<T*>(scratch(3, kQueries * columns * size + 1));
    T* scaled = static_cast<T*>(scratch(4, kQueries * (p.width + 2 * dv) * size + 1));
    T *sums = scaled + kQueries * p.width, *added = sums + kQueries * dv;
    T top[kQueries];
    double total[kQueries];
    for (int64_t task = begin; task < end; task++) {
      const int64_t b = task / blocks / p.heads, h = task / blocks % p.heads, q0 = task % blocks * kQueries;
      const int64_t rows = min64(kQueries, p.queries - q0), seen = visible(p, q0 + rows);
      scaled_rows(query.at(b, h, q0), query.step, rows, p.width, static_cast<T>(p.scale), scaled);
      for (int64_t i = 0; i < rows; i++) top[i] = static_cast<T>(-__builtin_inf()), total[i] = 0;
      for (int64_t k0 = 0; k0 < seen; k0 += kKeys) {
        const int64_t n = min64(kKeys, seen - k0);
        product<T>(rows, n, p.width, scaled, p.width, 1, key.at(b, h, k0), 1, key.step, scores, columns);
        for (int64_t i = 0; i < rows; i++) {
          T* s = scores + i * columns;
          mask_row(p, s, b, h, q0 + i, k0, n);
          T largest = row_max(s, n);
          if (!(largest > top[i])) largest = top[i];
          // A row without anything to see has nothing to subtract either.
          const T shift = largest == static_cast<T>(-__builtin_inf()) ? T(0) : largest;
          const double sum = exp_row(s, shift, n, s);
          if (k0 > 0) {
            const double decay = std::exp(static_cast<double>(top[i]) - static_cast<double>(shift));
            total[i] *= decay;
            T* acc = sums + i * dv;
            for (int64_t j = 0; j < dv; j++) acc[j] *= static_cast<T>(decay);
          }
          total[i] += sum;
          top[i] = largest;
        }
        product<T>(rows, dv, n, scores, columns, 1, value.at(b, h, k0), value.step, 1, k0 > 0 ? added : sums, dv);
        if (k0 > 0) add_rows(added, rows, dv, false, sums, dv);
      }
      for (int64_t i = 0; i < rows; i++) {
        T* out = y.at(b, h, q0 + i);
        const bool nothing = total[i] == 0;
        const T factor = static_cast<T>(nothing ? 0 : 1 / total[i]);
        for (int64_t j = 0; j < dv; j++) out[j] = nothing ? T(0) : sums[i * dv + j] * factor;
        lse[(b * p.heads + h) * p.queries + q0 + i] =
            nothing ? static_cast<T>(-__builtin_inf()) : static_cast<T>(static_cast<double>(top[i]) + std::log(total[i]));
      }
    }
  });
}

// p[j] = exp(s[j] - lse); d[j] = p[j] · (d[j] - delta)
inline void weights_row(float* s, float* d, float lse, float delta, int64_t n) {
  map_vectors(s, s, n, [=](vf32 v) { return exp(v - lse); });
  map_vectors(s, d, d, n, [=](vf32 v, vf32 u) { return v * (u - delta); });
}
inline void weights_row(double* s, double* d, double lse, double delta, int64_t n) {
  for (int64_t j = 0; j < n; j++) {
    s[j] = std::exp(s[j] - lse);
    d[j] = s[j] * (d[j] - delta);
  }
}

// With the weights P = exp(scores - lse), dP = dy · valueᵀ and delta = the rows' sums of dy · y: dS = P (dP - delta),
// dquery = scale dS · key, dkey = dSᵀ · scale query, dvalue = Pᵀ · dy. A task is one head and some of its keys; where there are
// several tasks to a head, each has a dquery of its own, and they are added in order.
template <class T>
void backward(const Problem& p, const Rows<const T>& dy, const Rows<const T>& query, const Rows<const T>& key,
              const Rows<const T>& value, const Rows<const T>& y, const T* lse, const Rows<T>& dquery, const Rows<T>& dkey,
              const Rows<T>& dvalue) {
  constexpr int64_t size = sizeof(T);
  const int64_t heads = p.batch * p.heads, d = p.width, dv = p.value_width;
  if (heads == 0) return;
  const int64_t key_blocks = ceil_div(p.keys, kKeys), cuts = max64(1, min64(key_blocks, ceil_div(kTasks, heads)));
  const int64_t slab = p.queries * d;
  T* parts = cuts > 1 ? static_cast<T*>(scratch(5, heads * cuts * slab * size)) : nullptr;
  const int64_t work = p.queries * ceil_div(p.keys, cuts) * (3 * d + 2 * dv + 16);
  parallel_for(heads * cuts, ceil_div(kChunkWork, work + 1), [&, parts](int64_t begin, int64_t end) {
    const int64_t columns = min64(p.keys, kKeys), most = min64(p.queries, kGradQueries);
    T* weights = static_cast<T*>(scratch(3, 2 * most * columns * size + 1));
    T* slopes = weights + most * columns;
    const int64_t wide = max64(most, columns) * max64(d, dv);
    T* scaled = static_cast<T*>(scratch(4, (most * d + wide + columns * (d + dv) + p.queries) * size + 1));
    T *added = scaled + most * d, *sums = added + wide, *delta = sums + columns * (d + dv);
    for (int64_t task = begin; task < end; task++) {
      const int64_t b = task / cuts / p.heads, h = task / cuts % p.heads, cut = task % cuts;
      const int64_t first = part_begin(key_blocks, cuts, cut) * kKeys;
      const int64_t last = min64(p.keys, part_begin(key_blocks, cuts, cut + 1) * kKeys);
      T* own = parts ? parts + task * slab : dquery.at(b, h, 0);
      const int64_t own_step = parts ? d : dquery.step;
      const T* level = lse + (b * p.heads + h) * p.queries;
      clear_rows(p.queries, d, own, own_step);
      for (int64_t i = 0; i < p.queries; i++) {
        const T *g = dy.at(b, h, i), *out = y.at(b, h, i);
        double sum = 0;
        for (int64_t j = 0; j < dv; j++) sum += static_cast<double>(g[j]) * static_cast<double>(out[j]);
        delta[i] = static_cast<T>(sum);
      }
      for (int64_t k0 = first; k0 < last; k0 += kKeys) {
        const int64_t n = min64(kKeys, last - k0);
        T *keys_to = sums, *values_to = sums + n * d;
        clear_rows(n, d + dv, sums, d + dv);
        // Causal: the queries before the first key see nothing of this block.
        for (int64_t q0 = p.causal ? min64(k0, p.queries) / kGradQueries * kGradQueries : 0; q0 < p.queries; q0 += kGradQueries) {
          const int64_t rows = min64(kGradQueries, p.queries - q0);
          const T* upstream = dy.at(b, h, q0);
          scaled_rows(query.at(b, h, q0), query.step, rows, d, static_cast<T>(p.scale), scaled);
          product<T>(rows, n, d, scaled, d, 1, key.at(b, h, k0), 1, key.step, weights, columns);
          product<T>(rows, n, dv, upstream, dy.step, 1, value.at(b, h, k0), 1, value.step, slopes, columns);
          for (int64_t i = 0; i < rows; i++) {
            T *s = weights + i * columns, *u = slopes + i * columns;
            mask_row(p, s, b, h, q0 + i, k0, n);
            const T shift = level[q0 + i] == static_cast<T>(-__builtin_inf()) ? T(0) : level[q0 + i];
            weights_row(s, u, shift, delta[q0 + i], n);
          }
          product<T>(n, dv, rows, weights, 1, columns, upstream, dy.step, 1, added, dv);
          add_rows(added, n, dv, false, values_to, dv);
          product<T>(n, d, rows, slopes, 1, columns, scaled, d, 1, added, d);
          add_rows(added, n, d, false, keys_to, d);
          product<T>(rows, d, n, slopes, columns, 1, key.at(b, h, k0), key.step, 1, added, d);
          T* to = own + q0 * own_step;
          for (int64_t i = 0; i < rows; i++) {
            for (int64_t j = 0; j < d; j++) to[i * own_step + j] += added[i * d + j] * static_cast<T>(p.scale);
          }
        }
        add_rows(keys_to, n, d, true, dkey.at(b, h, k0), dkey.step);
        add_rows(values_to, n, dv, true, dvalue.at(b, h, k0), dvalue.step);
      }
    }
  });
  if (!parts) return;
  parallel_for(heads * p.queries, ceil_div(kChunkWork / 32, cuts * d + 1), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; r++) {
      const int64_t head = r / p.queries, i = r % p.queries;
      T* to = dquery.at(head / p.heads, head % p.heads, i);
      for (int64_t c = 0; c < cuts; c++) add_rows(parts + (head * cuts + c) * slab + i * d, 1, d, c == 0, to, d);
    }
  });
}

template <class F> void floating(DType t, F&& f) {
  if (t == DType::f32) f(float{});
  else if (t == DType::f64) f(double{});
  else fail(Code::unimplemented, "attention takes float32 and float64");
}

// The sizes, where all tensors fit together.
Problem problem(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& y, const Tensor& lse,
                bool time_first) {
  const Tensor* all[] = {&query, &key, &value, &y};
  bool fits = true;
  for (const Tensor* t : all) fits = fits && t->rank == 4 && t->dtype == query.dtype;
  const int time = time_first ? 1 : 2, head = 3 - time;
  Problem p{};
  if (fits) {
    p.batch = query.dims[0], p.heads = query.dims[head], p.queries = query.dims[time], p.keys = key.dims[time];
    p.width = query.dims[3], p.value_width = value.dims[3];
    for (const Tensor* t : all) fits = fits && t->dims[0] == p.batch && t->dims[head] == p.heads;
    fits = fits && key.dims[3] == p.width && value.dims[time] == p.keys && y.dims[time] == p.queries;
    fits = fits && y.dims[3] == p.value_width && lse.size == p.batch * p.heads * p.queries && lse.dtype == query.dtype;
  }
  if (!fits) fail(Code::internal, "query, key and value that do not fit");
  return p;
}
void finish(Problem& p, Args& a, const Tensor& mask, bool masked, DType dtype) {
  if (masked) p.mask.set(mask, {p.batch, p.heads, p.queries, p.keys}, dtype);
  p.scale = a.number();
  p.causal = a.flag();
}
bool same_shape(const Tensor& a, const Tensor& b) {
  if (a.rank != b.rank || a.dtype != b.dtype) return false;
  for (int i = 0; i < a.rank; i++) if (a.dims[i] != b.dims[i]) return false;
  return true;
}

void attention(Args& a) {
  const bool masked = a.inputs() > 3;
  Tensor query = a.tensor(), key = a.tensor(), value = a.tensor(), mask = masked ? a.tensor() : query;
  Tensor y = a.tensor(), lse = a.tensor();
  const bool time_first = a.flag();
  Problem p = problem(query, key, value, y, lse, time_first);
  finish(p, a, mask, masked, query.dtype);
  floating(query.dtype, [&](auto tag) {
    using T = decltype(tag);
    forward<T>(p, {query, time_first}, {key, time_first}, {value, time_first}, {y, time_first}, lse.as<T>());
  });
}

void attention_grad(Args& a) {
  const bool masked = a.inputs() > 6;
  Tensor dy = a.tensor(), query = a.tensor(), key = a.tensor(), value = a.tensor(), y = a.tensor(), lse = a.tensor();
  Tensor mask = masked ? a.tensor() : query, dquery = a.tensor(), dkey = a.tensor(), dvalue = a.tensor();
  const bool time_first = a.flag();
  Problem p = problem(query, key, value, y, lse, time_first);
  if (!same_shape(dy, y) || !same_shape(dquery, query) || !same_shape(dkey, key) || !same_shape(dvalue, value))
    fail(Code::internal, "gradients that do not fit");
  finish(p, a, mask, masked, query.dtype);
  floating(query.dtype, [&](auto tag) {
    using T = decltype(tag);
    backward<T>(p, {dy, time_first}, {query, time_first}, {key, time_first}, {value, time_first}, {y, time_first}, lse.as<T>(),
                {dquery, time_first}, {dkey, time_first}, {dvalue, time_first});
  });
}

}  // namespace

void register_attention(Registry& r) {
  r.add("ScaledDotProductAttention", attention);
  r.add("ScaledDotProductAttentionGrad", attention_grad);
}
EAGRE_END
