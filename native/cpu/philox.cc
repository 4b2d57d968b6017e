// PhiloxNumbers: what TensorFlow's stateless ops make of Philox4x32-10. packages/backend/src/philox-stream.ts has the same in TypeScript.
#include "log_gamma.h"
#include "random_math.h"

EAGRE_BEGIN
namespace {

// A key, and a counter of 128 bits.
struct Source {
  uint64_t key, low, high;
};

struct Keys {
  uint64_t of[20];  // of ten rounds
};
inline Keys round_keys(uint64_t key) {
  const Stream s = make_stream(static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32), 0, 0);
  Keys keys;
  std::memcpy(keys.of, s.keys, sizeof keys.of);
  return keys;
}

// The words of blocks first, first + step and so on behind the counter.
template <int N> inline void blocks_at(const Source& s, const Keys& keys, uint64_t first, uint64_t step, Words (&words)[N]) {
  for (int n = 0; n < N; n++) {
    vu64 block;
    for (int i = 0; i < kF64; i++) block[i] = s.low + (first + static_cast<uint64_t>(n * kF64 + i)) * step;
    const vu64 high = block < s.low ? vu64{} + (s.high + 1) : vu64{} + s.high;
    words[n] = {{block, block >> 32, high, high >> 32}};
  }
  philox_rounds(keys.of, words);
}

// Blocks one by one.
class Blocks {
 public:
  Blocks(const Source& s, const Keys& keys, uint64_t skipped) : keys_(keys), low_(s.low + skipped), high_(s.high + (low_ < s.low)) {}
  void next(uint32_t* w) {
    w[0] = static_cast<uint32_t>(low_), w[1] = static_cast<uint32_t>(low_ >> 32);
    w[2] = static_cast<uint32_t>(high_), w[3] = static_cast<uint32_t>(high_ >> 32);
    for (int round = 0; round < 10; round++) {
      const uint64_t p = uint64_t{0xD2511F53u} * w[0], q = uint64_t{0xCD9E8D57u} * w[2];
      w[0] = static_cast<uint32_t>(q >> 32) ^ w[1] ^ static_cast<uint32_t>(keys_.of[2 * round]);
      w[2] = static_cast<uint32_t>(p >> 32) ^ w[3] ^ static_cast<uint32_t>(keys_.of[2 * round + 1]);
      w[1] = static_cast<uint32_t>(q);
      w[3] = static_cast<uint32_t>(p);
    }
    high_ += ++low_ == 0;
  }

 private:
  const Keys& keys_;
  uint64_t low_, high_;
};

// [0, 1) of 52 bits.
inline double uniform52(uint32_t x, uint32_t y) {
  return (static_cast<double>(x & 0xfffff) * 0x1p32 + static_cast<double>(y)) * 0x1p-52;
}
inline vf64 uniform52(vu64 x, vu64 y) { return (to_double(x & 0xfffff) * 0x1p32 + word(y)) * 0x1p-52; }

// Rounds to float32.
inline vf64 as_float(vf64 x) {
  typedef float half __attribute__((vector_size(kVectorBytes / 2)));
  return __builtin_convertvector(__builtin_convertvector(x, half), vf64);
}

constexpr float kLeast = 1e-7f;

// Two normal floats of two words (Box and Muller, 1958), each step in float32.
inline void normals(vu64 x, vu64 y, vf64& first, vf64& second) {
  vf64 u = to_double(x & 0x7fffff) * 0x1p-23;
  u = u < static_cast<double>(kLeast) ? vf64{} + static_cast<double>(kLeast) : u;
  const vf64 v = as_float(to_double(y & 0x7fffff) * 0x1p-23 * kTurn);
  const vf64 r = as_float(square_root(as_float(natural_log(u)) * -2.0));
  // π/2 in two parts; the products with the first are exact.
  vf64 quarter = (v * 0.6366197723675814 + 0x1.8p52) - 0x1.8p52;
  const vf64 t = (v - quarter * 1.5707963267341256) - quarter * 6.077100506506192e-11;
  quarter = quarter == 4.0 ? vf64{} : quarter;
  vf64 cosine, sine;
  in_quarter(quarter, t, cosine, sine);
  first = as_float(as_float(sine) * r);
  second = as_float(as_float(cosine) * r);
}
inline void normals(uint32_t x, uint32_t y, float* out) {
  vf64 first, second;
  normals(vu64{} + x, vu64{} + y, first, second);
  out[0] = static_cast<float>(first[0]);
  out[1] = static_cast<float>(second[0]);
}

