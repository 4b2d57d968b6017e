#include "mesh.h"

#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/reduce.h>
#include <gloo/transport/tcp/address.h>
#include <gloo/transport/tcp/device.h>

#include <cstring>

namespace eagre::distribute {
namespace {

// Gloo waits by a clock and knows no "for ever".
constexpr Milliseconds kForever = std::chrono::hours(24 * 365);
// Below this, one round of whole copies is faster than two rounds of parts.
constexpr size_t kSmall = 16384;

const char* const kKinds[] = {"nothing", "allReduce", "allGather", "broadcast", "reduce", "barrier"};
const char* const kElements[] = {"float32", "float64", "float16", "bfloat16", "int32", "int64", "bytes"};
const char* const kReductions[] = {"sum", "mean", "min", "max"};

// Gloo's options take the size of an element from a type.
template <class F> void with_size(size_t size, F&& f) {
  if (size == 8) f(uint64_t{});
  else if (size == 4) f(uint32_t{});
  else if (size == 2) f(uint16_t{});
  else f(uint8_t{});
}

}  // namespace

bool Layout::operator==(const Layout& o) const {
  return kind == o.kind && element == o.element && reduction == o.reduction && in_order == o.in_order && root == o.root &&
         tag == o.tag && count == o.count;
}

uint32_t Layout::hash() const {
  // FNV-1a over the fields.
  uint64_t h = 0xcbf29ce484222325u;
  const uint64_t fields[] = {static_cast<uint64_t>(kind), static_cast<uint64_t>(element), static_cast<uint64_t>(reduction),
                             in_order, static_cast<uint64_t>(root), tag, count};
  for (uint64_t field : fields) {
    for (int i = 0; i < 8; i++) h = (h ^ ((field >> (8 * i)) & 255)) * 0x100000001b3u;
  }
  return static_cast<uint32_t>(h ^ (h >> 32));
}

std::string Layout::text() const {
  std::string text = kKinds[static_cast<int>(kind)];
  if (kind == Kind::barrier) return text;
  text += std::string(" of ") + std::to_string(count) + " " + kElements[static_cast<int>(element)];
  if (kind == Kind::all_reduce || kind == Kind::reduce) text += std::string(" by ") + kReductions[static_cast<int>(reduction)];
  if (kind == Kind::broadcast) text += " from rank " + std::to_string(root);
  if (kind == Kind::reduce) text += " to rank " + std::to_string(root);
  return text;
}

// Gloo lets nobody else end a context; the method that does is protected.
struct Mesh::Transport : gloo::transport::tcp::Context {
  using Context::Context;
  using Context::signalException;
};

struct Mesh::Context : gloo::Context {
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

Mesh::Mesh(int rank, int size, const std::string& host, Milliseconds timeout)
    : context_(std::make_shared<Context>(rank, size, host, timeout)), peers_(size) {}
Mesh::~Mesh() = default;

std::vector<std::vector<char>> Mesh::addresses() const {
  std::vector<std::vector<char>> all(context_->size);
  for (int p = 0; p < context_->size; p++) if (p != context_->rank) all[p] = context_->getPair(p)->address().bytes();
  return all;
}

void Mesh::connect(const std::vector<std::vector<char>>& addresses) {
  for (int p = 0; p < context_->size; p++) {
    if (p == context_->rank) continue;
    peers_[p] = gloo::transport::tcp::Address(addresses[p]).str();
    context_->getPair(p)->connect(addresses[p]);
  }
}

int Mesh::rank_in(const std::string& message) const {
  for (size_t p = 0; p < peers_.size(); p++) {
    if (!peers_[p].empty() && message.find(peers_[p]) != std::string::npos) return static_cast<int>(p);
  }
  return -1;
}

void Mesh::abort(const std::string& reason) { context_->transport->signalException(reason); }

void Mesh::run(const Operation& op, uint64_t sequence) {
  // The tag tells neighbouring operations apart, and other layouts: these never meet, so they wait until somebody notices.
  const uint32_t tag = static_cast<uint32_t>(sequence & 255) << 24 | (op.layout.hash() & 0xffffff);
  const Milliseconds timeout = op.timeout.count() > 0 ? op.timeout : kForever;
  const size_t size = size_of(op.layout.element);
  auto* bytes = static_cast<char*>(op.data);
  if (op.layout.kind == Kind::barrier) {
    gloo::BarrierOptions options(context_);
    options.setTag(tag);
    options.setTimeout(timeout);
    gloo::barrier(options);
    return;
  }
  if (op.layout.count == 0) return;
  switch (op.layout.kind) {
    case Kind::all_reduce:
      all_reduce(op, tag, timeout);
      break;
    case Kind::all_gather:
      gather(op.data, op.out, op.counts, size, tag, timeout);
      break;
    case Kind::broadcast: {
      gloo::BroadcastOptions options(context_);
      options.setOutput(bytes, op.layout.count * size);
      options.setRoot(op.layout.root);
      options.setTag(tag);
      options.setTimeout(timeout);
      gloo::broadcast(options);
      break;
    }
    case Kind::reduce: {
      // Gloo uses the output of each rank as scratch memory.
      std::vector<char> result(op.layout.count * size);
      if (op.layout.in_order || is_16_bit(op.layout.element)) {
        Operation all = op;
        std::memcpy(result.data(), bytes, result.size());
        all.data = result.data();
        reduce_in_rank_order(all, tag, timeout);
      } else {
        with_size(size, [&](auto element) {
          using T = decltype(element);
          gloo::ReduceOptions options(context_);
          options.setInput(reinterpret_cast<T*>(bytes), op.layout.count);
          options.setOutput(reinterpret_cast<T*>(result.data()), op.layout.count);
          options.setRoot(op.layout.root);
          options.setReduceFunction(reducer_of(op.layout.element, op.layout.reduction));
          options.setTag(tag);
          options.setTimeout(timeout);
          gloo::reduce(options);
        });
        if (op.layout.reduction == Reduction::mean) divide(op.layout.element, result.data(), op.layout.count, context_->size);
      }
      if (context_->rank == op.layout.root) std::memcpy(bytes, result.data(), result.size());
      break;
    }
    default:
      break;
  }
}

void Mesh::all_reduce(const Operation& op, uint32_t tag, Milliseconds timeout) {
  if (op.layout.in_order || is_16_bit(op.layout.element)) return reduce_in_rank_order(op, tag, timeout);
  with_size(size_of(op.layout.element), [&](auto element) {
    using T = decltype(element);
    gloo::AllreduceOptions options(context_);
    options.setOutput(static_cast<T*>(op.data), op.layout.count);
    options.setReduceFunction(reducer_of(op.layout.element, op.layout.reduction));
    options.setTag(tag);
    options.setTimeout(timeout);
    gloo::allreduce(options);
  });
  if (op.layout.reduction == Reduction::mean) divide(op.layout.element, op.data, op.layout.count, context_->size);
}

// Each rank gets one part of the buffer from all, reduces it, and gives it to all: the bytes of a ring, in a fixed order of sums.
void Mesh::reduce_in_rank_order(const Operation& op, uint32_t tag, Milliseconds timeout) {
  const size_t ranks = context_->size, size = size_of(op.layout.element), count = op.layout.count;
  std::vector<const void*> parts(ranks);
  if (count * size * ranks <= kSmall || count < ranks) {
    std::vector<char> all(count * size * ranks);
    gather(op.data, all.data(), std::vector<size_t>(ranks, count), size, tag, timeout);
    for (size_t r = 0; r < ranks; r++) parts[r] = all.data() + r * count * size;
    return reduce_in_order(op.layout.element, op.layout.reduction, op.data, parts, count);
  }
  std::vector<size_t> counts(ranks);
  for (size_t r = 0; r < ranks; r++) counts[r] = count / ranks + (r < count % ranks ? 1 : 0);
  const size_t mine = counts[context_->rank];
  std::vector<char> all(mine * size * ranks), sum(mine * size);
  const auto start = std::chrono::steady_clock::now();
  with_size(size, [&](auto element) {
    using T = decltype(element);
    gloo::AlltoallvOptions options(context_);
    options.setInput(static_cast<T*>(op.data), std::vector<int64_t>(counts.begin(), counts.end()));
    options.setOutput(reinterpret_cast<T*>(all.data()), std::vector<int64_t>(ranks, static_cast<int64_t>(mine)));
    options.setTag(tag);
    options.setTimeout(timeout);
    gloo::alltoallv(options);
  });
  for (size_t r = 0; r < ranks; r++) parts[r] = all.data() + r * mine * size;
  reduce_in_order(op.layout.element, op.layout.reduction, sum.data(), parts, mine);
  const auto spent = std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - start);
  gather(sum.data(), op.data, counts, size, tag, spent < timeout ? timeout - spent : Milliseconds(1));
}

void Mesh::gather(void* in, void* out, const std::vector<size_t>& counts, size_t size, uint32_t tag, Milliseconds timeout) {
  with_size(size, [&](auto element) {
    using T = decltype(element);
    gloo::AllgathervOptions options(context_);
    options.setInput(static_cast<T*>(in), counts[context_->rank]);
    options.setOutput(static_cast<T*>(out), counts);
    options.setTag(tag);
    options.setTimeout(timeout);
    gloo::allgatherv(options);
  });
}

}  // namespace eagre::distribute
