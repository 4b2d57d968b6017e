// MapReduce against the program by itself and then the reduction by itself: to the last bit, on one thread and on several.
#include <type_traits>

#include "scalar_code.h"

using namespace eagre;

namespace {

// Kinds of the contract.
enum Kind { kWritten, kSum, kMean, kProd, kMax, kMin, kAll, kAny };
const char* const names[] = {"", "Sum", "Mean", "Prod", "Max", "Min", "All", "Any"};

// A program among the attributes of a call.
Dims listed(const ScalarCode& code, const std::vector<int>& outputs) {
  const std::vector<double> all = code.encode(outputs);
  return Dims(all.begin(), all.end());
}

template <class T> Array<T> filled(Dims dims, uint64_t seed) {
  Random random(seed);
  return Array<T>::make(std::move(dims), [&](int64_t) {
    return std::is_floating_point<T>::value ? random.uniform(-1, 1) : static_cast<double>(random.below(100));
  });
}

// (a − b)² of the mapped shape, kept in full if asked for, and its reduction over the last axis, which may be cut into runs.
template <class T> void squares(Dims dims, Dims b_dims, int64_t width, Kind kind, bool kept) {
  constexpr DType t = DTypeOf<T>::value;
  ScalarCode code({t, t});
  int d = code.op(Op::sub, t, {0, 1});
  int square = code.op(Op::mul, t, {d, d});
  Array<T> a = filled<T>(dims, 1), b = filled<T>(b_dims, 2);
  const int64_t runs = a.size / width;
  Array<T> mapped(dims), want({runs}), y({runs}), whole(dims);
  CHECK(Call().in(a).in(b).out(mapped).attr(code.compile({square})).run("Elementwise") == Code::ok);
  Array<T> rows({runs, width});
  std::memcpy(rows.data(), mapped.data(), static_cast<size_t>(mapped.size) * sizeof(T));
  CHECK(Call().in(rows).out(want).list({1}).run(names[kind]) == Code::ok);

  for (int threads : {1, 3}) {
    const int before = thread_count();
    set_thread_count(threads);
    Array<T> result({runs}), all(dims);
    Call call;
    call.in(a).in(b).out(result);
    if (kept) call.out(all).list(listed(code, {square, square}));
    else call.list(listed(code, {square}));
    call.list(dims).attr(static_cast<double>(width));
    const bool ok = call.list(kept ? Dims{kind, kWritten} : Dims{kind}).run("MapReduce") == Code::ok;
    if (!ok || !same(result, want) || (kept && !same(all, mapped))) {
      std::printf("%s of dtype %d, %lld elements in runs of %lld, %d threads%s: %s\n", names[kind], static_cast<int>(t),
                  static_cast<long long>(a.size), static_cast<long long>(width), threads, kept ? ", kept" : "", call.message);
      failures()++;
    }
    set_thread_count(before);
  }
}

template <class T> void sizes() {
  for (bool kept : {false, true}) {
    for (Kind kind : {kSum, kMax, kMin, kProd}) {
      squares<T>({0}, {0}, 1, kind, kept);
      squares<T>({0, 5}, {5}, 5, kind, kept);
      squares<T>({1}, {1}, 1, kind, kept);
      squares<T>({3, 1}, {1}, 1, kind, kept);
      squares<T>({7}, {7}, 7, kind, kept);
      squares<T>({13, 17}, {13, 17}, 17, kind, kept);
      squares<T>({13, 17}, {17}, 17, kind, kept);
      squares<T>({13, 17}, {13, 1}, 17, kind, kept);
      squares<T>({13, 17}, {}, 17, kind, kept);
      squares<T>({5, 3, 7}, {3, 1}, 21, kind, kept);
      squares<T>({5, 3, 7}, {5, 1, 7}, 7, kind, kept);
      squares<T>({4, 1000}, {4, 1}, 1000, kind, kept);
      squares<T>({3, 5001}, {5001}, 5001, kind, kept);
      squares<T>({40, 1025}, {40, 1}, 1025, kind, kept);
      squares<T>({3, 70000}, {3, 1}, 70000, kind, kept);
      squares<T>({300001}, {1}, 300001, kind, kept);
      squares<T>({20, 30000}, {20, 30000}, 600000, kind, kept);
      squares<T>({2000, 300}, {300}, 300, kind, kept);
    }
  }
}

// Numbers that the program widens before it computes: one for all elements, one for each row, one for each element.
template <class T> void narrow() {
  constexpr DType t = DTypeOf<T>::value;
  ScalarCode code({t, t, t});
  const int wide[] = {code.op(Op::cast, DType::i32, {0}), code.op(Op::cast, DType::i32, {1}), code.op(Op::cast, DType::i32, {2})};
  int product = code.op(Op::mul, DType::i32, {wide[0], wide[1]});
  int result = code.op(Op::add, DType::i32, {product, wide[2]});
  for (int64_t width : {1, 5, 70, 3000}) {
    const int64_t rows = 6;
    Array<T> x = filled<T>({rows, width}, 5), y({}, static_cast<T>(199)), z = filled<T>({rows, 1}, 6);
    Array<int32_t> sums({rows});
    CHECK(Call().in(x).in(y).in(z).out(sums).list(listed(code, {result})).list({rows, width}).attr(static_cast<double>(width)).list({kSum}).run("MapReduce") == Code::ok);
    for (int64_t r = 0; r < rows; r++) {
      int32_t want = 0;
      for (int64_t c = 0; c < width; c++) want += x[r * width + c] * y[0] + z[r];
      CHECK(sums[r] == want);
    }
  }
}

// A result so large that it is stored past the caches.
void large() {
  squares<float>({2049, 2049}, {2049, 2049}, 2049, kMean, true);
  squares<float>({2049 * 2049}, {2049 * 2049}, 2049 * 2049, kMean, true);
  squares<double>({1500, 1500}, {1500}, 1500 * 1500, kMean, true);
}

// Several reductions, constants, an input and a constant as results, other dtypes than the operands'.
void several() {
  constexpr DType f = DType::f32, b = DType::boolean, i = DType::i64;
  ScalarCode code({f, f});
  int two = code.op(Op::constant, f, {}, 2);
  int twice = code.op(Op::mul, f, {0, two});
  int less = code.op(Op::lt, b, {twice, 1});
  int one = code.op(Op::cast, i, {less});
  const int64_t rows = 300, width = 77;
  auto x = filled<float>({rows, width}, 3), y = filled<float>({rows, 1}, 4);
  Array<float> total({rows}), largest({rows}), mean({rows}), constants({rows, width}), doubled({rows});
  Array<int64_t> count({rows});
  Array<bool> all({rows}), any({rows});
  Call call;
  call.in(x).in(y).out(total).out(largest).out(mean).out(constants).out(doubled).out(count).out(all).out(any);
  call.list(listed(code, {0, twice, 1, two, two, one, less, less})).list({rows, width}).attr(width);
  CHECK(call.list({kSum, kMax, kMean, kWritten, kSum, kSum, kAll, kAny}).run("MapReduce") == Code::ok);
  for (int64_t r = 0; r < rows; r++) {
    double sum = 0;
    float most = -INFINITY;
    int64_t found = 0;
    for (int64_t c = 0; c < width; c++) {
      float v = x[r * width + c];
      sum += static_cast<double>(v);
      if (2 * v > most) most = 2 * v;
      if (2 * v < y[r]) found++;
      CHECK(constants[r * width + c] == 2);
    }
    CHECK(std::fabs(static_cast<double>(total[r]) - sum) < 1e-5);
    CHECK(largest[r] == most && mean[r] == y[r] && doubled[r] == 2 * width && count[r] == found);
    CHECK(all[r] == (found == width) && any[r] == (found > 0));
  }
}

void errors() {
  ScalarCode code({DType::i32, DType::i32});
  int q = code.op(Op::div, DType::i32, {0, 1});
  Array<int32_t> x({6}, 1), zero({6}, 0), y({2});
  const Dims program = listed(code, {q});
  CHECK(Call().in(x).in(zero).out(y).list(program).list({6}).attr(3).list({kSum}).run("MapReduce") == Code::invalid_argument);
  CHECK(Call().in(x).in(x).out(y).list(program).list({6}).attr(4).list({kSum}).run("MapReduce") == Code::internal);
  CHECK(Call().in(x).in(x).out(y).list(program).list({7}).attr(7).list({kSum}).run("MapReduce") == Code::internal);
  CHECK(Call().in(x).in(x).out(y).list(program).list({6}).attr(3).list({kSum, kSum}).run("MapReduce") == Code::internal);
  CHECK(Call().in(x).in(x).out(y).list(program).list({6}).attr(3).list({kMean}).run("MapReduce") == Code::unimplemented);
  CHECK(Call().in(x).out(y).list(program).list({6}).attr(3).list({kSum}).run("MapReduce") == Code::internal);
  CHECK(Call().in(x).in(x).out(y).list({1, 2}).list({6}).attr(3).list({kSum}).run("MapReduce") == Code::internal);
  CHECK(Call().in(x).in(x).out(y).list(program).list({6}).attr(3).list({kSum}).run("MapReduce") == Code::ok);
  CHECK(y[0] == 3 && y[1] == 3);
}

// NaN and infinities as the reductions by themselves treat them.
void specials() {
  ScalarCode code({DType::f32});
  int negated = code.op(Op::neg, DType::f32, {0});
  Array<float> x({3, 5}, {1, NAN, 3, 4, 5, INFINITY, 1, 1, -INFINITY, 1, -INFINITY, 0, 0, 0, 0});
  Array<float> most({3}), sum({3});
  CHECK(Call().in(x).out(most).out(sum).list(listed(code, {negated, negated})).list({3, 5}).attr(5).list({kMax, kSum}).run("MapReduce") ==
        Code::ok);
  CHECK(std::isnan(most[0]) && most[1] == INFINITY && most[2] == INFINITY);
  CHECK(std::isnan(sum[0]) && std::isnan(sum[1]) && sum[2] == INFINITY);
}

}  // namespace

int main() {
  sizes<float>();
  sizes<double>();
  sizes<int32_t>();
  sizes<int64_t>();
  sizes<uint8_t>();
  narrow<uint8_t>();
  narrow<int16_t>();
  narrow<uint16_t>();
  large();
  several();
  errors();
  specials();
  return finish();
}
