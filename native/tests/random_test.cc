#include "harness.h"

using namespace eagre;

namespace {

// Philox4x32-10 in scalars.
void philox(uint32_t* c, uint32_t k0, uint32_t k1) {
  for (int round = 0; round < 10; round++) {
    uint64_t p = uint64_t{0xD2511F53u} * c[0], q = uint64_t{0xCD9E8D57u} * c[2];
    uint32_t high0 = static_cast<uint32_t>(p >> 32), high1 = static_cast<uint32_t>(q >> 32);
    uint32_t next[4] = {high1 ^ c[1] ^ k0, static_cast<uint32_t>(q), high0 ^ c[3] ^ k1, static_cast<uint32_t>(p)};
    std::memcpy(c, next, sizeof next);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

template <class T>
Code run(const char* name, Array<T>& y, double a, double b, uint32_t k0 = 0, uint32_t k1 = 0, uint32_t c0 = 0, uint32_t c1 = 0) {
  return Call().out(y).attr(k0).attr(k1).attr(c0).attr(c1).attr(a).attr(b).run(name);
}

// FNV-1a of the bytes. The same numbers stand in packages/backend-js/src/random.test.ts.
template <class T> uint32_t checksum(const Array<T>& y) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < static_cast<size_t>(y.size) * sizeof(T); i++) h = (h ^ y.bytes[i]) * 16777619u;
  return h;
}

template <class T> void golden(const char* name, int64_t size, double a, double b, uint32_t expected) {
  Array<T> y({size});
  CHECK(run(name, y, a, b, 0x12345678u, 0x9abcdef0u, 7, 0xffffffffu) == Code::ok);
  CHECK(y.intact());
  if (checksum(y) != expected) std::printf("%s of dtype %d: 0x%08x\n", name, static_cast<int>(DTypeOf<T>::value), checksum(y));
  CHECK(checksum(y) == expected);
}

template <class T> void moments(const char* name, double mean, double stddev, double low, double high) {
  Array<T> y({400001});
  CHECK(run(name, y, 1.5, 2.0, 11, 12) == Code::ok);
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < y.size; i++) {
    sum += static_cast<double>(y[i]);
    CHECK(static_cast<double>(y[i]) >= low && static_cast<double>(y[i]) <= high);
  }
  sum /= static_cast<double>(y.size);
  for (int64_t i = 0; i < y.size; i++) squares += (static_cast<double>(y[i]) - sum) * (static_cast<double>(y[i]) - sum);
  CHECK(std::fabs(sum - mean) < 0.01);
  CHECK(std::fabs(std::sqrt(squares / static_cast<double>(y.size)) - stddev) < 0.01);
}

}  // namespace

