#include "gloo_mesh.h"

#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/context.h>
#include <gloo/reduce.h>
#include <gloo/transport/tcp/address.h>
#include <gloo/transport/tcp/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/tcp/pair.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

namespace eagre::distribute {
namespace {

// Gloo waits by a clock and knows no "for ever".
constexpr Milliseconds kForever = std::chrono::hours(24 * 365);

// Gloo's options take the size of an element from a type.
template <class F> void with_size(size_t size, F&& f) {
  if (size == 8) f(uint64_t{});
  else if (size == 4) f(uint32_t{});
  else if (size == 2) f(uint16_t{});
  else f(uint8_t{});
}

}  // namespace

// A pair that begins with a socket that is connected. Gloo's constructor listens, on loopback, for the moment until this one ends.
struct GlooMesh::Pair : gloo::transport::tcp::Pair {
  Pair(gloo::transport::tcp::Context* context, gloo::transport::tcp::Device* device, int rank, Milliseconds timeout)
      : gloo::transport::tcp::Pair(context, device, rank, timeout) {
    std::lock_guard<std::mutex> lock(m_);
    if (fd_ >= 0) {
      device_->unregisterDescriptor(fd_, this);
      ::close(fd_);
      fd_ = -1;
    }
    state_ = INITIALIZING;
    ex_ = nullptr;
  }
  // Its name in messages.
  std::string take(int socket) {
    std::lock_guard<std::mutex> lock(m_);
    fd_ = socket;
    self_ = gloo::transport::tcp::Address::fromSockName(socket);
    peer_ = gloo::transport::tcp::Address::fromPeerName(socket);
    changeState(CONNECTED);
    device_->registerDescriptor(fd_, EPOLLIN, this);
    return peer_.str();
  }
};

// Gloo lets nobody else end a context; the method that does is protected.
struct GlooMesh::Transport : gloo::transport::tcp::Context {
  using Context::Context;
  using Context::signalException;
  std::unique_ptr<gloo::transport::Pair>& createPair(int rank) override {
    pairs_[rank] = std::make_unique<GlooMesh::Pair>(this, device_.get(), rank, getTimeout());
    return pairs_[rank];
  }
};

struct GlooMesh::Context : gloo::Context {
  Context(int rank, int size, Milliseconds timeout) : gloo::Context(rank, size) {
    gloo::transport::tcp::attr attr;
    attr.hostname = "127.0.0.1";
    device_ = gloo::transport::tcp::CreateDevice(attr);
    transport = std::make_shared<Transport>(std::dynamic_pointer_cast<gloo::transport::tcp::Device>(device_), rank, size);
    transportContext_ = transport;
    // Pairs take it over when they are made.
    setTimeout(timeout);
    transport->setTimeout(timeout);
    for (int p = 0; p < size; p++) if (p != rank) transport->createPair(p);
  }
  std::shared_ptr<Transport> transport;
};

GlooMesh::GlooMesh(int rank, int size, Milliseconds timeout)
    : MessageMesh(rank, size), context_(std::make_shared<Context>(rank, size, timeout)), peers_(size) {}
GlooMesh::~GlooMesh() = default;

void GlooMesh::take(int rank, int, int socket) { peers_[rank] = static_cast<Pair&>(*context_->getPair(rank)).take(socket); }

// Gloo tells a place in its sources, and addresses.
std::string GlooMesh::plain(const std::string& message) const {
  for (const char* known : {"Connection closed by peer", "Connection reset by peer", "Broken pipe", "Connection timed out", "No route to host",
                            "Network is unreachable", "Network is down", "Timed out"}) {
    if (message.find(known) == std::string::npos) continue;
    std::string text = known;
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
  }
  return "its connection failed";
}

int GlooMesh::rank_in(const std::string& message) const {
  for (size_t p = 0; p < peers_.size(); p++) {
    const size_t at = peers_[p].empty() ? std::string::npos : message.find(peers_[p]);
    if (at == std::string::npos) continue;
    // Not a longer port.
    const size_t end = at + peers_[p].size();
    if (end == message.size() || !std::isdigit(static_cast<unsigned char>(message[end]))) return static_cast<int>(p);
  }
  return -1;
}

void GlooMesh::abort(const std::string& reason) { context_->transport->signalException(reason); }

// Operations of other tags never meet, so they wait until somebody notices.
template <class Options> void GlooMesh::set_call(Options& options, const Call& call) const {
  options.setTag(call.tag);
  options.setTimeout(call.deadline == Clock::time_point::max()
                         ? kForever
                         : std::max(Milliseconds(1), std::chrono::duration_cast<Milliseconds>(call.deadline - Clock::now())));
}

void GlooMesh::barrier(const Call& call) {
  gloo::BarrierOptions options(context_);
  set_call(options, call);
  gloo::barrier(options);
}

void GlooMesh::broadcast(void* data, size_t bytes, int root, const Call& call) {
  gloo::BroadcastOptions options(context_);
  options.setOutput(static_cast<char*>(data), bytes);
  options.setRoot(root);
  set_call(options, call);
  gloo::broadcast(options);
}

void GlooMesh::combine(Element element, Reduction reduction, void* data, size_t count, const Call& call) {
  with_size(size_of(element), [&](auto unit) {
    using T = decltype(unit);
    gloo::AllreduceOptions options(context_);
    options.setOutput(static_cast<T*>(data), count);
    options.setReduceFunction(reducer_of(element, reduction));
    set_call(options, call);
    gloo::allreduce(options);
  });
}

// Gloo uses the output of each rank as scratch memory.
void GlooMesh::combine_at(int root, Element element, Reduction reduction, void* in, void* out, size_t count, const Call& call) {
  with_size(size_of(element), [&](auto unit) {
    using T = decltype(unit);
    gloo::ReduceOptions options(context_);
    options.setInput(static_cast<T*>(in), count);
    options.setOutput(static_cast<T*>(out), count);
    options.setRoot(root);
    options.setReduceFunction(reducer_of(element, reduction));
    set_call(options, call);
    gloo::reduce(options);
  });
}

void GlooMesh::gather(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) {
  with_size(size, [&](auto unit) {
    using T = decltype(unit);
    gloo::AllgathervOptions options(context_);
    options.setInput(static_cast<T*>(in), counts[rank_]);
    options.setOutput(static_cast<T*>(out), counts);
    set_call(options, call);
    gloo::allgatherv(options);
  });
}

void GlooMesh::exchange(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) {
  with_size(size, [&](auto unit) {
    using T = decltype(unit);
    gloo::AlltoallvOptions options(context_);
    options.setInput(static_cast<T*>(in), std::vector<int64_t>(counts.begin(), counts.end()));
    options.setOutput(static_cast<T*>(out), std::vector<int64_t>(size_, static_cast<int64_t>(counts[rank_])));
    set_call(options, call);
    gloo::alltoallv(options);
  });
}

}  // namespace eagre::distribute