// y of PerBlock numbers a block: write(words, lane, out) makes those of one block, vectors(words) what it takes them from.
template <int PerBlock, class T, class F> void fill_blocks(const Source& s, T* y, int64_t size, int64_t grain, F write) {
  constexpr int kVectors = kVectorBytes == 64 ? 4 : 2;
  constexpr int64_t kGroup = PerBlock * kF64;
  const Keys keys = round_keys(s.key);
  parallel_for(size, grain, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i += kVectors * kGroup) {
      Words words[kVectors];
      blocks_at(s, keys, static_cast<uint64_t>(i / PerBlock), 1, words);
      for (int n = 0; n < kVectors; n++) {
        const int64_t at = i + n * kGroup;
        if (e - at >= kGroup) {
          write(words[n], y + at);
        } else if (at < e) {
          T rest[kGroup];
          write(words[n], rest);
          std::memcpy(y + at, rest, static_cast<size_t>(e - at) * sizeof(T));
        }
      }
    }
  });
}

[[noreturn]] void unsupported() { fail(Code::unimplemented, "random numbers of this dtype"); }

constexpr int64_t kSmallGrain = 1 << 15, kLargeGrain = 1 << 13;

void uniform(const Source& s, const Tensor& y) {
  if (y.dtype == DType::f32) {
    fill_blocks<4>(s, y.as<float>(), y.size, kSmallGrain, [](const Words& w, float* out) {
      for (int k = 0; k < 4; k++) {
        const vf64 v = to_double(w.w[k] & 0x7fffff) * 0x1p-23;
        for (int i = 0; i < kF64; i++) out[4 * i + k] = static_cast<float>(v[i]);
      }
    });
  } else if (y.dtype == DType::f64) {
    fill_blocks<2>(s, y.as<double>(), y.size, kSmallGrain, [](const Words& w, double* out) {
      for (int k = 0; k < 2; k++) {
        const vf64 v = uniform52(w.w[2 * k], w.w[2 * k + 1]);
        for (int i = 0; i < kF64; i++) out[2 * i + k] = v[i];
      }
    });
  } else {
    unsupported();
  }
}

// The four normal numbers of each block.
inline void normals_of(const Words& w, float* out) {
  for (int k = 0; k < 4; k += 2) {
    vf64 first, second;
    normals(w.w[k], w.w[k + 1], first, second);
    for (int i = 0; i < kF64; i++) {
      out[4 * i + k] = static_cast<float>(first[i]);
      out[4 * i + k + 1] = static_cast<float>(second[i]);
    }
  }
}

void normal(const Source& s, const Tensor& y) {
  if (y.dtype != DType::f32) unsupported();
  fill_blocks<4>(s, y.as<float>(), y.size, kLargeGrain, normals_of);
}

// How many words are set aside for each number of a distribution that rejects some.
constexpr uint64_t kReserved = 256;

void truncated_normal(const Source& s, const Tensor& y) {
  if (y.dtype != DType::f32) unsupported();
  const Keys keys = round_keys(s.key);
  constexpr int64_t kGroup = 4 * kF64;
  parallel_for((y.size + kGroup - 1) / kGroup, kLargeGrain / kGroup, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) {
      Words words[1];
      blocks_at(s, keys, static_cast<uint64_t>(i) * kF64, kReserved, words);
      float four[kGroup];
      normals_of(words[0], four);
      for (int lane = 0; lane < kF64; lane++) {
        const int64_t group = i * kF64 + lane, count = min64(4, y.size - 4 * group);
        if (count <= 0) break;
        float* to = y.as<float>() + 4 * group;
        int64_t found = 0;
        for (int k = 0; k < 4; k++) {
          if (found < count && std::fabs(four[4 * lane + k]) < 2) to[found++] = four[4 * lane + k];
        }
        if (found == count) continue;
        Blocks more(s, keys, static_cast<uint64_t>(group) * kReserved + 1);
        while (found < count) {
          uint32_t w[4];
          float next[4];
          more.next(w);
          normals(w[0], w[1], next);
          normals(w[2], w[3], next + 2);
          for (int k = 0; k < 4; k++) {
            if (found < count && std::fabs(next[k]) < 2) to[found++] = next[k];
          }
        }
      }
    }
  });
}

