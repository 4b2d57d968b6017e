// LSTM and GRU over whole sequences, and their gradients.
//
// What does not depend on the step before is one product over all steps: x · kernel before the loop, the gradients of weights and
// x after it. The loop itself runs for a few examples of the batch at a time, independently of the others: the recurrent product
// from a packed matrix into a small buffer, then the gates in vectors while that buffer is in cache. A small cell has so little to
// do that buffers and packing would cost as much: there the sums stay in registers.
#include <cmath>
#include <cstring>

#include "gemm.h"
#include "gemm_micro.h"
#include "vecmath.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kRows = 8;                     // examples that go through time together
constexpr int64_t kManyRows = 16;                // so many where the recurrent matrix lies beyond L2
constexpr int64_t kLargeMatrix = 1 << 19;        // bytes
constexpr int64_t kWork = 1 << 21;               // multiply-adds that are worth a chunk of their own
constexpr int64_t kPackRows = 24;                // rows in all steps together that make packing pay
constexpr int64_t kSmallGradient = 1 << 18;      // numbers of both weights' gradients that are one product
constexpr int64_t kSmallMatrix = 1 << 13;        // numbers of a matrix that stay in L1 beside the rest
constexpr int64_t kFlatRows = 16;                // examples whose units go through the gates in a row
constexpr int kSmallRows = kWideRows > 3 ? kWideRows : 3;  // examples whose sums of four gates fit the registers
#if defined(__AVX2__)
constexpr bool kMasks = true;
#else
constexpr bool kMasks = false;  // parts of vectors go number by number
#endif

// ---- vectors of either dtype

struct Full32 {
  using V = vf32;
  int64_t j;
  V get(const float* p) const { return load<float>(p + j); }
  void put(float* p, V v) const { store<float>(p + j, v); }
};
struct Part32 {
  using V = vf32;
  int64_t j, n;
  V get(const float* p) const { return load_part(p + j, n, 0); }
  void put(float* p, V v) const { store_part(p + j, n, v); }
};
struct One64 {
  using V = double;
  int64_t j;
  V get(const double* p) const { return p[j]; }
  void put(double* p, V v) const { p[j] = v; }
};
// A gate's sigmoid, in fewer steps than the library's: what exp rounds shows fully in e / (e + 1) only where e is small.
EAGRE_INLINE vf32 gate(vf32 x) {
  vf32 e = exp(at_most(x, 88.0f));
  return e / (e + 1.0f);
}
// The library's function for doubles is a scalar one.
inline double gate(double x) {
  double e = std::exp(-std::fabs(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}
inline double tanh(double x) { return std::tanh(x); }

// f(lanes) for n numbers.
template <class T, class F> inline __attribute__((always_inline)) void each(int64_t n, F f) {
  if constexpr (sizeof(T) == 4) {
    int64_t j = 0;
    for (; j + kF32 <= n; j += kF32) f(Full32{j});
    if (j < n) f(Part32{j, n - j});
  } else {
    for (int64_t j = 0; j < n; j++) f(One64{j});
  }
}

// ---- the recurrent product

template <class T> T* slot(int index, int64_t n) {
  return static_cast<T*>(scratch(index, (n > 0 ? n : 1) * static_cast<int64_t>(sizeof(T))));
}
// Rows an odd number of cache lines apart, so that they do not meet in the same sets.
template <class T> int64_t padded(int64_t n) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  return (ceil_div(n, kLine) | 1) * kLine;
}

// How the batch is cut; depends on sizes alone.
struct Cut {
  int64_t batch, chunks, grain, rows;  // rows: the most that a chunk has
  Cut(int64_t n, int64_t time, int64_t matrix, int64_t bytes) : batch(n) {
    chunks = ceil_div(n, matrix * bytes > kLargeMatrix ? kManyRows : kRows);
    if (chunks > 1 && chunks % 2 == 1) chunks++;
    rows = chunks > 0 ? ceil_div(n, chunks) : 0;
    grain = max64(kWork / max64(rows * time * matrix, 1), 1);
  }
  int64_t begin(int64_t i) const { return part_begin(batch, chunks, i); }
};

// A k × n matrix in panels of columns, or as it lies.
template <class T> struct Panels {
  const T* data;
  int64_t k, n, width, ld;
  bool packed;

  Panels(const T* b, int64_t step, int64_t col, int64_t depth, int64_t columns, const Cut& cut, int64_t uses) : k(depth), n(columns) {
    width = (cut.rows <= kWideRows ? 4 : kTileVectors) * Lanes<T>::n;
    packed = col != 1 || uses > kPackRows;
    data = b;
    ld = step;
    if (!packed) return;
    const int64_t count = ceil_div(n, width);
    T* out = slot<T>(4, count * width * k);
    parallel_for(count, max64((1 << 17) / max64(width * k, 1), 1), [&](int64_t first, int64_t last) {
      for (int64_t q = first; q < last; q++) {
        const int64_t j = q * width;
        pack_panel<T>(b + j * col, step, col, k, min64(width, n - j), out + q * width * k, width);
      }
    });
    data = out;
    ld = width;
  }

  // c = a · this (+ bias)
  void times(const T* a, int64_t a_row, int64_t rows, T* c, int64_t ldc, const T* bias) const {
    Run<T> run{a, 0, k};
    Tile<T> t{};
    t.runs = &run;
    t.run_count = 1;
    t.a_row = a_row;
    t.a_step = 1;
    t.ldb = ld;
    t.ldc = ldc;
    const int64_t tiles = ceil_div(rows, kTileRows);
    for (int64_t j = 0; j < n; j += width) {
      t.n = min64(width, n - j);
      t.b = packed ? data + j * k : data + j;
      t.bias = bias ? bias + j : nullptr;
      const int vectors = static_cast<int>(ceil_div(t.n, Lanes<T>::n));
      for (int64_t p = 0; p < tiles; p++) {
        const int64_t i = part_begin(rows, tiles, p), end = part_begin(rows, tiles, p + 1);
        run.a = a + i * a_row;
        t.c = c + i * ldc + j;
        tile_product(t, static_cast<int>(end - i), vectors);
      }
    }
  }
};

template <class T> void copy(T* to, const T* from, int64_t n) {
  if (n > 0) std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
}

// ---- what both cells share

struct Sizes {
  int64_t batch, time, features, units;
};

// The states before each step, [batch · time, units].
template <class T> T* states_before(const Sizes& s, const T* h0, const T* h) {
  T* out = slot<T>(5, s.batch * s.time * s.units);
  parallel_for(s.batch, max64((1 << 16) / max64(s.time * s.units, 1), 1), [=](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; b++) {
      T* to = out + b * s.time * s.units;
      copy(to, h0 + b * s.units, s.units);
      copy(to + s.units, h + b * s.time * s.units, (s.time - 1) * s.units);
    }
  });
  return out;
}

