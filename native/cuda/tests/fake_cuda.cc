// A driver of CUDA, and its compiler NVRTC, for machines without a GPU: memory is the host's, and kernels are compiled for the processor. It is made
// to show mistakes. Work that is queued runs when somebody waits for it or asks after it, not before, so that what nobody waits for is seen to be
// missing. Fresh memory is poisoned, and freed memory too; bytes behind each block may not change. Several threads may call it. Environment variables are read at each call:
//   FAKE_CUDA_DEVICES (1), FAKE_CUDA_FIRST (0: the place of the first GPU on the bus), FAKE_CUDA_MEMORY (bytes, 256 MiB), FAKE_CUDA_POOLS (1), FAKE_CUDA_PEERS (1: GPUs reach each other's memory), FAKE_CUDA_MAPS (1: tensor maps), FAKE_CUDA_ORDER (of threads: 0),
//   FAKE_CUDA_FAIL=function:error[:calls before], FAKE_CUDA_LATE=error (of the next kernel, when it runs),
//   FAKE_CUDA_CALLS (a file to which the name of each call that may fail is added),
//   FAKE_CUDA_CXX, FAKE_CUDA_INCLUDE (where fake_image.h is), FAKE_CUDA_SHIM (cuda-shim.cc, compiled), FAKE_CUDA_ARCHS (90)
#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "../../../packages/gpu-kernels/src/testing/tensor-map.h"
#include "fake_ptx.h"
#include "fake_settings.h"

struct FakeKernel {
  const char* name;
  size_t bytes, count;
  const size_t *offsets, *sizes;
  size_t alignment;
  const char* (*run)(const unsigned*, const unsigned*, const char*, int, unsigned);
};

