// The filter gradient: the transposed patches times dy, summed over all output pixels. A tile of it is up to 14 neighbouring
// (column tap, channel) places of one row tap; k runs along output rows, so patches and dy are read where they lie. The pixels
// are cut into a number of parts that depends on the shape alone; their sums are added in order.
#include "conv.h"
#include "gemm_micro.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kChunkWork = 1 << 20;
constexpr int64_t kParts = 16;
constexpr int64_t kPartBytes = 16 << 20;  // of all partial sums
constexpr int64_t kBlockPixels = 512;

template <class T> void run_filter_gradient(const Geometry& g, const T* x, const T* dy, T* df) {
  constexpr int L = Lanes<T>::n;
  const int64_t size = g.kh * g.kw * g.cg * g.o, pixels = g.n * g.oh * g.ow;
  if (pixels == 0) {
    std::memset(df, 0, static_cast<size_t>(size) * sizeof(T));
    return;
  }
  const Axis H = forward_axis(g.h, g.oh, g.kh, g.stride[0], g.padding[0], g.dilation[0]);
  const Axis W = forward_axis(g.w, g.ow, g.kw, g.stride[1], g.padding[2], g.dilation[1]);
  const bool merged = g.groups == 1 && (g.dilation[1] == 1 || g.kw == 1);
  // A unit is what one tile row may run through: the columns and channels of a row tap, or the channels of one tap.
  const int64_t unit_columns = merged ? 1 : g.kw, unit_rows = merged ? g.kw * g.cg : g.cg;
  const int64_t units = g.groups * g.kh * unit_columns, row_panels = ceil_div(unit_rows, kTileRows);
  const int64_t panel = min64(ceil_div(g.og, L), unit_rows <= kWideRows ? 4 : kTileVectors) * L, panels = ceil_div(g.og, panel);

  const int64_t block_rows = min64(max64(kBlockPixels / g.ow, 1), g.oh), image_blocks = ceil_div(g.oh, block_rows);
  const int64_t blocks = g.n * image_blocks, work = pixels * g.kh * g.kw * g.cg * g.o;
  int64_t parts = min64(min64(kParts, blocks), max64(work / kChunkWork, 1));
  parts = max64(min64(parts, kPartBytes / (size * static_cast<int64_t>(sizeof(T)))), 1);
  // Few parts (a large filter): its places are split as well.
  const int64_t items = units * row_panels;
  const int64_t splits = max64(min64(min64(ceil_div(kParts, parts), items), work / parts / kChunkWork), 1);
  T* sums = parts > 1 ? static_cast<T*>(scratch(1, (parts - 1) * size * static_cast<int64_t>(sizeof(T)))) : nullptr;
  const bool pack = items >= 8 * splits;

  parallel_for(parts * splits, 1, [&](int64_t chunk, int64_t) {
    const int64_t part = chunk / splits, split = chunk % splits;
    const int64_t item0 = part_begin(items, splits, split), item1 = part_begin(items, splits, split + 1);
    const int64_t block0 = part_begin(blocks, parts, part), block1 = part_begin(blocks, parts, part + 1);
    T* out = part == 0 ? df : sums + (part - 1) * size;
    const int64_t packed_bytes = pack ? block_rows * g.ow * panel * static_cast<int64_t>(sizeof(T)) : 0;
    char* memory = static_cast<char*>(scratch(
        3, packed_bytes + g.kh * (block_rows * static_cast<int64_t>(sizeof(Run<T>)) + static_cast<int64_t>(sizeof(int64_t)))));
    T* packed = reinterpret_cast<T*>(memory);
    Run<T>* runs = reinterpret_cast<Run<T>*>(memory + packed_bytes);
    int64_t* counts = reinterpret_cast<int64_t*>(runs + g.kh * block_rows);
    Tile<T> t{};
    t.a_row = 1;
    t.a_step = W.in_step * g.c;
    t.ldc = g.o;
    for (int64_t block = block0; block < block1; block++) {
      const int64_t image = block / image_blocks;
      const int64_t i0 = part_begin(g.oh, image_blocks, block % image_blocks),
                    i1 = part_begin(g.oh, image_blocks, block % image_blocks + 1);
      const Band<T> band(x + image * g.h * g.w * g.c, W, g.c, i0 * H.in_step + H.in0,
                         (i1 - 1) * H.in_step + H.in0 + (H.taps - 1) * H.tap_in + 1, g.h, 2);
      for (int64_t th = 0; th < g.kh; th++) {
        int64_t count = 0;
        for (int64_t i = i0; i < i1; i++) {
          const int64_t y = i * H.in_step + H.in0 + th * H.tap_in;
          if (band.holds(y)) runs[th * block_rows + count++] = {band.at(y), (i - i0) * g.ow, g.ow};
        }
        counts[th] = count;
      }
      t.add = block > block0;
      const T* from = dy + (image * g.oh + i0) * g.ow * g.o;
      for (int64_t q = 0; q < panels; q++) {
        const int64_t j = q * panel;
        t.n = min64(panel, g.og - j);
        const int vectors = static_cast<int>(ceil_div(t.n, L));
        int64_t packed_group = -1;
        for (int64_t item = item0; item < item1; item++) {
          const int64_t unit = item / row_panels, p = item % row_panels;
          const int64_t tw = unit % unit_columns, th = unit / unit_columns % g.kh, group = unit / unit_columns / g.kh;
          if (!pack) {
            t.b = from + group * g.og + j;
            t.ldb = g.o;
          } else if (group != packed_group) {
            packed_group = group;
            pack_panel<T>(from + group * g.og + j, g.o, 1, (i1 - i0) * g.ow, t.n, packed, panel);
            t.b = packed;
            t.ldb = panel;
          }
          const int64_t m0 = part_begin(unit_rows, row_panels, p), m1 = part_begin(unit_rows, row_panels, p + 1);
          t.runs = runs + th * block_rows;
          t.run_count = counts[th];
          t.a_offset = tw * W.tap_in * g.c + group * g.cg + m0;
          t.c = out + ((th * g.kw + tw) * g.cg + m0) * g.o + group * g.og + j;
          tile_product(t, static_cast<int>(m1 - m0), vectors);
        }
      }
    }
  });
  if (parts > 1) {
    parallel_for(size, (1 << 18) / parts, [&](int64_t begin, int64_t end) {
      for (int64_t p = 0; p < parts - 1; p++) {
        const T* sum = sums + p * size;
        for (int64_t i = begin; i < end; i++) df[i] += sum[i];
      }
    });
  }
}

}  // namespace

template <>
void filter_gradient<float>(const Geometry& g, const float* x, const float* dy, float* df) {
  run_filter_gradient(g, x, dy, df);
}
template <>
void filter_gradient<double>(const Geometry& g, const double* x, const double* dy, double* df) {
  run_filter_gradient(g, x, dy, df);
}

EAGRE_END
