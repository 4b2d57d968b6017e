// Collectives by MPI, for programs that mpiexec starts: any library with the standard ABI of MPI 5, found when it is first needed.
#pragma once
#include "mesh.h"

namespace eagre::distribute {

struct Mpi;

// What has to be changed about the machine or the way the program was started.
struct MpiError : std::runtime_error {
  MpiError(bool is_missing, const std::string& message) : std::runtime_error(message), is_missing(is_missing) {}
  // There is no library; else it is there, but runs other processes.
  bool is_missing;
};

// All ranks of MPI's world, in its order. Calls of MPI follow each other, on whichever thread; one that has begun cannot be taken back, so after a
// failure MPI ends the program at its exit.
class MpiMesh : public MessageMesh {
 public:
  // To come together may take `timeout`. @throws MpiError where there is no library
  MpiMesh(int rank, int size, Milliseconds timeout);
  ~MpiMesh() override;
  std::vector<std::vector<char>> addresses() const override { return std::vector<std::vector<char>>(size_); }
  // Begins MPI, once in a process. @throws MpiError where it has other ranks
  void prepare() override;
  void connect(const std::vector<std::vector<char>>& addresses) override;
  void abort(const std::string& reason) override { ending_.end(reason); }

 protected:
  void agree(const Layout& layout, uint64_t sequence, const Call& call) override;
  void combine(Element element, Reduction reduction, void* data, size_t count, const Call& call) override;
  void combine_at(int root, Element element, Reduction reduction, void* in, void* out, size_t count, const Call& call) override;
  void broadcast(void* data, size_t bytes, int root, const Call& call) override;
  void gather(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) override;
  void exchange(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) override;
  void barrier(const Call& call) override;

 private:
  // Memory that MPI reads and writes: it outlives an operation that is given up, since the other ranks may still write there.
  char* staged(int which, size_t bytes);
  void check(int code, const char* what);
  void wait(void* request, const char* what, const Call& call);
  [[noreturn]] void give_up(const std::string& reason);

  const Mpi& mpi_;
  const Milliseconds timeout_;
  void* comm_ = nullptr;
  std::vector<char> staging_[2];
  Ending ending_;
};

}  // namespace eagre::distribute
