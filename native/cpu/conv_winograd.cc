// Convolutions of 3×3 taps by minimal filtering, F(2×2, 3×3): 4×4 inputs and the taps are brought into another basis, where 16 products
// instead of 36 make 2×2 outputs. Each of the 16 is a matrix product over all tiles. S. Winograd (1980); A. Lavin and S. Gray, "Fast
// Algorithms for Convolutional Neural Networks" (2015). The gradient of the filter turns the same products around. Sums of whole numbers stay
// exact: the bases hold 0, ±1 and ±1/2 alone.
#include <atomic>

#include "conv.h"
#include "gemm_micro.h"

EAGRE_BEGIN
namespace {

constexpr int kBasis = 16;
constexpr int64_t kLeastChannels = 32;   // of fewer, the changes of basis cost what the products save
constexpr int64_t kLeastPixels = 100;
constexpr int64_t kMostTaps = 2048;  // of a pixel: the taps of more channels are more to read in the new basis than to multiply
constexpr int64_t kBlockBytes = 384 << 10;  // of the tiles of a chunk, before and after the products
constexpr int64_t kLeastTiles = 4 * kTileRows, kMostTiles = 32 * kTileRows;
constexpr int64_t kPanel = kTileVectors * kF32;

constexpr int64_t kParts = 16, kPartTiles = 256;
constexpr int64_t kPartBytes = 32 << 20;    // of the sums of all parts of a filter's gradient

inline int64_t whole_vectors(int64_t n) { return (n + kF32 - 1) / kF32 * kF32; }

// Along one axis: four inputs, three taps, four products.
inline void input_basis(vf32& a, vf32& b, vf32& c, vf32& d) {
  const vf32 first = a - c, second = b + c, third = c - b;
  d = b - d;
  a = first, b = second, c = third;
}
inline void tap_basis(const vf32& a, const vf32& b, const vf32& c, vf32* to, int step) {
  const vf32 half = vf32{} + 0.5f, ends = a + c;
  to[0] = a;
  to[step] = (ends + b) * half;
  to[2 * step] = (ends - b) * half;
  to[3 * step] = c;
}
inline void output_basis(const vf32& a, const vf32& b, const vf32& c, const vf32& d, vf32& first, vf32& second) {
  first = a + b + c;
  second = b - c - d;
}

// And back, for gradients of the outputs and of the taps.
inline void gradient_basis(const vf32& a, const vf32& b, vf32* to, int step) {
  to[0] = a;
  to[step] = a + b;
  to[2 * step] = a - b;
  to[3 * step] = -b;
}
inline void gradient_of_taps(const vf32& a, const vf32& b, const vf32& c, const vf32& d, vf32* to) {
  const vf32 half = vf32{} + 0.5f, both = (b + c) * half;
  to[0] = a + both;
  to[1] = (b - c) * half;
  to[2] = both + d;
}

// The tiles of all images, one after the other.
class Tiles {
 protected:
  explicit Tiles(const Convolution<float>& v) : v_(v) {
    tile_rows_ = ceil_div(v.h.count, 2);
    tile_columns_ = ceil_div(v.w.count, 2);
    tiles_ = v.images * tile_rows_ * tile_columns_;
    panels_ = ceil_div(v.group_out, kPanel);
    in_stride_ = whole_vectors(v.in_channels);
    out_stride_ = whole_vectors(v.group_out);
    tile_bytes_ = kBasis * (in_stride_ + out_stride_) * static_cast<int64_t>(sizeof(float));
    block_ = max64(min64(kBlockBytes / tile_bytes_, kMostTiles), kLeastTiles) / kTileRows * kTileRows;
  }

  const Convolution<float>& v_;
  int64_t tile_rows_, tile_columns_, tiles_, panels_, in_stride_, out_stride_, tile_bytes_, block_;

  // Calls fn(number in the block, image, row, column) for tiles; the last two are of its first output.
  template <class F> void each_tile(int64_t first, int64_t count, F&& fn) const {
    int64_t x = first % tile_columns_, row = first / tile_columns_;
    int64_t image = row / tile_rows_, y = row % tile_rows_;
    for (int64_t t = 0; t < count; t++) {
      fn(t, image, 2 * y, 2 * x);
      if (++x < tile_columns_) continue;
      x = 0;
      if (++y < tile_rows_) continue;
      y = 0;
      image++;
    }
  }

