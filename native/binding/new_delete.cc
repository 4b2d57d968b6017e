// C++'s operators for memory, in zig's builds for macOS. The loader of macOS takes one definition of a weak symbol that libraries export for all of
// them, and those of zig's C++ library are such. These are hidden (by a flag of this file), and stand in front of them.
#if defined(EAGRE_NEW_DELETE)
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

// Null where there is no memory.
void* taken(std::size_t size, std::size_t alignment) {
  if (size == 0) size = 1;
  for (;;) {
    void* at = nullptr;
    if (alignment <= alignof(std::max_align_t)) at = std::malloc(size);
    else if (posix_memalign(&at, alignment, size) != 0) at = nullptr;
    const std::new_handler handler = at == nullptr ? std::get_new_handler() : nullptr;
    if (handler == nullptr) return at;
    handler();
  }
}

void* needed(std::size_t size, std::size_t alignment) {
  void* at = taken(size, alignment);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}

// A handler may throw.
void* tried(std::size_t size, std::size_t alignment) noexcept {
  try {
    return taken(size, alignment);
  } catch (...) {
    return nullptr;
  }
}

constexpr std::size_t number(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

void* operator new(std::size_t size) { return needed(size, 1); }
void* operator new[](std::size_t size) { return needed(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) { return needed(size, number(alignment)); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return needed(size, number(alignment)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return tried(size, 1); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return tried(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept { return tried(size, number(alignment)); }
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept { return tried(size, number(alignment)); }
void operator delete(void* at) noexcept { std::free(at); }
void operator delete[](void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete[](void* at, std::size_t) noexcept { std::free(at); }
void operator delete(void* at, std::align_val_t) noexcept { std::free(at); }
void operator delete[](void* at, std::align_val_t) noexcept { std::free(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { std::free(at); }
void operator delete[](void* at, std::size_t, std::align_val_t) noexcept { std::free(at); }
void operator delete(void* at, const std::nothrow_t&) noexcept { std::free(at); }
void operator delete[](void* at, const std::nothrow_t&) noexcept { std::free(at); }
void operator delete(void* at, std::align_val_t, const std::nothrow_t&) noexcept { std::free(at); }
void operator delete[](void* at, std::align_val_t, const std::nothrow_t&) noexcept { std::free(at); }
#endif
