// A driver and an NVRTC that do nothing: memory is addresses alone, kernels are numbers. So steps of models run at their full size on machines
// without a GPU, and what they would launch can be counted. NULL_CUDA_CAPABILITY (90) and NULL_CUDA_PROCESSORS (132) say which GPU it is.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "../driver.h"

using namespace eagre::cuda;

#define API extern "C" __attribute__((visibility("default")))
// The declarations that the addon goes by: what is written below has to agree with them.
#define FUNCTION(name, parameters) API CUresult name parameters;
#define OPTIONAL(name, parameters) API CUresult name parameters;
#include "../driver_functions.def"
#undef FUNCTION
#undef OPTIONAL

namespace {

int number(const char* name, int otherwise) {
  const char* value = getenv(name);
  return value != nullptr && *value != 0 ? atoi(value) : otherwise;
}

constexpr size_t kTotal = size_t{80} << 30;
// Small pieces are kept, so that values which the library reads for itself are what it wrote.
constexpr size_t kKept = 1 << 16;

std::mutex lock;
std::map<CUdeviceptr, size_t> sizes;
std::multimap<size_t, CUdeviceptr> unused;
std::map<CUdeviceptr, std::string> kept;
CUdeviceptr next_address = CUdeviceptr{1} << 40;
size_t used = 0;

CUresult take(CUdeviceptr* memory, size_t bytes) {
  const std::lock_guard<std::mutex> locked(lock);
  const size_t whole = (bytes + 511) / 512 * 512;
  if (bytes == 0) return kInvalidValue;
  if (used + whole > kTotal) return kOutOfMemory;
  const auto found = unused.find(whole);
  if (found != unused.end()) {
    *memory = found->second;
    unused.erase(found);
  } else {
    *memory = next_address;
    next_address += whole;
  }
  sizes[*memory] = whole;
  used += whole;
  return kSuccess;
}

CUresult give(CUdeviceptr memory) {
  const std::lock_guard<std::mutex> locked(lock);
  const auto found = sizes.find(memory);
  if (found == sizes.end()) return kInvalidValue;
  used -= found->second;
  unused.emplace(found->second, memory);
  sizes.erase(found);
  kept.erase(memory);
  return kSuccess;
}

// Objects of the driver are numbers.
template <typename T>
CUresult made(T** object) {
  static uintptr_t last = 1 << 12;
  const std::lock_guard<std::mutex> locked(lock);
  last += 64;
  *object = reinterpret_cast<T*>(last);
  return kSuccess;
}

}  // namespace

CUresult cuInit(unsigned) { return kSuccess; }
CUresult cuDriverGetVersion(int* version) { return *version = 13000, kSuccess; }
CUresult cuGetErrorName(CUresult, const char** name) { return *name = "CUDA_ERROR", kSuccess; }
CUresult cuGetErrorString(CUresult, const char** text) { return *text = "refused", kSuccess; }
CUresult cuDeviceGetCount(int* count) { return *count = 1, kSuccess; }
CUresult cuDeviceGet(CUdevice* device, int ordinal) { return *device = ordinal, kSuccess; }
CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  snprintf(name, static_cast<size_t>(length), "a GPU that does nothing");
  return kSuccess;
}
CUresult cuDeviceGetPCIBusId(char* place, int length, CUdevice) {
  snprintf(place, static_cast<size_t>(length), "0000:01:00.0");
  return kSuccess;
}
CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) { return *bytes = kTotal, kSuccess; }
CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice) {
  const int capability = number("NULL_CUDA_CAPABILITY", 90);
  switch (attribute) {
    case 75: return *value = capability / 10, kSuccess;
    case 76: return *value = capability % 10, kSuccess;
    case 16: return *value = number("NULL_CUDA_PROCESSORS", 132), kSuccess;
    // Memory from pools, and tensor maps from 9.0 on.
    case 115: return *value = 1, kSuccess;
    case 127: return *value = capability >= 90 ? 1 : 0, kSuccess;
    default: return kInvalidValue;
  }
}
CUresult cuDeviceCanAccessPeer(int* reaches, CUdevice, CUdevice) { return *reaches = 0, kSuccess; }
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) { return made(context); }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return kSuccess; }
CUresult cuCtxSetCurrent(CUcontext) { return kSuccess; }
CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  const std::lock_guard<std::mutex> locked(lock);
  *total = kTotal;
  *free = kTotal - used;
  return kSuccess;
}
CUresult cuMemAlloc_v2(CUdeviceptr* memory, size_t bytes) { return take(memory, bytes); }
CUresult cuMemFree_v2(CUdeviceptr memory) { return give(memory); }
CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  *memory = malloc(bytes);
  return *memory == nullptr ? kOutOfMemory : kSuccess;
}
CUresult cuMemFreeHost(void* memory) { return free(memory), kSuccess; }
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream) {
  const std::lock_guard<std::mutex> locked(lock);
  if (bytes <= kKept) kept[to] = std::string(static_cast<const char*>(from), bytes);
  return kSuccess;
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream) {
  const std::lock_guard<std::mutex> locked(lock);
  memset(to, 0, bytes);
  const auto found = kept.find(from);
  if (found != kept.end()) memcpy(to, found->second.data(), std::min(bytes, found->second.size()));
  return kSuccess;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, size_t, CUstream) { return kSuccess; }
