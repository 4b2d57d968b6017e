// RandomUniform, RandomNormal, TruncatedNormal, RandomUniformInt, NextDraw.
#include "random_math.h"
#include "shuffle.h"

EAGRE_BEGIN
namespace {

// a0 b0 a1 b1 ... of the lanes of a and b.
inline void interleave(vu64 a, vu64 b, vu64& first, vu64& second) {
#if defined(__AVX512F__)
  first = EAGRE_SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  second = EAGRE_SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#elif defined(__AVX2__)
  first = EAGRE_SHUFFLE(a, b, 0, 4, 1, 5);
  second = EAGRE_SHUFFLE(a, b, 2, 6, 3, 7);
#else
  first = EAGRE_SHUFFLE(a, b, 0, 2);
  second = EAGRE_SHUFFLE(a, b, 1, 3);
#endif
}

template <class V> inline void put(void* to, int vector, V v) {
  std::memcpy(static_cast<char*>(to) + vector * kVectorBytes, &v, sizeof v);
}

// Rounds to float32: the bits, in the low halves.
inline vu64 float_bits(vf64 x) {
  typedef float half __attribute__((vector_size(kVectorBytes / 2)));
  typedef uint32_t halfu __attribute__((vector_size(kVectorBytes / 2)));
  return __builtin_convertvector(reinterpret_cast<halfu>(__builtin_convertvector(x, half)), vu64);
}

// Fills y with PerBlock numbers a block. write(words, out) makes those of kF64 blocks.
template <int PerBlock, class T, class F> void generate(const Stream& stream, T* y, int64_t size, int64_t grain, F write) {
  constexpr int kVectors = kVectorBytes == 64 ? 4 : 2;  // what the registers hold
  constexpr int64_t group = PerBlock * kF64;
  parallel_for(size, grain, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i += kVectors * group) {
      Words words[kVectors];
      philox(stream, static_cast<uint64_t>(i / PerBlock), words);
      for (int n = 0; n < kVectors; n++) {
        int64_t at = i + n * group;
        if (e - at >= group) {
          write(words[n], y + at);
        } else if (at < e) {
          alignas(64) T rest[group];
          write(words[n], rest);
          std::memcpy(y + at, rest, static_cast<size_t>(e - at) * sizeof(T));
        }
      }
    }
  });
}

// A counter and a key, if they are an input; else zeros. Call it ahead of the outputs.
struct Draw {
  uint64_t counter, key;
};
Draw given_draw(Args& a) {
  if (a.inputs() == 0) return {0, 0};
  const uint64_t* words = a.tensor().as<uint64_t>();
  return {words[0], words[1]};
}

// The attributes are added to what is given.
Stream stream(Args& a, const Draw& given) {
  uint64_t words[4];
  for (uint64_t& w : words) w = static_cast<uint32_t>(a.integer());
  const uint64_t key = given.key + (words[0] | words[1] << 32), counter = given.counter + (words[2] | words[3] << 32);
  auto low = [](uint64_t x) { return static_cast<uint32_t>(x); };
  return make_stream(low(key), low(key >> 32), low(counter), low(counter >> 32));
}

// Atomic: runs on several threads, and JavaScript, may draw from one state.
void next_draw(Args& a) {
  uint64_t* state = a.tensor().as<uint64_t>();
  uint64_t* draw = a.tensor().as<uint64_t>();
  draw[0] = __atomic_fetch_add(&state[0], 1, __ATOMIC_RELAXED);
  draw[1] = __atomic_load_n(&state[1], __ATOMIC_RELAXED);
}

[[noreturn]] void unsupported() { fail(Code::unimplemented, "random numbers of this dtype"); }

// Multiples of every group, some 20 µs each.
constexpr int64_t kUniformGrain = 1 << 16, kNormalGrain = 1 << 13;

void random_uniform(Args& a) {
  const Draw given = given_draw(a);
  Tensor y = a.tensor();
  const Stream s = stream(a, given);
  const double low = a.number(), high = a.number();
  if (y.dtype == DType::f32) {
    const float from = static_cast<float>(low), to = static_cast<float>(high), range = to - from;
    generate<4>(s, y.as<float>(), y.size, kUniformGrain, [=](const Words& w, float* out) {
      vu64 parts[2];
      interleave((w.w[0] & 0xffffffffu) | (w.w[1] << 32), (w.w[2] & 0xffffffffu) | (w.w[3] << 32), parts[0], parts[1]);
      for (int i = 0; i < 2; i++) {
        vi32 bits = reinterpret_cast<vi32>(reinterpret_cast<vu32>(parts[i]) >> 8);
        vf32 v = __builtin_convertvector(bits, vf32) * 0x1p-24f * range + from;
        put(out, i, v == to ? vf32{} + from : v);
      }
    });
  } else if (y.dtype == DType::f64) {
    const double range = high - low;
    generate<2>(s, y.as<double>(), y.size, kUniformGrain / 2, [=](const Words& w, double* out) {
      vf64 v[2];
      vu64 parts[2];
      for (int i = 0; i < 2; i++) {
        v[i] = uniform53(w.w[2 * i], w.w[2 * i + 1]) * range + low;
        v[i] = v[i] == high ? vf64{} + low : v[i];
      }
      interleave(reinterpret_cast<vu64>(v[0]), reinterpret_cast<vu64>(v[1]), parts[0], parts[1]);
      for (int i = 0; i < 2; i++) put(out, i, parts[i]);
    });
  } else {
    unsupported();
  }
}

