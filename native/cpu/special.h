// Scalar functions in double precision that the C library lacks, or has with a hidden global (lgamma writes signgam).
#pragma once
#include <cmath>

#include "isa.h"

EAGRE_BEGIN
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kInfinity = __builtin_inf();
constexpr double kNaN = __builtin_nan("");

template <int N> inline double polynomial(const double (&c)[N], double x) {
  double r = c[N - 1];
  for (int i = N - 2; i >= 0; i--) r = r * x + c[i];
  return r;
}

// The inverse of erf through Wichura's inverse of the normal distribution (Algorithm AS 241, PPND16), which in terms of
// x = 2p - 1 keeps its relative accuracy near 0 and near ±1.
inline double erf_inverse(double x) {
  static const double a[] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                             1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                             3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static const double b[] = {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
                             2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
                             5.2264952788528545610e+3};
  static const double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                             3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                             2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static const double d[] = {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
                             1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
                             1.05075007164441684324e-9};
  static const double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                             2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                             2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static const double f[] = {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                             7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
                             2.04426310338993978564e-15};
  constexpr double kHalfRoot = 0.70710678118654752440;
  double magnitude = std::fabs(x);
  if (!(magnitude < 1)) return magnitude == 1 ? x * kInfinity : kNaN;
  if (magnitude <= 0.85) {
    double r = 0.180625 - 0.25 * x * x;
    return kHalfRoot * 0.5 * x * polynomial(a, r) / polynomial(b, r);
  }
  double r = std::sqrt(-std::log(0.5 * (1 - magnitude)));
  double y = r <= 5 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6) : polynomial(e, r - 5) / polynomial(f, r - 5);
  return std::copysign(kHalfRoot * y, x);
}

// sin(πx) with the argument reduced exactly.
inline double sin_pi(double x) {
  double r = x - 2 * std::floor(0.5 * x);  // [0, 2)
  double sign = 1;
  if (r >= 1) r -= 1, sign = -1;
  if (r > 0.5) r = 1 - r;
  return sign * std::sin(kPi * r);
}

// ln |Γ(x)| for x > 0: the series of ln Γ(2 + z) in ζ(k) - 1 (Abramowitz and Stegun 6.1.33) around 2, so that the zeros at 1
// and 2 keep their relative accuracy, and Stirling's series (6.1.41) from 10 on.
inline double lgamma_positive(double x) {
  static const double zeta[] = {0.42278433509846713, 0.3224670334241132, -0.0673523010531981, 0.020580808427784546,
                                -0.007385551028673986, 0.0028905103307415234, -0.001192753911703261, 0.0005096695247430425,
                                -0.00022315475845357939, 9.945751278180853e-05, -4.492623673813314e-05, 2.050721277567069e-05,
                                -9.439488275268397e-06, 4.374866789907488e-06, -2.039215753801366e-06, 9.55141213040742e-07,
                                -4.492469198764566e-07, 2.1207184805554665e-07, -1.0043224823968099e-07, 4.7698101693639804e-08,
                                -2.2711094608943164e-08, 1.0838659214896955e-08, -5.183475041970047e-09, 2.4836745438024785e-09,
                                -1.1921401405860912e-09, 5.731367241678862e-10, -2.7595228851242334e-10, 1.330476437424449e-10};
  static const double stirling[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156};
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  if (x >= 10) {
    double r = 1 / (x * x);
    return (x - 0.5) * std::log(x) - x + kHalfLogTwoPi + (x > 1e10 ? 0 : polynomial(stirling, r) / x);
  }
  if (x < 0.5) {
    double z = x;
    return z * polynomial(zeta, z) - std::log1p(z) - std::log(x);
  }
  if (x < 1.5) {
    double z = x - 1;
    return z * polynomial(zeta, z) - std::log1p(z);
  }
  double product = 1;
  while (x >= 2.5) product *= x -= 1;
  double z = x - 2;
  return z * polynomial(zeta, z) + (product == 1 ? 0 : std::log(product));
}

inline double log_gamma(double x) {
  if (x != x) return x;
  if (std::fabs(x) == kInfinity) return kInfinity;
  if (x > 0) return lgamma_positive(x);
  if (x == std::floor(x)) return kInfinity;
  if (x > -1e-20) return -std::log(-x);
  // Γ(x) Γ(1 - x) = π / sin(πx)
  return std::log(kPi / std::fabs(x * sin_pi(x))) - lgamma_positive(-x);
}

// ψ(x): Taylor series around the positive zero (to keep relative accuracy there), the recurrence up to 10, then the asymptotic
// series (Abramowitz and Stegun 6.3.5, 6.3.7, 6.3.18).
inline double digamma(double x) {
  static const double taylor[] = {0.9676722454476212, -0.4427631689835921, 0.258499760955651, -0.16394270544240652,
                                  0.10782405069126237, -0.07219956125645471, 0.04880428816414311, -0.03316112647484736,
                                  0.022597648232218104, -0.01542476590494896, 0.010538791616612175, -0.007204534386356869,
                                  0.004926781395729853, -0.003369801655439328, 0.002305126326734928, -0.0015769367714301972,
                                  0.0010788252019162967, -0.0007380709389960052, 0.000504953265834602, -0.0003454680251063077,
                                  0.00023635601564027053, -0.00016170622091974803};
  static const double series[] = {-1.0 / 12, 1.0 / 120, -1.0 / 252, 1.0 / 240, -1.0 / 132, 691.0 / 32760, -1.0 / 12};
  constexpr double kZero = 1.4616321449683622, kZeroLow = 9.549995429965697e-17;
  if (x != x || x == kInfinity) return x;
  double result = 0;
  if (x <= 0) {
    if (x == std::floor(x)) return kNaN;  // a pole (also -inf)
    double r = x - std::floor(x);
    if (r > 0.5) r -= 1;
    if (x > -1e-20) return -1 / x;
    result = -kPi / std::tan(kPi * r);
    x = 1 - x;
  }
  if (std::fabs(x - kZero) < 0.25) {
    double d = (x - kZero) - kZeroLow;
    return result + d * polynomial(taylor, d);
  }
  while (x < 10) {
    result -= 1 / x;
    x += 1;
  }
  double r = 1 / (x * x);
  return result + std::log(x) - 0.5 / x + r * polynomial(series, r);
}

}  // namespace
EAGRE_END
