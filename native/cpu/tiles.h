// Tile registers (Intel AMX): products of 16 rows of 32 values of bfloat16 and 32 rows of 16, summed in float32. Matrices are packed into
// tiles first, with zeros beyond their ends, so every product is of whole tiles.
#pragma once
#include "../runtime/registry.h"
#include "gemm.h"
#include "gemm_micro.h"

EAGRE_BEGIN
namespace {
[[noreturn, maybe_unused]] void refuse_tiles() { fail(Code::unimplemented, "bfloat16 without tile registers"); }
}  // namespace
EAGRE_END

#if defined(__AVX512F__) && defined(EAGRE_AMX)
#define EAGRE_TILES __attribute__((target("amx-tile,amx-bf16")))

EAGRE_BEGIN
namespace {

constexpr int64_t kSide = 16, kTileDepth = 32;          // rows or columns of a tile, and how much of k it has
constexpr int64_t kTile = kSide * kTileDepth;           // its values: 1 KB
constexpr int64_t kPair = 2 * kSide;                    // four products at a time, of two tiles each way
constexpr int64_t kChunkTiles = 512, kChunks = 16;      // tile products that are worth a chunk, and how many chunks are enough

struct alignas(64) Configuration {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(Configuration) == 64, "what the processor reads");

// The tiles of the calling thread, as long as this lives: threads that hold them are slower to switch.
struct Tiles {
  EAGRE_TILES Tiles() {
    static constexpr Configuration whole;
    _tile_loadconfig(&whole);
  }
  EAGRE_TILES ~Tiles() { _tile_release(); }
};

// A matrix of 16-bit values, element (i, k) at data[i · row + k · step]; one of both is 1.
struct Source {
  const uint16_t* data;
  int64_t row, step;
};

inline vi32 masked(const uint16_t* p, int64_t count) {
  const __mmask32 mask = count >= 32 ? ~0u : (1u << count) - 1;
  return (vi32)_mm512_maskz_loadu_epi16(mask, p);
}
inline vi32 wide(const uint16_t* p, int64_t count) {
  const __mmask16 mask = static_cast<__mmask16>(count >= 16 ? 0xffff : (1u << count) - 1);
  return (vi32)_mm512_maskz_cvtepu16_epi32(0xffff, _mm256_maskz_loadu_epi16(mask, p));
}

// One tile: `count` of 16 places i from 0 on, `depth` of 32 places k. `by_pairs` is the form of B, where a row has two k of all i.
void pack_tile(const Source& s, int64_t count, int64_t depth, bool by_pairs, uint16_t* out) {
  vi32 rows[kSide];
  const bool along = s.step == 1;
  if (along) {
    for (int64_t i = 0; i < kSide; i++) rows[i] = i < count ? masked(s.data + i * s.row, depth) : vi32{};
  } else {
    for (int64_t p = 0; p < kSide; p++) {
      const uint16_t* at = s.data + 2 * p * s.step;
      rows[p] = 2 * p < depth ? wide(at, count) : vi32{};
      if (2 * p + 1 < depth) rows[p] |= wide(at + s.step, count) << 16;
    }
  }
  if (along == by_pairs) transpose<float>(reinterpret_cast<vf32*>(rows));
  for (int64_t i = 0; i < kSide; i++) _mm512_store_si512(out + i * kTileDepth, (__m512i)rows[i]);
}

// Tiles along k; without any k a product is of zeros.
inline int64_t steps_of(int64_t depth) { return max64(ceil_div(depth, kTileDepth), 1); }

// Packs tiles [0, tiles) of 16 places i each, all of `depth`; i has `size` places.
void pack_tiles(const Source& s, int64_t size, int64_t depth, bool by_pairs, uint16_t* out) {
  const int64_t tiles = ceil_div(size, kSide), steps = steps_of(depth);
  parallel_for(tiles, max64(kChunkTiles / steps, 1), [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; tile++) {
      for (int64_t t = 0; t < steps; t++) {
        const Source part{s.data + tile * kSide * s.row + t * kTileDepth * s.step, s.row, s.step};
        pack_tile(part, min64(kSide, size - tile * kSide), min64(kTileDepth, depth - t * kTileDepth), by_pairs,
                  out + (tile * steps + t) * kTile);
      }
    }
  });
}

