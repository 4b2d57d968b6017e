#include "../runtime/files.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <limits>
#include <pthread.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "../runtime/crc32c.h"
#include "harness.h"

using namespace eagre;

namespace {

constexpr size_t kBytes = 3'000'001;

// A file without a name.
int file_of(const std::vector<unsigned char>& bytes) {
  char name[] = "/tmp/eagre-file-range-XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0);
  unlink(name);
  CHECK(write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  return file;
}

void reads(int file, const std::vector<unsigned char>& bytes, size_t offset, size_t length) {
  const uint32_t expected = crc32c(bytes.data() + offset, length, 0);
  uint32_t crc = 1;
  CHECK(read_range(file, static_cast<int64_t>(offset), static_cast<int64_t>(length), nullptr, crc) && crc == expected);
  // One byte more on either side, which must stay.
  std::vector<unsigned char> target(length + 2, 0xA5);
  crc = 1;
  CHECK(read_range(file, static_cast<int64_t>(offset), static_cast<int64_t>(length), target.data() + 1, crc) && crc == expected);
  CHECK(std::memcmp(target.data() + 1, bytes.data() + offset, length) == 0 && target.front() == 0xA5 && target.back() == 0xA5);
}

bool refuses(int file, int64_t offset, int64_t length) {
  uint32_t crc = 0;
  return !read_range(file, offset, length, nullptr, crc);
}

// Signals without SA_RESTART interrupt system calls.
void interrupted(int file, const std::vector<unsigned char>& bytes) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  CHECK(sigaction(SIGUSR1, &action, nullptr) == 0);
  std::atomic<bool> ended{false};
  const pthread_t reader = pthread_self();
  std::thread nuisance([&] {
    while (!ended.load()) {
      pthread_kill(reader, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
  for (int i = 0; i < 20; i++) reads(file, bytes, 0, bytes.size());
  ended.store(true);
  nuisance.join();
}

// Cut and grown again while it is read: a CRC of bytes that were there, or a refusal, but nothing worse.
void changing(const std::vector<unsigned char>& bytes) {
  const int file = file_of(bytes);
  std::atomic<bool> ended{false};
  std::thread cutter([&] {
    while (!ended.load()) {
      if (ftruncate(file, 1'000'000) != 0 || ftruncate(file, kBytes) != 0) return;
    }
  });
  for (int i = 0; i < 50; i++) {
    uint32_t crc = 0;
    std::vector<unsigned char> target(kBytes);
    if (read_range(file, 0, kBytes, target.data(), crc)) CHECK(crc == crc32c(target.data(), kBytes, 0));
  }
  ended.store(true);
  cutter.join();
  close(file);
}

}  // namespace

int main() {
  Random random(5);
  std::vector<unsigned char> bytes(kBytes);
  for (auto& byte : bytes) byte = static_cast<unsigned char>(random.below(256));
  const int file = file_of(bytes);
  for (int threads : {1, 4}) {
    set_thread_count(threads);
    for (size_t length : {0, 1, 1000, (256 << 10) - 1, 256 << 10, (256 << 10) + 1, 1 << 20, 2'999'990})
      for (size_t offset : {0, 1, 11}) reads(file, bytes, offset, length);
    CHECK(refuses(file, 0, kBytes + 1));
    CHECK(refuses(file, kBytes, 1));
    CHECK(refuses(file, int64_t{1} << 52, 1));
    CHECK(refuses(file, std::numeric_limits<int64_t>::max(), 1));
    CHECK(refuses(file, std::numeric_limits<int64_t>::max() - 1, 2));
    CHECK(refuses(file, -1, 1));
    CHECK(refuses(file, 0, -1));
    CHECK(refuses(-1, 0, 1));
    CHECK(refuses(file, 0, std::numeric_limits<int64_t>::max()));
    interrupted(file, bytes);
    changing(bytes);
  }
  begin_sync(file, 0, kBytes);
  for (int64_t bad : {int64_t{-1}, int64_t{0}, std::numeric_limits<int64_t>::max()}) begin_sync(file, bad, bad);
  begin_sync(-1, 0, 10);
  reads(file, bytes, 0, bytes.size());
  // Far out in a file with a hole.
  const int64_t far = int64_t{1} << 42;
  const int sparse = file_of({});
  if (pwrite(sparse, bytes.data(), 1000, far) == 1000) {
    uint32_t crc = 0;
    CHECK(read_range(sparse, far, 1000, nullptr, crc) && crc == crc32c(bytes.data(), 1000, 0));
    // More than the threads share at once.
    const std::vector<unsigned char> zeros(1 << 20);
    uint32_t expected = 0;
    for (int i = 0; i < 300; i++) expected = crc32c(zeros.data(), zeros.size(), expected);
    CHECK(read_range(sparse, far - (300 << 20), 300 << 20, nullptr, crc) && crc == expected);
  }
  close(sparse);
  int pipes[2];
  CHECK(pipe(pipes) == 0);
  CHECK(refuses(pipes[0], 0, 1));
  const int folder = open("/tmp", O_RDONLY);
  CHECK(refuses(folder, 0, 1));
  const int written_only = open("/dev/null", O_WRONLY);
  CHECK(refuses(written_only, 0, 1));
  for (int f : {pipes[0], pipes[1], folder, written_only, file}) close(f);
  return finish();
}
