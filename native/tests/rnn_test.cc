// LSTM and GRU: a step against plain formulas, gradients against differences in double, float against double, threads.
#include "harness.h"

using namespace eagre;

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

template <class T, class S> Array<T> cast(const Array<S>& a) {
  return Array<T>::make(a.dims, [&](int64_t i) { return a[i]; });
}

struct Problem {
  bool gru;
  int64_t b, t, f, u;
  // x, h0, [c0], kernel, recurrent kernel, bias
  std::vector<Array<double>> in;
  // The upstream gradients: of h, last h, [last c].
  std::vector<Array<double>> up;

  Problem(bool is_gru, int64_t batch, int64_t time, int64_t features, int64_t units)
      : gru(is_gru), b(batch), t(time), f(features), u(units) {}
  Problem(Random& random, bool is_gru, int64_t batch, int64_t time, int64_t features, int64_t units)
      : Problem(is_gru, batch, time, features, units) {
    auto make = [&](Dims d, double scale) { return Array<double>::make(std::move(d), [&](int64_t) { return random.uniform(-scale, scale); }); };
    // float32's values, so that both dtypes compute the same thing
    auto add = [&](std::vector<Array<double>>& to, Dims d, double scale) { to.push_back(cast<double>(cast<float>(make(std::move(d), scale)))); };
    const int64_t gates = gru ? 3 : 4;
    add(in, {b, t, f}, 1);
    add(in, {b, u}, 1);
    if (!gru) add(in, {b, u}, 1);
    add(in, {f, gates * u}, 0.5);
    add(in, {u, gates * u}, 0.5);
    add(in, gru ? Dims{2, gates * u} : Dims{gates * u}, 0.5);
    add(up, {b, t, u}, 1);
    add(up, {b, u}, 1);
    if (!gru) add(up, {b, u}, 1);
  }
};

template <class T> using Arrays = std::vector<Array<T>>;

template <class T> Code call(const char* name, const Arrays<T>& in, Arrays<T>& out) {
  Call c;
  for (auto& a : in) c.in(a);
  for (auto& a : out) c.out(a);
  Code code = c.run(name);
  if (code != Code::ok) std::printf("%s\n", c.message);
  return code;
}

template <class T> Arrays<T> forward(const Problem& p, const Arrays<T>& in, bool with_reserve = true) {
  Arrays<T> out;
  out.emplace_back(Dims{p.b, p.t, p.u}, T(77));
  out.emplace_back(Dims{p.b, p.u}, T(77));
  if (!p.gru) out.emplace_back(Dims{p.b, p.u}, T(77));
  if (with_reserve) out.emplace_back(Dims{p.b, p.t, (p.gru ? 4 : 6) * p.u}, T(77));
  CHECK(call(p.gru ? "GRU" : "LSTM", in, out) == Code::ok);
  return out;
}

// dgates, then the gradients of h0, [c0], kernel, recurrent kernel, bias, x.
template <class T>
Arrays<T> backward(const Problem& p, const Arrays<T>& in, const Arrays<T>& out, const Arrays<T>& up, bool with_x, bool with_h = true) {
  Arrays<T> args(in.begin(), in.end() - 1);
  args.push_back(out[0]);
  args.push_back(out.back());
  for (size_t k = with_h ? 0 : 1; k < up.size(); k++) args.push_back(up[k]);
  Arrays<T> grads;
  grads.emplace_back(Dims{p.b, p.t, 4 * p.u}, T(77));
  for (size_t i = 1; i < in.size(); i++) grads.emplace_back(in[i].dims, T(77));
  if (with_x) grads.emplace_back(in[0].dims, T(77));
  CHECK(call(p.gru ? "GRUGrad" : "LSTMGrad", args, grads) == Code::ok);
  return grads;
}

double loss(const Problem& p, const Arrays<double>& in) {
  Arrays<double> out = forward(p, in);
  double sum = 0;
  for (size_t k = 0; k < p.up.size(); k++) for (int64_t i = 0; i < out[k].size; i++) sum += out[k][i] * p.up[k][i];
  return sum;
}

