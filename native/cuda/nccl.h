// NVIDIA's library for sums between GPUs, found at run time: no header of it is needed to build this.
#pragma once
#include <climits>
#include <string>
#include <vector>

#include "driver.h"

namespace eagre::cuda {

// NCCL's own types and numbers, as nccl.h has them.
using NcclComm = void*;
struct NcclId {
  char bytes[128];
};
enum : int { kNcclSuccess = 0, kNcclInProgress = 7 };
enum NcclType : int {
  kNcclInt8 = 0, kNcclUint8 = 1, kNcclInt32 = 2, kNcclUint32 = 3, kNcclInt64 = 4, kNcclUint64 = 5, kNcclFloat16 = 6, kNcclFloat32 = 7, kNcclFloat64 = 8, kNcclBfloat16 = 9
};
enum : int { kNcclSum = 0, kNcclMax = 2, kNcclMin = 3 };
// The configuration of NCCL 2.14, which newer ones take too: calls do not block.
constexpr int kOldestNccl = 21400, kNextNccl = 30000;
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = kOldestNccl;
  int blocking = 0;
  // Newer versions copy it: it says that nothing is chosen.
  int behind = INT_MIN;
};

struct Nccl {
  int (*GetVersion)(int*);
  int (*GetUniqueId)(NcclId*);
  int (*CommInitRankConfig)(NcclComm*, int ranks, NcclId, int rank, NcclConfig*);
  int (*CommFinalize)(NcclComm);
  int (*CommDestroy)(NcclComm);
  int (*CommAbort)(NcclComm);
  int (*CommGetAsyncError)(NcclComm, int*);
  const char* (*GetErrorString)(int);
  const char* (*GetLastError)(NcclComm);
  int (*AllReduce)(const void*, void*, size_t, int type, int op, NcclComm, CUstream);
  int (*Reduce)(const void*, void*, size_t, int type, int op, int root, NcclComm, CUstream);
  int (*Broadcast)(const void*, void*, size_t, int type, int root, NcclComm, CUstream);
  int (*AllGather)(const void*, void*, size_t, int type, NcclComm, CUstream);
  int (*Send)(const void*, size_t, int type, int peer, NcclComm, CUstream);
  int (*Recv)(void*, size_t, int type, int peer, NcclComm, CUstream);
  int (*GroupStart)();
  int (*GroupEnd)();

  // The library of this process: what EAGRE_NCCL_LIBRARY names, or what the system's loader finds. Failure UNIMPLEMENTED that says what to install.
  static const Nccl& get();
  std::string text_of(int code, NcclComm comm) const;
  static bool is_error(int code) { return code != kNcclSuccess && code != kNcclInProgress; }

 private:
  explicit Nccl(const std::string& file);
};

}  // namespace eagre::cuda
