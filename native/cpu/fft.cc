// FFT, RFFT, IRFFT: transforms side by side, one in each lane of vectors, so that all arithmetic is that of whole vectors. Rows of a batch
// and columns stand side by side by themselves; the numbers of one long transform are seen as a matrix (Bailey, "FFTs in External or
// Hierarchical Memory", 1990), whose columns and then rows do. Within lanes: passes over the factors of the length, in place; Bluestein's
// convolution where a factor is a large prime. Plans hold factors and roots of unity, and are kept for the next call.
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "gemm_micro.h"
#include "shuffle.h"
#include "strided.h"
#include "vecmath64.h"

EAGRE_BEGIN
namespace {

constexpr int kFactors = 64;
// Larger primes go by convolution.
constexpr int kLargestPrime = 31;
// Longer transforms are cut: so much of all lanes fits into the second cache.
constexpr int64_t kMostInLanes = 4096;
// What a part of the passes works on until it is done: half of the first cache.
constexpr int64_t kBlockBytes = 16 << 10;
// Buffers of a thread: numbers in lanes; what a cut transform has between its halves; what a convolution has; rows
// that are made from others.
constexpr int kLaneSlot = 3, kMiddleSlot = 4, kWideSlot = 5, kRowSlot = 6;

template <class T> using Vector = typename Lanes<T>::V;
template <class T> constexpr int kLanes = Lanes<T>::n;

// What runs once for a plan, or would be there several times: small matters more.
#define EAGRE_SMALL __attribute__((noinline, cold))
#define EAGRE_APART __attribute__((noinline))

// In all lanes.
template <class T> EAGRE_INLINE Vector<T> all(T x) { return x - Vector<T>{}; }

// A complex number.
template <class T> struct Number {
  T re, im;
};
// One in each lane.
template <class T> struct Numbers {
  Vector<T> re, im;
};
template <class T> EAGRE_INLINE Numbers<T> operator+(Numbers<T> a, Numbers<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> EAGRE_INLINE Numbers<T> operator-(Numbers<T> a, Numbers<T> b) { return {a.re - b.re, a.im - b.im}; }
template <class T> EAGRE_INLINE Numbers<T> conj(Numbers<T> a) { return {a.re, -a.im}; }
// The transform of numbers whose parts are exchanged is the inverse one, with its parts exchanged.
template <class T> EAGRE_INLINE Numbers<T> exchanged(Numbers<T> a) { return {a.im, a.re}; }
// −i · a.
template <class T> EAGRE_INLINE Numbers<T> turned(Numbers<T> a) { return {a.im, -a.re}; }
template <class T> EAGRE_INLINE Numbers<T> operator*(Numbers<T> a, Numbers<T> b) {
  return {muladd(a.re, b.re, -(a.im * b.im)), muladd(a.re, b.im, a.im * b.re)};
}
template <class T> EAGRE_INLINE Numbers<T> operator*(Numbers<T> a, Number<T> b) { return a * Numbers<T>{all(b.re), all(b.im)}; }

// e to the power of −2πi · k / n, exact where it is simple.
template <class T> EAGRE_SMALL Number<T> root(int64_t k, int64_t n) {
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

// ---- plans

enum class Way : uint8_t { lanes, cut };

template <class T> struct Plan {
  int64_t n;
  Way way;
  // In lanes: the factors, the roots that each pass multiplies by and those of its factor, and where the passes leave the results.
  int factors[kFactors], count;
  Number<T>*roots[kFactors], *cycles[kFactors];
  int32_t* places;
  // Cut: the transforms of columns and of rows. Between them, column j of row k is multiplied by root(j k, n): by the product of two
  // roots, of the parts of k, for lanes of columns: steps [groups, fine + coarse].
  Plan *columns, *rows;
  int64_t fine, coarse;
  Number<T>* steps;
  // Of Bluestein's convolution, which goes the same way; `inner` is null where there is none.
  Plan* inner;
  Number<T> *chirp, *filter;
  // −i/2 · root(k, 2n), from which transforms of 2n real numbers are put together; null where nobody asked.
  Number<T>* halves;
  // In the cache.
  int64_t bytes;
  int users;
  uint64_t used;

  // The length of the passes.
  int64_t size() const { return inner == nullptr ? n : inner->n; }
};

template <class V> EAGRE_SMALL V* allocate(int64_t n, int64_t& bytes) {
  const size_t size = static_cast<size_t>(n > 0 ? n : 1) * sizeof(V);
  void* memory = std::calloc(size, 1);
  if (memory == nullptr) fail(Code::resource_exhausted, "no memory for a transform");
  bytes += static_cast<int64_t>(size);
  return static_cast<V*>(memory);
}

template <class T> EAGRE_SMALL void destroy(Plan<T>* plan) {
  if (plan == nullptr) return;
  if (plan->rows != plan->columns) destroy(plan->rows);
  destroy(plan->columns);
  destroy(plan->inner);
  for (int f = 0; f < plan->count; f++) {
    std::free(plan->roots[f]);
    std::free(plan->cycles[f]);
  }
  std::free(plan->places);
  std::free(plan->steps);
  std::free(plan->chirp);
  std::free(plan->filter);
  std::free(plan->halves);
  std::free(plan);
}

// Into `factors`, those of eight and four last; their number, or −1 if there is a large prime.
EAGRE_SMALL inline int factorize(int64_t n, int* factors) {
  int count = 0;
  const auto take = [&](int r) { factors[count++] = r; };
  int twos = 0;
  for (; n % 2 == 0; n /= 2) twos++;
  for (int r = 3; r <= kLargestPrime; r += 2) for (; n % r == 0; n /= r) take(r);
  // What eights leave over, with one of them where that makes it two fours.
  if (twos == 1) take(2), twos = 0;
  for (; twos % 3 != 0; twos -= 2) take(4);
  for (; twos > 0; twos -= 3) take(8);
  return n == 1 ? count : -1;
}

// ---- passes

// f(k) for k from `first` below n; without a loop where that is known, N.
template <int N, class F> EAGRE_INLINE void each(int first, int n, F f) {
  if constexpr (N > 0) {
    (void)n;
#pragma GCC unroll 8
    for (int k = first; k < N; k++) f(k);
  } else {
    for (int k = first; k < n; k++) f(k);
  }
}
// The transform of r numbers, r = R or, where that is 0, any odd number; `cycle` are the roots of unity of that order.
template <int R, class T> EAGRE_INLINE void butterfly(Numbers<T>* v, int r, const Number<T>* cycle) {
  if constexpr (R == 2) {
    const Numbers<T> a = v[0], b = v[1];
    v[0] = a + b, v[1] = a - b;
  } else if constexpr (R == 4) {
    const Numbers<T> even = v[0] + v[2], odd = v[0] - v[2], sum = v[1] + v[3], difference = turned(v[1] - v[3]);
    v[0] = even + sum, v[1] = odd + difference, v[2] = even - sum, v[3] = odd - difference;
  } else if constexpr (R == 8) {
    Numbers<T> even[4] = {v[0], v[2], v[4], v[6]}, odd[4] = {v[1], v[3], v[5], v[7]};
    butterfly<4>(even, 4, cycle);
    butterfly<4>(odd, 4, cycle);
    const Vector<T> c = all(static_cast<T>(0.70710678118654752440));
    const Numbers<T> first = {(odd[1].re + odd[1].im) * c, (odd[1].im - odd[1].re) * c}, second = turned(odd[2]),
                     third = {(odd[3].im - odd[3].re) * c, -(odd[3].re + odd[3].im) * c};
    v[0] = even[0] + odd[0], v[4] = even[0] - odd[0];
    v[1] = even[1] + first, v[5] = even[1] - first;
    v[2] = even[2] + second, v[6] = even[2] - second;
    v[3] = even[3] + third, v[7] = even[3] - third;
  } else {
    // Pairs of numbers at the same distance from both ends share their products.
    constexpr int most = (R > 0 ? R : kLargestPrime) / 2 + 1;
    const int half = R > 0 ? R / 2 : r / 2, order = R > 0 ? R : r;
    Numbers<T> sums[most], differences[most];
    const Numbers<T> first = v[0];
    Numbers<T> total = first;
    constexpr int known = R > 0 ? R / 2 + 1 : 0;
    each<known>(1, half + 1, [&](int j) {
      sums[j] = v[j] + v[order - j];
      differences[j] = v[j] - v[order - j];
      total = total + sums[j];
    });
    v[0] = total;
    each<known>(1, half + 1, [&](int k) {
      Numbers<T> even = first, odd = {Vector<T>{}, Vector<T>{}};
      int at = 0;
      each<known>(1, half + 1, [&](int j) {
        at += k;
        if (at >= order) at -= order;
        const Vector<T> c = all(cycle[at].re), s = all(cycle[at].im);
        even = {muladd(sums[j].re, c, even.re), muladd(sums[j].im, c, even.im)};
        odd = {muladd(differences[j].im, -s, odd.re), muladd(differences[j].re, s, odd.im)};
      });
      v[k] = even + odd, v[order - k] = even - odd;
    });
  }
}

// Of `blocks` blocks of r · m numbers. The numbers k of a butterfly are multiplied by roots, but in a last pass, where all would be 1.
template <int R, bool kLast, class T> EAGRE_APART void pass(Numbers<T>* x, int r, int64_t m, int64_t blocks, const Number<T>* roots, const Number<T>* cycle) {
  if constexpr (R > 0) r = R;
  if constexpr (kLast) m = 1;
  for (int64_t block = 0; block < blocks; block++, x += r * m) {
    const Number<T>* w = roots;
    for (int64_t p = 0; p < m; p++, w += r - 1) {
      Numbers<T> v[R > 0 ? R : kLargestPrime];
      each<R>(0, r, [&](int k) { v[k] = x[p + k * m]; });
      butterfly<R>(v, r, cycle);
      x[p] = v[0];
      each<R>(1, r, [&](int k) { x[p + k * m] = kLast ? v[k] : v[k] * w[k - 1]; });
    }
  }
}
template <class T> EAGRE_APART void one_pass(const Plan<T>& plan, int f, Numbers<T>* x, int64_t m, int64_t blocks) {
  const int r = plan.factors[f];
  const auto run = [&](auto radix, auto last) {
    pass<decltype(radix)::value, decltype(last)::value>(x, r, m, blocks, plan.roots[f], plan.cycles[f]);
  };
  using std::integral_constant;
  constexpr std::false_type any{};
  constexpr std::true_type last{};
  switch (r) {
    case 2: return run(integral_constant<int, 2>{}, any);
    case 3: return run(integral_constant<int, 3>{}, any);
    case 4: return m == 1 ? run(integral_constant<int, 4>{}, last) : run(integral_constant<int, 4>{}, any);
    case 5: return run(integral_constant<int, 5>{}, any);
    case 8: return m == 1 ? run(integral_constant<int, 8>{}, last) : run(integral_constant<int, 8>{}, any);
    default: return run(integral_constant<int, 0>{}, any);
  }
}
// x [length] from factor f on. What does not fit into the first cache is gone through part by part after its pass.
template <class T> EAGRE_APART void passes(const Plan<T>& plan, Numbers<T>* x, int64_t length, int f = 0) {
  if (f < plan.count && length * static_cast<int64_t>(sizeof *x) > kBlockBytes) {
    const int64_t m = length / plan.factors[f];
    one_pass(plan, f, x, m, 1);
    for (int k = 0; k < plan.factors[f]; k++) passes(plan, x + k * m, m, f + 1);
    return;
  }
  for (int64_t blocks = 1; f < plan.count; f++) {
    const int64_t m = length / (blocks * plan.factors[f]);
    one_pass(plan, f, x, m, blocks);
    blocks *= plan.factors[f];
  }
}

// Numbers in lanes, the k-th of which lies at place k or, of a list, at places[k].
template <class T> struct Placed {
  const Numbers<T>* at;
  const int32_t* places;
  EAGRE_INLINE Numbers<T> operator[](int64_t k) const { return at[places == nullptr ? k : places[k]]; }
};

// The transform of x [plan.n], which has room for plan.size() numbers, as has `other`.
template <class T> EAGRE_APART Placed<T> transform(const Plan<T>& plan, Numbers<T>* x, Numbers<T>* other) {
  if (plan.inner == nullptr) {
    passes(plan, x, plan.n);
    return {x, plan.places};
  }
  const Plan<T>& inner = *plan.inner;
  const int64_t n = plan.n, m = inner.n;
  for (int64_t i = 0; i < n; i++) x[i] = x[i] * plan.chirp[i];
  for (int64_t i = n; i < m; i++) x[i] = {Vector<T>{}, Vector<T>{}};
  passes(inner, x, m);
  for (int64_t i = 0; i < m; i++) other[i] = exchanged(x[inner.places[i]] * plan.filter[i]);
  passes(inner, other, m);
  for (int64_t i = 0; i < n; i++) x[i] = exchanged(other[inner.places[i]]) * plan.chirp[i];
  return {x, nullptr};
}

// ---- between memory and lanes

// Element I of the vectors a, b, one after the other.
template <class T, size_t... I> EAGRE_INLINE Vector<T> pick(Vector<T> a, Vector<T> b, std::index_sequence<I...>) {
  using Bits = std::conditional_t<std::is_same_v<T, float>, vu32, vu64>;
  return (Vector<T>)EAGRE_SHUFFLE((Bits)a, (Bits)b, I...);
}
enum class Pick { even, odd, low, high };
template <Pick kWhich, size_t N, size_t... I> constexpr auto indices(std::index_sequence<I...>) {
  return std::index_sequence<(kWhich == Pick::even ? 2 * I : kWhich == Pick::odd ? 2 * I + 1 : I / 2 + (I % 2) * N + (kWhich == Pick::high ? N / 2 : 0))...>{};
}
// Elements of one kind of what a, b are together; `low` and `high` are halves of what both are when their elements alternate.
template <class T, Pick kWhich> EAGRE_INLINE Vector<T> picked(Vector<T> a, Vector<T> b) {
  constexpr size_t n = kLanes<T>;
  return pick<T>(a, b, decltype(indices<kWhich, n>(std::make_index_sequence<n>{})){});
}

template <class T> EAGRE_INLINE Numbers<T> load_numbers(const T* p) {
  const Vector<T> a = load<T>(p), b = load<T>(p + kLanes<T>);
  return {picked<T, Pick::even>(a, b), picked<T, Pick::odd>(a, b)};
}
template <class T> EAGRE_INLINE void store_numbers(T* p, Numbers<T> v) {
  store<T>(p, picked<T, Pick::low>(v.re, v.im));
  store<T>(p + kLanes<T>, picked<T, Pick::high>(v.re, v.im));
}
// The first `count`; other lanes are zero, or left.
template <class T> EAGRE_INLINE Numbers<T> load_some(const T* p, int64_t count) {
  if (count >= kLanes<T>) return load_numbers(p);
  T held[2 * kLanes<T>] = {};
  if (count > 0) std::memcpy(held, p, static_cast<size_t>(count) * 2 * sizeof(T));
  return load_numbers(held);
}
template <class T> EAGRE_INLINE void store_some(T* p, Numbers<T> v, int64_t count) {
  if (count >= kLanes<T>) {
    store_numbers(p, v);
    return;
  }
  T held[2 * kLanes<T>];
  store_numbers(held, v);
  if (count > 0) std::memcpy(p, held, static_cast<size_t>(count) * 2 * sizeof(T));
}

// Numbers of memory that become lanes, or come from them: number j of lane l is the pair j · step + l · side, and one of both is 1.
template <class T> struct View {
  T* at;
  int64_t step, side, lanes;
};

// Of parts that are exchanged, if `swap`.
template <class T> EAGRE_APART void read(View<const T> from, int64_t n, bool swap, Numbers<T>* x) {
  constexpr int N = kLanes<T>;
  if (from.side == 1) {
    for (int64_t j = 0; j < n; j++) {
      const Numbers<T> v = load_some(from.at + 2 * j * from.step, from.lanes);
      x[j] = swap ? exchanged(v) : v;
    }
    return;
  }
  for (int64_t j = 0; j < n; j += N) {
    Vector<T> re[N], im[N];
    for (int l = 0; l < N; l++) {
      const Numbers<T> v = load_some(from.at + 2 * (l * from.side + j), l < from.lanes ? n - j : 0);
      re[l] = v.re, im[l] = v.im;
    }
    transpose<T>(re);
    transpose<T>(im);
    const int64_t count = min64(N, n - j);
    for (int64_t i = 0; i < count; i++) x[j + i] = swap ? Numbers<T>{im[i], re[i]} : Numbers<T>{re[i], im[i]};
  }
}
template <class T> EAGRE_APART void write(Placed<T> x, int64_t n, bool swap, T scale, View<T> to) {
  constexpr int N = kLanes<T>;
  const Vector<T> by = all(scale);
  const auto at = [&](int64_t k) {
    const Numbers<T> v = {x[k].re * by, x[k].im * by};
    return swap ? exchanged(v) : v;
  };
  if (to.side == 1) {
    for (int64_t k = 0; k < n; k++) store_some(to.at + 2 * k * to.step, at(k), to.lanes);
    return;
  }
  for (int64_t k = 0; k < n; k += N) {
    Vector<T> re[N], im[N];
    const int64_t count = min64(N, n - k);
    for (int i = 0; i < N; i++) {
      const Numbers<T> v = at(i < count ? k + i : k);
      re[i] = v.re, im[i] = v.im;
    }
    transpose<T>(re);
    transpose<T>(im);
    for (int64_t l = 0; l < to.lanes; l++) store_some(to.at + 2 * (l * to.side + k), Numbers<T>{re[l], im[l]}, count);
  }
}

// ---- cut transforms

template <class T> inline Numbers<T>* lanes_of_thread(int64_t count) {
  return static_cast<Numbers<T>*>(scratch(kLaneSlot, count * static_cast<int64_t>(sizeof(Numbers<T>))));
}
// fn(begin, end) for parts of n units of so many numbers each, of which a chunk is worth a thread's while.
template <class F> void for_units(int64_t n, int64_t numbers, F&& fn) { parallel_for(n, (1 << 13) / (numbers + 1) + 1, fn); }

template <class T> void cut_transform(const Plan<T>& plan, const T* x, T* y, bool swap, T scale);

// y = scale · x · factors, for n numbers, with the parts of x or of y exchanged where that is said.
template <class T> EAGRE_APART void multiply(const T* x, const Number<T>* factors, T* y, int64_t n, bool swap_in, bool swap_out, T scale) {
  constexpr int N = kLanes<T>;
  const Vector<T> by = all(scale);
  for_units((n + N - 1) / N, N, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * N; i < min64(n, end * N); i += N) {
      const Numbers<T> v = load_some(x + 2 * i, n - i), w = load_some(&factors[i].re, n - i);
      const Numbers<T> product = (swap_in ? exchanged(v) : v) * Numbers<T>{w.re * by, w.im * by};
      store_some(y + 2 * i, swap_out ? exchanged(product) : product, n - i);
    }
  });
}

template <class T> EAGRE_APART void convolve(const Plan<T>& plan, const T* x, T* y, bool swap, T scale) {
  const int64_t n = plan.n, m = plan.inner->n;
  T* wide = static_cast<T*>(scratch(kWideSlot, 2 * m * static_cast<int64_t>(sizeof(T))));
  multiply(x, plan.chirp, wide, n, swap, false, T{1});
  std::memset(static_cast<void*>(wide + 2 * n), 0, static_cast<size_t>(m - n) * 2 * sizeof(T));
  cut_transform(*plan.inner, wide, wide, false, T{1});
  multiply(wide, plan.filter, wide, m, false, false, T{1});
  cut_transform(*plan.inner, wide, wide, true, T{1});
  multiply(wide, plan.chirp, y, n, false, swap, scale);
}

// The transform of x [n], or the inverse one if `swap`, times `scale`; y may be x.
template <class T> EAGRE_APART void cut_transform(const Plan<T>& plan, const T* x, T* y, bool swap, T scale) {
  if (plan.inner != nullptr) {
    convolve(plan, x, y, swap, scale);
    return;
  }
  constexpr int N = kLanes<T>;
  const Plan<T>&columns = *plan.columns, &rows = *plan.rows;
  const int64_t high = columns.n, wide = rows.n;
  T* middle = static_cast<T*>(scratch(kMiddleSlot, 2 * plan.n * static_cast<int64_t>(sizeof(T))));
  for_units((wide + N - 1) / N, high * N, [&](int64_t begin, int64_t end) {
    Numbers<T>* lanes = lanes_of_thread<T>(high);
    for (int64_t group = begin; group < end; group++) {
      const int64_t count = min64(N, wide - group * N);
      read<T>({x + 2 * group * N, wide, 1, count}, high, swap, lanes);
      passes(columns, lanes, high);
      const T* fine = &plan.steps[group * N * (plan.fine + plan.coarse)].re;
      const T* coarse = fine + 2 * N * plan.fine;
      for (int64_t k = 0, part = 0; k < high; part++, coarse += 2 * N) {
        const Numbers<T> first = {load<T>(coarse), load<T>(coarse + N)};
        for (int64_t i = 0; i < plan.fine && k < high; i++, k++) {
          const T* second = fine + 2 * N * i;
          store_some(middle + 2 * (k * wide + group * N), lanes[columns.places[k]] * (first * Numbers<T>{load<T>(second), load<T>(second + N)}), count);
        }
      }
    }
  });
  for_units((high + N - 1) / N, wide * N, [&](int64_t begin, int64_t end) {
    Numbers<T>* lanes = lanes_of_thread<T>(wide);
    for (int64_t group = begin; group < end; group++) {
      const int64_t count = min64(N, high - group * N);
      read<T>({middle + 2 * group * N * wide, 1, wide, count}, wide, false, lanes);
      passes(rows, lanes, wide);
      write<T>({lanes, rows.places}, wide, swap, scale, {y + 2 * group * N, high, 1, count});
    }
  });
}

// ---- making plans

// The largest divisor that is not larger than the root.
EAGRE_SMALL inline int64_t divisor(int64_t n) {
  int64_t d = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  while (d > 1 && n % d != 0) d--;
  return d;
}
// The length of the passes for transforms of length n: n itself or, if it has a large prime, one that is easy and long enough to convolve.
EAGRE_SMALL inline int64_t length_of_passes(int64_t n) {
  int factors[kFactors];
  if (factorize(n, factors) >= 0) return n;
  int64_t best = INT64_MAX;
  for (int64_t odd : {1, 3, 5, 9, 15}) {
    int64_t m = odd;
    while (m < 2 * n - 1) m *= 2;
    best = min64(best, m);
  }
  return best;
}

template <class T> Plan<T>* make(int64_t n, Way way, bool real);

template <class T> EAGRE_SMALL void make_passes(Plan<T>* plan) {
  const int64_t n = plan->n;
  plan->count = factorize(n, plan->factors);
  int64_t length = n;
  for (int f = 0; f < plan->count; f++) {
    const int r = plan->factors[f];
    const int64_t m = length / r;
    Number<T>* w = plan->roots[f] = allocate<Number<T>>(m * (r - 1), plan->bytes);
    for (int64_t p = 0; p < m; p++) for (int k = 1; k < r; k++) *w++ = root<T>(p * k, length);
    plan->cycles[f] = allocate<Number<T>>(r, plan->bytes);
    for (int k = 0; k < r; k++) plan->cycles[f][k] = root<T>(k, r);
    length = m;
  }
  plan->places = allocate<int32_t>(n, plan->bytes);
  for (int64_t k = 0; k < n; k++) {
    int64_t place = 0, rest = k, span = n;
    for (int f = 0; f < plan->count; f++) {
      span /= plan->factors[f];
      place += rest % plan->factors[f] * span;
      rest /= plan->factors[f];
    }
    plan->places[k] = static_cast<int32_t>(place);
  }
}

template <class T> EAGRE_SMALL void make_cut(Plan<T>* plan) {
  constexpr int N = kLanes<T>;
  const int64_t n = plan->n, high = divisor(n), wide = n / high;
  plan->columns = make<T>(high, Way::lanes, false);
  plan->rows = wide == high ? plan->columns : make<T>(wide, Way::lanes, false);
  plan->bytes += plan->columns->bytes + plan->rows->bytes;
  plan->fine = max64(1, static_cast<int64_t>(std::sqrt(static_cast<double>(high))));
  plan->coarse = (high + plan->fine - 1) / plan->fine;
  const int64_t groups = (wide + N - 1) / N;
  plan->steps = allocate<Number<T>>(groups * N * (plan->fine + plan->coarse), plan->bytes);
  T* step = &plan->steps->re;
  for (int64_t group = 0; group < groups; group++) {
    for (int64_t i = 0; i < plan->fine + plan->coarse; i++, step += 2 * N) {
      const int64_t k = i < plan->fine ? i : (i - plan->fine) * plan->fine;
      for (int64_t l = 0; l < N; l++) {
        const Number<T> w = root<T>((group * N + l) * k % n, n);
        step[l] = w.re, step[N + l] = w.im;
      }
    }
  }
}

template <class T> EAGRE_SMALL void make_convolution(Plan<T>* plan, int64_t m) {
  const int64_t n = plan->n;
  plan->inner = make<T>(m, plan->way, false);
  plan->bytes += plan->inner->bytes;
  plan->chirp = allocate<Number<T>>(n, plan->bytes);
  plan->filter = allocate<Number<T>>(m, plan->bytes);
  Number<T>* filter = plan->filter;
  for (int64_t i = 0, square = 0; i < n; i++) {
    plan->chirp[i] = root<T>(square, 2 * n);
    filter[i] = {plan->chirp[i].re / static_cast<T>(m), -plan->chirp[i].im / static_cast<T>(m)};
    if (i > 0) filter[m - i] = filter[i];
    // (i + 1)² modulo 2n, which never overflows.
    square = (square + 2 * i + 1) % (2 * n);
  }
  if (plan->way == Way::cut) {
    cut_transform<T>(*plan->inner, &filter->re, &filter->re, false, 1);
    return;
  }
  Numbers<T>* lanes = lanes_of_thread<T>(m);
  read<T>({&filter->re, 1, m, 1}, m, false, lanes);
  passes(*plan->inner, lanes, m);
  write<T>({lanes, plan->inner->places}, m, false, 1, {&filter->re, 1, m, 1});
}

// With `real`, for transforms of 2n real numbers.
template <class T> EAGRE_SMALL Plan<T>* make(int64_t n, Way way, bool real) {
  int64_t bytes = 0;
  Plan<T>* plan = allocate<Plan<T>>(1, bytes);
  plan->n = n;
  plan->way = way;
  plan->bytes = bytes;
  try {
    const int64_t length = length_of_passes(n);
    if (length != n) make_convolution(plan, length);
    else if (way == Way::cut) make_cut(plan);
    else make_passes(plan);
    if (real) {
      plan->halves = allocate<Number<T>>(n + 1, plan->bytes);
      for (int64_t k = 0; k <= n; k++) {
        const Number<T> w = root<T>(k, 2 * n);
        plan->halves[k] = {w.im / 2, -w.re / 2};
      }
    }
    return plan;
  } catch (...) {
    destroy(plan);
    throw;
  }
}

// How `rows` transforms of length n side by side are computed: in the way that leaves fewer lanes empty, and gives all threads some.
template <class T> EAGRE_SMALL Way way_of(int64_t n, int64_t rows) {
  constexpr int64_t N = kLanes<T>;
  const int64_t length = length_of_passes(n), high = divisor(length), wide = length / high;
  if (high == 1) return Way::lanes;
  if (length > kMostInLanes || (length > 512 && rows < 4 * N)) return Way::cut;
  const auto waste = [](int64_t count) { return static_cast<double>((count + N - 1) / N * N) / static_cast<double>(count); };
  return waste(rows) < (waste(high) + waste(wide)) / 2 + 0.3 ? Way::lanes : Way::cut;
}

// The plans that were used last, of each precision.
constexpr int kCached = 24;
constexpr int64_t kLargestCached = 32 << 20;
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

