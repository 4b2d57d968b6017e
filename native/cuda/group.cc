#include "group.h"

#include <chrono>
#include <cstdint>
#include <thread>

namespace eagre::cuda {
namespace {

// For the start, in which NCCL looks for ways between the GPUs, and for the first sum, which opens them.
constexpr auto kPatience = std::chrono::seconds(300);
constexpr auto kFarewell = std::chrono::seconds(2);
constexpr auto kNap = std::chrono::microseconds(50);

size_t size_of(NcclType type) {
  switch (type) {
    case kNcclInt8:
    case kNcclUint8: return 1;
    case kNcclFloat16:
    case kNcclBfloat16: return 2;
    case kNcclInt32:
    case kNcclUint32:
    case kNcclFloat32: return 4;
    default: return 8;
  }
}

}  // namespace

Group::Group(std::vector<std::shared_ptr<Device>> devices) : nccl_(Nccl::get()), devices_(std::move(devices)) {
  if (devices_.size() < 2) throw Failure("INVALID_ARGUMENT", "a group needs two GPUs at least");
  for (size_t i = 0; i < devices_.size(); i++)
    for (size_t k = 0; k < i; k++)
      if (devices_[i]->device_ == devices_[k]->device_) throw Failure("INVALID_ARGUMENT", "a GPU is in the group twice");
  for (const auto& device : devices_) device->enter();
  open_pools();
  NcclId id{};
  check(nccl_.GetUniqueId(&id), "ncclGetUniqueId");
  comms_.resize(devices_.size());
  NcclConfig config;
  together("ncclCommInitRankConfig", [&](size_t i) {
    return nccl_.CommInitRankConfig(&comms_[i], static_cast<int>(devices_.size()), id, static_cast<int>(i), &config);
  });
}

// In one process NCCL reads and writes the memory of callers from other GPUs. It opens memory of cuMemAlloc by itself, but not that of pools.
void Group::open_pools() const {
  for (const auto& own : devices_) {
    if (!own->info_.has_memory_pools) continue;
    const Driver& driver = *own->driver_;
    if (driver.cuDeviceGetMemPool == nullptr || driver.cuMemPoolSetAccess == nullptr)
      throw Failure("UNIMPLEMENTED", "the driver has no cuMemPoolSetAccess, which CUDA 11.2 has: install a newer one");
    own->enter();
    CUmemoryPool pool = nullptr;
    own->check(driver.cuDeviceGetMemPool(&pool, own->device_), "cuDeviceGetMemPool");
    for (const auto& other : devices_) {
      int reaches = 0;
      if (other == own) continue;
      own->check(driver.cuDeviceCanAccessPeer(&reaches, other->device_, own->device_), "cuDeviceCanAccessPeer");
      // Where it cannot, NCCL goes through the host.
      if (reaches == 0) continue;
      const MemoryAccess access{kDeviceLocation, other->device_, kReadAndWrite};
      own->check(driver.cuMemPoolSetAccess(pool, &access, 1), "cuMemPoolSetAccess");
    }
  }
}

void Group::check(int code, const char* what, NcclComm comm) {
  if (!Nccl::is_error(code)) return;
  const std::string text = std::string(what) + ": " + nccl_.text_of(code, comm);
  break_off();
  throw Failure("UNAVAILABLE", "NCCL failed: " + text);
}

// Calls `body` for each GPU, and waits until NCCL has told all of them.
template <class F> void Group::together(const char* what, F body) {
  check(nccl_.GroupStart(), "ncclGroupStart");
  int code = kNcclSuccess;
  size_t failed = 0;
  try {
    for (size_t i = 0; i < devices_.size() && !Nccl::is_error(code); i++) {
      devices_[i]->enter();
      code = body(i);
      failed = i;
    }
  } catch (...) {
    nccl_.GroupEnd();
    break_off();
    throw;
  }
  const int end = nccl_.GroupEnd();
  check(code, what, comms_[failed]);
  check(end, what, comms_[0]);
  settle(what);
}

void Group::settle(const char* what) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (const NcclComm comm : comms_) {
    int state = kNcclInProgress;
    for (;;) {
      check(nccl_.CommGetAsyncError(comm, &state), what, comm);
      check(state, what, comm);
      if (state != kNcclInProgress) break;
      if (std::chrono::steady_clock::now() > deadline) {
        break_off();
        throw Failure("DEADLINE_EXCEEDED", std::string("NCCL takes too long: ") + what);
      }
      std::this_thread::sleep_for(kNap);
    }
  }
}

void Group::all_reduce(const std::vector<GroupSum>& sums) {
  if (comms_.empty()) throw Failure("FAILED_PRECONDITION", "the group was closed");
  for (const GroupSum& sum : sums) {
    if (sum.from.size() != devices_.size() || sum.to.size() != devices_.size()) throw Failure("INVALID_ARGUMENT", "a sum needs a place on each GPU");
    if (sum.type < kNcclInt8 || sum.type > kNcclBfloat16 || sum.count > SIZE_MAX / 8) throw Failure("INVALID_ARGUMENT", "a sum of no such type or count");
    for (size_t i = 0; i < devices_.size(); i++) {
      devices_[i]->enter();
      devices_[i]->check_range(sum.from[i], sum.count * size_of(sum.type), "sum");
      devices_[i]->check_range(sum.to[i], sum.count * size_of(sum.type), "sum to");
    }
  }
  if (sums.empty()) return;
  const auto pointer = [](CUdeviceptr memory) { return reinterpret_cast<void*>(memory); };
  together("ncclAllReduce", [&](size_t i) {
    int code = kNcclSuccess;
    for (const GroupSum& sum : sums) {
      if (sum.count == 0 || Nccl::is_error(code)) continue;
      code = nccl_.AllReduce(pointer(sum.from[i]), pointer(sum.to[i]), sum.count, sum.type, kNcclSum, comms_[i], devices_[i]->stream_);
    }
    return code;
  });
}

// It ends the kernels that wait for other GPUs.
void Group::break_off() noexcept {
  for (const NcclComm comm : comms_)
    if (comm != nullptr) nccl_.CommAbort(comm);
  comms_.clear();
}

void Group::close() noexcept {
  const auto deadline = std::chrono::steady_clock::now() + kFarewell;
  for (const NcclComm comm : comms_)
    if (Nccl::is_error(nccl_.CommFinalize(comm))) return break_off();
  for (const NcclComm comm : comms_) {
    int state = kNcclInProgress;
    while (nccl_.CommGetAsyncError(comm, &state) == kNcclSuccess && state == kNcclInProgress && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(kNap);
    if (state != kNcclSuccess) return break_off();
  }
  for (const NcclComm comm : comms_) nccl_.CommDestroy(comm);
  comms_.clear();
}

}  // namespace eagre::cuda
