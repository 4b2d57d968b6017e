// SpecialFunction: incomplete gamma and beta functions and the zeta function, in float64. packages/backend/src/special-numbers.ts has the
// same in TypeScript; change both or neither.
#include "log_gamma.h"

EAGRE_BEGIN
namespace {

constexpr double kEpsilon = 0x1p-53, kTiny = 1e-300;
constexpr double kInf = __builtin_inf(), kNaN = __builtin_nan("");

// log(1 + u) - u, exact for small u.
double log_one_minus(double u) {
  if (std::fabs(u) > 0.3) return std::log1p(u) - u;
  double power = u * u, sum = 0;
  for (int k = 2; k < 60; k++) {
    const double term = power / k;
    sum += k % 2 == 0 ? -term : term;
    if (std::fabs(term) < kEpsilon * std::fabs(sum)) break;
    power *= u;
  }
  return sum;
}

// What Stirling's formula leaves out of log Γ(a).
double stirling_rest(double a) { return log_gamma_of_positive(a) - ((a - 0.5) * std::log(a) - a + 0.5 * std::log(kTurn)); }

// x^a exp(-x) / Γ(a).
double gamma_prefix(double a, double x) {
  if (a < 10) return std::exp(a * std::log(x) - x - log_gamma_of_positive(a));
  return std::sqrt(a / kTurn) * std::exp(a * log_one_minus((x - a) / a) - stirling_rest(a));
}

// The continued fraction of the upper function, by Lentz's method.
double upper_fraction(double a, double x) {
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, value = d;
  for (int n = 1; n < 100000; n++) {
    const double factor = -n * (n - a);
    b += 2;
    d = factor * d + b;
    if (std::fabs(d) < kTiny) d = kTiny;
    c = b + factor / c;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1 / d;
    const double step = d * c;
    value *= step;
    if (std::fabs(step - 1) < kEpsilon) break;
  }
  return value;
}

double gamma_incomplete(double a, double x, bool upper);

// Of a large a: the first term of the uniform asymptotic expansion (Temme, 1979).
double large_incomplete(double a, double x, bool upper) {
  const double off = (x - a) / a;
  const double half = std::fabs(off) < 1e-3 ? off * off * (1.0 / 2 - off * (1.0 / 3 - off * (1.0 / 4 - off / 5)))
                                            : off - std::log1p(off);
  const double eta = (off > 0 ? 1 : off < 0 ? -1 : off) * std::sqrt(2 * half);
  const double correction = std::fabs(eta) < 1e-3 ? -1.0 / 3 + eta / 12 : 1 / off - 1 / eta;
  const double rest = std::exp(-a * half) / std::sqrt(kTurn * a) * correction;
  const double tail = gamma_incomplete(0.5, a * half, true) / 2;
  const double side = (off > 0) == upper ? tail : 1 - tail;
  return upper ? side + rest : side - rest;
}

// Lower or upper: a series where x is small, else a continued fraction.
double gamma_incomplete(double a, double x, bool upper) {
  if (!(a > 0) || !(x >= 0)) return kNaN;
  if (x == 0) return upper ? 1 : 0;
  if (x == kInf) return upper ? 0 : 1;
  if (a == kInf) return upper ? 1 : 0;
  if (a > 1e8) return large_incomplete(a, x, upper);
  const double prefix = gamma_prefix(a, x);
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < 100000; n++) {
      term *= x / (a + n);
      sum += term;
      if (term < sum * kEpsilon) break;
    }
    const double lower = prefix * sum < 1 ? prefix * sum : prefix * sum >= 1 ? 1 : kNaN;
    return upper ? 1 - lower : lower;
  }
  const double rest = prefix * upper_fraction(a, x);
  return upper ? rest : 1 - rest;
}

// The derivative of log Γ for x above 0.
double slope_of_log_gamma(double x) {
  double z = x, sum = 0;
  while (z < 10) sum -= 1 / z, z += 1;
  const double inverse = 1 / (z * z);
  const double series =
      inverse * (1.0 / 12 -
                 inverse * (1.0 / 120 - inverse * (1.0 / 252 - inverse * (1.0 / 240 - inverse * (1.0 / 132 - inverse * (691.0 / 32760))))));
  return sum + std::log(z) - 0.5 / z - series;
}

// The derivative of the lower incomplete gamma function by a.
double gamma_incomplete_slope(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return kNaN;
  if (x == 0 || x == kInf) return 0;
  const double prefix = gamma_prefix(a, x), slope = std::log(x) - slope_of_log_gamma(a);
  if (x < a + 30) {
    double term = 1 / a, log_slope = -1 / a, sum = term, slope_sum = term * log_slope;
    for (int n = 1; n < 100000; n++) {
      term *= x / (a + n);
      log_slope -= 1 / (a + n);
      sum += term;
      slope_sum += term * log_slope;
      if (n > x && std::fabs(term * log_slope) < kEpsilon * std::fabs(slope_sum)) break;
    }
    return prefix * (slope * sum + slope_sum);
  }
  // As a quotient of differences of the fraction, which is smooth.
  const double h = 1e-4 * (a > 1 ? a : 1);
  const double d1 = (upper_fraction(a + h, x) - upper_fraction(a - h, x)) / (2 * h);
  const double d2 = (upper_fraction(a + 2 * h, x) - upper_fraction(a - 2 * h, x)) / (4 * h);
  return -prefix * (slope * upper_fraction(a, x) + (4 * d1 - d2) / 3);
}

