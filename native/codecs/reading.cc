#include "reading.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <system_error>
#include <thread>

#include "../runtime/cores.h"

#if defined(_WIN32)
#include <windows.h>
#endif

namespace eagre::codecs {
namespace {

std::FILE* open(const std::string& path) {
#if defined(_WIN32)
  const int length = MultiByteToWideChar(CP_UTF8, 0, path.c_str(), -1, nullptr, 0);
  std::vector<wchar_t> wide(static_cast<size_t>(std::max(length, 1)));
  MultiByteToWideChar(CP_UTF8, 0, path.c_str(), -1, wide.data(), length);
  return _wfopen(wide.data(), L"rb");
#else
  return std::fopen(path.c_str(), "rb");
#endif
}

// All bytes of a file; false where they cannot be read.
bool read_file(const std::string& path, std::vector<uint8_t>& bytes) {
  std::FILE* file = open(path);
  if (!file) return false;
  std::setvbuf(file, nullptr, _IONBF, 0);
  size_t used = 0;
  bytes.resize(1 << 17);
  for (;;) {
    const size_t more = std::fread(bytes.data() + used, 1, bytes.size() - used, file);
    used += more;
    if (used < bytes.size()) break;
    bytes.resize(2 * bytes.size());
  }
  const bool is_read = !std::ferror(file);
  std::fclose(file);
  bytes.resize(used);
  return is_read;
}

// Threads that are started when they are first needed, as many as there are cores, and then stay.
class Threads {
 public:
  void start(const std::shared_ptr<Reading>& reading) {
    std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(reading);
    try {
      for (; count_ < most_; count_++) std::thread([this] { loop(); }).detach();
    } catch (const std::system_error&) {
      // Where the system allows no more threads, those that are there do it, or whoever wants the result.
      if (count_ == 0) waiting_.pop_back();
    }
    wake_.notify_all();
  }

 private:
  void loop() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return !waiting_.empty(); });
      const std::shared_ptr<Reading> first = waiting_.front();
      lock.unlock();
      first->help();
      lock.lock();
      // All of its files have been begun.
      if (!waiting_.empty() && waiting_.front() == first) waiting_.pop_front();
    }
  }

  const size_t most_ = static_cast<size_t>(std::min(usable_cores(), 16));
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Reading>> waiting_;
  size_t count_ = 0;
};

// Never destroyed: at exit, its threads simply end with the process.
Threads& threads() {
  static Threads* t = new Threads();
  return *t;
}

}  // namespace

void Reading::read(size_t i) {
  const size_t size = static_cast<size_t>(recipe_.height) * recipe_.width * recipe_.channels;
  char message[EAGRE_MESSAGE];
  bool is_done = false;
  try {
    std::vector<uint8_t> bytes;
    is_done = read_file(paths_[i], bytes) && eagre_is_picture(bytes.data(), bytes.size()) &&
              eagre_picture(bytes.data(), bytes.size(), &recipe_, out_ + i * size, message) == EAGRE_DONE;
  } catch (const std::exception&) {
    // No memory.
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (!is_done) failed_.push_back(static_cast<int32_t>(i));
}

bool Reading::help() {
  std::unique_lock<std::mutex> lock(mutex_);
  const bool any = begun_ < paths_.size();
  while (begun_ < paths_.size()) {
    const size_t i = begun_++;
    running_++;
    lock.unlock();
    read(i);
    lock.lock();
    if (--running_ == 0) ended_.notify_all();
  }
  return any;
}

std::vector<int32_t> Reading::finish() {
  help();
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait(lock, [this] { return running_ == 0; });
  std::sort(failed_.begin(), failed_.end());
  return failed_;
}

void Reading::stop() {
  std::unique_lock<std::mutex> lock(mutex_);
  begun_ = paths_.size();
  ended_.wait(lock, [this] { return running_ == 0; });
}

void start(const std::shared_ptr<Reading>& reading) { threads().start(reading); }

}  // namespace eagre::codecs
