// Conv2D and its gradients. The tiles of gemm_micro.h read image patches in place: a tile is up to 14 neighbouring pixels of one
// output row, whose patches lie a constant distance apart, and a tap is a run of k; nothing is unrolled into a matrix of patches.
#include "conv.h"

#include <memory>
#include <new>

#include "../runtime/registry.h"
#include "gemm_micro.h"
#include "half.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kChunkWork = 2 << 20;   // multiply-adds of a chunk of parallel work
constexpr int64_t kChunks = 16;           // wanted, when there is work for them
constexpr int64_t kChunkRows = 64;
constexpr int64_t kConverted = 1 << 18;   // numbers that are worth a chunk of their own to convert
constexpr int64_t kDirectPixels = 8 * kTileRows;  // up to so many outputs, packing the filter would not pay

template <class T> struct Filter {
  const T* data;
  int64_t panel, panels;       // columns of a panel, panels of a group
  int64_t ldb, panel_step, group_step;
  bool narrow;                 // transposed, for the tiles whose vectors run along k
};

template <class T> void convolve(const Convolution<T>& v, const Filter<T>& f) {
  constexpr int L = Lanes<T>::n;
  const Axis &H = v.h, &W = v.w;
  const int64_t total = v.images * H.count;
  if (total == 0 || W.count == 0 || v.out_channels == 0) return;
  const int64_t c = v.in_channels, cg = v.run_channels;
  // Taps along a row whose channels follow each other are one run.
  const bool merged = v.groups == 1 && (W.tap_in == 1 || W.taps <= 1);
  const int64_t runs_per_tap = W.taps == 0 ? 0 : merged ? 1 : W.taps, max_runs = H.taps * runs_per_tap;
  const int64_t row_work = max64(W.count * H.taps * W.taps * cg * v.out_channels, 1);
  int64_t grain = max64(ceil_div(kChunkWork, row_work), ceil_div(4 * kTileRows, W.count));
  // A chunk copies the rows above and below its own, too, where there is padding.
  if (W.in0 < 0) grain = max64(grain, min64(4 * (H.taps - 1), total / (2 * kChunks)));
  grain = max64(min64(min64(grain, kChunkRows), ceil_div(total, 8)), 1);
  const int64_t row_chunks = ceil_div(total, grain);
  const int64_t column_chunks =
      row_chunks < kChunks
          ? max64(min64(min64(ceil_div(kChunks, row_chunks), f.panels), total * row_work / row_chunks / kChunkWork), 1)
          : 1;
  const int64_t pixel_panels = ceil_div(W.count, f.narrow ? kNarrowRows : kTileRows);

  parallel_for(row_chunks * column_chunks, 1, [&](int64_t chunk, int64_t) {
    const int64_t begin = chunk % row_chunks * grain, end = min64(begin + grain, total), column = chunk / row_chunks;
    const int64_t q0 = part_begin(f.panels, column_chunks, column), q1 = part_begin(f.panels, column_chunks, column + 1);
    char* memory = static_cast<char*>(scratch(3, grain * (max_runs * static_cast<int64_t>(sizeof(Run<T>)) + 8)));
    int64_t* counts = reinterpret_cast<int64_t*>(memory);
    Run<T>* runs = reinterpret_cast<Run<T>*>(memory + grain * 8);
    Tile<T> t{};
    t.a_row = W.in_step * c;
    t.a_step = 1;
    t.ldb = f.ldb;
    t.ldc = W.out_step * v.out_channels;
    t.relu = v.relu;
    for (int64_t row = begin; row < end;) {
      const int64_t image = row / H.count, i0 = row % H.count, i1 = min64(i0 + end - row, H.count);
      row += i1 - i0;
      const Band<T> band(v.in + image * H.in * W.in * c, W, c, i0 * H.in_step + H.in0,
                         (i1 - 1) * H.in_step + H.in0 + (H.taps - 1) * H.tap_in + 1, H.in, 2);
      for (int64_t i = i0; i < i1; i++) {
        Run<T>* to = runs + (i - i0) * max_runs;
        int64_t count = 0;
        for (int64_t th = 0; th < H.taps; th++) {
          const int64_t y = i * H.in_step + H.in0 + th * H.tap_in;
          if (!band.holds(y)) continue;
          for (int64_t tw = 0; tw < runs_per_tap; tw++) {
            to[count++] = {band.at(y) + tw * W.tap_in * c, (th * W.taps + tw) * cg, merged ? W.taps * cg : cg};
          }
        }
        counts[i - i0] = count;
      }
      for (int64_t g = 0; g < v.groups; g++) {
        for (int64_t q = q0; q < q1; q++) {
          const int64_t j = q * f.panel;
          t.n = min64(f.panel, v.group_out - j);
          t.b = f.data + g * f.group_step + q * f.panel_step;
          t.bias = v.bias ? v.bias + g * v.group_out + j : nullptr;
          const int vectors = static_cast<int>(ceil_div(t.n, L));
          for (int64_t i = i0; i < i1; i++) {
            t.runs = runs + (i - i0) * max_runs;
            t.run_count = counts[i - i0];
            T* out =
                v.out + ((image * v.out_h + H.out0 + i * H.out_step) * v.out_w + W.out0) * v.out_channels + g * v.group_out + j;
            for (int64_t p = 0; p < pixel_panels; p++) {
              const int64_t x0 = part_begin(W.count, pixel_panels, p), x1 = part_begin(W.count, pixel_panels, p + 1);
              t.a_offset = x0 * t.a_row + g * cg;
              t.c = out + x0 * t.ldc;
              const int rows = static_cast<int>(x1 - x0);
              if (f.narrow) narrow_product(t, rows, static_cast<int>(t.n));
              else tile_product(t, rows, vectors);
            }
          }
        }
      }
    }
  });
}

