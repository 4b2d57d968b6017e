// The pool where threads are workers of JavaScript's, which come when they have been started; without shared memory there are none.
#include "../runtime/pool.h"

#include <atomic>
#include <cstdlib>

#include "../runtime/job.h"
#include "pool.h"

namespace eagre {
namespace {

constexpr int kMostThreads = 256;

// Those that jobs may be cut among: the caller and the workers that have come.
std::atomic<int> wanted{1}, workers{0};

#if defined(__wasm_atomics__)
constexpr int kSpins = 20000;

Job job;
alignas(64) std::atomic<int32_t> called{0};
std::atomic<int> parked{0};

void work() {
  job.work([] { job.count(); });
}

void run(int64_t n, int64_t grain, void (*fn)(void*, int64_t, int64_t), void* context) {
  const int64_t chunks = job.open(n, grain, fn, context);
  called.fetch_add(1, std::memory_order_seq_cst);
  if (parked.load(std::memory_order_seq_cst) > 0)
    __builtin_wasm_memory_atomic_notify(reinterpret_cast<int32_t*>(&called), static_cast<uint32_t>(wanted.load() - 1));
  work();
  // A page's own thread may not sleep.
  while (job.done(std::memory_order_acquire) != chunks) {
  }
  job.check();
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

uint32_t job_count() {
#if defined(__wasm_atomics__)
  return job.number();
#else
  return 0;
#endif
}

void parallel_for_raw(int64_t n, int64_t grain, void (*fn)(void*, int64_t, int64_t), void* context) {
  if (n <= 0) return;
  if (grain < 1) grain = 1;
  if (n / grain > (int64_t{1} << 30)) fail(Code::internal, "too many chunks");
#if defined(__wasm_atomics__)
  if (n > grain && !inside_job && thread_count() > 1 && !taken.exchange(true, std::memory_order_acquire)) {
    struct Freed {
      ~Freed() { taken.store(false, std::memory_order_release); }
    } freed;
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
  uint32_t seen = 0;
  for (;;) {
    for (int spins = 0;; spins++) {
      const int32_t before = called.load(std::memory_order_seq_cst);
      const uint32_t next = job.newest(seen);
      if (next != seen && number + 1 < wanted.load(std::memory_order_relaxed)) {
        seen = next;
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