int main() {
  // The paper's known answers for the generator that the kernels are compared with below.
  uint32_t known[4] = {0, 0, 0, 0};
  philox(known, 0, 0);
  CHECK(known[0] == 0x6627e8d5u && known[1] == 0xe169c58du && known[2] == 0xbc57ac4cu && known[3] == 0x9b00dbd8u);
  uint32_t ones[4] = {~0u, ~0u, ~0u, ~0u};
  philox(ones, ~0u, ~0u);
  CHECK(ones[0] == 0x408f276du && ones[1] == 0x41c83b0eu && ones[2] == 0xa20bc7c6u && ones[3] == 0x6d5451fdu);
  uint32_t pi[4] = {0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u};
  philox(pi, 0xa4093822u, 0x299f31d0u);
  CHECK(pi[0] == 0xd16cfe09u && pi[1] == 0x94fdccebu && pi[2] == 0x5001e420u && pi[3] == 0x24126ea1u);

  // Every number by the definition, for sizes that end within a block and within a vector.
  for (int64_t size : {1, 2, 3, 4, 5, 31, 32, 33, 1000, 70003}) {
    Array<float> y({size}), expected({size});
    CHECK(run("RandomUniform", y, -2.5, 3.25, 5, 6, 7, 8) == Code::ok);
    Array<double> z({size}), wide({size});
    CHECK(run("RandomUniform", z, -2.5, 3.25, 5, 6, 7, 8) == Code::ok);
    Array<int64_t> n({size}), integers({size});
    CHECK(run("RandomUniformInt", n, -5, 1e15, 5, 6, 7, 8) == Code::ok);
    for (int64_t i = 0; i < size; i++) {
      uint32_t c[4] = {static_cast<uint32_t>(i / 4), 0, 7, 8};
      philox(c, 5, 6);
      expected[i] = static_cast<float>(c[i % 4] >> 8) * 0x1p-24f * (3.25f + 2.5f) + -2.5f;
      uint32_t d[4] = {static_cast<uint32_t>(i / 2), 0, 7, 8};
      philox(d, 5, 6);
      uint32_t a = d[i % 2 * 2], b = d[i % 2 * 2 + 1];
      wide[i] = ((a >> 5) * 0x1p26 + (b >> 6)) * 0x1p-53 * 5.75 + -2.5;
      integers[i] = static_cast<int64_t>((uint64_t{a} << 32 | b) % 1000000000000005u) - 5;
    }
    CHECK(same(y, expected));
    CHECK(same(z, wide));
    CHECK(same(n, integers));
  }

  moments<float>("RandomUniform", 1.75, 0.5 / std::sqrt(12.0), 1.5, 1.9999999);
  moments<double>("RandomUniform", 1.75, 0.5 / std::sqrt(12.0), 1.5, 1.9999999999999998);
  moments<float>("RandomNormal", 1.5, 2, -12, 15);
  moments<double>("RandomNormal", 1.5, 2, -12, 15);
  moments<float>("TruncatedNormal", 1.5, 2 * 0.8796256610342398, -2.5, 5.5);
  moments<double>("TruncatedNormal", 1.5, 2 * 0.8796256610342398, -2.5, 5.5);

  // Against libm, so that ln, cos and sin are not merely the same everywhere but right.
  {
    Array<double> y({20000});
    CHECK(run("RandomNormal", y, 0, 1, 1, 2) == Code::ok);
    double worst = 0;
    for (int64_t i = 0; i < y.size; i++) {
      uint32_t c[4] = {static_cast<uint32_t>(i / 2), 0, 0, 0};
      philox(c, 1, 2);
      double a = 1 - ((c[0] >> 5) * 0x1p26 + (c[1] >> 6)) * 0x1p-53, b = ((c[2] >> 5) * 0x1p26 + (c[3] >> 6)) * 0x1p-53;
      double r = std::sqrt(-2 * std::log(a)), angle = b * 6.283185307179586;
      double error = std::fabs(y[i] - r * (i % 2 ? std::sin(angle) : std::cos(angle)));
      if (error > worst) worst = error;
    }
    CHECK(worst < 4e-15);
  }
  {
    // The distribution function undoes the quantile.
    Array<double> y({20000});
    CHECK(run("TruncatedNormal", y, 0, 1, 1, 2) == Code::ok);
    for (int64_t i = 0; i < y.size; i++) {
      uint32_t c[4] = {static_cast<uint32_t>(i / 2), 0, 0, 0};
      philox(c, 1, 2);
      double u = ((c[i % 2 * 2] >> 5) * 0x1p26 + (c[i % 2 * 2 + 1] >> 6)) * 0x1p-53;
      CHECK(std::fabs(0.5 * std::erf(y[i] / std::sqrt(2.0)) - (u - 0.5) * 0.9544997361036416) < 3e-16);
    }
  }

  golden<float>("RandomUniform", 4099, -1, 3, 0x785257ae);
  golden<double>("RandomUniform", 4099, -1, 3, 0xf99b7037);
  golden<float>("RandomNormal", 4099, 0.25, 3, 0xa5783603);
  golden<double>("RandomNormal", 4099, 0.25, 3, 0x458fbf0a);
  golden<float>("TruncatedNormal", 4099, 0.25, 3, 0x0e1033f1);
  golden<double>("TruncatedNormal", 4099, 0.25, 3, 0x3fdbd02d);
  golden<int32_t>("RandomUniformInt", 4099, -100, 1000, 0x8502cc4d);
  golden<int64_t>("RandomUniformInt", 4099, -1e12, 1e15, 0x789e86fa);
  golden<uint8_t>("RandomUniformInt", 4099, 0, 256, 0x722a2f03);

  // A draw that is given counts on from the attributes, in words of 64 bits.
  {
    Array<uint64_t> state({2}), draw({2});
    state[0] = 0xfffffffeu;
    state[1] = uint64_t{6} << 32 | 5;
    for (uint64_t i = 0; i < 3; i++) {
      CHECK(Call().in(state).out(draw).out(state).run("NextDraw") == Code::ok);
      CHECK(draw[0] == 0xfffffffeu + i && draw[1] == state[1] && state[0] == 0xffffffffu + i);
      Array<float> y({7}), expected({7});
      CHECK(Call().in(draw).out(y).attr(1).attr(0).attr(4).attr(2).attr(0).attr(1).run("RandomUniform") == Code::ok);
      const uint64_t counter = 0xfffffffeu + i + (uint64_t{2} << 32 | 4);
      CHECK(run("RandomUniform", expected, 0, 1, 6, 6, static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32)) == Code::ok);
      CHECK(same(y, expected));
    }
  }

  Array<int32_t> none({3});
  CHECK(run("RandomUniformInt", none, 5, 5) == Code::invalid_argument);
  CHECK(run("RandomUniform", none, 0, 1) == Code::unimplemented);
  return finish();
}
