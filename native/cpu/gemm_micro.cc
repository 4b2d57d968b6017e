#include "gemm_micro.h"

#include "../wasm/relaxed.h"

EAGRE_BEGIN
namespace {

template <class T> using Micro = void (*)(const Tile<T>&);

template <bool kPartial, class T, int R, int N>
inline __attribute__((always_inline)) void accumulate(const Tile<T>& t, const Part<T>& last, typename Lanes<T>::V (&acc)[R][N]) {
  using V = typename Lanes<T>::V;
  constexpr int L = Lanes<T>::n, kGroups = (R + 2) / 3;
  const int64_t row = t.a_row * static_cast<int64_t>(sizeof(T)), step = t.a_step * static_cast<int64_t>(sizeof(T));
  const int64_t ldb = t.ldb;
  for (int64_t i = 0; i < t.run_count; i++) {
    const Run<T>& run = t.runs[i];
    // One pointer for three rows: base, base + row, base + 2 row are all addresses of one instruction.
    const char* a[kGroups];
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; g++) a[g] = reinterpret_cast<const char*>(run.a + t.a_offset) + 3 * g * row;
    const T* b = t.b + run.k0 * ldb;
    for (int64_t k = run.length; k > 0; k--) {
      V bv[N];
#pragma GCC unroll 4
      for (int j = 0; j < N; j++) bv[j] = kPartial && j == N - 1 ? last.load(b + j * L) : load<T>(b + j * L);
#pragma GCC unroll 16
      for (int r = 0; r < R; r++) {
        V x = broadcast(*reinterpret_cast<const T*>(a[r / 3] + r % 3 * row));
#pragma GCC unroll 4
        for (int j = 0; j < N; j++) acc[r][j] = fma(x, bv[j], acc[r][j]);
      }
#pragma GCC unroll 8
      for (int g = 0; g < kGroups; g++) a[g] += step;
      b += ldb;
    }
  }
}

template <bool kPartial, class T, int R, int N>
inline __attribute__((always_inline)) void finish(const Tile<T>& t, const Part<T>& last, typename Lanes<T>::V (&acc)[R][N]) {
  using V = typename Lanes<T>::V;
  constexpr int L = Lanes<T>::n;
#pragma GCC unroll 4
  for (int j = 0; j < N; j++) {
    const bool part = kPartial && j == N - 1;
    if (t.add) {
#pragma GCC unroll 16
      for (int r = 0; r < R; r++) {
        const T* c = t.c + r * t.ldc + j * L;
        const V held = part ? last.load(c) : load<T>(c);
        acc[r][j] = t.subtract ? held - acc[r][j] : held + acc[r][j];
      }
    }
    if (t.bias) {
      V bias = part ? last.load(t.bias + j * L) : load<T>(t.bias + j * L);
#pragma GCC unroll 16
      for (int r = 0; r < R; r++) acc[r][j] += bias;
    }
    if (t.relu) {
#pragma GCC unroll 16
      for (int r = 0; r < R; r++) acc[r][j] = acc[r][j] < V{} ? V{} : acc[r][j];  // keeps NaN
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; r++) {
      T* c = t.c + r * t.ldc + j * L;
      if (part) last.store(c, acc[r][j]);
      else store<T>(c, acc[r][j]);
    }
  }
}

template <class T, int R, int N> void micro(const Tile<T>& t) {
  typename Lanes<T>::V acc[R][N] = {};
  const int64_t tail = t.n - (N - 1) * Lanes<T>::n;
  const Part<T> last(tail);
  if (tail == Lanes<T>::n) {
    accumulate<false, T, R, N>(t, last, acc);
    finish<false, T, R, N>(t, last, acc);
  } else {
    accumulate<true, T, R, N>(t, last, acc);
    finish<true, T, R, N>(t, last, acc);
  }
}

