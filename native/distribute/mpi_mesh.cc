#include "mpi_mesh.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

namespace eagre::distribute {
namespace {

// The standard ABI, chapter 20 of MPI 5.0: handles are pointers, and those that are predefined are these.
using Handle = void*;
using Count = int64_t;
Handle handle(uintptr_t value) { return reinterpret_cast<Handle>(value); }
const Handle kWorld = handle(0x101), kErrorsReturn = handle(0x143), kRequestNull = handle(0x180);
const Handle kFloat = handle(0x210), kDouble = handle(0x214), kByte = handle(0x247), kInt32 = handle(0x250), kInt64 = handle(0x258);
constexpr int kSerialized = 2048, kErrorLength = 512;
void* const kInPlace = reinterpret_cast<void*>(1);
using Combine = void (*)(void* in, void* in_out, Count* count, Handle* type);

}  // namespace

struct Mpi {
  int (*Init_thread)(int*, char***, int, int*);
  int (*Initialized)(int*);
  int (*Finalized)(int*);
  int (*Query_thread)(int*);
  int (*Finalize)();
  int (*Abort)(Handle, int);
  int (*Comm_rank)(Handle, int*);
  int (*Comm_size)(Handle, int*);
  int (*Comm_idup)(Handle, Handle*, Handle*);
  int (*Comm_set_errhandler)(Handle, Handle);
  int (*Error_string)(int, char*, int*);
  int (*Op_create)(Combine, int, Handle*);
  int (*Test)(Handle*, int*, void*);
  int (*Ibarrier)(Handle, Handle*);
  int (*Ibcast)(void*, Count, Handle, int, Handle, Handle*);
  int (*Iallreduce)(const void*, void*, Count, Handle, Handle, Handle, Handle*);
  int (*Ireduce)(const void*, void*, Count, Handle, Handle, int, Handle, Handle*);
  int (*Iallgatherv)(const void*, Count, Handle, void*, const Count*, const intptr_t*, Handle, Handle, Handle*);
  int (*Ialltoallv)(const void*, const Count*, const intptr_t*, Handle, void*, const Count*, const intptr_t*, Handle, Handle, Handle*);
  // By element and reduction; null where there is none. A NaN wins, as in Gloo's.
  Handle ops[7][4] = {};
  // An operation was given up, so MPI cannot end in order.
  std::atomic<bool> broken{false};

  // The library of this process. @throws SetupError
  static Mpi& get() {
    static std::mutex mutex;
    static Mpi* found = nullptr;
    std::lock_guard<std::mutex> lock(mutex);
    // Never freed: it is needed at the exit of the process.
    if (!found) found = new Mpi();
    return *found;
  }

  void begin();

 private:
  Mpi() {
    const char* given = std::getenv("EAGRE_MPI_LIBRARY");
    const std::string file = given && *given ? given : "libmpi_abi.so.1";
    // UCX would take over signals that V8 needs, and write over the code of libc that gives memory back, while other threads run it.
    ::setenv("UCX_HANDLE_ERRORS", "none", 0);
    ::setenv("UCX_MEM_EVENTS", "no", 0);
    ::setenv("UCX_MEM_MMAP_HOOK_MODE", "none", 0);
    library_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library_) {
      const char* why = ::dlerror();
      throw SetupError(true, "there is no MPI with the standard ABI (" + std::string(why ? why : file) +
                               "): install MPICH 5 or another MPI 5, and name its libmpi_abi.so.1 in EAGRE_MPI_LIBRARY if it is not where the system looks");
    }
    find(Init_thread, "MPI_Init_thread");
    find(Initialized, "MPI_Initialized");
    find(Finalized, "MPI_Finalized");
    find(Query_thread, "MPI_Query_thread");
    find(Finalize, "MPI_Finalize");
    find(Abort, "MPI_Abort");
    find(Comm_rank, "MPI_Comm_rank");
    find(Comm_size, "MPI_Comm_size");
    find(Comm_idup, "MPI_Comm_idup");
    find(Comm_set_errhandler, "MPI_Comm_set_errhandler");
    find(Error_string, "MPI_Error_string");
    find(Op_create, "MPI_Op_create_c");
    find(Test, "MPI_Test");
    find(Ibarrier, "MPI_Ibarrier");
    find(Ibcast, "MPI_Ibcast_c");
    find(Iallreduce, "MPI_Iallreduce_c");
    find(Ireduce, "MPI_Ireduce_c");
    find(Iallgatherv, "MPI_Iallgatherv_c");
    find(Ialltoallv, "MPI_Ialltoallv_c");
  }

