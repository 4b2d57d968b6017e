// On Windows a library says which file its functions come from, and a linker would write NODE.EXE. But the program that loads an addon may
// have any name (Electron, Bun, Deno, a copy of Node): here each function is looked for in whatever program runs. The compiler calls an
// imported function through a pointer named __imp_<function> (CMakeLists.txt has Node-API declared so); these are the pointers.
#if defined(_WIN32)
#include <windows.h>

extern "C" {
#define HOST(name) FARPROC eagre_host_##name __asm__("__imp_" #name) = nullptr;
#include "host_functions.def"
#undef HOST
}

namespace {

FARPROC find(const char* name) {
  // A program may have Node in a library.
  const char* const modules[] = {nullptr, "libnode.dll", "node.dll"};
  for (const char* module : modules) {
    const HMODULE library = GetModuleHandleA(module);
    const FARPROC found = library == nullptr ? nullptr : GetProcAddress(library, name);
    if (found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace

// The system calls it before anything else of this addon; FALSE: it cannot be loaded.
extern "C" BOOL WINAPI DllMain(HINSTANCE, DWORD reason, LPVOID) {
  if (reason != DLL_PROCESS_ATTACH) return TRUE;
#define HOST(name) \
  if ((eagre_host_##name = find(#name)) == nullptr) return FALSE;
#include "host_functions.def"
#undef HOST
  return TRUE;
}
#endif
