// The connections between all ranks, and the blocking collectives over them, whatever library carries them out.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "reduction.h"

namespace eagre::distribute {

using Milliseconds = std::chrono::milliseconds;

enum class Kind : uint8_t { none, all_reduce, all_gather, broadcast, reduce, barrier };

// What all ranks must agree on before data flows: libraries end the process, or write outside, where two sizes differ.
struct Layout {
  Kind kind = Kind::none;
  Element element = Element::bytes;
  Reduction reduction = Reduction::sum;
  // Sums in the order of ranks, whatever the number of ranks and the place in the buffer.
  uint8_t in_order = 0;
  // The memory is that of a GPU: on all ranks, or on none.
  uint8_t on_gpu = 0;
  int32_t root = 0;
  // The caller's own mark, such as a hash of its name.
  uint32_t tag = 0;
  // Elements in `data`; of an all-gather: in all of the result.
  uint64_t count = 0;

  bool operator==(const Layout& other) const;
  bool operator!=(const Layout& other) const { return !(*this == other); }
  uint32_t hash() const;
  std::string text() const;
};

// What a rank shows the others of what it is about to do.
struct Mark {
  Mark() = default;
  Mark(const Layout& layout, uint64_t sequence) : sequence(sequence), count(layout.count), hash(layout.hash()) {}
  uint64_t sequence = 0, count = 0, hash = 0;
  bool operator==(const Mark& other) const { return sequence == other.sequence && count == other.count && hash == other.hash; }
};

struct Operation {
  Layout layout;
  // Reduced or broadcast in place; what a rank gives to an all-gather.
  void* data = nullptr;
  // The result of an all-gather: `counts[r]` elements of each rank r.
  void* out = nullptr;
  std::vector<size_t> counts;
  // Of the GPU's memory: an event of the driver behind what fills it.
  void* ready = nullptr;
  // What it is for, by a number that the engine has a name for; 0 for none. It need not be alike on all ranks.
  uint32_t about = 0;
  // Of the whole operation; 0 for none.
  Milliseconds timeout{0};
};

// That a mesh was ended, from whichever thread, and why.
class Ending {
 public:
  void end(const std::string& reason) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!ended_) reason_ = reason;
    ended_ = true;
  }
  explicit operator bool() const { return ended_; }
  // @throws std::runtime_error with the first reason
  void throw_if_ended() {
    if (!ended_) return;
    std::lock_guard<std::mutex> lock(mutex_);
    throw std::runtime_error(reason_);
  }

 private:
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::string reason_;
};

// What has to be changed about a machine, or about the way the program was started, before a library can be used.
struct SetupError : std::runtime_error {
  SetupError(bool is_missing, const std::string& message) : std::runtime_error(message), is_missing(is_missing) {}
  // Something is not installed; else all is there, but does not fit the cluster.
  bool is_missing;
};

class Mesh {
 public:
  virtual ~Mesh() = default;
  // What each of the others needs to connect to this rank; empty at the place of this rank.
  virtual std::vector<std::vector<char>> addresses() const = 0;
  // The GPUs that this process may use, separated by commas, by names that are alike for all processes of the machine; empty for a mesh without GPUs.
  virtual std::string gpus() const { return {}; }
  // On the thread that made the mesh, once all ranks are known to be there. `gpu`: which of its GPUs it is to use. @throws std::exception
  virtual void prepare(int gpu) { (void)gpu; }
  // `addresses[p]`: what rank p has for this one. Blocks. @throws std::exception
  virtual void connect(const std::vector<std::vector<char>>& addresses) = 0;
  // Blocks. `sequence` numbers operations, alike on all ranks. @throws std::exception
  void run(const Operation& operation, uint64_t sequence);
  // Ends what is running, and all that comes, from any thread.
  virtual void abort(const std::string& reason) = 0;
  // Lets the others have what this rank has given, at its end: no operation is under way, and none comes.
  virtual void finish() {}
  // How many sockets to each of the others it needs: it is given them, before `connect`, and they are its own then.
  virtual int channels() const { return 0; }
  virtual void take(int rank, int channel, int socket) { (void)rank, (void)channel, (void)socket; }
  // A message of the library in words for a user of ours.
  virtual std::string plain(const std::string& message) const { return message; }
  // The rank whose connection a message of the library tells of, or -1.
  virtual int rank_in(const std::string& message) const { return (void)message, -1; }

 protected:
  using Clock = std::chrono::steady_clock;
  // What the parts of one operation have in common.
  struct Call {
    // Tells neighbouring operations apart, and other layouts.
    uint32_t tag;
    Clock::time_point deadline;
  };
  Mesh(int rank, int size) : rank_(rank), size_(size) {}

  // Blocks until all ranks are known to do the same, where it would do harm if they did not.
  virtual void agree(const Layout& layout, uint64_t sequence, const Call& call) { (void)layout, (void)sequence, (void)call; }
  // In place.
  virtual void all_reduce(const Layout& layout, void* data, const Call& call) = 0;
  // `out`, on all ranks, is memory for the result; what the others than the root find there afterwards is unknown.
  virtual void reduce(const Layout& layout, void* in, void* out, const Call& call) = 0;
  virtual void broadcast(void* data, size_t bytes, int root, const Call& call) = 0;
  // Into `out`: `counts[r]` elements of `size` bytes from each rank r.
  virtual void gather(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) = 0;
  virtual void barrier(const Call& call) = 0;
  // An operation on memory of the GPU.
  virtual void run_on_gpu(const Operation& operation, const Call& call);

  const int rank_, size_;
};

// One whose library sends messages, and combines in an order of its own.
class MessageMesh : public Mesh {
 protected:
  using Mesh::Mesh;
  // Whether the library combines so; else the ranks do it themselves, in their order.
  virtual bool combines(Element element, Reduction reduction) const { return (void)reduction, !is_16_bit(element); }
  void all_reduce(const Layout& layout, void* data, const Call& call) override;
  void reduce(const Layout& layout, void* in, void* out, const Call& call) override;
  // In place. A mean is a sum here.
  virtual void combine(Element element, Reduction reduction, void* data, size_t count, const Call& call) = 0;
  virtual void combine_at(int root, Element element, Reduction reduction, void* in, void* out, size_t count, const Call& call) = 0;
  // Gives `counts[r]` elements of `in` to each rank r, and takes as many as this rank's count from each into `out`.
  virtual void exchange(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) = 0;

 private:
  void reduce_in_rank_order(const Layout& layout, void* data, const Call& call);
};

// One whose library does not block, and is asked again and again.
class PolledMesh : public MessageMesh {
 public:
  void abort(const std::string& reason) override { ending_.end(reason); }

 protected:
  using MessageMesh::MessageMesh;
  void agree(const Layout& layout, uint64_t sequence, const Call& call) override;
  // After a failure, on the thread that noticed it: nothing that was begun may touch memory of the caller any more.
  virtual void break_off() = 0;
  [[noreturn]] void give_up(const std::string& reason);
  // Until `is_done()`, `abort` or the deadline.
  template <class IsDone> void wait_until(IsDone is_done, const char* what, const Call& call) {
    const auto start = Clock::now();
    for (int spins = 0; !is_done(); spins++) look_up(spins, start, what, call);
  }

  Ending ending_;

 private:
  void look_up(int spins, Clock::time_point start, const char* what, const Call& call);
};

}  // namespace eagre::distribute