  EAGRE_APART Borrowed(int64_t n, Way way, bool real) {
    if ((plan = find(n, way, real)) != nullptr) return;
    plan = make<T>(n, way, real);
    own = plan->bytes > kLargestCached || !keep();
  }
  EAGRE_APART ~Borrowed() {
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
  static Plan<T>* find(int64_t n, Way way, bool real) {
    Lock lock;
    for (int i = 0; i < kCached; i++) {
      Plan<T>* known = cached<T>()[i];
      if (known == nullptr || known->n != n || known->way != way || (known->halves != nullptr) != real) continue;
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

// ---- tensors

// fn(group, lanes, other) for each group of rows in lanes, with room for the transform and one number more in both.
template <class T, class F> void for_groups(int64_t groups, const Plan<T>& plan, F&& fn) {
  const int64_t room = plan.size() + 1;
  for_units(groups, plan.size() * kLanes<T>, [&](int64_t begin, int64_t end) {
    Numbers<T>* lanes = lanes_of_thread<T>(2 * room);
    for (int64_t group = begin; group < end; group++) fn(group, lanes, lanes + room);
  });
}
// fn(begin, end) for parts of rows that are cut: many share the threads, of few each has all.
template <class F> void for_rows(int64_t rows, F&& fn) {
  if (rows >= 8) parallel_for(rows, 1, fn);
  else fn(0, rows);
}
// Room for numbers beside those that transforms use.
template <class T> T* room_for(int64_t numbers) { return static_cast<T*>(scratch(kRowSlot, numbers * 2 * static_cast<int64_t>(sizeof(T)))); }

// One of the rows or columns.
template <class T> void cut_along(const Plan<T>& plan, const T* x, T* y, int64_t row, int64_t inner, bool inverse, T scale) {
  const int64_t n = plan.n, at = row / inner * n * inner + row % inner;
  const Number<T>* from = reinterpret_cast<const Number<T>*>(x) + at;
  Number<T>* to = reinterpret_cast<Number<T>*>(y) + at;
  if (inner == 1) {
    cut_transform<T>(plan, &from->re, &to->re, inverse, scale);
    return;
  }
  Number<T>* column = reinterpret_cast<Number<T>*>(room_for<T>(n));
  for (int64_t i = 0; i < n; i++) column[i] = from[i * inner];
  cut_transform<T>(plan, &column->re, &column->re, inverse, scale);
  for (int64_t i = 0; i < n; i++) to[i * inner] = column[i];
}
// Of x [outer, n, inner] along the middle; y may be x.
template <class T> void fft_along(const T* x, T* y, int64_t outer, int64_t n, int64_t inner, bool inverse) {
  constexpr int N = kLanes<T>;
  const T scale = inverse ? 1 / static_cast<T>(n) : 1;
  const Way way = inner == 1 ? way_of<T>(n, outer) : length_of_passes(n) > 4 * kMostInLanes ? Way::cut : Way::lanes;
  const Borrowed<T> borrowed(n, way, false);
  const Plan<T>& plan = *borrowed.plan;
  if (way == Way::cut) {
    for_rows(outer * inner, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; row++) cut_along(plan, x, y, row, inner, inverse, scale);
    });
    return;
  }
  // Rows in lanes, or columns.
  const int64_t across = inner == 1 ? outer : inner, step = inner, side = inner == 1 ? n : 1, per = (across + N - 1) / N;
  for_groups<T>(inner == 1 ? per : outer * per, plan, [&](int64_t group, Numbers<T>* lanes, Numbers<T>* other) {
    const int64_t first = group % per * N, at = 2 * (group / per * n * inner + first * side), count = min64(N, across - first);
    read<T>({x + at, step, side, count}, n, inverse, lanes);
    write<T>(transform(plan, lanes, other), n, inverse, scale, {y + at, step, side, count});
  });
}

// (a + b) / 2 + (a − b) · w, by which the numbers k and half − k of a transform of half as many become number k, and back.
template <class N, class W> EAGRE_INLINE N joined(N a, N b, W w) {
  const N sum = a + b;
  const N product = (a - b) * w;
  return {sum.re / 2 + product.re, sum.im / 2 + product.im};
}
template <class T> EAGRE_INLINE Number<T> operator+(Number<T> a, Number<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> EAGRE_INLINE Number<T> operator-(Number<T> a, Number<T> b) { return {a.re - b.re, a.im - b.im}; }
template <class T> EAGRE_INLINE Number<T> operator*(Number<T> a, Number<T> b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
template <class T> EAGRE_INLINE Number<T> conj(Number<T> a) { return {a.re, -a.im}; }

// Rows of an even length are transforms of complex numbers, of half as many.
template <class T> void even_rfft(const T* x, T* y, int64_t rows, int64_t half, int64_t count) {
  constexpr int N = kLanes<T>;
  const Way way = way_of<T>(half, rows);
  const Borrowed<T> borrowed(half, way, true);
  const Plan<T>& plan = *borrowed.plan;
  if (way == Way::lanes) {
    for_groups<T>((rows + N - 1) / N, plan, [&](int64_t group, Numbers<T>* lanes, Numbers<T>* other) {
      const int64_t some = min64(N, rows - group * N);
      read<T>({x + 2 * group * N * half, 1, half, some}, half, false, lanes);
      const Placed<T> z = transform(plan, lanes, other);
      for (int64_t k = 0; k <= half; k++) other[k] = joined(z[k < half ? k : 0], conj(z[k > 0 ? half - k : 0]), plan.halves[k]);
      other[0].im = other[half].im = Vector<T>{};
      write<T>({other, nullptr}, count, false, 1, {y + 2 * group * N * count, 1, count, some});
    });
    return;
  }
  for_rows(rows, [&](int64_t first, int64_t last) { for (int64_t row = first; row < last; row++) {
    T* to = y + 2 * row * count;
    cut_transform<T>(plan, x + 2 * row * half, to, false, 1);
    Number<T>* z = reinterpret_cast<Number<T>*>(to);
    z[half] = z[0];
    for_units(half / 2 + 1, 2, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; k++) {
        const Number<T> a = z[k], b = z[half - k];
        z[k] = joined(a, conj(b), plan.halves[k]);
        z[half - k] = joined(b, conj(a), plan.halves[half - k]);
      }
    });
    z[0].im = z[half].im = 0;
  } });
}
template <class T> void even_irfft(const T* x, T* y, int64_t rows, int64_t half, int64_t count) {
  constexpr int N = kLanes<T>;
  const Way way = way_of<T>(half, rows);
  const Borrowed<T> borrowed(half, way, true);
  const Plan<T>& plan = *borrowed.plan;
  const T scale = 1 / static_cast<T>(half);
  if (way == Way::lanes) {
    for_groups<T>((rows + N - 1) / N, plan, [&](int64_t group, Numbers<T>* lanes, Numbers<T>* other) {
      const int64_t some = min64(N, rows - group * N);
      read<T>({x + 2 * group * N * count, 1, count, some}, count, false, other);
      // What stands alone is real.
      other[0].im = other[half].im = Vector<T>{};
      for (int64_t k = 0; k < half; k++) {
        const Number<T> w = plan.halves[k];
        lanes[k] = exchanged(joined(other[k], conj(other[half - k]), Number<T>{w.re, -w.im}));
      }
      write<T>(transform(plan, lanes, other), half, true, scale, {y + 2 * group * N * half, 1, half, some});
    });
    return;
  }
  for_rows(rows, [&](int64_t first, int64_t last) { for (int64_t row = first; row < last; row++) {
    const Number<T>* from = reinterpret_cast<const Number<T>*>(x) + row * count;
    T* to = y + 2 * row * half;
    Number<T>* z = reinterpret_cast<Number<T>*>(to);
    const auto at = [&](int64_t k) { return Number<T>{from[k].re, k == 0 || k == half ? 0 : from[k].im}; };
    for_units(half, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; k++) z[k] = joined(at(k), conj(at(half - k)), conj(plan.halves[k]));
    });
    cut_transform(plan, to, to, true, scale);
  } });
}

