// What the machine can do at most: fused multiply-adds per second, and bytes to and from memory per second.
//
// Reads lines `kind threads seconds` (kinds: fma, copy, add, read) and answers each with a line of JSON:
// {"best": …, "median": …, "how": "…"} in FLOP/s or bytes/s. `fma` keeps everything in registers. The others walk arrays of
// 10 million floats, as the workloads of that size do; bytes are counted as STREAM counts them (what the program names, without
// the line fills that a plain store causes). With the argument `avx2` nothing wider is tried.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace {

using Clock = std::chrono::steady_clock;

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

// ---- fused multiply-add: 16 independent chains, or 24, hide the latency on every pipe

#define TIMES_16(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)
#define TIMES_24(F) TIMES_16(F) F(16) F(17) F(18) F(19) F(20) F(21) F(22) F(23)

// Each returns FLOP for `n` rounds. The assembly keeps the compiler from folding or moving anything.
#if defined(__x86_64__)

#define DECLARE_512(i) __m512 a##i = _mm512_set1_ps(0.1f * (i + 1));
#define STEP_512(i) __asm__ volatile("vfmadd231ps %1, %2, %0" : "+v"(a##i) : "v"(b), "v"(c));
__attribute__((target("avx512f"))) double fma512(long n) {
  const __m512 b = _mm512_set1_ps(1.0009f), c = _mm512_set1_ps(0.9991f);
  TIMES_24(DECLARE_512)
  for (long r = 0; r < n; r++) { TIMES_24(STEP_512) }
  return double(n) * 24 * 16 * 2;
}

// 16 registers in all: 12 chains.
#define TIMES_12(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
#define DECLARE_256(i) __m256 a##i = _mm256_set1_ps(0.1f * (i + 1));
#define STEP_256(i) __asm__ volatile("vfmadd231ps %1, %2, %0" : "+x"(a##i) : "x"(b), "x"(c));
__attribute__((target("avx2,fma"))) double fma256(long n) {
  const __m256 b = _mm256_set1_ps(1.0009f), c = _mm256_set1_ps(0.9991f);
  TIMES_12(DECLARE_256)
  for (long r = 0; r < n; r++) { TIMES_12(STEP_256) }
  return double(n) * 12 * 8 * 2;
}

// Without FMA: a multiplication and an addition side by side.
#define DECLARE_128(i) __m128 a##i = _mm_set1_ps(0.1f * (i + 1));
#define STEP_128(i) __asm__ volatile("mulps %1, %0" : "+x"(a##i) : "x"(b));
#define ADD_128(i) __asm__ volatile("addps %1, %0" : "+x"(a##i) : "x"(c));
double sse(long n) {
  const __m128 b = _mm_set1_ps(1.0f), c = _mm_set1_ps(0.9991f);
  TIMES_12(DECLARE_128)
  for (long r = 0; r < n; r++) {
    STEP_128(0) ADD_128(1) STEP_128(2) ADD_128(3) STEP_128(4) ADD_128(5)
    STEP_128(6) ADD_128(7) STEP_128(8) ADD_128(9) STEP_128(10) ADD_128(11)
  }
  return double(n) * 12 * 4;
}

#elif defined(__aarch64__)

#define DECLARE_NEON(i) float32x4_t a##i = vdupq_n_f32(0.1f * (i + 1));
#define STEP_NEON(i) __asm__ volatile("fmla %0.4s, %1.4s, %2.4s" : "+w"(a##i) : "w"(b), "w"(c));
double neon(long n) {
  const float32x4_t b = vdupq_n_f32(1.0009f), c = vdupq_n_f32(0.9991f);
  TIMES_24(DECLARE_NEON)
  for (long r = 0; r < n; r++) { TIMES_24(STEP_NEON) }
  return double(n) * 24 * 4 * 2;
}

#endif

struct Method {
  const char* name;
  std::function<double(long)> run;
};

bool widest_is_avx2 = false;

// All that this CPU has: wider is not faster everywhere.
std::vector<Method> fmaMethods() {
  std::vector<Method> methods;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!widest_is_avx2 && __builtin_cpu_supports("avx512f")) methods.push_back({"AVX-512", fma512});
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) methods.push_back({"AVX2 FMA", fma256});
  if (methods.empty()) methods.push_back({"SSE multiply and add", sse});
#elif defined(__aarch64__)
  methods.push_back({"NEON", neon});
#endif
  return methods;
}

// ---- memory

constexpr long kFloats = 10'000'000;

float* aligned(std::vector<float>& storage) {
  storage.assign(kFloats + 64, 1.0f);
  auto address = reinterpret_cast<std::uintptr_t>(storage.data());
  return storage.data() + (64 - address % 64) % 64 / sizeof(float);
}

struct Arrays {
  std::vector<float> storage[3];
  float *a, *b, *c;
  Arrays() : a(aligned(storage[0])), b(aligned(storage[1])), c(aligned(storage[2])) {}
};
Arrays& arrays() {
  static Arrays instance;
  return instance;
}

typedef float Vector __attribute__((vector_size(16)));