// Packs the filter's panels: for each group and panel, the rows of all taps in the order of the axes. Element (k, j) of a tap
// lies at filter[k · k_step + j · column_step] after the tap and the group.
template <class T>
Filter<T> pack_filter(const Convolution<T>& v, const T* filter, int64_t filter_w, int64_t tap_size, int64_t k_step,
                      int64_t column_step, int64_t group_offset, bool natural) {
  constexpr int L = Lanes<T>::n;
  const Axis &H = v.h, &W = v.w;
  Filter<T> f{};
  f.panel = min64(ceil_div(v.group_out, L), W.count <= kWideRows ? 4 : kTileVectors) * L;
  f.panels = ceil_div(v.group_out, f.panel);
  if (natural && v.group_out > kNarrowColumns && v.images * H.count * W.count <= kDirectPixels) {
    f.data = filter;
    f.ldb = k_step;
    f.panel_step = f.panel;
    f.group_step = group_offset;
    return f;
  }
  const int64_t k = H.taps * W.taps * v.run_channels;
  const bool merged = v.groups == 1 && W.tap_in == 1;
  if (v.group_out <= kNarrowColumns && v.run_channels * (merged ? W.taps : 1) >= L) {
    f.narrow = true;
    f.panel = v.group_out;
    f.panels = 1;
    f.ldb = k;
    f.group_step = k * v.group_out;
    T* rows = static_cast<T*>(scratch(1, v.groups * f.group_step * static_cast<int64_t>(sizeof(T))));
    f.data = rows;
    for (int64_t g = 0; g < v.groups; g++) {
      for (int64_t j = 0; j < v.group_out; j++) {
        for (int64_t th = 0; th < H.taps; th++) {
          for (int64_t tw = 0; tw < W.taps; tw++) {
            const int64_t tap = (H.tap0 + th * H.tap_step) * filter_w + W.tap0 + tw * W.tap_step;
            const T* from = filter + g * group_offset + j * column_step + tap * tap_size;
            for (int64_t i = 0; i < v.run_channels; i++) *rows++ = from[i * k_step];
          }
        }
      }
    }
    return f;
  }
  f.ldb = f.panel;
  f.panel_step = k * f.panel;
  f.group_step = f.panels * f.panel_step;
  T* packed = static_cast<T*>(scratch(1, v.groups * f.group_step * static_cast<int64_t>(sizeof(T))));
  parallel_for(v.groups * f.panels, max64((1 << 17) / max64(f.panel_step, 1), 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      const int64_t g = i / f.panels, j = i % f.panels * f.panel, columns = min64(f.panel, v.group_out - j);
      T* to = packed + i * f.panel_step;
      const T* from = filter + g * group_offset + j * column_step;
      if (natural) {
        pack_panel<T>(from, k_step, column_step, k, columns, to, f.ldb);
        continue;
      }
      for (int64_t th = 0; th < H.taps; th++) {
        for (int64_t tw = 0; tw < W.taps; tw++) {
          const int64_t tap = (H.tap0 + th * H.tap_step) * filter_w + W.tap0 + tw * W.tap_step;
          pack_panel<T>(from + tap * tap_size, k_step, column_step, v.run_channels, columns,
                        to + (th * W.taps + tw) * v.run_channels * f.ldb, f.ldb);
        }
      }
    }
  });
  f.data = packed;
  return f;
}

