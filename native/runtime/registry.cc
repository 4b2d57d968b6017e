#include "registry.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#if defined(EAGRE_AMX)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace eagre {

void fail(Code code, const char* format, ...) {
  KernelError e;
  e.code = code;
  va_list args;
  va_start(args, format);
  std::vsnprintf(e.message, sizeof e.message, format, args);
  va_end(args);
  throw e;
}

#define X(family) void register_##family(Registry&);
#define NARROW X
namespace baseline {
#define ONCE X
#include "../cpu/families.def"
#undef ONCE
}
#if defined(EAGRE_X86)
namespace avx2 {
#include "../cpu/families.def"
}
#undef NARROW
#define NARROW(family)
namespace avx512 {
#include "../cpu/families.def"
}
#endif
#undef NARROW
#undef X

namespace {

struct Table final : Registry {
  std::vector<const char*> names;
  std::vector<KernelFn> fns;
  std::vector<ShortcutFn> shortcuts;
  void add(const char* name, KernelFn fn, ShortcutFn shortcut) override {
    names.push_back(name);
    fns.push_back(fn);
    shortcuts.push_back(shortcut);
  }
};

#if defined(EAGRE_AMX)
// Whether the processor has tile registers for bfloat16, and the system lets this process use them.
bool may_use_tiles() {
  unsigned a, b, c, d;
  constexpr unsigned kBFloat = 1u << 22, kTile = 1u << 24;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & kBFloat) == 0 || (d & kTile) == 0) return false;
  constexpr long kAskPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kAskPermission, kTileData) == 0;
}
#endif

const char* best_isa() {
  const char* wanted = std::getenv("EAGRE_ISA");
#if defined(EAGRE_X86)
  __builtin_cpu_init();
  bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (wanted && !std::strcmp(wanted, "baseline")) return "baseline";
#if defined(EAGRE_AMX)
  if (has_avx512 && (!wanted || !*wanted || !std::strcmp(wanted, "amx")) && may_use_tiles()) return "amx";
#endif
  if (has_avx512 && !(wanted && !std::strcmp(wanted, "avx2"))) return "avx512";
  if (has_avx2) return "avx2";
#else
  (void)wanted;
#endif
  return "baseline";
}

}  // namespace

const KernelTable& kernels() {
  // Never destroyed: at exit, threads may still look at it.
  static Table* t = new Table();
  static const KernelTable* table = [] {
    const char* isa = best_isa();
    // It has the kernels of AVX-512, and one more.
    const char* kernels_of = std::strcmp(isa, "amx") ? isa : "avx512";
#define X(family) if (!std::strcmp(kernels_of, EAGRE_NAME)) EAGRE_SPACE::register_##family(*t);
#define ONCE(family) baseline::register_##family(*t);
#define EAGRE_NAME "baseline"
#define EAGRE_SPACE baseline
#define NARROW X
#include "../cpu/families.def"
#undef NARROW
#undef ONCE
#undef EAGRE_NAME
#undef EAGRE_SPACE
#if defined(EAGRE_X86)
#define EAGRE_NAME "avx2"
#define EAGRE_SPACE avx2
#define NARROW(family) if (std::strcmp(isa, "baseline")) avx2::register_##family(*t);
#include "../cpu/families.def"
#undef NARROW
#define NARROW(family)
#undef EAGRE_NAME
#undef EAGRE_SPACE
#define EAGRE_NAME "avx512"
#define EAGRE_SPACE avx512
#include "../cpu/families.def"
#undef NARROW
#undef EAGRE_NAME
#undef EAGRE_SPACE
#endif
#undef X
    return new KernelTable{isa, t->names.size(), t->names.data(), t->fns.data(), t->shortcuts.data()};
  }();
  return *table;
}

bool has_tiles() {
  static const bool tiles = !std::strcmp(kernels().isa, "amx");
  return tiles;
}

}  // namespace eagre