// The states by the formulas, one number after the other.
Array<double> plain(const Problem& p) {
  Array<double> h({p.b, p.t, p.u});
  const auto &x = p.in[0], &w = p.in[p.in.size() - 3], &r = p.in[p.in.size() - 2], &bias = p.in.back();
  const int64_t u = p.u, n = (p.gru ? 3 : 4) * u;
  for (int64_t b = 0; b < p.b; b++) {
    std::vector<double> state(u), cell(u);
    for (int64_t j = 0; j < u; j++) {
      state[j] = p.in[1][b * u + j];
      if (!p.gru) cell[j] = p.in[2][b * u + j];
    }
    for (int64_t t = 0; t < p.t; t++) {
      std::vector<double> a(n), s(n);
      for (int64_t j = 0; j < n; j++) {
        a[j] = bias[j];
        s[j] = p.gru ? bias[n + j] : 0;
        for (int64_t k = 0; k < p.f; k++) a[j] += x[(b * p.t + t) * p.f + k] * w[k * n + j];
        for (int64_t k = 0; k < u; k++) s[j] += state[k] * r[k * n + j];
      }
      for (int64_t j = 0; j < u; j++) {
        if (p.gru) {
          double z = sigmoid(a[j] + s[j]), reset = sigmoid(a[u + j] + s[u + j]);
          state[j] = z * state[j] + (1 - z) * std::tanh(a[2 * u + j] + reset * s[2 * u + j]);
        } else {
          cell[j] = sigmoid(a[u + j] + s[u + j]) * cell[j] + sigmoid(a[j] + s[j]) * std::tanh(a[2 * u + j] + s[2 * u + j]);
          state[j] = sigmoid(a[3 * u + j] + s[3 * u + j]) * std::tanh(cell[j]);
        }
        h[(b * p.t + t) * u + j] = state[j];
      }
    }
  }
  return h;
}

template <class T> Arrays<T> cast_all(const Arrays<double>& list) {
  Arrays<T> out;
  for (auto& a : list) out.push_back(cast<T>(a));
  return out;
}

// LSTM is the same, number for number, where nobody asks for what its gradient needs.
template <class T> void leave_reserve_out(const Problem& p, const Arrays<T>& in) {
  if (p.gru) return;
  const Arrays<T> all = forward(p, in), some = forward(p, in, false);
  for (size_t k = 0; k < some.size(); k++) CHECK(same(some[k], all[k]) && some[k].intact());
}

// Nobody has to write zeros where no gradient of all states arrives.
template <class T> void leave_gradient_out(const Problem& p, const Arrays<T>& in, const Arrays<T>& out, Arrays<T> up) {
  up[0] = Array<T>(up[0].dims, T(0));
  const Arrays<T> zeros = backward(p, in, out, up, true), none = backward(p, in, out, up, true, false);
  for (size_t k = 0; k < none.size(); k++) CHECK(same(none[k], zeros[k]) && none[k].intact());
}