// sums[2 · r + c] (+)= tiles of A [a, a + rows) times those of B [b, b + columns), `steps` along k.
template <int R, int C> EAGRE_TILES void multiply(const uint16_t* a, const uint16_t* b, int64_t steps, float* sums, bool add) {
  const int64_t next = steps * kTile;
  constexpr int64_t kSum = kSide * kSide;
  if (add) {
    _tile_loadd(0, sums, 64);
    if constexpr (C == 2) _tile_loadd(1, sums + kSum, 64);
    if constexpr (R == 2) _tile_loadd(2, sums + 2 * kSum, 64);
    if constexpr (R == 2 && C == 2) _tile_loadd(3, sums + 3 * kSum, 64);
  } else {
    _tile_zero(0);
    if constexpr (C == 2) _tile_zero(1);
    if constexpr (R == 2) _tile_zero(2);
    if constexpr (R == 2 && C == 2) _tile_zero(3);
  }
  for (int64_t t = 0; t < steps; t++, a += kTile, b += kTile) {
    _tile_loadd(4, a, 64);
    _tile_loadd(6, b, 64);
    if constexpr (R == 2) _tile_loadd(5, a + next, 64);
    if constexpr (C == 2) _tile_loadd(7, b + next, 64);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (C == 2) _tile_dpbf16ps(1, 4, 7);
    if constexpr (R == 2) _tile_dpbf16ps(2, 5, 6);
    if constexpr (R == 2 && C == 2) _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, sums, 64);
  if constexpr (C == 2) _tile_stored(1, sums + kSum, 64);
  if constexpr (R == 2) _tile_stored(2, sums + 2 * kSum, 64);
  if constexpr (R == 2 && C == 2) _tile_stored(3, sums + 3 * kSum, 64);
}

// As from_float of half.h, the bits in the low half of each lane.
inline vi32 rounded(vf32 x) {
  const vu32 bits = (vu32)x, high = bits >> 16, finite = (bits + 0x7fff + (high & 1)) >> 16;
  return (vi32)_mm512_mask_mov_epi32((__m512i)finite, _mm512_cmp_ps_mask((__m512)x, (__m512)x, _CMP_UNORD_Q), (__m512i)(high | 0x40));
}

// Rounds a tile of sums into the columns [j, j + columns) of rows that begin anywhere, adds the bias and rounds again, as separate calls would.
void finish(const float* sums, int64_t rows, int64_t columns, const BFloat* bias, bool relu, uint16_t* const* out, int64_t j) {
  const __mmask16 mask = static_cast<__mmask16>((1u << columns) - 1);
  const vi32 more = bias ? wide(reinterpret_cast<const uint16_t*>(bias) + j, columns) << 16 : vi32{};
  for (int64_t r = 0; r < rows; r++) {
    vi32 y = rounded((vf32)_mm512_load_ps(sums + r * kSide)) << 16;
    if (bias) y = rounded((vf32)y + (vf32)more) << 16;
    if (relu) y = (vi32)_mm512_maskz_mov_epi32(_mm512_cmp_ps_mask((__m512)y, _mm512_setzero_ps(), _CMP_NLT_UQ), (__m512i)y);
    _mm256_mask_storeu_epi16(out[r] + j, mask, _mm512_maskz_cvtepi32_epi16(0xffff, (__m512i)((vu32)y >> 16)));
  }
}

// sums[4] (+)= two tiles of rows times two of columns; of the second ones there may be none.
inline void multiply(const uint16_t* a, const uint16_t* b, int64_t steps, float* sums, bool add, bool two_rows, bool two_columns) {
  if (two_rows && two_columns) multiply<2, 2>(a, b, steps, sums, add);
  else if (two_rows) multiply<2, 1>(a, b, steps, sums, add);
  else if (two_columns) multiply<1, 2>(a, b, steps, sums, add);
  else multiply<1, 1>(a, b, steps, sums, add);
}

// The four tiles of sums at rows from i on and columns from j on, of `rows` and `columns` in all; out[0] is row i.
inline void finish_four(const float* sums, int64_t i, int64_t j, int64_t rows, int64_t columns, const BFloat* bias, bool relu, uint16_t* const* out) {
  for (int64_t u = 0; u < 4; u++) {
    const int64_t di = u / 2 * kSide, dj = u % 2 * kSide;
    if (i + di >= rows || j + dj >= columns) continue;
    finish(sums + u * kSide * kSide, min64(kSide, rows - i - di), min64(kSide, columns - j - dj), bias, relu, out + di, j + dj);
  }
}

}  // namespace
EAGRE_END
#endif
