#include "nccl_mesh.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace eagre::distribute {
namespace {

using cuda::kNcclInProgress;
using cuda::kNcclSuccess;

// Of each of a slot's buffers. The bus needs some ten microseconds for a copy, whatever its size: a piece takes longer.
constexpr size_t kPiece = size_t(4) << 20;
// How long the GPU may take to give up what was broken off, and to end what all have.
constexpr auto kBreak = std::chrono::seconds(5);
constexpr auto kFarewell = std::chrono::seconds(2);

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

int type_of(Element element) {
  switch (element) {
    case Element::f32: return cuda::kNcclFloat32;
    case Element::f64: return cuda::kNcclFloat64;
    case Element::i32: return cuda::kNcclInt32;
    case Element::i64: return cuda::kNcclInt64;
    default: return cuda::kNcclUint8;
  }
}

// A mean is a sum here.
int op_of(Reduction reduction) { return reduction == Reduction::min ? cuda::kNcclMin : reduction == Reduction::max ? cuda::kNcclMax : cuda::kNcclSum; }

char* at(void* memory, size_t offset) { return static_cast<char*>(memory) + offset; }
void* pointer(cuda::CUdeviceptr memory) { return reinterpret_cast<void*>(memory); }

// The bytes of a part of `total` that lie in a piece.
size_t length_of(size_t total, size_t piece, size_t each) { return std::min(each, total - std::min(total, piece * each)); }
size_t pieces_of(size_t total, size_t each) { return (total + each - 1) / each; }

// Parts of one exchange: `give` and `take` are the bytes for and from each rank, which lie `each` apart. 0 bytes are not sent.
int send_and_receive(const cuda::Nccl& nccl, void* in, void* out, const std::vector<size_t>& give, const std::vector<size_t>& take, size_t each_in, size_t each_out, int self,
             cuda::NcclComm comm, cuda::CUstream stream) {
  int code = nccl.GroupStart();
  for (int r = 0; r < static_cast<int>(give.size()); r++) {
    if (r == self) continue;
    if (give[r] > 0 && !cuda::Nccl::is_error(code)) code = nccl.Send(at(in, r * each_in), give[r], cuda::kNcclUint8, r, comm, stream);
    if (take[r] > 0 && !cuda::Nccl::is_error(code)) code = nccl.Recv(at(out, r * each_out), take[r], cuda::kNcclUint8, r, comm, stream);
  }
  const int end = nccl.GroupEnd();
  return cuda::Nccl::is_error(code) ? code : end;
}

const cuda::Nccl& open_nccl() {
  try {
    return cuda::Nccl::get();
  } catch (const cuda::Failure& failure) {
    throw SetupError(true, failure.what());
  }
}

std::shared_ptr<const cuda::Driver> open_driver() {
  const std::string file = setting("EAGRE_CUDA_DRIVER", "libcuda.so.1");
  try {
    return cuda::Driver::open(file);
  } catch (const cuda::Failure& failure) {
    throw SetupError(true, std::string("NCCL needs the driver of NVIDIA, which cannot be used (") + failure.what() +
                               "): install it, or name its libcuda.so.1 in EAGRE_CUDA_DRIVER");
  }
}

std::vector<std::string> gpus_of(const cuda::Driver& driver) {
  std::vector<std::string> gpus;
  try {
    for (int i = 0, count = driver.devices(); i < count; i++) {
      cuda::CUdevice device = 0;
      driver.check(driver.cuDeviceGet(&device, i), "cuDeviceGet");
      char place[64] = "";
      driver.check(driver.cuDeviceGetPCIBusId(place, sizeof place, device), "cuDeviceGetPCIBusId");
      gpus.emplace_back(place);
    }
  } catch (const cuda::Failure& failure) {
    throw SetupError(true, std::string("NCCL needs a GPU, but the driver has an error: ") + failure.what());
  }
  if (gpus.empty()) throw SetupError(true, "NCCL needs a GPU, but the driver finds none (CUDA_VISIBLE_DEVICES says which a process sees)");
  return gpus;
}

}  // namespace