// Products over all steps: w = aᵀ · d, with a [steps, n] and d [steps, width].
template <class T> void weight_gradient(const Sizes& s, const T* a, int64_t n, const T* d, int64_t width, T* w) {
  gemm(Gemm<T>{n, width, s.batch * s.time, a, 1, n, d, width, 1, w, width, nullptr, false});
}
// Those of both matrices. Small ones in one product, a being [x, the state before]: it would take about as long to pack d twice.
template <class T>
void weight_gradients(const Sizes& s, const T* x, const T* h0, const T* h, const T* d, int64_t width, T* dkernel, T* drecurrent) {
  const int64_t u = s.units, f = s.features, n = f + u;
  if (n * width > kSmallGradient) {
    weight_gradient(s, x, f, d, width, dkernel);
    weight_gradient(s, states_before(s, h0, h), u, d, width, drecurrent);
    return;
  }
  T* a = slot<T>(5, s.batch * s.time * n);
  parallel_for(s.batch, max64((1 << 16) / max64(s.time * n, 1), 1), [=](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; b++) {
      for (int64_t t = 0; t < s.time; t++) {
        const int64_t at = b * s.time + t;
        copy(a + at * n, x + at * f, f);
        copy(a + at * n + f, t > 0 ? h + (at - 1) * u : h0 + b * u, u);
      }
    }
  });
  T* w = slot<T>(7, n * width);
  weight_gradient(s, a, n, d, width, w);
  copy(dkernel, w, f * width);
  copy(drecurrent, w + f * width, u * width);
}
template <class T> void input_gradient(const Sizes& s, const T* d, int64_t width, const T* kernel, T* dx) {
  gemm(Gemm<T>{s.batch * s.time, s.features, width, d, width, 1, kernel, 1, width, dx, s.features, nullptr, false});
}

// The sum of the chunks' rows of biases, in order.
template <class T> void sum_chunks(const T* partial, int64_t chunks, int64_t n, T* out) {
  for (int64_t j = 0; j < n; j++) out[j] = 0;
  for (int64_t c = 0; c < chunks; c++) {
    for (int64_t j = 0; j < n; j++) out[j] += partial[c * n + j];
  }
}

// ---- small cells: a vector of units for a few examples at a time, all the gates' sums in registers, the weights read in place

// a · b for the columns of every gate, which lie `units` apart in b.
struct Factor {
  const float* a;
  int64_t a_row, k;
  const float* b;
};
struct Step {
  const float* start;  // what the sums begin with: biases (start_row 0), or a row for each example
  int64_t start_row;
  const float* inner;  // GRU's biases of the recurrent product
  int64_t units;
  Factor x, h;
};

// N gates; the third one's sum goes to `kThird`.
template <int R, int N, int kThird, class Get>
EAGRE_INLINE void add_product(const Factor& p, int64_t units, int64_t j, Get get, vf32 (&acc)[R][4]) {
  const float *a = p.a, *b = p.b + j;
  for (int64_t k = p.k; k > 0; k--, a++, b += N * units) {
    vf32 w[N];
#pragma GCC unroll 4
    for (int g = 0; g < N; g++) w[g] = get(b + g * units);
#pragma GCC unroll 8
    for (int r = 0; r < R; r++) {
      const vf32 v = broadcast(a[r * p.a_row]);
#pragma GCC unroll 4
      for (int g = 0; g < N; g++) acc[r][g == 2 ? kThird : g] = fma(v, w[g], acc[r][g == 2 ? kThird : g]);
    }
  }
}

