// Optimizer updates, in place, of many variables in one call: all their elements count as one range, cut into equal chunks.
#include <cmath>
#include <type_traits>

#include "isa.h"

#if defined(__clang__)
#define EAGRE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define EAGRE_INDEPENDENT _Pragma("GCC ivdep")
#endif

EAGRE_BEGIN
namespace {

constexpr int kMaxTensors = 5;
constexpr int64_t kGrain = 1 << 15;

struct Variable {
  char* data[kMaxTensors];  // the variable, its slots, the gradient
  DType dtype;
  int64_t begin;  // its place in the range of all elements
};
struct Variables {
  Variable* items;
  int64_t count, total;
  int tensors;  // of each variable
  double scalars[2];
};

// Reads the inputs and passes over the outputs, which are the variables and slots again: all inputs but the gradients and, at the
// end, some scalars.
Variables read(Args& a, int scalars) {
  Variables v;
  const int tensors = a.inputs() - scalars;
  v.count = tensors - a.outputs();
  v.tensors = v.count > 0 ? static_cast<int>(tensors / v.count) : 0;
  v.total = 0;
  if (v.count < 0 || v.tensors > kMaxTensors || v.count * v.tensors != tensors) {
    fail(Code::internal, "an update of %d inputs and %d outputs", a.inputs(), a.outputs());
  }
  v.items = static_cast<Variable*>(scratch(0, (v.count + 1) * static_cast<int64_t>(sizeof(Variable))));
  for (int64_t i = 0; i < v.count; i++) {
    Variable& item = v.items[i];
    int64_t size = 0;
    for (int k = 0; k < v.tensors; k++) {
      Tensor t = a.tensor();
      if (k == 0) {
        size = t.size;
        item.dtype = t.dtype;
        if (t.dtype != DType::f32 && t.dtype != DType::f64) fail(Code::unimplemented, "optimizers update float32 and float64");
      } else if (t.size != size || t.dtype != item.dtype) {
        fail(Code::internal, "a variable, slots and a gradient that do not fit");
      }
      item.data[k] = t.as<char>();
    }
    item.begin = v.total;
    v.total += size;
  }
  v.items[v.count].begin = v.total;
  for (int i = 0; i < scalars; i++) {
    Tensor t = a.tensor();
    if (t.dtype != DType::f64 || t.size != 1) fail(Code::internal, "the numbers of an update are float64 scalars");
    v.scalars[i] = *t.as<double>();
  }
  for (int k = 0; k < a.outputs(); k++) a.tensor();
  int64_t count = a.integer();
  if (count != v.count)
    fail(Code::internal, "an update of %d variables, %d expected", static_cast<int>(v.count), static_cast<int>(count));
  return v;
}

void expect(const Variables& v, int tensors) {
  if (v.count > 0 && v.tensors != tensors) fail(Code::internal, "%d tensors a variable, %d expected", v.tensors, tensors);
}

// update(pointers, n) for float and double pointers, over every variable's part of every chunk.
template <class F> void each(const Variables& v, F&& update) {
  parallel_for(v.total, kGrain, [&](int64_t begin, int64_t end) {
    int64_t low = 0, high = v.count - 1;
    while (low < high) {
      int64_t middle = (low + high + 1) / 2;
      if (v.items[middle].begin <= begin) low = middle;
      else high = middle - 1;
    }
    for (int64_t i = low; i < v.count && v.items[i].begin < end; i++) {
      const Variable& item = v.items[i];
      int64_t from = begin > item.begin ? begin - item.begin : 0;
      int64_t to = (end < v.items[i + 1].begin ? end : v.items[i + 1].begin) - item.begin;
      if (to <= from) continue;
      if (item.dtype == DType::f32) {
        float* p[kMaxTensors] = {};
        for (int k = 0; k < v.tensors; k++) p[k] = reinterpret_cast<float*>(item.data[k]) + from;
        update(p, to - from);
      } else {
        double* p[kMaxTensors] = {};
        for (int k = 0; k < v.tensors; k++) p[k] = reinterpret_cast<double*>(item.data[k]) + from;
        update(p, to - from);
      }
    }
  });
}

void gradient_descent(Args& a) {
  Variables v = read(a, 1);
  expect(v, 2);
  double rate = v.scalars[0];
  each(v, [=](auto** p, int64_t n) {
    using T = std::decay_t<decltype(**p)>;
    T *var = p[0], *grad = p[1], lr = static_cast<T>(rate);
    EAGRE_INDEPENDENT
    for (int64_t i = 0; i < n; i++) var[i] -= lr * grad[i];
  });
}

void momentum(Args& a) {
  Variables v = read(a, 1);
  expect(v, 3);
  double rate = v.scalars[0], decay = a.number();
  bool nesterov = a.flag();
  each(v, [=](auto** p, int64_t n) {
    using T = std::decay_t<decltype(**p)>;
    T *var = p[0], *m = p[1], *grad = p[2], lr = static_cast<T>(rate), mu = static_cast<T>(decay);
    if (nesterov) {
      EAGRE_INDEPENDENT
      for (int64_t i = 0; i < n; i++) {
        T step = lr * grad[i];
        T next = mu * m[i] - step;
        m[i] = next;
        var[i] += mu * next - step;
      }
    } else {
      EAGRE_INDEPENDENT
      for (int64_t i = 0; i < n; i++) {
        T next = mu * m[i] - lr * grad[i];
        m[i] = next;
        var[i] += next;
      }
    }
  });
}

template <bool centered, bool with_momentum, class T>
inline void rms_update(T* const* p, int64_t n, T lr, T rho, T rest, T mu, T epsilon) {
  T *var = p[0], *rms = p[1], *mean = p[2], *mom = p[centered ? 3 : 2], *grad = p[2 + centered + with_momentum];
  EAGRE_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    T g = grad[i];
    T r = rho * rms[i] + rest * (g * g);
    rms[i] = r;
    if (centered) {
      T m = rho * mean[i] + rest * g;
      mean[i] = m;
      r -= m * m;
    }
    T step = lr * g / std::sqrt(r + epsilon);
    if (with_momentum) {
      step += mu * mom[i];
      mom[i] = step;
    }
    var[i] -= step;
  }
}

