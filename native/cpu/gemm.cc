// MatMul: packed and direct matrix products around the tiles of gemm_micro.h.
#include "gemm.h"

#include <algorithm>

#include "gemm_micro.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kBlockK = 1024;  // k of a block: a panel of B then streams from L2, which costs less than more rounds over c
constexpr int64_t kTileRowPanels = 4;
constexpr int64_t kDirectRows = 56;            // up to so many rows B is read where it lies,
constexpr int64_t kSmallRows = 168;            // and up to so many if it is small
constexpr int64_t kSmallBytes = 64 << 10;
constexpr int64_t kSmallTilePanels = 12;       // of rows that a small B is multiplied by, in a batch: there threads share products, not rows
constexpr int64_t kPackBytes = 8 << 20;        // of packed B at a time
constexpr int64_t kPackColumns = 2048;
constexpr int64_t kPackWork = 1 << 17;         // numbers that are worth packing in a chunk of their own
constexpr int64_t kChunkWork = 1 << 20;        // multiply-adds that are worth a chunk of their own
constexpr int64_t kChunks = 16;
// A product fetches the matrices of the next one if they are short streams, which a processor does not see coming, and if all of
// them are more than a cache near a core holds.
constexpr int64_t kFetchedBytes = 128 << 10, kNearBytes = 1 << 20;

template <class T> void pack(const T* b, int64_t b_step, int64_t b_col, int64_t k, int64_t n, T* out, int64_t ldb) {
  constexpr int L = Lanes<T>::n;
  using V = typename Lanes<T>::V;
  if (b_col == 1) {
    const int64_t full = n / L * L;
    const Part<T> last(n - full);
    for (int64_t i = 0; i < k; i++, b += b_step, out += ldb) {
      for (int64_t j = 0; j < full; j += L) store<T>(out + j, load<T>(b + j));
      if (full < n) store<T>(out + full, last.load(b + full));
    }
    return;
  }
  for (int64_t j = 0; j < n; j += L) {
    const int64_t columns = min64(L, n - j);
    const T* from = b + j * b_col;
    int64_t i = 0;
    if (b_step == 1 && columns == L) {
      for (; i + L <= k; i += L) {
        V r[L];
#pragma GCC unroll 16
        for (int u = 0; u < L; u++) r[u] = load<T>(from + u * b_col + i);
        transpose<T>(r);
#pragma GCC unroll 16
        for (int u = 0; u < L; u++) store<T>(out + (i + u) * ldb + j, r[u]);
      }
    }
    for (; i < k; i++) {
      T* to = out + i * ldb + j;
      for (int64_t u = 0; u < L; u++) to[u] = u < columns ? from[u * b_col + i * b_step] : T(0);
    }
  }
}

// ---- few rows times a transposed B: dot products along k

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kDotRows = 4, kDotColumns = 4;
#else
constexpr int kDotRows = 4, kDotColumns = 2;
#endif

template <class T, int R, int C> void dot_block(const Gemm<T>& g, const T* a, int64_t a_row, T* c, int64_t j) {
  constexpr int L = Lanes<T>::n;
  using V = typename Lanes<T>::V;
  V acc[R][C] = {};
  const T* b = g.b + j * g.b_col;
  const int64_t full = g.k / L * L;
  auto step = [&](auto&& get, int64_t k) __attribute__((always_inline)) {
    V y[C];
#pragma GCC unroll 4
    for (int u = 0; u < C; u++) y[u] = get(b + u * g.b_col + k);
#pragma GCC unroll 4
    for (int r = 0; r < R; r++) {
      V x = get(a + r * a_row + k);
#pragma GCC unroll 4
      for (int u = 0; u < C; u++) acc[r][u] = fma(x, y[u], acc[r][u]);
    }
  };
  for (int64_t k = 0; k < full; k += L) step([](const T* p) { return load<T>(p); }, k);
  if (full < g.k) {
    const Part<T> last(g.k - full);
    step([&](const T* p) { return last.load(p); }, full);
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; r++) {
#pragma GCC unroll 4
    for (int u = 0; u < C; u++) {
      T v = sum<T>(acc[r][u]);
      if (g.add) v = g.subtract ? c[r * g.ldc + j + u] - v : c[r * g.ldc + j + u] + v;
      if (g.bias) v += g.bias[j + u];
      if (g.relu && v < 0) v = 0;
      c[r * g.ldc + j + u] = v;
    }
  }
}

