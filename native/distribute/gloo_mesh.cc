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

#include <algorithm>

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

// Gloo lets nobody else end a context; the method that does is protected.
struct GlooMesh::Transport : gloo::transport::tcp::Context {
  using Context::Context;
  using Context::signalException;
};

struct GlooMesh::Context : gloo::Context {
  Context(int rank, int size, const std::string& host, Milliseconds timeout) : gloo::Context(rank, size) {
    gloo::transport::tcp::attr attr;
    attr.hostname = host;
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

GlooMesh::GlooMesh(int rank, int size, const std::string& host, Milliseconds timeout)
    : MessageMesh(rank, size), context_(std::make_shared<Context>(rank, size, host, timeout)), peers_(size) {}
GlooMesh::~GlooMesh() = default;

std::vector<std::vector<char>> GlooMesh::addresses() const {
  std::vector<std::vector<char>> all(size_);
  for (int p = 0; p < size_; p++) if (p != rank_) all[p] = context_->getPair(p)->address().bytes();
  return all;
}

void GlooMesh::connect(const std::vector<std::vector<char>>& addresses) {
  for (int p = 0; p < size_; p++) {
    if (p == rank_) continue;
    peers_[p] = gloo::transport::tcp::Address(addresses[p]).str();
    context_->getPair(p)->connect(addresses[p]);
  }
}

int GlooMesh::rank_in(const std::string& message) const {
  for (size_t p = 0; p < peers_.size(); p++) {
    if (!peers_[p].empty() && message.find(peers_[p]) != std::string::npos) return static_cast<int>(p);
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
