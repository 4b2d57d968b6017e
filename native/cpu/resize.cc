// ResizeBilinear, ResizeAxis.
#include <cmath>

#include "isa.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kChunkElements = 1 << 14;

// The two pixels around each new one of an axis, and how much the second one counts: centres of pixels lie at halves.
template <class T> struct Places {
  int64_t* low;
  int64_t* high;
  T* share;
  // A multiple of 8.
  static int64_t bytes(int64_t n) { return n * static_cast<int64_t>(3 * sizeof(int64_t)); }
  Places(char* memory, int64_t from, int64_t to, int64_t step)
      : low(reinterpret_cast<int64_t*>(memory)), high(low + to), share(reinterpret_cast<T*>(high + to)) {
    const T scale = static_cast<T>(static_cast<double>(from) / static_cast<double>(to));
    for (int64_t i = 0; i < to; i++) {
      const T place = (static_cast<T>(i) + T(0.5)) * scale - T(0.5), below = std::floor(place);
      low[i] = clipped(below, from) * step;
      high[i] = clipped(std::ceil(place), from) * step;
      share[i] = place - below;
    }
  }
  static int64_t clipped(T place, int64_t n) { return max64(min64(static_cast<int64_t>(place), n - 1), 0); }
};

template <class T> inline void mix(const T* a, const T* b, T share, T* y, int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i] = a[i] + (b[i] - a[i]) * share;
}

template <int C, class T> void mix_pixels(const T* row, const Places<T>& x, T* y, int64_t n) {
  for (int64_t i = 0; i < n; i++, y += C) {
    const T *a = row + x.low[i], *b = row + x.high[i];
    for (int k = 0; k < C; k++) y[k] = a[k] + (b[k] - a[k]) * x.share[i];
  }
}

template <class T> void resize_typed(const Tensor& x, const Tensor& y) {
  const int64_t h = x.dims[1], w = x.dims[2], height = y.dims[1], width = y.dims[2], c = x.dims[3];
  char* memory = static_cast<char*>(scratch(0, Places<T>::bytes(height) + Places<T>::bytes(width)));
  const Places<T> rows(memory, h, height, w * c), columns(memory + Places<T>::bytes(height), w, width, c);
  parallel_for(y.dims[0] * height, max64(kChunkElements / max64(w * c, 1), 1), [&](int64_t begin, int64_t end) {
    T* mixed = static_cast<T*>(scratch(1, w * c * static_cast<int64_t>(sizeof(T))));
    for (int64_t i = begin; i < end; i++) {
      const T* image = x.as<T>() + i / height * h * w * c;
      const int64_t row = i % height;
      mix(image + rows.low[row], image + rows.high[row], rows.share[row], mixed, w * c);
      T* to = y.as<T>() + i * width * c;
      if (c == 1) mix_pixels<1>(mixed, columns, to, width);
      else if (c == 3) mix_pixels<3>(mixed, columns, to, width);
      else for (int64_t j = 0; j < width; j++) mix(mixed + columns.low[j], mixed + columns.high[j], columns.share[j], to + j * c, c);
    }
  });
}

void resize_bilinear(Args& args) {
  const Tensor x = args.tensor(), y = args.tensor();
  if (x.rank != 4 || y.rank != 4 || x.dtype != y.dtype || x.dims[0] != y.dims[0] || x.dims[3] != y.dims[3])
    fail(Code::internal, "images that do not fit");
  if (y.size == 0) return;
  if (x.size == 0) fail(Code::internal, "images without pixels");
  if (x.dtype == DType::f32) resize_typed<float>(x, y);
  else if (x.dtype == DType::f64) resize_typed<double>(x, y);
  else fail(Code::unimplemented, "ResizeBilinear of this dtype");
}

// A linear map along an axis, whose rows have few numbers that are not 0.
template <class T> struct Spans {
  const int32_t* ends;
  const T* weights;
  int64_t to, k;
  bool transposed;

  // Rows of `width` elements; those of x and of y are `x_step` and `y_step` apart. y is zeros before.
  void sum(const T* x, int64_t x_step, T* y, int64_t y_step, int64_t width) const {
    for (int64_t i = 0; i < to; i++) {
      const T* w = weights + i * k - ends[2 * i];
      for (int64_t j = ends[2 * i]; j < ends[2 * i + 1]; j++) {
        const T* read = x + (transposed ? i : j) * x_step;
        T* write = y + (transposed ? j : i) * y_step;
        for (int64_t e = 0; e < width; e++) write[e] += w[j] * read[e];
      }
    }
  }
};