template <class T, int R> void dot_rows(const Gemm<T>& g, const T* a, int64_t a_row, T* c, int64_t begin, int64_t end) {
  int64_t j = begin;
  for (; j + kDotColumns <= end; j += kDotColumns) dot_block<T, R, kDotColumns>(g, a, a_row, c, j);
  for (; j < end; j++) dot_block<T, R, 1>(g, a, a_row, c, j);
}

template <class T> void gemm_dot(const Gemm<T>& g) {
  const T* a = g.a;
  int64_t a_row = g.a_row;
  if (g.a_step != 1) {
    T* copy = static_cast<T*>(scratch(0, g.m * g.k * static_cast<int64_t>(sizeof(T))));
    for (int64_t i = 0; i < g.m; i++) {
      for (int64_t k = 0; k < g.k; k++) copy[i * g.k + k] = a[i * a_row + k * g.a_step];
    }
    a = copy;
    a_row = g.k;
  }
  int64_t grain = max64(ceil_div(kChunkWork / 4, g.m * g.k), 1);
  grain = ceil_div(grain, kDotColumns) * kDotColumns;
  parallel_for(g.n, grain, [&, a, a_row](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < g.m; i += kDotRows) {
      const T* row = a + i * a_row;
      T* c = g.c + i * g.ldc;
      switch (min64(kDotRows, g.m - i)) {
        case 1: dot_rows<T, 1>(g, row, a_row, c, begin, end); break;
        case 2: dot_rows<T, 2>(g, row, a_row, c, begin, end); break;
        case 3: dot_rows<T, 3>(g, row, a_row, c, begin, end); break;
        default: dot_rows<T, 4>(g, row, a_row, c, begin, end);
      }
    }
  });
}

// ---- one row times a B that no cache near a core holds (float32 only: each kind takes room in the package): the rows of B are read
// along, several at a time, since tiles would jump from row to row and wait for memory

constexpr int kStreams = 8;
constexpr int64_t kStreamedBytes = 4 << 20;
constexpr int64_t kStreamedColumns = 512;  // of a chunk at least: shorter rows are no streams

// c += a · B for rows [k, k + D) and columns [begin, end) of B.
template <int D> void stream_block(const Gemm<float>& g, int64_t k, int64_t begin, int64_t end) {
  vf32 x[D];
#pragma GCC unroll 8
  for (int d = 0; d < D; d++) x[d] = broadcast(g.a[(k + d) * g.a_step]);
  const float* b = g.b + k * g.b_step;
  auto sum = [&](auto&& get, int64_t j) __attribute__((always_inline)) {
    vf32 acc = get(g.c + j);
#pragma GCC unroll 8
    for (int d = 0; d < D; d++) acc = fma(x[d], get(b + d * g.b_step + j), acc);
    return acc;
  };
  const int64_t full = begin + (end - begin) / kF32 * kF32;
  for (int64_t j = begin; j < full; j += kF32) store<float>(g.c + j, sum([](const float* p) { return load<float>(p); }, j));
  if (full < end) {
    const Part<float> last(end - full);
    last.store(g.c + full, sum([&](const float* p) { return last.load(p); }, full));
  }
}

bool is_streamed(const Gemm<float>& g) {
  return g.m == 1 && !g.add && g.b_col == 1 && g.n >= 2 * kStreamedColumns && g.k * g.n * static_cast<int64_t>(sizeof(float)) >= kStreamedBytes;
}

