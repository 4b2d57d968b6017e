// What `throw` and `catch` need of a library on WebAssembly: the one that comes with the compiler has nothing for it. In each module one type is
// thrown, and handlers are of no other. (The Itanium C++ ABI's names; how handlers are entered: LLVM, lib/CodeGen/WasmEHPrepare.cpp.)
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "exceptions.h"

namespace {

// Lies before what is thrown.
struct alignas(16) Header {
  bool rethrown;
};
Header* header_of(void* thrown) { return static_cast<Header*>(thrown) - 1; }

constexpr int kMostHandlers = 8;
thread_local void* caught[kMostHandlers];
thread_local int handlers = 0;

}  // namespace

// The kind of exception that C++ throws.
__asm__(
    ".globl __cpp_exception\n"
    ".tagtype __cpp_exception i32\n"
    "__cpp_exception:\n");

extern "C" {

// Read and written by the code around handlers.
struct LandingPad {
  uintptr_t index, table, selector;
};
thread_local LandingPad __wasm_lpad_context;

int _Unwind_CallPersonality(void*) {
  __wasm_lpad_context.selector = 1;
  return 0;
}
int __gxx_wasm_personality_v0() { return 0; }

void* __cxa_allocate_exception(size_t size) noexcept {
  void* memory = std::malloc(sizeof(Header) + size);
  if (!memory) __builtin_trap();
  return new (memory) Header{false} + 1;
}

void __cxa_free_exception(void* thrown) noexcept { std::free(header_of(thrown)); }

[[noreturn]] void __cxa_throw(void* thrown, void*, void (*)(void*)) { __builtin_wasm_throw(0, thrown); }

void* __cxa_begin_catch(void* thrown) noexcept {
  if (handlers == kMostHandlers) __builtin_trap();
  header_of(thrown)->rethrown = false;
  return caught[handlers++] = thrown;
}

void __cxa_end_catch() {
  Header* header = header_of(caught[--handlers]);
  if (!header->rethrown) std::free(header);
}

[[noreturn]] void __cxa_rethrow() {
  void* thrown = caught[handlers - 1];
  header_of(thrown)->rethrown = true;
  __builtin_wasm_throw(0, thrown);
}

}  // extern "C"

void* operator new(size_t size) {
  void* memory = std::malloc(size ? size : 1);
  if (!memory) eagre::no_memory();
  return memory;
}
void* operator new[](size_t size) { return operator new(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return std::malloc(size ? size : 1); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return std::malloc(size ? size : 1); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
