#include "registry.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "processor.h"

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

const char* best_isa() {
  const char* given = std::getenv("EAGRE_ISA");
  const char* wanted = given ? given : "";
  const Processor& may = processor();
  if (!std::strcmp(wanted, "baseline")) return "baseline";
  if (may.tiles && (!*wanted || !std::strcmp(wanted, "amx"))) return "amx";
  if (may.avx512 && std::strcmp(wanted, "avx2")) return "avx512";
  return may.avx2 ? "avx2" : "baseline";
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