template <class T, int R> constexpr Micro<T> pick(int rows, int vectors) {
  if (rows == R) {
    if constexpr (R <= kWideRows) {
      if (vectors > 2) return vectors == 3 ? micro<T, R, 3> : micro<T, R, 4>;
    }
    return vectors == 1 ? micro<T, R, 1> : micro<T, R, 2>;
  }
  if constexpr (R > 1) return pick<T, R - 1>(rows, vectors);
  return nullptr;
}

template <class T, int R, int N> void narrow(const Tile<T>& t) {
  using V = typename Lanes<T>::V;
  constexpr int L = Lanes<T>::n;
  V acc[R][N] = {};
  for (int64_t i = 0; i < t.run_count; i++) {
    const Run<T>& run = t.runs[i];
    const T* a = run.a + t.a_offset;
    const T* b = t.b + run.k0;
    auto step = [&](auto&& get) __attribute__((always_inline)) {
      V y[N];
#pragma GCC unroll 4
      for (int j = 0; j < N; j++) y[j] = get(b + j * t.ldb);
#pragma GCC unroll 8
      for (int r = 0; r < R; r++) {
        V x = get(a + r * t.a_row);
#pragma GCC unroll 4
        for (int j = 0; j < N; j++) acc[r][j] = fma(x, y[j], acc[r][j]);
      }
    };
    int64_t k = run.length;
    for (; k >= L; k -= L, a += L, b += L) step([](const T* p) { return load<T>(p); });
    if (k > 0) {
      const Part<T> last(k);
      step([&](const T* p) { return last.load(p); });
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; r++) {
#pragma GCC unroll 4
    for (int j = 0; j < N; j++) {
      T* c = t.c + r * t.ldc + j;
      T v = sum<T>(acc[r][j]);
      if (t.add) v = t.subtract ? *c - v : *c + v;
      if (t.bias) v += t.bias[j];
      *c = t.relu && v < 0 ? T(0) : v;
    }
  }
}

template <class T, int R, int N> constexpr Micro<T> pick_narrow(int rows, int columns) {
  if (rows == R && columns == N) return narrow<T, R, N>;
  if constexpr (N > 1) {
    if (columns < N) return pick_narrow<T, R, N - 1>(rows, columns);
  }
  if constexpr (R > 1) return pick_narrow<T, R - 1, N>(rows, columns);
  return nullptr;
}

// Constants: nothing here may run at load, on a processor that may lack the instructions.
template <class T> struct Table {
  Micro<T> at[kTileRows][4] = {}, narrow_at[kNarrowRows][kNarrowColumns] = {};
  constexpr Table() {
    for (int r = 0; r < kTileRows; r++) {
      for (int v = 0; v < 4; v++) at[r][v] = v < 2 || r < kWideRows ? pick<T, kTileRows>(r + 1, v + 1) : nullptr;
    }
    for (int r = 0; r < kNarrowRows; r++) {
      for (int c = 0; c < kNarrowColumns; c++) narrow_at[r][c] = pick_narrow<T, kNarrowRows, kNarrowColumns>(r + 1, c + 1);
    }
  }
};
constexpr Table<float> table_f32;
constexpr Table<double> table_f64;

}  // namespace

void tile_product(const Tile<float>& t, int rows, int vectors) {
  if (relaxed_product) relaxed_product(Product::f32, &t, rows, vectors);
  else table_f32.at[rows - 1][vectors - 1](t);
}
void tile_product(const Tile<double>& t, int rows, int vectors) {
  if (relaxed_product) relaxed_product(Product::f64, &t, rows, vectors);
  else table_f64.at[rows - 1][vectors - 1](t);
}
void narrow_product(const Tile<float>& t, int rows, int columns) {
  if (relaxed_product) relaxed_product(Product::narrow_f32, &t, rows, columns);
  else table_f32.narrow_at[rows - 1][columns - 1](t);
}
void narrow_product(const Tile<double>& t, int rows, int columns) {
  if (relaxed_product) relaxed_product(Product::narrow_f64, &t, rows, columns);
  else table_f64.narrow_at[rows - 1][columns - 1](t);
}

EAGRE_END
