// What the system's memory is asked for, beyond memory.
#pragma once
#include <cstdint>

namespace eagre {

// Has the system give memory that is about to be filled in pages of 2 MB where it has them: each page that is first written to costs a fault,
// and for pages of 4 KB these take longer than to fill them. It is only a wish, so errors do not matter.
void prefer_large_pages(void* target, int64_t length);

// Freed pages stay in the process up to a cap: touching fresh ones costs more than most kernels (18 ms for 40 MB, 0.56 ms warm). Only glibc
// can be asked; EAGRE_KEEP_PAGES=0 leaves it as it is.
void keep_freed_pages();

}  // namespace eagre
