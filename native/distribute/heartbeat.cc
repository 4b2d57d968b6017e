#include "heartbeat.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
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

// The first bytes on a connection.
struct Hello {
  uint64_t key;
  int64_t rank;
};

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

// A socket of the first address of `host` that `use` accepts.
template <class F> int with_address(const std::string& host, uint16_t port, bool passive, F&& use) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  if (passive) hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) throw std::runtime_error("cannot find the address of " + host + ": " + gai_strerror(code));
  int fd = -1, error = 0;
  for (addrinfo* a = found; a != nullptr && fd < 0; a = a->ai_next) {
    fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && !use(fd, a)) {
      error = errno;
      close(fd);
      fd = -1;
    }
  }
  freeaddrinfo(found);
  errno = error;
  return fd;
}

void set_up(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int milliseconds_until(Clock::time_point when) {
  const auto left = std::chrono::duration_cast<Milliseconds>(when - Clock::now()).count();
  return left < 0 ? 0 : static_cast<int>(left < 100000 ? left : 100000);
}

}  // namespace

Heartbeat::Heartbeat(int rank, int size, const std::string& host) : rank_(rank), size_(size), links_(size) {
  if (pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0) fail("pipe");
  listening_ = with_address(host, 0, true, [&](int fd, addrinfo* a) {
    return bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, size) == 0;
  });
  if (listening_ < 0) fail("cannot listen at " + host);
  fcntl(listening_, F_SETFL, fcntl(listening_, F_GETFL) | O_NONBLOCK);
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &length);
  port_ = ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                              : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

Heartbeat::~Heartbeat() {
  stop();
  close_all();
  for (int fd : wake_) if (fd >= 0) close(fd);
}

void Heartbeat::close_all() {
  for (Link& link : links_) {
    if (link.fd >= 0) close(link.fd);
    link.fd = -1;
  }
  if (listening_ >= 0) close(listening_);
  listening_ = -1;
}

// A rank calls those before it, and is called by those behind it.
void Heartbeat::connect(const std::vector<Peer>& peers, uint64_t key, Milliseconds timeout) {
  key_ = key;
  const auto end = Clock::now() + timeout;
  for (int p = 0; p < rank_; p++) {
    const int fd = with_address(peers[p].host, peers[p].port, false, [&](int fd, addrinfo* a) {
      set_up(fd);
      if (::connect(fd, a->ai_addr, a->ai_addrlen) == 0) return true;
      if (errno != EINPROGRESS) return false;
      pollfd waiting{fd, POLLOUT, 0};
      int error = ETIMEDOUT;
      socklen_t length = sizeof error;
      if (poll(&waiting, 1, milliseconds_until(end)) > 0) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
      errno = error;
      return error == 0;
    });
    if (fd < 0) fail("rank " + std::to_string(p) + " cannot be reached");
    links_[p].fd = fd;
    const Hello hello{key_, rank_};
    if (send(fd, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) fail("rank " + std::to_string(p) + " cannot be reached");
  }
  // Strangers may call too, so hellos are awaited side by side.
  std::vector<std::pair<int, std::string>> callers;
  const auto close_callers = [&] { for (auto& caller : callers) close(caller.first); };
  for (;;) {
    int missing = -1;
    for (int p = size_ - 1; p > rank_; p--) if (links_[p].fd < 0) missing = p;
    if (missing < 0 || stopping_) break;
    std::vector<pollfd> waiting{{listening_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    for (auto& caller : callers) waiting.push_back({caller.first, POLLIN, 0});
    if (milliseconds_until(end) == 0 || poll(waiting.data(), waiting.size(), milliseconds_until(end)) == 0) {
      close_callers();
      errno = ETIMEDOUT;
      fail("rank " + std::to_string(missing) + " did not come");
    }
    for (size_t i = callers.size(); i-- > 0;) {
      if (waiting[i + 2].revents == 0) continue;
      auto& [fd, text] = callers[i];
      char bytes[sizeof(Hello)];
      const ssize_t n = recv(fd, bytes, sizeof(Hello) - text.size(), 0);
      if (n > 0) text.append(bytes, n);
      else if (errno == EAGAIN && n < 0) continue;
      if (n > 0 && text.size() < sizeof(Hello)) continue;
      Hello hello{};
      if (text.size() == sizeof hello) std::memcpy(&hello, text.data(), sizeof hello);
      const bool known = hello.key == key_ && hello.rank > rank_ && hello.rank < size_ && links_[hello.rank].fd < 0;
      if (known) links_[hello.rank].fd = fd;
      else close(fd);
      callers.erase(callers.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (waiting[0].revents != 0) {
      const int fd = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd >= 0) {
        set_up(fd);
        callers.emplace_back(fd, "");
      }
    }
  }
  close_callers();
  close(listening_);
  listening_ = -1;
  if (stopping_) throw std::runtime_error("the engine was closed");
}

void Heartbeat::start(Listener* listener, Milliseconds interval, Milliseconds silence) {
  listener_ = listener;
  interval_ = interval;
  silence_ = silence;
  for (Link& link : links_) link.heard = Clock::now();
  thread_ = std::thread([this] { run(); });
}

void Heartbeat::wake() {
  const char byte = 0;
  if (write(wake_[1], &byte, 1) < 0) return;  // full: it is awake
}

void Heartbeat::interrupt() {
  stopping_ = true;
  wake();
}

void Heartbeat::stop() {
  interrupt();
  if (thread_.joinable()) thread_.join();
}

void Heartbeat::run() {
  auto next = Clock::now();
  while (!stopping_) {
    std::vector<pollfd> waiting{{wake_[0], POLLIN, 0}};
    std::vector<int> ranks;
    for (int p = 0; p < size_; p++) {
      if (links_[p].fd < 0) continue;
      waiting.push_back({links_[p].fd, POLLIN, 0});
      ranks.push_back(p);
    }
    poll(waiting.data(), waiting.size(), milliseconds_until(next));
    for (size_t i = 0; i < ranks.size(); i++) if (waiting[i + 1].revents != 0) receive(ranks[i]);
    if (waiting[0].revents != 0) {
      char bytes[64];
      while (read(wake_[0], bytes, sizeof bytes) > 0) continue;
      send_all();
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
      link.heard = Clock::now();
      link.silent = false;
      link.left = beat.left != 0;
      listener_->on_beat(rank, beat);
    }
    link.received.erase(0, used);
  }
}

}  // namespace eagre::distribute
