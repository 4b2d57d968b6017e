// A cuBLASLt for machines without a GPU, on the fake driver of fake_cuda.cc, which EAGRE_CUDA_DRIVER names. It is made to show mistakes: descriptions
// that do not fit each other or are destroyed, memory of another GPU or beyond its end, addresses that are less aligned than was said, and an algorithm
// for another product are errors. Products are computed in the order of the stream, as the descriptions say. Some algorithms need a workspace, which is written over.
// Environment variables are read at each call: FAKE_CUBLASLT_VERSION (120901), FAKE_CUBLASLT_FAIL=function:status[:calls before],
// FAKE_CUBLASLT_NONE=1 (there is no algorithm), FAKE_CUBLASLT_CALLS (a file to which a line is added for each call of a function with a handle)
#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "fake_settings.h"

namespace {

constexpr int kSuccess = 0, kInvalidValue = 7, kExecutionFailed = 13, kNotSupported = 15;
constexpr int kReal32 = 0, kReal64 = 1, kReal16 = 2, kBrain16 = 14;
constexpr int kCompute32 = 68, kCompute64 = 70, kComputeTensorFloat32 = 77;
constexpr uint64_t kAlgorithm = 0xa190a190a190a190;
// Deep products need so many bytes of a workspace.
constexpr uint64_t kDeep = 48, kWorkspace = 4;

std::mutex lock;

int injected(const char* function) {
  note_call("FAKE_CUBLASLT_CALLS", function);
  return injected_by("FAKE_CUBLASLT_FAIL", function);
}

template <class F> F driver(const char* name) {
  void* library = dlopen(setting("EAGRE_CUDA_DRIVER", "libcuda.so.1"), RTLD_NOW);
  return reinterpret_cast<F>(library != nullptr ? dlsym(library, name) : nullptr);
}

// What was made and not destroyed.
auto& alive = *new std::set<const void*>();
template <class T> T* made() {
  const std::lock_guard<std::mutex> locked(lock);
  T* object = new T();
  alive.insert(object);
  return object;
}
bool is_alive(const void* object) {
  const std::lock_guard<std::mutex> locked(lock);
  return alive.count(object) > 0;
}
template <class T> int destroy(T* object) {
  const std::lock_guard<std::mutex> locked(lock);
  if (alive.erase(object) == 0) return kInvalidValue;
  delete object;
  return kSuccess;
}

struct Handle {
  int device;
};
struct Description {
  int compute, scale;
  int32_t transposed[2] = {0, 0};
  uint32_t epilogue = 1;
  uint64_t bias = 0;
};
struct Layout {
  int type;
  uint64_t rows, columns;
  int64_t leading, stride = 0;
  int32_t batches = 1;
};
struct Preference {
  uint64_t workspace = 0;
  uint32_t reductions = 7;
  uint32_t alignments[4] = {256, 256, 256, 256};
};
struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  int status;
  float waves;
  int reserved[4];
};

// A product in the stream: all that it needs.
struct Work {
  Description description;
  Layout a, b, d;
  uint64_t at_a, at_b, at_d, workspace, workspace_bytes;
  int device;
};

size_t size_of(int type) { return type == kReal64 ? 8 : type == kReal32 ? 4 : 2; }

