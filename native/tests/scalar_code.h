// Writes scalar programs and runs them, for the tests of the kernels that take one.
#pragma once
#include "../runtime/programs.h"
#include "harness.h"

namespace eagre {

struct ScalarCode {
  std::vector<DType> inputs;
  std::vector<double> instructions;
  int count = 0;
  explicit ScalarCode(std::vector<DType> in) : inputs(std::move(in)) {}

  // The number of the value.
  int op(Op o, DType t, std::initializer_list<int> args, double value = 0) {
    instructions.push_back(static_cast<double>(static_cast<int>(o)));
    instructions.push_back(static_cast<double>(static_cast<int>(t)));
    int n = 0;
    for (int a : args) instructions.push_back(a), n++;
    for (; n < 3; n++) instructions.push_back(-1);
    instructions.push_back(value);
    return static_cast<int>(inputs.size()) + count++;
  }

  std::vector<double> encode(const std::vector<int>& outputs) const {
    std::vector<double> all = {static_cast<double>(inputs.size())};
    for (DType t : inputs) all.push_back(static_cast<double>(static_cast<int>(t)));
    all.push_back(count);
    all.insert(all.end(), instructions.begin(), instructions.end());
    all.push_back(static_cast<double>(outputs.size()));
    all.insert(all.end(), outputs.begin(), outputs.end());
    return all;
  }

  int compile(const std::vector<int>& outputs) const {
    const std::vector<double> code = encode(outputs);
    return compile_program(code.data(), code.size());
  }
};

// ElementwiseFlat over `size` elements behind each address.
inline Code run_flat(int program, int64_t size, const std::vector<const void*>& inputs, const std::vector<void*>& outputs) {
  const KernelTable& table = kernels();
  std::vector<double> block = {static_cast<double>(inputs.size()), static_cast<double>(outputs.size()), static_cast<double>(program),
                               static_cast<double>(size)};
  for (const void* p : inputs) block.push_back(static_cast<double>(reinterpret_cast<uintptr_t>(p)));
  for (void* p : outputs) block.push_back(static_cast<double>(reinterpret_cast<uintptr_t>(p)));
  for (size_t i = 0; i < table.size; i++) {
    if (std::strcmp(table.names[i], "ElementwiseFlat")) continue;
    try {
      Args args(block.data(), block.data() + block.size());
      table.fns[i](args);
      return Code::ok;
    } catch (const KernelError& e) {
      return e.code;
    }
  }
  return Code::unimplemented;
}

}  // namespace eagre
