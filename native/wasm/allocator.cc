// The allocator of the module, in place of the C library's: that one thinks that there is one thread, and gives powers of two. Chunks lie one behind
// the other, each with its size and that of the one before, so that free neighbours become one (Knuth, The Art of Computer Programming 1, 2.5: boundary tags).
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../runtime/mutex.h"

// Where the memory begins that the linker has not given away.
extern "C" unsigned char __heap_base;

namespace {

using eagre::Lock;
using eagre::Mutex;

constexpr uint32_t kPage = 65536, kUsed = 1;
// Memory is asked for in such pieces at least.
constexpr uint32_t kPiece = 1 << 20;
// What is left of a chunk becomes one of its own from this size on.
constexpr uint32_t kLeast = 64;

struct Chunk {
  uint32_t before;  // the size of the chunk before; 0 of the first
  uint32_t size;    // a multiple of 16 that counts this header, and whether it is used
  Chunk* next;      // among the free ones of about this size
  Chunk* last;

  bool used() const { return size & kUsed; }
  uint32_t bytes() const { return size & ~kUsed; }
  Chunk* behind() { return reinterpret_cast<Chunk*>(reinterpret_cast<uintptr_t>(this) + bytes()); }
  Chunk* ahead() { return reinterpret_cast<Chunk*>(reinterpret_cast<uintptr_t>(this) - before); }
  void* memory() { return this + 1; }
};
static_assert(sizeof(Chunk) == 16);
Chunk* chunk_of(void* memory) { return static_cast<Chunk*>(memory) - 1; }

Mutex mutex;
// By the power of two that is not above the size.
Chunk* lists[32];
// A used chunk of no bytes; null before the first.
Chunk* end = nullptr;

int list_of(uint32_t size) { return 31 - __builtin_clz(size); }

void keep(Chunk* chunk) {
  Chunk*& first = lists[list_of(chunk->bytes())];
  chunk->last = nullptr;
  chunk->next = first;
  if (first) first->last = chunk;
  first = chunk;
}

void take(Chunk* chunk) {
  if (chunk->last) chunk->last->next = chunk->next;
  else lists[list_of(chunk->bytes())] = chunk->next;
  if (chunk->next) chunk->next->last = chunk->last;
}

void set_size(Chunk* chunk, uint32_t size, uint32_t used) {
  chunk->size = size | used;
  chunk->behind()->before = size;
}

// Makes a chunk that is in no list free, as one with its free neighbours.
void free_chunk(Chunk* chunk) {
  uint32_t size = chunk->bytes();
  Chunk* behind = chunk->behind();
  if (!behind->used()) {
    take(behind);
    size += behind->bytes();
  }
  if (chunk->before != 0 && !chunk->ahead()->used()) {
    chunk = chunk->ahead();
    take(chunk);
    size += chunk->bytes();
  }
  set_size(chunk, size, 0);
  keep(chunk);
}

bool grow(uint32_t bytes) {
  if (bytes > UINT32_MAX - 3 * kPage) return false;
  const uint32_t least = (bytes + 2 * sizeof(Chunk) + kPage - 1) / kPage, pages = least > kPiece / kPage ? least : kPiece / kPage;
  size_t before = __builtin_wasm_memory_grow(0, pages);
  uint32_t got = pages;
  if (before == SIZE_MAX) {
    before = __builtin_wasm_memory_grow(0, least);
    got = least;
    if (before == SIZE_MAX) return false;
  }
  uintptr_t at = before * kPage;
  const uintptr_t stop = at + got * kPage;
  Chunk* chunk = end;
  if (!end) {
    // The module's own memory has room behind its data.
    at = (reinterpret_cast<uintptr_t>(&__heap_base) + 15) & ~uintptr_t{15};
    chunk = reinterpret_cast<Chunk*>(at);
    chunk->before = 0;
  } else if (reinterpret_cast<uintptr_t>(end) + sizeof(Chunk) != at) {
    // Somebody else has grown it: what lies between is theirs.
    chunk = reinterpret_cast<Chunk*>(at);
    chunk->before = 0;
  }
  end = reinterpret_cast<Chunk*>(stop - sizeof(Chunk));
  end->size = sizeof(Chunk) | kUsed;
  set_size(chunk, static_cast<uint32_t>(reinterpret_cast<uintptr_t>(end) - reinterpret_cast<uintptr_t>(chunk)), kUsed);
  free_chunk(chunk);
  return true;
}

// A free chunk of at least so many bytes, which is in no list any more.
Chunk* find(uint32_t size) {
  for (int i = list_of(size); i < 32; i++)
    for (Chunk* chunk = lists[i]; chunk; chunk = chunk->next)
      if (chunk->bytes() >= size) {
        take(chunk);
        return chunk;
      }
  return nullptr;
}

void* allocate(size_t bytes, uint32_t alignment) {
  constexpr uint32_t kMost = 0xffff0000u - 2 * kPage;
  if (bytes > kMost || alignment > kMost - bytes) return nullptr;
  const uint32_t size = (static_cast<uint32_t>(bytes) + sizeof(Chunk) + 15) & ~15u;
  // With room for a chunk before it.
  const uint32_t room = alignment <= 16 ? size : size + alignment + kLeast;
  Lock lock(mutex);
  Chunk* chunk = find(room);
  if (!chunk) {
    if (!grow(room)) return nullptr;
    chunk = find(room);
    if (!chunk) return nullptr;
  }
  if (alignment > 16 && reinterpret_cast<uintptr_t>(chunk->memory()) % alignment != 0) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(chunk);
    const uintptr_t memory = (begin + kLeast + sizeof(Chunk) + alignment - 1) & ~uintptr_t{alignment - 1};
    Chunk* aligned = chunk_of(reinterpret_cast<void*>(memory));
    const uint32_t skipped = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(aligned) - begin), rest = chunk->bytes() - skipped;
    set_size(chunk, skipped, 0);
    keep(chunk);
    chunk = aligned;
    set_size(chunk, rest, kUsed);
  }
  const uint32_t rest = chunk->bytes() - size;
  if (rest >= kLeast) {
    set_size(chunk, size, kUsed);
    Chunk* left = chunk->behind();
    set_size(left, rest, kUsed);
    free_chunk(left);
  } else {
    set_size(chunk, chunk->bytes(), kUsed);
  }
  return chunk->memory();
}

}  // namespace

extern "C" {

void* malloc(size_t bytes) { return allocate(bytes, 16); }
void* aligned_alloc(size_t alignment, size_t bytes) { return allocate(bytes, static_cast<uint32_t>(alignment)); }
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  *memory = allocate(bytes, static_cast<uint32_t>(alignment));
  return *memory ? 0 : ENOMEM;
}

void free(void* memory) {
  if (!memory) return;
  Lock lock(mutex);
  free_chunk(chunk_of(memory));
}

void* calloc(size_t count, size_t bytes) {
  size_t size;
  if (__builtin_mul_overflow(count, bytes, &size)) return nullptr;
  void* memory = malloc(size);
  if (memory) std::memset(memory, 0, size);
  return memory;
}

void* realloc(void* memory, size_t bytes) {
  if (!memory) return malloc(bytes);
  const size_t had = chunk_of(memory)->bytes() - sizeof(Chunk);
  if (had >= bytes) return memory;
  void* larger = malloc(bytes);
  if (!larger) return nullptr;
  std::memcpy(larger, memory, had);
  free(memory);
  return larger;
}

}  // extern "C"