// Puts four sums of the units from j on for every example, a vector each: of i, f, g, o, or of GRU's z, r, g and q.
template <int R, int N, class Get, class Put> EAGRE_INLINE void add_up(const Step& s, int64_t j, Get get, Put put) {
  vf32 acc[R][4];
#pragma GCC unroll 8
  for (int r = 0; r < R; r++) {
    const float* start = s.start + r * s.start_row + j;
#pragma GCC unroll 4
    for (int g = 0; g < N; g++) acc[r][g] = get(start + g * s.units);
    if constexpr (N == 3) {
      acc[r][0] += get(s.inner + j);
      acc[r][1] += get(s.inner + j + s.units);
      acc[r][3] = get(s.inner + j + 2 * s.units);
    }
  }
  add_product<R, N, 2>(s.x, s.units, j, get, acc);
  add_product<R, N, N == 3 ? 3 : 2>(s.h, s.units, j, get, acc);
#pragma GCC unroll 8
  for (int r = 0; r < R; r++) {
#pragma GCC unroll 4
    for (int g = 0; g < 4; g++) put(r, g, acc[r][g]);
  }
}
// Whole vectors, four for each example; or, with a plane, that far from gate to gate, and the units of the examples one behind the other.
template <int R, int N, bool kPlanes> void sums(const Step& s, int64_t j, float* out, int64_t plane) {
  const int64_t n = s.units - j, row = kPlanes ? s.units : 4 * kF32, step = kPlanes ? plane : kF32;
  const auto put = [=](int r, int g, vf32 v) __attribute__((always_inline)) { store<float>(out + r * row + g * step, v); };
  if (n >= kF32) {
    add_up<R, N>(s, j, [](const float* p) __attribute__((always_inline)) { return load<float>(p); }, put);
    return;
  }
  const Part<float> part(n);
  const auto get = [&](const float* p) __attribute__((always_inline)) { return part.load(p); };
  if constexpr (!kPlanes) add_up<R, N>(s, j, get, put);
  else add_up<R, N>(s, j, get, [&](int r, int g, vf32 v) __attribute__((always_inline)) { part.store(out + r * row + g * step, v); });
}
using Sums = void (*)(const Step&, int64_t, float*, int64_t);
template <int N, bool kPlanes, int R = kSmallRows> Sums pick_sums(int64_t rows) {
  if constexpr (R > 1) {
    if (rows < R) return pick_sums<N, kPlanes, R - 1>(rows);
  }
  return sums<R, N, kPlanes>;
}

// carry: LSTM's cell, GRU's state.
struct SmallCell {
  const float *x, *h0, *carry0, *kernel, *recurrent, *bias;
  float *h, *h_last, *carry_last, *reserve;
  int64_t row;  // of the reserve
};
inline bool is_small(const Sizes& s, int64_t gates) {
  return s.time > 0 && s.units > 0 && gates * s.units * s.units <= kSmallMatrix && (kMasks || s.units % kF32 == 0);
}

// `cell` takes four sums and the carry before to the carry after, and puts the gates and y.
template <int N, class Cell> void small_cell(const Sizes& s, const SmallCell& p, Cell cell) {
  const int64_t u = s.units, ld = ceil_div(u, kF32) * kF32;
  const bool inputs = N * u * s.features <= kSmallMatrix;
  if (!inputs) {
    gemm(Gemm<float>{s.batch * s.time, N * u, s.features, p.x, s.features, 1, p.kernel, N * u, 1, p.reserve, p.row, p.bias, false});
  }
  const int64_t chunks = ceil_div(s.batch, kSmallRows);
  const int64_t work = kSmallRows * s.time * N * u * (u + (inputs ? s.features : 0));
  parallel_for(chunks, max64(kWork / work, 1), [=](int64_t first, int64_t last) {
    // Rows of whole vectors: what is stored in part cannot be read at once.
    float* states = slot<float>(3, 3 * kSmallRows * ld);
    float* carries = states + 2 * kSmallRows * ld;
    alignas(kVectorBytes) float z[kSmallRows * 4 * kF32];
    for (int64_t chunk = first; chunk < last; chunk++) {
      const int64_t b0 = part_begin(s.batch, chunks, chunk), rows = part_begin(s.batch, chunks, chunk + 1) - b0;
      const auto add_up = pick_sums<N, false>(rows);
      for (int64_t t = 0; t < s.time; t++) {
        const int64_t at = b0 * s.time + t;
        float *before = states + t % 2 * kSmallRows * ld, *after = states + (t + 1) % 2 * kSmallRows * ld;
        const Factor by_kernel{p.x + at * s.features, s.time * s.features, s.features, p.kernel};
        Step step{p.bias, 0, p.bias + N * u, u, by_kernel, {before, ld, u, p.recurrent}};
        if (!inputs) {
          step.start = p.reserve + at * p.row;
          step.start_row = s.time * p.row;
          step.x.k = 0;
        }
        if (t == 0) {
          step.h.a = p.h0 + b0 * u;
          step.h.a_row = u;
        }
        for (int64_t j = 0; j < u; j += kF32) {
          add_up(step, j, z, 0);
          auto finish = [=, &z](auto lanes) __attribute__((always_inline)) {
            for (int64_t r = 0; r < rows; r++) {
              const float* from = z + r * 4 * kF32;
              float* carry = carries + r * ld + j;
              vf32 y;
              vf32 old = t > 0 ? load<float>(carry) : lanes.get(p.carry0 + (b0 + r) * u);
              auto sum = [=](int g) __attribute__((always_inline)) { return load<float>(from + g * kF32); };
              vf32 now = cell(lanes, sum(0), sum(1), sum(2), sum(3), old, p.reserve + (at + r * s.time) * p.row, u, y);
              lanes.put(p.h + (at + r * s.time) * u, y);
              if (t + 1 < s.time) {
                store<float>(carry, now);
                store<float>(after + r * ld + j, y);
              } else {
                lanes.put(p.h_last + (b0 + r) * u, y);
                if (p.carry_last) lanes.put(p.carry_last + (b0 + r) * u, now);
              }
            }
          };
          if (u - j >= kF32) finish(Full32{j});
          else finish(Part32{j, u - j});
        }
      }
    }
  });
}

