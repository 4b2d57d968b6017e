// Scalar programs (packages/backend/src/scalar.ts), decoded once and interpreted in tiles by the Elementwise kernel.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tensor.h"

namespace eagre {

constexpr int kMaxProgramInputs = 32;
constexpr int kMaxProgramOutputs = 8;
constexpr int kMaxProgramInstrs = 256;

struct Instr {
  int32_t op;        // index into scalarOps
  DType dtype;       // of the result
  DType arg_dtype;   // of the operands (of the last one, for select)
  int32_t args[3];   // value numbers: inputs first, then instructions
  double value;      // of a const
};

struct Program {
  int inputs, instrs, outputs;
  DType input_dtypes[kMaxProgramInputs];
  Instr code[kMaxProgramInstrs];
  int32_t results[kMaxProgramOutputs];
  DType dtype_of(int value) const { return value < inputs ? input_dtypes[value] : code[value - inputs].dtype; }
};

// The encoding: [inputs, dtypes..., instrs, (op, dtype, a, b, c, value)..., outputs, values...]; an absent operand is -1.
// Checks everything (so that the interpreter need not) and throws KernelError. Returns the program's number.
int compile_program(const double* code, size_t length);
// Throws KernelError for a number that was never given out.
const Program& program(int id);

}  // namespace eagre
