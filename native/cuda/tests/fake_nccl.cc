// An NCCL for machines without a GPU, on the fake driver of fake_cuda.cc, which EAGRE_CUDA_DRIVER names. Ranks, in threads or processes,
// meet in a file of shared memory that the unique id names. It is made to show mistakes: whoever calls before the communicator has ended the last call,
// does something else than the others, or gives memory of another GPU gets an error. A rank that is dead holds all others up, until they abort.
// Environment variables: FAKE_NCCL_VERSION (22103), FAKE_NCCL_FAIL=function:error (at once), FAKE_NCCL_LATE=function:error (told by the communicator),
// FAKE_NCCL_CALLS (a file to which a line is added for each group of calls)
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fake_settings.h"

namespace {

constexpr int kSuccess = 0, kUnhandledCuda = 1, kSystem = 2, kInvalidArgument = 4, kInvalidUsage = 5, kInProgress = 7;
constexpr size_t kMostRanks = 8, kBuffer = size_t(16) << 20;
// What a rank of a process is in.
thread_local int group_depth = 0;

// What all ranks must do alike.
struct What {
  int kind, type, op, root;
  uint64_t count;
  bool operator==(const What& o) const { return kind == o.kind && type == o.type && op == o.op && root == o.root && count == o.count; }
};
enum : int { kAllReduce, kReduce, kBroadcast, kAllGather, kGroup };

struct Place {
  std::atomic<int> joined;
  int gpu, process, device;
  // How many operations it has given its part of, and how many it has read.
  std::atomic<uint64_t> posted, read;
  What what;
  // Of a group: where what it sends to each rank begins, and how much it is.
  uint64_t start[kMostRanks], bytes[kMostRanks];
};
struct Shared {
  Place places[kMostRanks];
};

struct Part {
  bool is_send;
  void* memory;
  size_t bytes;
  int peer;
};

struct Comm {
  int rank = 0, ranks = 0, gpu = 0;
  std::string path;
  Shared* shared = nullptr;
  char* buffers = nullptr;
  // It exists for others from the end of the group on, in which it was made.
  bool is_starting = false;
  bool has_begun = false, aborted = false;
  int device = 0;
  // The last call is not ended until it was asked after twice.
  int pending = 0;
  int error = 0;
  uint64_t count = 0;
  std::string last;
  std::vector<std::shared_ptr<struct Step>> held;
  std::vector<Part> parts;
  void* stream = nullptr;

  ~Comm() { munmap(shared, sizeof(Shared) + static_cast<size_t>(ranks) * kBuffer); }
  Place& place(int r) const { return shared->places[r]; }
  char* buffer(int r) const { return buffers + static_cast<size_t>(r) * kBuffer; }
  bool all(std::atomic<uint64_t> Place::*field, uint64_t least) const {
    for (int r = 0; r < ranks; r++)
      if ((place(r).*field).load() < least) return false;
    return true;
  }
};

size_t size_of(int type) { return type <= 1 ? 1 : type == 6 || type == 9 ? 2 : type <= 3 || type == 7 ? 4 : 8; }

// As NCCL's: integers wrap around, and no NaN is cared for.
template <class T, class Sum> void combine(T* into, const T* x, size_t count, int op) {
  for (size_t i = 0; i < count; i++) {
    if (op == 0) into[i] = static_cast<T>(static_cast<Sum>(into[i]) + static_cast<Sum>(x[i]));
    else if (op == 2 ? into[i] < x[i] : x[i] < into[i]) into[i] = x[i];
  }
}
void combine(void* into, const void* x, const What& what) {
  switch (what.type) {
    case 0:
    case 1: return combine<uint8_t, uint8_t>(static_cast<uint8_t*>(into), static_cast<const uint8_t*>(x), what.count, what.op);
    case 3:
    case 2: return combine<int32_t, uint32_t>(static_cast<int32_t*>(into), static_cast<const int32_t*>(x), what.count, what.op);
    case 5:
    case 4: return combine<int64_t, uint64_t>(static_cast<int64_t*>(into), static_cast<const int64_t*>(x), what.count, what.op);
    case 7: return combine<float, float>(static_cast<float*>(into), static_cast<const float*>(x), what.count, what.op);
    case 6: return combine<_Float16, float>(static_cast<_Float16*>(into), static_cast<const _Float16*>(x), what.count, what.op);
    case 9: {
      auto* a = static_cast<uint16_t*>(into);
      const auto* b = static_cast<const uint16_t*>(x);
      const auto wide = [](uint16_t bits) {
        const uint32_t all = static_cast<uint32_t>(bits) << 16;
        float value;
        memcpy(&value, &all, sizeof value);
        return value;
      };
      for (size_t i = 0; i < what.count; i++) {
        const float sum = wide(a[i]) + wide(b[i]);
        uint32_t all;
        memcpy(&all, &sum, sizeof all);
        a[i] = static_cast<uint16_t>((all + 0x7fff + ((all >> 16) & 1)) >> 16);
      }
      return;
    }
    default: return combine<double, double>(static_cast<double*>(into), static_cast<const double*>(x), what.count, what.op);
  }
}

// An operation in a stream.
struct Step {
  std::shared_ptr<Comm> comm;
  What what;
  const void* in;
  void* out;
  std::vector<Part> parts;
  void* stream;
  uint64_t number = 0;
  bool given = false;

