// MaxPool, MaxPoolGrad, MaxPoolGather, AvgPool, AvgPoolGrad; NHWC, vectorised over channels.
#include <cmath>

#include "strided.h"

EAGRE_BEGIN
namespace {

// W channels at once; an index has the element's width, so that a comparison can choose between indices too.
template <class T> struct IndexOf { using type = int32_t; };
template <> struct IndexOf<double> { using type = int64_t; };
template <class T, int W> struct Lanes {
  using I = typename IndexOf<T>::type;
  typedef T V __attribute__((vector_size(W * sizeof(T))));
  typedef I N __attribute__((vector_size(W * sizeof(I))));
  typedef int32_t N32 __attribute__((vector_size(W * 4)));
  static V load(const T* p) {
    V v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static void store(T* p, V v) { std::memcpy(p, &v, sizeof v); }
  static N load_index(const int32_t* p) {
    N32 n;
    std::memcpy(&n, p, sizeof n);
    return __builtin_convertvector(n, N);
  }
  static void store_index(int32_t* p, N n) {
    N32 narrow = __builtin_convertvector(n, N32);
    std::memcpy(p, &narrow, sizeof narrow);
  }
  static N lane_numbers() {
    N n;
    for (int i = 0; i < W; i++) n[i] = i;
    return n;
  }
};

// Calls f(channel, Lanes) over all channels: full vectors, then halves, quarters, ... of one.
template <class T, int W = kVectorBytes / sizeof(T), class F> inline void over_channels(int64_t channels, F&& f, int64_t c = 0) {
  for (; c + W <= channels; c += W) f(c, Lanes<T, W>{});
  if constexpr (W > 1) {
    if (c < channels) over_channels<T, W / 2>(channels, f, c);
  }
}

struct Window {
  int64_t n, h, w, c, oh, ow;
  int64_t size[2], strides[2], padding[4];

  // The rows [y0, y1) of the image under output row oy; none where it lies in the padding.
  void rows(int64_t oy, int64_t& y0, int64_t& y1) const { clip(oy * strides[0] - padding[0], size[0], h, y0, y1); }
  void columns(int64_t ox, int64_t& x0, int64_t& x1) const { clip(ox * strides[1] - padding[2], size[1], w, x0, x1); }

 private:
  static void clip(int64_t start, int64_t length, int64_t limit, int64_t& from, int64_t& to) {
    from = start < 0 ? 0 : start;
    to = start + length > limit ? limit : start + length;
    if (to < from) to = from;
  }
};

Window window(const Tensor& x, const Tensor& y, Args& a) {
  Window p;
  if (x.rank != 4 || y.rank != 4 || x.dims[0] != y.dims[0] || x.dims[3] != y.dims[3]) {
    fail(Code::internal, "images must be [n, h, w, c]");
  }
  int n = a.list(p.size, 2), m = a.list(p.strides, 2), k = a.list(p.padding, 4);
  if (n != 2 || m != 2 || k != 4) fail(Code::internal, "window and strides have two, the padding four numbers");
  for (int i = 0; i < 2; i++) if (p.size[i] < 1 || p.strides[i] < 1) fail(Code::internal, "window and strides must be positive");
  p.n = x.dims[0], p.h = x.dims[1], p.w = x.dims[2], p.c = x.dims[3], p.oh = y.dims[1], p.ow = y.dims[2];
  return p;
}

[[noreturn]] void unsupported() { fail(Code::unimplemented, "pooling takes float32 or float64"); }

template <class F> void visit_floating(DType t, F&& f) {
  switch (t) {
    case DType::f32: f(float{}); break;
    case DType::f64: f(double{}); break;
    default: unsupported();
  }
}

// ---- maxima

template <class T> void max_pool_rows(const Window& p, const T* x, T* y, int32_t* argmax) {
  const int64_t image = p.h * p.w * p.c, row = p.ow * p.c;
  const int64_t bytes = p.strides[0] * p.w * p.c * static_cast<int64_t>(sizeof(T)) + 2 * row * static_cast<int64_t>(sizeof(T));
  parallel_rows(p.n * p.oh, bytes, [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; r++) {
      const T* in = x + r / p.oh * image;
      int64_t y0, y1, x0, x1;
      p.rows(r % p.oh, y0, y1);
      for (int64_t ox = 0; ox < p.ow; ox++) {
        T* to = y + r * row + ox * p.c;
        int32_t* at = argmax + r * row + ox * p.c;
        p.columns(ox, x0, x1);
        over_channels<T>(p.c, [&](int64_t c, auto lanes) {
          using L = decltype(lanes);
          using I = typename L::I;
          typename L::V best = typename L::V{} - static_cast<T>(INFINITY);
          typename L::N index = typename L::N{} - 1;
          if (y0 < y1 && x0 < x1) {
            best = L::load(in + (y0 * p.w + x0) * p.c + c);
            index = static_cast<I>((y0 * p.w + x0) * p.c + c) + L::lane_numbers();
          }
          for (int64_t iy = y0; iy < y1; iy++) {
            for (int64_t ix = x0; ix < x1; ix++) {
              int64_t offset = (iy * p.w + ix) * p.c + c;
              auto v = L::load(in + offset);
              // Not "greater", so that a NaN wins; and the first NaN stays.
              auto keep = (v <= best) | (best != best);
              best = keep ? best : v;
              index = keep ? index : static_cast<I>(offset) + L::lane_numbers();
            }
          }
          L::store(to + c, best);
          L::store_index(at + c, index);
        });
      }
    }
  });
}

void max_pool(Args& a) {
  Tensor x = a.tensor(), y = a.tensor(), argmax = a.tensor();
  Window p = window(x, y, a);
  if (argmax.dtype != DType::i32 || argmax.size != y.size) fail(Code::internal, "argmax must be int32 of the output's shape");
  if (p.h * p.w * p.c > INT32_MAX) fail(Code::unimplemented, "an image of more than 2^31 - 1 numbers");
  if (y.size == 0) return;
  visit_floating(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    max_pool_rows(p, x.as<T>(), y.as<T>(), argmax.as<int32_t>());
  });
}

