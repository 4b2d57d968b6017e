// Attention and its gradient against plain loops in double, over several blocks.
#include "harness.h"

using namespace eagre;

namespace {

enum class Masking { none, additive, boolean, per_key };

struct Sizes {
  int64_t batch, heads, queries, keys, width, value_width;
};

template <class T> void check(const Sizes& z, bool time_first, bool causal, Masking masking) {
  Random random(static_cast<uint64_t>(z.queries * 31 + z.keys));
  const int64_t B = z.batch, H = z.heads, N = z.queries, M = z.keys, D = z.width, V = z.value_width;
  auto dims = [&](int64_t t, int64_t w) { return time_first ? Dims{B, t, H, w} : Dims{B, H, t, w}; };
  auto at = [&](int64_t b, int64_t h, int64_t t, int64_t time, int64_t w) {
    return (time_first ? (b * time + t) * H + h : (b * H + h) * time + t) * w;
  };
  auto noise = [&](int64_t) { return random.uniform(-1, 1); };
  auto query = Array<T>::make(dims(N, D), noise), key = Array<T>::make(dims(M, D), noise);
  auto value = Array<T>::make(dims(M, V), noise), dy = Array<T>::make(dims(N, V), noise);
  auto added = Array<T>::make({1, H, N, M}, noise);
  auto kept = Array<bool>::make({B, 1, N, M}, [&](int64_t i) { return random.below(3) && i / (M ? M : 1) % 5; });
  auto padded = Array<bool>::make({B, 1, 1, M}, [&](int64_t) { return random.below(3); });
  const double scale = 0.3;
  Array<T> y(dims(N, V)), lse({B, H, N}), dquery(dims(N, D)), dkey(dims(M, D)), dvalue(dims(M, V));
  std::vector<double> to_key(static_cast<size_t>(dkey.size)), to_value(static_cast<size_t>(dvalue.size));
  std::vector<double> s(static_cast<size_t>(M));
  for (int64_t b = 0; b < B; b++) for (int64_t h = 0; h < H; h++) for (int64_t i = 0; i < N; i++) {
    double top = -INFINITY, total = 0;
    auto hidden = [&](int64_t j) {
      return (causal && j > i) || (masking == Masking::boolean && !kept[(b * N + i) * M + j]) ||
             (masking == Masking::per_key && !padded[b * M + j]);
    };
    for (int64_t j = 0; j < M; j++) {
      double& x = s[static_cast<size_t>(j)];
      x = 0;
      for (int64_t c = 0; c < D; c++) {
        x += scale * static_cast<double>(query[at(b, h, i, N, D) + c]) * static_cast<double>(key[at(b, h, j, M, D) + c]);
      }
      if (masking == Masking::additive) x += static_cast<double>(added[(h * N + i) * M + j]);
      if (hidden(j)) x = -INFINITY;
      top = std::fmax(top, x);
    }
    for (int64_t j = 0; j < M; j++) total += top == -INFINITY ? 0 : std::exp(s[static_cast<size_t>(j)] - top);
    lse[(b * H + h) * N + i] = static_cast<T>(top + std::log(total));
    std::vector<double> out(static_cast<size_t>(V)), in(static_cast<size_t>(D));
    auto weight = [&](int64_t j) { return total == 0 ? 0 : std::exp(s[static_cast<size_t>(j)] - top) / total; };
    auto dp = [&](int64_t j) {
      double x = 0;
      for (int64_t c = 0; c < V; c++) {
        x += static_cast<double>(dy[at(b, h, i, N, V) + c]) * static_cast<double>(value[at(b, h, j, M, V) + c]);
      }
      return x;
    };
    double delta = 0;
    for (int64_t j = 0; j < M; j++) {
      double w = weight(j);
      for (int64_t c = 0; c < V; c++) out[static_cast<size_t>(c)] += w * static_cast<double>(value[at(b, h, j, M, V) + c]);
      delta += w * dp(j);
    }
    for (int64_t j = 0; j < M; j++) {
      double w = weight(j), slope = scale * w * (dp(j) - delta);
      for (int64_t c = 0; c < V; c++) {
        to_value[static_cast<size_t>(at(b, h, j, M, V) + c)] += w * static_cast<double>(dy[at(b, h, i, N, V) + c]);
      }
      for (int64_t c = 0; c < D; c++) {
        in[static_cast<size_t>(c)] += slope * static_cast<double>(key[at(b, h, j, M, D) + c]);
        to_key[static_cast<size_t>(at(b, h, j, M, D) + c)] += slope * static_cast<double>(query[at(b, h, i, N, D) + c]);
      }
    }
    for (int64_t c = 0; c < V; c++) y[at(b, h, i, N, V) + c] = static_cast<T>(out[static_cast<size_t>(c)]);
    for (int64_t c = 0; c < D; c++) dquery[at(b, h, i, N, D) + c] = static_cast<T>(in[static_cast<size_t>(c)]);
  }
  for (int64_t i = 0; i < dkey.size; i++) dkey[i] = static_cast<T>(to_key[static_cast<size_t>(i)]);
  for (int64_t i = 0; i < dvalue.size; i++) dvalue[i] = static_cast<T>(to_value[static_cast<size_t>(i)]);

  const double e = sizeof(T) == 4 ? 1e-5 : 1e-12, a = sizeof(T) == 4 ? 2e-6 : 1e-13;
  Array<T> first(dims(N, D));
  for (int threads : {1, 2}) {
    set_thread_count(threads);
    Array<T> y2(dims(N, V)), lse2({B, H, N}), dquery2(dims(N, D)), dkey2(dims(M, D)), dvalue2(dims(M, V));
    auto mask = [&](Call& c) {
      if (masking == Masking::additive) c.in(added);
      if (masking == Masking::boolean) c.in(kept);
      if (masking == Masking::per_key) c.in(padded);
    };
    Call f, g;
    f.in(query).in(key).in(value);
    mask(f);
    f.out(y2).out(lse2).attr(time_first).attr(scale).attr(causal);
    CHECK(f.run("ScaledDotProductAttention") == Code::ok);
    CHECK(close(y2, y, e, a) && close(lse2, lse, e, a));
    g.in(dy).in(query).in(key).in(value).in(y2).in(lse2);
    mask(g);
    g.out(dquery2).out(dkey2).out(dvalue2).attr(time_first).attr(scale).attr(causal);
    CHECK(g.run("ScaledDotProductAttentionGrad") == Code::ok);
    CHECK(close(dquery2, dquery, e, 2 * a) && close(dkey2, dkey, e, 2 * a) && close(dvalue2, dvalue, e, 2 * a));
    if (threads == 1) first = dquery2;
    else CHECK(same(first, dquery2));
  }
}

template <class T> void all() {
  const Sizes sizes[] = {{1, 1, 1, 1, 1, 1},   {2, 3, 5, 7, 4, 3},    {1, 2, 70, 300, 16, 8}, {1, 1, 200, 600, 8, 8},
                         {2, 1, 300, 40, 5, 9}, {1, 10, 130, 270, 3, 4}, {1, 2, 3, 0, 2, 2},     {1, 2, 0, 3, 2, 2},
                         {0, 2, 3, 3, 2, 2},    {1, 2, 3, 4, 0, 2},      {1, 2, 3, 4, 2, 0}};
  for (const Sizes& z : sizes) {
    for (bool time_first : {false, true}) {
      for (bool causal : {false, true}) {
        for (Masking m : {Masking::none, Masking::additive, Masking::boolean, Masking::per_key}) {
          check<T>(z, time_first, causal, m);
        }
      }
    }
  }
}

}  // namespace

int main() {
  all<float>();
  all<double>();
  // Sizes that do not fit are refused.
  Array<float> q({1, 2, 3, 4}), k({1, 2, 5, 4}), v({1, 2, 6, 4}), y({1, 2, 3, 4}), lse({1, 2, 3});
  CHECK(Call().in(q).in(k).in(v).out(y).out(lse).attr(0).attr(1).attr(0).run("ScaledDotProductAttention") == Code::internal);
  return finish();
}
