#include "shared_mesh.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>
#include <stdexcept>
#include <thread>

namespace eagre::distribute {
namespace {

// Of each of a rank's two buffers: those of two ranks stay in a core's cache.
constexpr size_t kPiece = 256 << 10;
// Below this, each rank combines all of it by itself, which saves a meeting.
constexpr size_t kSmall = 4096;
// So often a rank asks again at once, and so long it only lets other threads go first, before it sleeps: to be woken takes about as long.
constexpr int kSpins = 64;
constexpr auto kYield = std::chrono::microseconds(200);
// A sleeper looks whether all is over.
constexpr timespec kNap{0, 5'000'000};
constexpr uint32_t kReady = 0xea91e001;

std::string system_error(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

inline void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void sleep_on(std::atomic<uint32_t>& word, uint32_t seen) { ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &kNap, nullptr, 0); }
void wake(std::atomic<uint32_t>& word) { ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

// The elements of `count` that are one rank's to combine, from the first on.
size_t first_of(size_t count, int rank, int size) { return count * static_cast<size_t>(rank) / static_cast<size_t>(size); }

}  // namespace

// What a rank tells the others. No two share a line of the cache.
struct alignas(128) SharedMesh::Place {
  std::atomic<uint32_t> ready;
  // How many meetings it has come to.
  std::atomic<uint32_t> met;
  // How many sleep until it comes to the next.
  std::atomic<uint32_t> sleepers;
  // Of this operation and of the one before, which another rank may still read.
  Mark marks[2];
};
static_assert(std::atomic<uint32_t>::is_always_lock_free, "processes share no locks");

SharedMesh::SharedMesh(int rank, int size, const std::string& name, Milliseconds timeout) : Mesh(rank, size), name_(name), timeout_(timeout) {}

SharedMesh::~SharedMesh() {
  if (memory_) ::munmap(memory_, size_ * (sizeof(Place) + 2 * kPiece));
}

SharedMesh::Place& SharedMesh::place(int rank) const { return reinterpret_cast<Place*>(memory_)[rank]; }

char* SharedMesh::buffer(int rank, int which) const { return memory_ + size_ * sizeof(Place) + (2 * static_cast<size_t>(rank) + which) * kPiece; }

void SharedMesh::connect(const std::vector<std::vector<char>>&) {
  const auto deadline = Clock::now() + timeout_;
  try {
    open(deadline);
    meet({0, deadline});
  } catch (...) {
    if (rank_ == 0) ::shm_unlink(name_.c_str());
    throw;
  }
  // All have it, so it needs no name any more.
  if (rank_ == 0) ::shm_unlink(name_.c_str());
}

void SharedMesh::open(Clock::time_point deadline) {
  const size_t bytes = size_ * (sizeof(Place) + 2 * kPiece);
  int file = -1;
  if (rank_ == 0) {
    file = ::shm_open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0) throw std::runtime_error(system_error("no memory can be shared"));
    // Taken now: where there is none, it would be missed only when it is written to.
    const int code = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
    if (code != 0) {
      ::close(file);
      errno = code;
      throw std::runtime_error(system_error("no memory can be shared"));
    }
  } else {
    struct stat status {};
    while ((file = ::shm_open(name_.c_str(), O_RDWR, 0)) < 0 || ::fstat(file, &status) != 0 || status.st_size < static_cast<off_t>(bytes)) {
      if (file >= 0) ::close(file);
      else if (errno != ENOENT) throw std::runtime_error(system_error("no memory can be shared"));
      throw_if_over({0, deadline});
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) throw std::runtime_error(system_error("no memory can be shared"));
  memory_ = static_cast<char*>(memory);
  // New memory of the system is zeros, which is what a place begins with.
  if (rank_ == 0) place(0).ready.store(kReady, std::memory_order_release);
  while (place(0).ready.load(std::memory_order_acquire) != kReady) {
    throw_if_over({0, deadline});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void SharedMesh::throw_if_over(const Call& call) {
  ending_.throw_if_ended();
  if (Clock::now() < call.deadline) return;
  abort("timed out");
  throw std::runtime_error("timed out");
}

void SharedMesh::meet(const Call& call) {
  Place& own = place(rank_);
  const uint32_t times = own.met.load(std::memory_order_relaxed) + 1;
  own.met.store(times, std::memory_order_seq_cst);
  if (own.sleepers.load(std::memory_order_seq_cst) > 0) wake(own.met);
  for (int p = 0; p < size_; p++) if (p != rank_) wait_for(p, times, call);
}

void SharedMesh::wait_for(int rank, uint32_t times, const Call& call) {
  Place& other = place(rank);
  // Counts wrap around.
  const auto is_there = [&](uint32_t met) { return static_cast<int32_t>(met - times) >= 0; };
  for (int spins = 0; spins < kSpins; spins++) {
    if (is_there(other.met.load(std::memory_order_acquire))) return;
    pause_core();
  }
  for (const auto start = Clock::now(); Clock::now() - start < kYield;) {
    if (is_there(other.met.load(std::memory_order_acquire))) return;
    std::this_thread::yield();
  }
  for (;;) {
    throw_if_over(call);
    other.sleepers.fetch_add(1, std::memory_order_seq_cst);
    const uint32_t met = other.met.load(std::memory_order_seq_cst);
    if (!is_there(met)) sleep_on(other.met, met);
    other.sleepers.fetch_sub(1, std::memory_order_relaxed);
    if (is_there(other.met.load(std::memory_order_acquire))) return;
  }
}

void SharedMesh::agree(const Layout& layout, uint64_t sequence, const Call& call) {
  throw_if_over(call);
  const Mark mark(layout, sequence);
  place(rank_).marks[sequence & 1] = mark;
  meet(call);
  bool same = true;
  for (int p = 0; p < size_; p++) same = same && place(p).marks[sequence & 1] == mark;
  // Else the heartbeat tells what the others do, and ends the mesh for it.
  while (!same) {
    throw_if_over(call);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void SharedMesh::all_reduce(const Layout& layout, void* data, const Call& call) {
  const size_t size = size_of(layout.element), each = kPiece / size;
  auto* bytes = static_cast<char*>(data);
  std::vector<const void*> parts(size_);
  for (size_t start = 0; start < layout.count; start += each, bytes += kPiece) {
    const size_t count = std::min(each, layout.count - start);
    std::memcpy(buffer(rank_, 0), bytes, count * size);
    meet(call);
    const bool is_small = layout.count * size <= kSmall;
    const size_t begin = is_small ? 0 : first_of(count, rank_, size_), end = is_small ? count : first_of(count, rank_ + 1, size_);
    for (int p = 0; p < size_; p++) parts[p] = buffer(p, 0) + begin * size;
    reduce_in_order(layout.element, layout.reduction, is_small ? bytes : buffer(rank_, 1), parts, end - begin);
    if (is_small) return;
    meet(call);
    for (int p = 0; p < size_; p++) {
      const size_t first = first_of(count, p, size_);
      std::memcpy(bytes + first * size, buffer(p, 1), (first_of(count, p + 1, size_) - first) * size);
    }
  }
}

void SharedMesh::reduce(const Layout& layout, void* in, void* out, const Call& call) {
  std::memcpy(out, in, layout.count * size_of(layout.element));
  all_reduce(layout, out, call);
}

// Buffers are used in turn: who meets the others for a piece has read the one before.
void SharedMesh::broadcast(void* data, size_t bytes, int root, const Call& call) {
  int which = 0;
  for (size_t start = 0; start < bytes; start += kPiece, which ^= 1) {
    const size_t length = std::min(kPiece, bytes - start);
    char* own = static_cast<char*>(data) + start;
    if (rank_ == root) std::memcpy(buffer(root, which), own, length);
    meet(call);
    if (rank_ != root) std::memcpy(own, buffer(root, which), length);
  }
}

void SharedMesh::gather(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) {
  const size_t most = *std::max_element(counts.begin(), counts.end()) * size;
  int which = 0;
  for (size_t start = 0; start < most; start += kPiece, which ^= 1) {
    const auto length_of = [&](int rank) { return std::min(kPiece, counts[rank] * size - std::min(start, counts[rank] * size)); };
    if (length_of(rank_) > 0) std::memcpy(buffer(rank_, which), static_cast<char*>(in) + start, length_of(rank_));
    meet(call);
    char* target = static_cast<char*>(out) + start;
    for (int p = 0; p < size_; p++) {
      if (length_of(p) > 0) std::memcpy(target, buffer(p, which), length_of(p));
      target += counts[p] * size;
    }
  }
}

}  // namespace eagre::distribute