NcclMesh::NcclMesh(int rank, int size, Milliseconds timeout)
    : PolledMesh(rank, size), driver_(open_driver()), nccl_(open_nccl()), timeout_(timeout), gpus_(gpus_of(*driver_)) {
  if (rank != 0) return;
  id_.resize(sizeof(cuda::NcclId));
  cuda::NcclId id{};
  const int code = nccl_.GetUniqueId(&id);
  if (code != kNcclSuccess) throw SetupError(false, "NCCL cannot begin: ncclGetUniqueId: " + nccl_.text_of(code, nullptr));
  std::memcpy(id_.data(), id.bytes, sizeof(cuda::NcclId));
}

NcclMesh::~NcclMesh() {
  finish();
  close_gpu();
}

std::vector<std::vector<char>> NcclMesh::addresses() const {
  std::vector<std::vector<char>> all(size_, id_);
  all[rank_].clear();
  return all;
}

std::string NcclMesh::gpus() const {
  std::string all;
  for (const std::string& gpu : gpus_) all += (all.empty() ? "" : ",") + gpu;
  return all;
}

void NcclMesh::prepare(int gpu) {
  if (gpu < 0 || gpu >= static_cast<int>(gpus_.size()))
    throw SetupError(false, "there is no GPU " + std::to_string(gpu) + ": this process sees " + std::to_string(gpus_.size()));
  driver_->check(driver_->cuDeviceGet(&device_, gpu), "cuDeviceGet");
}

void NcclMesh::connect(const std::vector<std::vector<char>>& addresses) {
  const Call call{0, Clock::now() + timeout_};
  if (rank_ != 0) id_ = addresses.at(0);
  if (id_.size() != sizeof(cuda::NcclId)) throw SetupError(false, "rank 0 has given no number to meet by");
  cuda::NcclId id;
  std::memcpy(id.bytes, id_.data(), sizeof(cuda::NcclId));
  try {
    open_gpu();
    cuda::NcclConfig config;
    settle(nccl_.CommInitRankConfig(&comm_, size_, id, rank_, &config), "ncclCommInitRankConfig", call);
    // Connections are made by the first operation; what hinders them is to be noticed here.
    const Layout layout;
    agree(layout, 0, call);
  } catch (const std::exception& error) {
    if (Clock::now() >= call.deadline) throw;
    throw SetupError(false, std::string("NCCL cannot begin: ") + error.what());
  }
}