// ---- LSTM. A row of the reserve, which only the gradient needs: i, f, g (the candidate), o, c, tanh(c).

// From the gates' sums and the cell before to the cell after and y, for one vector.
struct LstmCell {
  template <class L, class V, class T>
  EAGRE_INLINE V operator()(L lanes, V zi, V zf, V zg, V zo, V before, T* gates, int64_t u, V& y) const {
    V i = gate(zi), f = gate(zf), g = tanh(zg), o = gate(zo);
    V c = f * before + i * g;
    V squashed = tanh(c);
    y = o * squashed;
    if (!gates) return c;
    lanes.put(gates, i);
    lanes.put(gates + u, f);
    lanes.put(gates + 2 * u, g);
    lanes.put(gates + 3 * u, o);
    lanes.put(gates + 4 * u, c);
    lanes.put(gates + 5 * u, squashed);
    return c;
  }
};

// A small cell of which nobody wants the reserve, and whose units are no whole vectors: the gates go through all units of several
// examples in whole ones.
void flat_lstm(const Sizes& s, const SmallCell& p) {
  const int64_t u = s.units, chunks = ceil_div(s.batch, kFlatRows);
  const int64_t work = kFlatRows * s.time * 4 * u * (u + s.features);
  parallel_for(chunks, max64(kWork / work, 1), [=](int64_t first, int64_t last) {
    const int64_t plane = ceil_div(kFlatRows * u, kF32) * kF32;
    float *z = slot<float>(3, 7 * plane), *carry = z + 4 * plane, *states = z + 5 * plane;
    for (int64_t chunk = first; chunk < last; chunk++) {
      const int64_t b0 = part_begin(s.batch, chunks, chunk), rows = part_begin(s.batch, chunks, chunk + 1) - b0;
      const int64_t parts = ceil_div(rows, kSmallRows);
      // Outputs are new memory, whose way here is as long as the sums take.
      for (int64_t i = 0; i < rows * u; i += kF32) {
        __builtin_prefetch(p.h_last + b0 * u + i, 1);
        __builtin_prefetch(p.carry_last + b0 * u + i, 1);
      }
      for (int64_t t = 0; t < s.time; t++) {
        const bool ends = t + 1 == s.time;
        const float *h = t > 0 ? states + t % 2 * plane : p.h0 + b0 * u, *c = t > 0 ? carry : p.carry0 + b0 * u;
        float *new_h = ends ? p.h_last + b0 * u : states + (t + 1) % 2 * plane, *new_c = ends ? p.carry_last + b0 * u : carry;
        for (int64_t part = 0; part < parts; part++) {
          const int64_t r0 = part_begin(rows, parts, part), count = part_begin(rows, parts, part + 1) - r0;
          const Factor by_kernel{p.x + ((b0 + r0) * s.time + t) * s.features, s.time * s.features, s.features, p.kernel};
          const Step step{p.bias, 0, nullptr, u, by_kernel, {h + r0 * u, u, u, p.recurrent}};
          const Sums add_up = pick_sums<4, true>(count);
          for (int64_t j = 0; j < u; j += kF32) add_up(step, j, z + r0 * u + j, plane);
        }
        each<float>(rows * u, [=](auto lanes) __attribute__((always_inline)) {
          const auto sum = [=](int64_t k) __attribute__((always_inline)) { return lanes.get(z + k * plane); };
          vf32 y;
          const vf32 now = LstmCell()(lanes, sum(0), sum(1), sum(2), sum(3), lanes.get(c), static_cast<float*>(nullptr), 0, y);
          lanes.put(new_c, now);
          lanes.put(new_h, y);
          if (s.time == 1) lanes.put(p.h + b0 * u, y);
        });
        if (s.time == 1) continue;
        for (int64_t r = 0; r < rows; r++) copy(p.h + ((b0 + r) * s.time + t) * u, new_h + r * u, u);
      }
    }
  });
}

