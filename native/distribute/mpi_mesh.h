// Collectives by MPI, for programs that mpiexec starts: any library with the standard ABI of MPI 5, found when it is first needed.
#pragma once
#include "mesh.h"

namespace eagre::distribute {

struct Mpi;

// All ranks of MPI's world, in its order. Calls of MPI follow each other, on whichever thread; one that has begun cannot be taken back, so after a
// failure MPI ends the program at its exit.
class MpiMesh : public PolledMesh {
 public:
  // To come together may take `timeout`. @throws SetupError where there is no library
  MpiMesh(int rank, int size, Milliseconds timeout);
  ~MpiMesh() override;
  std::vector<std::vector<char>> addresses() const override { return std::vector<std::vector<char>>(size_); }
  // Begins MPI, once in a process. @throws SetupError where it has other ranks
  void prepare(int gpu) override;
  void connect(const std::vector<std::vector<char>>& addresses) override;

 protected:
  void combine(Element element, Reduction reduction, void* data, size_t count, const Call& call) override;
  void combine_at(int root, Element element, Reduction reduction, void* in, void* out, size_t count, const Call& call) override;
  void broadcast(void* data, size_t bytes, int root, const Call& call) override;
  void gather(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) override;
  void exchange(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) override;
  void barrier(const Call& call) override;
  void break_off() override;

 private:
  // Memory that MPI reads and writes: it outlives an operation that is given up, since the other ranks may still write there.
  char* staged(int which, size_t bytes);
  void check(int code, const char* what);
  void wait(void* request, const char* what, const Call& call);

  const Mpi& mpi_;
  const Milliseconds timeout_;
  void* comm_ = nullptr;
  std::vector<char> staging_[2];
};

}  // namespace eagre::distribute