  void change_inputs(int64_t first, int64_t count, float* to) const {
    const int64_t c = v_.in_channels, position = count * in_stride_;
    each_tile(first, count, [&](int64_t t, int64_t image, int64_t y, int64_t x) {
      const int64_t y0 = y + v_.h.in0, x0 = x + v_.w.in0;
      const bool inside = y0 >= 0 && y0 + 4 <= v_.h.in && x0 >= 0 && x0 + 4 <= v_.w.in;
      const float* from = v_.in + ((image * v_.h.in + y0) * v_.w.in + x0) * c;
      for (int64_t k = 0; k < c; k += kF32) {
        const Part<float> part(min64(kF32, c - k));
        const bool full = k + kF32 <= c;
        vf32 d[4][4];
#pragma GCC unroll 4
        for (int h = 0; h < 4; h++) {
#pragma GCC unroll 4
          for (int w = 0; w < 4; w++) {
            const float* at = from + (h * v_.w.in + w) * c + k;
            const bool there = inside || (y0 + h >= 0 && y0 + h < v_.h.in && x0 + w >= 0 && x0 + w < v_.w.in);
            d[h][w] = !there ? vf32{} : full ? load<float>(at) : part.load(at);
          }
          input_basis(d[h][0], d[h][1], d[h][2], d[h][3]);
        }
        float* out = to + t * in_stride_ + k;
#pragma GCC unroll 4
        for (int w = 0; w < 4; w++) {
          input_basis(d[0][w], d[1][w], d[2][w], d[3][w]);
#pragma GCC unroll 4
          for (int h = 0; h < 4; h++) store<float>(out + (4 * h + w) * position, d[h][w]);
        }
      }
    });
  }
  // The factors of a product in each position of the basis: how far it is from one position to the next, from row to row of the left one
  // (panel to panel of the right one), and from k to k.
  struct Factor {
    const float* data;
    int64_t position, row, step;
  };
  // out[p] (+)= a[p] · b[p], of so many rows.
  void multiply(int64_t rows, int64_t depth, const Factor& a, const Factor& b, float* out, bool add) const {
    const int64_t row_panels = ceil_div(rows, kTileRows);
    Run<float> run{nullptr, 0, depth};
    Tile<float> t{};
    t.runs = &run;
    t.run_count = 1;
    t.a_row = a.row;
    t.a_step = a.step;
    t.ldb = b.step;
    t.ldc = out_stride_;
    t.add = add;
    for (int p = 0; p < kBasis; p++) {
      for (int64_t q = 0; q < panels_; q++) {
        t.b = b.data + p * b.position + q * b.row;
        t.n = min64(kPanel, v_.group_out - q * kPanel);
        const int vectors = static_cast<int>(ceil_div(t.n, kF32));
        for (int64_t r = 0; r < row_panels; r++) {
          const int64_t i0 = part_begin(rows, row_panels, r), i1 = part_begin(rows, row_panels, r + 1);
          run.a = a.data + p * a.position + i0 * a.row;
          t.c = out + (p * rows + i0) * out_stride_ + q * kPanel;
          tile_product(t, static_cast<int>(i1 - i0), vectors);
        }
      }
    }
  }
};

class Winograd : Tiles {
 public:
  Winograd(const Convolution<float>& v, const Taps3& taps) : Tiles(v), taps_(taps) {
    block_ = max64(min64(block_, ceil_div(tiles_, 4 * thread_count())), 1);
  }

  // Whether all results are finite.
  bool run() {
    change_taps();
    const int64_t channels = v_.in_channels;
    std::atomic<bool> finite{true};
    parallel_for(ceil_div(tiles_, block_), 1, [&](int64_t begin, int64_t end) {
      float* inputs = static_cast<float*>(scratch(3, block_ * tile_bytes_));
      float* outputs = inputs + kBasis * block_ * in_stride_;
      for (int64_t i = begin; i < end; i++) {
        const int64_t first = i * block_, count = min64(block_, tiles_ - first);
        change_inputs(first, count, inputs);
        multiply(count, channels, {inputs, count * in_stride_, in_stride_, 1}, {basis_, panels_ * channels * kPanel, channels * kPanel, kPanel}, outputs, false);
        if (!change_outputs(first, count, outputs)) finite.store(false, std::memory_order_relaxed);
      }
    });
    return finite.load();
  }

 private:
  const Taps3& taps_;
  float* basis_ = nullptr;  // [16, panels, channels, columns of a panel]