template <class T>
void lstm(const Sizes& s, const T* x, const T* h0, const T* c0, const T* kernel, const T* recurrent, const T* bias, T* h, T* h_last,
          T* c_last, T* reserve) {
  const int64_t u = s.units, row = 6 * u;
  const bool small = sizeof(T) == 4 && is_small(s, 4);
  const bool flat = small && !reserve && kMasks && u % kF32 != 0 && 4 * u * s.features <= kSmallMatrix;
  if (!reserve && !flat) reserve = slot<T>(7, s.batch * s.time * row);
  if constexpr (sizeof(T) == 4) {
    const SmallCell cell{x, h0, c0, kernel, recurrent, bias, h, h_last, c_last, reserve, row};
    if (flat) return flat_lstm(s, cell);
    if (small) return small_cell<4>(s, cell, LstmCell{});
  }
  gemm(Gemm<T>{s.batch * s.time, 4 * u, s.features, x, s.features, 1, kernel, 4 * u, 1, reserve, row, bias, false});
  const Cut cut(s.batch, s.time, 4 * u * u, sizeof(T));
  const Panels<T> panels(recurrent, 4 * u, 1, u, 4 * u, cut, s.batch * s.time);
  parallel_for(cut.chunks, cut.grain, [&](int64_t first, int64_t last) {
    const int64_t ldh = padded<T>(u), ldz = padded<T>(4 * u);
    T* state = slot<T>(3, cut.rows * (ldh + ldz));
    T* z = state + cut.rows * ldh;
    for (int64_t chunk = first; chunk < last; chunk++) {
      const int64_t b0 = cut.begin(chunk), rows = cut.begin(chunk + 1) - b0;
      for (int64_t r = 0; r < rows; r++) copy(state + r * ldh, h0 + (b0 + r) * u, u);
      for (int64_t t = 0; t < s.time; t++) {
        panels.times(state, ldh, rows, z, ldz, nullptr);
        for (int64_t r = 0; r < rows; r++) {
          const int64_t at = (b0 + r) * s.time + t;
          T *gates = reserve + at * row, *out = h + at * u, *next = state + r * ldh;
          const T *from = z + r * ldz, *before = t > 0 ? gates - row + 4 * u : c0 + (b0 + r) * u;
          each<T>(u, [=](auto lanes) __attribute__((always_inline)) {
            auto sum = [=](int64_t k) __attribute__((always_inline)) { return lanes.get(gates + k) + lanes.get(from + k); };
            typename decltype(lanes)::V y;
            LstmCell()(lanes, sum(0), sum(u), sum(2 * u), sum(3 * u), lanes.get(before), gates, u, y);
            lanes.put(next, y);
            lanes.put(out, y);
          });
        }
      }
      for (int64_t r = 0; r < rows; r++) {
        const int64_t b = b0 + r;
        copy(h_last + b * u, state + r * ldh, u);
        copy(c_last + b * u, s.time > 0 ? reserve + ((b + 1) * s.time - 1) * row + 4 * u : c0 + b * u, u);
      }
    }
  });
}

template <class T>
void lstm_grad(const Sizes& s, const T* x, const T* h0, const T* c0, const T* kernel, const T* recurrent, const T* h, const T* reserve,
               const T* dh, const T* dh_last, const T* dc_last, T* dgates, T* dh0, T* dc0, T* dkernel, T* drecurrent, T* dbias, T* dx) {
  const int64_t u = s.units, row = 6 * u, width = 4 * u;
  const Cut cut(s.batch, s.time, 4 * u * u, sizeof(T));
  const Panels<T> panels(recurrent, 1, width, width, u, cut, s.batch * s.time);
  T* partial = slot<T>(6, cut.chunks * width);
  parallel_for(cut.chunks, cut.grain, [&](int64_t first, int64_t last) {
    const int64_t ldh = padded<T>(u), ldz = padded<T>(width);
    T* carry = slot<T>(3, cut.rows * (2 * ldh + ldz));
    T *cell = carry + cut.rows * ldh, *z = cell + cut.rows * ldh;
    for (int64_t chunk = first; chunk < last; chunk++) {
      const int64_t b0 = cut.begin(chunk), rows = cut.begin(chunk + 1) - b0;
      T* sums = partial + chunk * width;
      for (int64_t j = 0; j < width; j++) sums[j] = 0;
      for (int64_t r = 0; r < rows; r++) {
        copy(carry + r * ldh, dh_last + (b0 + r) * u, u);
        copy(cell + r * ldh, dc_last + (b0 + r) * u, u);
      }
      for (int64_t t = s.time - 1; t >= 0; t--) {
        each<T>(u, [=](auto lanes) __attribute__((always_inline)) {
          using V = typename decltype(lanes)::V;
          V total[4];
#pragma GCC unroll 4
          for (int k = 0; k < 4; k++) total[k] = lanes.get(sums + k * u);
          for (int64_t r = 0; r < rows; r++) {
            const int64_t at = (b0 + r) * s.time + t;
            const T* gates = reserve + at * row;
            const T* before = t > 0 ? gates - row + 4 * u : c0 + (b0 + r) * u;
            T *dz = dgates + at * width, *local = z + r * ldz, *dcell = cell + r * ldh;
            const V i = lanes.get(gates), f = lanes.get(gates + u), g = lanes.get(gates + 2 * u), o = lanes.get(gates + 3 * u);
            const V squashed = lanes.get(gates + 5 * u);
            const V d = (dh ? lanes.get(dh + at * u) : V{}) + lanes.get(carry + r * ldh);
            const V dc = lanes.get(dcell) + d * o * (1 - squashed * squashed);
            lanes.put(dcell, dc * f);
            const V sum[4] = {dc * g * i * (1 - i), dc * lanes.get(before) * f * (1 - f), dc * i * (1 - g * g), d * squashed * o * (1 - o)};
#pragma GCC unroll 4
            for (int k = 0; k < 4; k++) {
              lanes.put(dz + k * u, sum[k]);
              lanes.put(local + k * u, sum[k]);
              total[k] += sum[k];
            }
          }
#pragma GCC unroll 4
          for (int k = 0; k < 4; k++) lanes.put(sums + k * u, total[k]);
        });
        panels.times(z, ldz, rows, carry, ldh, nullptr);
      }
      for (int64_t r = 0; r < rows; r++) {
        copy(dh0 + (b0 + r) * u, carry + r * ldh, u);
        copy(dc0 + (b0 + r) * u, cell + r * ldh, u);
      }
    }
  });
  sum_chunks(partial, cut.chunks, width, dbias);
  weight_gradients(s, x, h0, h, dgates, width, dkernel, drecurrent);
  if (dx) input_gradient(s, dgates, width, kernel, dx);
}

