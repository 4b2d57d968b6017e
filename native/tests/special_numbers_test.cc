#include "harness.h"

using namespace eagre;

namespace {

// A function at one place: igamma, igammac, its slope by a, betainc, zeta, polygamma.
template <class T> double at(int function, std::initializer_list<double> place) {
  Array<T> x[3] = {Array<T>({1}), Array<T>({1}), Array<T>({1})}, y({1});
  Call call;
  int i = 0;
  for (double v : place) {
    x[i][0] = static_cast<T>(v);
    call.in(x[i++]);
  }
  CHECK(call.out(y).attr(function).run("SpecialFunction") == Code::ok);
  return static_cast<double>(y[0]);
}
bool near(double got, double expected, double error = 1e-13) {
  if (std::fabs(got - expected) <= error * std::fabs(expected)) return true;
  std::printf("%.17g, expected %.17g\n", got, expected);
  return false;
}

}  // namespace

int main() {
  constexpr double kPi = 3.14159265358979323846;
  for (double x : {0.01, 0.5, 1.5, 3.0, 30.0}) {
    CHECK(near(at<double>(0, {1, x}), -std::expm1(-x)));
    CHECK(near(at<double>(1, {1, x}), std::exp(-x)));
    CHECK(near(at<double>(0, {0.5, x}), std::erf(std::sqrt(x))));
    CHECK(near(at<float>(1, {2, x}), (1 + static_cast<double>(static_cast<float>(x))) * std::exp(-static_cast<double>(static_cast<float>(x))), 1e-6));
    // The slope by a as a quotient of differences, which say nothing of what is far smaller than 1.
    if (x > 10) continue;
    const double h = 1e-5, slope = (at<double>(0, {2.5 + h, x}) - at<double>(0, {2.5 - h, x})) / (2 * h);
    CHECK(near(at<double>(2, {2.5, x}), slope, 1e-5));
  }
  // Near their mean, half of large ones.
  CHECK(near(at<double>(0, {1e9, 1e9}), 0.5, 1e-4));
  for (double x : {0.1, 0.5, 0.9}) {
    CHECK(near(at<double>(3, {1, 1, x}), x));
    CHECK(near(at<double>(3, {2, 3, x}), x * x * (6 - 8 * x + 3 * x * x)));
  }
  CHECK(near(at<double>(4, {2, 1}), kPi * kPi / 6));
  CHECK(near(at<double>(4, {4, 1}), std::pow(kPi, 4) / 90));
  CHECK(near(at<double>(4, {2, -120.5}), kPi * kPi - at<double>(4, {2, 121.5}), 1e-12));
  CHECK(near(at<double>(5, {1, 1}), kPi * kPi / 6));
  CHECK(near(at<double>(5, {2, 1}), -2 * 1.2020569031595942));
  for (int f : {0, 1, 2}) CHECK(std::isnan(at<double>(f, {-1, 1})) && std::isnan(at<double>(f, {1, -1})));
  CHECK(std::isnan(at<double>(3, {1, 1, 2})) && std::isnan(at<double>(4, {0.5, 1})) && std::isnan(at<double>(5, {0, 1})));
  CHECK(at<double>(4, {1, 2}) == INFINITY && at<double>(4, {2, -3}) == INFINITY);

  Array<float> x({2}), y({2}), other({3});
  Array<int32_t> n({2});
  CHECK(Call().in(x).in(other).out(y).attr(0).run("SpecialFunction") == Code::internal);
  CHECK(Call().in(x).in(x).out(y).attr(3).run("SpecialFunction") == Code::internal);
  CHECK(Call().in(x).in(x).out(y).attr(6).run("SpecialFunction") == Code::internal);
  CHECK(Call().in(n).in(n).out(n).attr(0).run("SpecialFunction") == Code::unimplemented);
  return finish();
}
