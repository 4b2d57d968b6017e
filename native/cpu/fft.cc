// FFT, RFFT, IRFFT along the last axis: Stockham's passes over the factors of the length, which leave results in order; Bluestein's
// convolution where a factor is a large prime. Plans hold factors and roots of unity, and are kept for the next call.
#include <atomic>
#include <cmath>
#include <cstdlib>

#include "isa.h"
#include "strided.h"

EAGRE_BEGIN
namespace {

constexpr int kFactors = 64;
// Larger primes go by convolution.
constexpr int kLargestPrime = 31;
constexpr int kSlot = 3;

template <class T> struct Number {
  T re, im;
};
template <class T> inline Number<T> operator+(Number<T> a, Number<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> inline Number<T> operator-(Number<T> a, Number<T> b) { return {a.re - b.re, a.im - b.im}; }
template <class T> inline Number<T> operator*(Number<T> a, Number<T> b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
template <class T> inline Number<T> conj(Number<T> a) { return {a.re, -a.im}; }
// −i · a.
template <class T> inline Number<T> turned(Number<T> a) { return {a.im, -a.re}; }

// e to the power of −2πi · k / n, exact where it is simple.
template <class T> inline Number<T> root(int64_t k, int64_t n) {
  const double pi = 3.14159265358979323846264338327950288;
  // The nearest quarter first: angles of at most an eighth of a turn round least.
  const int64_t quarter = (8 * k + n) / (2 * n);
  const double angle = 2 * pi * static_cast<double>(4 * k - quarter * n) / (4 * static_cast<double>(n));
  const double c = std::cos(angle), s = std::sin(angle);
  switch (quarter & 3) {
    case 0: return {static_cast<T>(c), static_cast<T>(-s)};
    case 1: return {static_cast<T>(-s), static_cast<T>(-c)};
    case 2: return {static_cast<T>(-c), static_cast<T>(s)};
    default: return {static_cast<T>(s), static_cast<T>(c)};
  }
}

template <class T> struct Plan {
  int64_t n;
  int factors[kFactors], count;
  Number<T>* roots;  // [n]
  // Of Bluestein's convolution; `inner` is null where there is none.
  Plan* inner;
  Number<T> *chirp, *filter;
  // In the cache.
  int users;
  uint64_t used;

  int64_t size() const { return inner == nullptr ? n : inner->n; }
  // Numbers that a run needs beside what it works on.
  int64_t work() const { return inner == nullptr ? 2 * n : n + 3 * inner->n; }
};

template <class V> inline V* allocate(int64_t n) {
  void* memory = std::malloc(static_cast<size_t>(n > 0 ? n : 1) * sizeof(V));
  if (memory == nullptr) fail(Code::resource_exhausted, "no memory for a transform of length %lld", ll(n));
  return static_cast<V*>(memory);
}

template <class T> void destroy(Plan<T>* plan) {
  if (plan == nullptr) return;
  destroy(plan->inner);
  std::free(plan->roots);
  std::free(plan->chirp);
  std::free(plan->filter);
  std::free(plan);
}

// x [n] becomes its transform; `other` has room for as much.
template <class T> void passes(const Plan<T>& plan, Number<T>* x, Number<T>* other) {
  Number<T>*from = x, *to = other;
  int64_t length = plan.n, stride = 1;
  for (int f = 0; f < plan.count; f++) {
    const int r = plan.factors[f];
    const int64_t m = length / r, step = plan.n / r;
    for (int64_t p = 0; p < m; p++) {
      Number<T> w[kLargestPrime + 1];
      for (int k = 0; k < r; k++) w[k] = plan.roots[p * k * stride];
      const Number<T>* in = from + stride * p;
      Number<T>* out = to + stride * r * p;
      if (r == 4) {
        for (int64_t q = 0; q < stride; q++) {
          const Number<T> a = in[q], b = in[q + stride * m], c = in[q + 2 * stride * m], d = in[q + 3 * stride * m];
          const Number<T> even = a + c, odd = a - c, sum = b + d, difference = turned(b - d);
          out[q] = even + sum;
          out[q + stride] = (odd + difference) * w[1];
          out[q + 2 * stride] = (even - sum) * w[2];
          out[q + 3 * stride] = (odd - difference) * w[3];
        }
      } else if (r == 2) {
        for (int64_t q = 0; q < stride; q++) {
          const Number<T> a = in[q], b = in[q + stride * m];
          out[q] = a + b;
          out[q + stride] = (a - b) * w[1];
        }
      } else {
        // Pairs of numbers at the same distance from both ends share their products.
        for (int64_t q = 0; q < stride; q++) {
          Number<T> sums[kLargestPrime / 2 + 1], differences[kLargestPrime / 2 + 1];
          const int half = r / 2;
          const Number<T> first = in[q];
          Number<T> all = first;
          for (int j = 1; j <= half; j++) {
            const Number<T> a = in[q + stride * m * j], b = in[q + stride * m * (r - j)];
            sums[j] = a + b;
            differences[j] = a - b;
            all = all + sums[j];
          }
          out[q] = all;
          for (int k = 1; k <= half; k++) {
            Number<T> even = first, odd = {0, 0};
            for (int j = 1; j <= half; j++) {
              const Number<T> c = plan.roots[((j * k) % r) * step];
              even = {even.re + c.re * sums[j].re, even.im + c.re * sums[j].im};
              odd = {odd.re - c.im * differences[j].im, odd.im + c.im * differences[j].re};
            }
            out[q + stride * k] = (even + odd) * w[k];
            out[q + stride * (r - k)] = (even - odd) * w[r - k];
          }
        }
      }
    }
    Number<T>* held = from;
    from = to;
    to = held;
    length = m;
    stride *= r;
  }
  if (from != x) std::memcpy(static_cast<void*>(x), from, static_cast<size_t>(plan.n) * sizeof *x);
}

// x [n] becomes its transform; `work` is as large as the plan says.
template <class T> void transform(const Plan<T>& plan, Number<T>* x, Number<T>* work) {
  if (plan.inner == nullptr) {
    passes(plan, x, work);
    return;
  }
  const int64_t n = plan.n, m = plan.inner->n;
  Number<T>*a = work, *other = work + m;
  for (int64_t i = 0; i < n; i++) a[i] = x[i] * plan.chirp[i];
  for (int64_t i = n; i < m; i++) a[i] = {0, 0};
  passes(*plan.inner, a, other);
  // The inverse transform is that of the conjugates.
  for (int64_t i = 0; i < m; i++) a[i] = conj(a[i] * plan.filter[i]);
  passes(*plan.inner, a, other);
  for (int64_t i = 0; i < n; i++) x[i] = conj(a[i]) * plan.chirp[i];
}

template <class T> Plan<T>* make(int64_t n) {
  Plan<T>* plan = allocate<Plan<T>>(1);
  *plan = Plan<T>{};
  plan->n = n;
  int64_t rest = n;
  const auto take = [&](int r) {
    for (; rest % r == 0 && rest > 1; rest /= r) plan->factors[plan->count++] = r;
  };
  take(4);
  take(2);
  for (int r = 3; r <= kLargestPrime; r += 2) take(r);
  try {
    if (rest == 1) {
      plan->roots = allocate<Number<T>>(n);
      for (int64_t k = 0; k < n; k++) plan->roots[k] = root<T>(k, n);
      return plan;
    }
    int64_t m = 1;
    while (m < 2 * n - 1) m *= 2;
    plan->inner = make<T>(m);
    plan->chirp = allocate<Number<T>>(n);
    plan->filter = allocate<Number<T>>(m);
    Number<T>* other = static_cast<Number<T>*>(scratch(kSlot, m * static_cast<int64_t>(sizeof(Number<T>))));
    for (int64_t i = 0; i < m; i++) plan->filter[i] = {0, 0};
    for (int64_t i = 0, square = 0; i < n; i++) {
      plan->chirp[i] = root<T>(square, 2 * n);
      const Number<T> back = conj(plan->chirp[i]);
      const Number<T> scaled = {back.re / static_cast<T>(m), back.im / static_cast<T>(m)};
      plan->filter[i] = scaled;
      if (i > 0) plan->filter[m - i] = scaled;
      // (i + 1)² modulo 2n, which never overflows.
      square = (square + 2 * i + 1) % (2 * n);
    }
    passes(*plan->inner, plan->filter, other);
    return plan;
  } catch (...) {
    destroy(plan);
    throw;
  }
}

// The plans that were used last, of each precision.
constexpr int kCached = 24;
constexpr int64_t kLargestCached = 1 << 20;
std::atomic_flag busy = ATOMIC_FLAG_INIT;
uint64_t now = 0;
struct Lock {
  Lock() { while (busy.test_and_set(std::memory_order_acquire)) {} }
  ~Lock() { busy.clear(std::memory_order_release); }
};
template <class T> Plan<T>** cached() {
  static Plan<T>* plans[kCached];
  return plans;
}

// A plan for as long as this lives.
template <class T> struct Borrowed {
  Plan<T>* plan = nullptr;
  bool own = false;

  explicit Borrowed(int64_t n) {
    if ((plan = find(n)) != nullptr) return;
    plan = make<T>(n);
    own = n > kLargestCached || !keep();
  }
  ~Borrowed() {
    if (own) {
      destroy(plan);
      return;
    }
    Lock lock;
    plan->users--;
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

 private:
  static Plan<T>* find(int64_t n) {
    Lock lock;
    for (int i = 0; i < kCached; i++) {
      Plan<T>* known = cached<T>()[i];
      if (known == nullptr || known->n != n) continue;
      known->users++;
      known->used = ++now;
      return known;
    }
    return nullptr;
  }
  // Puts the plan into the place of the one that nobody has used for the longest time; false where all are in use.
  bool keep() {
    Plan<T>* old = nullptr;
    {
      Lock lock;
      int place = -1;
      for (int i = 0; i < kCached; i++) {
        Plan<T>* known = cached<T>()[i];
        if (known == nullptr) {
          place = i;
          break;
        }
        if (known->users == 0 && (place < 0 || known->used < cached<T>()[place]->used)) place = i;
      }
      if (place < 0) return false;
      old = cached<T>()[place];
      plan->users = 1;
      plan->used = ++now;
      cached<T>()[place] = plan;
    }
    destroy(old);
    return true;
  }
};

// fn(row, work) for each row, with room for `work` numbers.
template <class T, class F> void for_rows(int64_t rows, int64_t length, int64_t work, F&& fn) {
  const int64_t grain = (1 << 15) / (length * 8 + 1) + 1;
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    Number<T>* memory = static_cast<Number<T>*>(scratch(kSlot, (work + 1) * static_cast<int64_t>(sizeof(Number<T>))));
    for (int64_t row = begin; row < end; row++) fn(row, memory);
  });
}

template <class T> void fft_rows(const T* x, T* y, int64_t rows, int64_t n, bool inverse) {
  const Borrowed<T> borrowed(n);
  const Plan<T>& plan = *borrowed.plan;
  const T sign = inverse ? -1 : 1, scale = inverse ? 1 / static_cast<T>(n) : 1;
  for_rows<T>(rows, n, n + plan.work(), [&](int64_t row, Number<T>* work) {
    const T* from = x + 2 * row * n;
    T* to = y + 2 * row * n;
    for (int64_t i = 0; i < n; i++) work[i] = {from[2 * i], sign * from[2 * i + 1]};
    transform(plan, work, work + n);
    for (int64_t i = 0; i < n; i++) {
      to[2 * i] = work[i].re * scale;
      to[2 * i + 1] = sign * work[i].im * scale;
    }
  });
}

// An even length goes by complex numbers of half as many.
template <class T> void rfft_rows(const T* x, T* y, int64_t rows, int64_t n) {
  const bool even = n % 2 == 0;
  const int64_t half = even ? n / 2 : n, count = n / 2 + 1;
  const Borrowed<T> borrowed(half);
  const Plan<T>& plan = *borrowed.plan;
  for_rows<T>(rows, n, half + plan.work(), [&](int64_t row, Number<T>* work) {
    const T* from = x + row * n;
    Number<T>* to = reinterpret_cast<Number<T>*>(y) + row * count;
    for (int64_t i = 0; i < half; i++) work[i] = even ? Number<T>{from[2 * i], from[2 * i + 1]} : Number<T>{from[i], 0};
    transform(plan, work, work + half);
    for (int64_t k = 0; k < count; k++) {
      if (!even) {
        to[k] = work[k];
        continue;
      }
      const Number<T> a = work[k < half ? k : 0], b = conj(work[k > 0 ? half - k : 0]);
      const Number<T> sum = a + b, difference = turned(a - b) * root<T>(k, n);
      to[k] = {(sum.re + difference.re) / 2, (sum.im + difference.im) / 2};
    }
    to[0].im = 0;
    if (even) to[count - 1].im = 0;
  });
}

template <class T> void irfft_rows(const T* x, T* y, int64_t rows, int64_t n) {
  const bool even = n % 2 == 0;
  const int64_t half = even ? n / 2 : n, count = n / 2 + 1;
  const Borrowed<T> borrowed(half);
  const Plan<T>& plan = *borrowed.plan;
  for_rows<T>(rows, n, half + plan.work(), [&](int64_t row, Number<T>* work) {
    const Number<T>* from = reinterpret_cast<const Number<T>*>(x) + row * count;
    T* to = y + row * n;
    // What stands alone is real.
    const auto at = [&](int64_t k) { return Number<T>{from[k].re, k == 0 || 2 * k == n ? 0 : from[k].im}; };
    for (int64_t k = 0; k < half; k++) {
      if (!even) {
        // The inverse transform is the conjugate of that of the conjugates.
        work[k] = k < count ? conj(at(k)) : at(n - k);
        continue;
      }
      const Number<T> a = at(k), b = conj(at(half - k)), odd = (a - b) * conj(root<T>(k, n));
      work[k] = conj(Number<T>{a.re + b.re - odd.im, a.im + b.im + odd.re});
    }
    transform(plan, work, work + half);
    const T scale = 1 / static_cast<T>(n);
    for (int64_t i = 0; i < half; i++) {
      if (!even) {
        to[i] = work[i].re * scale;
        continue;
      }
      to[2 * i] = work[i].re * scale;
      to[2 * i + 1] = -work[i].im * scale;
    }
  });
}

template <class F> void visit_floats(DType dtype, F&& f) {
  if (dtype == DType::f32) f(float{});
  else if (dtype == DType::f64) f(double{});
  else fail(Code::unimplemented, "transforms are those of float32 and float64");
}

void fft(Args& args) {
  const Tensor x = args.tensor(), y = args.tensor();
  const bool inverse = args.flag();
  if (x.rank < 2 || x.dim(-1) != 2 || y.size != x.size || y.dtype != x.dtype) fail(Code::internal, "fft of tensors that do not fit");
  const int64_t n = x.dim(-2);
  if (x.size == 0) return;
  visit_floats(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    fft_rows(x.as<T>(), y.as<T>(), x.size / (2 * n), n, inverse);
  });
}

void rfft(Args& args) {
  const Tensor x = args.tensor(), y = args.tensor();
  if (x.rank < 1 || y.rank != x.rank + 1 || y.dim(-1) != 2 || y.dtype != x.dtype || y.dim(-2) != x.dim(-1) / 2 + 1) fail(Code::internal, "rfft of tensors that do not fit");
  const int64_t n = x.dim(-1), rows = product(x.dims, 0, x.rank - 1);
  if (n == 0) std::memset(y.data, 0, static_cast<size_t>(y.size) * dtype_size(y.dtype));
  if (x.size == 0) return;
  visit_floats(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    rfft_rows(x.as<T>(), y.as<T>(), rows, n);
  });
}

void irfft(Args& args) {
  const Tensor x = args.tensor(), y = args.tensor();
  if (y.rank < 1 || x.rank != y.rank + 1 || x.dim(-1) != 2 || y.dtype != x.dtype || x.dim(-2) != y.dim(-1) / 2 + 1) fail(Code::internal, "irfft of tensors that do not fit");
  const int64_t n = y.dim(-1), rows = product(y.dims, 0, y.rank - 1);
  if (y.size == 0) return;
  visit_floats(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    irfft_rows(x.as<T>(), y.as<T>(), rows, n);
  });
}

}  // namespace

void register_fft(Registry& r) {
  r.add("FFT", fft);
  r.add("RFFT", rfft);
  r.add("IRFFT", irfft);
}
EAGRE_END
