// The connections between all ranks, and the blocking collectives over them: Gloo's TCP transport.
#pragma once
#include <gloo/context.h>
#include <gloo/transport/tcp/context.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "reduction.h"

namespace eagre::distribute {

using Milliseconds = std::chrono::milliseconds;

enum class Kind : uint8_t { none, all_reduce, all_gather, broadcast, reduce, barrier };

// What all ranks must agree on before data flows: Gloo ends the process where two sizes differ.
struct Layout {
  Kind kind = Kind::none;
  Element element = Element::bytes;
  Reduction reduction = Reduction::sum;
  // Sums in the order of ranks, whatever the number of ranks and the place in the buffer.
  uint8_t in_order = 0;
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

struct Operation {
  Layout layout;
  // Reduced or broadcast in place; what a rank gives to an all-gather.
  void* data = nullptr;
  // The result of an all-gather: `counts[r]` elements of each rank r.
  void* out = nullptr;
  std::vector<size_t> counts;
  // Of the whole operation; 0 for none.
  Milliseconds timeout{0};
};

class Mesh {
 public:
  // Listens at `host`, an address of this machine. To connect to each of the others may take `timeout`. @throws gloo::Exception
  Mesh(int rank, int size, const std::string& host, Milliseconds timeout);
  ~Mesh();
  // Where each of the others connects to; empty at the place of this rank.
  std::vector<std::vector<char>> addresses() const;
  // `addresses[p]`: what rank p has for this one. Blocks. @throws gloo::Exception
  void connect(const std::vector<std::vector<char>>& addresses);
  // Blocks. `sequence` numbers operations, alike on all ranks. @throws gloo::Exception
  void run(const Operation& operation, uint64_t sequence);
  // Ends what is running, and all that comes, from any thread.
  void abort(const std::string& reason);
  // The rank whose connection a message of Gloo tells of, or -1.
  int rank_in(const std::string& message) const;

 private:
  struct Transport;
  struct Context;
  void all_reduce(const Operation& operation, uint32_t tag, Milliseconds timeout);
  void reduce_in_rank_order(const Operation& operation, uint32_t tag, Milliseconds timeout);
  void gather(void* in, void* out, const std::vector<size_t>& counts, size_t size, uint32_t tag, Milliseconds timeout);
  std::shared_ptr<Context> context_;
  std::vector<std::string> peers_;
};

}  // namespace eagre::distribute
