#include "links.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace eagre::distribute {
namespace {

using Milliseconds = std::chrono::milliseconds;

// The first bytes on a connection.
struct Hello {
  uint64_t key;
  int32_t rank, channel;
};

// So many strangers, beside those who may come, are heard at once; the one that has been there longest makes room.
constexpr size_t kStrangers = 64;

std::string with_reason(const std::string& what) { return what + ": " + std::strerror(errno); }
[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(with_reason(what)); }

// A socket of the first address of `host` that `use` accepts.
template <class F> int with_address(const std::string& host, uint16_t port, bool passive, F&& use) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  if (passive) hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) throw std::runtime_error(std::string("the name has no address: ") + gai_strerror(code));
  int fd = -1, error = 0;
  for (addrinfo* a = found; a != nullptr && fd < 0; a = a->ai_next) {
    fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && !use(fd, a)) {
      error = errno;
      ::close(fd);
      fd = -1;
    } else if (fd < 0) {
      error = errno;
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

int milliseconds_until(std::chrono::steady_clock::time_point when) {
  const auto left = std::chrono::duration_cast<Milliseconds>(when - std::chrono::steady_clock::now()).count();
  return left < 0 ? 0 : static_cast<int>(left < 100000 ? left : 100000);
}

std::string name(int rank) { return "rank " + std::to_string(rank); }

// Those who have called, and not said yet who they are.
struct Callers {
  std::vector<std::pair<int, std::string>> list;
  ~Callers() { for (auto& caller : list) ::close(caller.first); }
  void erase(size_t i) { list.erase(list.begin() + static_cast<std::ptrdiff_t>(i)); }
};

}  // namespace

Links::Links(int rank, int size, const std::string& host) : rank_(rank), size_(size) {
  if (pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0) fail("pipe");
  try {
    listening_ = with_address(host, 0, true, [&](int fd, addrinfo* a) {
      return bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0;
    });
    if (listening_ < 0) throw std::runtime_error(errno == EADDRNOTAVAIL ? "that is no address of this machine" : std::strerror(errno));
  } catch (...) {
    for (int fd : wake_) ::close(fd);
    throw;
  }
  fcntl(listening_, F_SETFL, fcntl(listening_, F_GETFL) | O_NONBLOCK);
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &length);
  port_ = ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                              : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

Links::~Links() {
  close();
  for (int fd : wake_) ::close(fd);
}

void Links::close() {
  for (auto& channel : sockets_) for (int fd : channel) if (fd >= 0) ::close(fd);
  sockets_.clear();
  close_listening();
}

void Links::close_listening() {
  if (listening_ >= 0) ::close(listening_);
  listening_ = -1;
}

void Links::throw_if_interrupted() const {
  if (interrupted_) throw std::runtime_error("the engine was closed");
}

int Links::call(int rank, const Peer& peer, Clock::time_point end) {
  const int fd = with_address(peer.host, peer.port, false, [&](int fd, addrinfo* a) {
    set_up(fd);
    if (::connect(fd, a->ai_addr, a->ai_addrlen) == 0) return true;
    if (errno != EINPROGRESS) return false;
    pollfd waiting[] = {{fd, POLLOUT, 0}, {wake_[0], POLLIN, 0}};
    int error = ETIMEDOUT;
    while (!interrupted_ && milliseconds_until(end) > 0) {
      if (poll(waiting, 2, milliseconds_until(end)) <= 0 || waiting[0].revents == 0) continue;
      socklen_t length = sizeof error;
      getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
      break;
    }
    errno = error;
    return error == 0;
  });
  throw_if_interrupted();
  if (fd < 0) fail(name(rank) + " cannot be reached");
  return fd;
}

// A rank calls those before it, and is called by those behind it.
void Links::connect(const std::vector<Peer>& peers, uint64_t key, int channels, Milliseconds timeout) {
  const auto end = Clock::now() + timeout;
  sockets_.assign(channels, std::vector<int>(size_, -1));
  for (int p = 0; p < rank_; p++) {
    for (int channel = 0; channel < channels; channel++) {
      const int fd = sockets_[channel][p] = call(p, peers[p], end);
      const Hello hello{key, rank_, channel};
      if (send(fd, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) fail(name(p) + " cannot be reached");
    }
  }
  // Strangers may call too, so hellos are awaited side by side.
  Callers callers;
  auto& list = callers.list;
  const size_t most = kStrangers + static_cast<size_t>(channels) * size_;
  for (;;) {
    int missing = -1;
    for (auto& channel : sockets_) for (int p = size_ - 1; p > rank_; p--) if (channel[p] < 0) missing = p;
    throw_if_interrupted();
    if (missing < 0) break;
    std::vector<pollfd> waiting{{listening_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    for (auto& caller : list) waiting.push_back({caller.first, POLLIN, 0});
    if (milliseconds_until(end) == 0 || poll(waiting.data(), waiting.size(), milliseconds_until(end)) == 0) {
      errno = ETIMEDOUT;
      fail(name(missing) + " did not come");
    }
    for (size_t i = list.size(); i-- > 0;) {
      if (waiting[i + 2].revents == 0) continue;
      auto& [fd, text] = list[i];
      char bytes[sizeof(Hello)];
      const ssize_t n = recv(fd, bytes, sizeof(Hello) - text.size(), 0);
      if (n > 0) text.append(bytes, n);
      else if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (n > 0 && text.size() < sizeof(Hello)) continue;
      Hello hello{};
      if (text.size() == sizeof hello) std::memcpy(&hello, text.data(), sizeof hello);
      const bool is_known = text.size() == sizeof hello && hello.key == key && hello.rank > rank_ && hello.rank < size_ && hello.channel >= 0 &&
                            hello.channel < channels && sockets_[hello.channel][hello.rank] < 0;
      if (is_known) sockets_[hello.channel][hello.rank] = fd;
      else ::close(fd);
      callers.erase(i);
    }
    if (waiting[0].revents == 0) continue;
    const int fd = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && errno != EMFILE && errno != ENFILE) continue;
    if (!list.empty() && (fd < 0 || list.size() >= most)) {
      ::close(list.front().first);
      callers.erase(0);
    }
    if (fd < 0) continue;
    set_up(fd);
    list.emplace_back(fd, "");
  }
  close_listening();
}

void Links::interrupt() {
  interrupted_ = true;
  const char byte = 0;
  if (write(wake_[1], &byte, 1) < 0) return;  // full: it is awake
}

int Links::take(int rank, int channel) {
  return channel < static_cast<int>(sockets_.size()) ? std::exchange(sockets_[channel][rank], -1) : -1;
}

}  // namespace eagre::distribute
