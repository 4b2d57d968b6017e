#include "background.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "tensor.h"

namespace eagre {
namespace {

// As many as Node's own thread pool. More would only compete: kernels use the threads of the pool.
constexpr size_t kMaxThreads = 4;

// Threads are started when a task would have to wait, then stay.
class Background {
 public:
  void start(Task& task) {
    std::unique_lock<std::mutex> lock(mutex_);
    waiting_.push_back(&task);
    if (idle_ < waiting_.size() && threads_ < kMaxThreads) {
      try {
        std::thread([this] { loop(); }).detach();
        threads_++;
      } catch (const std::system_error&) {
        // Where the system allows no more threads, those that are there take it later, or the caller does it now.
        if (threads_ == 0) {
          waiting_.pop_back();
          lock.unlock();
          task.run();
          return;
        }
      }
    }
    wake_.notify_one();
  }

  bool withdraw(Task& task) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find(waiting_.begin(), waiting_.end(), &task);
    if (found == waiting_.end()) return false;
    waiting_.erase(found);
    return true;
  }

 private:
  void loop() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      idle_++;
      wake_.wait(lock, [this] { return !waiting_.empty(); });
      idle_--;
      Task* task = waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      task->run();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task*> waiting_;
  size_t threads_ = 0, idle_ = 0;
};

// Never destroyed: at exit, its threads simply end with the process.
Background& background() {
  static Background* b = new Background();
  return *b;
}

}  // namespace

void start_task(Task& task) { background().start(task); }
bool withdraw_task(Task& task) { return background().withdraw(task); }

}  // namespace eagre
