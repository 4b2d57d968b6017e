// Memory whose first byte lies at a multiple of 64: a line of the cache, and the widest vector.
#pragma once
#include <cstddef>
#include <cstdlib>

#if defined(_WIN32)
#include <malloc.h>
#endif

namespace eagre {

// So many bytes, a multiple of 64; null where there is no memory.
inline void* aligned_memory(size_t bytes) {
#if defined(_WIN32)
  return _aligned_malloc(bytes, 64);
#else
  return std::aligned_alloc(64, bytes);
#endif
}

inline void free_aligned(void* memory) {
#if defined(_WIN32)
  _aligned_free(memory);
#else
  std::free(memory);
#endif
}

}  // namespace eagre
