// Floats of 16 bits: every one of them to float32 and back, and what lies between two.
#include "../runtime/programs.h"
#include "harness.h"

using namespace eagre;

namespace {

constexpr int kMost = 16;

// The value that 16 bits stand for, by the definition of the format.
double value_of(uint32_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1, exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const double fraction = static_cast<double>(bits & ((1u << fraction_bits) - 1)) / (1 << fraction_bits);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction != 0 ? NAN : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias));
}

std::vector<double> cast_program(DType from, DType to) {
  return {1, static_cast<double>(static_cast<int>(from)), 1, static_cast<double>(static_cast<int>(Op::cast)),
          static_cast<double>(static_cast<int>(to)), 0, -1, -1, 0, 1, 1};
}

template <class X, class Y> void cast(const Array<X>& x, Array<Y>& y) {
  const std::vector<double> code = cast_program(DTypeOf<X>::value, DTypeOf<Y>::value);
  const int id = compile_program(code.data(), code.size());
  CHECK(Call().in(x).out(y).attr(id).run("Elementwise") == Code::ok);
}

template <class H> void conversions(int exponent_bits, int fraction_bits) {
  Array<H> all({1 << kMost}), back({1 << kMost});
  for (uint32_t i = 0; i < 1u << kMost; i++) all[i].bits = static_cast<uint16_t>(i);
  Array<float> wide({1 << kMost});
  cast(all, wide);
  cast(wide, back);
  int wrong = 0;
  for (uint32_t i = 0; i < 1u << kMost; i++) {
    const double want = value_of(i, exponent_bits, fraction_bits);
    if (want != want) wrong += !(wide[i] != wide[i]) + !(value_of(back[i].bits, exponent_bits, fraction_bits) != value_of(back[i].bits, exponent_bits, fraction_bits));
    else wrong += static_cast<double>(wide[i]) != want || std::signbit(wide[i]) != std::signbit(want) || back[i].bits != i;
  }
  CHECK(wrong == 0);
  // Halfway between neighbours the even one wins; a little beside it, the nearer one.
  const uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
  Array<float> between({3 * infinity});
  Array<H> rounded({3 * infinity});
  for (uint32_t i = 0; i < infinity; i++) {
    const double low = value_of(i, exponent_bits, fraction_bits);
    const double step = i + 1 < infinity ? value_of(i + 1, exponent_bits, fraction_bits) - low : low - value_of(i - 1, exponent_bits, fraction_bits);
    const float middle = static_cast<float>(low + step / 2);
    between[3 * i] = std::nextafterf(middle, 0);
    between[3 * i + 1] = middle;
    between[3 * i + 2] = std::nextafterf(middle, INFINITY);
  }
  cast(between, rounded);
  for (uint32_t i = 0; i < infinity; i++)
    wrong += rounded[3 * i].bits != i || rounded[3 * i + 1].bits != i + (i & 1) || rounded[3 * i + 2].bits != i + 1;
  CHECK(wrong == 0);
  // The same in parts of all lengths.
  for (int64_t n = 1; n < 40; n++) {
    Array<float> part({n});
    Array<H> short_back({n});
    for (int64_t i = 0; i < n; i++) part[i] = between[3 * 7000 + i];
    cast(part, short_back);
    for (int64_t i = 0; i < n; i++) CHECK(short_back[i].bits == rounded[3 * 7000 + i].bits);
  }
  // What is written by value.
  Array<H> filled({5});
  CHECK(Call().out(filled).attr(-2.5).run("Fill") == Code::ok);
  CHECK(value_of(filled[4].bits, exponent_bits, fraction_bits) == -2.5);
}

template <class H> void rows() {
  Array<float> one({2, 3}, {1, 2, 3, 4, 5, 6}), sums({2, 3});
  Array<H> x({2, 3}), row({3}), y({2, 3});
  cast(one, x);
  Array<float> more({3}, {0.5f, 0.25f, 1});
  cast(more, row);
  Array<int32_t> index({}, 1);
  CHECK(Call().in(x).in(index).in(row).out(y).attr(1).run("SetRow") == Code::ok);
  cast(y, sums);
  CHECK(sums[2] == 3 && sums[3] == 4.5f && sums[4] == 5.25f && sums[5] == 7);
  Array<H> sum({2});
  CHECK(Call().in(x).out(sum).list({1}).run("Sum") == Code::unimplemented);
}

}  // namespace

int main() {
  conversions<Half>(5, 10);
  conversions<BFloat>(8, 7);
  rows<Half>();
  rows<BFloat>();
  return finish();
}
