// ResizeBilinear.
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

}  // namespace

void register_resize(Registry& r) { r.add("ResizeBilinear", resize_bilinear); }
EAGRE_END
