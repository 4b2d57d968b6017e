#include "file_calls.h"

#if defined(_WIN32)
#include <windows.h>

#include <algorithm>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#endif

namespace eagre {

#if defined(_WIN32)

namespace {

// Numbers of files are those of the host's C library: it alone knows what they stand for. One that does not tell has its files read otherwise.
HANDLE handle_of(int file) {
  using Find = HANDLE (*)(int);
  static const Find find = reinterpret_cast<Find>(reinterpret_cast<void*>(GetProcAddress(GetModuleHandleA(nullptr), "uv_get_osfhandle")));
  return find == nullptr ? INVALID_HANDLE_VALUE : find(file);
}

}  // namespace

int64_t file_size(int file) {
  const HANDLE handle = handle_of(file);
  LARGE_INTEGER size;
  if (handle == INVALID_HANDLE_VALUE || GetFileType(handle) != FILE_TYPE_DISK || !GetFileSizeEx(handle, &size)) return -1;
  return size.QuadPart;
}

int64_t read_at(int file, const FilePart* parts, int count, int64_t offset) {
  const HANDLE handle = handle_of(file);
  int64_t all = 0;
  for (int i = 0; i < count; i++) {
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(offset + all);
    place.OffsetHigh = static_cast<DWORD>((offset + all) >> 32);
    const DWORD wanted = static_cast<DWORD>(std::min(parts[i].iov_len, size_t{1} << 30));
    DWORD got = 0;
    if (!ReadFile(handle, parts[i].iov_base, wanted, &got, &place)) return all > 0 || GetLastError() == ERROR_HANDLE_EOF ? all : -1;
    all += got;
    if (got < parts[i].iov_len) break;
  }
  return all;
}

void expect_sequential_reads(int) {}

void begin_sync(int, int64_t, int64_t) {}

#else

static_assert(sizeof(off_t) == 8, "files are larger than 2 GB");

int64_t file_size(int file) {
  struct stat status;
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) ? static_cast<int64_t>(status.st_size) : -1;
}

int64_t read_at(int file, const FilePart* parts, int count, int64_t offset) {
  for (;;) {
    const ssize_t got = ::preadv(file, parts, count, offset);
    if (got >= 0 || errno != EINTR) return got;
  }
}

void expect_sequential_reads(int file) {
#if defined(POSIX_FADV_SEQUENTIAL)
  // The system then reads further ahead.
  (void)::posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
#else
  (void)file;
#endif
}

void begin_sync(int file, int64_t offset, int64_t length) {
#if defined(__linux__)
  // Zero would mean the rest of the file.
  if (offset >= 0 && length > 0) (void)::sync_file_range(file, offset, length, SYNC_FILE_RANGE_WRITE);
#else
  (void)file, (void)offset, (void)length;
#endif
}

#endif

}  // namespace eagre