void gemm_streamed(const Gemm<float>& g) {
  const int64_t grain = ceil_div(max64(kStreamedColumns, ceil_div(g.n, kChunks)), kF32) * kF32;
  parallel_for(g.n, grain, [&](int64_t begin, int64_t end) {
    std::fill(g.c + begin, g.c + end, 0.0f);
    int64_t k = 0;
    for (; k + kStreams <= g.k; k += kStreams) stream_block<kStreams>(g, k, begin, end);
    for (; k < g.k; k++) stream_block<1>(g, k, begin, end);
    if (!g.bias && !g.relu) return;
    for (int64_t j = begin; j < end; j++) {
      const float v = g.bias ? g.c[j] + g.bias[j] : g.c[j];
      g.c[j] = g.relu && v < 0 ? 0 : v;
    }
  });
}

// ---- tiles

template <class T> struct Plan {
  int64_t panel;          // columns of a panel of B
  int64_t row_panels, tile_rows, tile_panels;  // how many panels of A and B make a tile, a chunk of parallel work
  int64_t block_k;
  bool pack_a, pack_b, by_rows;
};

template <class T> Plan<T> make_plan(const Gemm<T>& g) {
  constexpr int L = Lanes<T>::n;
  Plan<T> p;
  p.panel = (g.m <= kWideRows ? 4 : kTileVectors) * L;
  p.row_panels = ceil_div(g.m, kTileRows);
  const int64_t panels = ceil_div(g.n, p.panel);
  p.by_rows = g.k * g.n * static_cast<int64_t>(sizeof(T)) <= kSmallBytes;
  p.pack_b = g.b_col != 1 || (g.m > kDirectRows && panels > 1 && !(p.by_rows && g.m <= kSmallRows));
  p.pack_a = panels > 4 && g.k > 32 && !(p.by_rows && g.a_step == 1);
  p.block_k = ceil_div(g.k, p.row_panels > 1 ? ceil_div(g.k, kBlockK) : 1);
  // Wide tiles, since each copies its rows of A.
  p.tile_rows = min64(p.by_rows && g.next_a ? kSmallTilePanels : kTileRowPanels, p.row_panels);
  p.tile_panels = min64(32, panels);
  while (p.tile_rows * p.tile_panels > 1 && ceil_div(p.row_panels, p.tile_rows) * ceil_div(panels, p.tile_panels) < kChunks &&
         p.tile_rows * kTileRows * p.tile_panels * p.panel * g.k >= 2 * kChunkWork) {
    const bool wide = p.tile_panels * p.panel > p.tile_rows * kTileRows * 16;
    if (wide || p.tile_rows == 1) p.tile_panels = ceil_div(p.tile_panels, 2);
    else p.tile_rows = ceil_div(p.tile_rows, 2);
  }
  return p;
}

// Asks for a matrix part by part, into the second cache: the first is full.
template <class T> struct Fetch {
  static constexpr int64_t kLine = 64 / sizeof(T);
  const T* at;
  const T* end;
  int64_t step;
  // Of n parts; i of them have been asked for.
  Fetch(const T* data, int64_t size, int64_t i, int64_t n) : end(data + size), step(ceil_div(ceil_div(size, kLine), n) * kLine) {
    at = data + i * step;
  }
  void part() {
    for (const T* stop = std::min(at + step, end); at < stop; at += kLine) __builtin_prefetch(at, 0, 2);
  }
};

// Whether stores wait for their lines unless these were asked for: Intel's processors ask for those of all stores that are ready, and
// more requests beside those for other matrices only hold up the loads.
bool stores_wait() {
#if defined(__x86_64__)
  static const bool waits = !__builtin_cpu_is("intel");
  return waits;
#else
  return true;
#endif
}

