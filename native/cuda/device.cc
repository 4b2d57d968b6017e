#include "device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "image.h"

namespace eagre::cuda {

namespace {

// Uploads go in pieces, so that a large one needs little pinned memory.
constexpr size_t kPiece = size_t(4) << 20;
constexpr size_t kMostFlying = size_t(64) << 20;
constexpr size_t kMostPinned = size_t(64) << 20;
constexpr size_t kLeastPinned = 4096;
// The driver makes a map in less than a microsecond, so that those of a program's usual tensors are enough.
constexpr size_t kMostMaps = 4096;

size_t pinned_size(size_t bytes) {
  size_t size = kLeastPinned;
  while (size < bytes && size < (size_t(1) << 20)) size *= 2;
  return size >= bytes ? size : (bytes + size - 1) / size * size;
}

template <class Map>
auto& known(Map& map, uint32_t number, const char* what) {
  const auto found = map.find(number);
  if (found == map.end()) throw Failure("INVALID_ARGUMENT", std::string("there is no ") + what + " " + std::to_string(number));
  return found->second;
}

// Calls `body` with the driver's form of a kernel's arguments.
template <class F> CUresult with_arguments(const void* arguments, size_t bytes, F body) {
  // The driver's names of these: a buffer, its size, the end.
  void* extra[] = {reinterpret_cast<void*>(1), const_cast<void*>(arguments), reinterpret_cast<void*>(2), &bytes, nullptr};
  return body(extra);
}

}  // namespace

Transfer::~Transfer() {
  if (pinned_.data == nullptr) return;
  device_->transfers_.erase(this);
  // Nobody took the bytes; the GPU may still write them.
  device_->fly(pinned_);
}

void Transfer::check_open() const {
  if (pinned_.data == nullptr) throw Failure("FAILED_PRECONDITION", "this read is finished, or its device was closed");
}

bool Transfer::is_done() {
  check_open();
  device_->enter();
  return device_->is_done(pinned_.event);
}

void Transfer::finish(void* to) {
  check_open();
  device_->enter();
  device_->check(device_->driver_->cuEventSynchronize(pinned_.event), "cuEventSynchronize");
  std::memcpy(to, pinned_.data, bytes_);
  device_->transfers_.erase(this);
  device_->keep(pinned_);
  pinned_ = {};
}

Device::Device(std::shared_ptr<const Driver> driver, int ordinal)
    : driver_(std::move(driver)), launcher_([this] { driver_->cuCtxSetCurrent(context_); }) {
  const int count = driver_->devices();
  if (ordinal < 0 || ordinal >= count)
    throw Failure("NOT_FOUND", "there is no GPU " + std::to_string(ordinal) + ": the driver has " + std::to_string(count));
  driver_->check(driver_->cuDeviceGet(&device_, ordinal), "cuDeviceGet");
  char name[256] = "";
  driver_->check(driver_->cuDeviceGetName(name, sizeof name - 1, device_), "cuDeviceGetName");
  info_.name = name;
  driver_->check(driver_->cuDeviceTotalMem_v2(&info_.bytes, device_), "cuDeviceTotalMem");
  const auto attribute = [&](int which) {
    int value = 0;
    driver_->check(driver_->cuDeviceGetAttribute(&value, which, device_), "cuDeviceGetAttribute");
    return value;
  };
  info_.compute_major = attribute(kComputeMajor);
  info_.compute_minor = attribute(kComputeMinor);
  info_.multiprocessors = attribute(kMultiprocessors);
  info_.driver_version = driver_->version();
  int pools = 0;
  // Drivers older than pools do not know the attribute.
  info_.has_memory_pools = driver_->cuMemAllocAsync != nullptr && driver_->cuMemFreeAsync != nullptr &&
                           driver_->cuDeviceGetAttribute(&pools, kMemoryPools, device_) == kSuccess && pools != 0;
  info_.has_graphs = driver_->cuGraphCreate != nullptr && driver_->cuGraphAddKernelNode != nullptr &&
                     driver_->cuGraphInstantiateWithFlags != nullptr && driver_->cuGraphExecKernelNodeSetParams != nullptr &&
                     driver_->cuGraphLaunch != nullptr && driver_->cuGraphExecDestroy != nullptr && driver_->cuGraphDestroy != nullptr;
  int maps = 0;
  // Drivers older than 12.0 do not know the attribute.
  info_.has_tensor_maps = driver_->cuTensorMapEncodeTiled != nullptr && driver_->cuDeviceGetAttribute(&maps, kTensorMaps, device_) == kSuccess && maps != 0;
  driver_->check(driver_->cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
  try {
    driver_->check(driver_->cuCtxSetCurrent(context_), "cuCtxSetCurrent");
    driver_->check(driver_->cuStreamCreate(&stream_, kNonBlockingStream), "cuStreamCreate");
    keep_memory();
  } catch (...) {
    driver_->cuDevicePrimaryCtxRelease_v2(device_);
    throw;
  }
}

void Device::close() noexcept {
  if (closed_) return;
  launcher_.finish();
  closed_ = true;
  // Of a context that is lost, all of this fails, and there is nothing left to give back.
  driver_->cuCtxSetCurrent(context_);
  driver_->cuStreamSynchronize(stream_);
  for (Transfer* transfer : transfers_) {
    unpin(transfer->pinned_);
    transfer->pinned_ = {};
  }
  transfers_.clear();
  for (const Pinned& pinned : flying_) unpin(pinned);
  flying_.clear();
  drop_pinned();
  for (auto& [number, graph] : graphs_) destroy(graph);
  products_.clear();
  library_.reset();
  if (capturing_ != nullptr) driver_->cuStreamDestroy_v2(capturing_);
  for (const auto& [number, event] : events_) driver_->cuEventDestroy_v2(event);
  for (const auto& [number, module] : modules_) driver_->cuModuleUnload(module.module);
  for (const auto& [memory, bytes] : live_) {
    if (info_.has_memory_pools) driver_->cuMemFreeAsync(memory, stream_);
    else driver_->cuMemFree_v2(memory);
  }
  live_.clear();
  driver_->cuStreamSynchronize(stream_);
  driver_->cuStreamDestroy_v2(stream_);
  driver_->cuDevicePrimaryCtxRelease_v2(device_);
}

// Unless it is told so, the driver gives what is free back to the system whenever somebody waits, and takes it anew afterwards.
void Device::keep_memory() {
  if (!info_.has_memory_pools || driver_->cuDeviceGetMemPool == nullptr || driver_->cuMemPoolSetAttribute == nullptr) return;
  driver_->check(driver_->cuDeviceGetMemPool(&pool_, device_), "cuDeviceGetMemPool");
  uint64_t all = UINT64_MAX;
  driver_->check(driver_->cuMemPoolSetAttribute(pool_, kReleaseThreshold, &all), "cuMemPoolSetAttribute");
}

void Device::check_usable() const {
  if (closed_) throw Failure("FAILED_PRECONDITION", "the GPU was closed");
  if (lost_.empty()) return;
  // What has ended it is told first.
  if (late_ != nullptr) std::rethrow_exception(std::exchange(late_, nullptr));
  throw Failure("UNAVAILABLE", "the GPU is lost (" + lost_ + "): its tensors are gone, and the driver wants a new process; under tf.device('/cpu:0') this one goes on", lost_);
}

void Device::enter() const {
  settle();
  check_usable();
  check(driver_->cuCtxSetCurrent(context_), "cuCtxSetCurrent");
}

void Device::settle() const {
  launcher_.finish();
  note_late();
}

void Device::note_late() const {
  if (!launcher_.has_failed()) return;
  const std::exception_ptr failure = launcher_.take_failure();
  try {
    std::rethrow_exception(failure);
  } catch (const Failure& said) {
    if (ends_context(said.result)) lost_ = said.name;
  } catch (...) {
  }
  if (late_ == nullptr) late_ = failure;
}

void Device::throw_late() const {
  note_late();
  if (late_ != nullptr) std::rethrow_exception(std::exchange(late_, nullptr));
}

void Device::check(CUresult result, const char* function) const {
  if (result == kSuccess) return;
  const Failure failure = driver_->failure(result, function);
  if (ends_context(result)) lost_ = failure.name;
  throw failure;
}

bool Device::is_done(CUevent event) const {
  const CUresult result = driver_->cuEventQuery(event);
  if (result == kNotReady) return false;
  check(result, "cuEventQuery");
  return true;
}

void Device::check_range(CUdeviceptr memory, size_t count, const char* what) const {
  auto next = live_.upper_bound(memory);
  if (next != live_.begin()) {
    const auto& [start, bytes] = *--next;
    if (memory - start <= bytes && count <= bytes - (memory - start)) return;
  }
  throw Failure("INVALID_ARGUMENT", std::string(what) + ": " + std::to_string(count) + " bytes are not in memory of this GPU");
}

CUresult Device::take(CUdeviceptr* memory, size_t bytes) const {
  return info_.has_memory_pools ? driver_->cuMemAllocAsync(memory, bytes, stream_) : driver_->cuMemAlloc_v2(memory, bytes);
}

CUdeviceptr Device::allocate(size_t bytes) {
  enter();
  if (bytes == 0) throw Failure("INVALID_ARGUMENT", "memory of no bytes");
  CUdeviceptr memory = 0;
  const char* function = info_.has_memory_pools ? "cuMemAllocAsync" : "cuMemAlloc";
  CUresult result = take(&memory, bytes);
  if (result == kOutOfMemory) {
    // What was freed in the order of the stream is free once the stream is there, and in pieces until it is given back.
    check(driver_->cuStreamSynchronize(stream_), "cuStreamSynchronize");
    if (pool_ != nullptr && driver_->cuMemPoolTrimTo != nullptr) check(driver_->cuMemPoolTrimTo(pool_, 0), "cuMemPoolTrimTo");
    result = take(&memory, bytes);
  }
  check(result, function);
  live_[memory] = bytes;
  return memory;
}

void Device::free(CUdeviceptr memory) {
  enter();
  const auto found = live_.find(memory);
  if (found == live_.end()) throw Failure("INVALID_ARGUMENT", "memory that this GPU did not lend is given back");
  live_.erase(found);
  epoch_++;
  if (info_.has_memory_pools) check(driver_->cuMemFreeAsync(memory, stream_), "cuMemFreeAsync");
  else check(driver_->cuMemFree_v2(memory), "cuMemFree");
}

void Device::write(CUdeviceptr to, const void* bytes, size_t count) {
  enter();
  check_range(to, count, "write");
  for (size_t at = 0; at < count;) {
    const size_t piece = std::min(count - at, kPiece);
    const Pinned pinned = pin(piece);
    std::memcpy(pinned.data, static_cast<const char*>(bytes) + at, piece);
    const CUresult result = driver_->cuMemcpyHtoDAsync_v2(to + at, pinned.data, piece, stream_);
    if (result != kSuccess) keep(pinned);
    check(result, "cuMemcpyHtoDAsync");
    fly(pinned);
    at += piece;
  }
}

std::unique_ptr<Transfer> Device::start_read(CUdeviceptr from, size_t count) {
  enter();
  throw_late();
  check_range(from, count, "read");
  const Pinned pinned = pin(count);
  CUresult result = count == 0 ? kSuccess : driver_->cuMemcpyDtoHAsync_v2(pinned.data, from, count, stream_);
  if (result != kSuccess) keep(pinned);
  check(result, "cuMemcpyDtoHAsync");
  std::unique_ptr<Transfer> transfer(new Transfer(shared_from_this(), pinned, count));
  transfers_.insert(transfer.get());
  check(driver_->cuEventRecord(pinned.event, stream_), "cuEventRecord");
  return transfer;
}

void Device::copy(CUdeviceptr to, CUdeviceptr from, size_t count) {
  enter();
  check_range(from, count, "copy from");
  check_range(to, count, "copy to");
  if (count == 0) return;
  if (from < to + count && to < from + count && from != to) throw Failure("INVALID_ARGUMENT", "a copy of memory onto a part of itself");
  if (from != to) check(driver_->cuMemcpyDtoDAsync_v2(to, from, count, stream_), "cuMemcpyDtoDAsync");
}

// What this GPU is told from now on begins when the other is done with what it was told so far.
void Device::wait_for(const Device& other) const {
  other.enter();
  CUevent event = nullptr;
  other.check(driver_->cuEventCreate(&event, kDisableTiming), "cuEventCreate");
  CUresult result = driver_->cuEventRecord(event, other.stream_);
  const char* function = "cuEventRecord";
  if (result == kSuccess) {
    enter();
    function = "cuStreamWaitEvent";
    result = driver_->cuStreamWaitEvent(stream_, event, 0);
  }
  // The wait goes on without it.
  driver_->cuEventDestroy_v2(event);
  check(result, function);
}

void Device::copy_from(CUdeviceptr to, Device& other, CUdeviceptr from, size_t count) {
  enter();
  if (&other == this || other.driver_ != driver_) throw Failure("INVALID_ARGUMENT", "a copy from a GPU that is not another of this driver's");
  other.enter();
  other.check_range(from, count, "copy from");
  check_range(to, count, "copy to");
  if (count == 0) return;
  wait_for(other);
  enter();
  check(driver_->cuMemcpyPeerAsync(to, context_, from, other.context_, count, stream_), "cuMemcpyPeerAsync");
  other.wait_for(*this);
}

void Device::fill(CUdeviceptr to, uint8_t value, size_t count) {
  enter();
  check_range(to, count, "fill");
  if (count > 0) check(driver_->cuMemsetD8Async(to, value, count, stream_), "cuMemsetD8Async");
}

uint32_t Device::load(const void* image, size_t bytes) {
  enter();
  check_image(image, bytes);
  // PTX ends with a zero.
  std::string ended(static_cast<const char*>(image), bytes);
  CUmodule module = nullptr;
  check(driver_->cuModuleLoadData(&module, ended.c_str()), "cuModuleLoadData");
  modules_[next_] = {module, {}};
  return next_++;
}

void Device::unload(uint32_t number) {
  enter();
  Module& module = known(modules_, number, "module");
  // Its kernels may be running.
  check(driver_->cuStreamSynchronize(stream_), "cuStreamSynchronize");
  for (const uint32_t function : module.functions) functions_.erase(function);
  epoch_++;
  const CUresult result = driver_->cuModuleUnload(module.module);
  modules_.erase(number);
  check(result, "cuModuleUnload");
}

uint32_t Device::function(uint32_t number, const std::string& name, unsigned shared) {
  enter();
  Module& module = known(modules_, number, "module");
  CUfunction function = nullptr;
  check(driver_->cuModuleGetFunction(&function, module.module, name.c_str()), "cuModuleGetFunction");
  // Without this a launch may give 48 KB.
  if (shared > 0) check(driver_->cuFuncSetAttribute(function, kMostShared, static_cast<int>(shared)), "cuFuncSetAttribute");
  functions_[next_] = {function, shared};
  module.functions.push_back(next_);
  return next_++;
}

void Device::check_pointers(const void* arguments, size_t bytes, size_t pointers) const {
  if (pointers > bytes / sizeof(CUdeviceptr)) throw Failure("INVALID_ARGUMENT", "a launch has more pointers than bytes for them");
  for (size_t i = 0; i < pointers; i++) {
    CUdeviceptr memory = 0;
    std::memcpy(&memory, static_cast<const char*>(arguments) + i * sizeof memory, sizeof memory);
    check_range(memory, 1, "launch");
  }
}

static size_t element_bytes(uint32_t type) {
  switch (type) {
    case kMapFloat16:
    case kMapBfloat16:
      return 2;
    case kMapTensorFloat32:
      return 4;
    default:
      throw Failure("INVALID_ARGUMENT", "a tensor map of no type");
  }
}

TensorMap Device::map_of(const TensorShape& shape) const {
  size_t bytes = shape.sizes[0] * element_bytes(shape.type);
  for (int i = 0; i < 2; i++) {
    // The driver takes no longer strides.
    if (shape.sizes[0] == 0 || shape.sizes[i + 1] == 0 || shape.strides[i] >> 40 != 0 || shape.sizes[i + 1] >> 31 != 0) throw Failure("INVALID_ARGUMENT", "a tensor map of no size, or of too large a one");
    const uint64_t steps = shape.sizes[i + 1] - 1;
    if (steps != 0 && shape.strides[i] > (uint64_t(1) << 60) / steps) throw Failure("INVALID_ARGUMENT", "a tensor map of too large a size");
    bytes += steps * shape.strides[i];
  }
  check_range(shape.memory, bytes, "tensor map");
  const std::string key(reinterpret_cast<const char*>(&shape), sizeof shape);
  // Launches are read by several threads.
  const std::lock_guard<std::mutex> guard(maps_lock_);
  const auto known = maps_.find(key);
  if (known != maps_.end()) return known->second;
  if (!info_.has_tensor_maps) throw Failure("UNIMPLEMENTED", "the driver has no tensor maps");
  TensorMap map;
  const uint64_t sizes[] = {shape.sizes[0], shape.sizes[1], shape.sizes[2]};
  const uint32_t box[] = {shape.box[0], shape.box[1], 1}, steps[] = {1, 1, 1};
  driver_->check(driver_->cuTensorMapEncodeTiled(&map, static_cast<int>(shape.type), 3, shape.memory, sizes, shape.strides, box, steps, kNoInterleave, kSwizzle128, kPromote256, kFillZeros),
                 "cuTensorMapEncodeTiled");
  if (maps_.size() >= kMostMaps) maps_.clear();
  maps_.emplace(key, map);
  return map;
}

std::string Device::with_maps(const LaunchHead& head, const char* arguments) const {
  const size_t shapes = head.maps * sizeof(TensorShape);
  if (shapes > head.bytes) throw Failure("INVALID_ARGUMENT", "a launch has more tensor maps than bytes for them");
  std::string made;
  for (size_t i = 0; i < head.maps; i++) {
    TensorShape shape;
    std::memcpy(&shape, arguments + i * sizeof shape, sizeof shape);
    made.append(map_of(shape).bytes, sizeof(TensorMap));
  }
  check_pointers(arguments + shapes, head.bytes - shapes, head.pointers);
  return made.append(arguments + shapes, head.bytes - shapes);
}

void Device::launch(uint32_t number, const unsigned grid[3], const unsigned block[3], const void* arguments, size_t bytes, size_t pointers) {
  enter();
  Launch launch{};
  launch.function = known(functions_, number, "kernel");
  check_pointers(arguments, bytes, pointers);
  std::copy(grid, grid + 3, launch.head.grid);
  std::copy(block, block + 3, launch.head.block);
  launch.head.bytes = static_cast<uint32_t>(bytes);
  launch.arguments = static_cast<const char*>(arguments);
  run(launch, stream_);
}

// Of a launch in a list, with its arguments.
static size_t bytes_of(const LaunchHead& head) { return sizeof head + (size_t(head.bytes) + 7) / 8 * 8; }

Device::Launch Device::read_launch(const void* list, size_t bytes, size_t at) const {
  const char* start = static_cast<const char*>(list);
  Launch launch{};
  launch.at = at;
  if (bytes - at < sizeof launch.head) throw Failure("INVALID_ARGUMENT", "a list of launches is cut short");
  std::memcpy(&launch.head, start + at, sizeof launch.head);
  launch.bytes = bytes_of(launch.head);
  if (launch.bytes > bytes - at) throw Failure("INVALID_ARGUMENT", "a list of launches is cut short");
  launch.arguments = start + at + sizeof launch.head;
  if (launch.head.kind == kProduct) {
    launch.product = known(products_, launch.head.function, "product").get();
    check_operands(*launch.product, launch.head, launch.arguments);
  } else if (launch.head.kind == kKernel) {
    launch.function = known(functions_, launch.head.function, "kernel");
    if (launch.head.maps == 0) check_pointers(launch.arguments, launch.head.bytes, launch.head.pointers);
    else launch.mapped = with_maps(launch.head, launch.arguments);
  } else {
    throw Failure("INVALID_ARGUMENT", "a list has a launch of no kind");
  }
  return launch;
}

std::vector<Device::Launch> Device::read_launches(const void* list, size_t bytes) const {
  std::vector<Launch> launches;
  for (size_t at = 0; at < bytes; at += launches.back().bytes) launches.push_back(read_launch(list, bytes, at));
  return launches;
}

// A product's addresses are aligned as the list is, which need not be to 8 bytes.
static std::array<CUdeviceptr, 5> operands_of(const char* arguments, size_t count) {
  std::array<CUdeviceptr, 5> operands{};
  std::memcpy(operands.data(), arguments, count * sizeof operands[0]);
  return operands;
}

void Device::check_operands(const Product& product, const LaunchHead& head, const char* arguments) const {
  const size_t count = product.operands();
  if (head.pointers != count || head.bytes != count * sizeof(CUdeviceptr)) throw Failure("INVALID_ARGUMENT", "a product has other operands");
  const auto operands = operands_of(arguments, count);
  for (size_t i = 0; i < count; i++) check_range(operands[i], product.bytes(i), "product");
}

const Products& Device::open_products(const std::vector<std::string>& paths) {
  enter();
  if (library_ == nullptr) library_ = std::make_unique<Products>(paths, info_.driver_version, info_.compute_major);
  return *library_;
}

uint32_t Device::product(const ProductShape& shape) {
  enter();
  if (library_ == nullptr) throw Failure("FAILED_PRECONDITION", "the library for products is not open");
  auto product = library_->find(shape);
  if (product == nullptr) return 0;
  products_[next_] = std::move(product);
  return next_++;
}

size_t Device::workspace(uint32_t product) const { return known(products_, product, "product")->workspace(); }

void Device::drop_product(uint32_t product) {
  enter();
  known(products_, product, "product");
  products_.erase(product);
  epoch_++;
}

// Calls `body` with the arguments of a kernel's launch, as the driver takes them. Where a kernel's memory has its tensor maps, aligned to 64 bytes, the driver
// knows alone: they are given one by one.
template <class F> CUresult Device::with_launch(const Launch& launch, F body) {
  if (launch.head.maps == 0) return with_arguments(launch.arguments, launch.head.bytes, [&](void** extra) { return body(nullptr, extra); });
  std::vector<void*> parameters;
  char *at = const_cast<char*>(launch.mapped.data()), *end = at + launch.mapped.size();
  for (unsigned i = 0; i < launch.head.maps; i++, at += sizeof(TensorMap)) parameters.push_back(at);
  for (unsigned i = 0; i < launch.head.pointers; i++, at += sizeof(CUdeviceptr)) parameters.push_back(at);
  if (at < end) parameters.push_back(at);
  return body(parameters.data(), nullptr);
}

// Nothing here touches what only the caller's thread may: see `Launcher`.
void Device::run(const Launch& launch, CUstream stream) const {
  if (launch.product != nullptr) return launch.product->run(operands_of(launch.arguments, launch.product->operands()).data(), stream);
  const uint32_t *grid = launch.head.grid, *block = launch.head.block;
  driver_->check(with_launch(launch, [&](void** parameters, void** extra) {
    return driver_->cuLaunchKernel(launch.function.handle, grid[0], grid[1], grid[2], block[0], block[1], block[2], launch.function.shared, stream, parameters, extra);
  }), "cuLaunchKernel");
}

void Device::run_all(const std::vector<Launch>& launches) const {
  for (const Launch& launch : launches) run(launch, stream_);
}

void Device::launch_all(const void* list, size_t bytes) {
  throw_late();
  check_usable();
  std::string copy(static_cast<const char*>(list), bytes);
  std::vector<Launch> launches = read_launches(copy.data(), bytes);
  launcher_.add([this, copy = std::move(copy), launches = std::move(launches)]() mutable {
    // A short text moves with its object.
    for (Launch& launch : launches) launch.arguments = copy.data() + launch.at + sizeof launch.head;
    run_all(launches);
  });
}

// Calls `body` with a launch as a node of graphs has it.
template <class F> CUresult Device::with_node(const Launch& launch, F body) {
  return with_launch(launch, [&](void** parameters, void** extra) {
    KernelNode node{launch.function.handle, {}, {}, launch.function.shared, parameters, extra};
    std::copy(launch.head.grid, launch.head.grid + 3, node.grid);
    std::copy(launch.head.block, launch.head.block + 3, node.block);
    return body(node);
  });
}

// What the library does for a product, as a graph that belongs to the caller. kNotSupported where that cannot be had: launched one by one it goes on,
// or fails with its own error.
CUresult Device::capture(const Launch& launch, CUgraph* graph) {
  *graph = nullptr;
  if (driver_->cuStreamBeginCapture_v2 == nullptr || driver_->cuStreamEndCapture == nullptr || driver_->cuGraphAddChildGraphNode == nullptr ||
      driver_->cuGraphExecChildGraphNodeSetParams == nullptr)
    return kNotSupported;
  CUresult result = kSuccess;
  if (capturing_ == nullptr) result = driver_->cuStreamCreate(&capturing_, kNonBlockingStream);
  if (result == kSuccess) result = driver_->cuStreamBeginCapture_v2(capturing_, kRelaxedCapture);
  if (result != kSuccess) return ends_context(result) ? result : kNotSupported;
  bool is_told = true;
  try {
    run(launch, capturing_);
  } catch (const Failure&) {
    is_told = false;
  }
  result = driver_->cuStreamEndCapture(capturing_, graph);
  if (is_told && result == kSuccess) return kSuccess;
  if (*graph != nullptr) driver_->cuGraphDestroy(*graph);
  *graph = nullptr;
  return ends_context(result) ? result : kNotSupported;
}

CUresult Device::add_node(Graph& graph, const Launch& launch) {
  const CUgraphNode* last = graph.nodes.empty() ? nullptr : &graph.nodes.back();
  const size_t count = last == nullptr ? 0 : 1;
  CUgraphNode node = nullptr;
  CUresult result = kSuccess;
  if (launch.product == nullptr) {
    result = with_node(launch, [&](const KernelNode& kernel) { return driver_->cuGraphAddKernelNode(&node, graph.graph, last, count, &kernel); });
  } else {
    CUgraph child = nullptr;
    result = capture(launch, &child);
    if (result != kSuccess) return result;
    // It takes a copy.
    result = driver_->cuGraphAddChildGraphNode(&node, graph.graph, last, count, child);
    driver_->cuGraphDestroy(child);
  }
  graph.nodes.push_back(node);
  return result;
}

CUresult Device::set_node(const Graph& graph, CUgraphNode node, const Launch& launch) {
  if (launch.product == nullptr)
    return with_node(launch, [&](const KernelNode& kernel) { return driver_->cuGraphExecKernelNodeSetParams(graph.executable, node, &kernel); });
  CUgraph child = nullptr;
  CUresult result = capture(launch, &child);
  if (result != kSuccess) return result;
  result = driver_->cuGraphExecChildGraphNodeSetParams(graph.executable, node, child);
  driver_->cuGraphDestroy(child);
  // The graph cannot be changed so; another can be made.
  return result == kGraphUpdateFailure ? kNotSupported : result;
}

CUresult Device::build(Graph& graph, const std::vector<Launch>& launches) {
  CUresult result = driver_->cuGraphCreate(&graph.graph, 0);
  for (const Launch& launch : launches) {
    if (result != kSuccess) return result;
    result = add_node(graph, launch);
  }
  return result != kSuccess ? result : driver_->cuGraphInstantiateWithFlags(&graph.executable, graph.graph, 0);
}

uint32_t Device::make_graph(const void* list, size_t bytes) {
  enter();
  throw_late();
  const std::vector<Launch> launches = read_launches(list, bytes);
  if (!info_.has_graphs || launches.empty()) return 0;
  Graph graph;
  const CUresult result = build(graph, launches);
  if (result != kSuccess) destroy(graph);
  // Whoever calls can do without.
  if (result == kOutOfMemory || result == kNotSupported) return 0;
  check(result, "cuGraphInstantiate");
  graph.list.assign(static_cast<const char*>(list), bytes);
  graph.epoch = epoch_;
  graphs_[next_] = std::move(graph);
  return next_++;
}

// @returns false, and nothing is launched, where the graph cannot do it.
bool Device::run_graph(Graph& graph, const std::string& list) {
  // What is as it was needs no look, unless something has been given back meanwhile.
  const bool is_stale = graph.epoch != epoch_;
  if (is_stale || graph.list != list) {
    std::vector<std::pair<size_t, Launch>> changed;
    size_t i = 0, size = 0;
    for (size_t at = 0; at < list.size(); at += size, i++) {
      LaunchHead head;
      std::memcpy(&head, graph.list.data() + at, sizeof head);
      size = bytes_of(head);
      const bool is_same = graph.list.compare(at, size, list, at, size) == 0;
      if (is_same && !is_stale) continue;
      const Launch launch = read_launch(list.data(), list.size(), at);
      if (head.kind != launch.head.kind || head.maps != launch.head.maps || head.function != launch.head.function || head.bytes != launch.head.bytes) return false;
      if (!is_same) changed.emplace_back(i, launch);
    }
    for (const auto& [node, launch] : changed) {
      const CUresult result = set_node(graph, graph.nodes[node], launch);
      if (launch.product != nullptr && result == kNotSupported) return false;
      driver_->check(result, launch.product == nullptr ? "cuGraphExecKernelNodeSetParams" : "cuGraphExecChildGraphNodeSetParams");
      // What was launched before keeps its arguments.
      std::memcpy(&graph.list[launch.at], &list[launch.at], launch.bytes);
    }
    graph.epoch = epoch_;
  }
  driver_->check(driver_->cuGraphLaunch(graph.executable, stream_), "cuGraphLaunch");
  return true;
}

bool Device::launch_graph(uint32_t number, const void* list, size_t bytes) {
  throw_late();
  check_usable();
  Graph& graph = known(graphs_, number, "graph");
  if (graph.list.size() != bytes || *graph.is_broken) return false;
  launcher_.add([this, &graph, copy = std::string(static_cast<const char*>(list), bytes)] {
    if (!*graph.is_broken && run_graph(graph, copy)) return;
    *graph.is_broken = true;
    run_all(read_launches(copy.data(), copy.size()));
  });
  return true;
}

void Device::drop_graph(uint32_t number) {
  enter();
  destroy(known(graphs_, number, "graph"));
  graphs_.erase(number);
}

void Device::destroy(Graph& graph) const noexcept {
  if (graph.executable != nullptr) driver_->cuGraphExecDestroy(graph.executable);
  if (graph.graph != nullptr) driver_->cuGraphDestroy(graph.graph);
}

uint32_t Device::record() {
  enter();
  throw_late();
  CUevent event = nullptr;
  check(driver_->cuEventCreate(&event, kDisableTiming), "cuEventCreate");
  const CUresult result = driver_->cuEventRecord(event, stream_);
  if (result != kSuccess) driver_->cuEventDestroy_v2(event);
  check(result, "cuEventRecord");
  events_[next_] = event;
  return next_++;
}

bool Device::is_done(uint32_t number) {
  enter();
  return is_done(known(events_, number, "event"));
}

CUevent Device::handle(uint32_t number) const { return known(events_, number, "event"); }

void Device::wait(uint32_t number) {
  enter();
  check(driver_->cuEventSynchronize(known(events_, number, "event")), "cuEventSynchronize");
}

void Device::drop(uint32_t number) {
  enter();
  const CUevent event = known(events_, number, "event");
  events_.erase(number);
  check(driver_->cuEventDestroy_v2(event), "cuEventDestroy");
}

void Device::synchronize() {
  enter();
  throw_late();
  check(driver_->cuStreamSynchronize(stream_), "cuStreamSynchronize");
}

size_t Device::free_bytes() {
  enter();
  size_t free = 0, total = 0;
  check(driver_->cuMemGetInfo_v2(&free, &total), "cuMemGetInfo");
  return free;
}

Pinned Device::pin(size_t bytes) {
  land(false);
  const size_t capacity = pinned_size(bytes);
  const auto kept = pinned_.find(capacity);
  if (kept == pinned_.end()) return new_pinned(capacity);
  const Pinned pinned = kept->second;
  pinned_bytes_ -= capacity;
  pinned_.erase(kept);
  return pinned;
}

Pinned Device::new_pinned(size_t capacity) {
  Pinned pinned;
  pinned.capacity = capacity;
  void* data = nullptr;
  CUresult result = driver_->cuMemHostAlloc(&data, capacity, 0);
  if (result == kOutOfMemory) {
    land(true);
    drop_pinned();
    result = driver_->cuMemHostAlloc(&data, capacity, 0);
  }
  check(result, "cuMemHostAlloc");
  pinned.data = static_cast<char*>(data);
  result = driver_->cuEventCreate(&pinned.event, kDisableTiming);
  if (result != kSuccess) driver_->cuMemFreeHost(data);
  check(result, "cuEventCreate");
  return pinned;
}

void Device::unpin(Pinned pinned) noexcept {
  driver_->cuEventDestroy_v2(pinned.event);
  driver_->cuMemFreeHost(pinned.data);
}

// For its next use; the GPU is done with it.
void Device::keep(Pinned pinned) noexcept {
  if (pinned_bytes_ + pinned.capacity > kMostPinned) return unpin(pinned);
  pinned_bytes_ += pinned.capacity;
  pinned_.emplace(pinned.capacity, pinned);
}

// The GPU may still use it.
void Device::fly(Pinned pinned) {
  // A context that is lost uses nothing any more.
  if (driver_->cuEventRecord(pinned.event, stream_) != kSuccess) driver_->cuStreamSynchronize(stream_);
  flying_.push_back(pinned);
  flying_bytes_ += pinned.capacity;
}

void Device::land(bool wait_for_all) {
  while (!flying_.empty()) {
    const Pinned pinned = flying_.front();
    if (wait_for_all || flying_bytes_ > kMostFlying)
      check(driver_->cuEventSynchronize(pinned.event), "cuEventSynchronize");
    else if (!is_done(pinned.event))
      return;
    flying_.pop_front();
    flying_bytes_ -= pinned.capacity;
    keep(pinned);
  }
}

void Device::drop_pinned() noexcept {
  for (const auto& [capacity, pinned] : pinned_) unpin(pinned);
  pinned_.clear();
  pinned_bytes_ = 0;
}

}  // namespace eagre::cuda
