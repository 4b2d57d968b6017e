#include "pages.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>

#include <cstdlib>
#include <cstring>
#endif

namespace eagre {

void prefer_large_pages(void* target, int64_t length) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr uintptr_t kPage = 2 << 20;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(target) + kPage - 1) & ~(kPage - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(target) + static_cast<uintptr_t>(length)) & ~(kPage - 1);
  if (target != nullptr && begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
  (void)target, (void)length;
#endif
}

void keep_freed_pages() {
#if defined(__GLIBC__)
  const char* off = std::getenv("EAGRE_KEEP_PAGES");
  if (off && !std::strcmp(off, "0")) return;
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

}  // namespace eagre
