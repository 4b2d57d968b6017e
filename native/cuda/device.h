// One GPU: its memory, its one stream, its modules. Used by one thread. Whatever the caller passes, a call ends or throws a Failure.
#pragma once
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

#include "cublas_lt.h"
#include "driver.h"
#include "launcher.h"

namespace eagre::cuda {

struct DeviceInfo {
  std::string name;
  int compute_major = 0, compute_minor = 0, multiprocessors = 0, driver_version = 0;
  size_t bytes = 0;
  // Whether memory is taken and given back in the order of the stream.
  bool has_memory_pools = false;
  bool has_graphs = false;
  // Whether kernels may have tensor maps.
  bool has_tensor_maps = false;
};

enum : uint32_t { kKernel = 0, kProduct = 1 };
// The head of a launch in a list of launches. Its arguments are behind it, as the kernel has them in its memory, `pointers` addresses first; zeros
// fill them up to a multiple of 8 bytes. A product has nothing but addresses, no grid and no block, and its number instead of the function's. The
// arguments of a kernel with tensor maps begin with what they are of, for which the kernel has the maps.
struct LaunchHead {
  uint32_t function, grid[3], block[3], pointers, bytes;
  uint16_t kind, maps = 0;
};
// Matrices behind each other, of whose lines kernels copy tiles: how many elements a line has, lines a matrix, and how many matrices there are; the bytes
// from a line to the next and from a matrix to the next; the elements and the lines of a tile, which is turned around as lines of 128 bytes are.
struct TensorShape {
  CUdeviceptr memory;
  uint64_t strides[2];
  uint32_t sizes[3], box[2], type;
};

// Memory of the host that the GPU can reach, and the event behind the last call that uses it.
struct Pinned {
  char* data = nullptr;
  size_t capacity = 0;
  CUevent event = nullptr;
};

class Device;

// A read that is under way.
class Transfer {
 public:
  ~Transfer();
  size_t bytes() const { return bytes_; }
  bool is_done();
  // Waits, and copies the bytes out. Once only.
  void finish(void* to);