  template <class F> void find(F& function, const char* name) {
    function = reinterpret_cast<F>(::dlsym(library_, name));
    if (!function) throw SetupError(true, std::string("this MPI has no ") + name + ", which MPI 5 has");
  }

  void* library_;
  std::mutex mutex_;
  bool began_ = false;
};

namespace {

std::string text_of(const Mpi& mpi, int code) {
  char text[kErrorLength] = "";
  int length = 0;
  return mpi.Error_string(code, text, &length) == 0 ? std::string(text) : "error " + std::to_string(code);
}

template <Element E, Reduction R> void combine(void* in, void* in_out, Count* count, Handle*) {
  reducer_of(E, R)(in_out, in, in_out, static_cast<size_t>(*count));
}

template <Element E> void make_ops(Mpi& mpi) {
  const auto make = [&](Reduction reduction, Combine function) {
    const int code = mpi.Op_create(function, 1, &mpi.ops[static_cast<int>(E)][static_cast<int>(reduction)]);
    if (code != 0) throw std::runtime_error("MPI_Op_create: " + text_of(mpi, code));
  };
  make(Reduction::sum, combine<E, Reduction::sum>);
  make(Reduction::mean, combine<E, Reduction::sum>);
  make(Reduction::min, combine<E, Reduction::min>);
  make(Reduction::max, combine<E, Reduction::max>);
}

Handle type_of(Element element) {
  switch (element) {
    case Element::f32: return kFloat;
    case Element::f64: return kDouble;
    case Element::i32: return kInt32;
    case Element::i64: return kInt64;
    default: return kByte;
  }
}

// MPI wants to end before the process does; where it cannot, it ends the other processes too, which may wait in an operation.
void end_mpi() {
  Mpi& mpi = Mpi::get();
  int finalized = 0;
  if (mpi.Finalized(&finalized) != 0 || finalized) return;
  if (mpi.broken) mpi.Abort(kWorld, 1);
  else mpi.Finalize();
}

}  // namespace

void Mpi::begin() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (began_) return;
  int begun = 0, provided = 0;
  Initialized(&begun);
  const int code = begun ? Query_thread(&provided) : Init_thread(nullptr, nullptr, kSerialized, &provided);
  if (code != 0) throw std::runtime_error("MPI does not begin: " + text_of(*this, code));
  if (!begun) std::atexit(end_mpi);
  if (provided < kSerialized) throw SetupError(true, "this MPI was built for one thread only");
  Comm_set_errhandler(kWorld, kErrorsReturn);
  make_ops<Element::f32>(*this);
  make_ops<Element::f64>(*this);
  make_ops<Element::i32>(*this);
  make_ops<Element::i64>(*this);
  began_ = true;
}

MpiMesh::MpiMesh(int rank, int size, Milliseconds timeout) : PolledMesh(rank, size), mpi_(Mpi::get()), timeout_(timeout) {}

MpiMesh::~MpiMesh() {
  // A communicator is not freed: all ranks would have to do it together.
  if (!ending_) return;
  // The memory stays for whoever still writes there.
  for (auto& staging : staging_) new std::vector<char>(std::move(staging));
}

void MpiMesh::prepare(int) {
  Mpi::get().begin();
  if (mpi_.broken) throw SetupError(false, "an operation of MPI failed before, and MPI cannot go on after that: start the program again");
  int rank = 0, size = 0;
  check(mpi_.Comm_rank(kWorld, &rank), "MPI_Comm_rank");
  check(mpi_.Comm_size(kWorld, &size), "MPI_Comm_size");
  if (size != size_)
    throw SetupError(false, "the cluster has " + std::to_string(size_) + " processes, but MPI has " + std::to_string(size) +
                              ": start the program by mpiexec -n " + std::to_string(size_));
  if (rank != rank_)
    throw SetupError(false, "this is process " + std::to_string(rank_) + " of the cluster, but rank " + std::to_string(rank) +
                              " of MPI: the cluster must have the order of MPI's ranks");
}

void MpiMesh::connect(const std::vector<std::vector<char>>&) {
  Handle comm = nullptr, request = kRequestNull;
  check(mpi_.Comm_idup(kWorld, &comm, &request), "MPI_Comm_idup");
  wait(request, "MPI_Comm_idup", {0, Clock::now() + timeout_});
  comm_ = comm;
  check(mpi_.Comm_set_errhandler(comm_, kErrorsReturn), "MPI_Comm_set_errhandler");
}

