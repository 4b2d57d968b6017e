#include "nccl.h"

#include <cstdlib>
#include <mutex>

namespace eagre::cuda {

const Nccl& Nccl::get() {
  static std::mutex mutex;
  static const Nccl* found = nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  if (!found) {
    const char* named = std::getenv("EAGRE_NCCL_LIBRARY");
    found = new Nccl(named && *named ? named : "libnccl.so.2");
  }
  return *found;
}

std::string Nccl::text_of(int code, NcclComm comm) const {
  const char *text = GetErrorString(code), *last = comm ? GetLastError(comm) : nullptr;
  return (text ? std::string(text) : "error " + std::to_string(code)) + (last && *last ? std::string(" (") + last + ")" : "");
}

Nccl::Nccl(const std::string& file) {
  void* library = nullptr;
  try {
    library = open_library(file);
  } catch (const Failure& failure) {
    throw Failure("UNIMPLEMENTED", std::string("there is no NCCL (") + failure.what() +
                                       "): install it (pip install nvidia-nccl-cu12 has it, too), and name its libnccl.so.2 in EAGRE_NCCL_LIBRARY if it is not where the system looks");
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(find_symbol(library, name));
    if (!function) throw Failure("UNIMPLEMENTED", file + " has no " + name + ", which NCCL 2.14 has: name another in EAGRE_NCCL_LIBRARY");
  };
  find(GetVersion, "ncclGetVersion");
  int version = 0;
  if (GetVersion(&version) != kNcclSuccess || version < kOldestNccl || version >= kNextNccl)
    throw Failure("UNIMPLEMENTED", file + " has version " + std::to_string(version) + " of NCCL: it must be 2.14 (" + std::to_string(kOldestNccl) +
                                       ") or a newer one of NCCL 2; name another in EAGRE_NCCL_LIBRARY");
  find(GetUniqueId, "ncclGetUniqueId");
  find(CommInitRankConfig, "ncclCommInitRankConfig");
  find(CommFinalize, "ncclCommFinalize");
  find(CommDestroy, "ncclCommDestroy");
  find(CommAbort, "ncclCommAbort");
  find(CommGetAsyncError, "ncclCommGetAsyncError");
  find(GetErrorString, "ncclGetErrorString");
  find(GetLastError, "ncclGetLastError");
  find(AllReduce, "ncclAllReduce");
  find(Reduce, "ncclReduce");
  find(Broadcast, "ncclBroadcast");
  find(AllGather, "ncclAllGather");
  find(Send, "ncclSend");
  find(Recv, "ncclRecv");
  find(GroupStart, "ncclGroupStart");
  find(GroupEnd, "ncclGroupEnd");
}

}  // namespace eagre::cuda