// The bits of integers, or their remainders by `range` if that is not 0, from `low` on.
template <class T> void integers(const Source& s, const Tensor& y, uint64_t low, uint64_t range) {
  if constexpr (sizeof(T) == 8) {
    fill_blocks<2>(s, y.as<T>(), y.size, kLargeGrain, [=](const Words& w, T* out) {
      for (int k = 0; k < 2; k++) {
        const vu64 bits = (w.w[2 * k] & 0xffffffffu) | w.w[2 * k + 1] << 32;
        for (int i = 0; i < kF64; i++) out[2 * i + k] = static_cast<T>(range == 0 ? bits[i] : low + bits[i] % range);
      }
    });
  } else {
    // A range of all words takes none away.
    const uint32_t by = static_cast<uint32_t>(range), from = static_cast<uint32_t>(low);
    fill_blocks<4>(s, y.as<T>(), y.size, kSmallGrain, [=](const Words& w, T* out) {
      for (int k = 0; k < 4; k++) {
        for (int i = 0; i < kF64; i++) {
          const uint32_t bits = static_cast<uint32_t>(w.w[k][i]);
          out[4 * i + k] = static_cast<T>(by == 0 ? bits + from : from + bits % by);
        }
      }
    });
  }
}
void integers(const Source& s, const Tensor& y, uint64_t low, uint64_t range) {
  switch (y.dtype) {
    case DType::i32: integers<int32_t>(s, y, low, range); break;
    case DType::u32: integers<uint32_t>(s, y, low, range); break;
    case DType::i64: integers<int64_t>(s, y, low, range); break;
    case DType::u64: integers<uint64_t>(s, y, low, range); break;
    default: unsupported();
  }
}

// Uniform numbers as the ops that reject take them: of a block of two, the second comes first.
class Uniforms {
 public:
  explicit Uniforms(Blocks& blocks) : blocks_(blocks) {}
  double next() {
    if (left_) {
      left_ = false;
      return first_;
    }
    uint32_t w[4];
    blocks_.next(w);
    first_ = uniform52(w[0], w[1]);
    left_ = true;
    return uniform52(w[2], w[3]);
  }

 private:
  Blocks& blocks_;
  bool left_ = false;
  double first_ = 0;
};

// Of a gamma distribution with a scale of 1 (Marsaglia and Tsang, 2000).
double gamma_number(Blocks blocks, double alpha) {
  if (!(alpha >= 0)) return __builtin_nan("");
  Uniforms uniforms(blocks);
  if (alpha == 1) return -std::log1p(-uniforms.next());
  const bool small = alpha < 1;
  const double d = alpha + (small ? 1 : 0) - 1.0 / 3, c = 1.0 / 3 / std::sqrt(d);
  double kept = 0;
  bool left = false;
  for (;;) {
    double x = kept;
    if (!left) {
      uint32_t w[4];
      blocks.next(w);
      double u = uniform52(w[0], w[1]);
      u = u < 1e-7 ? 1e-7 : u;
      const double v = kTurn * uniform52(w[2], w[3]), r = std::sqrt(-2 * std::log(u));
      kept = std::sin(v) * r;
      x = std::cos(v) * r;
    }
    left = !left;
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = uniforms.next();
    if (u < 1 - 0.0331 * (x * x) * (x * x) || std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v)))
      return small ? d * v * std::pow(uniforms.next(), 1 / alpha) : d * v;
  }
}

// Of a Poisson distribution (Knuth for small rates, Hörmann's transformed rejection for others).
double poisson_number(Blocks blocks, double rate) {
  if (!(rate >= 0)) return __builtin_nan("");
  Uniforms uniforms(blocks);
  if (rate < 10) {
    const double limit = std::exp(-rate);
    double product = 1;
    for (double x = 0;; x++) {
      product *= uniforms.next();
      if (product <= limit) return x;
    }
  }
  if (rate == __builtin_inf()) return rate;
  const double log_rate = std::log(rate), b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  for (;;) {
    const double u = uniforms.next() - 0.5, v = uniforms.next(), shifted = 0.5 - std::fabs(u);
    const double k = std::floor(((2 * a) / shifted + b) * u + rate + 0.43);
    if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (shifted < 0.013 && v > shifted)) continue;
    const double size = std::log((v * inverse_alpha) / (a / (shifted * shifted) + b));
    if (size <= -rate + k * log_rate - log_gamma_of_positive(k + 1)) return k;
  }
}

