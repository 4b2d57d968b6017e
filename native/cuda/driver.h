// The driver of NVIDIA's GPUs, found at run time: no header and no library of CUDA is needed to build this.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace eagre::cuda {

// The driver's own types and numbers, as its documentation has them.
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;

// CUDA_KERNEL_NODE_PARAMS_v1: what the functions of graphs take whose names have no version.
struct KernelNode {
  CUfunction function;
  unsigned grid[3], block[3], shared;
  void** parameters;
  void** extra;
};

// CUtensorMap: what the driver makes of the shape of a tensor, for the instructions that copy tiles of it.
struct alignas(64) TensorMap {
  char bytes[128];
};
// CUtensorMapDataType, of those that are used. Elements of the last one are rounded to TensorFloat-32 when they are copied.
enum : uint32_t { kMapFloat16 = 6, kMapBfloat16 = 9, kMapTensorFloat32 = 11 };
// Pieces of 16 bytes of a line of 128 are turned around; lines of 256 bytes come from memory at once.
enum : int { kNoInterleave = 0, kSwizzle128 = 3, kPromote256 = 3, kFillZeros = 0 };

// CUmemAccessDesc: which device may do what.
struct MemoryAccess {
  int location, device, access;
};
enum : int { kDeviceLocation = 1, kReadAndWrite = 3 };

enum : CUresult {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kStubLibrary = 34,
  kDeviceUnavailable = 46,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kUncorrectableEcc = 214,
  kInvalidPtx = 218,
  kUnsupportedPtx = 222,
  kJitCompilerNotFound = 221,
  kOperatingSystem = 304,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kContextDestroyed = 709,
  kAssert = 710,
  kHardwareStack = 714,
  kLaunchFailed = 719,
  kNotSupported = 801,
  kSystemNotReady = 802,
  kSystemDriverMismatch = 803,
  kGraphUpdateFailure = 910,
};

enum : int { kComputeMajor = 75, kComputeMinor = 76, kMultiprocessors = 16, kMemoryPools = 115, kTensorMaps = 127 };
// Of a kernel: the most shared memory that launches may give it.
enum : int { kMostShared = 8 };
// An attribute of pools.
enum : int { kReleaseThreshold = 4 };
enum : unsigned { kNonBlockingStream = 1, kDisableTiming = 2 };
// What a thread captures keeps no other call of it from the driver.
enum : int { kRelaxedCapture = 2 };

// What went wrong, with the code of the errors of JavaScript, and the driver's name of it where it is the driver's error.
struct Failure : std::runtime_error {
  Failure(const char* code, const std::string& message, std::string name = {}, CUresult result = kSuccess)
      : std::runtime_error(message), code(code), name(std::move(name)), result(result) {}
  const char* code;
  std::string name;
  CUresult result;
};

// The driver's functions. One for each file, as long as the process: threads of JavaScript share it.
class Driver {
 public:
  // Failure UNAVAILABLE where the library is not there, lacks a function, or cannot start.
  static std::shared_ptr<const Driver> open(const std::string& path);

#define FUNCTION(name, arguments) CUresult(*name) arguments = nullptr;
#define OPTIONAL(name, arguments) CUresult(*name) arguments = nullptr;
#include "driver_functions.def"
#undef FUNCTION
#undef OPTIONAL

  // Failure for everything but success.
  void check(CUresult result, const char* function) const {
    if (result != kSuccess) throw failure(result, function);
  }
  Failure failure(CUresult result, const char* function) const;
  int devices() const;
  int version() const;

 private:
  explicit Driver(const std::string& path);
};

// Whether nothing that is in the context can be used any more.
bool ends_context(CUresult result);

// A library by its path or name, for as long as the process. Failure UNAVAILABLE.
void* open_library(const std::string& path);
void* find_symbol(void* library, const char* name);

}  // namespace eagre::cuda