char* MpiMesh::staged(int which, size_t bytes) {
  auto& staging = staging_[which];
  if (staging.size() < bytes) staging = std::vector<char>(bytes);
  return staging.data();
}

void MpiMesh::check(int code, const char* what) {
  if (code != 0) give_up(std::string(what) + ": " + text_of(mpi_, code));
}

void MpiMesh::break_off() { Mpi::get().broken = true; }

void MpiMesh::wait(void* request, const char* what, const Call& call) {
  const auto is_done = [&] {
    int done = 0;
    check(mpi_.Test(&request, &done, nullptr), what);
    return done != 0;
  };
  wait_until(is_done, what, call);
}

void MpiMesh::barrier(const Call& call) {
  Handle request = kRequestNull;
  check(mpi_.Ibarrier(comm_, &request), "MPI_Ibarrier");
  wait(request, "MPI_Ibarrier", call);
}

void MpiMesh::broadcast(void* data, size_t bytes, int root, const Call& call) {
  char* staging = staged(0, bytes);
  if (rank_ == root) std::memcpy(staging, data, bytes);
  Handle request = kRequestNull;
  check(mpi_.Ibcast(staging, static_cast<Count>(bytes), kByte, root, comm_, &request), "MPI_Ibcast");
  wait(request, "MPI_Ibcast", call);
  if (rank_ != root) std::memcpy(data, staging, bytes);
}

void MpiMesh::combine(Element element, Reduction reduction, void* data, size_t count, const Call& call) {
  const size_t bytes = count * size_of(element);
  char* staging = staged(0, bytes);
  std::memcpy(staging, data, bytes);
  const Handle op = mpi_.ops[static_cast<int>(element)][static_cast<int>(reduction)];
  Handle request = kRequestNull;
  check(mpi_.Iallreduce(kInPlace, staging, static_cast<Count>(count), type_of(element), op, comm_, &request), "MPI_Iallreduce");
  wait(request, "MPI_Iallreduce", call);
  std::memcpy(data, staging, bytes);
}

void MpiMesh::combine_at(int root, Element element, Reduction reduction, void* in, void* out, size_t count, const Call& call) {
  const size_t bytes = count * size_of(element);
  char *staging = staged(0, bytes), *result = staged(1, bytes);
  std::memcpy(staging, in, bytes);
  const Handle op = mpi_.ops[static_cast<int>(element)][static_cast<int>(reduction)];
  Handle request = kRequestNull;
  check(mpi_.Ireduce(staging, result, static_cast<Count>(count), type_of(element), op, root, comm_, &request), "MPI_Ireduce");
  wait(request, "MPI_Ireduce", call);
  if (rank_ == root) std::memcpy(out, result, bytes);
}

void MpiMesh::gather(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) {
  std::vector<Count> bytes(size_);
  std::vector<intptr_t> offsets(size_);
  size_t total = 0;
  for (int r = 0; r < size_; r++) {
    bytes[r] = static_cast<Count>(counts[r] * size);
    offsets[r] = static_cast<intptr_t>(total);
    total += counts[r] * size;
  }
  char *staging = staged(0, counts[rank_] * size), *result = staged(1, total);
  std::memcpy(staging, in, counts[rank_] * size);
  Handle request = kRequestNull;
  check(mpi_.Iallgatherv(staging, bytes[rank_], kByte, result, bytes.data(), offsets.data(), kByte, comm_, &request), "MPI_Iallgatherv");
  wait(request, "MPI_Iallgatherv", call);
  std::memcpy(out, result, total);
}

void MpiMesh::exchange(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) {
  std::vector<Count> given(size_);
  std::vector<intptr_t> from(size_), to(size_);
  const size_t mine = counts[rank_] * size;
  const std::vector<Count> taken(size_, static_cast<Count>(mine));
  size_t total = 0;
  for (int r = 0; r < size_; r++) {
    given[r] = static_cast<Count>(counts[r] * size);
    from[r] = static_cast<intptr_t>(total);
    to[r] = static_cast<intptr_t>(r * mine);
    total += counts[r] * size;
  }
  char *staging = staged(0, total), *result = staged(1, mine * size_);
  std::memcpy(staging, in, total);
  Handle request = kRequestNull;
  check(mpi_.Ialltoallv(staging, given.data(), from.data(), kByte, result, taken.data(), to.data(), kByte, comm_, &request), "MPI_Ialltoallv");
  wait(request, "MPI_Ialltoallv", call);
  std::memcpy(out, result, mine * size_);
}

}  // namespace eagre::distribute
