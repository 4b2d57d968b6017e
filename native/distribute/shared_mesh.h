// Collectives through memory that all processes of one machine have in common: no copies by the system, and no messages.
#pragma once
#include "mesh.h"

namespace eagre::distribute {

// Values are combined in the order of ranks, always.
class SharedMesh : public Mesh {
 public:
  // `name`: the same on all ranks, and no other cluster's. To come together may take `timeout`.
  SharedMesh(int rank, int size, const std::string& name, Milliseconds timeout);
  ~SharedMesh() override;
  std::vector<std::vector<char>> addresses() const override { return std::vector<std::vector<char>>(size_); }
  void connect(const std::vector<std::vector<char>>& addresses) override;
  void abort(const std::string& reason) override { ending_.end(reason); }

 protected:
  void agree(const Layout& layout, uint64_t sequence, const Call& call) override;
  void all_reduce(const Layout& layout, void* data, const Call& call) override;
  void reduce(const Layout& layout, void* in, void* out, const Call& call) override;
  void broadcast(void* data, size_t bytes, int root, const Call& call) override;
  void gather(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) override;
  void barrier(const Call& call) override { meet(call); }

 private:
  struct Place;
  // Blocks until all ranks have called it as often as this one.
  void meet(const Call& call);
  void wait_for(int rank, uint32_t times, const Call& call);
  void throw_if_over(const Call& call);
  void open(Clock::time_point deadline);
  Place& place(int rank) const;
  // One of the two buffers of a rank.
  char* buffer(int rank, int which) const;

  const std::string name_;
  const Milliseconds timeout_;
  char* memory_ = nullptr;
  Ending ending_;
};

}  // namespace eagre::distribute
