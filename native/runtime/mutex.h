// A lock that is held for moments.
#pragma once

#if defined(__wasm__)
#include <atomic>
#else
#include <mutex>
#endif

namespace eagre {

#if defined(__wasm__)
// A page's own thread may not sleep.
class Mutex {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire)) {
    }
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};
class Lock {
 public:
  explicit Lock(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};
#else
using Mutex = std::mutex;
using Lock = std::lock_guard<std::mutex>;
#endif

}  // namespace eagre
