// Plans: calls packed in one block run in order, errors say where, malformed blocks are refused.
#include "../runtime/executor.h"

#include <cstring>
#include <limits>
#include <string>

#include "../runtime/programs.h"
#include "harness.h"

using namespace eagre;

namespace {

double kernel_id(const char* name) {
  const KernelTable& table = kernels();
  for (size_t i = 0; i < table.size; i++) if (!std::strcmp(table.names[i], name)) return static_cast<double>(i);
  return -1;
}

double address(const void* p) { return static_cast<double>(reinterpret_cast<uintptr_t>(p)); }

void append(std::vector<double>& block, const char* kernel, std::vector<double> args) {
  block.push_back(kernel_id(kernel));
  block.push_back(static_cast<double>(args.size()));
  block.insert(block.end(), args.begin(), args.end());
}

// x + x as a scalar program.
int doubling() {
  const double code[] = {1, 0, 1, static_cast<double>(static_cast<int>(Op::add)), 0, 0, 0, -1, 0, 1, 1};
  return compile_program(code, sizeof code / sizeof *code);
}

Code prepare(const std::vector<double>& block) {
  try {
    Executor executor(block.data(), block.size());
    return Code::ok;
  } catch (const KernelError& e) {
    return e.code;
  }
}

void runs_in_order() {
  Array<float> x({4}, {1, 2, 3, 4}), y({4}), z({4}), other({4}, {5, 6, 7, 8});
  std::vector<double> block;
  const double program = doubling();
  append(block, "ElementwiseFlat", {1, 1, program, 4, address(x.data()), address(y.data())});
  // In place, and behind it a copy.
  append(block, "ElementwiseFlat", {1, 1, program, 4, address(y.data()), address(y.data())});
  append(block, "Copy", {1, 1, address(y.data()), 0, 1, 4, address(z.data()), 0, 1, 4});
  const Executor executor(block.data(), block.size());
  CHECK(executor.size() == 3);
  size_t at = 99;
  executor.run(nullptr, at, 0, executor.size());
  CHECK(at == 3);
  CHECK(same(z, Array<float>({4}, {4, 8, 12, 16})));
  // What changes in the block counts.
  block[6] = address(other.data());
  double seconds[4] = {-1, -1, -1, -1};
  executor.run(seconds, at, 0, executor.size());
  CHECK(same(z, Array<float>({4}, {20, 24, 28, 32})));
  for (int i = 0; i < 3; i++) CHECK(seconds[i] >= 0 && seconds[i] < 60);
  CHECK(seconds[3] == -1);
}

void says_where_it_failed() {
  Array<float> params({3, 1}, {1, 2, 3}), y({1, 1});
  Array<int32_t> index({1}, {3});
  std::vector<double> block;
  append(block, "Fill", {0, 1, address(y.data()), 0, 2, 1, 1, 7});
  append(block, "Gather", {2, 1, address(params.data()), 0, 2, 3, 1, address(index.data()), 2, 1, 1, address(y.data()), 0, 2, 1, 1, 0, 0});
  append(block, "Fill", {0, 1, address(y.data()), 0, 2, 1, 1, 9});
  const Executor executor(block.data(), block.size());
  for (int i = 0; i < 2; i++) {
    size_t at = 0;
    Code code = Code::ok;
    try {
      executor.run(nullptr, at, 0, executor.size());
    } catch (const KernelError& e) {
      code = e.code;
    }
    CHECK(code == Code::out_of_range);
    CHECK(at == 1);
    CHECK(y[0] == 7);
  }
  index[0] = 2;
  size_t at = 0;
  executor.run(nullptr, at, 0, executor.size());
  CHECK(at == 3 && y[0] == 9);
}

void refuses_malformed_blocks() {
  const double size = static_cast<double>(kernels().size), nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(prepare({}) == Code::ok);
  CHECK(prepare({0, 0}) == Code::ok);
  CHECK(prepare({0}) == Code::internal);
  CHECK(prepare({size, 0}) == Code::internal);
  CHECK(prepare({-1, 0}) == Code::internal);
  CHECK(prepare({nan, 0}) == Code::internal);
  CHECK(prepare({0, 1}) == Code::internal);
  CHECK(prepare({0, -1}) == Code::internal);
  CHECK(prepare({0, nan}) == Code::internal);
  CHECK(prepare({0, 1e300, 1}) == Code::internal);
  CHECK(prepare({0, 1, 1, 0}) == Code::internal);
  // Arguments that end early are found when the call runs.
  std::vector<double> block;
  append(block, "Fill", {0, 1});
  append(block, "Fill", {});
  const Executor executor(block.data(), block.size());
  size_t at = 9;
  Code code = Code::ok;
  try {
    executor.run(nullptr, at, 0, executor.size());
  } catch (const KernelError& e) {
    code = e.code;
  }
  CHECK(code == Code::internal && at == 0);
}

}  // namespace

int main() {
  runs_in_order();
  says_where_it_failed();
  refuses_malformed_blocks();
  return finish();
}
