#pragma once
#include <cstdint>

#if !defined(_WIN32)
#include <sys/mman.h>
#endif

namespace eagre {

// Has the system give memory that is about to be filled in pages of 2 MB where it has them: each page that is first written to costs a fault,
// and for pages of 4 KB these take longer than to fill them. It is only a wish, so errors do not matter.
inline void prefer_large_pages(void* target, int64_t length) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr uintptr_t kPage = 2 << 20;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(target) + kPage - 1) & ~(kPage - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(target) + static_cast<uintptr_t>(length)) & ~(kPage - 1);
  if (target != nullptr && begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
  (void)target, (void)length;
#endif
}

}  // namespace eagre
