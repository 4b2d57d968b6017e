// Scalar programs (packages/backend/src/program/scalar.ts), decoded once and interpreted in tiles by the Elementwise kernel.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tensor.h"

namespace eagre {

// The opcodes, in the order of scalarOps: X(name, operands, what they may be, is the result bool).
// f floating, i integer, n both, b bool, a anything; select and cast check their own operands.
#define EAGRE_SCALAR_OPS(X) \
  X(constant, 0, 'a', 0) X(cast, 1, 'a', 0) X(neg, 1, 'n', 0) X(abs, 1, 'n', 0) X(sign, 1, 'n', 0) X(floor, 1, 'n', 0) \
  X(ceil, 1, 'n', 0) X(round, 1, 'n', 0) X(sqrt, 1, 'f', 0) X(rsqrt, 1, 'f', 0) X(exp, 1, 'f', 0) X(expm1, 1, 'f', 0) \
  X(log, 1, 'f', 0) X(log1p, 1, 'f', 0) X(sin, 1, 'f', 0) X(cos, 1, 'f', 0) X(tan, 1, 'f', 0) X(asin, 1, 'f', 0) \
  X(acos, 1, 'f', 0) X(atan, 1, 'f', 0) X(sinh, 1, 'f', 0) X(cosh, 1, 'f', 0) X(tanh, 1, 'f', 0) X(asinh, 1, 'f', 0) \
  X(acosh, 1, 'f', 0) X(atanh, 1, 'f', 0) X(sigmoid, 1, 'f', 0) X(softplus, 1, 'f', 0) X(erf, 1, 'f', 0) X(erfc, 1, 'f', 0) \
  X(erfinv, 1, 'f', 0) X(lgamma, 1, 'f', 0) X(digamma, 1, 'f', 0) X(is_nan, 1, 'n', 1) X(is_inf, 1, 'n', 1) \
  X(is_finite, 1, 'n', 1) X(logical_not, 1, 'b', 0) X(add, 2, 'n', 0) X(sub, 2, 'n', 0) X(mul, 2, 'n', 0) X(div, 2, 'n', 0) \
  X(floor_div, 2, 'n', 0) X(mod, 2, 'n', 0) X(pow, 2, 'n', 0) X(min, 2, 'n', 0) X(max, 2, 'n', 0) X(atan2, 2, 'f', 0) \
  X(eq, 2, 'a', 1) X(ne, 2, 'a', 1) X(lt, 2, 'a', 1) X(le, 2, 'a', 1) X(gt, 2, 'a', 1) X(ge, 2, 'a', 1) \
  X(logical_and, 2, 'b', 0) X(logical_or, 2, 'b', 0) X(logical_xor, 2, 'b', 0) X(bit_and, 2, 'i', 0) X(bit_or, 2, 'i', 0) \
  X(bit_xor, 2, 'i', 0) X(bit_not, 1, 'i', 0) X(shift_left, 2, 'i', 0) X(shift_right, 2, 'i', 0) X(select, 3, 'a', 0)

enum class Op : int32_t {
#define X(name, arity, kind, boolean) name,
  EAGRE_SCALAR_OPS(X)
#undef X
};
constexpr int kScalarOps = static_cast<int>(Op::select) + 1;

constexpr int kMaxProgramInputs = 32;
constexpr int kMaxProgramOutputs = 8;
constexpr int kMaxProgramInstrs = 256;
constexpr int kMaxProgramValues = kMaxProgramInputs + kMaxProgramInstrs;

// A value of a program is in memory, in its tile buffer, or only in a chain's register.
struct Instr {
  int32_t op;        // index into scalarOps
  DType dtype;       // of the result
  DType arg_dtype;   // of the operands (of the last one, for select)
  int32_t args[3];   // value numbers: inputs first, then instructions
  double value;      // of a const
  int32_t slot;      // the tile buffer of the result, or -1 when nothing reads it from memory
};

// What a chain does with one block of float32 after the other: a register takes values in, is worked on, and goes to memory. A second
// register holds the truth of a comparison.
enum class MoveKind : int16_t {
  load,     // register = operand
  store,    // value = register
  apply,    // register = op(register, operand)
  compare,  // truth = op(register, operand)
  choose,   // register = truth ? register : operand
  truth,    // register = truth ? 1 : 0
  end,
};
// Where the operand is; in the reversed forms it comes first.
enum class MoveForm : int16_t { none, memory, constant, self, memory_first, constant_first };
struct Move {
  MoveKind kind;
  MoveForm form;
  int16_t op;      // an Op
  int16_t output;  // of a store: the result that it is, if nothing reads that from memory; or -1
  int32_t value;   // in memory
  float constant;
};

// One sweep over a tile: an instruction, or a chain.
struct Pass {
  int32_t instr;  // -1: a chain
  int32_t move;   // its first move; `end` is the last one
};

struct Program {
  int inputs, instrs, outputs;
  int passes, moves;
  int slots;       // tile buffers needed; a constant keeps its own, others are used again once their last reader has run
  int slot_bytes;  // the largest element among the instructions' results
  DType input_dtypes[kMaxProgramInputs];
  Instr* code;
  int32_t results[kMaxProgramOutputs];
  const Pass* pass;
  const Move* move;
  // What instruction sets of narrow and of wide vectors made of it (cpu/program_tile.cc), at first use; malloc's memory.
  mutable void* ready[2];
  const double* encoding;  // what it was compiled from
  size_t length;
  DType dtype_of(int value) const { return value < inputs ? input_dtypes[value] : code[value - inputs].dtype; }
};

// The encoding: [inputs, dtypes..., instrs, (op, dtype, a, b, c, value)..., outputs, values...]; an absent operand is -1.
// Checks everything (so that the interpreter need not) and throws KernelError. Returns the program's number; equal encodings
// share one. Each call is a reference to it.
int compile_program(const double* code, size_t length);
// Gives a reference back; the last one frees the program.
void release_program(int id);
// Throws KernelError for a number that is no program's.
const Program& program(int id);
// The program of an encoding; fast for one that was asked for before and still lies where it lay.
const Program& program(const double* code, size_t length);

}  // namespace eagre
