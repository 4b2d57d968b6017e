// Optimizer updates of several variables at once, against the rules in double.
#include <functional>

#include "harness.h"

using namespace eagre;

namespace {

// update(values) changes one element's tensors (variable, slots, gradient) as the rule says.
using Rule = std::function<void(double*)>;

template <class T> void check(const char* name, int tensors, std::vector<double> numbers, std::vector<double> attrs, const Rule& rule, double tolerance) {
  std::vector<int64_t> sizes = {1, 10, 0, 1000, 33, 70000, 5};
  std::vector<Array<T>> all, want;
  Random random(11);
  for (int64_t n : sizes) {
    for (int k = 0; k < tensors; k++) {
      // Slots of squares are not negative and larger than the squared means.
      bool slot = k > 0 && k < tensors - 1;
      all.push_back(Array<T>::make({n}, [&](int64_t) { return slot ? random.uniform(0.7, 0.8) : random.uniform(-0.5, 0.5); }));
    }
  }
  want = all;
  for (size_t v = 0; v < sizes.size(); v++) {
    for (int64_t i = 0; i < sizes[v]; i++) {
      double values[5];
      for (int k = 0; k < tensors; k++)
        values[k] = static_cast<double>(all[v * static_cast<size_t>(tensors) + static_cast<size_t>(k)][i]);
      rule(values);
      for (int k = 0; k < tensors; k++)
        want[v * static_cast<size_t>(tensors) + static_cast<size_t>(k)][i] = static_cast<T>(values[k]);
    }
  }
  Call call;
  for (auto& t : all) call.in(t);
  std::vector<Array<double>> scalars;
  for (double number : numbers) scalars.push_back(Array<double>::make({}, [&](int64_t) { return number; }));
  for (auto& t : scalars) call.in(t);
  for (size_t i = 0; i < all.size(); i++) {
    if (static_cast<int>(i % static_cast<size_t>(tensors)) != tensors - 1) call.out(all[i]);
  }
  call.attr(static_cast<double>(sizes.size()));
  for (double a : attrs) call.attr(a);
  if (call.run(name) != Code::ok) {
    std::printf("%s: %s\n", name, call.message);
    failures()++;
  }
  for (size_t i = 0; i < all.size(); i++) CHECK(close(all[i], want[i], tolerance, tolerance * 0.1));
}

template <class T> void rules(double e) {
  double lr = 0.1;
  check<T>("ApplyGradientDescent", 2, {lr}, {}, [=](double* p) { p[0] -= lr * p[1]; }, e);
  for (bool nesterov : {false, true}) {
    check<T>("ApplyMomentum", 3, {lr}, {0.9, nesterov ? 1.0 : 0.0}, [=](double* p) {
      p[1] = 0.9 * p[1] - lr * p[2];
      p[0] += nesterov ? 0.9 * p[1] - lr * p[2] : p[1];
    }, e);
  }
  for (bool centered : {false, true}) {
    for (double mu : {0.0, 0.8}) {
      int mom = centered ? 3 : 2, grad = 2 + centered + (mu > 0);
      check<T>("ApplyRMSProp", grad + 1, {lr}, {0.95, mu, 1e-2, centered ? 1.0 : 0.0}, [=](double* p) {
        double g = p[grad];
        p[1] = 0.95 * p[1] + 0.05 * g * g;
        double r = p[1];
        if (centered) {
          p[2] = 0.95 * p[2] + 0.05 * g;
          r -= p[2] * p[2];
        }
        double step = lr * g / std::sqrt(r + 1e-2);
        if (mu > 0) step = p[mom] = mu * p[mom] + step;
        p[0] -= step;
      }, centered ? 10 * e : e);
    }
  }
  for (bool amsgrad : {false, true}) {
    for (double decay : {0.0, 0.05}) {
      check<T>("ApplyAdam", amsgrad ? 5 : 4, {0.02, lr}, {0.9, 0.99, 1e-3, decay, amsgrad ? 1.0 : 0.0}, [=](double* p) {
        double g = p[amsgrad ? 4 : 3];
        p[0] -= p[0] * decay * lr;
        p[1] += (g - p[1]) * (1 - 0.9);
        p[2] += (g * g - p[2]) * (1 - 0.99);
        double second = p[2];
        if (amsgrad) second = p[3] = std::fmax(p[3], second);
        p[0] -= 0.02 * p[1] / (std::sqrt(second) + 1e-3);
      }, e);
    }
  }
}

}  // namespace

int main() {
  rules<float>(1e-5);
  rules<double>(1e-13);
  Array<float> a({3}), b({4});
  Array<double> rate({});
  CHECK(Call().in(a).in(b).in(rate).out(a).attr(1).run("ApplyGradientDescent") == Code::internal);
  CHECK(Call().in(a).in(a).in(rate).out(a).attr(2).run("ApplyGradientDescent") == Code::internal);
  CHECK(Call().in(a).in(a).in(a).out(a).attr(1).run("ApplyGradientDescent") == Code::internal);
  return finish();
}