void random_normal(Args& a) {
  const Draw given = given_draw(a);
  Tensor y = a.tensor();
  const Stream s = stream(a, given);
  const double mean = a.number(), stddev = a.number();
  auto pair = [=](vf64 u, vf64 v, vf64& first, vf64& second) {
    vf64 c, d;
    circle(v, c, d);
    const vf64 r = square_root(natural_log(u) * -2.0) * stddev;
    first = r * c + mean;
    second = r * d + mean;
  };
  if (y.dtype == DType::f32) {
    generate<4>(s, y.as<float>(), y.size, kNormalGrain, [=](const Words& w, float* out) {
      vu64 pairs[2], parts[2];
      for (int i = 0; i < 2; i++) {
        vf64 first, second;
        pair((word(w.w[2 * i]) + 1.0) * 0x1p-32, word(w.w[2 * i + 1]) * 0x1p-32, first, second);
        pairs[i] = float_bits(first) | (float_bits(second) << 32);
      }
      interleave(pairs[0], pairs[1], parts[0], parts[1]);
      for (int i = 0; i < 2; i++) put(out, i, parts[i]);
    });
  } else if (y.dtype == DType::f64) {
    generate<2>(s, y.as<double>(), y.size, kNormalGrain, [=](const Words& w, double* out) {
      vf64 first, second;
      pair(1.0 - uniform53(w.w[0], w.w[1]), uniform53(w.w[2], w.w[3]), first, second);
      vu64 parts[2];
      interleave(reinterpret_cast<vu64>(first), reinterpret_cast<vu64>(second), parts[0], parts[1]);
      for (int i = 0; i < 2; i++) put(out, i, parts[i]);
    });
  } else {
    unsupported();
  }
}

// Φ(2) - Φ(-2)
constexpr double kInside = 0.9544997361036416;

void truncated_normal(Args& a) {
  const Draw given = given_draw(a);
  Tensor y = a.tensor();
  const Stream s = stream(a, given);
  const double mean = a.number(), stddev = a.number();
  if (y.dtype == DType::f32) {
    generate<4>(s, y.as<float>(), y.size, kNormalGrain, [=](const Words& w, float* out) {
      vu64 bits[4], parts[2];
      for (int i = 0; i < 4; i++) {
        vf64 u = (word(w.w[i]) + 0.5) * 0x1p-32;
        bits[i] = float_bits(quantile((u - 0.5) * kInside) * stddev + mean);
      }
      interleave(bits[0] | (bits[1] << 32), bits[2] | (bits[3] << 32), parts[0], parts[1]);
      for (int i = 0; i < 2; i++) put(out, i, parts[i]);
    });
  } else if (y.dtype == DType::f64) {
    generate<2>(s, y.as<double>(), y.size, kNormalGrain, [=](const Words& w, double* out) {
      vu64 bits[2], parts[2];
      for (int i = 0; i < 2; i++) {
        vf64 u = uniform53(w.w[2 * i], w.w[2 * i + 1]);
        bits[i] = reinterpret_cast<vu64>(quantile((u - 0.5) * kInside) * stddev + mean);
      }
      interleave(bits[0], bits[1], parts[0], parts[1]);
      for (int i = 0; i < 2; i++) put(out, i, parts[i]);
    });
  } else {
    unsupported();
  }
}

void random_uniform_int(Args& a) {
  const Draw given = given_draw(a);
  Tensor y = a.tensor();
  const Stream s = stream(a, given);
  const int64_t low = a.integer(), high = a.integer();
  if (high <= low) {
    fail(Code::invalid_argument, "no integer in [%lld, %lld)", static_cast<long long>(low), static_cast<long long>(high));
  }
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  auto fill = [&](auto tag) {
    using T = decltype(tag);
    generate<2>(s, y.as<T>(), y.size, kNormalGrain, [=](const Words& w, T* out) {
      for (int i = 0; i < kF64; i++) {
        for (int k = 0; k < 2; k++) {
          uint64_t bits = w.w[2 * k][i] << 32 | (w.w[2 * k + 1][i] & 0xffffffffu);
          out[2 * i + k] = static_cast<T>(static_cast<uint64_t>(low) + bits % range);
        }
      }
    });
  };
  switch (y.dtype) {
    case DType::i32: fill(int32_t{}); break;
    case DType::i64: fill(int64_t{}); break;
    case DType::u8: fill(uint8_t{}); break;
    default: unsupported();
  }
}

}  // namespace

void register_random(Registry& r) {
  r.add("RandomUniform", random_uniform);
  r.add("RandomNormal", random_normal);
  r.add("TruncatedNormal", truncated_normal);
  r.add("RandomUniformInt", random_uniform_int);
  r.add("NextDraw", next_draw);
}
EAGRE_END
