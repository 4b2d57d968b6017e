// Scalar programs over one tile of elements, for kernels that do more with the results than to store them.
#pragma once
#include "../runtime/programs.h"
#include "isa.h"

EAGRE_BEGIN

struct ProgramTile {
  using Fn = void (*)(const void* a, const void* b, const void* c, void* out, int64_t n);
  // One instruction that runs, with its operands' value numbers (an absent one repeats the first).
  struct Step {
    Fn fn;
    int16_t args[3], result;
  };

  const Program* program;
  int steps;
  Step step[kMaxProgramInstrs];
  int64_t cost;  // of an element, in tenths of a nanosecond, about

  // `values` are the addresses of n elements by value number: inputs, constants, and where results go.
  void run(const void* const* values, int64_t n) const {
    for (int i = 0; i < steps; i++) {
      const Step& s = step[i];
      s.fn(values[s.args[0]], values[s.args[1]], values[s.args[2]], const_cast<void*>(values[s.result]), n);
    }
  }
};

// Finds the functions of `p.program`.
void prepare_tile(ProgramTile& p);
// Writes a constant n times.
void fill_constant(void* to, const Instr& in, int64_t n);
EAGRE_END