  // Whether it is done.
  bool go() {
    Comm& c = *comm;
    if (c.aborted) return true;
    Place& own = c.place(c.rank);
    if (!given) {
      // The others have read what was in the buffer.
      if (!c.all(&Place::read, number - 1)) return false;
      give(own, c.buffer(c.rank));
      own.posted = number;
      given = true;
    }
    if (!c.all(&Place::posted, number)) return false;
    for (int r = 0; r < c.ranks; r++)
      if (!(c.place(r).what == what)) {
        c.last = "the ranks do different things";
        c.error = kInvalidUsage;
        return false;
      }
    take(c);
    own.read = number;
    return true;
  }

  void give(Place& own, char* buffer) const {
    own.what = what;
    const size_t bytes = what.count * size_of(what.type);
    if (what.kind != kGroup) {
      if (what.kind != kBroadcast || comm->rank == what.root) memcpy(buffer, in, bytes);
      return;
    }
    memset(own.bytes, 0, sizeof own.bytes);
    size_t at = 0;
    for (const Part& part : parts) {
      if (!part.is_send) continue;
      own.start[part.peer] = at;
      own.bytes[part.peer] = part.bytes;
      memcpy(buffer + at, part.memory, part.bytes);
      at += part.bytes;
    }
  }

  void take(Comm& c) const {
    const size_t bytes = what.count * size_of(what.type);
    switch (what.kind) {
      case kReduce:
        if (c.rank != what.root) return;
        [[fallthrough]];
      case kAllReduce: {
        // From the last rank on, as if it were a ring that begins anywhere.
        std::vector<char> sum(c.buffer(c.ranks - 1), c.buffer(c.ranks - 1) + bytes);
        for (int r = c.ranks - 2; r >= 0; r--) combine(sum.data(), c.buffer(r), what);
        memcpy(out, sum.data(), bytes);
        return;
      }
      case kBroadcast: memcpy(out, c.buffer(what.root), bytes); return;
      case kAllGather:
        for (int r = 0; r < c.ranks; r++) memcpy(static_cast<char*>(out) + r * bytes, c.buffer(r), bytes);
        return;
      default:
        for (const Part& part : parts) {
          if (part.is_send) continue;
          const Place& other = c.place(part.peer);
          if (other.bytes[c.rank] != part.bytes) {
            c.last = "what is sent and what is received differ in size";
            c.error = kInvalidUsage;
          } else {
            memcpy(part.memory, c.buffer(part.peer) + other.start[c.rank], part.bytes);
          }
        }
    }
  }
};

using Handle = std::shared_ptr<Comm>*;
// The communicators that calls of this thread's group are for.
thread_local std::vector<Handle> in_group;

bool step(void* data) {
  auto* held = static_cast<std::shared_ptr<Step>*>(data);
  if (!(*held)->go()) return false;
  delete held;
  return true;
}

template <class F> F driver(const char* name) {
  void* library = dlopen(setting("EAGRE_CUDA_DRIVER", "libcuda.so.1"), RTLD_NOW);
  return reinterpret_cast<F>(library != nullptr ? dlsym(library, name) : nullptr);
}

int begin(Handle handle, const char* function) {
  Comm& comm = **handle;
  if (const int error = injected_by("FAKE_NCCL_FAIL", function)) return error;
  if (comm.error != 0) return comm.error;
  // Calls of one group come together.
  const bool is_grouped = std::find(in_group.begin(), in_group.end(), handle) != in_group.end();
  if (comm.pending > 0 && !is_grouped) {
    comm.last = std::string(function) + " before the last call has ended";
    return kInvalidUsage;
  }
  return kSuccess;
}

// What is told of is queued only when the communicator has ended the call.
int hold(Handle handle, const char* function, const What& what, const void* in, void* out, void* stream, std::vector<Part> parts = {}) {
  Comm& comm = **handle;
  if (what.count * size_of(what.type) > kBuffer) return kInvalidArgument;
  comm.held.push_back(std::make_shared<Step>(Step{*handle, what, in, out, std::move(parts), stream}));
  comm.pending = 2;
  if (group_depth > 0) in_group.push_back(handle);
  if (const int error = injected_by("FAKE_NCCL_LATE", function)) comm.error = error;
  return kInProgress;
}

int part(Handle handle, const char* function, const Part& part, void* stream) {
  if (const int error = begin(handle, function)) return error;
  if (group_depth == 0 || part.peer < 0 || part.peer >= (*handle)->ranks) return kInvalidUsage;
  (*handle)->parts.push_back(part);
  (*handle)->stream = stream;
  in_group.push_back(handle);
  return kSuccess;
}

}  // namespace