// A convolution that is one product of an image matrix [rows, k] and the filter: of single pixels, or of whole images.
struct Product {
  int64_t rows, k;
};
bool is_product(const Geometry& g, Product* p) {
  const bool padded = g.padding[0] | g.padding[1] | g.padding[2] | g.padding[3];
  if (g.groups != 1 || padded) return false;
  if (g.kh == 1 && g.kw == 1 && g.stride[0] == 1 && g.stride[1] == 1) *p = {g.n * g.h * g.w, g.c};
  else if (g.kh == g.h && g.kw == g.w && g.dilation[0] == 1 && g.dilation[1] == 1) *p = {g.n, g.h * g.w * g.c};
  else return false;
  return p->rows == g.n * g.oh * g.ow;
}
bool is_depthwise(const Geometry& g) { return g.groups == g.c && g.cg == 1 && g.og == 1 && g.c > 1; }

template <class T> Convolution<T> forward_convolution(const Geometry& g, const T* x, T* y) {
  Convolution<T> v{};
  v.h = forward_axis(g.h, g.oh, g.kh, g.stride[0], g.padding[0], g.dilation[0]);
  v.w = forward_axis(g.w, g.ow, g.kw, g.stride[1], g.padding[2], g.dilation[1]);
  v.images = g.n;
  v.in = x;
  v.in_channels = g.c;
  v.run_channels = g.cg;
  v.out = y;
  v.out_h = g.oh;
  v.out_w = g.ow;
  v.out_channels = g.o;
  v.group_out = g.og;
  v.groups = g.groups;
  return v;
}

template <class T> void forward(const Geometry& g, const T* x, const T* filter, const T* bias, T* y, bool relu) {
  Product p;
  if (is_product(g, &p)) {
    gemm(Gemm<T>{p.rows, g.o, p.k, x, p.k, 1, filter, g.o, 1, y, g.o, bias, relu});
    return;
  }
  Convolution<T> v = forward_convolution<T>(g, x, y);
  v.bias = bias;
  v.relu = relu;
  if constexpr (std::is_same_v<T, BFloat>) {
    tile_convolution(v, filter, g.kw, false);
  } else {
    if (is_depthwise(g)) return depthwise<T>(v, filter, g.kw);
    if constexpr (std::is_same_v<T, float>) {
      if (winograd(v, {filter, g.cg * g.o, g.o, 1})) return;
    }
    convolve<T>(v, pack_filter<T>(v, filter, g.kw, g.cg * g.o, g.o, 1, g.og, true));
  }
}

int64_t common_divisor(int64_t a, int64_t b) { return b == 0 ? a : common_divisor(b, a % b); }

// The pixels of a gradient of `in` pixels that are `phase` modulo the stride, and the taps that reach them, last first.
Axis backward_axis(int64_t in, int64_t out, int64_t taps, int64_t stride, int64_t padding, int64_t dilation, int64_t phase) {
  Axis a{};
  a.count = phase < in ? ceil_div(in - phase, stride) : 0;
  a.out0 = phase;
  a.out_step = stride;
  a.in = out;
  a.in_step = 1;
  const int64_t every = stride / common_divisor(stride, dilation);
  int64_t first = 0;
  while (first < taps && first < every && (phase + padding - first * dilation) % stride != 0) first++;
  if (first >= taps || first >= every) return a;
  a.taps = (taps - 1 - first) / every + 1;
  a.tap0 = first + (a.taps - 1) * every;
  a.tap_step = -every;
  a.in0 = (phase + padding - a.tap0 * dilation) / stride;
  a.tap_in = every * dilation / stride;
  return a;
}