// The tile of row panels [p0, p1) and column panels [q0, q1) for k in [k0, k1).
template <class T>
void compute(const Gemm<T>& g, const Plan<T>& plan, const T* packed, int64_t packed_column, int64_t packed_k0, int64_t packed_k,
             int64_t p0, int64_t p1, int64_t q0, int64_t q1, int64_t k0, int64_t k1) {
  constexpr int L = Lanes<T>::n;
  constexpr int64_t kPrefetchedK = 32, kLine = 64 / sizeof(T);
  const int64_t first = part_begin(g.m, plan.row_panels, p0), last = part_begin(g.m, plan.row_panels, p1);
  Run<T> run{g.a + k0 * g.a_step, 0, k1 - k0};
  Tile<T> t{};
  t.runs = &run;
  t.run_count = 1;
  t.a_row = g.a_row;
  t.a_step = g.a_step;
  t.ldc = g.ldc;
  t.add = g.add || k0 > 0;
  t.subtract = g.subtract;
  t.relu = g.relu && k1 == g.k;
  // Packed A: rows as they are but next to each other (odd multiples of a cache line apart), or, of a transposed matrix, panels.
  constexpr int64_t kRound = (kTileRows + L - 1) / L * L;
  T* packed_a = nullptr;
  if (plan.pack_a) {
    const int64_t length = k1 - k0;
    if (g.a_step == 1) {
      int64_t lines = ceil_div(length * static_cast<int64_t>(sizeof(T)), 64) | 1;
      int64_t row = lines * 64 / static_cast<int64_t>(sizeof(T));
      packed_a = static_cast<T*>(scratch(2, (last - first) * row * static_cast<int64_t>(sizeof(T))));
      for (int64_t i = first; i < last; i++) {
        std::memcpy(packed_a + (i - first) * row, g.a + i * g.a_row + k0, static_cast<size_t>(length) * sizeof(T));
      }
      t.a_row = row;
    } else {
      packed_a = static_cast<T*>(scratch(2, (p1 - p0) * length * kRound * static_cast<int64_t>(sizeof(T))));
      for (int64_t p = p0; p < p1; p++) {
        const int64_t i0 = part_begin(g.m, plan.row_panels, p), i1 = part_begin(g.m, plan.row_panels, p + 1);
        pack<T>(g.a + i0 + k0 * g.a_step, g.a_step, 1, length, i1 - i0, packed_a + (p - p0) * length * kRound, kRound);
      }
      t.a_step = kRound;
    }
  }
  // Of each row panel: where it begins, and its A.
  int64_t rows[kSmallTilePanels + 1];
  const T* from[kSmallTilePanels];
  const int64_t count = p1 - p0;
  for (int64_t p = 0; p <= count; p++) rows[p] = part_begin(g.m, plan.row_panels, p0 + p);
  for (int64_t p = 0; p < count; p++) {
    if (packed_a) from[p] = packed_a + (g.a_step == 1 ? (rows[p] - first) * t.a_row : p * (k1 - k0) * kRound);
    else from[p] = g.a + rows[p] * g.a_row + k0 * g.a_step;
  }
  // Products in turn: panel of columns by panel of columns, or, if a cache holds all of B, rows after rows.
  auto advance = [&](int64_t& p, int64_t& q) {
    if (plan.by_rows) {
      if (++q == q1) q = q0, p++;
    } else if (++p == count) {
      p = 0, q++;
    }
  };
  const int64_t products = count * (q1 - q0), before = p0 * (q1 - q0), all = plan.row_panels * (q1 - q0);
  const bool fetch_next = g.next_a && k0 == 0, fetch_c = k1 - k0 >= kPrefetchedK && (!fetch_next || stores_wait());
  Fetch<T> next_a(g.next_a, fetch_next ? g.m * g.k : 0, before, all), next_b(g.next_b, fetch_next ? g.k * g.n : 0, before, all);
  int64_t p = 0, q = q0;
  for (int64_t index = 0; index < products; index++) {
    const int64_t j = q * plan.panel;
    t.n = min64(plan.panel, g.n - j);
    if (packed) {
      t.b = packed + (j - packed_column) * packed_k + (k0 - packed_k0) * plan.panel;
      t.ldb = plan.panel;
    } else {
      t.b = g.b + k0 * g.b_step + j;
      t.ldb = g.b_step;
    }
    t.bias = g.bias && k1 == g.k ? g.bias + j : nullptr;
    run.a = from[p];
    t.c = g.c + rows[p] * g.ldc + j;
    const int rows_here = static_cast<int>(rows[p + 1] - rows[p]);
    advance(p, q);
    // What the next product writes: by then it is there.
    if (fetch_c && index + 1 < products) {
      const T* c = g.c + rows[p] * g.ldc + q * plan.panel;
      for (int64_t r = rows[p + 1] - rows[p]; r > 0; r--, c += g.ldc) {
        for (int64_t line = 0; line < plan.panel; line += kLine) __builtin_prefetch(c + line, 1);
      }
    }
    if (fetch_next) {
      next_a.part();
      next_b.part();
    }
    tile_product(t, rows_here, static_cast<int>(ceil_div(t.n, L)));
  }
}