void copyPlain(long from, long to) {
  const Arrays& x = arrays();
  std::memcpy(x.c + from, x.a + from, (to - from) * sizeof(float));
}
void addPlain(long from, long to) {
  const Arrays& x = arrays();
  for (long i = from; i < to; i += 4) {
    *reinterpret_cast<Vector*>(x.c + i) =
        *reinterpret_cast<const Vector*>(x.a + i) + *reinterpret_cast<const Vector*>(x.b + i);
  }
}
void readPlain(long from, long to) {
  const float* a = arrays().a;
  Vector s0 = {}, s1 = {}, s2 = {}, s3 = {}, s4 = {}, s5 = {}, s6 = {}, s7 = {};
  const auto at = [&](long i) { return *reinterpret_cast<const Vector*>(a + i); };
  for (long i = from; i + 32 <= to; i += 32) {
    s0 += at(i), s1 += at(i + 4), s2 += at(i + 8), s3 += at(i + 12);
    s4 += at(i + 16), s5 += at(i + 20), s6 += at(i + 24), s7 += at(i + 28);
  }
  const Vector sum = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
  volatile float used = sum[0] + sum[1] + sum[2] + sum[3];
  static_cast<void>(used);
}
#if defined(__x86_64__)
// Past the caches: no line is filled only to be overwritten.
void copyStream(long from, long to) {
  const Arrays& x = arrays();
  for (long i = from; i < to; i += 4) _mm_stream_ps(x.c + i, _mm_load_ps(x.a + i));
  _mm_sfence();
}
void addStream(long from, long to) {
  const Arrays& x = arrays();
  for (long i = from; i < to; i += 4) {
    _mm_stream_ps(x.c + i, _mm_add_ps(_mm_load_ps(x.a + i), _mm_load_ps(x.b + i)));
  }
  _mm_sfence();
}
#endif

// ---- threads and samples

/** Runs `work(thread)` in that many threads, which start together. Returns the seconds until the last one is done. */
double together(int threads, const std::function<void(int)>& work) {
  std::atomic<int> ready{0};
  std::vector<double> start(threads), end(threads);
  const auto body = [&](int t) {
    ready++;
    while (ready.load() < threads) {
    }
    start[t] = now();
    work(t);
    end[t] = now();
  };
  std::vector<std::thread> pool;
  for (int t = 1; t < threads; t++) pool.emplace_back(body, t);
  body(0);
  for (auto& t : pool) t.join();
  return *std::max_element(end.begin(), end.end()) - *std::min_element(start.begin(), start.end());
}

struct Rate {
  double best, median;
};

Rate sample(double seconds, const std::function<double()>& once) {
  once();
  std::vector<double> rates;
  const double end = now() + seconds;
  do rates.push_back(once());
  while (now() < end || rates.size() < 3);
  std::sort(rates.begin(), rates.end());
  return {rates.back(), rates[rates.size() / 2]};
}

Rate measureFma(const Method& method, int threads, double seconds) {
  // About 2 ms in each sample: short enough that some meet no interruption.
  long n = 1000;
  while (true) {
    const double start = now();
    method.run(n);
    if (now() - start > 1e-3) break;
    n *= 2;
  }
  return sample(seconds, [&] {
    std::vector<double> flop(threads);
    const double time = together(threads, [&](int t) { flop[t] = method.run(n); });
    double sum = 0;
    for (double f : flop) sum += f;
    return sum / time;
  });
}

Rate measureMemory(void (*pass)(long, long), double bytesPerFloat, int threads, double seconds) {
  return sample(seconds, [&] {
    const double time = together(threads, [&](int t) {
      const auto border = [&](long i) { return kFloats / 64 * i / threads * 64; };
      pass(border(t), t + 1 == threads ? kFloats : border(t + 1));
    });
    return kFloats * bytesPerFloat / time;
  });
}

struct Candidate {
  const char* name;
  std::function<Rate(double)> measure;
};

std::vector<Candidate> candidates(const std::string& kind, int threads) {
  std::vector<Candidate> list;
  const auto memory = [&](const char* name, void (*pass)(long, long), double bytes) {
    list.push_back({name, [=](double s) { return measureMemory(pass, bytes, threads, s); }});
  };
  if (kind == "fma") {
    for (const Method& m : fmaMethods()) {
      list.push_back({m.name, [=](double s) { return measureFma(m, threads, s); }});
    }
  } else if (kind == "copy") {
    memory("plain stores", copyPlain, 8);
#if defined(__x86_64__)
    memory("streaming stores", copyStream, 8);
#endif
  } else if (kind == "add") {
    memory("plain stores", addPlain, 12);
#if defined(__x86_64__)
    memory("streaming stores", addStream, 12);
#endif
  } else if (kind == "read") {
    memory("loads", readPlain, 4);
  }
  return list;
}

}  // namespace

int main(int count, char** arguments) {
  widest_is_avx2 = count > 1 && std::strcmp(arguments[1], "avx2") == 0;
  char kind[16];
  int threads;
  double seconds;
  while (std::scanf("%15s %d %lf", kind, &threads, &seconds) == 3) {
    Rate rate{0, 0};
    const char* how = "";
    const auto list = candidates(kind, threads);
    for (const Candidate& c : list) {
      const Rate r = c.measure(seconds / list.size());
      if (r.best > rate.best) {
        rate = r;
        how = c.name;
      }
    }
    if (list.empty()) {
      std::printf("{\"error\": \"no such limit for this CPU\"}\n");
    } else {
      std::printf("{\"best\": %.6g, \"median\": %.6g, \"how\": \"%s\"}\n", rate.best, rate.median, how);
    }
    std::fflush(stdout);
  }
}