// ---- GRU with the reset gate after the recurrent product. A row of the reserve: z, r, g (the candidate), and q, the candidate's
// recurrent product with its bias, which r scales.

// From the sums and the state before to the state after, which is y too.
struct GruCell {
  template <class L, class V, class T>
  EAGRE_INLINE V operator()(L lanes, V zz, V zr, V zg, V q, V before, T* gates, int64_t u, V& y) const {
    V z = gate(zz), r = gate(zr), g = tanh(zg + r * q);
    y = z * before + (1 - z) * g;
    lanes.put(gates, z);
    lanes.put(gates + u, r);
    lanes.put(gates + 2 * u, g);
    lanes.put(gates + 3 * u, q);
    return y;
  }
};

template <class T>
void gru(const Sizes& s, const T* x, const T* h0, const T* kernel, const T* recurrent, const T* bias, T* h, T* h_last, T* reserve) {
  const int64_t u = s.units, row = 4 * u, width = 3 * u;
  if constexpr (sizeof(T) == 4) {
    const SmallCell small{x, h0, h0, kernel, recurrent, bias, h, h_last, nullptr, reserve, row};
    if (is_small(s, 3)) return small_cell<3>(s, small, GruCell{});
  }
  gemm(Gemm<T>{s.batch * s.time, width, s.features, x, s.features, 1, kernel, width, 1, reserve, row, bias, false});
  const Cut cut(s.batch, s.time, 3 * u * u, sizeof(T));
  const Panels<T> panels(recurrent, width, 1, u, width, cut, s.batch * s.time);
  parallel_for(cut.chunks, cut.grain, [&](int64_t first, int64_t last) {
    const int64_t ldh = padded<T>(u), ldz = padded<T>(width);
    T* state = slot<T>(3, cut.rows * (ldh + ldz));
    T* inner = state + cut.rows * ldh;
    for (int64_t chunk = first; chunk < last; chunk++) {
      const int64_t b0 = cut.begin(chunk), rows = cut.begin(chunk + 1) - b0;
      for (int64_t r = 0; r < rows; r++) copy(state + r * ldh, h0 + (b0 + r) * u, u);
      for (int64_t t = 0; t < s.time; t++) {
        panels.times(state, ldh, rows, inner, ldz, bias + width);
        for (int64_t b = 0; b < rows; b++) {
          const int64_t at = (b0 + b) * s.time + t;
          T *gates = reserve + at * row, *out = h + at * u, *next = state + b * ldh;
          const T* from = inner + b * ldz;
          each<T>(u, [=](auto lanes) __attribute__((always_inline)) {
            auto sum = [=](int64_t k) __attribute__((always_inline)) { return lanes.get(gates + k) + lanes.get(from + k); };
            typename decltype(lanes)::V y;
            GruCell()(lanes, sum(0), sum(u), lanes.get(gates + 2 * u), lanes.get(from + 2 * u), lanes.get(next), gates, u, y);
            lanes.put(next, y);
            lanes.put(out, y);
          });
        }
      }
      for (int64_t r = 0; r < rows; r++) copy(h_last + (b0 + r) * u, state + r * ldh, u);
    }
  });
}

