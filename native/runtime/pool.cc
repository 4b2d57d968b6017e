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

// One job at a time, cut into chunks. `ticket_` holds the job's number in its high half and the next chunk in its low half, and
// a chunk is taken by compare-and-swap, so a thread can only take part in the job whose description it has read. The caller waits
// for chunks that were taken, never for a worker that has not come: on a busy machine that one may be far away.
class Pool {
 public:
  ~Pool() { stop(); }

  int count() const { return threads_.load(std::memory_order_relaxed); }
  int resize(int n) {
    stop();
    threads_.store(n < 1 ? 1 : n > 256 ? 256 : n, std::memory_order_relaxed);
    return count();
  }

  uint32_t jobs() const { return static_cast<uint32_t>(ticket_.load(std::memory_order_relaxed) >> 32); }

  void run(int64_t n, int64_t grain, void (*fn)(void*, int64_t, int64_t), void* context) {
    if (workers_.empty()) start();
    const uint64_t job = (ticket_.load(std::memory_order_relaxed) >> 32) + 1;
    const int64_t chunks = (n + grain - 1) / grain;
    // Closed while the description changes, so that nobody can take a chunk of a job that is half described.
    ticket_.store(job << 32 | kClosed, std::memory_order_seq_cst);
    fn_.store(fn, std::memory_order_relaxed);
    context_.store(context, std::memory_order_relaxed);
    n_.store(n, std::memory_order_relaxed);
    grain_.store(grain, std::memory_order_relaxed);
    chunks_.store(chunks, std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    failed_.store(false, std::memory_order_relaxed);
    ticket_.store(job << 32, std::memory_order_seq_cst);
    if (parked_.load(std::memory_order_seq_cst) > 0) {
      { std::lock_guard<std::mutex> lock(mutex_); }
      wake_.notify_all();
    }
    work();
    finish(chunks);
    if (failed_.load(std::memory_order_acquire)) throw error_;
  }

 private:
  static constexpr uint64_t kClosed = 0xffffffffu;
  static constexpr int kSpins = 20000, kSpinsAtEnd = 2000;

  void start() {
    stopping_.store(false);
    for (int i = 1; i < count(); i++) workers_.emplace_back([this] { loop(); });
  }
  void stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_.store(true);
    }
    wake_.notify_all();
    for (auto& w : workers_) w.join();
    workers_.clear();
  }

  void loop() {
    inside_job = true;
    uint64_t seen = 0;
    for (;;) {
      int spins = 0;
      while (!stopping_.load(std::memory_order_relaxed) && !fresh(seen)) {
        if (++spins < kSpins) {
          EAGRE_PAUSE();
          continue;
        }
        std::unique_lock<std::mutex> lock(mutex_);
        parked_.fetch_add(1, std::memory_order_seq_cst);
        wake_.wait(lock, [&] { return stopping_.load() || fresh(seen); });
        parked_.fetch_sub(1, std::memory_order_seq_cst);
      }
      if (stopping_.load()) return;
      seen = ticket_.load(std::memory_order_seq_cst) >> 32;
      work();
    }
  }

  // Waits for the chunks that workers still have. A worker whose core another process has taken only goes on here once this core is
  // free, so the caller sleeps after a while.
  void finish(int64_t chunks) {
    for (int spins = 0; spins < kSpinsAtEnd; spins++) {
      if (done_.load(std::memory_order_acquire) == chunks) return;
      EAGRE_PAUSE();
    }
    std::unique_lock<std::mutex> lock(mutex_);
    sleeping_.store(true, std::memory_order_seq_cst);
    ended_.wait(lock, [&] { return done_.load(std::memory_order_seq_cst) == chunks; });
    sleeping_.store(false, std::memory_order_relaxed);
  }

  void count_done() {
    done_.fetch_add(1, std::memory_order_seq_cst);
    if (!sleeping_.load(std::memory_order_seq_cst)) return;
    { std::lock_guard<std::mutex> lock(mutex_); }
    ended_.notify_one();
  }

  // Whether an open job is there that this worker has not looked at.
  bool fresh(uint64_t seen) const {
    uint64_t t = ticket_.load(std::memory_order_seq_cst);
    return t >> 32 != seen && (t & kClosed) != kClosed;
  }

  void work() {
    bool outer = inside_job;
    inside_job = true;
    uint64_t t = ticket_.load(std::memory_order_acquire);
    for (;;) {
      const uint64_t chunk = t & kClosed;
      auto fn = fn_.load(std::memory_order_relaxed);
      void* context = context_.load(std::memory_order_relaxed);
      const int64_t n = n_.load(std::memory_order_relaxed), grain = grain_.load(std::memory_order_relaxed);
      if (chunk == kClosed || static_cast<int64_t>(chunk) >= chunks_.load(std::memory_order_relaxed)) break;
      // Succeeds only if the job is still the one just read.
      if (!ticket_.compare_exchange_weak(t, t + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
      const int64_t begin = static_cast<int64_t>(chunk) * grain;
      try {
        fn(context, begin, begin + grain < n ? begin + grain : n);
      } catch (const KernelError& e) {
        if (!failed_.exchange(true, std::memory_order_acq_rel)) error_ = e;
      }
      count_done();
      t = ticket_.load(std::memory_order_acquire);
    }
    inside_job = outer;
  }

  std::vector<std::thread> workers_;
  std::atomic<int> threads_{default_threads()};
  std::mutex mutex_;
  std::condition_variable wake_, ended_;
  alignas(64) std::atomic<uint64_t> ticket_{kClosed};
  alignas(64) std::atomic<int64_t> done_{0};
  alignas(64) std::atomic<void (*)(void*, int64_t, int64_t)> fn_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<int64_t> n_{0}, grain_{1}, chunks_{0};
  std::atomic<int> parked_{0};
  std::atomic<bool> stopping_{false}, failed_{false}, sleeping_{false};
  KernelError error_{};
};

// Workers (Node worker_threads) and runs in the background share the process: one job at a time, the others compute inline. Never
// destroyed: at exit, parked threads simply end with the process.
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

// Without the lock, which a job of another thread may hold for long.
int thread_count() { return pool().count(); }

int set_thread_count(int n) {
  std::lock_guard<std::mutex> lock(owner());
  return pool().resize(n);
}

uint32_t job_count() { return pool().jobs(); }

void parallel_for_raw(int64_t n, int64_t grain, void (*fn)(void*, int64_t, int64_t), void* context) {
  if (n <= 0) return;
  if (grain < 1) grain = 1;
  // Chunk numbers are 32 bits wide; no kernel comes near.
  if (n / grain > (int64_t{1} << 30)) fail(Code::internal, "too many chunks");
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
