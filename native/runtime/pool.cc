#include "pool.h"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "tensor.h"

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#define EAGRE_PAUSE() _mm_pause()
#elif defined(__aarch64__)
#define EAGRE_PAUSE() asm volatile("yield")
#else
#define EAGRE_PAUSE()
#endif

namespace eagre {
namespace {

int default_threads() {
  if (const char* text = std::getenv("EAGRE_NUM_THREADS")) {
    int n = std::atoi(text);
    if (n >= 1) return n > 256 ? 256 : n;
  }
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    int n = CPU_COUNT(&set);
    if (n >= 1) return n > 256 ? 256 : n;
  }
#endif
  int n = static_cast<int>(std::thread::hardware_concurrency());
  return n < 1 ? 1 : n;
}

thread_local bool inside_job = false;

class Pool {
 public:
  ~Pool() { stop(); }

  int count() {
    if (threads_ == 0) threads_ = default_threads();
    return threads_;
  }
  int resize(int n) {
    stop();
    threads_ = n < 1 ? 1 : n > 256 ? 256 : n;
    return threads_;
  }

  void run(int64_t n, int64_t grain, void (*fn)(void*, int64_t, int64_t), void* context) {
    if (workers_.empty()) start();
    fn_ = fn;
    context_ = context;
    n_ = n;
    grain_ = grain;
    chunks_ = (n + grain - 1) / grain;
    failed_.store(false, std::memory_order_relaxed);
    next_.store(0, std::memory_order_relaxed);
    busy_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
    {
      // The lock pairs with a worker that is about to park, so that the wake-up is not lost.
      std::lock_guard<std::mutex> lock(mutex_);
      epoch_.fetch_add(1, std::memory_order_release);
    }
    if (parked_.load(std::memory_order_acquire) > 0) wake_.notify_all();
    work();
    while (busy_.load(std::memory_order_acquire) != 0) EAGRE_PAUSE();
    if (failed_.load(std::memory_order_acquire)) throw error_;
  }

 private:
  void start() {
    stopping_ = false;
    for (int i = 1; i < count(); i++) workers_.emplace_back([this, seen = epoch_.load()] { loop(seen); });
  }
  void stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      epoch_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    for (auto& w : workers_) w.join();
    workers_.clear();
  }

  void loop(uint64_t seen) {
    inside_job = true;
    for (;;) {
      int spins = 0;
      while (epoch_.load(std::memory_order_acquire) == seen) {
        if (++spins < kSpins) {
          EAGRE_PAUSE();
          continue;
        }
        std::unique_lock<std::mutex> lock(mutex_);
        parked_.fetch_add(1, std::memory_order_acq_rel);
        wake_.wait(lock, [&] { return epoch_.load(std::memory_order_acquire) != seen; });
        parked_.fetch_sub(1, std::memory_order_acq_rel);
      }
      seen = epoch_.load(std::memory_order_acquire);
      if (stopping_) return;
      work();
      busy_.fetch_sub(1, std::memory_order_release);
    }
  }

  void work() {
    bool outer = inside_job;
    inside_job = true;
    for (;;) {
      int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= chunks_) break;
      int64_t begin = chunk * grain_;
      int64_t end = begin + grain_ < n_ ? begin + grain_ : n_;
      try {
        fn_(context_, begin, end);
      } catch (const KernelError& e) {
        if (!failed_.exchange(true, std::memory_order_acq_rel)) error_ = e;
      }
    }
    inside_job = outer;
  }

  static constexpr int kSpins = 20000;
  std::vector<std::thread> workers_;
  int threads_ = 0;
  bool stopping_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  alignas(64) std::atomic<uint64_t> epoch_{0};
  alignas(64) std::atomic<int64_t> next_{0};
  alignas(64) std::atomic<int> busy_{0};
  std::atomic<int> parked_{0};
  std::atomic<bool> failed_{false};
  KernelError error_{};
  void (*fn_)(void*, int64_t, int64_t) = nullptr;
  void* context_ = nullptr;
  int64_t n_ = 0, grain_ = 1, chunks_ = 0;
};

// Workers (Node worker_threads) share the process: one job at a time, the others compute inline. Never destroyed: at exit,
// parked threads simply end with the process.
Pool& pool() {
  static Pool* p = new Pool();
  return *p;
}
std::mutex& owner() {
  static std::mutex* m = new std::mutex();
  return *m;
}

struct Scratch {
  void* data[8] = {};
  int64_t bytes[8] = {};
  ~Scratch() {
    for (void* d : data) std::free(d);
  }
};
thread_local Scratch scratch_memory;

}  // namespace

int thread_count() {
  std::lock_guard<std::mutex> lock(owner());
  return pool().count();
}

int set_thread_count(int n) {
  std::lock_guard<std::mutex> lock(owner());
  return pool().resize(n);
}

void parallel_for_raw(int64_t n, int64_t grain, void (*fn)(void*, int64_t, int64_t), void* context) {
  if (n <= 0) return;
  if (grain < 1) grain = 1;
  if (n > grain && !inside_job) {
    std::unique_lock<std::mutex> lock(owner(), std::try_to_lock);
    if (lock.owns_lock() && pool().count() > 1) {
      pool().run(n, grain, fn, context);
      return;
    }
  }
  for (int64_t begin = 0; begin < n; begin += grain) fn(context, begin, begin + grain < n ? begin + grain : n);
}

void* scratch(int slot, int64_t bytes) {
  Scratch& s = scratch_memory;
  if (s.bytes[slot] < bytes) {
    std::free(s.data[slot]);
    s.bytes[slot] = 0;
    // One line more than asked for, so that a vector load at the end stays inside.
    int64_t size = (bytes + 127) / 64 * 64;
    s.data[slot] = std::aligned_alloc(64, static_cast<size_t>(size));
    if (s.data[slot] == nullptr) fail(Code::resource_exhausted, "no memory for %lld bytes of scratch", static_cast<long long>(bytes));
    s.bytes[slot] = size - 64;
  }
  return s.data[slot];
}

}  // namespace eagre
