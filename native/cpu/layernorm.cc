// LayerNorm and RMSNorm over the last axis, and their gradients. Rows are independent; what is summed over rows (the gradients of
// gamma and beta) is summed chunk by chunk, then over the chunks in their order.
#include <cmath>

#include "gemm_micro.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kForwardWork = 1 << 16;   // elements of a chunk, about
constexpr int64_t kBackwardWork = 1 << 15;

inline int64_t rows_for(int64_t work, int64_t width) { return work / (width + 8) + 1; }

// f(index, load, store) for each whole vector of a row, then for what is left of it: there load gives 0 in the lanes beyond.
template <class T, class F> inline __attribute__((always_inline)) void each_vector(int64_t n, F f) {
  constexpr int L = Lanes<T>::n;
  int64_t i = 0;
  for (; i + L <= n; i += L) f(i, [](const T* p) { return load<T>(p); }, [](T* p, typename Lanes<T>::V v) { store<T>(p, v); });
  if (i == n) return;
  const Part<T> last(n - i);
  f(i, [&](const T* p) { return last.load(p); }, [&](T* p, typename Lanes<T>::V v) { last.store(p, v); });
}
template <class T> inline double total(typename Lanes<T>::V v) {
  double sum = 0;
  for (int k = 0; k < Lanes<T>::n; k++) sum += static_cast<double>(v[k]);
  return sum;
}

template <class T, bool centered>
void forward(const T* x, const T* gamma, const T* beta, T* y, T* mean, T* rstd, int64_t rows, int64_t n, double epsilon) {
  using V = typename Lanes<T>::V;
  constexpr int L = Lanes<T>::n;
  parallel_for(rows, rows_for(kForwardWork, n), [=](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; r++) {
      const T* row = x + r * n;
      T* out = y + r * n;
      const double count = static_cast<double>(n);
      T center[L] = {};
      double left = 0;
      if (centered) {
        V a{}, b{};
        int64_t i = 0;
        for (; i + 2 * L <= n; i += 2 * L) {
          a += load<T>(row + i);
          b += load<T>(row + i + L);
        }
        each_vector<T>(n - i, [&](int64_t k, auto get, auto) { a += get(row + i + k); });
        const T middle = static_cast<T>(total<T>(a + b) / count);
        for (int k = 0; k < L; k++) center[k] = middle;
      }
      V rest{}, square{}, square2{};
      int64_t i = 0;
      const V c = load<T>(center);
      for (; i + 2 * L <= n; i += 2 * L) {
        V d = load<T>(row + i) - c, e = load<T>(row + i + L) - c;
        if (centered) rest += d + e;
        square = fma(d, d, square);
        square2 = fma(e, e, square2);
      }
      each_vector<T>(n - i, [&](int64_t k, auto get, auto) {
        V d = get(row + i + k) - get(center);
        if (centered) rest += d;
        square = fma(d, d, square);
      });
      // What is left around a rounded mean corrects it.
      if (centered) left = total<T>(rest) / count;
      const double variance = total<T>(square + square2) / count - left * left;
      const double inverse = 1 / std::sqrt(variance + epsilon);
      if (centered) mean[r] = static_cast<T>(static_cast<double>(center[0]) + left);
      rstd[r] = static_cast<T>(inverse);
      const V factor = broadcast(static_cast<T>(inverse)), shift = broadcast(static_cast<T>(-left * inverse));
      auto normal = [&](V v) __attribute__((always_inline)) { return centered ? fma(v - c, factor, shift) : v * factor; };
      if (gamma && beta) {
        each_vector<T>(n, [&](int64_t k, auto get, auto put) {
          put(out + k, fma(normal(get(row + k)), get(gamma + k), get(beta + k)));
        });
      } else if (gamma) {
        each_vector<T>(n, [&](int64_t k, auto get, auto put) { put(out + k, normal(get(row + k)) * get(gamma + k)); });
      } else if (beta) {
        each_vector<T>(n, [&](int64_t k, auto get, auto put) { put(out + k, normal(get(row + k)) + get(beta + k)); });
      } else {
        each_vector<T>(n, [&](int64_t k, auto get, auto put) { put(out + k, normal(get(row + k))); });
      }
    }
  });
}

