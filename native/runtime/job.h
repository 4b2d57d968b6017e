// What threads share of one job at a time: it is cut into chunks, which they take. (Who wakes whom, and who waits, is the pool's: pool.cc, wasm/pool.cc.)
#pragma once
#include <atomic>
#include <cstdint>

#include "tensor.h"

namespace eagre {

inline thread_local bool inside_job = false;

// `ticket_` holds the job's number in its high half and the next chunk in its low half, and a chunk is taken by compare-and-swap, so a thread can
// only take part in the job whose description it has read.
class Job {
 public:
  // Modulo 2^32.
  uint32_t number() const { return static_cast<uint32_t>(ticket_.load(std::memory_order_relaxed) >> 32); }

  // Describes the next job and opens it. Returns how many chunks it has.
  int64_t open(int64_t n, int64_t grain, void (*fn)(void*, int64_t, int64_t), void* context) {
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
    return chunks;
  }

  // The number of the newest job if it is open, else `seen`.
  uint32_t newest(uint32_t seen) const {
    const uint64_t t = ticket_.load(std::memory_order_seq_cst);
    return (t & kClosed) == kClosed ? seen : static_cast<uint32_t>(t >> 32);
  }

  // Does chunks until none is left; `counted` calls `count` for each of them.
  template <class F> void work(F&& counted) {
    const bool outer = inside_job;
    inside_job = true;
    uint64_t t = ticket_.load(std::memory_order_acquire);
    for (;;) {
      const uint64_t chunk = t & kClosed;
      const auto fn = fn_.load(std::memory_order_relaxed);
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
      counted();
      t = ticket_.load(std::memory_order_acquire);
    }
    inside_job = outer;
  }
  void count() { done_.fetch_add(1, std::memory_order_seq_cst); }

  // How many chunks have been counted.
  int64_t done(std::memory_order order) const { return done_.load(order); }
  // Once all have: throws the first error of a chunk.
  void check() const {
    if (failed_.load(std::memory_order_acquire)) throw error_;
  }

 private:
  static constexpr uint64_t kClosed = 0xffffffffu;

  alignas(64) std::atomic<uint64_t> ticket_{kClosed};
  alignas(64) std::atomic<int64_t> done_{0};
  alignas(64) std::atomic<void (*)(void*, int64_t, int64_t)> fn_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<int64_t> n_{0}, grain_{1}, chunks_{0};
  std::atomic<bool> failed_{false};
  KernelError error_{};
};

}  // namespace eagre