// Rows of an odd length are those of complex numbers.
template <class T> void fill_odd(const T* x, T* wide, int64_t n, bool inverse) {
  for (int64_t i = 0; i < n; i++) {
    // The numbers behind the half are the conjugates of those before it.
    const bool mirrored = inverse && i > n / 2;
    const int64_t at = mirrored ? n - i : i;
    wide[2 * i] = inverse ? x[2 * at] : x[at];
    const T im = inverse && i > 0 ? x[2 * at + 1] : 0;
    wide[2 * i + 1] = mirrored ? -im : im;
  }
}
template <class T> void take_odd(const T* wide, T* y, int64_t n, bool inverse) {
  if (inverse) {
    for (int64_t i = 0; i < n; i++) y[i] = wide[2 * i];
    return;
  }
  std::memcpy(y, wide, static_cast<size_t>(n / 2 + 1) * 2 * sizeof(T));
  y[1] = 0;
}
template <class T> void odd_rows(const T* x, T* y, int64_t rows, int64_t n, bool inverse) {
  const T scale = inverse ? 1 / static_cast<T>(n) : 1;
  const Way way = way_of<T>(n, rows);
  const Borrowed<T> borrowed(n, way, false);
  const Plan<T>& plan = *borrowed.plan;
  const int64_t side = way == Way::lanes ? kLanes<T> : 1, half = 2 * (n / 2 + 1), in = inverse ? half : n, out = inverse ? n : half;
  const auto part = [&](int64_t group, Numbers<T>* lanes, Numbers<T>* other) {
    const int64_t first = group * side, count = min64(side, rows - first);
    T* wide = room_for<T>(side * n);
    for (int64_t i = 0; i < count; i++) fill_odd(x + (first + i) * in, wide + 2 * i * n, n, inverse);
    if (way == Way::cut) {
      cut_transform(plan, wide, wide, inverse, scale);
    } else {
      read<T>({wide, 1, n, count}, n, inverse, lanes);
      write<T>(transform(plan, lanes, other), n, inverse, scale, {wide, 1, n, count});
    }
    for (int64_t i = 0; i < count; i++) take_odd(wide + 2 * i * n, y + (first + i) * out, n, inverse);
  };
  if (way == Way::lanes) {
    for_groups<T>((rows + side - 1) / side, plan, part);
    return;
  }
  for_rows(rows, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) part(row, nullptr, nullptr);
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
  int64_t axes[kMaxRank];
  const int count = args.list(axes, kMaxRank);
  if (x.rank < 2 || x.dim(-1) != 2 || y.size != x.size || y.dtype != x.dtype || count < 1) fail(Code::internal, "fft of tensors that do not fit");
  for (int i = 0; i < count; i++) if (axes[i] >= 0 || axes[i] < 1 - x.rank) fail(Code::internal, "fft along axis %lld of rank %d", ll(axes[i]), x.rank - 1);
  if (x.size == 0) return;
  visit_floats(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    for (int i = 0; i < count; i++) {
      const int axis = x.rank - 1 + static_cast<int>(axes[i]);
      const int64_t n = x.dims[axis], inner = product(x.dims, axis + 1, x.rank - 1);
      fft_along(i == 0 ? x.as<T>() : y.as<const T>(), y.as<T>(), x.size / (2 * n * inner), n, inner, inverse);
    }
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
    if (n % 2 == 0) even_rfft(x.as<T>(), y.as<T>(), rows, n / 2, n / 2 + 1);
    else odd_rows(x.as<T>(), y.as<T>(), rows, n, false);
  });
}

void irfft(Args& args) {
  const Tensor x = args.tensor(), y = args.tensor();
  if (y.rank < 1 || x.rank != y.rank + 1 || x.dim(-1) != 2 || y.dtype != x.dtype || x.dim(-2) != y.dim(-1) / 2 + 1) fail(Code::internal, "irfft of tensors that do not fit");
  const int64_t n = y.dim(-1), rows = product(y.dims, 0, y.rank - 1);
  if (y.size == 0) return;
  visit_floats(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    if (n % 2 == 0) even_irfft(x.as<T>(), y.as<T>(), rows, n / 2, n / 2 + 1);
    else odd_rows(x.as<T>(), y.as<T>(), rows, n, true);
  });
}

}  // namespace

void register_fft(Registry& r) {
  r.add("FFT", fft);
  r.add("RFFT", rfft);
  r.add("IRFFT", irfft);
}
EAGRE_END