template <class T> void backward_input(const Geometry& g, const T* filter, const T* dy, T* dx) {
  Product p;
  if (is_product(g, &p)) {
    gemm(Gemm<T>{p.rows, p.k, g.o, dy, g.o, 1, filter, 1, g.o, dx, p.k, nullptr, false});
    return;
  }
  Convolution<T> v{};
  v.images = g.n;
  v.in = dy;
  v.in_channels = g.o;
  v.run_channels = g.og;
  v.out = dx;
  v.out_h = g.h;
  v.out_w = g.w;
  v.out_channels = g.c;
  v.group_out = g.cg;
  v.groups = g.groups;
  for (int64_t y = 0; y < min64(g.stride[0], g.h); y++) {
    v.h = backward_axis(g.h, g.oh, g.kh, g.stride[0], g.padding[0], g.dilation[0], y);
    for (int64_t x = 0; x < min64(g.stride[1], g.w); x++) {
      v.w = backward_axis(g.w, g.ow, g.kw, g.stride[1], g.padding[2], g.dilation[1], x);
      if constexpr (std::is_same_v<T, BFloat>) {
        tile_convolution(v, filter, g.kw, true);
      } else {
        if (is_depthwise(g)) {
          depthwise<T>(v, filter, g.kw);
          continue;
        }
        if constexpr (std::is_same_v<T, float>) {
          if (winograd(v, {filter, g.cg * g.o, 1, g.o})) continue;
        }
        convolve<T>(v, pack_filter<T>(v, filter, g.kw, g.cg * g.o, 1, g.o, g.og, false));
      }
    }
  }
}

// Convolutions in groups compute in float32, in memory that nobody keeps.
struct Widened {
  std::unique_ptr<float[]> data;
  explicit Widened(const Tensor& t, bool fill = true) : data(new (std::nothrow) float[static_cast<size_t>(t.size)]) {
    if (!data) fail(Code::resource_exhausted, "no memory for %lld numbers", (long long)t.size);
    if (!fill) return;
    parallel_for(t.size, kConverted, [&](int64_t begin, int64_t end) { widen_row(t.as<BFloat>() + begin, data.get() + begin, end - begin); });
  }
  void round(const Tensor& t) const {
    parallel_for(t.size, kConverted, [&](int64_t begin, int64_t end) { narrow_row(data.get() + begin, t.as<BFloat>() + begin, end - begin); });
  }
};

void forward_groups(const Geometry& g, const Tensor& x, const Tensor& filter, const BFloat* bias, const Tensor& y, bool relu) {
  const Widened wide_x(x), wide_filter(filter), wide_y(y, false);
  forward<float>(g, wide_x.data.get(), wide_filter.data.get(), nullptr, wide_y.data.get(), false);
  wide_y.round(y);
  // Rounded after the product and after the bias, as separate calls would.
  if (!bias && !relu) return;
  parallel_for(y.size / g.o, max64(kConverted / g.o, 1), [&](int64_t begin, int64_t end) {
    BFloat* to = y.as<BFloat>() + begin * g.o;
    for (int64_t i = begin; i < end; i++, to += g.o) {
      for (int64_t j = 0; j < g.o; j++) {
        const BFloat sum = bias ? from_float<BFloat>(to_float(to[j]) + to_float(bias[j])) : to[j];
        to[j] = relu && to_float(sum) < 0 ? BFloat{0} : sum;
      }
    }
  });
}

// Reads the attributes and checks that the shapes belong together.
Geometry geometry(Args& args, const Tensor& x, const Tensor& filter, const Tensor& y) {
  if (x.rank != 4 || filter.rank != 4 || y.rank != 4) fail(Code::internal, "convolution: images and filter have rank 4");
  Geometry g{};
  g.n = x.dims[0];
  g.h = x.dims[1];
  g.w = x.dims[2];
  g.c = x.dims[3];
  g.kh = filter.dims[0];
  g.kw = filter.dims[1];
  g.cg = filter.dims[2];
  g.o = filter.dims[3];
  g.oh = y.dims[1];
  g.ow = y.dims[2];
  int count = args.list(g.stride, 2);
  count += args.list(g.padding, 4);
  count += args.list(g.dilation, 2);
  g.groups = args.integer();
  bool fits = count == 8 && g.groups >= 1 && y.dims[0] == g.n && y.dims[3] == g.o && g.cg * g.groups == g.c &&
              g.o % g.groups == 0 && x.dtype == y.dtype && filter.dtype == y.dtype;
  for (int i = 0; i < 2; i++) fits = fits && g.stride[i] >= 1 && g.dilation[i] >= 1;
  for (int i = 0; i < 4; i++) fits = fits && g.padding[i] >= 0;
  if (!fits) fail(Code::internal, "convolution: sizes do not fit");
  g.og = g.o / g.groups;
  return g;
}