void rms_prop(Args& a) {
  Variables v = read(a, 1);
  double rate = v.scalars[0], decay = a.number(), mu = a.number(), epsilon = a.number();
  bool centered = a.flag(), with_momentum = mu > 0;
  expect(v, 3 + centered + with_momentum);
  each(v, [=](auto** p, int64_t n) {
    using T = std::decay_t<decltype(**p)>;
    T lr = static_cast<T>(rate), rho = static_cast<T>(decay), rest = static_cast<T>(1 - decay);
    T m = static_cast<T>(mu), e = static_cast<T>(epsilon);
    if (centered) {
      if (with_momentum) rms_update<true, true>(p, n, lr, rho, rest, m, e);
      else rms_update<true, false>(p, n, lr, rho, rest, m, e);
    } else {
      if (with_momentum) rms_update<false, true>(p, n, lr, rho, rest, m, e);
      else rms_update<false, false>(p, n, lr, rho, rest, m, e);
    }
  });
}

template <bool amsgrad, class T> inline void adam_update(T* const* p, int64_t n, T alpha, T shrink, T rest1, T rest2, T epsilon) {
  T *var = p[0], *m = p[1], *v = p[2], *largest = p[amsgrad ? 3 : 2], *grad = p[3 + amsgrad];
  EAGRE_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    T g = grad[i];
    T first = m[i] + (g - m[i]) * rest1;
    T second = v[i] + (g * g - v[i]) * rest2;
    m[i] = first;
    v[i] = second;
    if (amsgrad) {
      second = largest[i] > second ? largest[i] : second;
      largest[i] = second;
    }
    T x = var[i];
    var[i] = x - x * shrink - alpha * first / (std::sqrt(second) + epsilon);
  }
}

void adam(Args& a) {
  Variables v = read(a, 2);
  double alpha = v.scalars[0], rate = v.scalars[1], beta1 = a.number(), beta2 = a.number(), epsilon = a.number(), decay = a.number();
  bool amsgrad = a.flag();
  expect(v, 4 + amsgrad);
  each(v, [=](auto** p, int64_t n) {
    using T = std::decay_t<decltype(**p)>;
    T step = static_cast<T>(alpha), shrink = static_cast<T>(decay * rate), e = static_cast<T>(epsilon);
    T rest1 = static_cast<T>(1 - beta1), rest2 = static_cast<T>(1 - beta2);
    if (amsgrad) adam_update<true>(p, n, step, shrink, rest1, rest2, e);
    else adam_update<false>(p, n, step, shrink, rest1, rest2, e);
  });
}

}  // namespace

void register_optimizers(Registry& r) {
  r.add("ApplyGradientDescent", gradient_descent);
  r.add("ApplyMomentum", momentum);
  r.add("ApplyRMSProp", rms_prop);
  r.add("ApplyAdam", adam);
}
EAGRE_END
