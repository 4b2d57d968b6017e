// Calls of the system on open files, by the numbers that Node knows them by.
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(_WIN32)
namespace eagre {
// Memory that a part of a file goes to.
struct FilePart {
  void* iov_base;
  size_t iov_len;
};
}  // namespace eagre
#else
#include <sys/uio.h>
namespace eagre {
using FilePart = iovec;
}  // namespace eagre
#endif

namespace eagre {

// How many bytes a regular file has; -1 for another, or where the system refuses.
int64_t file_size(int file);

// Fills parts in order with the bytes from `offset` on: how many there were, which may be fewer than asked for; 0 at the end, negative where the
// system refuses. Files are read on several threads at once; where one has a position, it may move.
int64_t read_at(int file, const FilePart* parts, int count, int64_t offset);

// Tells the system that a file is about to be read from one end to the other.
void expect_sequential_reads(int file);

// Has the system begin to bring bytes that were written to the disk, without waiting for the end; nothing where it cannot be asked.
void begin_sync(int file, int64_t offset, int64_t length);

}  // namespace eagre
