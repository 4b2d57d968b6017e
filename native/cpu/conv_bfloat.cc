// Convolutions of bfloat16 by tile registers: the patches of 32 pixels at a time are laid out next to each other, packed, and multiplied by
// a filter that is packed once. So patches of a whole image are never in memory.
#include "conv.h"
#include "half.h"
#include "tiles.h"

#if defined(__AVX512F__) && defined(EAGRE_AMX)
EAGRE_BEGIN
namespace {

constexpr int64_t kBlockValues = 256 << 10;       // of patches, and of dy, that are packed at a time
constexpr int64_t kLeastPixels = 64, kMostPixels = 512;
constexpr int64_t kParts = 16, kPartBytes = 16 << 20;  // of sums that are added in order, and of all of these

inline const uint16_t* bits_of(const BFloat* p) { return reinterpret_cast<const uint16_t*>(p); }

struct Pixel {
  int64_t image, y, x;
};
// The outputs of a convolution one after the other.
Pixel pixel_at(const Convolution<BFloat>& v, int64_t i) {
  return {i / v.w.count / v.h.count, i / v.w.count % v.h.count, i % v.w.count};
}
void advance(const Convolution<BFloat>& v, Pixel& p) {
  if (++p.x < v.w.count) return;
  p.x = 0;
  if (++p.y < v.h.count) return;
  p.y = 0;
  p.image++;
}

// n values, or zeros, at k of a row that lies in one piece, or in tiles: calls of the C library take longer than most of these copies.
inline void put(uint16_t* to, const uint16_t* from, int64_t n) {
  const __mmask32 mask = n >= 32 ? ~0u : (1u << n) - 1;
  _mm512_mask_storeu_epi16(to, mask, from ? _mm512_maskz_loadu_epi16(mask, from) : _mm512_setzero_si512());
}
struct InOnePiece {
  uint16_t* row;
  void operator()(int64_t k, const uint16_t* from, int64_t n) const {
    for (; n > 0; n -= 32, k += 32) {
      put(row + k, from, n);
      if (from) from += 32;
    }
  }
};
struct InTiles {
  uint16_t* row;  // of the first tile
  void operator()(int64_t k, const uint16_t* from, int64_t n) const {
    while (n > 0) {
      const int64_t within = k % kTileDepth, part = min64(n, kTileDepth - within);
      put(row + k / kTileDepth * kTile + within, from, part);
      n -= part;
      k += part;
      if (from) from += part;
    }
  }
};

// What the taps of an output read, zeros outside of the image.
template <class Put> inline void patch(const Convolution<BFloat>& v, const Pixel& p, const Put& put) {
  const Axis &H = v.h, &W = v.w;
  const int64_t c = v.in_channels, x0 = p.x * W.in_step + W.in0;
  for (int64_t th = 0, k = 0; th < H.taps; th++, k += W.taps * c) {
    const int64_t y = p.y * H.in_step + H.in0 + th * H.tap_in;
    if (y < 0 || y >= H.in) {
      put(k, nullptr, W.taps * c);
      continue;
    }
    const uint16_t* row = bits_of(v.in) + (p.image * H.in + y) * W.in * c;
    if (W.tap_in == 1) {
      const int64_t first = min64(max64(-x0, 0), W.taps), last = max64(min64(W.taps, W.in - x0), first);
      put(k, nullptr, first * c);
      put(k + first * c, row + (x0 + first) * c, (last - first) * c);
      put(k + last * c, nullptr, (W.taps - last) * c);
      continue;
    }
    for (int64_t tw = 0; tw < W.taps; tw++) {
      const int64_t x = x0 + tw * W.tap_in;
      put(k + tw * c, x < 0 || x >= W.in ? nullptr : row + x * c, c);
    }
  }
}

}  // namespace

void tile_convolution(const Convolution<BFloat>& v, const BFloat* filter, int64_t filter_w, bool backward) {
  const Axis &H = v.h, &W = v.w;
  const int64_t c = v.in_channels, depth = H.taps * W.taps * c, columns = v.out_channels, total = v.images * H.count * W.count;
  if (total == 0 || columns == 0) return;
  const int64_t steps = steps_of(depth), column_pairs = ceil_div(columns, kPair);
  auto* packed = static_cast<uint16_t*>(scratch(1, 2 * column_pairs * steps * kTile * 2));
  if (!backward) {
    pack_tiles({bits_of(filter), 1, columns}, columns, depth, true, packed);
  } else {
    // Channels of the filter are columns here, and its taps are turned around.
    auto* turned = static_cast<uint16_t*>(scratch(0, columns * depth * 2));
    uint16_t* to = turned;
    for (int64_t j = 0; j < columns; j++) {
      for (int64_t th = 0; th < H.taps; th++) {
        for (int64_t tw = 0; tw < W.taps; tw++, to += c) {
          const int64_t tap = (H.tap0 + th * H.tap_step) * filter_w + W.tap0 + tw * W.tap_step;
          std::memcpy(to, bits_of(filter) + (tap * columns + j) * c, static_cast<size_t>(c) * 2);
        }
      }
    }
    pack_tiles({turned, depth, 1}, columns, depth, true, packed);
  }
  const int64_t pairs = ceil_div(total, kPair);
  const int64_t grain = max64(max64(kChunkTiles / (steps * (4 * column_pairs + kSide)), few_chunks(pairs)), 1);
  parallel_for(pairs, grain, [&](int64_t begin, int64_t end) {
    const Tiles tiles;
    auto* a = static_cast<uint16_t*>(scratch(3, 2 * steps * kTile * 2));
    // Beyond the taps zeros stay.
    std::memset(a, 0, static_cast<size_t>(2 * steps * kTile) * 2);
    alignas(64) float sums[kPair * kPair];
    uint16_t* out[kPair];
    Pixel p = pixel_at(v, begin * kPair);
    for (int64_t pair = begin; pair < end; pair++) {
      const int64_t rows = min64(kPair, total - pair * kPair);
      for (int64_t u = 0; u < rows; u++, advance(v, p)) {
        patch(v, p, InTiles{a + u / kSide * steps * kTile + u % kSide * kTileDepth});
        out[u] = reinterpret_cast<uint16_t*>(v.out) +
                 ((p.image * v.out_h + H.out0 + p.y * H.out_step) * v.out_w + W.out0 + p.x * W.out_step) * columns;
      }
      for (int64_t q = 0; q < column_pairs; q++) {
        multiply(a, packed + 2 * q * steps * kTile, steps, sums, false, rows > kSide, columns - q * kPair > kSide);
        finish_four(sums, 0, q * kPair, rows, columns, v.bias, v.relu, out);
      }
    }
  });
}

