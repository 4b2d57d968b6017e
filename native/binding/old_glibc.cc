// Lets an addon that is built on a new Linux run on glibc 2.28, which is what Node itself asks for. A linker takes the newest version of
// a symbol; here each function of old_glibc.def is bound to its first version, and `--wrap` (CMakeLists.txt) leads every call of it
// here, also those in the static libstdc++. What glibc 2.28 does not have is written out. `tools/pack-native.mjs` checks the result.
#ifdef EAGRE_OLD_GLIBC
#include <sys/random.h>
#include <sys/stat.h>

#include <cstdint>

#if defined(__x86_64__)
#define FIRST_VERSION "GLIBC_2.2.5"
#define JUMP(symbol) "jmp *" symbol "@GOTPCREL(%rip)"
#elif defined(__aarch64__)
#define FIRST_VERSION "GLIBC_2.17"
#define JUMP(symbol) "b " symbol
#else
#error "the first version of glibc's symbols on this processor is not known"
#endif

#define OLD(name)                                                \
  __asm__(".symver eagre_old_" #name "," #name "@" FIRST_VERSION \
          "\n.text\n.globl __wrap_" #name "\n.hidden __wrap_" #name "\n.type __wrap_" #name ",%function\n__wrap_" #name \
          ": " JUMP("eagre_old_" #name) "\n");
#include "old_glibc.def"
#ifdef EAGRE_OLD_DLERROR
OLD(dlerror)
#endif
#ifdef EAGRE_OLD_DLSYM
OLD(dlsym)
#endif
#undef OLD

extern "C" {
// The number stands for the layout of `struct stat`.
int __fxstat(int version, int file, struct stat* result);
int __wrap_fstat(int file, struct stat* result) {
#if defined(__x86_64__)
  return __fxstat(1, file, result);
#else
  return __fxstat(0, file, result);
#endif
}

// glibc says here whether there is one thread alone, which lets counters be cheaper. There never is in Node.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

__attribute__((visibility("hidden"))) uint32_t arc4random() {
  uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != sizeof value) {
  }
  return value;
}
}
#endif