double beta_below(double a, double b, double x) {
  const double size = log_gamma_of_positive(a) + log_gamma_of_positive(b) - log_gamma_of_positive(a + b);
  const double prefix = std::exp(a * std::log(x) + b * std::log1p(-x) - size) / a;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  if (std::fabs(d) < kTiny) d = kTiny;
  d = 1 / d;
  double value = d;
  for (int m = 1; m < 100000; m++) {
    const double factors[] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
    double step = 1;
    for (double factor : factors) {
      d = 1 + factor * d;
      if (std::fabs(d) < kTiny) d = kTiny;
      c = 1 + factor / c;
      if (std::fabs(c) < kTiny) c = kTiny;
      d = 1 / d;
      step = d * c;
      value *= step;
    }
    if (std::fabs(step - 1) < kEpsilon) break;
  }
  return prefix * value;
}
// The regularised incomplete beta function, by its continued fraction.
double beta_incomplete(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1)) return kNaN;
  if (x == 0 || x == 1) return x;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta_below(b, a, 1 - x);
  return beta_below(a, b, x);
}

// Σ ((q + n) / unit)^(-x): some terms, then the Euler-Maclaurin sum, which is exact to 2^-53 behind 12 terms, and to 2^-30 behind 5.
template <class T> double zeta_over(double x, double q, double unit) {
  constexpr int terms = sizeof(T) == 4 ? 5 : 12;
  // B(2k) / (2k)!
  static const double series[] = {1.0 / 12,         -1.0 / 720,          1.0 / 30240,      -1.0 / 1209600, 1.0 / 47900160,
                                  -691.0 / 1307674368000, 1.0 / 74724249600, -3617.0 / 10670622842880000};
  double sum = 0, place = q;
  for (int n = 0; n < terms || place <= terms - 3; n++) {
    sum += std::pow(place / unit, -x);
    place += 1;
  }
  const double power = std::pow(place / unit, -x);
  sum += power * place / (x - 1) + 0.5 * power;
  double factor = x * power / place;
  for (int k = 0; k < 8; k++) {
    sum += series[k] * factor;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2) / (place * place);
  }
  return sum;
}
// Σ (q + n)^(-x) over n from 0.
template <class T> double hurwitz_zeta(double x, double q) {
  if (x == 1) return kInf;
  if (!(x > 1)) return kNaN;
  if (q <= 0) {
    if (q == std::floor(q)) return kInf;
    if (x != std::floor(x)) return kNaN;
  }
  // Far below 0 the places on either side of 0 are two sums from there on.
  if (q < -100) {
    const double above = q - std::floor(q), sign = std::fmod(x, 2) == 0 ? 1 : -1;
    return hurwitz_zeta<T>(x, above) + sign * hurwitz_zeta<T>(x, 1 - above) - sign * hurwitz_zeta<T>(x, 1 - q);
  }
  return zeta_over<T>(x, q, 1);
}

// The n-th derivative of digamma, n an integer: (-1)^(n + 1) n! ζ(n + 1, x). NaN for n below 1.
template <class T> double polygamma(double n, double x) {
  if (!(n >= 1)) return kNaN;
  const double sign = std::fmod(n, 2) == 0 ? -1 : 1;
  if (n <= 170) {
    double factorial = 1;
    for (int i = 2; i <= n; i++) factorial *= i;
    return sign * factorial * hurwitz_zeta<T>(n + 1, x);
  }
  if (!(x > 0)) return sign * kInf * hurwitz_zeta<T>(n + 1, x);
  return sign * std::exp(log_gamma_of_positive(n + 1) - (n + 1) * std::log(x)) * zeta_over<T>(n + 1, x, x);
}

template <class T, class F> void map(const Tensor* x, const Tensor& y, F of) {
  parallel_for(y.size, 128, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) y.as<T>()[i] = static_cast<T>(of(x, i));
  });
}
template <class T> void special(const Tensor* x, const Tensor& y, int64_t function) {
  const auto at = [](const Tensor& t, int64_t i) { return static_cast<double>(t.as<T>()[i]); };
  switch (function) {
    case 0: map<T>(x, y, [&](const Tensor* t, int64_t i) { return gamma_incomplete(at(t[0], i), at(t[1], i), false); }); break;
    case 1: map<T>(x, y, [&](const Tensor* t, int64_t i) { return gamma_incomplete(at(t[0], i), at(t[1], i), true); }); break;
    case 2: map<T>(x, y, [&](const Tensor* t, int64_t i) { return gamma_incomplete_slope(at(t[0], i), at(t[1], i)); }); break;
    case 3: map<T>(x, y, [&](const Tensor* t, int64_t i) { return beta_incomplete(at(t[0], i), at(t[1], i), at(t[2], i)); }); break;
    case 4: map<T>(x, y, [&](const Tensor* t, int64_t i) { return hurwitz_zeta<T>(at(t[0], i), at(t[1], i)); }); break;
    default: map<T>(x, y, [&](const Tensor* t, int64_t i) { return polygamma<T>(at(t[0], i), at(t[1], i)); });
  }
}

void special_function(Args& a) {
  Tensor x[3];
  const int count = a.inputs();
  if (count < 2 || count > 3) fail(Code::internal, "a function of %d", count);
  for (int i = 0; i < count; i++) x[i] = a.tensor();
  const Tensor y = a.tensor();
  const int64_t function = a.integer();
  if (function < 0 || function > 5 || count != (function == 3 ? 3 : 2)) {
    fail(Code::internal, "the function %lld of %d", static_cast<long long>(function), count);
  }
  for (int i = 0; i < count; i++) {
    if (x[i].size != y.size || x[i].dtype != y.dtype) fail(Code::internal, "inputs and output must have one size and dtype");
  }
  if (y.dtype == DType::f32) special<float>(x, y, function);
  else if (y.dtype == DType::f64) special<double>(x, y, function);
  else fail(Code::unimplemented, "functions of this dtype");
}

}  // namespace

void register_special_numbers(Registry& r) { r.add("SpecialFunction", special_function); }
EAGRE_END
