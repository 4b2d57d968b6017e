// GPUs of this process that add values up together by NCCL, with a communicator for each. Used by the thread of its devices.
#pragma once
#include "device.h"
#include "nccl.h"

namespace eagre::cuda {

// A value, and where each GPU has its own and gets the sum, which may be the same place.
struct GroupSum {
  NcclType type;
  size_t count;
  std::vector<CUdeviceptr> from, to;
};

class Group {
 public:
  // Failure UNIMPLEMENTED where there is no NCCL, INVALID_ARGUMENT for one device or one that is there twice, UNAVAILABLE where NCCL cannot begin.
  explicit Group(std::vector<std::shared_ptr<Device>> devices);
  ~Group() { close(); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  // Sums over all GPUs, as one call of NCCL, in the order of each device's calls. After a Failure of NCCL nothing but `close` may be called.
  void all_reduce(const std::vector<GroupSum>& sums);
  void close() noexcept;

 private:
  void open_pools() const;
  void check(int code, const char* what, NcclComm comm = nullptr);
  template <class F> void together(const char* what, F body);
  void settle(const char* what);
  void break_off() noexcept;

  const Nccl& nccl_;
  std::vector<std::shared_ptr<Device>> devices_;
  std::vector<NcclComm> comms_;
};

}  // namespace eagre::cuda