// What MaxPoolGrad and MaxPoolGather know: images of `large` numbers and of `small` ones.
struct Images {
  int64_t n, large, small;
};
Images images(const Tensor& large, const Tensor& small, const Tensor& argmax) {
  if (large.rank != 4 || small.rank != 4 || large.dims[0] != small.dims[0]) fail(Code::internal, "images must be [n, h, w, c]");
  if (argmax.dtype != DType::i32 || argmax.size != small.size) fail(Code::internal, "argmax must be int32 of the output's shape");
  return {large.dims[0], product(large.dims, 1, 4), product(small.dims, 1, 4)};
}

[[noreturn]] void bad_index(int32_t at, int64_t size) {
  fail(Code::out_of_range, "argmax %d is not in [0, %lld)", at, ll(size));
}

// Checked before anything runs in parallel: one pass over numbers that are needed next anyway.
void check_argmax(const int32_t* argmax, int64_t count, int64_t size) {
  uint32_t most = 0;
  for (int64_t i = 0; i < count; i++) {
    uint32_t at = static_cast<uint32_t>(argmax[i]) + 1u;
    most = at > most ? at : most;
  }
  if (static_cast<int64_t>(most) <= size) return;
  for (int64_t i = 0; i < count; i++) if (argmax[i] < -1 || argmax[i] >= size) bad_index(argmax[i], size);
}

template <class T> void scatter_image(const T* dy, const int32_t* argmax, T* dx, const Images& s) {
  check_argmax(argmax, s.small, s.large);
  std::memset(dx, 0, static_cast<size_t>(s.large) * sizeof(T));
  for (int64_t i = 0; i < s.small; i++) {
    if (argmax[i] >= 0) dx[argmax[i]] += dy[i];
  }
}

void max_pool_grad(Args& a) {
  Tensor dy = a.tensor(), argmax = a.tensor(), dx = a.tensor();
  Images s = images(dx, dy, argmax);
  if (dx.size == 0) return;
  visit_floating(dx.dtype, [&](auto tag) {
    using T = decltype(tag);
    parallel_rows(s.n, (s.large + s.small) * static_cast<int64_t>(sizeof(T)), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) {
        scatter_image(dy.as<T>() + i * s.small, argmax.as<int32_t>() + i * s.small, dx.as<T>() + i * s.large, s);
      }
    });
  });
}

