// The pool where threads are workers of JavaScript's, which come when they have been started; without shared memory there are none.
#include "../runtime/pool.h"

#include <atomic>
#include <cstdlib>

#include "../runtime/tensor.h"
#include "pool.h"

namespace eagre {
namespace {

constexpr int kMostThreads = 256;

// Those that jobs may be cut among: the caller and the workers that have come.
std::atomic<int> wanted{1}, workers{0};
std::atomic<uint32_t> jobs{0};

#if defined(__wasm_atomics__)
thread_local bool inside_job = false;
constexpr uint64_t kClosed = 0xffffffffu;
constexpr int kSpins = 20000;

// As in runtime/pool.cc: `ticket` has the number of the job in its high half and the next chunk in its low half.
alignas(64) std::atomic<uint64_t> ticket{kClosed};
alignas(64) std::atomic<int64_t> done{0};
alignas(64) std::atomic<int32_t> called{0};
std::atomic<void (*)(void*, int64_t, int64_t)> function{nullptr};
std::atomic<void*> argument{nullptr};
std::atomic<int64_t> count{0}, grain_size{1}, chunk_count{0};
std::atomic<int> parked{0};
std::atomic<bool> failed{false};
KernelError error{};

void work() {
  const bool outer = inside_job;
  inside_job = true;
  uint64_t t = ticket.load(std::memory_order_acquire);
  for (;;) {
    const uint64_t chunk = t & kClosed;
    const auto fn = function.load(std::memory_order_relaxed);
    void* context = argument.load(std::memory_order_relaxed);
    const int64_t n = count.load(std::memory_order_relaxed), grain = grain_size.load(std::memory_order_relaxed);
    if (chunk == kClosed || static_cast<int64_t>(chunk) >= chunk_count.load(std::memory_order_relaxed)) break;
    if (!ticket.compare_exchange_weak(t, t + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    const int64_t begin = static_cast<int64_t>(chunk) * grain;
    try {
      fn(context, begin, begin + grain < n ? begin + grain : n);
    } catch (const KernelError& e) {
      if (!failed.exchange(true, std::memory_order_acq_rel)) error = e;
    }
    done.fetch_add(1, std::memory_order_seq_cst);
    t = ticket.load(std::memory_order_acquire);
  }
  inside_job = outer;
}

void run(int64_t n, int64_t grain, void (*fn)(void*, int64_t, int64_t), void* context) {
  const uint64_t job = (ticket.load(std::memory_order_relaxed) >> 32) + 1;
  const int64_t chunks = (n + grain - 1) / grain;
  ticket.store(job << 32 | kClosed, std::memory_order_seq_cst);
  function.store(fn, std::memory_order_relaxed);
  argument.store(context, std::memory_order_relaxed);
  count.store(n, std::memory_order_relaxed);
  grain_size.store(grain, std::memory_order_relaxed);
  chunk_count.store(chunks, std::memory_order_relaxed);
  done.store(0, std::memory_order_relaxed);
  failed.store(false, std::memory_order_relaxed);
  ticket.store(job << 32, std::memory_order_seq_cst);
  called.fetch_add(1, std::memory_order_seq_cst);
  if (parked.load(std::memory_order_seq_cst) > 0)
    __builtin_wasm_memory_atomic_notify(reinterpret_cast<int32_t*>(&called), static_cast<uint32_t>(wanted.load() - 1));
  work();
  // A page's own thread may not sleep.
  while (done.load(std::memory_order_acquire) != chunks) {
  }
  if (failed.load(std::memory_order_acquire)) throw error;
}

// One caller at a time; others compute inline.
std::atomic<bool> taken{false};
#endif

struct Scratch {
  void* data[8] = {};
  int64_t bytes[8] = {};
};
thread_local Scratch scratch_memory;

}  // namespace

int thread_count() {
  const int come = 1 + workers.load(std::memory_order_relaxed), asked = wanted.load(std::memory_order_relaxed);
  return come < asked ? come : asked;
}

int set_thread_count(int n) {
  wanted.store(n < 1 ? 1 : n > kMostThreads ? kMostThreads : n, std::memory_order_relaxed);
  return thread_count();
}

uint32_t job_count() { return jobs.load(std::memory_order_relaxed); }

void parallel_for_raw(int64_t n, int64_t grain, void (*fn)(void*, int64_t, int64_t), void* context) {
  if (n <= 0) return;
  if (grain < 1) grain = 1;
  if (n / grain > (int64_t{1} << 30)) fail(Code::internal, "too many chunks");
#if defined(__wasm_atomics__)
  if (n > grain && !inside_job && thread_count() > 1 && !taken.exchange(true, std::memory_order_acquire)) {
    struct Freed {
      ~Freed() { taken.store(false, std::memory_order_release); }
    } freed;
    jobs.fetch_add(1, std::memory_order_relaxed);
    run(n, grain, fn, context);
    return;
  }
#endif
  for (int64_t begin = 0; begin < n; begin += grain) fn(context, begin, begin + grain < n ? begin + grain : n);
}

void* scratch(int slot, int64_t bytes) {
  Scratch& s = scratch_memory;
  if (s.bytes[slot] < bytes) {
    std::free(s.data[slot]);
    s.bytes[slot] = 0;
    // One line more than asked for, so that a vector load at the end stays inside.
    const int64_t size = (bytes + 127) / 64 * 64;
    s.data[slot] = size > INT32_MAX ? nullptr : std::aligned_alloc(64, static_cast<size_t>(size));
    if (s.data[slot] == nullptr) fail(Code::resource_exhausted, "no memory for %lld bytes of scratch", static_cast<long long>(bytes));
    s.bytes[slot] = size - 64;
  }
  return s.data[slot];
}

#if defined(__wasm_atomics__)
void serve() {
  inside_job = true;
  const int number = workers.fetch_add(1, std::memory_order_seq_cst);
  uint64_t seen = 0;
  for (;;) {
    for (int spins = 0;; spins++) {
      const int32_t before = called.load(std::memory_order_seq_cst);
      const uint64_t t = ticket.load(std::memory_order_seq_cst);
      if (t >> 32 != seen && (t & kClosed) != kClosed && number + 1 < wanted.load(std::memory_order_relaxed)) {
        seen = t >> 32;
        break;
      }
      if (spins < kSpins) continue;
      parked.fetch_add(1, std::memory_order_seq_cst);
      __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int32_t*>(&called), before, -1);
      parked.fetch_sub(1, std::memory_order_seq_cst);
      spins = 0;
    }
    work();
  }
}
#endif

}  // namespace eagre
