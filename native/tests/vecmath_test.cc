// The float32 functions against the C library's in long double, over samples of the whole range: prints the largest error of
// each in units of the last place and fails beyond its bound.
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "../runtime/programs.h"
#include "harness.h"

using namespace eagre;

namespace {

using L = long double;

// How far `got` is from `exact`, in units of the last place of a float of that size.
double ulps(float got, L exact) {
  float nearest = static_cast<float>(exact);
  if (exact != exact) return got != got ? 0 : INFINITY;
  if (got != got) return INFINITY;
  if (std::isinf(nearest) || std::isinf(got)) {
    if (got == nearest) return 0;
    // At the border of overflow, one step too far is an error of one step.
    float largest = std::copysign(3.40282347e38f, nearest);
    return std::isinf(got) && nearest == std::copysign(largest, got) ? 1 : INFINITY;
  }
  int exponent = exact == 0 ? -149 : std::ilogb(exact) - 23;
  if (exponent < -149) exponent = -149;
  return static_cast<double>(std::fabs(static_cast<L>(got) - exact) / std::ldexp(L(1), exponent));
}

struct Function {
  const char* name;
  Op op;
  L (*exact)(L);
  double bound;
  double low, high;  // sampled evenly as well
};

L sigmoid(L x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
L softplus(L x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
L rsqrt(L x) { return 1 / std::sqrt(x); }

const Function functions[] = {
    {"exp", Op::exp, std::exp, 2, -105, 90},       {"log", Op::log, std::log, 2, 0, 4},
    {"tanh", Op::tanh, std::tanh, 2, -10, 10},     {"sigmoid", Op::sigmoid, sigmoid, 2, -105, 20},
    {"erf", Op::erf, std::erf, 2, -4.5, 4.5},      {"sin", Op::sin, std::sin, 2, -200, 200},
    {"cos", Op::cos, std::cos, 2, -200, 200},      {"expm1", Op::expm1, std::expm1, 2, -20, 20},
    {"log1p", Op::log1p, std::log1p, 2, -1, 2},    {"softplus", Op::softplus, softplus, 2, -105, 20},
    {"sinh", Op::sinh, std::sinh, 2, -10, 10},     {"cosh", Op::cosh, std::cosh, 2, -10, 10},
    {"tan", Op::tan, std::tan, 2, -10, 10},        {"asin", Op::asin, std::asin, 2, -1, 1},
    {"acos", Op::acos, std::acos, 2, -1, 1},       {"atan", Op::atan, std::atan, 2, -5, 5},
    {"asinh", Op::asinh, std::asinh, 2, -5, 5},    {"acosh", Op::acosh, std::acosh, 2, 1, 5},
    {"atanh", Op::atanh, std::atanh, 2, -1, 1},    {"erfc", Op::erfc, std::erfc, 2, -4, 11},
    {"lgamma", Op::lgamma, std::lgamma, 4, 0, 20}, {"rsqrt", Op::rsqrt, rsqrt, 2, 0, 20},
};

float from_bits(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}

int program_of(Op op, DType t, int operands) {
  std::vector<double> code = {static_cast<double>(operands)};
  double type = static_cast<double>(static_cast<int>(t));
  for (int i = 0; i < operands; i++) code.push_back(type);
  for (double v : {1.0, static_cast<double>(static_cast<int>(op)), type, 0.0, operands > 1 ? 1.0 : -1.0, -1.0, 0.0, 1.0,
                   static_cast<double>(operands)}) {
    code.push_back(v);
  }
  return compile_program(code.data(), code.size());
}

void report(const char* name, double worst, double at, double also, double bound) {
  std::printf("%-9s %6.3f ULP at %.9g", name, worst, at);
  if (also == also) std::printf(", %.9g", also);
  std::printf("\n");
  if (!(worst <= bound)) failures()++;
}

const float specials[] = {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 1.17549435e-38f, -1.17549435e-38f, 1e-45f,
                          -1e-45f, 3.40282347e38f, -3.40282347e38f, 88.7228394f, 88.7228317f, -103.972084f, -103.97207f,
                          -87.33655f, 0.5f, 2.0f, 8388608.0f, 16777216.0f, 0.99999994f, 1.00000012f, 3.1415927f, 1.5707964f,
                          6.2831855f, 8192.0f, 100000.0f, 33554432.0f, 5e37f, -0.5f, 3.0f, -3.0f};

void check(const Function& f, int64_t samples) {
  std::vector<float> x(std::begin(specials), std::end(specials));
  uint64_t stride = (uint64_t{1} << 32) / static_cast<uint64_t>(samples) | 1;
  for (uint64_t b = 0; b < uint64_t{1} << 32; b += stride) x.push_back(from_bits(static_cast<uint32_t>(b)));
  for (int64_t i = 0; i < samples / 4; i++) {
    x.push_back(static_cast<float>(f.low + (f.high - f.low) * static_cast<double>(i) / static_cast<double>(samples / 4)));
  }
  int64_t n = static_cast<int64_t>(x.size());
  auto in = Array<float>::make({n}, [&](int64_t i) { return x[static_cast<size_t>(i)]; });
  Array<float> y({n});
  CHECK(Call().in(in).out(y).attr(program_of(f.op, DType::f32, 1)).run("Elementwise") == Code::ok);
  double worst = -1, at = 0;
  for (int64_t i = 0; i < n; i++) {
    if (f.op == Op::lgamma && in[i] < 0) continue;
    double e = ulps(y[i], f.exact(static_cast<L>(in[i])));
    if (in[i] == 0 && y[i] == 0) CHECK(std::signbit(y[i]) == std::signbit(f.exact(static_cast<L>(in[i]))));
    if (e > worst) worst = e, at = static_cast<double>(in[i]);
  }
  report(f.name, worst, at, NAN, f.bound);
}

void check_pow(int64_t samples) {
  std::vector<float> x, y;
  for (float a : specials) {
    for (float b : specials) x.push_back(a), y.push_back(b);
  }
  Random random(7);
  for (int64_t i = 0; i < samples; i++) {
    uint64_t bits = random.bits();
    float a = from_bits(static_cast<uint32_t>(bits)), b = from_bits(static_cast<uint32_t>(bits >> 32));
    if (i % 2) a = std::fabs(a), b = static_cast<float>(random.uniform(-104, 89)) / std::log(a);  // results over the whole range
    if (i % 4 == 1) a = static_cast<float>(random.uniform(0.9, 1.1)), b = static_cast<float>(random.uniform(-900, 900));
    if (i % 8 == 2) a = -std::fabs(a), b = static_cast<float>(random.below(41) - 20);
    x.push_back(a);
    y.push_back(b);
  }
  int64_t n = static_cast<int64_t>(x.size());
  auto a = Array<float>::make({n}, [&](int64_t i) { return x[static_cast<size_t>(i)]; });
  auto b = Array<float>::make({n}, [&](int64_t i) { return y[static_cast<size_t>(i)]; });
  Array<float> z({n});
  CHECK(Call().in(a).in(b).out(z).attr(program_of(Op::pow, DType::f32, 2)).run("Elementwise") == Code::ok);
  double worst = -1, at = 0, also = 0;
  for (int64_t i = 0; i < n; i++) {
    double e = ulps(z[i], std::pow(static_cast<L>(a[i]), static_cast<L>(b[i])));
    if (e > worst) worst = e, at = static_cast<double>(a[i]), also = static_cast<double>(b[i]);
  }
  report("pow", worst, at, also, 2);
}

// erfinv and digamma have no counterpart in the C library: erf(erfinv(x)) = x, ψ(x + 1) = ψ(x) + 1/x and known values.
void special_functions() {
  auto run = [](Op op, double x) {
    Array<double> a({1}, x), y({1});
    Call().in(a).out(y).attr(program_of(op, DType::f64, 1)).run("Elementwise");
    return y[0];
  };
  double worst = 0;
  for (int i = 1; i < 20000; i++) {
    double x = i / 20000.0;
    worst =
        std::fmax(worst, std::fabs(static_cast<double>(std::erf(static_cast<L>(run(Op::erfinv, x))) - static_cast<L>(x))) / x);
  }
  for (double x = 1e-300; x < 1e-3; x *= 17)
    worst = std::fmax(worst, std::fabs(run(Op::erfinv, x) / x / 0.88622692545275801 - 1 - 0.2617993878 * x * x));
  std::printf("erfinv    %.3g relative (float64)\n", worst);
  CHECK(worst < 1e-13);
  for (double x : {-1.0, 1.0}) CHECK(run(Op::erfinv, x) == x * INFINITY);
  CHECK(std::isnan(run(Op::erfinv, 1.5)) && std::isnan(run(Op::erfinv, NAN)) && std::signbit(run(Op::erfinv, -0.0)));
  worst = 0;
  const double known[][2] = {{1, -0.57721566490153287},   {0.5, -1.9635100260214235},
                             {0.25, -4.2274535333762654}, {2, 0.42278433509846714},
                             {10, 2.2517525890667211},    {100, 4.6001618527380874},
                             {1e6, 13.815510057964191},   {-0.5, 0.03648997397857652},
                             {-2.5, 1.1031566406452432},  {1.4616321449683622, -9.2412655217294275e-17}};
  for (auto& k : known) worst = std::fmax(worst, std::fabs(run(Op::digamma, k[0]) / k[1] - 1));
  for (double x = 1e-3; x < 30; x += 0.0137) {
    double a = run(Op::digamma, x) + 1 / x, b = run(Op::digamma, x + 1);
    worst = std::fmax(worst, std::fabs(a - b) / std::fmax(std::fabs(b), 1 / x));
  }
  std::printf("digamma   %.3g relative (float64)\n", worst);
  CHECK(worst < 1e-12);
  CHECK(std::isnan(run(Op::digamma, 0)) && std::isnan(run(Op::digamma, -3)) && run(Op::digamma, INFINITY) == INFINITY);
  worst = 0;
  for (double x = 0.01; x < 200; x *= 1.0007) {
    double exact = static_cast<double>(std::lgamma(static_cast<L>(x))), got = run(Op::lgamma, x);
    worst = std::fmax(worst, std::fabs(got - exact) / std::fabs(exact));
  }
  for (double x = -20.003; x < 0; x += 0.0171) {
    double exact = static_cast<double>(std::lgamma(static_cast<L>(x))), got = run(Op::lgamma, x);
    worst = std::fmax(worst, std::fabs(got - exact) / std::fmax(std::fabs(exact), 1));
  }
  std::printf("lgamma    %.3g relative (float64)\n", worst);
  CHECK(worst < 1e-13);
  CHECK(run(Op::lgamma, 1) == 0 && run(Op::lgamma, 2) == 0 && run(Op::lgamma, 0) == INFINITY && run(Op::lgamma, -2) == INFINITY);
}

}  // namespace

int main(int argc, char** argv) {
  int64_t samples = argc > 1 ? std::atoll(argv[1]) : 400000;
  for (const Function& f : functions) check(f, samples);
  check_pow(samples);
  special_functions();
  return finish();
}