// What Stirling's formula leaves out of log k!.
double stirling_tail(double k) {
  static const double tails[] = {0.0810614667953272,  0.0413406959554092,  0.0276779256849983, 0.02079067210376509,
                                 0.0166446911898211,  0.0138761288230707,  0.0118967099458917, 0.010411265261972,
                                 0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return tails[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Successes one by one, by the waits between them; for few that are expected.
double few_successes(Uniforms& uniforms, double count, double p) {
  double sum = 0;
  for (double found = 0;; found++) {
    sum += std::ceil(std::log(uniforms.next()) / std::log1p(-p));
    if (!(sum <= count)) return found;
  }
}
// Hörmann's BTRS ("The generation of binomial random variates", 1993).
double many_successes(Uniforms& uniforms, double count, double p) {
  const double deviation = std::sqrt(count * p * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = count * p + 0.5, r = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation, m = std::floor((count + 1) * p);
  for (;;) {
    const double u = uniforms.next() - 0.5, v = uniforms.next(), shifted = 0.5 - std::fabs(u);
    const double k = std::floor(((2 * a) / shifted + b) * u + c);
    if (shifted >= 0.07 && v <= 0.92 - 4.2 / b) return k;
    if (k < 0 || k > count) continue;
    const double bound = (m + 0.5) * std::log((m + 1) / (r * (count - m + 1))) +
                         (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log((r * (count - k + 1)) / (k + 1)) + stirling_tail(m) + stirling_tail(count - m) -
                         stirling_tail(k) - stirling_tail(count - k);
    if (std::log((v * alpha) / (a / (shifted * shifted) + b)) <= bound) return k;
  }
}
// `at` is the place of the number.
double binomial_number(const Source& s, const Keys& keys, uint64_t at, double count, double p) {
  if (!(count >= 0) || p != p) return __builtin_nan("");
  if (p <= 0) return 0;
  if (p >= 1) return count;
  const double q = p <= 0.5 ? p : 1 - p;
  const bool many = count * q >= 10;
  Blocks blocks(s, keys, at * (many ? kReserved : 42));
  Uniforms uniforms(blocks);
  const double found = many ? many_successes(uniforms, count, q) : few_successes(uniforms, count, q);
  return p <= 0.5 ? found : count - found;
}

// Counts as integers: NaN is 0, what is too large wraps around.
template <class T> inline T count_of(double x) {
  if constexpr (std::is_floating_point<T>::value) {
    return static_cast<T>(x);
  } else {
    if (x != x) return 0;
    return static_cast<T>(x >= 0x1p63 ? INT64_MAX : static_cast<int64_t>(x));
  }
}

// Sample k of parameter b is drawn as number b · samples + k. make(keys, place, b) draws one.
template <class T, class F> void sample(const Source& s, const Tensor& y, int64_t parameters, F make) {
  if (parameters == 0) return;
  const int64_t samples = y.size / parameters;
  const Keys keys = round_keys(s.key);
  T* out = y.as<T>();
  parallel_for(y.size, 256, [&](int64_t begin, int64_t end) {
    int64_t k = begin / parameters, b = begin % parameters;
    for (int64_t i = begin; i < end; i++) {
      out[i] = count_of<T>(make(keys, static_cast<uint64_t>(b * samples + k), b));
      if (++b == parameters) b = 0, k++;
    }
  });
}
template <class F> void sample_counts(const Source& s, const Tensor& y, int64_t parameters, F make) {
  switch (y.dtype) {
    case DType::f32: sample<float>(s, y, parameters, make); break;
    case DType::f64: sample<double>(s, y, parameters, make); break;
    case DType::i32: sample<int32_t>(s, y, parameters, make); break;
    case DType::i64: sample<int64_t>(s, y, parameters, make); break;
    default: unsupported();
  }
}

void philox_numbers(Args& a) {
  const Tensor source = a.tensor();
  const Tensor parameters = a.inputs() > 1 ? a.tensor() : source;
  const Tensor y = a.tensor();
  const int64_t kind = a.integer();
  if (source.size != 3) fail(Code::internal, "a source of %lld words", static_cast<long long>(source.size));
  const uint64_t* words = source.as<uint64_t>();
  const Source s{words[0], words[1], words[2]};
  const DType wanted = kind < 4 ? DType::u64 : kind == 4 ? DType::i64 : DType::f64;
  if (parameters.dtype != wanted) unsupported();
  const double* of = parameters.as<double>();
  switch (kind) {
    case 0: uniform(s, y); break;
    case 1: normal(s, y); break;
    case 2: truncated_normal(s, y); break;
    case 3: integers(s, y, 0, 0); break;
    case 4: {
      const uint64_t* bounds = parameters.as<uint64_t>();
      integers(s, y, bounds[0], bounds[1] - bounds[0]);
      break;
    }
    case 5:
      if (y.dtype != DType::f32) unsupported();
      sample<float>(s, y, parameters.size, [&](const Keys& keys, uint64_t place, int64_t b) {
        return gamma_number(Blocks(s, keys, place * kReserved), of[b]);
      });
      break;
    case 6:
      sample_counts(s, y, parameters.size, [&](const Keys& keys, uint64_t place, int64_t b) {
        return poisson_number(Blocks(s, keys, place * kReserved), of[b]);
      });
      break;
    case 7:
      sample_counts(s, y, parameters.size / 2, [&](const Keys& keys, uint64_t place, int64_t b) {
        return binomial_number(s, keys, place, of[b], of[parameters.size / 2 + b]);
      });
      break;
    default: fail(Code::internal, "numbers of the distribution %lld", static_cast<long long>(kind));
  }
}

}  // namespace

void register_philox(Registry& r) { r.add("PhiloxNumbers", philox_numbers); }
EAGRE_END