double value_of(const char* at, int type, bool is_rounded) {
  if (type == kReal64) {
    double value;
    memcpy(&value, at, sizeof value);
    return value;
  }
  if (type == kReal32) {
    uint32_t bits;
    memcpy(&bits, at, sizeof bits);
    if (is_rounded) bits = (bits + 0xfff + ((bits >> 13) & 1)) & ~0x1fffu;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  uint16_t half;
  memcpy(&half, at, sizeof half);
  if (type == kBrain16) {
    const uint32_t bits = static_cast<uint32_t>(half) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  _Float16 value;
  memcpy(&value, &half, sizeof value);
  return static_cast<double>(value);
}
void store(char* at, int type, double sum) {
  if (type == kReal64) {
    memcpy(at, &sum, sizeof sum);
    return;
  }
  const float value = static_cast<float>(sum);
  if (type == kReal32) {
    memcpy(at, &value, sizeof value);
  } else if (type == kReal16) {
    const _Float16 half = static_cast<_Float16>(value);
    memcpy(at, &half, sizeof half);
  } else {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t half = std::isnan(value) ? 0x7fc0 : static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
    memcpy(at, &half, sizeof half);
  }
}

// Bytes from the first to the last element.
size_t extent(const Layout& layout) {
  return (static_cast<size_t>(layout.batches - 1) * static_cast<size_t>(layout.stride) + (layout.columns - 1) * static_cast<size_t>(layout.leading) + layout.rows) *
         size_of(layout.type);
}
bool has(uint64_t at, size_t bytes, int device) {
  static const auto ask = driver<int (*)(const void*, size_t, int)>("fakeCudaHas");
  return ask(reinterpret_cast<const void*>(at), bytes, device) != 0;
}

const char* compute(const char* data) {
  Work work;
  memcpy(&work, data, sizeof work);
  const auto& [description, a, b, d, at_a, at_b, at_d, workspace, workspace_bytes, device] = work;
  const uint64_t depth = description.transposed[0] ? a.rows : a.columns;
  if (!has(at_a, extent(a), device) || !has(at_b, extent(b), device) || !has(at_d, extent(d), device)) return "a product goes beyond its memory";
  if (workspace_bytes > 0) {
    if (!has(workspace, workspace_bytes, device)) return "a workspace goes beyond its memory";
    memset(reinterpret_cast<void*>(workspace), 0x77, workspace_bytes);
  }
  if ((description.epilogue & 4) != 0 && !has(description.bias, d.rows * size_of(d.type), device)) return "a bias goes beyond its memory";
  const bool is_rounded = description.compute == kComputeTensorFloat32;
  const auto element = [&](uint64_t at, const Layout& layout, int32_t batch, uint64_t row, uint64_t column) {
    const size_t place = static_cast<size_t>(batch) * static_cast<size_t>(layout.stride) + column * static_cast<size_t>(layout.leading) + row;
    return reinterpret_cast<char*>(at) + place * size_of(layout.type);
  };
  for (int32_t batch = 0; batch < d.batches; batch++)
    for (uint64_t column = 0; column < d.columns; column++)
      for (uint64_t row = 0; row < d.rows; row++) {
        double sum = 0;
        for (uint64_t k = 0; k < depth; k++) {
          const char* left = description.transposed[0] ? element(at_a, a, batch, k, row) : element(at_a, a, batch, row, k);
          const char* right = description.transposed[1] ? element(at_b, b, batch, column, k) : element(at_b, b, batch, k, column);
          sum += value_of(left, a.type, is_rounded) * value_of(right, b.type, is_rounded);
        }
        if ((description.epilogue & 4) != 0) sum += value_of(reinterpret_cast<const char*>(description.bias) + row * size_of(d.type), d.type, false);
        if ((description.epilogue & 2) != 0 && sum < 0) sum = 0;
        store(element(at_d, d, batch, row, column), d.type, sum);
      }
  return nullptr;
}

// Whether a product is one, of things that are alive.
bool fits(const Handle* handle, const Description* o, const Layout* a, const Layout* b, const Layout* c, const Layout* d) {
  for (const void* each : {static_cast<const void*>(handle), static_cast<const void*>(o), static_cast<const void*>(a), static_cast<const void*>(b), static_cast<const void*>(c),
                           static_cast<const void*>(d)})
    if (!is_alive(each)) return false;
  int device = -1;
  if (driver<int (*)(int*)>("cuCtxGetDevice")(&device) != 0 || device != handle->device) return false;
  for (const Layout* each : {a, b, c, d}) {
    if (each->type != d->type || each->batches != d->batches || each->leading < static_cast<int64_t>(each->rows)) return false;
    if (each->batches > 1 && each->stride < 0) return false;
  }
  if (d->batches > 1 && d->stride < static_cast<int64_t>(d->columns) * d->leading) return false;
  const bool is_double = d->type == kReal64;
  if (o->scale != (is_double ? kReal64 : kReal32)) return false;
  if (is_double ? o->compute != kCompute64 : o->compute != kCompute32 && (o->compute != kComputeTensorFloat32 || d->type != kReal32)) return false;
  if (o->epilogue != 1 && o->epilogue != 2 && o->epilogue != 4 && o->epilogue != 6) return false;
  if ((o->epilogue & 4) != 0 && o->bias == 0) return false;
  const auto [rows, depth] = o->transposed[0] ? std::pair(a->columns, a->rows) : std::pair(a->rows, a->columns);
  const auto [other, columns] = o->transposed[1] ? std::pair(b->columns, b->rows) : std::pair(b->rows, b->columns);
  return depth == other && rows == d->rows && columns == d->columns && c->rows == d->rows && c->columns == d->columns && c->leading == d->leading;
}

// What an algorithm is good for.
uint64_t key_of(const Description& o, const Layout& a, const Layout& b, const Layout& d) {
  uint64_t key = 1469598103934665603u;
  const auto add = [&](uint64_t value) { key = (key ^ value) * 1099511628211u; };
  for (const uint64_t value : {uint64_t(o.compute), uint64_t(o.transposed[0]), uint64_t(o.transposed[1]), uint64_t(o.epilogue)}) add(value);
  for (const Layout* each : {&a, &b, &d})
    for (const uint64_t value : {uint64_t(each->type), each->rows, each->columns, uint64_t(each->leading), uint64_t(each->stride), uint64_t(each->batches)}) add(value);
  return key;
}

template <class T> bool set(T* to, const void* from, size_t bytes) {
  if (bytes != sizeof(T)) return false;
  memcpy(to, from, bytes);
  return true;
}

}  // namespace

#define API extern "C" __attribute__((visibility("default")))
#define ENTER(function) \
  if (const int error = injected(function)) return error

API size_t cublasLtGetVersion() { return strtoull(setting("FAKE_CUBLASLT_VERSION", "120901"), nullptr, 10); }
API const char* cublasLtGetStatusName(int status) {
  return status == 3 ? "CUBLAS_STATUS_ALLOC_FAILED" : status == 7 ? "CUBLAS_STATUS_INVALID_VALUE" : status == 13 ? "CUBLAS_STATUS_EXECUTION_FAILED" : "CUBLAS_STATUS_UNKNOWN";
}
API const char* cublasLtGetStatusString(int status) {
  return status == 3 ? "the resource allocation failed" : status == 7 ? "an unsupported value or parameter was passed to the function" : status == 13 ? "the function failed to launch on the GPU" : "unknown";
}
API int cublasLtCreate(Handle** handle) {
  ENTER("cublasLtCreate");
  int device = 0;
  if (driver<int (*)(int*)>("cuCtxGetDevice")(&device) != 0) return 1;
  *handle = made<Handle>();
  (*handle)->device = device;
  return kSuccess;
}
API int cublasLtDestroy(Handle* handle) { return destroy(handle); }
API int cublasLtMatmulDescCreate(Description** description, int compute_type, int scale_type) {
  ENTER("cublasLtMatmulDescCreate");
  *description = made<Description>();
  (*description)->compute = compute_type;
  (*description)->scale = scale_type;
  return kSuccess;
}
API int cublasLtMatmulDescDestroy(Description* description) { return destroy(description); }
API int cublasLtMatmulDescSetAttribute(Description* o, int attribute, const void* value, size_t bytes) {
  if (!is_alive(o)) return kInvalidValue;
  bool is_set = false;
  if (attribute == 3 || attribute == 4) is_set = set(&o->transposed[attribute - 3], value, bytes);
  else if (attribute == 7) is_set = set(&o->epilogue, value, bytes);
  else if (attribute == 8) is_set = set(&o->bias, value, bytes);
  return is_set ? kSuccess : kInvalidValue;
}
API int cublasLtMatrixLayoutCreate(Layout** layout, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  if (rows == 0 || columns == 0) return kInvalidValue;
  *layout = made<Layout>();
  (*layout)->type = type;
  (*layout)->rows = rows;
  (*layout)->columns = columns;
  (*layout)->leading = leading;
  return kSuccess;
}
API int cublasLtMatrixLayoutDestroy(Layout* layout) { return destroy(layout); }
API int cublasLtMatrixLayoutSetAttribute(Layout* layout, int attribute, const void* value, size_t bytes) {
  if (!is_alive(layout)) return kInvalidValue;
  bool is_set = false;
  if (attribute == 5) is_set = set(&layout->batches, value, bytes) && layout->batches > 0;
  else if (attribute == 6) is_set = set(&layout->stride, value, bytes);
  return is_set ? kSuccess : kInvalidValue;
}
API int cublasLtMatmulPreferenceCreate(Preference** preference) {
  *preference = made<Preference>();
  return kSuccess;
}
API int cublasLtMatmulPreferenceDestroy(Preference* preference) { return destroy(preference); }
API int cublasLtMatmulPreferenceSetAttribute(Preference* preference, int attribute, const void* value, size_t bytes) {
  if (!is_alive(preference)) return kInvalidValue;
  bool is_set = false;
  if (attribute == 1) is_set = set(&preference->workspace, value, bytes);
  else if (attribute == 3) is_set = set(&preference->reductions, value, bytes);
  else if (attribute >= 5 && attribute <= 8) is_set = set(&preference->alignments[attribute - 5], value, bytes);
  return is_set ? kSuccess : kInvalidValue;
}
API int cublasLtMatmulAlgoGetHeuristic(Handle* handle, Description* o, Layout* a, Layout* b, Layout* c, Layout* d, Preference* preference, int count, Heuristic* results,
                                       int* found) {
  ENTER("cublasLtMatmulAlgoGetHeuristic");
  *found = 0;
  if (!is_alive(preference) || count < 1 || !fits(handle, o, a, b, c, d)) return kInvalidValue;
  // Sums whose order is that of the blocks, or of 16 bits: none of the callers wants them.
  if ((preference->reductions & ~2u) != 0) return kInvalidValue;
  if (setting("FAKE_CUBLASLT_NONE", nullptr) != nullptr) return kNotSupported;
  uint32_t alignment = 0;
  for (const uint32_t each : preference->alignments) {
    if (each < size_of(d->type) || (each & (each - 1)) != 0) return kInvalidValue;
    alignment = alignment == 0 ? each : std::min(alignment, each);
  }
  const uint64_t depth = o->transposed[0] ? a->rows : a->columns;
  // The best one cannot be used, as happens.
  if (count > 1) results[(*found)++] = {{}, 0, kNotSupported, 0, {}};
  const size_t workspace = depth >= kDeep && preference->workspace >= kWorkspace ? kWorkspace : 0;
  results[(*found)++] = {{{kAlgorithm, key_of(*o, *a, *b, *d), alignment, workspace, 0, 0, 0, 0}}, workspace, kSuccess, 1, {}};
  return kSuccess;
}
API int cublasLtMatmul(Handle* handle, Description* o, const void* alpha, const void* at_a, Layout* a, const void* at_b, Layout* b, const void* beta, const void* at_c, Layout* c,
                       void* at_d, Layout* d, const Algorithm* algorithm, void* workspace, size_t workspace_bytes, void* stream) {
  ENTER("cublasLtMatmul");
  if (!fits(handle, o, a, b, c, d) || algorithm == nullptr) return kInvalidValue;
  static const auto device_of = driver<int (*)(const void*)>("fakeCudaDeviceOf");
  static const auto add = driver<int (*)(void*, const char* (*)(const char*), const char*, size_t)>("fakeCudaWork");
  if (device_of(stream) != handle->device) return kInvalidValue;
  const auto [magic, key, alignment, needed, e, f, g, h] = algorithm->data;
  if (magic != kAlgorithm || key != key_of(*o, *a, *b, *d)) return kInvalidValue;
  if (workspace_bytes < needed || (needed > 0 && (workspace == nullptr || reinterpret_cast<uint64_t>(workspace) % 256 != 0))) return kInvalidValue;
  std::vector<const void*> addresses = {at_a, at_b, at_c, at_d};
  if ((o->epilogue & 4) != 0) addresses.push_back(reinterpret_cast<const void*>(o->bias));
  for (const void* address : addresses)
    if (address == nullptr || reinterpret_cast<uint64_t>(address) % alignment != 0) return kInvalidValue;
  const bool is_double = o->scale == kReal64;
  const double one = is_double ? *static_cast<const double*>(alpha) : *static_cast<const float*>(alpha);
  const double none = is_double ? *static_cast<const double*>(beta) : *static_cast<const float*>(beta);
  if (one != 1 || none != 0) return kInvalidValue;
  const auto number = [](const void* address) { return reinterpret_cast<uint64_t>(address); };
  const Work work{*o, *a, *b, *d, number(at_a), number(at_b), number(at_d), number(workspace), needed, handle->device};
  return add(stream, compute, reinterpret_cast<const char*>(&work), sizeof work) == 0 ? kSuccess : kExecutionFailed;
}
