// Depthwise convolution with one output per channel, and its filter gradient: vectors run across the channels.
#include <type_traits>

#include "conv.h"
#include "gemm_micro.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kChunkWork = 1 << 19;
constexpr int64_t kParts = 16;
constexpr int kPixels = 4, kVectors = 2, kTaps = 3;

// P neighbouring outputs, N vectors of channels; all taps [w0, w1) of a row tap lie inside the image for each of them.
template <class T, int P, int N, bool kPartial>
inline __attribute__((always_inline)) void depthwise_block(const T* const* rows, const T* const* filters, int64_t row_taps,
                                                           int64_t w0, int64_t w1, int64_t in_offset, int64_t in_step,
                                                           int64_t tap_in, int64_t filter_step, const T* bias, bool relu, T* out,
                                                           int64_t out_step, int64_t channels) {
  using V = typename Lanes<T>::V;
  constexpr int L = Lanes<T>::n;
  const Part<T> last(channels - (N - 1) * L);
  auto get = [&](const T* p, int j) __attribute__((always_inline)) {
    return kPartial && j == N - 1 ? last.load(p + j * L) : load<T>(p + j * L);
  };
  V acc[P][N] = {};
  for (int64_t th = 0; th < row_taps; th++) {
    const T* x = rows[th] + in_offset + w0 * tap_in;
    const T* f = filters[th] + w0 * filter_step;
    for (int64_t tw = w0; tw < w1; tw++, x += tap_in, f += filter_step) {
#pragma GCC unroll 4
      for (int j = 0; j < N; j++) {
        V fv = get(f, j);
#pragma GCC unroll 8
        for (int p = 0; p < P; p++) acc[p][j] = fma(get(x + p * in_step, j), fv, acc[p][j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < P; p++) {
#pragma GCC unroll 4
    for (int j = 0; j < N; j++) {
      V v = acc[p][j];
      if (bias) v += get(bias, j);
      if (relu) v = v < V{} ? V{} : v;
      if (kPartial && j == N - 1) last.store(out + p * out_step + j * L, v);
      else store<T>(out + p * out_step + j * L, v);
    }
  }
}

template <class T> void run_depthwise(const Convolution<T>& v, const T* filter, int64_t filter_w) {
  constexpr int L = Lanes<T>::n;
  const Axis &H = v.h, &W = v.w;
  const int64_t c = v.in_channels;
  const int64_t work = max64(W.count * H.taps * W.taps * c, 1);
  // Outputs [inner0, inner1) have all their column taps inside the image.
  const int64_t reach = (W.taps - 1) * W.tap_in + W.in0;
  const int64_t inner0 = min64(W.in0 < 0 ? ceil_div(-W.in0, W.in_step) : 0, W.count);
  const int64_t inner1 = max64(W.in - 1 < reach ? 0 : min64((W.in - 1 - reach) / W.in_step + 1, W.count), inner0);
  parallel_for(v.images * H.count, max64(kChunkWork / work, 1), [&](int64_t begin, int64_t end) {
    const T** rows = static_cast<const T**>(scratch(2, 2 * H.taps * static_cast<int64_t>(sizeof(T*)) + 8));
    const T** filters = rows + H.taps;
    for (int64_t row = begin; row < end; row++) {
      const int64_t image = row / H.count, i = row % H.count;
      int64_t taps = 0;
      for (int64_t th = 0; th < H.taps; th++) {
        const int64_t y = i * H.in_step + H.in0 + th * H.tap_in;
        if (y < 0 || y >= H.in) continue;
        rows[taps] = v.in + (image * H.in + y) * W.in * c;
        filters[taps++] = filter + ((H.tap0 + th * H.tap_step) * filter_w + W.tap0) * c;
      }
      T* out = v.out + ((image * v.out_h + H.out0 + i * H.out_step) * v.out_w + W.out0) * c;
      const int64_t in_step = W.in_step * c, tap_in = W.tap_in * c, filter_step = W.tap_step * c, out_step = W.out_step * c;
      for (int64_t ch = 0; ch < c;) {
        const int64_t channels = min64(c - ch, kVectors * L);
        const T* bias = v.bias ? v.bias + ch : nullptr;
        const int shape = channels == kVectors * L ? 0 : channels > L ? 1 : channels == L ? 2 : 3;
        auto block = [&](auto pixels, int64_t j, int64_t w0, int64_t w1) __attribute__((always_inline)) {
          constexpr int P = decltype(pixels)::value;
          const int64_t at = (W.in0 + j * W.in_step) * c;
          auto call = [&](auto vectors, auto partial) __attribute__((always_inline)) {
            depthwise_block<T, P, decltype(vectors)::value, decltype(partial)::value>(
                rows, filters, taps, w0, w1, at, in_step, tap_in, filter_step, bias, v.relu, out + j * out_step + ch, out_step,
                channels);
          };
          switch (shape) {
            case 0: call(std::integral_constant<int, 2>(), std::false_type()); break;
            case 1: call(std::integral_constant<int, 2>(), std::true_type()); break;
            case 2: call(std::integral_constant<int, 1>(), std::false_type()); break;
            default: call(std::integral_constant<int, 1>(), std::true_type());
          }
        };
        auto edge = [&](int64_t j) {
          const int64_t at = W.in0 + j * W.in_step;
          const int64_t w0 = at < 0 ? min64(ceil_div(-at, W.tap_in), W.taps) : 0;
          const int64_t w1 = W.taps == 0 || at >= W.in ? w0 : max64(min64((W.in - 1 - at) / W.tap_in + 1, W.taps), w0);
          block(std::integral_constant<int, 1>(), j, w0, w1);
        };
        for (int64_t t = 0; t < taps; t++) {
          rows[t] += ch;
          filters[t] += ch;
        }
        int64_t j = 0;
        for (; j < inner0; j++) edge(j);
        for (; j + kPixels <= inner1; j += kPixels) block(std::integral_constant<int, kPixels>(), j, 0, W.taps);
        for (; j < W.count; j++) edge(j);
        for (int64_t t = 0; t < taps; t++) {
          rows[t] -= ch;
          filters[t] -= ch;
        }
        ch += channels;
      }
    }
  });
}

// df of N vectors of channels at W neighbouring taps: sums over i of x[i] · dy[i], added to what df holds.
template <class T, int W, int N, bool kPartial>
inline __attribute__((always_inline)) void sum_taps(const T* x, int64_t x_step, int64_t tap_in, const T* dy, int64_t dy_step,
                                                    int64_t count, T* df, int64_t df_step, int64_t channels) {
  using V = typename Lanes<T>::V;
  constexpr int L = Lanes<T>::n;
  const Part<T> last(channels - (N - 1) * L);
  auto get = [&](const T* p, int j) __attribute__((always_inline)) {
    return kPartial && j == N - 1 ? last.load(p + j * L) : load<T>(p + j * L);
  };
  V acc[W][N] = {};
  for (int64_t i = 0; i < count; i++, x += x_step, dy += dy_step) {
#pragma GCC unroll 4
    for (int j = 0; j < N; j++) {
      V y = get(dy, j);
#pragma GCC unroll 4
      for (int w = 0; w < W; w++) acc[w][j] = fma(get(x + w * tap_in, j), y, acc[w][j]);
    }
  }
#pragma GCC unroll 4
  for (int w = 0; w < W; w++) {
#pragma GCC unroll 4
    for (int j = 0; j < N; j++) {
      T* to = df + w * df_step + j * L;
      V v = acc[w][j] + get(df + w * df_step, j);
      if (kPartial && j == N - 1) last.store(to, v);
      else store<T>(to, v);
    }
  }
}
template <class T, int W>
void sum_channels(const T* x, int64_t x_step, int64_t tap_in, const T* dy, int64_t count, T* df, int64_t channels) {
  constexpr int L = Lanes<T>::n;
  if (count <= 0) return;
  int64_t c = 0;
  for (; c + kVectors * L <= channels; c += kVectors * L) {
    sum_taps<T, W, kVectors, false>(x + c, x_step, tap_in, dy + c, channels, count, df + c, channels, kVectors * L);
  }
  for (; c < channels; c += L)
    sum_taps<T, W, 1, true>(x + c, x_step, tap_in, dy + c, channels, count, df + c, channels, min64(L, channels - c));
}

template <class T> void run_depthwise_filter(const Geometry& g, const T* x, const T* dy, T* df) {
  const int64_t size = g.kh * g.kw * g.c, rows = g.n * g.oh;
  const int64_t parts = max64(min64(min64(kParts, rows), rows * g.ow * size / kChunkWork), 1);
  T* sums = parts > 1 ? static_cast<T*>(scratch(1, (parts - 1) * size * static_cast<int64_t>(sizeof(T)))) : nullptr;
  parallel_for(parts, 1, [&](int64_t part, int64_t) {
    T* out = part == 0 ? df : sums + (part - 1) * size;
    std::memset(out, 0, static_cast<size_t>(size) * sizeof(T));
    const int64_t end = part_begin(rows, parts, part + 1);
    for (int64_t row = part_begin(rows, parts, part); row < end; row++) {
      const int64_t image = row / g.oh, i = row % g.oh;
      for (int64_t th = 0; th < g.kh; th++) {
        const int64_t y = i * g.stride[0] - g.padding[0] + th * g.dilation[0];
        if (y < 0 || y >= g.h) continue;
        const T* in = x + (image * g.h + y) * g.w * g.c;
        const T* from = dy + row * g.ow * g.c;
        const int64_t step = g.stride[1], tap_in = g.dilation[1] * g.c;
        for (int64_t tw = 0; tw < g.kw;) {
          const int64_t taps = min64(kTaps, g.kw - tw);
          // Tap t meets the image for outputs [low[t], high[t]); all of them for [low of the first, high of the last).
          int64_t low[kTaps], high[kTaps], at[kTaps];
          for (int64_t t = 0; t < taps; t++) {
            at[t] = (tw + t) * g.dilation[1] - g.padding[2];
            low[t] = at[t] < 0 ? min64(ceil_div(-at[t], step), g.ow) : 0;
            high[t] = max64(at[t] >= g.w ? 0 : min64((g.w - 1 - at[t]) / step + 1, g.ow), low[t]);
          }
          const int64_t j0 = low[0], j1 = max64(high[taps - 1], j0);
          T* to = out + (th * g.kw + tw) * g.c;
          auto sum = [&](auto width, int64_t t, int64_t begin, int64_t finish) {
            sum_channels<T, decltype(width)::value>(in + (at[t] + begin * step) * g.c, step * g.c, tap_in, from + begin * g.c,
                                                    finish - begin, to + t * g.c, g.c);
          };
          using One = std::integral_constant<int, 1>;
          if (taps == 3) sum(std::integral_constant<int, 3>(), 0, j0, j1);
          else if (taps == 2) sum(std::integral_constant<int, 2>(), 0, j0, j1);
          else sum(One(), 0, j0, j1);
          for (int64_t t = 0; t < taps; t++) {
            sum(One(), t, low[t], min64(high[t], j0));
            sum(One(), t, max64(low[t], j1), high[t]);
          }
          tw += taps;
        }
      }
    }
  });
  for (int64_t p = 0; p < parts - 1; p++) {
    for (int64_t i = 0; i < size; i++) df[i] += sums[p * size + i];
  }
}

}  // namespace

template <>
void depthwise<float>(const Convolution<float>& v, const float* filter, int64_t filter_w) {
  run_depthwise(v, filter, filter_w);
}
template <>
void depthwise<double>(const Convolution<double>& v, const double* filter, int64_t filter_w) {
  run_depthwise(v, filter, filter_w);
}
template <>
void depthwise_filter<float>(const Geometry& g, const float* x, const float* dy, float* df) {
  run_depthwise_filter(g, x, dy, df);
}
template <>
void depthwise_filter<double>(const Geometry& g, const double* x, const double* dy, double* df) {
  run_depthwise_filter(g, x, dy, df);
}

EAGRE_END
