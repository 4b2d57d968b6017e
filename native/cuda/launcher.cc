#include "launcher.h"

#include <chrono>
#include <system_error>
#include <utility>

namespace eagre::cuda {
namespace {

// A caller that is further ahead helps.
constexpr size_t kMostJobs = 256;
// To wake a thread takes longer than a launch: it looks for so long before it sleeps.
constexpr auto kPatience = std::chrono::microseconds(50);

// Whether something comes to be so before patience ends.
template <class F> bool soon(F is_so) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  do {
    for (int i = 0; i < 64; i++)
      if (is_so()) return true;
    // Others may want the processor, of which there may be only one.
    std::this_thread::yield();
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

Launcher::~Launcher() {
  finish();
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    ends_ = true;
  }
  added_.notify_one();
  thread_.join();
}

void Launcher::add(Job job) {
  if (left_.load(std::memory_order_relaxed) >= kMostJobs) finish();
  bool sleeps;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    jobs_.push_back(std::move(job));
    left_.fetch_add(1, std::memory_order_relaxed);
    sleeps = sleeps_;
  }
  if (sleeps) added_.notify_one();
  if (thread_.joinable()) return;
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    // There are as many threads as there may be.
    finish();
  }
}

// @returns whether there was one. The lock is open while it runs.
bool Launcher::run_next(std::unique_lock<std::mutex>& lock) {
  if (jobs_.empty() || is_running_) return false;
  is_running_ = true;
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  lock.unlock();
  std::exception_ptr failure;
  try {
    job();
  } catch (...) {
    failure = std::current_exception();
  }
  job = nullptr;
  lock.lock();
  if (failure != nullptr && failure_ == nullptr) {
    failure_ = failure;
    has_failed_.store(true, std::memory_order_release);
  }
  is_running_ = false;
  left_.fetch_sub(1, std::memory_order_release);
  if (waits_) ended_.notify_one();
  return true;
}

void Launcher::work() {
  start_();
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ends_) {
    if (run_next(lock)) continue;
    lock.unlock();
    const bool came = soon([this] { return left_.load(std::memory_order_relaxed) > 0; });
    lock.lock();
    if (came && !jobs_.empty() && !is_running_) continue;
    sleeps_ = true;
    added_.wait(lock, [this] { return ends_ || (!jobs_.empty() && !is_running_); });
    sleeps_ = false;
  }
}

void Launcher::finish() {
  if (left_.load(std::memory_order_acquire) == 0) return;
  // The caller may have worked for another GPU before.
  start_();
  std::unique_lock<std::mutex> lock(mutex_);
  while (!jobs_.empty() || is_running_) {
    if (run_next(lock)) continue;
    lock.unlock();
    soon([this] { return left_.load(std::memory_order_acquire) == 0; });
    lock.lock();
    if (!is_running_) continue;
    waits_ = true;
    ended_.wait(lock, [this] { return !is_running_; });
    waits_ = false;
  }
}

std::exception_ptr Launcher::take_failure() {
  const std::lock_guard<std::mutex> guard(mutex_);
  has_failed_.store(false, std::memory_order_relaxed);
  return std::exchange(failure_, nullptr);
}

}  // namespace eagre::cuda
