// MatMul of bfloat16 by tile registers.
#include "tiles.h"

EAGRE_BEGIN
#if defined(__AVX512F__) && defined(EAGRE_AMX)
namespace {

constexpr int64_t kDepth = 4096;  // k at a time; sums wait in float32 between
constexpr int64_t kPacked = 4 << 20;  // values of each matrix that are packed at a time
constexpr int64_t kNear = 256 << 10;  // of A in a chunk: half of a cache near a core

}  // namespace

void gemm(const Gemm<BFloat>& g) {
  if (!has_tiles()) refuse_tiles();
  const int64_t depth = max64(min64(g.k, kDepth), 1), parts = max64(ceil_div(g.k, depth), 1);
  const int64_t most = max64(kPacked / (steps_of(depth) * kTileDepth) / kPair, 1) * kPair;
  const Source a{reinterpret_cast<const uint16_t*>(g.a), g.a_row, g.a_step}, b{reinterpret_cast<const uint16_t*>(g.b), g.b_col, g.b_step};
  for (int64_t j0 = 0; j0 < g.n; j0 += most) {
    const int64_t columns = min64(most, g.n - j0), column_pairs = ceil_div(columns, kPair);
    for (int64_t i0 = 0; i0 < g.m; i0 += most) {
      const int64_t rows = min64(most, g.m - i0), row_pairs = ceil_div(rows, kPair);
      float* waiting = nullptr;
      if (parts > 1) waiting = static_cast<float*>(scratch(2, row_pairs * column_pairs * kPair * kPair * static_cast<int64_t>(sizeof(float))));
      for (int64_t part = 0; part < parts; part++) {
        const int64_t k0 = part * depth, length = min64(depth, g.k - k0), steps = steps_of(length);
        auto* packed_a = static_cast<uint16_t*>(scratch(0, ceil_div(rows, kSide) * steps * kTile * 2));
        auto* packed_b = static_cast<uint16_t*>(scratch(1, ceil_div(columns, kSide) * steps * kTile * 2));
        // B stays for all rows.
        if (i0 == 0 || parts > 1) pack_tiles({b.data + j0 * b.row + k0 * b.step, b.row, b.step}, columns, length, true, packed_b);
        pack_tiles({a.data + i0 * a.row + k0 * a.step, a.row, a.step}, rows, length, false, packed_a);
        int64_t tall = min64(max64(kNear / (kPair * steps * kTileDepth), 1), row_pairs), broad = column_pairs;
        while (tall * broad > 1 && ceil_div(row_pairs, tall) * ceil_div(column_pairs, broad) < kChunks && tall * broad * 4 * steps >= 2 * kChunkTiles) {
          if (broad >= tall) broad = ceil_div(broad, 2);
          else tall = ceil_div(tall, 2);
        }
        const int64_t down = ceil_div(row_pairs, tall), over = ceil_div(column_pairs, broad);
        parallel_for(down * over, 1, [&](int64_t begin, int64_t end) {
          const Tiles tiles;
          alignas(64) float own[kPair * kPair];
          for (int64_t chunk = begin; chunk < end; chunk++) {
            const int64_t r0 = chunk % down * tall, r1 = min64(r0 + tall, row_pairs), c0 = chunk / down * broad, c1 = min64(c0 + broad, column_pairs);
            for (int64_t c = c0; c < c1; c++) {
              for (int64_t r = r0; r < r1; r++) {
                const int64_t i = r * kPair, j = c * kPair;
                const bool two_rows = rows - i > kSide, two_columns = columns - j > kSide;
                float* sums = waiting ? waiting + (r * column_pairs + c) * kPair * kPair : own;
                const uint16_t* x = packed_a + 2 * r * steps * kTile;
                const uint16_t* y = packed_b + 2 * c * steps * kTile;
                multiply(x, y, steps, sums, part > 0, two_rows, two_columns);
                if (part + 1 < parts) continue;
                uint16_t* out[kPair];
                for (int64_t u = 0; u < kPair; u++) out[u] = reinterpret_cast<uint16_t*>(g.c) + (i0 + i + u) * g.ldc + j0;
                finish_four(sums, i, j, rows, columns, g.bias ? g.bias + j0 : nullptr, g.relu, out);
              }
            }
          }
        });
      }
    }
  }
}

#else
void gemm(const Gemm<BFloat>&) { refuse_tiles(); }
#endif
EAGRE_END
