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

// Has the system give memory at once that will be filled soon, without a change to it: others may fill it meanwhile.
inline void make_pages(void* target, int64_t length) {
  prefer_large_pages(target, length);
  constexpr int64_t kPage = 4096;
  // Not known to the compiler, which would leave the writing out. MADV_POPULATE_WRITE does the same, but nothing else can be mapped meanwhile.
  volatile uint8_t none = 0;
  for (int64_t at = 0; at < length; at += kPage) __atomic_fetch_or(static_cast<uint8_t*>(target) + at, none, __ATOMIC_RELAXED);
}

}  // namespace eagre