#define API extern "C" __attribute__((visibility("default"))) int
struct UniqueId {
  char bytes[128];
};
struct Config {
  size_t size;
  unsigned magic, version;
  int blocking;
};

API ncclGetVersion(int* version) {
  *version = atoi(setting("FAKE_NCCL_VERSION", "22103"));
  return 0;
}
API ncclGetUniqueId(UniqueId* id) {
  if (const int error = injected_by("FAKE_NCCL_FAIL", "ncclGetUniqueId")) return error;
  std::random_device random;
  memset(id, 0, sizeof *id);
  snprintf(id->bytes, sizeof id->bytes, "/eagre-fake-nccl-%d-%08x%08x", getpid(), random(), random());
  return 0;
}
API ncclCommInitRankConfig(Handle* handle, int ranks, UniqueId id, int rank, Config* config) {
  *handle = nullptr;
  if (const int error = injected_by("FAKE_NCCL_FAIL", "ncclCommInitRankConfig")) return error;
  if (config->size < 20 || config->magic != 0xcafebeef || config->version < 21400 || config->blocking != 0) return kInvalidArgument;
  if (ranks < 1 || ranks > static_cast<int>(kMostRanks) || rank < 0 || rank >= ranks) return kInvalidArgument;
  int device = 0;
  const auto current = driver<int (*)(int*)>("cuCtxGetDevice");
  if (current == nullptr || current(&device) != 0) return kUnhandledCuda;
  const size_t bytes = sizeof(Shared) + static_cast<size_t>(ranks) * kBuffer;
  const int file = shm_open(id.bytes, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return kSystem;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return kSystem;
  auto comm = std::make_shared<Comm>();
  comm->rank = rank;
  comm->ranks = ranks;
  comm->gpu = device + atoi(setting("FAKE_CUDA_FIRST", "0"));
  comm->path = id.bytes;
  comm->shared = static_cast<Shared*>(memory);
  comm->buffers = static_cast<char*>(memory) + sizeof(Shared);
  comm->pending = 1;
  comm->device = device;
  comm->place(rank).gpu = comm->gpu;
  comm->place(rank).process = getpid();
  comm->place(rank).device = device;
  if (group_depth == 0) comm->place(rank).joined = 1;
  else comm->is_starting = true;
  *handle = new std::shared_ptr<Comm>(std::move(comm));
  if (group_depth > 0) in_group.push_back(*handle);
  return kInProgress;
}
// Whether the GPUs of this process reach memory: NCCL's kernels use each other's buffers there.
static bool is_open(const Comm& comm, const void* memory) {
  const auto reaches = driver<int (*)(const void*, int)>("fakeCudaReaches");
  for (int r = 0; memory != nullptr && r < comm.ranks; r++)
    if (comm.place(r).process == getpid() && reaches(memory, comm.place(r).device) == 0) return false;
  return true;
}
API ncclCommGetAsyncError(Handle handle, int* error) {
  Comm& comm = **handle;
  if (!comm.has_begun) {
    *error = kInProgress;
    for (int r = 0; r < comm.ranks; r++)
      if (comm.place(r).joined == 0) return kSuccess;
    for (int r = 0; r < comm.ranks; r++)
      for (int s = 0; s < r; s++)
        if (comm.place(r).gpu == comm.place(s).gpu) {
          comm.last = "Duplicate GPU detected : rank " + std::to_string(s) + " and rank " + std::to_string(r);
          *error = comm.error = kInvalidUsage;
          return kSuccess;
        }
    // All have it, so it needs no name any more.
    shm_unlink(comm.path.c_str());
    comm.has_begun = true;
  }
  if (comm.pending > 0 && comm.error == 0 && --comm.pending == 0) {
    const auto add = driver<int (*)(void*, const void*, bool (*)(void*), void*)>("fakeCudaStep");
    for (auto& held : comm.held) {
      held->number = ++comm.count;
      const void* memory = !held->parts.empty() ? held->parts[0].memory : held->in != nullptr ? held->in : held->out;
      // Groups without parts touch nothing.
      if (memory == nullptr) continue;
      if (!is_open(comm, held->in) || !is_open(comm, held->out)) {
        comm.last = "memory that the other GPUs of the process cannot use";
        comm.error = kUnhandledCuda;
      } else if (add(held->stream, memory, step, new std::shared_ptr<Step>(held)) != 0) {
        comm.last = "memory of another GPU";
        comm.error = kInvalidArgument;
      }
    }
    comm.held.clear();
  }
  *error = comm.error != 0 ? comm.error : comm.pending > 0 ? kInProgress : kSuccess;
  return kSuccess;
}
static int end(Handle handle, bool aborted) {
  Comm& comm = **handle;
  comm.aborted = comm.aborted || aborted;
  comm.held.clear();
  if (aborted && !comm.has_begun) shm_unlink(comm.path.c_str());
  // Steps that are in a stream still hold the communicator, and its memory.
  delete handle;
  return 0;
}
API ncclCommFinalize(Handle handle) {
  if (const int error = begin(handle, "ncclCommFinalize")) return error;
  (*handle)->pending = 2;
  return kInProgress;
}
API ncclCommDestroy(Handle handle) { return (*handle)->pending > 0 ? kInvalidUsage : end(handle, false); }
API ncclCommAbort(Handle handle) { return end(handle, true); }
extern "C" __attribute__((visibility("default"))) const char* ncclGetErrorString(int error) {
  return error == 0 ? "no error" : error == 1 ? "unhandled cuda error" : error == 5 ? "invalid usage" : error == 6 ? "remote process exited or there was a network error" : "internal error";
}
extern "C" __attribute__((visibility("default"))) const char* ncclGetLastError(Handle handle) { return (*handle)->last.c_str(); }

API ncclAllReduce(const void* in, void* out, size_t count, int type, int op, Handle comm, void* stream) {
  if (const int error = begin(comm, "ncclAllReduce")) return error;
  return hold(comm, "ncclAllReduce", {kAllReduce, type, op, 0, count}, in, out, stream);
}
API ncclReduce(const void* in, void* out, size_t count, int type, int op, int root, Handle comm, void* stream) {
  if (const int error = begin(comm, "ncclReduce")) return error;
  return hold(comm, "ncclReduce", {kReduce, type, op, root, count}, in, out, stream);
}
API ncclBroadcast(const void* in, void* out, size_t count, int type, int root, Handle comm, void* stream) {
  if (const int error = begin(comm, "ncclBroadcast")) return error;
  return hold(comm, "ncclBroadcast", {kBroadcast, type, 0, root, count}, in, out, stream);
}
API ncclAllGather(const void* in, void* out, size_t count, int type, Handle comm, void* stream) {
  if (const int error = begin(comm, "ncclAllGather")) return error;
  return hold(comm, "ncclAllGather", {kAllGather, type, 0, 0, count}, in, out, stream);
}
API ncclSend(const void* in, size_t count, int type, int peer, Handle comm, void* stream) {
  return part(comm, "ncclSend", {true, const_cast<void*>(in), count * size_of(type), peer}, stream);
}
API ncclRecv(void* out, size_t count, int type, int peer, Handle comm, void* stream) {
  return part(comm, "ncclRecv", {false, out, count * size_of(type), peer}, stream);
}
API ncclGroupStart() {
  group_depth++;
  return 0;
}
API ncclGroupEnd() {
  if (group_depth == 0) return kInvalidUsage;
  if (--group_depth > 0) return 0;
  if (const char* calls = setting("FAKE_NCCL_CALLS", nullptr))
    if (FILE* file = fopen(calls, "ab")) {
      fprintf(file, "group of %zu\n", in_group.size());
      fclose(file);
    }
  int result = kSuccess;
  while (!in_group.empty()) {
    const Handle comm = in_group.back();
    in_group.pop_back();
    if ((*comm)->is_starting) {
      (*comm)->is_starting = false;
      (*comm)->place((*comm)->rank).joined = 1;
      result = kInProgress;
    }
    if (!(*comm)->held.empty()) result = kInProgress;
    if ((*comm)->parts.empty()) continue;
    result = hold(comm, "ncclGroupEnd", {kGroup, 1, 0, 0, 0}, nullptr, nullptr, (*comm)->stream, std::move((*comm)->parts));
    (*comm)->parts.clear();
  }
  return result;
}