  void change_taps() {
    const int64_t channels = v_.in_channels, panel_size = channels * kPanel;
    basis_ = static_cast<float*>(scratch(1, kBasis * panels_ * panel_size * static_cast<int64_t>(sizeof(float))));
    parallel_for(channels, max64((1 << 12) / v_.group_out, 1), [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; k++) {
        for (int64_t j = 0; j < panels_ * kPanel; j += kF32) {
          const int64_t columns = max64(min64(kF32, v_.group_out - j), 0);
          vf32 g[3][3], rows[4 * 3], all[kBasis];
          for (int64_t h = 0; h < 3; h++) {
            for (int64_t w = 0; w < 3; w++) g[h][w] = taps_at(h, w, k, j, columns);
            tap_basis(g[h][0], g[h][1], g[h][2], rows + h, 3);
          }
          for (int w = 0; w < 4; w++) tap_basis(rows[3 * w], rows[3 * w + 1], rows[3 * w + 2], all + w, 4);
          float* to = basis_ + j / kPanel * panel_size + k * kPanel + j % kPanel;
          for (int p = 0; p < kBasis; p++) store<float>(to + p * panels_ * panel_size, all[p]);
        }
      }
    });
  }
  vf32 taps_at(int64_t h, int64_t w, int64_t k, int64_t j, int64_t columns) const {
    // The last panel may be wider than the filters by whole vectors.
    if (columns == 0) return vf32{};
    const int64_t tap = (v_.h.tap0 + h * v_.h.tap_step) * 3 + v_.w.tap0 + w * v_.w.tap_step;
    const float* from = taps_.data + tap * taps_.tap_size + k * taps_.k_step + j * taps_.column_step;
    if (taps_.column_step == 1) return Part<float>(columns).load(from);
    vf32 taken{};
    for (int64_t i = 0; i < columns; i++) taken[i] = from[i * taps_.column_step];
    return taken;
  }

  bool change_outputs(int64_t first, int64_t count, const float* from) const {
    const int64_t o = v_.group_out, position = count * out_stride_;
    vf32 differences{};  // of numbers and themselves: 0, or NaN for what is not finite
    each_tile(first, count, [&](int64_t t, int64_t image, int64_t y, int64_t x) {
      const int64_t rows = min64(2, v_.h.count - y), columns = min64(2, v_.w.count - x);
      float* to = v_.out + ((image * v_.out_h + v_.h.out0 + y) * v_.out_w + v_.w.out0 + x) * v_.out_channels;
      for (int64_t j = 0; j < o; j += kF32) {
        const Part<float> part(min64(kF32, o - j));
        const bool full = j + kF32 <= o;
        const float* m = from + t * out_stride_ + j;
        vf32 half[2][4], made[2][2];
#pragma GCC unroll 4
        for (int w = 0; w < 4; w++) {
          vf32 d[4];
#pragma GCC unroll 4
          for (int h = 0; h < 4; h++) d[h] = full ? load<float>(m + (4 * h + w) * position) : part.load(m + (4 * h + w) * position);
          output_basis(d[0], d[1], d[2], d[3], half[0][w], half[1][w]);
        }
        const vf32 bias = v_.bias ? part.load(v_.bias + j) : vf32{};
#pragma GCC unroll 2
        for (int h = 0; h < 2; h++) {
          output_basis(half[h][0], half[h][1], half[h][2], half[h][3], made[h][0], made[h][1]);
#pragma GCC unroll 2
          for (int w = 0; w < 2; w++) {
            vf32 y = made[h][w] + bias;
            differences += y - y;
            if (v_.relu) y = y < vf32{} ? vf32{} : y;  // keeps NaN
            if (h >= rows || w >= columns) continue;
            float* at = to + (h * v_.out_w + w) * v_.out_channels + j;
            if (full) store<float>(at, y);
            else part.store(at, y);
          }
        }
      }
    });
    return sum<float>(differences) == 0;
  }
};

class FilterGradient : Tiles {
 public:
  FilterGradient(const Convolution<float>& v, const float* dy) : Tiles(v), dy_(dy) {}

