#include "../runtime/file_calls.h"
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

constexpr int64_t kBytes = 3'000'001;

// A file without a name.
int file_of(const std::vector<unsigned char>& bytes) {
  char name[] = "/tmp/eagre-file-range-XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0);
  unlink(name);
  CHECK(write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  return file;
}

using Ranges = std::vector<FileRange>;

// One more byte on either side of each target, which must stay.
struct Room {
  std::vector<std::vector<unsigned char>> bytes;
  explicit Room(Ranges& ranges) {
    for (FileRange& range : ranges) {
      bytes.emplace_back(static_cast<size_t>(range.length) + 2, 0xA5);
      range.target = bytes.back().data() + 1;
    }
  }
};

std::vector<int64_t> crcs_of(int file, const Ranges& ranges) {
  std::vector<int64_t> crcs(ranges.size(), 7);
  read_ranges(file, ranges.data(), ranges.size(), crcs.data());
  return crcs;
}

// Ranges of a file with these bytes, those beyond its end too: nowhere, into memory, and every other one into memory.
void reads(int file, const std::vector<unsigned char>& bytes, Ranges ranges) {
  std::vector<int64_t> expected;
  for (const FileRange& r : ranges) {
    const bool inside = r.offset + r.length <= static_cast<int64_t>(bytes.size());
    expected.push_back(inside ? int64_t{crc32c(bytes.data() + r.offset, static_cast<size_t>(r.length), 0)} : -1);
  }
  CHECK(crcs_of(file, ranges) == expected);
  const Room room(ranges);
  CHECK(crcs_of(file, ranges) == expected);
  for (size_t i = 0; i < ranges.size(); i++) {
    const auto& there = room.bytes[i];
    CHECK(there.front() == 0xA5 && there.back() == 0xA5);
    if (expected[i] >= 0) CHECK(std::memcmp(there.data() + 1, bytes.data() + ranges[i].offset, there.size() - 2) == 0);
  }
  for (size_t i = 0; i < ranges.size(); i += 2) ranges[i].target = nullptr;
  CHECK(crcs_of(file, ranges) == expected);
}

Ranges one(int64_t offset, int64_t length) { return {{offset, length, nullptr}}; }
bool refuses(int file, int64_t offset, int64_t length) { return crcs_of(file, one(offset, length)) == std::vector<int64_t>{-1}; }

// Ranges that adjoin from `offset` on, of these lengths in turn.
Ranges adjoining(int64_t offset, const std::vector<int64_t>& lengths, int count) {
  Ranges ranges;
  for (int i = 0; i < count; i++) {
    ranges.push_back({offset, lengths[static_cast<size_t>(i) % lengths.size()], nullptr});
    offset += ranges.back().length;
  }
  return ranges;
}

Ranges shuffled(Ranges ranges, Random& random) {
  for (size_t i = ranges.size(); i > 1; i--) std::swap(ranges[i - 1], ranges[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
  return ranges;
}

void many(int file, const std::vector<unsigned char>& bytes, Random& random) {
  reads(file, bytes, {});
  // Every kind of border: within a piece, at its ends, over several.
  for (int64_t step : {-1, 0, 1}) reads(file, bytes, adjoining(3, {(256 << 10) + step, 1, 10'000, 700'000, 0, 128 << 10}, 12));
  const Ranges small = adjoining(1, {10'000}, 290), tiny = adjoining(5, {1, 0, 3, 200, 1}, 20'000);
  for (const Ranges& ranges : {small, tiny}) {
    reads(file, bytes, ranges);
    reads(file, bytes, {ranges.rbegin(), ranges.rend()});
    reads(file, bytes, shuffled(ranges, random));
    Ranges gaps;
    for (size_t i = 0; i < ranges.size(); i += 3) gaps.push_back(ranges[i]);
    reads(file, bytes, gaps);
  }
  // They cover one another, some twice the same, some beyond the end.
  for (int round = 0; round < 20; round++) {
    Ranges any;
    for (int i = 0; i < 60; i++) {
      const int64_t offset = random.below(kBytes);
      any.push_back({offset, random.below(i % 3 ? 50'000 : 400'000), nullptr});
    }
    any.push_back(any[3]);
    any.push_back({any[5].offset, any[5].length / 2, nullptr});
    reads(file, bytes, any);
  }
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
  for (int i = 0; i < 20; i++) reads(file, bytes, adjoining(1, {10, 999'990}, 6));
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
    Ranges ranges = adjoining(0, {600'000, 10'000, 1}, 12);
    const Room room(ranges);
    const std::vector<int64_t> crcs = crcs_of(file, ranges);
    for (size_t k = 0; k < ranges.size(); k++)
      CHECK(crcs[k] < 0 || crcs[k] == crc32c(ranges[k].target, static_cast<size_t>(ranges[k].length), 0));
    for (const auto& there : room.bytes) CHECK(there.front() == 0xA5 && there.back() == 0xA5);
  }
  ended.store(true);
  cutter.join();
  close(file);
}

// Ranges that are begun, with as many threads that help: the same as at once. After a stop nothing is written.
void shares(int file, const Ranges& ranges, int helpers) {
  Ranges wanted = ranges, given = ranges;
  const Room expected(wanted), room(given);
  const std::vector<int64_t> crcs = crcs_of(file, wanted);
  {
    RangeReading reading(file, given);
    std::vector<std::thread> threads;
    for (int i = 0; i < helpers; i++) threads.emplace_back([&] { reading.help(); });
    CHECK(reading.finish() == crcs);
    CHECK(reading.finish() == crcs);
    for (std::thread& thread : threads) thread.join();
    CHECK(room.bytes == expected.bytes);
  }
  Ranges left = ranges;
  Room stopped(left);
  RangeReading reading(file, left);
  std::vector<std::thread> threads;
  for (int i = 0; i < helpers; i++) threads.emplace_back([&] { reading.help(); });
  reading.stop();
  for (auto& bytes : stopped.bytes) std::fill(bytes.begin(), bytes.end(), static_cast<unsigned char>(1));
  for (std::thread& thread : threads) thread.join();
  for (const auto& bytes : stopped.bytes)
    for (const unsigned char byte : bytes) CHECK(byte == 1);
}

}  // namespace

int main() {
  Random random(5);
  std::vector<unsigned char> bytes(kBytes);
  for (auto& byte : bytes) byte = static_cast<unsigned char>(random.below(256));
  const int file = file_of(bytes);
  for (int threads : {1, 4}) {
    set_thread_count(threads);
    for (int64_t length : {0, 1, 1000, (256 << 10) - 1, 256 << 10, (256 << 10) + 1, 1 << 20, 2'999'990})
      for (int64_t offset : {0, 1, 11}) reads(file, bytes, one(offset, length));
    many(file, bytes, random);
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
  for (int helpers : {0, 1, 3})
    for (int round = 0; round < 20; round++) shares(file, {{5, 2'000'000, nullptr}, {2'500'000, 1000, nullptr}, {0, 5, nullptr}, {kBytes - 1, 2, nullptr}, {7, 0, nullptr}}, helpers);
  begin_sync(file, 0, kBytes);
  for (int64_t bad : {int64_t{-1}, int64_t{0}, std::numeric_limits<int64_t>::max()}) begin_sync(file, bad, bad);
  begin_sync(-1, 0, 10);
  reads(file, bytes, one(0, kBytes));
  // Far out in a file with a hole.
  const int64_t far = int64_t{1} << 42;
  const int sparse = file_of({});
  if (pwrite(sparse, bytes.data(), 1000, far) == 1000) {
    // More than the threads share at once; the ends of the ranges do not tell where the pieces end.
    const std::vector<unsigned char> zeros(1 << 20);
    uint32_t expected = 0;
    for (int i = 0; i < 300; i++) expected = crc32c(zeros.data(), zeros.size(), expected);
    const int64_t before = far - (300 << 20);
    const Ranges ranges = {{far, 1000, nullptr}, {before, 300 << 20, nullptr}, {before - 7, 7, nullptr}, {0, 1, nullptr}, {far, 1001, nullptr}};
    const std::vector<int64_t> crcs = {crc32c(bytes.data(), 1000, 0), expected, crc32c(zeros.data(), 7, 0), crc32c(zeros.data(), 1, 0), -1};
    CHECK(crcs_of(sparse, ranges) == crcs);
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
