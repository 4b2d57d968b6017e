// A thread that tells the other ranks, over sockets of its own, that this one lives and what it does, and listens to what they tell. JavaScript
// cannot hold it up.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mesh.h"

namespace eagre::distribute {

enum class Failure : uint8_t { none, unavailable, deadline, mismatch, aborted, internal };

// What a rank tells. All ranks run the same build on the same kind of machine: the control plane compares versions before.
struct Beat {
  uint64_t key = 0;
  int32_t rank = 0;
  // It has ended in order, and will do nothing more.
  uint8_t left = 0;
  Failure failure = Failure::none;
  uint8_t padding[2] = {};
  // The operation that it is in, or was last in, counted from 1, and how many have ended.
  uint64_t sequence = 0;
  uint64_t completed = 0;
  Layout layout;
  char message[512] = "";
  // What that operation is for.
  char about[768] = "";
};

class Heartbeat {
 public:
  struct Listener {
    virtual ~Listener() = default;
    virtual Beat own_beat() = 0;
    virtual void on_beat(int rank, const Beat& beat) = 0;
    // Its connection closed without a farewell.
    virtual void on_lost(int rank) = 0;
    virtual void on_silent(int rank, Milliseconds silence) = 0;
  };

  Heartbeat(int rank, int size);
  ~Heartbeat();
  // From now on, on these sockets, by ranks; `listener` must outlive `stop`. All ranks have the same key.
  void start(Listener* listener, const std::vector<int>& sockets, uint64_t key, Milliseconds interval, Milliseconds silence);
  // Has the thread tell the others.
  void wake();
  // Tells the others what is so now, and hears what has come: both are done at the return. From any thread; without a thread that runs, nothing.
  void tell();
  // Ends the thread, with a last beat.
  void stop();

 private:
  void run();
  void send_all();
  void receive(int rank);

  struct Link {
    int fd = -1;
    std::string received;
    // Of a beat that the socket took in part only.
    std::string unsent;
    std::chrono::steady_clock::time_point heard;
    bool left = false, silent = false;
  };
  const int rank_, size_;
  uint64_t key_ = 0;
  int wake_[2] = {-1, -1};
  std::vector<Link> links_;
  Listener* listener_ = nullptr;
  Milliseconds interval_{500}, silence_{10000};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // How often `tell` was called, and how many of these calls have been served.
  uint64_t asked_ = 0, told_ = 0;
  bool running_ = false;
  std::thread::id id_;
};

}  // namespace eagre::distribute