  // Whether all results are finite. The parts depend on the shape alone.
  bool run(float* df) {
    const int64_t channels = v_.in_channels, size = kBasis * channels * out_stride_, bytes = size * static_cast<int64_t>(sizeof(float));
    const int64_t parts = max64(min64(min64(kParts, tiles_ / kPartTiles), kPartBytes / bytes), 1);
    float* sums = static_cast<float*>(scratch(1, parts * bytes));
    parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
      float* inputs = static_cast<float*>(scratch(3, block_ * tile_bytes_));
      float* gradients = inputs + kBasis * block_ * in_stride_;
      for (int64_t part = begin; part < end; part++) {
        const int64_t first = part_begin(tiles_, parts, part), last = part_begin(tiles_, parts, part + 1);
        for (int64_t at = first; at < last; at += block_) {
          const int64_t count = min64(block_, last - at);
          change_inputs(at, count, inputs);
          change_gradients(at, count, gradients);
          multiply(channels, count, {inputs, count * in_stride_, 1, in_stride_}, {gradients, count * out_stride_, kPanel, out_stride_}, sums + part * size, at > first);
        }
      }
    });
    std::atomic<bool> finite{true};
    parallel_for(channels, max64((1 << 13) / (v_.group_out * parts), 1), [&](int64_t begin, int64_t end) {
      if (!change_back(begin, end, sums, parts, df)) finite.store(false, std::memory_order_relaxed);
    });
    return finite.load();
  }

 private:
  const float* dy_;

  void change_gradients(int64_t first, int64_t count, float* to) const {
    const int64_t o = v_.group_out, position = count * out_stride_;
    each_tile(first, count, [&](int64_t t, int64_t image, int64_t y, int64_t x) {
      const float* from = dy_ + ((image * v_.h.count + y) * v_.w.count + x) * o;
      for (int64_t j = 0; j < o; j += kF32) {
        const Part<float> part(min64(kF32, o - j));
        vf32 half[2 * 4], all[kBasis];
        for (int64_t w = 0; w < 2; w++) {
          vf32 d[2];
          for (int64_t h = 0; h < 2; h++) {
            const bool there = y + h < v_.h.count && x + w < v_.w.count;
            d[h] = there ? part.load(from + (h * v_.w.count + w) * o + j) : vf32{};
          }
          gradient_basis(d[0], d[1], half + w, 2);
        }
        for (int h = 0; h < 4; h++) gradient_basis(half[2 * h], half[2 * h + 1], all + 4 * h, 1);
        float* out = to + t * out_stride_ + j;
        for (int p = 0; p < kBasis; p++) store<float>(out + p * position, all[p]);
      }
    });
  }

  bool change_back(int64_t begin, int64_t end, const float* sums, int64_t parts, float* df) const {
    const int64_t c = v_.in_channels, o = v_.group_out, position = c * out_stride_;
    vf32 differences{};
    for (int64_t k = begin; k < end; k++) {
      for (int64_t j = 0; j < o; j += kF32) {
        const Part<float> part(min64(kF32, o - j));
        vf32 m[kBasis]{}, half[4][3], made[3];
        for (int64_t i = 0; i < parts; i++) {
          const float* from = sums + (i * kBasis * c + k) * out_stride_ + j;
          for (int p = 0; p < kBasis; p++) m[p] += part.load(from + p * position);
        }
        for (int h = 0; h < 4; h++) gradient_of_taps(m[4 * h], m[4 * h + 1], m[4 * h + 2], m[4 * h + 3], half[h]);
        for (int64_t w = 0; w < 3; w++) {
          gradient_of_taps(half[0][w], half[1][w], half[2][w], half[3][w], made);
          for (int64_t h = 0; h < 3; h++) {
            differences += made[h] - made[h];
            part.store(df + ((h * 3 + w) * c + k) * o + j, made[h]);
          }
        }
      }
    }
    return sum<float>(differences) == 0;
  }
};

// Next to each other, as all are read.
bool is_dense(const Axis& a) { return a.taps == 3 && a.in_step == 1 && a.tap_in == 1 && a.out_step == 1; }

// The number of images does not count: each has the same result alone and in a batch.
bool pays(const Convolution<float>& v) {
  if (!is_dense(v.h) || !is_dense(v.w) || v.groups != 1 || v.images == 0) return false;
  const int64_t pixels = v.h.count * v.w.count;
  if (v.in_channels < kLeastChannels || v.group_out < kLeastChannels || pixels < kLeastPixels) return false;
  return v.in_channels * v.group_out <= kMostTaps * pixels;
}

}  // namespace

// What is not finite would spread to all outputs of its tile.
bool winograd(const Convolution<float>& v, const Taps3& taps) { return pays(v) && Winograd(v, taps).run(); }
bool winograd_filter(const Convolution<float>& v, const float* dy, float* df) { return pays(v) && FilterGradient(v, dy).run(df); }
EAGRE_END
