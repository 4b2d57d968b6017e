// Scalar programs on a few elements give what they give on many, also in place.
#include "scalar_code.h"

using namespace eagre;

namespace {

struct Instruction {
  Op op;
  DType dtype;
  std::vector<int> args;
  double value = 0;
};

int compile(const std::vector<DType>& inputs, const std::vector<Instruction>& instructions, const std::vector<int>& outputs) {
  ScalarCode code(inputs);
  for (const Instruction& in : instructions) {
    const int none = -1, *a = in.args.data();
    const size_t n = in.args.size();
    code.op(in.op, in.dtype, {n > 0 ? a[0] : none, n > 1 ? a[1] : none, n > 2 ? a[2] : none}, in.value);
  }
  return code.compile(outputs);
}

constexpr int64_t kMany = 100;

// Every size up to one that is not few any more; apart from the inputs, then over each of the first two.
void floats(int program, size_t inputs, size_t outputs) {
  std::vector<Array<float>> in, many;
  for (size_t j = 0; j < inputs; j++) in.push_back(Array<float>::make({kMany}, [&](int64_t i) { return 0.25 * (i % 17) - 1.5 + j; }));
  many.assign(outputs, Array<float>({kMany}));
  const auto addresses = [](std::vector<Array<float>>& arrays) {
    std::vector<void*> list;
    for (auto& a : arrays) list.push_back(a.data());
    return list;
  };
  const auto run = [&](int64_t size, std::vector<Array<float>>& from, const std::vector<void*>& to) {
    const std::vector<void*> list = addresses(from);
    return run_flat(program, size, std::vector<const void*>(list.begin(), list.end()), to);
  };
  CHECK(run(kMany, in, addresses(many)) == Code::ok);
  for (int64_t size = 0; size <= 20; size++) {
    std::vector<Array<float>> own, few;
    for (const auto& whole : in) own.push_back(Array<float>::make({size}, [&](int64_t i) { return whole[i]; }));
    few.assign(outputs, Array<float>({size}, -77));
    std::vector<Array<float>> expected;
    for (const auto& whole : many) expected.push_back(Array<float>::make({size}, [&](int64_t i) { return whole[i]; }));
    CHECK(run(size, own, addresses(few)) == Code::ok);
    for (size_t k = 0; k < outputs; k++) CHECK(same(few[k], expected[k]));
    for (size_t k = 0; k < outputs && k < inputs; k++) {
      for (size_t j = 0; j < inputs; j++) {
        std::vector<Array<float>> changed = own;
        std::vector<Array<float>> others(outputs, Array<float>({size}));
        std::vector<void*> to = addresses(others);
        to[k] = changed[j].data();
        CHECK(run(size, changed, to) == Code::ok);
        for (size_t m = 0; m < outputs; m++) CHECK(same(m == k ? changed[j] : others[m], expected[m]));
      }
    }
  }
}

}  // namespace

int main() {
  const DType x = DType::f32;
  const auto constant = [&](double value) { return Instruction{Op::constant, x, {}, value}; };
  const auto two = [&](Op o, int a, int b) { return Instruction{o, x, {a, b}}; };
  const auto one = [&](Op o, int a) { return Instruction{o, x, {a}}; };
  // (x + y) · 0.5 − x, and with tanh
  floats(compile({x, x}, {two(Op::add, 0, 1), constant(0.5), two(Op::mul, 2, 3), two(Op::sub, 4, 0)}, {5}), 2, 1);
  floats(compile({x}, {one(Op::tanh, 0), one(Op::exp, 1), two(Op::div, 2, 0)}, {3}), 1, 1);
  // Two outputs that each need both inputs, however they lie
  floats(compile({x, x}, {two(Op::add, 0, 1), two(Op::sub, 0, 1)}, {2, 3}), 2, 2);
  floats(compile({x, x}, {two(Op::add, 0, 1), two(Op::mul, 2, 0), two(Op::mul, 2, 1)}, {3, 4}), 2, 2);
  // The same output twice, an input, a constant, and what nothing reads
  floats(compile({x, x}, {two(Op::add, 0, 1), one(Op::neg, 2)}, {3, 3}), 2, 2);
  floats(compile({x, x}, {two(Op::add, 0, 1)}, {2, 0}), 2, 2);
  floats(compile({x}, {}, {0}), 1, 1);
  floats(compile({x}, {constant(3)}, {1}), 1, 1);
  floats(compile({x}, {constant(3), one(Op::neg, 0), one(Op::abs, 0)}, {3, 1}), 1, 2);
  // More values at once than the stack has room for
  std::vector<Instruction> wide;
  for (int i = 0; i < 40; i++) wide.push_back(constant(i));
  int sum = 0;
  for (int i = 0; i < 40; i++) {
    wide.push_back(two(Op::add, sum, 1 + i));
    sum = static_cast<int>(wide.size());
  }
  floats(compile({x}, wide, {sum}), 1, 1);

  // Other dtypes: x < 1000 of int32, a choice by it, float64 of it; an error in the middle.
  Array<int32_t> n({3}, {5, 1000, -7});
  Array<bool> less({3});
  Array<double> chosen({3});
  const int program = compile({DType::i32},
                              {{Op::constant, DType::i32, {}, 1000},
                               {Op::lt, DType::boolean, {0, 1}},
                               {Op::cast, DType::f64, {0}},
                               {Op::constant, DType::f64, {}, 0.5},
                               {Op::select, DType::f64, {2, 3, 4}}},
                              {2, 5});
  CHECK(run_flat(program, 3, {n.data()}, {less.data(), chosen.data()}) == Code::ok);
  CHECK(same(less, Array<bool>({3}, {true, false, true})) && same(chosen, Array<double>({3}, {5, 0.5, -7})));
  Array<int32_t> zero({3}, {1, 0, 2}), quotient({3});
  const int division = compile({DType::i32, DType::i32}, {{Op::div, DType::i32, {0, 1}}, {Op::neg, DType::i32, {2}}}, {3});
  CHECK(run_flat(division, 3, {n.data(), zero.data()}, {quotient.data()}) == Code::invalid_argument);
  zero[1] = 3;
  CHECK(run_flat(division, 3, {n.data(), zero.data()}, {quotient.data()}) == Code::ok);
  CHECK(same(quotient, Array<int32_t>({3}, {-5, -333, 3})));
  return finish();
}
