// What the convolution kernels share. An input gradient is a convolution as well: of the phase of pixels whose coordinates leave
// the same rest modulo the stride, with the taps that reach that phase, turned around. So both run on the same axes.
#pragma once
#include <cstring>

#include "gemm.h"

EAGRE_BEGIN

struct Geometry {
  int64_t n, h, w, c, kh, kw, cg, o, og, oh, ow, groups;
  int64_t stride[2], padding[4], dilation[2];
};

// One dimension of a convolution. Output number i (of `count`, at out0 + i · out_step) reads, at tap t, the input at
// in0 + i · in_step + t · tap_in, which counts as 0 outside of [0, in); the tap is number tap0 + t · tap_step of the filter.
struct Axis {
  int64_t count, out0, out_step;
  int64_t taps, tap0, tap_step;
  int64_t in, in0, in_step, tap_in;
};

template <class T> struct Convolution {
  Axis h, w;
  int64_t images;
  const T* in;
  int64_t in_channels, run_channels;  // of a pixel; of a group of it
  T* out;
  int64_t out_h, out_w, out_channels, group_out;
  int64_t groups;
  const T* bias;
  bool relu;
};

// groups = channels = outputs, each channel by itself; filter [kh, kw, c], of `filter_w` columns.
template <class T> void depthwise(const Convolution<T>& v, const T* filter, int64_t filter_w);
template <> void depthwise<float>(const Convolution<float>& v, const float* filter, int64_t filter_w);
template <> void depthwise<double>(const Convolution<double>& v, const double* filter, int64_t filter_w);
template <class T> void depthwise_filter(const Geometry& g, const T* x, const T* dy, T* df);
template <> void depthwise_filter<float>(const Geometry& g, const float* x, const float* dy, float* df);
template <> void depthwise_filter<double>(const Geometry& g, const double* x, const double* dy, double* df);

// The taps of a filter of 3×3: element (k, j) of a tap lies at data[k · k_step + j · column_step], `tap_size` from tap to tap.
struct Taps3 {
  const float* data;
  int64_t tap_size, k_step, column_step;
};
// Whether it was worth it, and has been done. Uses the scratch slots 1 and 3.
bool winograd(const Convolution<float>& v, const Taps3& taps);
// The gradient df of the filter, from that of the outputs.
bool winograd_filter(const Convolution<float>& v, const float* dy, float* df);

// By tile registers, of one group: a convolution, or an input gradient; and the gradient df of the filter.
void tile_convolution(const Convolution<BFloat>& v, const BFloat* filter, int64_t filter_w, bool backward);
void tile_filter_gradient(const Convolution<BFloat>& v, const BFloat* dy, BFloat* df);

template <class T> void filter_gradient(const Geometry& g, const T* x, const T* dy, T* df);
template <> void filter_gradient<float>(const Geometry& g, const float* x, const float* dy, float* df);
template <> void filter_gradient<double>(const Geometry& g, const double* x, const double* dy, double* df);

namespace {

inline Axis forward_axis(int64_t in, int64_t out, int64_t taps, int64_t stride, int64_t padding, int64_t dilation) {
  return {out, 0, 1, taps, 0, 1, in, -padding, stride, dilation};
}

// Input rows [low, high) of image x, widened by zeros so that no tap of the axis falls outside; where nothing would, the image
// as it is. Uses the given scratch slot.
template <class T> struct Band {
  const T* data;        // of row `low`, at the column that tap 0 of output 0 reads
  int64_t low, high, row;
  Band(const T* image, const Axis& w, int64_t channels, int64_t first, int64_t last, int64_t rows, int slot) {
    low = max64(first, 0);
    high = max64(min64(last, rows), low);
    const int64_t reach = (w.count - 1) * w.in_step + w.in0 + (w.taps - 1) * w.tap_in;
    const int64_t left = max64(-w.in0, 0), right = max64(reach - (w.in - 1), 0);
    if (left == 0 && right == 0) {
      row = w.in * channels;
      data = image + low * row + w.in0 * channels;
      return;
    }
    row = (left + w.in + right) * channels;
    T* copy = static_cast<T*>(scratch(slot, (high - low) * row * static_cast<int64_t>(sizeof(T))));
    for (int64_t y = low; y < high; y++) {
      T* to = copy + (y - low) * row;
      std::memset(to, 0, static_cast<size_t>(left * channels) * sizeof(T));
      std::memcpy(to + left * channels, image + y * w.in * channels, static_cast<size_t>(w.in * channels) * sizeof(T));
      std::memset(to + (left + w.in) * channels, 0, static_cast<size_t>(right * channels) * sizeof(T));
    }
    data = copy + (left + w.in0) * channels;
  }
  const T* at(int64_t y) const { return data + (y - low) * row; }
  bool holds(int64_t y) const { return y >= low && y < high; }
};

}  // namespace
EAGRE_END
