// What every kernel test needs: calling a kernel by its name, and checks that count failures.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "../runtime/pool.h"
#include "../runtime/registry.h"

namespace eagre {

template <class T> struct DTypeOf;
template <> struct DTypeOf<float> { static constexpr DType value = DType::f32; };
template <> struct DTypeOf<double> { static constexpr DType value = DType::f64; };
template <> struct DTypeOf<int32_t> { static constexpr DType value = DType::i32; };
template <> struct DTypeOf<int64_t> { static constexpr DType value = DType::i64; };
template <> struct DTypeOf<uint8_t> { static constexpr DType value = DType::u8; };
template <> struct DTypeOf<int8_t> { static constexpr DType value = DType::i8; };
template <> struct DTypeOf<int16_t> { static constexpr DType value = DType::i16; };
template <> struct DTypeOf<uint16_t> { static constexpr DType value = DType::u16; };
template <> struct DTypeOf<uint32_t> { static constexpr DType value = DType::u32; };
template <> struct DTypeOf<uint64_t> { static constexpr DType value = DType::u64; };
template <> struct DTypeOf<Half> { static constexpr DType value = DType::f16; };
template <> struct DTypeOf<BFloat> { static constexpr DType value = DType::bf16; };
template <> struct DTypeOf<bool> { static constexpr DType value = DType::boolean; };

// The bits of the nearest bfloat16 of a number, ties to even, and its value.
inline BFloat bfloat(double x) {
  const float value = static_cast<float>(x);
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
inline float rounded(double x) {
  const uint32_t bits = static_cast<uint32_t>(bfloat(x).bits) << 16;
  float y;
  std::memcpy(&y, &bits, 4);
  return y;
}
inline bool has_bfloat_products() { return !std::strcmp(kernels().isa, "amx"); }

using Dims = std::vector<int64_t>;

// A tensor that owns its elements, with `kGuard` bytes after them that a kernel must leave alone. None with AddressSanitizer,
// which sees reads as well.
template <class T> struct Array {
#if defined(__SANITIZE_ADDRESS__)
  static constexpr size_t kGuard = 0;
#else
  static constexpr size_t kGuard = 64;
#endif
  Dims dims;
  int64_t size = 1;
  std::vector<unsigned char> bytes;

  explicit Array(Dims d, T value = T()) : dims(std::move(d)) {
    for (int64_t n : dims) size *= n;
    const size_t n = static_cast<size_t>(size) * sizeof(T) + kGuard;
    bytes.assign(n > 0 ? n : 1, 0xA5);  // an address also without elements
    for (int64_t i = 0; i < size; i++) data()[i] = value;
  }
  Array(Dims d, std::initializer_list<T> values) : Array(std::move(d)) {
    int64_t i = 0;
    for (T v : values) data()[i++] = v;
  }
  template <class F> static Array make(Dims d, F f) {
    Array a(std::move(d));
    for (int64_t i = 0; i < a.size; i++) a.data()[i] = static_cast<T>(f(i));
    return a;
  }
  T* data() { return reinterpret_cast<T*>(bytes.data()); }
  const T* data() const { return reinterpret_cast<const T*>(bytes.data()); }
  T& operator[](int64_t i) { return data()[i]; }
  const T& operator[](int64_t i) const { return data()[i]; }
  bool intact() const {
    for (size_t i = bytes.size() - kGuard; i < bytes.size(); i++) if (bytes[i] != 0xA5) return false;
    return true;
  }
};

// One call: Call().in(x).out(y).list({0, 1}).attr(2).run("Kernel").
class Call {
 public:
  template <class T> Call& in(const Array<T>& a) { return tensor(a, inputs_); }
  template <class T> Call& out(Array<T>& a) { return tensor(a, outputs_); }
  Call& attr(double v) { attrs_.push_back(v); return *this; }
  Call& list(const Dims& items) {
    attrs_.push_back(static_cast<double>(items.size()));
    for (int64_t v : items) attrs_.push_back(static_cast<double>(v));
    return *this;
  }
  // The error's code, or Code::ok; its text is in `message`.
  Code run(const char* name) {
    const KernelTable& table = kernels();
    std::vector<double> block = {static_cast<double>(inputs_), static_cast<double>(outputs_)};
    block.insert(block.end(), tensors_.begin(), tensors_.end());
    block.insert(block.end(), attrs_.begin(), attrs_.end());
    for (size_t i = 0; i < table.size; i++) {
      if (std::strcmp(table.names[i], name)) continue;
      try {
        Args args(block.data(), block.data() + block.size());
        table.fns[i](args);
        return Code::ok;
      } catch (const KernelError& e) {
        std::snprintf(message, sizeof message, "%s", e.message);
        return e.code;
      }
    }
    std::snprintf(message, sizeof message, "no kernel %s", name);
    return Code::internal;
  }
  char message[256] = "";

 private:
  template <class T> Call& tensor(const Array<T>& a, int& count) {
    count++;
    tensors_.push_back(static_cast<double>(reinterpret_cast<uintptr_t>(a.data())));
    tensors_.push_back(static_cast<double>(static_cast<int32_t>(DTypeOf<T>::value)));
    tensors_.push_back(static_cast<double>(a.dims.size()));
    for (int64_t n : a.dims) tensors_.push_back(static_cast<double>(n));
    return *this;
  }
  int inputs_ = 0, outputs_ = 0;
  std::vector<double> tensors_, attrs_;
};

inline int& failures() {
  static int n = 0;
  return n;
}

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                 \
      ::eagre::failures()++;                                                      \
    }                                                                             \
  } while (0)

// Equal to the last bit (so NaN equals NaN), and nothing written behind the end.
template <class T> bool same(const Array<T>& a, const Array<T>& b) {
  if (a.size != b.size || !a.intact() || !b.intact()) return false;
  return std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size) * sizeof(T)) == 0;
}

// Within `relative` of the expected value (or `absolute` near zero).
template <class T> bool close(const Array<T>& a, const Array<T>& b, double relative, double absolute = 0) {
  if (a.size != b.size || !a.intact() || !b.intact()) return false;
  for (int64_t i = 0; i < a.size; i++) {
    double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    if (x == y || (x != x && y != y)) continue;
    if (!(std::fabs(x - y) <= relative * std::fabs(y) + absolute)) {
      std::printf("  [%lld] %.17g, expected %.17g\n", static_cast<long long>(i), x, y);
      return false;
    }
  }
  return true;
}

// A small generator for test data; the sequence depends on the seed alone.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2654435769u + 88172645463325252u) {}
  uint64_t bits() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  int64_t below(int64_t n) { return static_cast<int64_t>((bits() >> 11) % static_cast<uint64_t>(n)); }
  double uniform(double low = -1, double high = 1) { return low + static_cast<double>(bits() >> 11) * 0x1p-53 * (high - low); }

 private:
  uint64_t state_;
};

inline int finish() {
  std::printf("%s on %s, %d threads\n", failures() ? "FAILED" : "passed", kernels().isa, thread_count());
  return failures() ? 1 : 0;
}

}  // namespace eagre