CUresult cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream) { return kSuccess; }
CUresult cuMemsetD8Async(CUdeviceptr, unsigned char, size_t, CUstream) { return kSuccess; }
CUresult cuStreamCreate(CUstream* stream, unsigned) { return made(stream); }
CUresult cuStreamSynchronize(CUstream) { return kSuccess; }
CUresult cuStreamQuery(CUstream) { return kSuccess; }
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned) { return kSuccess; }
CUresult cuStreamDestroy_v2(CUstream) { return kSuccess; }
CUresult cuEventCreate(CUevent* event, unsigned) { return made(event); }
CUresult cuEventRecord(CUevent, CUstream) { return kSuccess; }
CUresult cuEventQuery(CUevent) { return kSuccess; }
CUresult cuEventSynchronize(CUevent) { return kSuccess; }
CUresult cuEventDestroy_v2(CUevent) { return kSuccess; }
CUresult cuModuleLoadData(CUmodule* module, const void*) { return made(module); }
CUresult cuModuleUnload(CUmodule) { return kSuccess; }
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char*) { return made(function); }
CUresult cuFuncSetAttribute(CUfunction, int, int) { return kSuccess; }
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**,
                        void**) {
  return kSuccess;
}
CUresult cuMemAllocAsync(CUdeviceptr* memory, size_t bytes, CUstream) { return take(memory, bytes); }
CUresult cuMemFreeAsync(CUdeviceptr memory, CUstream) { return give(memory); }
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice) { return made(pool); }
CUresult cuMemPoolSetAttribute(CUmemoryPool, int, void*) { return kSuccess; }
CUresult cuMemPoolTrimTo(CUmemoryPool, size_t) { return kSuccess; }
CUresult cuMemPoolSetAccess(CUmemoryPool, const MemoryAccess*, size_t) { return kSuccess; }
CUresult cuTensorMapEncodeTiled(TensorMap* map, int, uint32_t, CUdeviceptr, const uint64_t*, const uint64_t*, const uint32_t*,
                                const uint32_t*, int, int, int, int) {
  *map = {};
  return kSuccess;
}
CUresult cuGraphCreate(CUgraph* graph, unsigned) { return made(graph); }
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph, const CUgraphNode*, size_t, const KernelNode*) { return made(node); }
CUresult cuStreamBeginCapture_v2(CUstream, int) { return kSuccess; }
CUresult cuStreamEndCapture(CUstream, CUgraph* graph) { return made(graph); }
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph, const CUgraphNode*, size_t, CUgraph) { return made(node); }
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec, CUgraphNode, CUgraph) { return kSuccess; }
CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph, unsigned long long) { return made(executable); }
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec, CUgraphNode, const KernelNode*) { return kSuccess; }
CUresult cuGraphLaunch(CUgraphExec, CUstream) { return kSuccess; }
CUresult cuGraphExecDestroy(CUgraphExec) { return kSuccess; }
CUresult cuGraphDestroy(CUgraph) { return kSuccess; }

// NVRTC, whose machine code is the header of an ELF file with nothing behind it.
API int nvrtcVersion(int* major, int* minor) { return *major = 12, *minor = 9, 0; }
API const char* nvrtcGetErrorString(int) { return "refused"; }
API int nvrtcGetNumSupportedArchs(int* count) { return *count = 1, 0; }
API int nvrtcGetSupportedArchs(int* known) { return *known = number("NULL_CUDA_CAPABILITY", 90), 0; }
API int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*, const char* const*) {
  return made(program);
}
API int nvrtcDestroyProgram(void**) { return 0; }
API int nvrtcCompileProgram(void*, int, const char* const*) { return 0; }
API int nvrtcGetProgramLogSize(void*, size_t* size) { return *size = 1, 0; }
API int nvrtcGetProgramLog(void*, char* log) { return *log = 0, 0; }
API int nvrtcGetCUBINSize(void*, size_t* size) { return *size = 128, 0; }
API int nvrtcGetCUBIN(void*, char* image) {
  memset(image, 0, 128);
  memcpy(image, "\x7f\x45LF\2\1", 6);
  const uint64_t sections = 64;
  const uint16_t bytes = 64, count = 1;
  memcpy(image + 40, &sections, sizeof sections);
  memcpy(image + 58, &bytes, sizeof bytes);
  memcpy(image + 60, &count, sizeof count);
  return 0;
}
API int nvrtcGetPTXSize(void*, size_t* size) { return *size = 2, 0; }
API int nvrtcGetPTX(void*, char* text) { return strcpy(text, "x"), 0; }