namespace {

using Ptr = uint64_t;
constexpr size_t kGuard = 64;
constexpr unsigned char kFresh = 0xff, kFreed = 0xee, kBehind = 0x5a;


struct Context {
  int device, users;
};
struct Node;
struct Stream {
  int device = 0;
  // What is captured instead of done, and whether something came that cannot be.
  std::shared_ptr<std::vector<Node>> captured;
  bool is_broken = false;
  // Each says whether it is done; one that waits for something holds up those behind it.
  std::deque<std::function<bool()>> jobs;
  uint64_t added = 0, done = 0;
};
struct Event {
  Stream* stream = nullptr;
  uint64_t behind = 0;
};
struct Module {
  void* library;
  std::vector<FakeKernel> kernels;
};
struct Block {
  char* data;
  size_t bytes;
  int device;
  bool pooled;
};

// Never destroyed: the process may end with work in the queue.
auto& blocks = *new std::map<Ptr, Block>();
auto& pinned = *new std::map<char*, size_t>();
auto& streams = *new std::vector<Stream*>();
auto& contexts = *new std::map<int, Context>();
// By device: those that may use the memory of its pool.
auto& pools = *new std::map<int, std::set<int>>();
thread_local Context* current = nullptr;
std::recursive_mutex lock;
#define LOCK const std::lock_guard<std::recursive_mutex> locked(lock)
size_t used = 0;
// The error that ended the context; the driver keeps it until the process ends.
int lost = 0;

int injected(const char* function) {
  note_call("FAKE_CUDA_CALLS", function);
  return injected_by("FAKE_CUDA_FAIL", function);
}

#define ENTER(function)                                   \
  LOCK;                                                   \
  if (const int error = injected(function)) return error; \
  if (lost != 0) return lost

void lose(int error, const char* why) {
  if (lost == 0) fprintf(stderr, "the fake driver: %s\n", why);
  lost = error;
}

char* inside(Ptr at, size_t count) {
  auto next = blocks.upper_bound(at);
  if (next != blocks.begin()) {
    const auto& [start, block] = *--next;
    if (at - start <= block.bytes && count <= block.bytes - (at - start)) return block.data + (at - start);
  }
  lose(700, "a copy goes beyond its memory");
  return nullptr;
}

void check_guard(const Block& block) {
  for (size_t i = 0; i < kGuard; i++)
    if (static_cast<unsigned char>(block.data[block.bytes + i]) != kBehind) return lose(700, "a kernel wrote behind its memory");
}

// Whether all is done up to there.
bool run(Stream& stream, uint64_t until) {
  while (stream.done < until && !stream.jobs.empty()) {
    // A context that is lost does nothing more.
    if (lost == 0 && !stream.jobs.front()()) return false;
    stream.jobs.pop_front();
    stream.done++;
  }
  return true;
}
// What one GPU does may wait for others of the process.
void run_others(const Stream& stream) {
  const std::vector<Stream*> all = streams;
  for (Stream* other : all)
    if (other->device != stream.device && std::find(streams.begin(), streams.end(), other) != streams.end()) run(*other, other->added);
}
// As a thread that waits: others may go on.
void finish(Stream& stream, uint64_t until) {
  while (!run(stream, until)) {
    run_others(stream);
    lock.unlock();
    usleep(100);
    lock.lock();
  }
}
void finish_all(Stream& stream) {
  finish(stream, stream.added);
  for (const auto& [at, block] : blocks) check_guard(block);
}
void add_step(Stream* stream, std::function<bool()> job) {
  if (stream->captured != nullptr) {
    stream->is_broken = true;
    return;
  }
  stream->jobs.push_back(std::move(job));
  stream->added++;
}
void add(Stream* stream, std::function<void()> job) {
  add_step(stream, [job] { return job(), true; });
}

int take(Ptr* memory, size_t bytes, bool pooled) {
  if (bytes == 0) return 1;
  if (current == nullptr) return 201;
  if (used + bytes > strtoull(setting("FAKE_CUDA_MEMORY", "268435456"), nullptr, 10)) return 2;
  Block block{static_cast<char*>(aligned_alloc(512, (bytes + kGuard + 511) / 512 * 512)), bytes, current->device, pooled};
  if (block.data == nullptr) return 2;
  memset(block.data, kFresh, bytes);
  memset(block.data + bytes, kBehind, kGuard);
  used += bytes;
  *memory = reinterpret_cast<Ptr>(block.data);
  blocks[*memory] = block;
  return 0;
}
int give(Ptr memory) {
  const auto found = blocks.find(memory);
  if (found == blocks.end()) return 1;
  check_guard(found->second);
  memset(found->second.data, kFreed, found->second.bytes);
  used -= found->second.bytes;
  free(found->second.data);
  blocks.erase(found);
  return 0;
}

bool is_pinned(const void* at) {
  auto next = pinned.upper_bound(const_cast<char*>(static_cast<const char*>(at)));
  return next != pinned.begin() && static_cast<const char*>(at) < (--next)->first + next->second;
}

const std::map<int, std::pair<const char*, const char*>> errors = {
    {1, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {2, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {100, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
    {101, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
    {200, {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
    {209, {"CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"}},
    {218, {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}},
    {222, {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."}},
    {500, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
    {600, {"CUDA_ERROR_NOT_READY", "device not ready"}},
    {700, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
    {719, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
    {900, {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"}},
    {901, {"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"}},
    {910, {"CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "the graph update was not performed because it included changes which violated constraints"}},
    {802, {"CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"}},
};

int load(Module** module, const std::string& library) {
  char path[] = "/tmp/eagre-fake-image-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) return 304;
  const bool whole = write(file, library.data(), library.size()) == static_cast<ssize_t>(library.size());
  close(file);
  void* handle = whole ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(path);
  if (handle == nullptr) return 200;
  const auto list = reinterpret_cast<const FakeKernel* (*)(size_t*)>(dlsym(handle, "fake_kernels"));
  if (list == nullptr) return 209;
  size_t count = 0;
  const FakeKernel* kernels = list(&count);
  *module = new Module{handle, {kernels, kernels + count}};
  return 0;
}

std::string read_file(const std::string& path) {
  std::string all;
  if (FILE* file = fopen(path.c_str(), "rb")) {
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) all.append(part, n);
    fclose(file);
  }
  return all;
}

// A text of C++ with FAKE_KERNELS as a library for the processor.
bool compile(const std::string& text, std::string* library, std::string* said) {
  char folder[] = "/tmp/eagre-fake-nvrtc-XXXXXX";
  if (mkdtemp(folder) == nullptr) return false;
  const std::string source = std::string(folder) + "/kernel.cc", made = std::string(folder) + "/kernel.so", log = std::string(folder) + "/log";
  if (FILE* file = fopen(source.c_str(), "wb")) {
    fwrite(text.data(), 1, text.size(), file);
    fclose(file);
  }
  const std::string include = setting("FAKE_CUDA_INCLUDE", ".");
  const std::string command = std::string(setting("FAKE_CUDA_CXX", "c++")) +
                              " -std=c++17 -O0 -w -fwrapv -ffp-contract=off -fPIC -fvisibility=hidden -shared -I" + include +
                              " -include fake_image.h " + source + " " + setting("FAKE_CUDA_SHIM", "") + " -o " + made + " >" + log + " 2>&1";
  // The sanitizers' library that is loaded before everything else is not for compilers.
  const int status = system(("unset LD_PRELOAD; " + command).c_str());
  *library = read_file(made);
  *said = read_file(log);
  for (const std::string& path : {source, made, log}) unlink(path.c_str());
  rmdir(folder);
  return status == 0;
}

// PTX that gpu-kernels has printed: the driver compiles it.
int load_ptx(Module** module, const char* text) {
  std::string library, log;
  try {
    const fake_ptx::Kernel kernel = fake_ptx::translate(text);
    const std::string list = "FAKE_KERNELS(FAKE_KERNEL(\"" + kernel.name + "\", " + kernel.name + ", " + (kernel.barriers ? "true" : "false") + "))\n";
    if (compile(fake_ptx::kPrelude + kernel.code + list, &library, &log)) return load(module, library);
  } catch (const std::exception& error) {
    log = error.what();
  }
  fprintf(stderr, "the fake driver: %s\n", log.c_str());
  return 218;
}

}  // namespace

#define API extern "C" __attribute__((visibility("default"))) int

API cuInit(unsigned) { return injected("cuInit"); }
API cuDriverGetVersion(int* version) {
  *version = 12080;
  return 0;
}
API cuGetErrorName(int error, const char** name) {
  const auto found = errors.find(error);
  *name = found == errors.end() ? nullptr : found->second.first;
  return found == errors.end() ? 1 : 0;
}
API cuGetErrorString(int error, const char** text) {
  const auto found = errors.find(error);
  *text = found == errors.end() ? nullptr : found->second.second;
  return found == errors.end() ? 1 : 0;
}
API cuDeviceGetCount(int* count) {
  *count = atoi(setting("FAKE_CUDA_DEVICES", "1"));
  return injected("cuDeviceGetCount");
}
API cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < atoi(setting("FAKE_CUDA_DEVICES", "1")) ? injected("cuDeviceGet") : 101;
}
API cuDeviceGetName(char* name, int length, int) {
  snprintf(name, static_cast<size_t>(length), "a fake GPU on the processor");
  return 0;
}
API cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = strtoull(setting("FAKE_CUDA_MEMORY", "268435456"), nullptr, 10);
  return 0;
}
API cuDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case 75: *value = 9; return 0;
    case 76: *value = 0; return 0;
    case 16: *value = 2; return 0;
    case 127: *value = atoi(setting("FAKE_CUDA_MAPS", "1")); return 0;
    case 115: *value = atoi(setting("FAKE_CUDA_POOLS", "1")); return 0;
    default: return 1;
  }
}
API cuDeviceGetPCIBusId(char* place, int length, int device) {
  snprintf(place, static_cast<size_t>(length), "0000:%02x:00.0", device + atoi(setting("FAKE_CUDA_FIRST", "0")));
  return injected("cuDeviceGetPCIBusId");
}
API cuDevicePrimaryCtxRetain(Context** context, int device) {
  ENTER("cuDevicePrimaryCtxRetain");
  *context = &contexts.emplace(device, Context{device, 0}).first->second;
  (*context)->users++;
  return 0;
}
API cuDevicePrimaryCtxRelease_v2(int device) {
  LOCK;
  const auto found = contexts.find(device);
  if (found == contexts.end() || found->second.users == 0) return 201;
  found->second.users--;
  return 0;
}
API cuCtxSetCurrent(Context* context) {
  ENTER("cuCtxSetCurrent");
  current = context;
  return context != nullptr && context->users > 0 ? 0 : 201;
}
API cuCtxGetDevice(int* device) {
  if (current == nullptr) return 201;
  *device = current->device;
  return 0;
}
API cuMemGetInfo_v2(size_t* free, size_t* total) {
  ENTER("cuMemGetInfo_v2");
  cuDeviceTotalMem_v2(total, 0);
  *free = *total - used;
  return 0;
}
API cuMemAlloc_v2(Ptr* memory, size_t bytes) {
  ENTER("cuMemAlloc_v2");
  return take(memory, bytes, false);
}
API cuMemFree_v2(Ptr memory) {
  ENTER("cuMemFree_v2");
  // It waits for the GPU.
  const std::vector<Stream*> all = streams;
  for (Stream* stream : all)
    if (std::find(streams.begin(), streams.end(), stream) != streams.end() && current != nullptr && stream->device == current->device) finish_all(*stream);
  return lost != 0 ? lost : give(memory);
}
API cuMemAllocAsync(Ptr* memory, size_t bytes, Stream*) {
  ENTER("cuMemAllocAsync");
  return take(memory, bytes, true);
}
API cuDeviceCanAccessPeer(int* reaches, int device, int other) {
  *reaches = atoi(setting("FAKE_CUDA_PEERS", "1"));
  return device == other ? 101 : injected("cuDeviceCanAccessPeer");
}
API cuDeviceGetMemPool(std::set<int>** pool, int device) {
  ENTER("cuDeviceGetMemPool");
  *pool = &pools[device];
  return 0;
}
struct MemoryAccess {
  int location, device, access;
};
API cuMemPoolSetAttribute(std::set<int>* pool, int attribute, void* value) {
  ENTER("cuMemPoolSetAttribute");
  // How much of what is free the driver keeps.
  return pool == nullptr || attribute != 4 || value == nullptr ? 1 : 0;
}
API cuMemPoolTrimTo(std::set<int>* pool, size_t) {
  ENTER("cuMemPoolTrimTo");
  return pool == nullptr ? 1 : 0;
}
API cuMemPoolSetAccess(std::set<int>* pool, const MemoryAccess* access, size_t count) {
  ENTER("cuMemPoolSetAccess");
  for (size_t i = 0; i < count; i++) {
    if (access[i].location != 1 || access[i].access != 3) return 1;
    pool->insert(access[i].device);
  }
  return 0;
}
API cuMemFreeAsync(Ptr memory, Stream* stream) {
  ENTER("cuMemFreeAsync");
  if (blocks.count(memory) == 0) return 1;
  add(stream, [=] { give(memory); });
  return 0;
}
API cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  ENTER("cuMemHostAlloc");
  char* data = static_cast<char*>(malloc(bytes));
  if (data == nullptr) return 2;
  memset(data, kFresh, bytes);
  pinned[data] = bytes;
  *memory = data;
  return 0;
}
API cuMemFreeHost(void* memory) {
  LOCK;
  const auto found = pinned.find(static_cast<char*>(memory));
  if (found == pinned.end()) return 1;
  memset(memory, kFreed, found->second);
  pinned.erase(found);
  free(memory);
  return lost;
}
API cuMemcpyHtoDAsync_v2(Ptr to, const void* from, size_t bytes, Stream* stream) {
  ENTER("cuMemcpyHtoDAsync_v2");
  // Only what is pinned is read later.
  if (!is_pinned(from)) return 1;
  add(stream, [=] {
    if (char* target = inside(to, bytes)) memcpy(target, from, bytes);
  });
  return 0;
}
API cuMemcpyDtoHAsync_v2(void* to, Ptr from, size_t bytes, Stream* stream) {
  ENTER("cuMemcpyDtoHAsync_v2");
  if (!is_pinned(to)) return 1;
  add(stream, [=] {
    if (const char* source = inside(from, bytes)) memcpy(to, source, bytes);
  });
  return 0;
}
API cuMemcpyDtoDAsync_v2(Ptr to, Ptr from, size_t bytes, Stream* stream) {
  ENTER("cuMemcpyDtoDAsync_v2");
  add(stream, [=] {
    char *target = inside(to, bytes), *source = inside(from, bytes);
    if (target != nullptr && source != nullptr) memcpy(target, source, bytes);
  });
  return 0;
}
API cuMemcpyPeerAsync(Ptr to, Context* there, Ptr from, Context* here, size_t bytes, Stream* stream) {
  ENTER("cuMemcpyPeerAsync");
  const auto is_of = [](Ptr at, const Context* context) {
    const auto next = blocks.upper_bound(at);
    return next != blocks.begin() && std::prev(next)->second.device == context->device;
  };
  if (there == nullptr || here == nullptr || !is_of(to, there) || !is_of(from, here)) return 1;
  add(stream, [=] {
    char *target = inside(to, bytes), *source = inside(from, bytes);
    if (target != nullptr && source != nullptr) memcpy(target, source, bytes);
  });
  return 0;
}
API cuMemsetD8Async(Ptr to, unsigned char value, size_t bytes, Stream* stream) {
  ENTER("cuMemsetD8Async");
  add(stream, [=] {
    if (char* target = inside(to, bytes)) memset(target, value, bytes);
  });
  return 0;
}
API cuStreamCreate(Stream** stream, unsigned) {
  ENTER("cuStreamCreate");
  if (current == nullptr) return 201;
  streams.push_back(*stream = new Stream());
  (*stream)->device = current->device;
  return 0;
}
API cuStreamSynchronize(Stream* stream) {
  ENTER("cuStreamSynchronize");
  if (stream->captured != nullptr) {
    stream->is_broken = true;
    return 900;
  }
  finish_all(*stream);
  return lost;
}
API cuStreamQuery(Stream* stream) {
  ENTER("cuStreamQuery");
  const bool is_done = run(*stream, stream->added);
  return lost != 0 ? lost : is_done ? 0 : 600;
}
API cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  ENTER("cuStreamWaitEvent");
  // The event may be recorded again, or destroyed, before the stream comes there.
  if (event->stream != nullptr)
    add_step(stream, [other = event->stream, behind = event->behind] {
      const bool is_there = std::find(streams.begin(), streams.end(), other) != streams.end();
      return !is_there || run(*other, behind);
    });
  return 0;
}
// For the fake NCCL: a step that is asked again until it is done. `memory` must be the stream's GPU's.
API fakeCudaStep(Stream* stream, const void* memory, bool (*step)(void*), void* data) {
  LOCK;
  auto next = blocks.upper_bound(reinterpret_cast<Ptr>(memory));
  if (next == blocks.begin() || (--next)->second.device != stream->device) return 1;
  add_step(stream, [=] { return step(data); });
  return 0;
}
// Whether kernels of a GPU may use memory of this process, as NCCL's use that of callers on other GPUs.
API fakeCudaReaches(const void* memory, int device) {
  LOCK;
  auto next = blocks.upper_bound(reinterpret_cast<Ptr>(memory));
  if (next == blocks.begin()) return 0;
  const Block& block = (--next)->second;
  return atoi(setting("FAKE_CUDA_PEERS", "1")) == 0 || block.device == device || !block.pooled || pools[block.device].count(device) > 0;
}
API cuStreamDestroy_v2(Stream* stream) {
  LOCK;
  finish_all(*stream);
  streams.erase(std::find(streams.begin(), streams.end(), stream));
  delete stream;
  return lost;
}
API cuEventCreate(Event** event, unsigned) {
  ENTER("cuEventCreate");
  *event = new Event();
  return 0;
}
API cuEventRecord(Event* event, Stream* stream) {
  ENTER("cuEventRecord");
  *event = {stream, stream->added};
  return 0;
}
API cuEventQuery(Event* event) {
  ENTER("cuEventQuery");
  if (event->stream == nullptr) return 0;
  // A GPU gets on while somebody asks.
  if (!run(*event->stream, std::min(event->behind, event->stream->done + 2))) run_others(*event->stream);
  return lost != 0 ? lost : event->stream->done >= event->behind ? 0 : 600;
}
API cuEventSynchronize(Event* event) {
  ENTER("cuEventSynchronize");
  if (event->stream != nullptr) finish(*event->stream, event->behind);
  return lost;
}
API cuEventDestroy_v2(Event* event) {
  LOCK;
  delete event;
  return lost;
}
API cuModuleLoadData(Module** module, const void* image) {
  ENTER("cuModuleLoadData");
  const char* bytes = static_cast<const char*>(image);
  if (memcmp(bytes, ELFMAG, SELFMAG) == 0) {
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    return load(module, {bytes, header.e_shoff + size_t(header.e_shnum) * header.e_shentsize});
  }
  // The fake compiler writes the library into the text, in hexadecimal digits.
  const char* at = strstr(bytes, "// fake ");
  if (at == nullptr) return strstr(bytes, ".visible .entry") == nullptr ? 218 : load_ptx(module, bytes);
  char* digits = nullptr;
  const size_t length = strtoull(at + 8, &digits, 10);
  std::string library;
  unsigned value = 0;
  if (*digits++ != ':') return 218;
  for (; sscanf(digits, "%2x", &value) == 1 && strlen(digits) > 1; digits += 2) library += static_cast<char>(value);
  return library.size() == length ? load(module, library) : 218;
}
API cuModuleUnload(Module* module) {
  LOCK;
  dlclose(module->library);
  delete module;
  return lost;
}
API cuModuleGetFunction(const FakeKernel** function, Module* module, const char* name) {
  ENTER("cuModuleGetFunction");
  for (const FakeKernel& kernel : module->kernels)
    if (strcmp(kernel.name, name) == 0) {
      *function = &kernel;
      return 0;
    }
  return 500;
}
namespace {
// What each kernel may be given, and what no GPU gives more than.
std::map<const FakeKernel*, unsigned> most_shared;
constexpr unsigned kMostShared = 227 * 1024;
}  // namespace
API cuFuncSetAttribute(const FakeKernel* kernel, int attribute, int value) {
  ENTER("cuFuncSetAttribute");
  if (attribute != 8 || value < 0 || unsigned(value) > kMostShared) return 1;
  most_shared[kernel] = unsigned(value);
  return 0;
}
namespace {
struct Node {
  const FakeKernel* kernel;
  unsigned grid[3], block[3], shared;
  std::string arguments;
  // Of a library, instead of a kernel: what it does with the arguments. It tells what is wrong.
  const char* (*work)(const char*) = nullptr;
  // Of a graph in the graph.
  std::vector<Node> children;
};
struct Graph {
  std::vector<Node*> nodes;
};
struct GraphExec {
  std::vector<Node> nodes;
  std::vector<const Node*> from;
};
// As CUDA_KERNEL_NODE_PARAMS_v1.
struct NodeParams {
  const FakeKernel* kernel;
  unsigned grid[3], block[3], shared;
  void **parameters, **extra;
};
// The arguments in the kernel's memory.
int arguments_of(const FakeKernel* kernel, void** parameters, void** extra, std::string* made) {
  if ((parameters == nullptr) == (extra == nullptr)) return 1;
  if (extra != nullptr) {
    // GPUs have such parameters behind a gap of their own, of which nothing is said.
    if (*static_cast<size_t*>(extra[3]) != kernel->bytes || kernel->alignment > 16) return 1;
    made->assign(static_cast<const char*>(extra[1]), kernel->bytes);
    return 0;
  }
  made->assign(kernel->bytes, '\xff');
  for (size_t i = 0; i < kernel->count; i++) memcpy(&(*made)[kernel->offsets[i]], parameters[i], kernel->sizes[i]);
  return 0;
}
int node_of(const FakeKernel* kernel, const unsigned* grid, const unsigned* block, unsigned shared, void** parameters, void** extra, Node* node) {
  const auto [gx, gy, gz] = std::tuple(grid[0], grid[1], grid[2]);
  const size_t threads = size_t(block[0]) * block[1] * block[2];
  if (gx == 0 || gy == 0 || gz == 0 || gy > 65535 || gz > 65535 || threads == 0 || threads > 1024) return 1;
  std::string arguments;
  if (const int error = arguments_of(kernel, parameters, extra, &arguments)) return error;
  const auto most = most_shared.find(kernel);
  if (shared > (most == most_shared.end() ? 48u * 1024 : std::max(most->second, 48u * 1024))) return 1;
  *node = {kernel, {gx, gy, gz}, {block[0], block[1], block[2]}, shared, arguments};
  return 0;
}
bool is_alike(const std::vector<Node>& some, const std::vector<Node>& others) {
  if (some.size() != others.size()) return false;
  for (size_t i = 0; i < some.size(); i++)
    if (some[i].kernel != others[i].kernel || some[i].work != others[i].work || some[i].arguments.size() != others[i].arguments.size()) return false;
  return true;
}
void run_node(const Node& node) {
  for (const Node& child : node.children) run_node(child);
  if (node.work != nullptr && lost == 0)
    if (const char* failed = node.work(node.arguments.data())) lose(719, failed);
  if (node.kernel == nullptr) return;
  const char* failed = lost != 0 ? nullptr : node.kernel->run(node.grid, node.block, node.arguments.data(), atoi(setting("FAKE_CUDA_ORDER", "0")), node.shared);
  if (failed != nullptr) lose(719, failed);
}
// Adds nodes to a stream, all as one piece of work.
void launch(Stream* stream, std::vector<Node> nodes) {
  if (stream->captured != nullptr) {
    stream->captured->insert(stream->captured->end(), nodes.begin(), nodes.end());
    return;
  }
  const int late = atoi(setting("FAKE_CUDA_LATE", "0"));
  unsetenv("FAKE_CUDA_LATE");
  add(stream, [=] {
    if (late != 0) return lose(late, "a kernel fails as it was told to");
    for (const Node& node : nodes) run_node(node);
  });
}
}  // namespace

API cuLaunchKernel(const FakeKernel* kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   Stream* stream, void** parameters, void** extra) {
  ENTER("cuLaunchKernel");
  const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  Node node;
  if (const int error = node_of(kernel, grid, block, shared, parameters, extra, &node)) return error;
  launch(stream, {node});
  return 0;
}
API cuTensorMapEncodeTiled(tc_map* map, int type, uint32_t rank, Ptr memory, const uint64_t* sizes, const uint64_t* strides, const uint32_t* box,
                           const uint32_t* steps, int interleave, int swizzle, int promotion, int fill) {
  ENTER("cuTensorMapEncodeTiled");
  if (reinterpret_cast<uintptr_t>(map) % 64 != 0 || interleave != 0 || promotion < 0 || promotion > 3 || fill != 0) return 1;
  for (uint32_t i = 0; i < rank; i++)
    if (steps[i] != 1) return 1;
  tc_map made{};
  const char* refused = shim::makeMap(&made, type, rank, memory, sizes, strides, box, swizzle);
  if (refused != nullptr) {
    fprintf(stderr, "the fake driver: %s\n", refused);
    return 1;
  }
  *map = made;
  return 0;
}
API cuGraphCreate(Graph** graph, unsigned) {
  ENTER("cuGraphCreate");
  *graph = new Graph();
  return 0;
}
API cuGraphAddKernelNode(Node** node, Graph* graph, Node* const* behind, size_t count, const NodeParams* params) {
  ENTER("cuGraphAddKernelNode");
  // Only chains: their order is that of the nodes.
  if (count != (graph->nodes.empty() ? 0 : 1) || (count == 1 && behind[0] != graph->nodes.back())) return 1;
  Node made;
  if (const int error = node_of(params->kernel, params->grid, params->block, params->shared, params->parameters, params->extra, &made)) return error;
  graph->nodes.push_back(*node = new Node(made));
  return 0;
}
API cuGraphAddChildGraphNode(Node** node, Graph* graph, Node* const* behind, size_t count, const Graph* child) {
  ENTER("cuGraphAddChildGraphNode");
  if (count != (graph->nodes.empty() ? 0 : 1) || (count == 1 && behind[0] != graph->nodes.back())) return 1;
  Node made{};
  for (const Node* each : child->nodes) made.children.push_back(*each);
  graph->nodes.push_back(*node = new Node(made));
  return 0;
}
API cuStreamBeginCapture_v2(Stream* stream, int mode) {
  ENTER("cuStreamBeginCapture_v2");
  if (mode < 0 || mode > 2) return 1;
  if (stream->captured != nullptr) return 900;
  stream->captured = std::make_shared<std::vector<Node>>();
  stream->is_broken = false;
  return 0;
}
API cuStreamEndCapture(Stream* stream, Graph** graph) {
  LOCK;
  *graph = nullptr;
  if (stream->captured == nullptr) return 1;
  // It ends, whatever happens.
  const auto nodes = std::move(stream->captured);
  stream->captured = nullptr;
  if (const int error = injected("cuStreamEndCapture")) return error;
  if (stream->is_broken) return 901;
  *graph = new Graph();
  for (const Node& node : *nodes) (*graph)->nodes.push_back(new Node(node));
  return 0;
}
// For the fake cuBLASLt: work in the order of a stream, or in the graph that it captures.
API fakeCudaWork(Stream* stream, const char* (*work)(const char*), const char* data, size_t bytes) {
  LOCK;
  Node node{};
  node.arguments.assign(data, bytes);
  node.work = work;
  launch(stream, {node});
  return lost;
}
API fakeCudaDeviceOf(const Stream* stream) { return stream->device; }
// Whether bytes lie in memory of a GPU.
API fakeCudaHas(const void* at, size_t count, int device) {
  LOCK;
  auto next = blocks.upper_bound(reinterpret_cast<Ptr>(at));
  if (next == blocks.begin()) return 0;
  const auto& [start, block] = *--next;
  const size_t offset = reinterpret_cast<Ptr>(at) - start;
  return block.device == device && offset <= block.bytes && count <= block.bytes - offset;
}
API cuGraphInstantiateWithFlags(GraphExec** executable, Graph* graph, unsigned long long) {
  ENTER("cuGraphInstantiateWithFlags");
  *executable = new GraphExec();
  for (const Node* node : graph->nodes) {
    (*executable)->nodes.push_back(*node);
    (*executable)->from.push_back(node);
  }
  return 0;
}
API cuGraphExecKernelNodeSetParams(GraphExec* executable, const Node* node, const NodeParams* params) {
  ENTER("cuGraphExecKernelNodeSetParams");
  for (size_t i = 0; i < executable->nodes.size(); i++)
    if (executable->from[i] == node) {
      if (params->kernel != executable->nodes[i].kernel) return 1;
      return node_of(params->kernel, params->grid, params->block, params->shared, params->parameters, params->extra, &executable->nodes[i]);
    }
  return 1;
}
API cuGraphExecChildGraphNodeSetParams(GraphExec* executable, const Node* node, const Graph* child) {
  ENTER("cuGraphExecChildGraphNodeSetParams");
  std::vector<Node> children;
  for (const Node* each : child->nodes) children.push_back(*each);
  for (size_t i = 0; i < executable->nodes.size(); i++)
    if (executable->from[i] == node) {
      if (!is_alike(executable->nodes[i].children, children)) return 910;
      executable->nodes[i].children = std::move(children);
      return 0;
    }
  return 1;
}
// What is launched keeps the arguments that it has now.
API cuGraphLaunch(GraphExec* executable, Stream* stream) {
  ENTER("cuGraphLaunch");
  launch(stream, executable->nodes);
  return 0;
}
API cuGraphExecDestroy(GraphExec* executable) {
  ENTER("cuGraphExecDestroy");
  delete executable;
  return 0;
}
API cuGraphDestroy(Graph* graph) {
  ENTER("cuGraphDestroy");
  for (const Node* node : graph->nodes) delete node;
  delete graph;
  return 0;
}

// The compiler.
namespace {
struct Program {
  std::string text, log, image;
  bool machine = true;
};

// The kernels that a text defines, as a list for FAKE_KERNELS.
std::string kernels_of(const std::string& text) {
  std::string list;
  for (size_t at = 0; (at = text.find("__global__ void", at)) != std::string::npos; at++) {
    const size_t open = text.find('(', text.compare(at + 16, 17, "__launch_bounds__") == 0 ? text.find(')', at) : at);
    const size_t start = text.find_last_of(" \n", open) + 1;
    const std::string name = text.substr(start, open - start);
    const bool named = text.find("namespace ns_" + name + " ") != std::string::npos;
    const bool barriers = text.find("wg_workgroupBarrier()") != std::string::npos || text.find("__syncthreads()") != std::string::npos;
    list += (list.empty() ? "" : ", ") + ("FAKE_KERNEL(\"" + name + "\", " + (named ? "ns_" + name + "::" : "") + name + ", " +
                                         (barriers ? "true" : "false") + ")");
  }
  return list;
}
}  // namespace

API nvrtcVersion(int* major, int* minor) {
  *major = 12;
  *minor = 8;
  return 0;
}
extern "C" __attribute__((visibility("default"))) const char* nvrtcGetErrorString(int error) {
  return error == 0 ? "NVRTC_SUCCESS" : error == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR";
}
API nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return 0;
}
API nvrtcGetSupportedArchs(int* known) {
  *known = atoi(setting("FAKE_CUDA_ARCHS", "90"));
  return 0;
}
API nvrtcCreateProgram(Program** program, const char* text, const char*, int, const char* const*, const char* const*) {
  *program = new Program();
  (*program)->text = text;
  return 0;
}
API nvrtcDestroyProgram(Program** program) {
  delete *program;
  return 0;
}
API nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  for (int i = 0; i < count; i++)
    if (strncmp(options[i], "--gpu-architecture=compute_", 27) == 0) program->machine = false;
  const std::string source = program->text + "\nFAKE_KERNELS(" + kernels_of(program->text) + ")\n";
  return compile(source, &program->image, &program->log) ? 0 : 6;
}
API nvrtcGetProgramLogSize(Program* program, size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}
API nvrtcGetProgramLog(Program* program, char* log) {
  memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}
API nvrtcGetCUBINSize(Program* program, size_t* size) {
  *size = program->image.size();
  return program->machine ? 0 : 8;
}
API nvrtcGetCUBIN(Program* program, char* image) {
  memcpy(image, program->image.data(), program->image.size());
  return 0;
}
static std::string ptx_of(const Program* program) {
  std::string text = ".version 8.0\n.target sm_80\n// fake " + std::to_string(program->image.size()) + ":";
  char digits[3];
  for (const unsigned char byte : program->image) {
    snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}
API nvrtcGetPTXSize(Program* program, size_t* size) {
  *size = ptx_of(program).size() + 1;
  return 0;
}
API nvrtcGetPTX(Program* program, char* text) {
  const std::string ptx = ptx_of(program);
  memcpy(text, ptx.c_str(), ptx.size() + 1);
  return 0;
}