void max_pool_gather(Args& a) {
  Tensor x = a.tensor(), argmax = a.tensor(), y = a.tensor();
  Images s = images(x, y, argmax);
  if (y.size == 0) return;
  visit_floating(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    parallel_rows(s.n, 2 * s.small * static_cast<int64_t>(sizeof(T)), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) {
        const T* from = x.as<T>() + i * s.large;
        const int32_t* at = argmax.as<int32_t>() + i * s.small;
        T* to = y.as<T>() + i * s.small;
        check_argmax(at, s.small, s.large);
        for (int64_t k = 0; k < s.small; k++) to[k] = at[k] < 0 ? T(0) : from[at[k]];
      }
    });
  });
}

// ---- means

template <class T> void avg_pool_rows(const Window& p, const T* x, T* y) {
  const int64_t image = p.h * p.w * p.c, row = p.ow * p.c;
  const int64_t bytes = p.size[0] * p.w * p.c * static_cast<int64_t>(sizeof(T));
  parallel_rows(p.n * p.oh, bytes, [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; r++) {
      const T* in = x + r / p.oh * image;
      int64_t y0, y1, x0, x1;
      p.rows(r % p.oh, y0, y1);
      for (int64_t ox = 0; ox < p.ow; ox++) {
        T* to = y + r * row + ox * p.c;
        p.columns(ox, x0, x1);
        const T count = static_cast<T>((y1 - y0) * (x1 - x0));
        over_channels<T>(p.c, [&](int64_t c, auto lanes) {
          using L = decltype(lanes);
          typename L::V sum = {};
          for (int64_t iy = y0; iy < y1; iy++) {
            for (int64_t ix = x0; ix < x1; ix++) sum += L::load(in + (iy * p.w + ix) * p.c + c);
          }
          L::store(to + c, sum / count);
        });
      }
    }
  });
}

void avg_pool(Args& a) {
  Tensor x = a.tensor(), y = a.tensor();
  Window p = window(x, y, a);
  if (y.size == 0) return;
  visit_floating(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    avg_pool_rows(p, x.as<T>(), y.as<T>());
  });
}

// Each chunk owns rows of dx and adds the output rows that cover them in ascending order.
template <class T> void avg_pool_grad_rows(const Window& p, const T* dy, T* dx) {
  const int64_t image = p.oh * p.ow * p.c, row = p.w * p.c;
  const int64_t cover = (p.size[0] + p.strides[0] - 1) / p.strides[0];
  parallel_rows(p.n * p.h, (1 + cover) * row * static_cast<int64_t>(sizeof(T)), [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; r++) {
      const T* from = dy + r / p.h * image;
      T* to = dx + r * row;
      std::memset(to, 0, static_cast<size_t>(row) * sizeof(T));
      // oy · stride - top <= iy < oy · stride - top + window
      const int64_t at = r % p.h + p.padding[0];
      int64_t first = at < p.size[0] ? 0 : (at - p.size[0]) / p.strides[0] + 1;
      int64_t last = at / p.strides[0] < p.oh ? at / p.strides[0] : p.oh - 1;
      for (int64_t oy = first; oy <= last; oy++) {
        int64_t y0, y1, x0, x1;
        p.rows(oy, y0, y1);
        for (int64_t ox = 0; ox < p.ow; ox++) {
          p.columns(ox, x0, x1);
          const T count = static_cast<T>((y1 - y0) * (x1 - x0));
          over_channels<T>(p.c, [&](int64_t c, auto lanes) {
            using L = decltype(lanes);
            auto share = L::load(from + (oy * p.ow + ox) * p.c + c) / count;
            for (int64_t ix = x0; ix < x1; ix++) L::store(to + ix * p.c + c, L::load(to + ix * p.c + c) + share);
          });
        }
      }
    }
  });
}

void avg_pool_grad(Args& a) {
  Tensor dy = a.tensor(), dx = a.tensor();
  Window p = window(dx, dy, a);
  if (dx.size == 0) return;
  visit_floating(dx.dtype, [&](auto tag) {
    using T = decltype(tag);
    avg_pool_grad_rows(p, dy.as<T>(), dx.as<T>());
  });
}

}  // namespace

void register_pool2d(Registry& r) {
  r.add("MaxPool", max_pool);
  r.add("MaxPoolGrad", max_pool_grad);
  r.add("MaxPoolGather", max_pool_gather);
  r.add("AvgPool", avg_pool);
  r.add("AvgPoolGrad", avg_pool_grad);
}
EAGRE_END
