// What zig has functions compare that look after their stack (-fstack-protector-strong) is the same number in every process. Here it is one
// that nobody knows, as with the C library's, which a linker takes only where zig has none of its own. (tools/hardening.mjs looks for the text.)
#ifdef EAGRE_STACK_GUARD
#if defined(_WIN32)
#define _CRT_RAND_S
#endif
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if defined(__linux__)
#include <sys/random.h>
#elif defined(__APPLE__)
#include <stdlib.h>
#endif

extern "C" {
uintptr_t __stack_chk_guard = 0x0aff0d0000595e00;

[[noreturn]] void __stack_chk_fail() {
  std::fputs("*** stack smashing detected ***: an addon of Eagre has overwritten its stack\n", stderr);
  std::abort();
}
}

namespace {

// While the library is loaded: no function that compares is running yet.
__attribute__((constructor, no_stack_protector)) void choose_guard() {
  uintptr_t chosen = 0;
#if defined(__linux__)
  if (getrandom(&chosen, sizeof chosen, 0) != sizeof chosen) return;
#elif defined(__APPLE__)
  arc4random_buf(&chosen, sizeof chosen);
#else
  unsigned low, high;
  if (rand_s(&low) != 0 || rand_s(&high) != 0) return;
  chosen = uintptr_t{high} << 32 | low;
#endif
  // Its last byte ends texts, so that no function for texts writes past it.
  __stack_chk_guard = chosen & ~uintptr_t{255};
}

}  // namespace
#endif
