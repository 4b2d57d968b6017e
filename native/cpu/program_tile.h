// Scalar programs over one tile of elements, for kernels that do more with the results than to store them.
#pragma once
#include <cstring>

#include "../runtime/programs.h"
#include "isa.h"

EAGRE_BEGIN

// A tile has this many elements unless its values would take more than kTileBytes of the first-level cache.
constexpr int64_t kMaxTile = 1024;
constexpr int64_t kTileBytes = 16384;

// out[i] = f(a[i], b[i], c[i]) over n elements.
using RowFn = void (*)(const void* a, const void* b, const void* c, void* out, int64_t n);

struct ProgramTile {
  const Program* program;
  const void* code;
  int64_t cost;  // of an element, in tenths of a nanosecond, about

  // `values` are the addresses of n elements by value number: inputs, constants, and where results go; only those with memory
  // (`Instr::slot`) are looked at. A result in `streamed`, a set of bits by output, is stored past the caches; only for those that
  // `may_stream` tells, at addresses that are multiples of kVectorBytes. Call `stream_end` before another thread may read them.
  void run(const void* const* values, int64_t n, unsigned streamed = 0) const;
  // Which outputs can leave so.
  unsigned may_stream() const;
};

// Finds the functions of `p.program`.
void prepare_tile(ProgramTile& p);
// Writes an element of `item` bytes n times.
inline void splat_bytes(void* to, const void* element, int64_t item, int64_t n) {
  auto fill = [&](auto v) {
    std::memcpy(&v, element, sizeof v);
    auto* y = static_cast<decltype(v)*>(to);
    for (int64_t i = 0; i < n; i++) y[i] = v;
  };
  switch (item) {
    case 1: std::memset(to, *static_cast<const unsigned char*>(element), static_cast<size_t>(n)); break;
    case 2: fill(uint16_t{}); break;
    case 4: fill(uint32_t{}); break;
    case 8: fill(uint64_t{}); break;
  }
}

// Writes a constant n times.
void fill_constant(void* to, const Instr& in, int64_t n);
// The function of an instruction that is no constant.
RowFn row_function(const Instr& in);
// Fills its table; once, before all else.
void fill_row_functions();
// Of one instruction, as `ProgramTile::cost`.
int64_t cost_of(Op op, DType operands);
int64_t cost_of(const Instr& in);
EAGRE_END