// The transposed gradient: dy of 16 outputs by pixels, times patches, pixels by places of the filter. Neither is transposed in memory but dy.
void tile_filter_gradient(const Convolution<BFloat>& v, const BFloat* dy, BFloat* df) {
  const int64_t depth = v.h.taps * v.w.taps * v.in_channels, outputs = v.out_channels, total = v.images * v.h.count * v.w.count;
  if (total == 0) {
    std::memset(df, 0, static_cast<size_t>(depth * outputs) * sizeof(BFloat));
    return;
  }
  const int64_t out_pairs = ceil_div(outputs, kPair), place_pairs = ceil_div(depth, kPair), row = place_pairs * kPair;
  const int64_t block = min64(max64(kBlockValues / max64(depth, outputs) / kTileDepth * kTileDepth, kLeastPixels), kMostPixels);
  const int64_t size = out_pairs * place_pairs * kPair * kPair, bytes = size * static_cast<int64_t>(sizeof(float));
  const int64_t parts = max64(min64(min64(kParts, ceil_div(total, block)), kPartBytes / max64(bytes, 1)), 1);
  auto* sums = static_cast<float*>(scratch(1, parts * bytes));
  parallel_for(parts, 1, [&](int64_t part, int64_t) {
    const Tiles tiles;
    auto* patches = static_cast<uint16_t*>(scratch(2, kTileDepth * row * 2));
    const int64_t most = block / kTileDepth * kTile;
    auto* a = static_cast<uint16_t*>(scratch(3, 2 * (out_pairs + place_pairs) * most * 2));
    uint16_t* b = a + 2 * out_pairs * most;
    float* own = sums + part * size;
    const int64_t first = part_begin(total, parts, part), last = part_begin(total, parts, part + 1);
    Pixel p = pixel_at(v, first);
    for (int64_t from = first; from < last; from += block) {
      const int64_t pixels = min64(block, last - from), steps = steps_of(pixels);
      for (int64_t t = 0; t < steps; t++) {
        const int64_t count = min64(kTileDepth, pixels - t * kTileDepth);
        for (int64_t o = 0; o * kSide < outputs; o++) {
          pack_tile({bits_of(dy) + (from + t * kTileDepth) * outputs + o * kSide, 1, outputs}, min64(kSide, outputs - o * kSide), count, false,
                    a + (o * steps + t) * kTile);
        }
        for (int64_t u = 0; u < count; u++, advance(v, p)) patch(v, p, InOnePiece{patches + u * row});
        for (int64_t i = 0; i * kSide < depth; i++) {
          pack_tile({patches + i * kSide, 1, row}, min64(kSide, depth - i * kSide), count, true, b + (i * steps + t) * kTile);
        }
      }
      for (int64_t o = 0; o < out_pairs; o++) {
        for (int64_t i = 0; i < place_pairs; i++) {
          multiply(a + 2 * o * steps * kTile, b + 2 * i * steps * kTile, steps, own + (o * place_pairs + i) * kPair * kPair, from > first,
                   outputs - o * kPair > kSide, depth - i * kPair > kSide);
        }
      }
    }
  });
  parallel_for(depth, max64((1 << 18) / max64(outputs * parts, 1), 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      for (int64_t o = 0; o < outputs; o++) {
        const int64_t four = (o / kPair * place_pairs + i / kPair) * kPair * kPair;
        const int64_t at = four + (o / kSide % 2 * 2 + i / kSide % 2) * kSide * kSide + o % kSide * kSide + i % kSide;
        float sum = 0;
        for (int64_t part = 0; part < parts; part++) sum += sums[part * size + at];
        df[i * outputs + o] = from_float<BFloat>(sum);
      }
    }
  });
}
EAGRE_END
#else
EAGRE_BEGIN
void tile_convolution(const Convolution<BFloat>&, const BFloat*, int64_t, bool) { refuse_tiles(); }
void tile_filter_gradient(const Convolution<BFloat>&, const BFloat*, BFloat*) { refuse_tiles(); }
EAGRE_END
#endif