// dgates: a row has the gradients before the activations of z, r, the candidate (which x's products see), and of q.
template <class T>
void gru_grad(const Sizes& s, const T* x, const T* h0, const T* kernel, const T* recurrent, const T* h, const T* reserve, const T* dh,
              const T* dh_last, T* dgates, T* dh0, T* dkernel, T* drecurrent, T* dbias, T* dx) {
  const int64_t u = s.units, row = 4 * u, width = 3 * u;
  const Cut cut(s.batch, s.time, 3 * u * u, sizeof(T));
  const Panels<T> panels(recurrent, 1, width, width, u, cut, s.batch * s.time);
  T* partial = slot<T>(6, cut.chunks * row);
  parallel_for(cut.chunks, cut.grain, [&](int64_t first, int64_t last) {
    const int64_t ldh = padded<T>(u), ldz = padded<T>(width);
    T* carry = slot<T>(3, cut.rows * (2 * ldh + ldz));
    T *kept = carry + cut.rows * ldh, *inner = kept + cut.rows * ldh;
    for (int64_t chunk = first; chunk < last; chunk++) {
      const int64_t b0 = cut.begin(chunk), rows = cut.begin(chunk + 1) - b0;
      T* sums = partial + chunk * row;
      for (int64_t j = 0; j < row; j++) sums[j] = 0;
      for (int64_t b = 0; b < rows; b++) copy(carry + b * ldh, dh_last + (b0 + b) * u, u);
      for (int64_t t = s.time - 1; t >= 0; t--) {
        for (int64_t b = 0; b < rows; b++) {
          const int64_t at = (b0 + b) * s.time + t;
          const T *gates = reserve + at * row, *up = dh ? dh + at * u : nullptr, *back = carry + b * ldh;
          const T* before = t > 0 ? h + (at - 1) * u : h0 + (b0 + b) * u;
          T *dz = dgates + at * row, *local = inner + b * ldz, *through = kept + b * ldh;
          each<T>(u, [=](auto lanes) __attribute__((always_inline)) {
            auto z = lanes.get(gates), r = lanes.get(gates + u), g = lanes.get(gates + 2 * u), q = lanes.get(gates + 3 * u);
            auto d = (up ? lanes.get(up) : decltype(z){}) + lanes.get(back);
            auto ez = d * (lanes.get(before) - g) * z * (1 - z);
            auto eg = d * (1 - z) * (1 - g * g);
            auto er = eg * q * r * (1 - r);
            auto eq = eg * r;
            lanes.put(through, d * z);
            lanes.put(local, ez);
            lanes.put(local + u, er);
            lanes.put(local + 2 * u, eq);
            auto write = [=](int64_t k, auto v) __attribute__((always_inline)) {
              lanes.put(dz + k, v);
              lanes.put(sums + k, lanes.get(sums + k) + v);
            };
            write(0, ez);
            write(u, er);
            write(2 * u, eg);
            write(3 * u, eq);
          });
        }
        panels.times(inner, ldz, rows, carry, ldh, nullptr);
        for (int64_t b = 0; b < rows; b++) {
          T* to = carry + b * ldh;
          const T* from = kept + b * ldh;
          each<T>(u, [=](auto lanes) __attribute__((always_inline)) { lanes.put(to, lanes.get(to) + lanes.get(from)); });
        }
      }
      for (int64_t b = 0; b < rows; b++) copy(dh0 + (b0 + b) * u, carry + b * ldh, u);
    }
  });
  T* sums = slot<T>(7, row);
  sum_chunks(partial, cut.chunks, row, sums);
  copy(dbias, sums, width);
  copy(dbias + width, sums, 2 * u);
  copy(dbias + width + 2 * u, sums + 3 * u, u);
  const int64_t steps = s.batch * s.time;
  gemm(Gemm<T>{s.features, width, steps, x, 1, s.features, dgates, row, 1, dkernel, width, nullptr, false});
  // The recurrent weights see z and r like the kernel, and q in the place of the candidate.
  const T* before = states_before(s, h0, h);
  gemm(Gemm<T>{u, 2 * u, steps, before, 1, u, dgates, row, 1, drecurrent, width, nullptr, false});
  gemm(Gemm<T>{u, u, steps, before, 1, u, dgates + 3 * u, row, 1, drecurrent + 2 * u, width, nullptr, false});
  if (dx) gemm(Gemm<T>{steps, s.features, width, dgates, row, 1, kernel, 1, width, dx, s.features, nullptr, false});
}

// ---- arguments

Sizes sizes_of(const Tensor& x, const Tensor& h0, const char* name) {
  if (x.rank != 3 || h0.rank != 2 || x.dims[0] != h0.dims[0]) fail(Code::internal, "%s: x or h0 of another shape", name);
  return {x.dims[0], x.dims[1], x.dims[2], h0.dims[1]};
}
void expect(const Tensor& t, const Tensor& x, int64_t size, const char* name) {
  if (t.size != size || t.dtype != x.dtype) fail(Code::internal, "%s: tensors that do not fit", name);
}
template <class F> void floating(const Tensor& t, F&& f) {
  if (t.dtype == DType::f32) f(float{});
  else if (t.dtype == DType::f64) f(double{});
  else fail(Code::unimplemented, "this kernel takes float32 and float64");
}

void lstm_kernel(Args& a) {
  Tensor x = a.tensor(), h0 = a.tensor(), c0 = a.tensor(), kernel = a.tensor(), recurrent = a.tensor(), bias = a.tensor();
  const bool with_reserve = a.outputs() > 3;
  Tensor h = a.tensor(), h_last = a.tensor(), c_last = a.tensor(), reserve = with_reserve ? a.tensor() : Tensor{};
  const Sizes s = sizes_of(x, h0, "LSTM");
  const int64_t u = s.units, state = s.batch * u, steps = s.batch * s.time;
  for (const Tensor* t : {&h0, &c0, &h_last, &c_last}) expect(*t, x, state, "LSTM");
  expect(kernel, x, s.features * 4 * u, "LSTM");
  expect(recurrent, x, u * 4 * u, "LSTM");
  expect(bias, x, 4 * u, "LSTM");
  expect(h, x, steps * u, "LSTM");
  if (with_reserve) expect(reserve, x, steps * 6 * u, "LSTM");
  floating(x, [&](auto tag) {
    using T = decltype(tag);
    lstm<T>(s, x.as<T>(), h0.as<T>(), c0.as<T>(), kernel.as<T>(), recurrent.as<T>(), bias.as<T>(), h.as<T>(), h_last.as<T>(),
            c_last.as<T>(), with_reserve ? reserve.as<T>() : nullptr);
  });
}

