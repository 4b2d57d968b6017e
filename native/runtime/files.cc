#include "files.h"

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "crc32c.h"
#include "pool.h"

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#endif

namespace eagre {

#if defined(_WIN32)

bool read_range(int, int64_t, int64_t, unsigned char*, uint32_t&) { return false; }

#else

namespace {

static_assert(sizeof(off_t) == 8, "files are larger than 2 GB");

// Stays in a core's cache between reading and summing up. What is read nowhere takes as much of each thread's scratch memory.
constexpr int64_t kPiece = 256 << 10;
// So many are shared among the threads at once.
constexpr int64_t kPieces = 1024;

bool read_all(int file, off_t offset, unsigned char* target, size_t length) {
  while (length > 0) {
    const ssize_t count = ::pread(file, target, length, offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    target += count;
    offset += count;
    length -= static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

bool read_range(int file, int64_t offset, int64_t length, unsigned char* target, uint32_t& crc) {
  struct stat status;
  if (offset < 0 || length < 0 || ::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (length > status.st_size || offset > status.st_size - length) return false;
#if defined(POSIX_FADV_SEQUENTIAL)
  // The system then reads further ahead.
  if (length > kPiece) (void)::posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
  crc = 0;
  uint32_t sums[kPieces];
  for (int64_t from = 0; from < length; from += kPieces * kPiece) {
    const int64_t size = std::min(length - from, kPieces * kPiece);
    std::atomic<bool> whole{true};
    parallel_for(size, kPiece, [&](int64_t begin, int64_t end) {
      if (!whole.load(std::memory_order_relaxed)) return;
      unsigned char* piece = target ? target + from + begin : static_cast<unsigned char*>(scratch(0, kPiece));
      const size_t count = static_cast<size_t>(end - begin);
      if (read_all(file, offset + from + begin, piece, count)) sums[begin / kPiece] = crc32c(piece, count, 0);
      else whole.store(false, std::memory_order_relaxed);
    });
    if (!whole.load(std::memory_order_relaxed)) return false;
    for (int64_t at = 0; at < size; at += kPiece)
      crc = crc32c_joined(crc, sums[at / kPiece], static_cast<size_t>(std::min(size - at, kPiece)));
  }
  return true;
}

#endif

void begin_sync(int file, int64_t offset, int64_t length) {
#if defined(__linux__)
  // Zero would mean the rest of the file.
  if (offset >= 0 && length > 0) (void)::sync_file_range(file, offset, length, SYNC_FILE_RANGE_WRITE);
#else
  (void)file, (void)offset, (void)length;
#endif
}

}  // namespace eagre