void NcclMesh::open_gpu() {
  driver_->check(driver_->cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
  enter();
  constexpr unsigned kFlags = cuda::kNonBlockingStream;
  for (cuda::CUstream* stream : {&in_, &work_, &out_}) driver_->check(driver_->cuStreamCreate(stream, kFlags), "cuStreamCreate");
  for (Slot& slot : slots_) {
    for (char** memory : {&slot.in, &slot.out}) {
      void* pinned = nullptr;
      driver_->check(driver_->cuMemHostAlloc(&pinned, kPiece, 0), "cuMemHostAlloc");
      *memory = static_cast<char*>(pinned);
    }
    for (cuda::CUdeviceptr* memory : {&slot.gpu_in, &slot.gpu_out}) driver_->check(driver_->cuMemAlloc_v2(memory, kPiece), "cuMemAlloc");
    for (cuda::CUevent* event : {&slot.given, &slot.computed, &slot.taken})
      driver_->check(driver_->cuEventCreate(event, cuda::kDisableTiming), "cuEventCreate");
  }
}

void NcclMesh::close_gpu() {
  if (!context_) return;
  // A GPU that does not give up what was broken off may still write: it keeps its memory.
  if (driver_->cuCtxSetCurrent(context_) != cuda::kSuccess || !is_quiet()) return;
  for (Slot& slot : slots_) {
    for (cuda::CUevent event : {slot.given, slot.computed, slot.taken})
      if (event) driver_->cuEventDestroy_v2(event);
    for (char* memory : {slot.in, slot.out})
      if (memory) driver_->cuMemFreeHost(memory);
    for (cuda::CUdeviceptr memory : {slot.gpu_in, slot.gpu_out})
      if (memory) driver_->cuMemFree_v2(memory);
  }
  for (cuda::CUstream stream : {in_, work_, out_})
    if (stream) driver_->cuStreamDestroy_v2(stream);
  driver_->cuDevicePrimaryCtxRelease_v2(device_);
}

// Operations come from several threads.
void NcclMesh::enter() { check(driver_->cuCtxSetCurrent(context_), "cuCtxSetCurrent"); }

bool NcclMesh::is_quiet() const {
  for (cuda::CUstream stream : {in_, work_, out_})
    if (stream && driver_->cuStreamQuery(stream) == cuda::kNotReady) return false;
  return true;
}

void NcclMesh::check(cuda::CUresult result, const char* function) {
  if (result != cuda::kSuccess) give_up(driver_->failure(result, function).what());
}

void NcclMesh::fail(int code, const char* what) { give_up(std::string(what) + ": " + nccl_.text_of(code, comm_)); }

void NcclMesh::break_off() {
  if (!comm_) return;
  // It ends the kernels that wait for other GPUs.
  nccl_.CommAbort(comm_);
  comm_ = nullptr;
  for (const auto end = Clock::now() + kBreak; !is_quiet() && Clock::now() < end;) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

void NcclMesh::finish() {
  if (!comm_) return;
  driver_->cuCtxSetCurrent(context_);
  if (!ending_) {
    int state = nccl_.CommFinalize(comm_);
    for (const auto end = Clock::now() + kFarewell; state == kNcclInProgress && Clock::now() < end;) {
      if (nccl_.CommGetAsyncError(comm_, &state) != kNcclSuccess) break;
      if (state == kNcclInProgress) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    if (state == kNcclSuccess) {
      nccl_.CommDestroy(comm_);
      comm_ = nullptr;
      return;
    }
  }
  abort("the engine was closed");
  break_off();
}

bool NcclMesh::is_in_progress(const char* what) {
  int state = kNcclInProgress;
  const int code = nccl_.CommGetAsyncError(comm_, &state);
  if (code != kNcclSuccess) fail(code, what);
  if (state != kNcclSuccess && state != kNcclInProgress) fail(state, what);
  return state == kNcclInProgress;
}

void NcclMesh::settle(int code, const char* what, const Call& call) {
  if (code != kNcclSuccess && code != kNcclInProgress) fail(code, what);
  wait_until([&] { return !is_in_progress(what); }, what, call);
}

void NcclMesh::wait(cuda::CUevent event, const char* what, const Call& call) {
  const auto is_done = [&] {
    is_in_progress(what);
    const cuda::CUresult result = driver_->cuEventQuery(event);
    if (result == cuda::kNotReady) return false;
    check(result, "cuEventQuery");
    return true;
  };
  wait_until(is_done, what, call);
}

void NcclMesh::agree(const Layout& layout, uint64_t sequence, const Call& call) {
  ending_.throw_if_ended();
  enter();
  PolledMesh::agree(layout, sequence, call);
}

// While NCCL works on one piece, the next one is on its way to the GPU, and the one before on its way back.
void NcclMesh::run(const Pieces& pieces, const char* what, const Call& call) {
  const auto end = [&](size_t piece) {
    Slot& slot = slots_[piece % kSlots];
    wait(slot.taken, what, call);
    pieces.take(piece, slot.out);
  };
  for (size_t piece = 0; piece < pieces.count; piece++) {
    if (piece >= kSlots) end(piece - kSlots);
    Slot& slot = slots_[piece % kSlots];
    const size_t given = pieces.give(piece, slot.in), taken = pieces.taken(piece);
    if (given > 0) check(driver_->cuMemcpyHtoDAsync_v2(slot.gpu_in, slot.in, given, in_), "cuMemcpyHtoDAsync");
    check(driver_->cuEventRecord(slot.given, in_), "cuEventRecord");
    check(driver_->cuStreamWaitEvent(work_, slot.given, 0), "cuStreamWaitEvent");
    settle(pieces.compute(piece, pointer(slot.gpu_in), pointer(slot.gpu_out)), what, call);
    check(driver_->cuEventRecord(slot.computed, work_), "cuEventRecord");
    check(driver_->cuStreamWaitEvent(out_, slot.computed, 0), "cuStreamWaitEvent");
    if (taken > 0) check(driver_->cuMemcpyDtoHAsync_v2(slot.out, slot.gpu_out, taken, out_), "cuMemcpyDtoHAsync");
    check(driver_->cuEventRecord(slot.taken, out_), "cuEventRecord");
  }
  for (size_t piece = pieces.count - std::min(pieces.count, kSlots); piece < pieces.count; piece++) end(piece);
}

bool NcclMesh::combines(Element element, Reduction reduction) const {
  if (element == Element::i32 || element == Element::i64) return true;
  return (element == Element::f32 || element == Element::f64) && (reduction == Reduction::sum || reduction == Reduction::mean);
}

void NcclMesh::combine(Element element, Reduction reduction, void* data, size_t count, const Call& call) {
  const size_t total = count * size_of(element);
  Pieces pieces;
  pieces.count = pieces_of(total, kPiece);
  pieces.taken = [=](size_t piece) { return length_of(total, piece, kPiece); };
  pieces.give = [=](size_t piece, char* in) {
    const size_t length = length_of(total, piece, kPiece);
    std::memcpy(in, at(data, piece * kPiece), length);
    return length;
  };
  pieces.compute = [=](size_t piece, void* in, void* out) {
    return nccl_.AllReduce(in, out, length_of(total, piece, kPiece) / size_of(element), type_of(element), op_of(reduction), comm_, work_);
  };
  pieces.take = [=](size_t piece, const char* out) { std::memcpy(at(data, piece * kPiece), out, length_of(total, piece, kPiece)); };
  run(pieces, "ncclAllReduce", call);
}

void NcclMesh::combine_at(int root, Element element, Reduction reduction, void* in, void* out, size_t count, const Call& call) {
  const size_t total = count * size_of(element);
  Pieces pieces;
  pieces.count = pieces_of(total, kPiece);
  pieces.taken = [=](size_t piece) { return rank_ == root ? length_of(total, piece, kPiece) : 0; };
  pieces.give = [=](size_t piece, char* to) {
    const size_t length = length_of(total, piece, kPiece);
    std::memcpy(to, at(in, piece * kPiece), length);
    return length;
  };
  pieces.compute = [=](size_t piece, void* from, void* to) {
    return nccl_.Reduce(from, to, length_of(total, piece, kPiece) / size_of(element), type_of(element), op_of(reduction), root, comm_, work_);
  };
  pieces.take = [=](size_t piece, const char* from) {
    if (rank_ == root) std::memcpy(at(out, piece * kPiece), from, length_of(total, piece, kPiece));
  };
  run(pieces, "ncclReduce", call);
}

void NcclMesh::broadcast(void* data, size_t bytes, int root, const Call& call) {
  Pieces pieces;
  pieces.count = pieces_of(bytes, kPiece);
  pieces.taken = [=](size_t piece) { return rank_ == root ? 0 : length_of(bytes, piece, kPiece); };
  pieces.give = [=](size_t piece, char* in) {
    if (rank_ != root) return size_t{0};
    std::memcpy(in, at(data, piece * kPiece), length_of(bytes, piece, kPiece));
    return length_of(bytes, piece, kPiece);
  };
  pieces.compute = [=](size_t piece, void* in, void* out) {
    return nccl_.Broadcast(in, out, length_of(bytes, piece, kPiece), cuda::kNcclUint8, root, comm_, work_);
  };
  pieces.take = [=](size_t piece, const char* out) {
    if (rank_ != root) std::memcpy(at(data, piece * kPiece), out, length_of(bytes, piece, kPiece));
  };
  run(pieces, "ncclBroadcast", call);
}

void NcclMesh::gather(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) {
  const size_t each = kPiece / size_, most = *std::max_element(counts.begin(), counts.end()) * size;
  const bool is_even = std::all_of(counts.begin(), counts.end(), [&](size_t count) { return count == counts[0]; });
  const auto length = [&, each, size](size_t rank, size_t piece) { return length_of(counts[rank] * size, piece, each); };
  const size_t ranks = size_, self = rank_;
  Pieces pieces;
  pieces.count = pieces_of(most, each);
  pieces.give = [&](size_t piece, char* to) {
    if (length(self, piece) > 0) std::memcpy(to, at(in, piece * each), length(self, piece));
    return length(self, piece);
  };
  // What each rank gives lies behind what the others give: as long a way as this piece has of the longest.
  const auto apart = [&](size_t piece) { return length_of(most, piece, each); };
  pieces.compute = [&](size_t piece, void* from, void* to) {
    if (is_even) return nccl_.AllGather(from, to, apart(piece), cuda::kNcclUint8, comm_, work_);
    std::vector<size_t> give(ranks, length(self, piece)), take(ranks);
    for (size_t r = 0; r < ranks; r++) take[r] = length(r, piece);
    return send_and_receive(nccl_, from, to, give, take, 0, apart(piece), rank_, comm_, work_);
  };
  pieces.taken = [&](size_t piece) { return ranks * apart(piece); };
  pieces.take = [&](size_t piece, const char* from) {
    char* target = at(out, piece * each);
    for (size_t r = 0; r < ranks; r++) {
      // Its own part did not come back where parts differ.
      const char* source = r == self && !is_even ? at(in, piece * each) : from + r * apart(piece);
      if (length(r, piece) > 0) std::memcpy(target, source, length(r, piece));
      target += counts[r] * size;
    }
  };
  run(pieces, "ncclAllGather", call);
}

void NcclMesh::exchange(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) {
  const size_t each = kPiece / size_, mine = counts[rank_] * size, most = *std::max_element(counts.begin(), counts.end()) * size;
  const size_t ranks = size_, self = rank_;
  const auto length = [&](size_t rank, size_t piece) { return length_of(counts[rank] * size, piece, each); };
  Pieces pieces;
  pieces.count = pieces_of(most, each);
  pieces.give = [&](size_t piece, char* to) {
    size_t end = 0, start = 0;
    for (size_t r = 0; r < ranks; start += counts[r++] * size) {
      if (r == self || length(r, piece) == 0) continue;
      std::memcpy(to + r * each, at(in, start + piece * each), length(r, piece));
      end = r * each + length(r, piece);
    }
    return end;
  };
  pieces.compute = [&](size_t piece, void* from, void* to) {
    std::vector<size_t> give(ranks), take(ranks, length(self, piece));
    for (size_t r = 0; r < ranks; r++) give[r] = length(r, piece);
    return send_and_receive(nccl_, from, to, give, take, each, each, rank_, comm_, work_);
  };
  pieces.taken = [&](size_t piece) { return length(self, piece) > 0 ? (ranks - 1) * each + length(self, piece) : 0; };
  pieces.take = [&](size_t piece, const char* from) {
    size_t start = 0;
    for (size_t r = 0; r < self; r++) start += counts[r] * size;
    for (size_t r = 0; r < ranks; r++) {
      const char* source = r == self ? at(in, start + piece * each) : from + r * each;
      if (length(self, piece) > 0) std::memcpy(at(out, r * mine + piece * each), source, length(self, piece));
    }
  };
  run(pieces, "ncclSend", call);
}

void NcclMesh::run_on_gpu(const Operation& op, const Call& call) {
  const Layout& layout = op.layout;
  // The sum of two does not depend on their order.
  const bool is_any_order = !layout.in_order || size_ <= 2;
  if (layout.kind != Kind::all_reduce || layout.reduction == Reduction::mean || !combines(layout.element, layout.reduction) || !is_any_order)
    throw std::runtime_error("NCCL does not do this in memory of a GPU");
  check(driver_->cuStreamWaitEvent(work_, static_cast<cuda::CUevent>(op.ready), 0), "cuStreamWaitEvent");
  const char* what = "ncclAllReduce";
  settle(nccl_.AllReduce(op.data, op.data, layout.count, type_of(layout.element), op_of(layout.reduction), comm_, work_), what, call);
  check(driver_->cuEventRecord(slots_[0].computed, work_), "cuEventRecord");
  wait(slots_[0].computed, what, call);
}

}  // namespace eagre::distribute