template <class T> void gemm_tiles(const Gemm<T>& g) {
  const Plan<T> plan = make_plan(g);
  const int64_t columns = plan.pack_b ? kPackColumns / plan.panel * plan.panel : g.n;
  for (int64_t n0 = 0; n0 < g.n; n0 += columns) {
    const int64_t n1 = min64(n0 + columns, g.n), panels = ceil_div(n1 - n0, plan.panel);
    int64_t depth = g.k;
    if (plan.pack_b) {
      int64_t most = kPackBytes / static_cast<int64_t>(sizeof(T)) / (panels * plan.panel);
      depth = min64(depth, max64(most / plan.block_k, 1) * plan.block_k);
    }
    const int64_t q0 = n0 / plan.panel;
    const int64_t row_tiles = ceil_div(plan.row_panels, plan.tile_rows), column_tiles = ceil_div(panels, plan.tile_panels);
    for (int64_t k0 = 0; k0 < g.k; k0 += depth) {
      const int64_t k1 = min64(k0 + depth, g.k), length = k1 - k0;
      T* packed = nullptr;
      if (plan.pack_b) {
        packed = static_cast<T*>(scratch(1, panels * plan.panel * length * static_cast<int64_t>(sizeof(T))));
        parallel_for(panels, max64(kPackWork / (plan.panel * length), 1), [&](int64_t begin, int64_t end) {
          for (int64_t q = begin; q < end; q++) {
            const int64_t j = (q0 + q) * plan.panel;
            pack<T>(g.b + k0 * g.b_step + j * g.b_col, g.b_step, g.b_col, length, min64(plan.panel, n1 - j),
                    packed + q * plan.panel * length, plan.panel);
          }
        });
      }
      parallel_for(row_tiles * column_tiles, 1, [&](int64_t begin, int64_t end) {
        for (int64_t tile = begin; tile < end; tile++) {
          const int64_t i = tile % row_tiles, j = tile / row_tiles;
          const int64_t p0 = part_begin(plan.row_panels, row_tiles, i), p1 = part_begin(plan.row_panels, row_tiles, i + 1);
          for (int64_t k = k0; k < k1; k += plan.block_k) {
            compute(g, plan, packed, n0, k0, length, p0, p1, q0 + part_begin(panels, column_tiles, j),
                    q0 + part_begin(panels, column_tiles, j + 1), k, min64(k + plan.block_k, k1));
          }
        }
      });
    }
  }
}