constexpr int64_t kWide = 512, kLanes = 16;

template <class T> void resize_axis_typed(const Tensor& x, const Spans<T>& spans, const Tensor& y) {
  const int64_t n = x.dims[0], from = x.dims[1], to = y.dims[1], c = x.dims[2];
  const int64_t work = max64((spans.transposed ? from : to) * spans.k, from + to);
  if (c >= kLanes) {
    const int64_t pieces = (c + kWide - 1) / kWide;
    parallel_for(n * pieces, max64(kChunkElements / (work * min64(c, kWide)), 1), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; task++) {
        const int64_t image = task / pieces, first = task % pieces * kWide, width = min64(kWide, c - first);
        T* sums = y.as<T>() + image * to * c + first;
        for (int64_t i = 0; i < to; i++) for (int64_t e = 0; e < width; e++) sums[i * c + e] = 0;
        spans.sum(x.as<T>() + image * from * c + first, c, sums, c, width);
      }
    });
    return;
  }
  // Few channels: several images at once, whose pixels are put beside each other.
  parallel_for((n + kLanes - 1) / kLanes, max64(kChunkElements / (work * kLanes * c), 1), [&](int64_t begin, int64_t end) {
    T* pixels = static_cast<T*>(scratch(0, (from + to) * c * kLanes * static_cast<int64_t>(sizeof(T))));
    T* sums = pixels + from * c * kLanes;
    for (int64_t task = begin; task < end; task++) {
      const int64_t first = task * kLanes, lanes = min64(kLanes, n - first), in = from * c, out = to * c;
      const T* read = x.as<T>() + first * in;
      T* write = y.as<T>() + first * out;
      for (int64_t e = 0; e < in; e++) for (int64_t l = 0; l < lanes; l++) pixels[e * lanes + l] = read[l * in + e];
      for (int64_t e = 0; e < out * lanes; e++) sums[e] = 0;
      spans.sum(pixels, c * lanes, sums, c * lanes, c * lanes);
      for (int64_t l = 0; l < lanes; l++) for (int64_t e = 0; e < out; e++) write[l * out + e] = sums[e * lanes + l];
    }
  });
}

void resize_axis(Args& args) {
  const Tensor x = args.tensor(), ends = args.tensor(), weights = args.tensor(), y = args.tensor();
  const bool transposed = args.flag();
  if (x.rank != 3 || y.rank != 3 || ends.rank != 2 || weights.rank != 2 || x.dtype != y.dtype || weights.dtype != x.dtype ||
      ends.dtype != DType::i32 || ends.dims[1] != 2 || ends.dims[0] != weights.dims[0] || x.dims[0] != y.dims[0] ||
      x.dims[2] != y.dims[2] || (transposed ? x : y).dims[1] != weights.dims[0])
    fail(Code::internal, "images that do not fit");
  const int64_t from = (transposed ? y : x).dims[1], to = weights.dims[0], k = weights.dims[1];
  const int32_t* span = ends.as<int32_t>();
  for (int64_t i = 0; i < to; i++, span += 2)
    if (span[0] < 0 || span[0] > span[1] || span[1] > from || span[1] - span[0] > k)
      fail(Code::out_of_range, "span %lld from %d to %d is not in [0, %lld] and at most %lld long", static_cast<long long>(i),
           span[0], span[1], static_cast<long long>(from), static_cast<long long>(k));
  if (y.size == 0) return;
  if (x.dtype == DType::f32) resize_axis_typed<float>(x, {ends.as<int32_t>(), weights.as<float>(), to, k, transposed}, y);
  else if (x.dtype == DType::f64) resize_axis_typed<double>(x, {ends.as<int32_t>(), weights.as<double>(), to, k, transposed}, y);
  else fail(Code::unimplemented, "ResizeAxis of this dtype");
}

}  // namespace

void register_resize(Registry& r) {
  r.add("ResizeBilinear", resize_bilinear);
  r.add("ResizeAxis", resize_axis);
}
EAGRE_END
