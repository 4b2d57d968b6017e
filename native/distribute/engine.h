// One rank of a cluster: its operations, one after the other, and what ends them.
#pragma once
#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "heartbeat.h"
#include "links.h"
#include "mesh.h"

namespace eagre::distribute {

// How an operation ended, and for ever after the first failure the whole engine.
struct Verdict {
  Failure failure = Failure::none;
  std::string message;
};

// What carries operations out.
enum class Library : uint8_t { gloo, mpi, nccl };

struct EngineOptions {
  Library library = Library::gloo;
  int rank = 0, size = 1;
  // An address of this machine, where it listens.
  std::string host;
  // How messages name the ranks.
  std::vector<std::string> names;
  // So long may a rank be silent.
  Milliseconds heartbeat{10000};
  // Of the connecting.
  Milliseconds timeout{30000};
};

class Engine : private Heartbeat::Listener {
 public:
  // Listens. @throws std::exception
  explicit Engine(const EngineOptions& options);
  ~Engine() override;
  std::vector<std::vector<char>> addresses() const { return mesh_->addresses(); }
  // Where the others connect to.
  uint16_t port() const { return links_->port(); }
  // The GPUs that this process may use, by names; empty without NCCL.
  std::string gpus() const { return mesh_->gpus(); }
  // On the thread that made the engine, before `connect`, once all ranks are known to be there. @throws std::exception
  // `shared`, unless empty: a name that this cluster alone has; memory of the machine, where all ranks are, then takes the library's place.
  // `gpu`: which of its GPUs it is to use.
  void prepare(const std::string& shared, int gpu);
  // Blocks until all are there, or `interrupt`. @throws std::exception
  // `key` is alike on all ranks, and known to no one else.
  void connect(const std::vector<std::vector<char>>& addresses, const std::vector<Peer>& peers, uint64_t key);
  void interrupt();
  // From here on the others are watched, and operations can be given: once all are known to be connected.
  void begin();
  // What `Operation::about` stands for, in words for messages.
  void name(uint32_t about, const std::string& text);
  // Operations begin in the order of the calls, on all ranks alike. The memory belongs to the engine until the end.
  Verdict run(const Operation& operation);
  void submit(Operation operation, std::function<void(const Verdict&)> done);
  // Ends all for a reason, from any thread: the others hear of it.
  void fail(Failure failure, const std::string& message);
  Verdict verdict() const;
  // Says farewell, after the others have ended the operations that this rank has, or after `wait`.
  void close(Milliseconds wait);

 private:
  struct Job {
    Operation operation;
    std::function<void(const Verdict&)> done;
  };
  Beat own_beat() override;
  void on_beat(int rank, const Beat& beat) override;
  void on_lost(int rank) override;
  void on_silent(int rank, Milliseconds silence) override;
  void work();
  Verdict execute(const Operation& operation);
  Verdict explain(const std::string& text, bool late, const Operation& operation);
  void decide(Failure failure, const std::string& message, Milliseconds grace);
  std::string mismatch(int rank) const;
  std::string name_of(uint32_t about) const;
  // The verdict, once the others have been told.
  Verdict told();
  std::string lateness() const;
  bool others_are_done() const;

  const EngineOptions options_;
  const Milliseconds interval_;
  std::unique_ptr<Mesh> mesh_;
  std::unique_ptr<Links> links_;
  std::unique_ptr<Heartbeat> heartbeat_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> queue_;
  // An operation is under way, on whichever thread.
  bool busy_ = false;
  // Operations that were given and have not been carried out.
  size_t unfinished_ = 0;
  bool closing_ = false, left_ = false, connected_ = false, told_ = false;
  uint64_t sequence_ = 0, completed_ = 0;
  std::array<Layout, 256> history_;
  std::array<uint32_t, 256> abouts_{};
  std::map<uint32_t, std::string> names_;
  uint64_t key_ = 0;
  std::vector<Beat> beats_;
  std::vector<char> gone_;
  Verdict verdict_;
  std::thread thread_;
};

}  // namespace eagre::distribute