template <class T> void run_gemm(const Gemm<T>& g) {
  if (g.m <= 0 || g.n <= 0) return;
  if (g.k <= 0) {
    for (int64_t i = 0; i < g.m; i++) {
      for (int64_t j = 0; j < g.n; j++) {
        T v = g.add ? g.c[i * g.ldc + j] : T(0);
        if (g.bias) v += g.bias[j];
        g.c[i * g.ldc + j] = g.relu && v < 0 ? T(0) : v;
      }
    }
    return;
  }
  if (g.n == 1 && g.m > 1 && g.ldc == 1) {
    // A column is a row times the transposed matrix.
    Gemm<T> row{1, g.m, g.k, g.b, 1, g.b_step, g.a, g.a_step, g.a_row, g.c, g.m, nullptr, false, g.add, g.subtract};
    run_gemm(row);
    for (int64_t i = 0; i < g.m; i++) {
      T v = g.bias ? g.c[i] + g.bias[0] : g.c[i];
      g.c[i] = g.relu && v < 0 ? T(0) : v;
    }
    return;
  }
  if constexpr (std::is_same_v<T, float>) {
    if (is_streamed(g)) return gemm_streamed(g);
  }
  if (g.b_col != 1 && g.m <= 2 * kDotRows) gemm_dot(g);
  else gemm_tiles(g);
}

}  // namespace

void gemm(const Gemm<float>& g) { run_gemm(g); }
void gemm(const Gemm<double>& g) { run_gemm(g); }

template <> void pack_panel<float>(const float* b, int64_t b_step, int64_t b_col, int64_t k, int64_t n, float* out, int64_t ldb) {
  pack<float>(b, b_step, b_col, k, n, out, ldb);
}
template <>
void pack_panel<double>(const double* b, int64_t b_step, int64_t b_col, int64_t k, int64_t n, double* out, int64_t ldb) {
  pack<double>(b, b_step, b_col, k, n, out, ldb);
}

namespace {

// Integers wrap, so they are multiplied as unsigned ones.
template <class T, class U> void gemm_integer(const Gemm<T>& g) {
  if (g.m <= 0 || g.n <= 0) return;
  parallel_for(g.m, max64(kChunkWork / 8 / max64(g.n * g.k, 1), 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      U* c = reinterpret_cast<U*>(g.c) + i * g.ldc;
      for (int64_t j = 0; j < g.n; j++) c[j] = g.bias ? static_cast<U>(g.bias[j]) : 0;
      for (int64_t k = 0; k < g.k; k++) {
        const U x = static_cast<U>(g.a[i * g.a_row + k * g.a_step]);
        const U* b = reinterpret_cast<const U*>(g.b) + k * g.b_step;
        if (g.b_col == 1) {
          for (int64_t j = 0; j < g.n; j++) c[j] += x * b[j];
        } else {
          for (int64_t j = 0; j < g.n; j++) c[j] += x * b[j * g.b_col];
        }
      }
      if (g.relu) {
        for (int64_t j = 0; j < g.n; j++) c[j] = static_cast<T>(c[j]) < 0 ? 0 : c[j];
      }
    }
  });
}
void gemm(const Gemm<int32_t>& g) { gemm_integer<int32_t, uint32_t>(g); }
void gemm(const Gemm<int64_t>& g) { gemm_integer<int64_t, uint64_t>(g); }