// With d = x - mean, x̂ = d · r and h = dy · gamma, and means over a row: dx = r (h - mean(h) - x̂ mean(h x̂)), where RMSNorm has
// neither mean nor mean(h); dgamma = Σ dy x̂ and dbeta = Σ dy over the rows.
template <class T, bool centered>
void backward(const T* dy, const T* x, const T* mean, const T* rstd, const T* gamma, T* dx, T* dgamma, T* dbeta, int64_t rows,
              int64_t n) {
  using V = typename Lanes<T>::V;
  constexpr int64_t sums = centered ? 2 : 1;
  const int64_t chunk = rows_for(kBackwardWork, n), chunks = (rows + chunk - 1) / chunk;
  T* partial = static_cast<T*>(scratch(0, chunks * sums * n * static_cast<int64_t>(sizeof(T)) + 1));
  parallel_for(rows, chunk, [=](int64_t begin, int64_t end) {
    T* scale = partial + begin / chunk * sums * n;
    T* shift = scale + n;
    for (int64_t i = 0; i < sums * n; i++) scale[i] = 0;
    for (int64_t r = begin; r < end; r++) {
      const T *g = dy + r * n, *from = x + r * n;
      T* to = dx + r * n;
      const V c = broadcast(centered ? mean[r] : T(0)), inverse = broadcast(rstd[r]);
      V sum{}, product{};
      auto gather = [&](bool scaled) __attribute__((always_inline)) {
        each_vector<T>(n, [&](int64_t k, auto get, auto put) __attribute__((always_inline)) {
          V u = get(g + k), d = centered ? get(from + k) - c : get(from + k), h = scaled ? u * get(gamma + k) : u;
          // Lanes beyond the end have h = 0 and are not stored.
          if (centered) {
            sum += h;
            put(shift + k, get(shift + k) + u);
          }
          product = fma(h, d, product);
          put(scale + k, fma(u, d * inverse, get(scale + k)));
        });
      };
      if (gamma) gather(true);
      else gather(false);
      const double f = static_cast<double>(rstd[r]), count = static_cast<double>(n);
      const V slope = broadcast(static_cast<T>(-f * f * f * total<T>(product) / count));
      const V level = broadcast(static_cast<T>(centered ? -f * total<T>(sum) / count : 0));
      auto spread = [&](bool scaled) __attribute__((always_inline)) {
        each_vector<T>(n, [&](int64_t k, auto get, auto put) __attribute__((always_inline)) {
          V h = scaled ? get(g + k) * get(gamma + k) : get(g + k), d = centered ? get(from + k) - c : get(from + k);
          put(to + k, fma(d, slope, fma(h, inverse, level)));
        });
      };
      if (gamma) spread(true);
      else spread(false);
    }
  });
  parallel_for(sums * n, kBackwardWork / (chunks + 1) + 64, [=](int64_t begin, int64_t end) {
    constexpr int64_t kBlock = 64;
    for (int64_t j = begin; j < end; j += kBlock) {
      const int64_t width = end - j < kBlock ? end - j : kBlock;
      double sum[kBlock] = {};
      for (int64_t k = 0; k < chunks; k++) {
        for (int64_t i = 0; i < width; i++) sum[i] += static_cast<double>(partial[k * sums * n + j + i]);
      }
      for (int64_t i = 0; i < width; i++) (j + i < n ? dgamma[j + i] : dbeta[j + i - n]) = static_cast<T>(sum[i]);
    }
  });
}

template <class F> void floating(DType t, F&& f) {
  if (t == DType::f32) f(float{});
  else if (t == DType::f64) f(double{});
  else fail(Code::unimplemented, "this normalization takes float32 and float64");
}

struct Check {
  const Tensor& x;
  int64_t n, rows;
  explicit Check(const Tensor& t, const Tensor& statistics) : x(t), n(t.rank > 0 ? t.dim(-1) : 1), rows(statistics.size) {
    if (n * rows != x.size) misfit();
  }
  void like(const Tensor& t) const { expect(t, x.size); }
  void vector(const Tensor& t) const { expect(t, n); }
  void per_row(const Tensor& t) const { expect(t, rows); }

 private:
  void expect(const Tensor& t, int64_t size) const {
    if (t.size != size || t.dtype != x.dtype) misfit();
  }
  static void misfit() { fail(Code::internal, "normalization of tensors that do not fit"); }
};

template <bool centered> void norm(Args& a) {
  const int inputs = a.inputs();
  Tensor x = a.tensor(), more[2];
  for (int i = 1; i < inputs && i < 3; i++) more[i - 1] = a.tensor();
  Tensor y = a.tensor(), mean = centered ? a.tensor() : y, rstd = a.tensor();
  const double epsilon = a.number();
  const bool scaled = a.flag(), shifted = centered && a.flag();
  if (inputs != 1 + scaled + shifted) fail(Code::internal, "normalization of %d inputs", inputs);
  Check check(x, rstd);
  check.like(y);
  check.per_row(rstd);
  if (centered) check.per_row(mean);
  for (int i = 0; i < scaled + shifted; i++) check.vector(more[i]);
  floating(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    forward<T, centered>(x.as<T>(), scaled ? more[0].as<T>() : nullptr, shifted ? more[scaled].as<T>() : nullptr, y.as<T>(),
                         mean.as<T>(), rstd.as<T>(), check.rows, check.n, epsilon);
  });
}

template <bool centered> void norm_grad(Args& a) {
  const bool scaled = a.inputs() > (centered ? 4 : 3);
  Tensor dy = a.tensor(), x = a.tensor(), mean = centered ? a.tensor() : x, rstd = a.tensor(), gamma = scaled ? a.tensor() : x;
  Tensor dx = a.tensor(), dgamma = a.tensor(), dbeta = centered ? a.tensor() : dgamma;
  Check check(x, rstd);
  check.like(dy);
  check.like(dx);
  check.per_row(rstd);
  if (centered) check.per_row(mean);
  if (scaled) check.vector(gamma);
  check.vector(dgamma);
  check.vector(dbeta);
  floating(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    backward<T, centered>(dy.as<T>(), x.as<T>(), mean.as<T>(), rstd.as<T>(), scaled ? gamma.as<T>() : nullptr, dx.as<T>(),
                          dgamma.as<T>(), dbeta.as<T>(), check.rows, check.n);
  });
}

}  // namespace

void register_layernorm(Registry& r) {
  r.add("LayerNorm", norm<true>);
  r.add("RMSNorm", norm<false>);
  r.add("LayerNormGrad", norm_grad<true>);
  r.add("RMSNormGrad", norm_grad<false>);
}
EAGRE_END