void conv2d(Args& args) {
  Tensor x = args.tensor(), filter = args.tensor(), bias{};
  const bool with_bias = args.inputs() > 2;
  if (with_bias) bias = args.tensor();
  Tensor y = args.tensor();
  const Geometry g = geometry(args, x, filter, y);
  const bool relu = args.integer() == 1;
  if (with_bias && bias.size != g.o)
    fail(Code::internal, "convolution: a bias of %lld for %lld outputs", (long long)bias.size, (long long)g.o);
  if (y.size == 0) return;
  if (y.dtype == DType::f32) forward<float>(g, x.as<float>(), filter.as<float>(), bias.as<float>(), y.as<float>(), relu);
  else if (y.dtype == DType::f64)
    forward<double>(g, x.as<double>(), filter.as<double>(), bias.as<double>(), y.as<double>(), relu);
  else if (y.dtype != DType::bf16 || !has_tiles()) fail(Code::unimplemented, "Conv2D of this dtype");
  else if (g.groups > 1) forward_groups(g, x, filter, bias.as<BFloat>(), y, relu);
  else forward<BFloat>(g, x.as<BFloat>(), filter.as<BFloat>(), bias.as<BFloat>(), y.as<BFloat>(), relu);
}

void conv2d_backprop_input(Args& args) {
  Tensor filter = args.tensor(), dy = args.tensor(), dx = args.tensor();
  const Geometry g = geometry(args, dx, filter, dy);
  if (dx.size == 0) return;
  if (dx.dtype == DType::f32) backward_input<float>(g, filter.as<float>(), dy.as<float>(), dx.as<float>());
  else if (dx.dtype == DType::f64) backward_input<double>(g, filter.as<double>(), dy.as<double>(), dx.as<double>());
  else if (dx.dtype != DType::bf16 || !has_tiles()) fail(Code::unimplemented, "Conv2DBackpropInput of this dtype");
  else if (g.groups > 1) {
    const Widened wide_filter(filter), wide_dy(dy), wide_dx(dx, false);
    backward_input<float>(g, wide_filter.data.get(), wide_dy.data.get(), wide_dx.data.get());
    wide_dx.round(dx);
  } else backward_input<BFloat>(g, filter.as<BFloat>(), dy.as<BFloat>(), dx.as<BFloat>());
}

template <class T> void backward_filter(const Geometry& g, const T* x, const T* dy, T* df) {
  Product p;
  // With many rows the sums are long, and filter_gradient splits them.
  if (is_product(g, &p) && p.rows <= p.k) return gemm(Gemm<T>{p.k, g.o, p.rows, x, 1, p.k, dy, g.o, 1, df, g.o, nullptr, false});
  if constexpr (std::is_same_v<T, BFloat>) {
    tile_filter_gradient(forward_convolution<BFloat>(g, x, nullptr), dy, df);
  } else {
    if (is_depthwise(g)) return depthwise_filter<T>(g, x, dy, df);
    if constexpr (std::is_same_v<T, float>) {
      if (winograd_filter(forward_convolution<float>(g, x, nullptr), dy, df)) return;
    }
    filter_gradient<T>(g, x, dy, df);
  }
}

void conv2d_backprop_filter(Args& args) {
  Tensor x = args.tensor(), dy = args.tensor(), df = args.tensor();
  const Geometry g = geometry(args, x, df, dy);
  if (df.size == 0) return;
  if (df.dtype == DType::f32) backward_filter<float>(g, x.as<float>(), dy.as<float>(), df.as<float>());
  else if (df.dtype == DType::f64) backward_filter<double>(g, x.as<double>(), dy.as<double>(), df.as<double>());
  else if (df.dtype != DType::bf16 || !has_tiles()) fail(Code::unimplemented, "Conv2DBackpropFilter of this dtype");
  else if (g.groups > 1) {
    const Widened wide_x(x), wide_dy(dy), wide_df(df, false);
    backward_filter<float>(g, wide_x.data.get(), wide_dy.data.get(), wide_df.data.get());
    wide_df.round(df);
  } else backward_filter<BFloat>(g, x.as<BFloat>(), dy.as<BFloat>(), df.as<BFloat>());
}

}  // namespace

void register_conv(Registry& r) {
  r.add("Conv2D", conv2d);
  r.add("Conv2DBackpropInput", conv2d_backprop_input);
  r.add("Conv2DBackpropFilter", conv2d_backprop_filter);
}
EAGRE_END