void check(Random& random, bool gru, int64_t b, int64_t t, int64_t f, int64_t u) {
  Problem p(random, gru, b, t, f, u);
  Arrays<double> out = forward(p, p.in);
  CHECK(close(out[0], plain(p), 1e-12, 1e-14));
  leave_reserve_out(p, p.in);
  leave_gradient_out(p, p.in, out, p.up);
  Arrays<double> grads = backward(p, p.in, out, p.up, true);

  // Along a random direction of all inputs.
  Arrays<double> forth = p.in, back = p.in;
  double exact = 0;
  const double h = 1e-6;
  for (size_t k = 0; k < p.in.size(); k++) {
    const Array<double>& g = k == 0 ? grads.back() : grads[k];
    for (int64_t i = 0; i < p.in[k].size; i++) {
      double d = random.uniform();
      exact += d * g[i];
      forth[k][i] += h * d;
      back[k][i] -= h * d;
    }
  }
  double numeric = (loss(p, forth) - loss(p, back)) / (2 * h);
  if (!(std::fabs(numeric - exact) <= 1e-6 * (1 + std::fabs(exact)))) {
    std::printf("%s %lld %lld %lld %lld: %g, differences give %g\n", gru ? "GRU" : "LSTM", (long long)b, (long long)t, (long long)f, (long long)u, exact, numeric);
    CHECK(false);
  }

  Arrays<float> in = cast_all<float>(p.in), up = cast_all<float>(p.up);
  Arrays<float> first, first_grads;
  for (int threads : {1, 2}) {
    set_thread_count(threads);
    Arrays<float> y = forward(p, in), g = backward(p, in, y, up, threads == 1);
    for (size_t k = 0; k < y.size(); k++) CHECK(close(cast<double>(y[k]), out[k], 1e-5, 1e-5));
    for (size_t k = 0; k < g.size(); k++) CHECK(close(cast<double>(g[k]), grads[k], 1e-4, 1e-4));
    leave_reserve_out(p, in);
    leave_gradient_out(p, in, y, up);
    for (auto& a : y) CHECK(a.intact());
    for (auto& a : g) CHECK(a.intact());
    if (threads == 1) {
      first = y;
      first_grads = g;
    } else {
      for (size_t k = 0; k < y.size(); k++) CHECK(same(y[k], first[k]));
      for (size_t k = 0; k < g.size(); k++) CHECK(same(g[k], first_grads[k]));
    }
  }
}

// Gates far out are 0 and 1, never infinities over each other.
template <class T> void saturate(int64_t u, double sign) {
  const int64_t b = 3;
  auto filled = [](Dims d, double v) { return Array<T>(std::move(d), T(v)); };
  Arrays<T> in = {filled({b, 1, 2}, 0.5),  filled({b, u}, 0.25),    filled({b, u}, 0.75),
                  filled({2, 4 * u}, 0), filled({u, 4 * u}, 0), filled({4 * u}, sign * 500)};
  const Problem lstm(false, b, 1, 2, u), gru(true, b, 1, 2, u);
  const double open = sign > 0 ? 1 : 0, cell = sign > 0 ? 1.75 : 0;
  Arrays<T> out = forward(lstm, in, false);
  CHECK(close(out[2], filled({b, u}, cell), 1e-6, 1e-6));
  CHECK(close(out[0], filled({b, 1, u}, open * std::tanh(cell)), 1e-6, 1e-6));
  leave_reserve_out(lstm, in);
  in.erase(in.begin() + 2);
  in[2] = filled({2, 3 * u}, 0);
  in[3] = filled({u, 3 * u}, 0);
  in[4] = filled({2, 3 * u}, sign * 500);
  out = forward(gru, in);
  CHECK(close(out[0], filled({b, 1, u}, sign > 0 ? 0.25 : -1), 1e-6, 1e-6));
}

}  // namespace

int main() {
  Random random(3);
  for (bool gru : {false, true}) {
    for (int64_t u : {1, 5, 16, 33}) {
      for (int64_t b : {1, 3, 20}) {
        for (int64_t t : {1, 4}) check(random, gru, b, t, 3, u);
      }
    }
    // A small cell whose kernel is not small, and one with several vectors of units.
    check(random, gru, 7, 3, 700, 12);
    check(random, gru, 13, 5, 20, 40);
    check(random, gru, 37, 6, 20, 64);
    check(random, gru, 8, 2, 9, 190);
    // Weights whose gradients are products of their own.
    check(random, gru, 2, 2, 9, 260);
    check(random, gru, 0, 3, 2, 4);
    check(random, gru, 2, 0, 2, 4);
  }
  for (int64_t u : {1, 10, 16, 64}) {
    for (double sign : {-1.0, 1.0}) {
      saturate<float>(u, sign);
      saturate<double>(u, sign);
    }
  }
  return finish();
}