 private:
  friend class Device;
  Transfer(std::shared_ptr<Device> device, Pinned pinned, size_t bytes) : device_(std::move(device)), pinned_(pinned), bytes_(bytes) {}
  void check_open() const;
  std::shared_ptr<Device> device_;
  Pinned pinned_;
  size_t bytes_;
};

class Device : public std::enable_shared_from_this<Device> {
 public:
  Device(std::shared_ptr<const Driver> driver, int ordinal);
  ~Device() { close(); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceInfo& info() const { return info_; }
  CUdeviceptr allocate(size_t bytes);
  // What was called before may still use it.
  void free(CUdeviceptr memory);
  // The caller may change the bytes afterwards.
  void write(CUdeviceptr to, const void* bytes, size_t count);
  std::unique_ptr<Transfer> start_read(CUdeviceptr from, size_t count);
  void copy(CUdeviceptr to, CUdeviceptr from, size_t count);
  // From another GPU, behind what that was told before; what it is told later waits until its memory is read.
  void copy_from(CUdeviceptr to, Device& other, CUdeviceptr from, size_t count);
  void fill(CUdeviceptr to, uint8_t value, size_t count);

  // Takes a cubin, a fatbin or PTX, and gives the number of its module.
  uint32_t load(const void* image, size_t bytes);
  void unload(uint32_t module);
  // The number of a kernel of a module. Each launch gives it so many bytes of shared memory beside those that it declares.
  uint32_t function(uint32_t module, const std::string& name, unsigned shared = 0);
  // @param arguments as the kernel has them in its memory: `pointers` addresses first, then other values.
  void launch(uint32_t function, const unsigned grid[3], const unsigned block[3], const void* arguments, size_t bytes, size_t pointers);
  // Finds the library for products, once. Failure UNAVAILABLE, which says of each library why it cannot be used.
  const Products& open_products(const std::vector<std::string>& paths);
  // The number of a product for lists of launches, or 0 where the library has no algorithm for it.
  uint32_t product(const ProductShape& shape);
  // The bytes that each call of a product needs besides.
  size_t workspace(uint32_t product) const;
  // What was launched still runs to its end; graphs that have it do, too.
  void drop_product(uint32_t product);
  // The launches of a list, one by one. They are told to the driver later, before any other call: what it says of them is thrown by one of the next
  // launches, graphs, reads or waits.
  void launch_all(const void* list, size_t bytes);
  // Has the driver told now what was launched. Throws nothing that it says.
  void settle() const;
  // The number of a graph that does what a list says, or 0 where the driver cannot make it. Nothing is launched.
  uint32_t make_graph(const void* list, size_t bytes);
  // Launches a list by a graph, whose nodes take the arguments of this list first, where they are others; also later, as `launch_all`.
  // @returns false, and nothing is done, where the graph cannot do what the list says, or could not the last time: then it was done one by one.
  bool launch_graph(uint32_t graph, const void* list, size_t bytes);
  // What was launched still runs to its end.
  void drop_graph(uint32_t graph);

  // The number of an event behind what was called before.
  uint32_t record();
  bool is_done(uint32_t event);
  // As the driver knows it, for other libraries.
  CUevent handle(uint32_t event) const;
  void wait(uint32_t event);
  void drop(uint32_t event);
  void synchronize();
  // Bytes that are free on the GPU, for all programs.
  size_t free_bytes();
  // Gives everything back. Nothing but `info` and `close` may be called any more.
  void close() noexcept;

 private:
  friend class Group;
  friend class Transfer;
  struct Module {
    CUmodule module;
    std::vector<uint32_t> functions;
  };
  struct Function {
    CUfunction handle;
    unsigned shared;
  };
  struct Launch {
    Function function;
    // Null for a kernel.
    const Product* product;
    LaunchHead head;
    // Of the head in the list, and of the whole launch.
    size_t at, bytes;
    const char* arguments;
    // What the kernel has instead of those, if it has tensor maps.
    std::string mapped;
  };
  struct Graph {
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    std::vector<CUgraphNode> nodes;
    // What it does now, and the state of memory and kernels in which that was checked.
    std::string list;
    uint64_t epoch = 0;
    // Whether it cannot do what it was asked last.
    std::shared_ptr<std::atomic<bool>> is_broken = std::make_shared<std::atomic<bool>>(false);
  };
  template <class F> static CUresult with_node(const Launch& launch, F body);
  Launch read_launch(const void* list, size_t bytes, size_t at) const;
  std::vector<Launch> read_launches(const void* list, size_t bytes) const;
  void run(const Launch& launch, CUstream stream) const;
  void run_all(const std::vector<Launch>& launches) const;
  bool run_graph(Graph& graph, const std::string& list);
  CUresult build(Graph& graph, const std::vector<Launch>& launches);
  CUresult capture(const Launch& launch, CUgraph* graph);
  CUresult add_node(Graph& graph, const Launch& launch);
  CUresult set_node(const Graph& graph, CUgraphNode node, const Launch& launch);
  void destroy(Graph& graph) const noexcept;
  // Begins every call but launches: the driver is told what was launched before.
  void enter() const;
  // Failure where nothing can be called any more.
  void check_usable() const;
  // Notes what the driver said of launches meanwhile, and throws it where it has not been thrown yet.
  void note_late() const;
  void throw_late() const;
  void check(CUresult result, const char* function) const;
  bool is_done(CUevent event) const;
  void wait_for(const Device& other) const;
  void check_range(CUdeviceptr memory, size_t count, const char* what) const;
  TensorMap map_of(const TensorShape& shape) const;
  std::string with_maps(const LaunchHead& head, const char* arguments) const;
  template <class F> static CUresult with_launch(const Launch& launch, F body);
  void check_pointers(const void* arguments, size_t bytes, size_t pointers) const;
  void check_operands(const Product& product, const LaunchHead& head, const char* arguments) const;
  CUresult take(CUdeviceptr* memory, size_t bytes) const;
  void keep_memory();
  Pinned pin(size_t bytes);
  Pinned new_pinned(size_t capacity);
  void unpin(Pinned pinned) noexcept;
  void keep(Pinned pinned) noexcept;
  void fly(Pinned pinned);
  void land(bool wait_for_all);
  void drop_pinned() noexcept;

  std::shared_ptr<const Driver> driver_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  // Null where the driver has none, or no way to tell it what to keep.
  CUmemoryPool pool_ = nullptr;
  CUstream stream_ = nullptr;
  DeviceInfo info_;
  bool closed_ = false;
  // The name of the error that ended the context.
  mutable std::string lost_;
  std::map<CUdeviceptr, size_t> live_;
  std::unordered_map<uint32_t, Module> modules_;
  std::unordered_map<uint32_t, Function> functions_;
  std::unordered_map<uint32_t, CUevent> events_;
  std::unordered_map<uint32_t, Graph> graphs_;
  std::unique_ptr<Products> library_;
  std::unordered_map<uint32_t, std::unique_ptr<Product>> products_;
  // Those that were made last, by the bytes of their shapes.
  mutable std::unordered_map<std::string, TensorMap> maps_;
  mutable std::mutex maps_lock_;
  // Where calls of products are captured for graphs.
  CUstream capturing_ = nullptr;
  // How often memory and kernels were given back.
  uint64_t epoch_ = 0;
  uint32_t next_ = 1;
  // Uploads that may be under way, oldest first; then memory that waits for its next use, by size.
  std::deque<Pinned> flying_;
  size_t flying_bytes_ = 0;
  std::multimap<size_t, Pinned> pinned_;
  size_t pinned_bytes_ = 0;
  std::set<Transfer*> transfers_;
  // What a launch said that was told to the driver later.
  mutable std::exception_ptr late_;
  mutable Launcher launcher_;
};

}  // namespace eagre::cuda
