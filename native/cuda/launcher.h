// Jobs that run in their order beside the caller: a launch takes the driver some microseconds, in which the caller prepares the next one.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace eagre::cuda {

// Used by one thread, which is not that of the jobs.
class Launcher {
 public:
  using Job = std::function<void()>;
  // @param start what the thread does first.
  explicit Launcher(Job start) : start_(std::move(start)) {}
  // Runs what is left.
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  // Has a job run behind those before.
  void add(Job job);
  // Ends when no job is left and none runs. The caller runs those that the thread has not begun.
  void finish();
  // Whether a job has failed since `take_failure`.
  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }
  // What the first job threw that failed since the last time, or null.
  std::exception_ptr take_failure();

 private:
  void work();
  bool run_next(std::unique_lock<std::mutex>& lock);

  const Job start_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable added_, ended_;
  std::deque<Job> jobs_;
  // Those that have not ended, also for who looks without the lock.
  std::atomic<size_t> left_{0};
  bool is_running_ = false, sleeps_ = false, waits_ = false, ends_ = false;
  std::exception_ptr failure_;
  std::atomic<bool> has_failed_{false};
};

}  // namespace eagre::cuda
