// The softmax family against plain loops in long double.
#include "harness.h"

using namespace eagre;

namespace {

template <class T> void check(int64_t rows, int64_t n, double spread) {
  Random random(static_cast<uint64_t>(n));
  auto x = Array<T>::make({rows, n}, [&](int64_t) { return random.uniform(-spread, spread) + 1000; });
  auto labels = Array<T>::make({rows, n}, [&](int64_t) { return random.below(3) ? 0 : random.uniform(0, 1); });
  auto classes = Array<int32_t>::make({rows}, [&](int64_t) { return random.below(n); });
  auto long_classes = Array<int64_t>::make({rows}, [&](int64_t i) { return classes[i]; });
  Array<T> soft({rows, n}), logs({rows, n}), dense({rows}), dense_back({rows, n}), sparse({rows}), sparse_back({rows, n});
  for (int64_t r = 0; r < rows; r++) {
    long double top = -INFINITY, total = 0, sum = 0, loss = 0;
    for (int64_t i = 0; i < n; i++) top = std::fmax(top, static_cast<long double>(x[r * n + i]));
    for (int64_t i = 0; i < n; i++) total += std::exp(static_cast<long double>(x[r * n + i]) - top);
    for (int64_t i = 0; i < n; i++) {
      long double z = static_cast<long double>(x[r * n + i]) - top;
      soft[r * n + i] = static_cast<T>(std::exp(z) / total);
      logs[r * n + i] = static_cast<T>(z - std::log(total));
      sum += static_cast<long double>(labels[r * n + i]);
      loss -= static_cast<long double>(labels[r * n + i]) * (z - std::log(total));
    }
    dense[r] = static_cast<T>(loss);
    sparse[r] = -logs[r * n + classes[r]];
    for (int64_t i = 0; i < n; i++) {
      long double p = std::exp(static_cast<long double>(x[r * n + i]) - top) / total;
      dense_back[r * n + i] = static_cast<T>(p * sum - static_cast<long double>(labels[r * n + i]));
      sparse_back[r * n + i] = static_cast<T>(p - (i == classes[r] ? 1 : 0));
    }
  }
  double e = sizeof(T) == 4 ? 2e-6 : 1e-13, a = sizeof(T) == 4 ? 1e-6 : 1e-14;
  Array<T> y({rows, n}), loss({rows});
  CHECK(Call().in(x).out(y).run("Softmax") == Code::ok && close(y, soft, e));
  CHECK(Call().in(x).out(y).run("LogSoftmax") == Code::ok && close(y, logs, e, a));
  CHECK(Call().in(x).in(labels).out(loss).out(y).run("SoftmaxCrossEntropyWithLogits") == Code::ok);
  CHECK(close(loss, dense, e, a) && close(y, dense_back, e * 2, a * static_cast<double>(n)));
  CHECK(Call().in(x).in(classes).out(loss).out(y).run("SparseSoftmaxCrossEntropyWithLogits") == Code::ok);
  CHECK(close(loss, sparse, e, a) && close(y, sparse_back, e, a));
  CHECK(Call().in(x).in(long_classes).out(loss).out(y).run("SparseSoftmaxCrossEntropyWithLogits") == Code::ok);
  CHECK(close(loss, sparse, e, a) && close(y, sparse_back, e, a));
}

template <class T> void edges() {
  T inf = static_cast<T>(INFINITY);
  Array<T> x({2, 3}, {-inf, 0, 0, -inf, -inf, -inf}), y({2, 3});
  CHECK(Call().in(x).out(y).run("Softmax") == Code::ok);
  CHECK(y[0] == 0 && y[1] == T(0.5) && y[2] == T(0.5) && y[3] != y[3] && y[4] != y[4]);
  CHECK(Call().in(x).out(y).run("LogSoftmax") == Code::ok);
  CHECK(y[0] == -inf && std::fabs(y[1] + T(0.6931472)) < T(1e-6) && y[3] != y[3]);
  Array<T> bad({1, 40}, T(1));
  Array<T> z({1, 40});
  bad[7] = static_cast<T>(NAN);
  CHECK(Call().in(bad).out(z).run("Softmax") == Code::ok);
  for (int64_t i = 0; i < 40; i++) CHECK(z[i] != z[i]);
  Array<T> logits({2, 3}, T(0)), loss({2}), back({2, 3}, T(7));
  for (int32_t label : {3, -1}) {
    Array<int32_t> labels({2}, {0, label});
    Call call;
    CHECK(call.in(logits).in(labels).out(loss).out(back).run("SparseSoftmaxCrossEntropyWithLogits") == Code::out_of_range);
    CHECK(std::strstr(call.message, label < 0 ? "-1" : "3") && back[0] == T(7));
  }
  Array<T> none({0, 3}), no_loss({0}), empty({2, 0}), out({2, 0});
  Array<int32_t> no_labels({0});
  CHECK(Call().in(none).in(no_labels).out(no_loss).out(none).run("SparseSoftmaxCrossEntropyWithLogits") == Code::ok);
  CHECK(Call().in(empty).out(out).run("Softmax") == Code::ok);
  CHECK(Call().in(empty).in(empty).out(loss).out(out).run("SoftmaxCrossEntropyWithLogits") == Code::ok && loss[0] == 0);
}

}  // namespace

int main() {
  for (int64_t n : {1, 2, 3, 10, 15, 16, 17, 64, 100, 1000, 5003}) {
    for (int64_t rows : {1, 3, 200}) {
      check<float>(rows, n, 5);
      check<double>(rows, n, 30);
    }
  }
  edges<float>();
  edges<double>();
  return finish();
}