template <class T>
void matmul_typed(const Tensor& a, const Tensor& b, const Tensor* bias, const Tensor& y, bool ta, bool tb, bool relu) {
  Gemm<T> g{};
  g.m = y.dim(-2);
  g.n = y.dim(-1);
  g.k = a.dim(ta ? -2 : -1);
  g.a_row = ta ? 1 : g.k;
  g.a_step = ta ? g.m : 1;
  g.b_step = tb ? 1 : g.n;
  g.b_col = tb ? g.k : 1;
  g.ldc = g.n;
  g.bias = bias ? bias->as<T>() : nullptr;
  g.relu = relu;
  const T* a0 = a.as<T>();
  const T* b0 = b.as<T>();
  T* y0 = y.as<T>();

  // Batch dimensions; an axis of size 1 is read again and again.
  const int batch_rank = y.rank - 2;
  int64_t a_stride[kMaxRank] = {}, b_stride[kMaxRank] = {}, batch = 1;
  auto strides = [&](const Tensor& t, int64_t* stride, int64_t size) {
    for (int i = t.rank - 3; i >= 0; i--) {
      if (t.dims[i] != 1) stride[i + y.rank - t.rank] = size;
      size *= t.dims[i];
    }
    return size;
  };
  const int64_t a_all = strides(a, a_stride, g.m * g.k), b_all = strides(b, b_stride, g.k * g.n);
  for (int i = 0; i < batch_rank; i++) batch *= y.dims[i];
  if (batch > 1 && b_all == g.k * g.n && a_all == batch * g.m * g.k && !ta) {
    g.m *= batch;  // one matrix against all the rows
    batch = 1;
  }
  auto place = [&](int64_t index, const T*& at_a, const T*& at_b) {
    at_a = a0;
    at_b = b0;
    for (int i = batch_rank - 1; i >= 0; i--) {
      int64_t x = index % y.dims[i];
      index /= y.dims[i];
      at_a += x * a_stride[i];
      at_b += x * b_stride[i];
    }
  };
  const int64_t bytes = (g.m + g.n) * g.k * static_cast<int64_t>(sizeof(T));
  const bool fetch = batch > 1 && bytes <= kFetchedBytes && batch * (bytes + g.m * g.n * static_cast<int64_t>(sizeof(T))) > kNearBytes;
  auto some = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      Gemm<T> item = g;
      place(i, item.a, item.b);
      if (fetch && i + 1 < end) place(i + 1, item.next_a, item.next_b);
      item.c = y0 + i * g.m * g.n;
      gemm(item);
    }
  };
  const int64_t work = max64(g.m * g.n * max64(g.k, 1), 1);
  if (batch > 1 && (batch >= kChunks || work < 2 * kChunkWork)) {
    parallel_for(batch, max64(max64(kChunkWork / work, few_chunks(batch)), 1), some);
  } else {
    some(0, batch);
  }
}

void matmul(Args& args) {
  Tensor a = args.tensor(), b = args.tensor(), bias{};
  const bool with_bias = args.inputs() > 2;
  if (with_bias) bias = args.tensor();
  Tensor y = args.tensor();
  const bool ta = args.flag(), tb = args.flag(), relu = args.integer() == 1;
  if (a.rank < 2 || b.rank < 2 || y.rank < 2 || a.rank > y.rank || b.rank > y.rank) {
    fail(Code::internal, "MatMul of ranks %d and %d into %d", a.rank, b.rank, y.rank);
  }
  bool fits = a.dim(ta ? -1 : -2) == y.dim(-2) && b.dim(tb ? -2 : -1) == y.dim(-1) &&
              a.dim(ta ? -2 : -1) == b.dim(tb ? -1 : -2) && (!with_bias || bias.size == y.dim(-1)) && a.dtype == y.dtype &&
              b.dtype == y.dtype;
  for (int i = 3; i <= y.rank; i++) {
    fits = fits && (i > a.rank || a.dim(-i) == 1 || a.dim(-i) == y.dim(-i)) &&
           (i > b.rank || b.dim(-i) == 1 || b.dim(-i) == y.dim(-i));
  }
  if (!fits) fail(Code::internal, "MatMul: sizes do not fit");
  if (y.size == 0) return;
  const Tensor* with = with_bias ? &bias : nullptr;
  switch (y.dtype) {
    case DType::f32: return matmul_typed<float>(a, b, with, y, ta, tb, relu);
    case DType::f64: return matmul_typed<double>(a, b, with, y, ta, tb, relu);
    case DType::bf16: return matmul_typed<BFloat>(a, b, with, y, ta, tb, relu);
    case DType::i32: return matmul_typed<int32_t>(a, b, with, y, ta, tb, relu);
    case DType::i64: return matmul_typed<int64_t>(a, b, with, y, ta, tb, relu);
    default: fail(Code::unimplemented, "MatMul of this dtype");
  }
}

}  // namespace

void register_gemm(Registry& r) { r.add("MatMul", matmul); }
EAGRE_END
