// The sockets between the ranks. Each begins with a key that strangers do not know, so nobody else is taken for a rank.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace eagre::distribute {

struct Peer {
  // Best an address in numbers: a name is looked up, and nothing ends that early.
  std::string host;
  uint16_t port = 0;
};

class Links {
 public:
  // Listens at `host`. @throws std::runtime_error
  Links(int rank, int size, const std::string& host);
  ~Links();
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;
  uint16_t port() const { return port_; }
  // Blocks until each rank is connected to each, by `channels` sockets, and listens no more. @throws std::runtime_error, whose text names the rank that
  // did not come, or cannot be reached.
  void connect(const std::vector<Peer>& peers, uint64_t key, int channels, std::chrono::milliseconds timeout);
  // Ends `connect`, from another thread.
  void interrupt();
  // Closes all that was not handed over; nothing may be connecting.
  void close();
  // Hands a socket over, which does not block; -1 where there is none.
  int take(int rank, int channel);

 private:
  using Clock = std::chrono::steady_clock;
  int call(int rank, const Peer& peer, Clock::time_point end);
  void close_listening();
  void throw_if_interrupted() const;

  const int rank_, size_;
  int listening_ = -1;
  int wake_[2] = {-1, -1};
  uint16_t port_ = 0;
  // By channels, then ranks.
  std::vector<std::vector<int>> sockets_;
  std::atomic<bool> interrupted_{false};
};

}  // namespace eagre::distribute
