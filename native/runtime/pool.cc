#include "pool.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "aligned.h"
#include "cores.h"
#include "job.h"

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
  const char* text = std::getenv("EAGRE_NUM_THREADS");
  const int asked = text ? threads_asked(text) : 0;
  return asked > 0 ? asked : usable_cores();
}

int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// One job at a time. The caller waits for chunks that were taken, never for a worker that has not come: on a busy machine that one
// may be far away. One that loses its processor in the middle of a chunk is waited for; then `contention_` has the caller do
// without workers for a while.
class Pool {
 public:
  ~Pool() { stop(); }

  int count() const { return threads_.load(std::memory_order_relaxed); }
  int resize(int n) {
    stop();
    if (n == 0) n = usable_cores();
    threads_.store(n < 1 ? 1 : n > kMaxThreads ? kMaxThreads : n, std::memory_order_relaxed);
    // Who asks for threads gets them, until a wait shows again that the processors are taken.
    contention_ = {};
    spins_.store(kSpins, std::memory_order_relaxed);
    return count();
  }

  // Whether the next job should be cut among threads. Starts them when there are none yet.
  bool ready() {
    if (count() <= 1 || (contention_.wary() && contention_.alone(nanoseconds()))) return false;
    if (workers_.empty()) start();
    return !workers_.empty();
  }

  uint32_t jobs() const { return job_.number(); }

  void run(int64_t n, int64_t grain, void (*fn)(void*, int64_t, int64_t), void* context) {
    const int64_t chunks = job_.open(n, grain, fn, context);
    if (parked_.load(std::memory_order_seq_cst) > 0) {
      { std::lock_guard<std::mutex> lock(mutex_); }
      wake_.notify_all();
    }
    work();
    finish(chunks);
    job_.check();
  }

 private:
  static constexpr int kSpins = 20000, kSpinsAtEnd = 2000;
  // So often who spins lets others have the processor that wait for it.
  static constexpr int kYield = 64;

  // Where the system allows no more threads, fewer do.
  void start() {
    stopping_.store(false);
    const size_t wanted = static_cast<size_t>(count() - 1);
    workers_.reserve(wanted);
    try {
      while (workers_.size() < wanted) workers_.emplace_back([this] { loop(); });
    } catch (const std::system_error&) {
      threads_.store(static_cast<int>(workers_.size()) + 1, std::memory_order_relaxed);
    }
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
    uint32_t seen = 0, next = 0;
    for (;;) {
      int spins = 0;
      while (!stopping_.load(std::memory_order_relaxed) && (next = job_.newest(seen)) == seen) {
        if (++spins < spins_.load(std::memory_order_relaxed)) {
          if (spins % kYield == 0) std::this_thread::yield();
          else EAGRE_PAUSE();
          continue;
        }
        std::unique_lock<std::mutex> lock(mutex_);
        parked_.fetch_add(1, std::memory_order_seq_cst);
        wake_.wait(lock, [&] { return stopping_.load() || job_.newest(seen) != seen; });
        parked_.fetch_sub(1, std::memory_order_seq_cst);
      }
      if (stopping_.load()) return;
      seen = next;
      work();
    }
  }

  // Waits for the chunks that workers still have. A worker whose core another process has taken only goes on here once this core is
  // free, so the caller sleeps after a while.
  void finish(int64_t chunks) {
    for (int spins = 0; spins < kSpinsAtEnd; spins++) {
      if (job_.done(std::memory_order_acquire) == chunks) {
        if (!contention_.tense()) return;
        contention_.went_well(nanoseconds());
        if (!contention_.tense()) spins_.store(kSpins, std::memory_order_relaxed);
        return;
      }
      EAGRE_PAUSE();
    }
    const int64_t begin = nanoseconds();
    interrupted_.store(false, std::memory_order_relaxed);
    {
      std::unique_lock<std::mutex> lock(mutex_);
      sleeping_.store(true, std::memory_order_seq_cst);
      ended_.wait(lock, [&] { return job_.done(std::memory_order_seq_cst) == chunks; });
      sleeping_.store(false, std::memory_order_relaxed);
    }
    if (!interrupted_.load(std::memory_order_relaxed)) return;
    const int64_t end = nanoseconds();
    contention_.stalled(end, end - begin);
    spins_.store(contention_.tense() ? kSpinsAtEnd : kSpins, std::memory_order_relaxed);
  }

  // A worker that is waited for tells whether it had lost its processor since it was last asked.
  void count_done() {
    if (sleeping_.load(std::memory_order_seq_cst)) {
      thread_local long before = 0;
      const long now = interruptions();
      if (now != before) interrupted_.store(true, std::memory_order_relaxed);
      before = now;
    }
    job_.count();
    if (!sleeping_.load(std::memory_order_seq_cst)) return;
    { std::lock_guard<std::mutex> lock(mutex_); }
    ended_.notify_one();
  }

  void work() {
    job_.work([this] { count_done(); });
  }

  std::vector<std::thread> workers_;
  std::atomic<int> threads_{default_threads()};
  std::mutex mutex_;
  std::condition_variable wake_, ended_;
  Job job_;
  std::atomic<int> parked_{0};
  // How long workers spin: for less where others need the processors.
  std::atomic<int> spins_{kSpins};
  std::atomic<bool> stopping_{false}, sleeping_{false}, interrupted_{false};
  // Of whoever has the pool.
  Contention contention_;
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
    for (void* d : data) free_aligned(d);
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
    if (lock.owns_lock() && pool().ready()) {
      pool().run(n, grain, fn, context);
      return;
    }
  }
  for (int64_t begin = 0; begin < n; begin += grain) fn(context, begin, begin + grain < n ? begin + grain : n);
}

void* scratch(int slot, int64_t bytes) {
  Scratch& s = scratch_memory;
  if (s.bytes[slot] < bytes) {
    free_aligned(s.data[slot]);
    s.bytes[slot] = 0;
    // One line more than asked for, so that a vector load at the end stays inside.
    int64_t size = (bytes + 127) / 64 * 64;
    s.data[slot] = aligned_memory(static_cast<size_t>(size));
    if (s.data[slot] == nullptr) fail(Code::resource_exhausted, "no memory for %lld bytes of scratch", static_cast<long long>(bytes));
    s.bytes[slot] = size - 64;
  }
  return s.data[slot];
}

}  // namespace eagre
