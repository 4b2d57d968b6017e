#pragma once
#include <cstddef>

#include "tensor.h"

namespace eagre {

// The kernels of the best instruction set that this processor has (or the one that EAGRE_ISA names, for tests).
struct KernelTable {
  const char* isa;
  size_t size;
  const char* const* names;
  const KernelFn* fns;
  const ShortcutFn* shortcuts;  // null where a kernel has none
};
const KernelTable& kernels();
// Whether these have tile registers, for products of bfloat16.
bool has_tiles();

}  // namespace eagre