void lstm_grad_kernel(Args& a) {
  Tensor x = a.tensor(), h0 = a.tensor(), c0 = a.tensor(), kernel = a.tensor(), recurrent = a.tensor(), h = a.tensor();
  const bool with_h = a.inputs() > 9;
  Tensor reserve = a.tensor(), dh = with_h ? a.tensor() : Tensor{}, dh_last = a.tensor(), dc_last = a.tensor();
  Tensor dgates = a.tensor(), dh0 = a.tensor(), dc0 = a.tensor(), dkernel = a.tensor(), drecurrent = a.tensor(), dbias = a.tensor();
  const bool with_x = a.outputs() > 6;
  Tensor dx = with_x ? a.tensor() : Tensor{};
  const Sizes s = sizes_of(x, h0, "LSTMGrad");
  const int64_t u = s.units, state = s.batch * u, steps = s.batch * s.time;
  for (const Tensor* t : {&h0, &c0, &dh_last, &dc_last, &dh0, &dc0}) expect(*t, x, state, "LSTMGrad");
  for (const Tensor* t : {&kernel, &dkernel}) expect(*t, x, s.features * 4 * u, "LSTMGrad");
  for (const Tensor* t : {&recurrent, &drecurrent}) expect(*t, x, u * 4 * u, "LSTMGrad");
  expect(h, x, steps * u, "LSTMGrad");
  if (with_h) expect(dh, x, steps * u, "LSTMGrad");
  expect(dbias, x, 4 * u, "LSTMGrad");
  expect(dgates, x, steps * 4 * u, "LSTMGrad");
  expect(reserve, x, steps * 6 * u, "LSTMGrad");
  if (with_x) expect(dx, x, x.size, "LSTMGrad");
  floating(x, [&](auto tag) {
    using T = decltype(tag);
    lstm_grad<T>(s, x.as<T>(), h0.as<T>(), c0.as<T>(), kernel.as<T>(), recurrent.as<T>(), h.as<T>(), reserve.as<T>(), with_h ? dh.as<T>() : nullptr,
                 dh_last.as<T>(), dc_last.as<T>(), dgates.as<T>(), dh0.as<T>(), dc0.as<T>(), dkernel.as<T>(), drecurrent.as<T>(),
                 dbias.as<T>(), with_x ? dx.as<T>() : nullptr);
  });
}

void gru_kernel(Args& a) {
  Tensor x = a.tensor(), h0 = a.tensor(), kernel = a.tensor(), recurrent = a.tensor(), bias = a.tensor();
  Tensor h = a.tensor(), h_last = a.tensor(), reserve = a.tensor();
  const Sizes s = sizes_of(x, h0, "GRU");
  const int64_t u = s.units, state = s.batch * u, steps = s.batch * s.time;
  for (const Tensor* t : {&h0, &h_last}) expect(*t, x, state, "GRU");
  expect(kernel, x, s.features * 3 * u, "GRU");
  expect(recurrent, x, u * 3 * u, "GRU");
  expect(bias, x, 6 * u, "GRU");
  expect(h, x, steps * u, "GRU");
  expect(reserve, x, steps * 4 * u, "GRU");
  floating(x, [&](auto tag) {
    using T = decltype(tag);
    gru<T>(s, x.as<T>(), h0.as<T>(), kernel.as<T>(), recurrent.as<T>(), bias.as<T>(), h.as<T>(), h_last.as<T>(), reserve.as<T>());
  });
}

void gru_grad_kernel(Args& a) {
  Tensor x = a.tensor(), h0 = a.tensor(), kernel = a.tensor(), recurrent = a.tensor(), h = a.tensor(), reserve = a.tensor();
  const bool with_h = a.inputs() > 7;
  Tensor dh = with_h ? a.tensor() : Tensor{}, dh_last = a.tensor();
  Tensor dgates = a.tensor(), dh0 = a.tensor(), dkernel = a.tensor(), drecurrent = a.tensor(), dbias = a.tensor();
  const bool with_x = a.outputs() > 5;
  Tensor dx = with_x ? a.tensor() : Tensor{};
  const Sizes s = sizes_of(x, h0, "GRUGrad");
  const int64_t u = s.units, state = s.batch * u, steps = s.batch * s.time;
  for (const Tensor* t : {&h0, &dh_last, &dh0}) expect(*t, x, state, "GRUGrad");
  for (const Tensor* t : {&kernel, &dkernel}) expect(*t, x, s.features * 3 * u, "GRUGrad");
  for (const Tensor* t : {&recurrent, &drecurrent}) expect(*t, x, u * 3 * u, "GRUGrad");
  expect(h, x, steps * u, "GRUGrad");
  if (with_h) expect(dh, x, steps * u, "GRUGrad");
  for (const Tensor* t : {&reserve, &dgates}) expect(*t, x, steps * 4 * u, "GRUGrad");
  expect(dbias, x, 6 * u, "GRUGrad");
  if (with_x) expect(dx, x, x.size, "GRUGrad");
  floating(x, [&](auto tag) {
    using T = decltype(tag);
    gru_grad<T>(s, x.as<T>(), h0.as<T>(), kernel.as<T>(), recurrent.as<T>(), h.as<T>(), reserve.as<T>(), with_h ? dh.as<T>() : nullptr, dh_last.as<T>(),
                dgates.as<T>(), dh0.as<T>(), dkernel.as<T>(), drecurrent.as<T>(), dbias.as<T>(), with_x ? dx.as<T>() : nullptr);
  });
}

}  // namespace

void register_rnn(Registry& r) {
  r.add("LSTM", lstm_kernel);
  r.add("LSTMGrad", lstm_grad_kernel);
  r.add("GRU", gru_kernel);
  r.add("GRUGrad", gru_grad_kernel);
}
EAGRE_END
