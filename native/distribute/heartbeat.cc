#include "heartbeat.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace eagre::distribute {
namespace {

using Clock = std::chrono::steady_clock;
static_assert(std::is_trivially_copyable<Beat>::value, "beats are sent as bytes");

int milliseconds_until(Clock::time_point when) {
  const auto left = std::chrono::duration_cast<Milliseconds>(when - Clock::now()).count();
  return left < 0 ? 0 : static_cast<int>(left < 100000 ? left : 100000);
}

}  // namespace

Heartbeat::Heartbeat(int rank, int size) : rank_(rank), size_(size), links_(size) {
  if (pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
}

Heartbeat::~Heartbeat() {
  stop();
  for (int fd : wake_) close(fd);
}

void Heartbeat::start(Listener* listener, const std::vector<int>& sockets, uint64_t key, Milliseconds interval, Milliseconds silence) {
  listener_ = listener;
  key_ = key;
  interval_ = interval;
  silence_ = silence;
  for (int p = 0; p < size_; p++) {
    links_[p].fd = sockets[p];
    links_[p].heard = Clock::now();
  }
  running_ = true;
  thread_ = std::thread([this] { run(); });
}

void Heartbeat::wake() {
  const char byte = 0;
  if (write(wake_[1], &byte, 1) < 0) return;  // full: it is awake
}

void Heartbeat::tell() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!running_) return;
  if (std::this_thread::get_id() == id_) {
    lock.unlock();
    return send_all();
  }
  const uint64_t turn = ++asked_;
  wake();
  changed_.wait(lock, [&] { return told_ >= turn || !running_; });
}

void Heartbeat::stop() {
  stopping_ = true;
  wake();
  if (thread_.joinable()) thread_.join();
  for (Link& link : links_) {
    if (link.fd >= 0) close(link.fd);
    link.fd = -1;
  }
}

void Heartbeat::run() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    id_ = std::this_thread::get_id();
  }
  auto next = Clock::now();
  while (!stopping_) {
    // Before it looks: what had come when somebody asked is heard in this turn.
    uint64_t turn;
    bool is_asked;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      turn = asked_;
      is_asked = turn > told_;
    }
    std::vector<pollfd> waiting{{wake_[0], POLLIN, 0}};
    std::vector<int> ranks;
    for (int p = 0; p < size_; p++) {
      if (links_[p].fd < 0) continue;
      waiting.push_back({links_[p].fd, POLLIN, 0});
      ranks.push_back(p);
    }
    poll(waiting.data(), waiting.size(), is_asked ? 0 : milliseconds_until(next));
    for (size_t i = 0; i < ranks.size(); i++) if (waiting[i + 1].revents != 0) receive(ranks[i]);
    if (waiting[0].revents != 0) {
      char bytes[64];
      while (read(wake_[0], bytes, sizeof bytes) > 0) continue;
    }
    if (waiting[0].revents != 0 || is_asked) send_all();
    if (is_asked) {
      std::lock_guard<std::mutex> lock(mutex_);
      told_ = turn;
      changed_.notify_all();
    }
    const auto now = Clock::now();
    for (int p = 0; p < size_; p++) {
      Link& link = links_[p];
      const auto silence = std::chrono::duration_cast<Milliseconds>(now - link.heard);
      if (link.fd < 0 || link.silent || silence < silence_) continue;
      link.silent = true;
      listener_->on_silent(p, silence);
    }
    if (now < next) continue;
    send_all();
    next = now + interval_;
  }
  send_all();
  std::lock_guard<std::mutex> lock(mutex_);
  running_ = false;
  changed_.notify_all();
}

void Heartbeat::send_all() {
  Beat beat = listener_->own_beat();
  beat.key = key_;
  beat.rank = rank_;
  for (int p = 0; p < size_; p++) {
    Link& link = links_[p];
    if (link.fd < 0) continue;
    // Whoever does not read gets the newest only; half a beat must be finished first.
    if (link.unsent.size() < sizeof beat) link.unsent.append(reinterpret_cast<const char*>(&beat), sizeof beat);
    const ssize_t n = send(link.fd, link.unsent.data(), link.unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) link.unsent.erase(0, static_cast<size_t>(n));
    // A closed connection is noticed when it is read, behind the last beat.
  }
}

void Heartbeat::receive(int rank) {
  Link& link = links_[rank];
  char bytes[4096];
  for (;;) {
    const ssize_t n = recv(link.fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (n <= 0) {
      const bool left = link.left;
      close(link.fd);
      link.fd = -1;
      if (!left) listener_->on_lost(rank);
      return;
    }
    link.received.append(bytes, static_cast<size_t>(n));
    size_t used = 0;
    for (; link.received.size() - used >= sizeof(Beat); used += sizeof(Beat)) {
      Beat beat;
      std::memcpy(&beat, link.received.data() + used, sizeof beat);
      if (beat.key != key_ || beat.rank != rank) {
        close(link.fd);
        link.fd = -1;
        listener_->on_lost(rank);
        return;
      }
      beat.message[sizeof beat.message - 1] = 0;
      beat.about[sizeof beat.about - 1] = 0;
      link.heard = Clock::now();
      link.silent = false;
      link.left = beat.left != 0;
      listener_->on_beat(rank, beat);
    }
    link.received.erase(0, used);
  }
}

}  // namespace eagre::distribute
