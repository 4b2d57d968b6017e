#include "mesh.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace eagre::distribute {
namespace {

// Below this, one round of whole copies is faster than two rounds of parts.
constexpr size_t kSmall = 16384;
// So often a library is asked again at once; then other threads come first, and after a millisecond the core sleeps in between.
constexpr int kSpins = 200;
constexpr auto kBusy = std::chrono::milliseconds(1);
constexpr auto kNap = std::chrono::microseconds(50);

const char* const kKinds[] = {"nothing", "allReduce", "allGather", "broadcast", "reduce", "barrier"};
const char* const kElements[] = {"float32", "float64", "float16", "bfloat16", "int32", "int64", "bytes"};
const char* const kReductions[] = {"sum", "mean", "min", "max"};

}  // namespace

bool Layout::operator==(const Layout& o) const {
  return kind == o.kind && element == o.element && reduction == o.reduction && in_order == o.in_order && on_gpu == o.on_gpu &&
         root == o.root && tag == o.tag && count == o.count;
}

uint32_t Layout::hash() const {
  // FNV-1a over the fields.
  uint64_t h = 0xcbf29ce484222325u;
  const uint64_t fields[] = {static_cast<uint64_t>(kind), static_cast<uint64_t>(element), static_cast<uint64_t>(reduction),
                             in_order, on_gpu, static_cast<uint64_t>(root), tag, count};
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
  if (on_gpu) text += " in memory of the GPU";
  return text;
}

void Mesh::run(const Operation& op, uint64_t sequence) {
  const Layout& layout = op.layout;
  const Call call{static_cast<uint32_t>(sequence & 255) << 24 | (layout.hash() & 0xffffff),
                  op.timeout.count() > 0 ? Clock::now() + op.timeout : Clock::time_point::max()};
  agree(layout, sequence, call);
  if (layout.kind == Kind::barrier) return barrier(call);
  if (layout.count == 0) return;
  if (layout.on_gpu) return run_on_gpu(op, call);
  const size_t size = size_of(layout.element);
  switch (layout.kind) {
    case Kind::all_reduce: return all_reduce(layout, op.data, call);
    case Kind::all_gather: return gather(op.data, op.out, op.counts, size, call);
    case Kind::broadcast: return broadcast(op.data, layout.count * size, layout.root, call);
    case Kind::reduce: {
      std::vector<char> result(layout.count * size);
      reduce(layout, op.data, result.data(), call);
      if (rank_ == layout.root) std::memcpy(op.data, result.data(), result.size());
      return;
    }
    default: return;
  }
}

void Mesh::run_on_gpu(const Operation&, const Call&) { throw std::runtime_error("only NCCL takes memory of a GPU"); }

void MessageMesh::all_reduce(const Layout& layout, void* data, const Call& call) {
  if (layout.in_order || !combines(layout.element, layout.reduction)) return reduce_in_rank_order(layout, data, call);
  combine(layout.element, layout.reduction, data, layout.count, call);
  if (layout.reduction == Reduction::mean) divide(layout.element, data, layout.count, size_);
}

void MessageMesh::reduce(const Layout& layout, void* in, void* out, const Call& call) {
  if (layout.in_order || !combines(layout.element, layout.reduction)) {
    std::memcpy(out, in, layout.count * size_of(layout.element));
    return reduce_in_rank_order(layout, out, call);
  }
  combine_at(layout.root, layout.element, layout.reduction, in, out, layout.count, call);
  if (layout.reduction == Reduction::mean) divide(layout.element, out, layout.count, size_);
}

// Each rank gets one part of the buffer from all, reduces it, and gives it to all: the bytes of a ring, in a fixed order of sums.
void MessageMesh::reduce_in_rank_order(const Layout& layout, void* data, const Call& call) {
  const size_t ranks = size_, size = size_of(layout.element), count = layout.count;
  std::vector<const void*> parts(ranks);
  if (count * size * ranks <= kSmall || count < ranks) {
    std::vector<char> all(count * size * ranks);
    gather(data, all.data(), std::vector<size_t>(ranks, count), size, call);
    for (size_t r = 0; r < ranks; r++) parts[r] = all.data() + r * count * size;
    return reduce_in_order(layout.element, layout.reduction, data, parts, count);
  }
  std::vector<size_t> counts(ranks);
  for (size_t r = 0; r < ranks; r++) counts[r] = count / ranks + (r < count % ranks ? 1 : 0);
  const size_t mine = counts[rank_];
  std::vector<char> all(mine * size * ranks), sum(mine * size);
  exchange(data, all.data(), counts, size, call);
  for (size_t r = 0; r < ranks; r++) parts[r] = all.data() + r * mine * size;
  reduce_in_order(layout.element, layout.reduction, sum.data(), parts, mine);
  gather(sum.data(), data, counts, size, call);
}

void PolledMesh::give_up(const std::string& reason) {
  abort(reason);
  break_off();
  throw std::runtime_error(reason);
}

void PolledMesh::look_up(int spins, Clock::time_point start, const char* what, const Call& call) {
  if (ending_) {
    break_off();
    ending_.throw_if_ended();
  }
  if (spins < kSpins) return;
  const auto now = Clock::now();
  if (now >= call.deadline) give_up(std::string(what) + " timed out");
  if (now - start < kBusy) std::this_thread::yield();
  else std::this_thread::sleep_for(kNap);
}

void PolledMesh::agree(const Layout& layout, uint64_t sequence, const Call& call) {
  ending_.throw_if_ended();
  Mark mark(layout, sequence);
  std::vector<Mark> all(size_);
  gather(&mark, all.data(), std::vector<size_t>(size_, sizeof mark), 1, call);
  if (std::all_of(all.begin(), all.end(), [&](const Mark& other) { return other == mark; })) return;
  // The heartbeat tells what the others do, and ends the mesh for it.
  while (Clock::now() < call.deadline) {
    ending_.throw_if_ended();
    std::this_thread::sleep_for(kBusy);
  }
  give_up("the processes do different things");
}

}  // namespace eagre::distribute
