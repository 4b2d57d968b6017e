#include "processor.h"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(EAGRE_AMX)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace eagre {
namespace {

#if defined(__x86_64__)

// (The compiler's __builtin_cpu_supports is not in the libraries of every system.)
constexpr uint32_t bit(int n) { return uint32_t{1} << n; }
constexpr uint32_t kFma = bit(12), kSse42 = bit(20), kPopcnt = bit(23), kOsxsave = bit(27), kAvx = bit(28), kF16c = bit(29);
constexpr uint32_t kBmi1 = bit(3), kAvx2 = bit(5), kBmi2 = bit(8);
constexpr uint32_t kAvx512 = bit(16) | bit(17) | bit(30) | bit(31);  // F, DQ, BW, VL
constexpr uint32_t kWideRegisters = 0x06;

bool has(uint32_t flags, uint32_t wanted) { return (flags & wanted) == wanted; }

// The registers that the system saves when threads take turns.
uint32_t saved_registers() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

#if defined(EAGRE_AMX)
bool may_use_tiles(uint32_t features) {
  constexpr uint32_t kBFloat = bit(22), kTile = bit(24);
  constexpr long kAskPermission = 0x1023, kTileData = 18;
  return has(features, kBFloat | kTile) && syscall(SYS_arch_prctl, kAskPermission, kTileData) == 0;
}
#endif

Processor ask() {
  Processor found;
  uint32_t a, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return found;
  const uint32_t basic = c;
  found.crc32c = has(basic, kSse42);
  if (!has(basic, kFma | kSse42 | kPopcnt | kOsxsave | kAvx | kF16c)) return found;
  const uint32_t saved = saved_registers();
  if (!has(saved, kWideRegisters) || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return found;
  found.avx2 = has(b, kBmi1 | kAvx2 | kBmi2);
#if defined(__APPLE__)
  // macOS saves the registers of AVX-512 for threads that have used one, and does not show them before.
  found.avx512 = found.avx2 && has(b, kAvx512);
#else
  constexpr uint32_t kAvx512Registers = 0xe0;
  found.avx512 = found.avx2 && has(b, kAvx512) && has(saved, kAvx512Registers);
#endif
#if defined(EAGRE_AMX)
  found.tiles = found.avx512 && may_use_tiles(d);
#endif
  return found;
}

#elif defined(__aarch64__)

Processor ask() {
  Processor found;
#if defined(__linux__)
  found.crc32c = getauxval(AT_HWCAP) & HWCAP_CRC32;
#elif defined(__APPLE__)
  found.crc32c = true;
#endif
  return found;
}

#else

Processor ask() { return {}; }

#endif

}  // namespace

const Processor& processor() {
  static const Processor found = ask();
  return found;
}

}  // namespace eagre
