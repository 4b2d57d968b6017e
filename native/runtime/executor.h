// Plans: kernel calls packed one behind the other in a block of doubles that JavaScript keeps and changes between runs.
#pragma once
#include <cstddef>
#include <vector>

#include "registry.h"

namespace eagre {

class Executor {
 public:
  // The block is [kernel, length, arguments...] for each call, `length` counting the arguments (tensor.h, Args). It stays where it
  // is; of its contents only the arguments may change. Throws KernelError unless the calls fill it exactly.
  Executor(const double* block, size_t length);

  size_t size() const { return calls_.size(); }

  // Runs the calls from `first` up to `end` in order; with `seconds`, of size(), says how long each took. The first KernelError (or
  // other exception) ends it, and `at` is then the number of its call.
  void run(double* seconds, size_t& at, size_t first, size_t end) const;

 private:
  struct Call {
    KernelFn fn;
    const double* begin;
    const double* end;
  };
  std::vector<Call> calls_;
};

}  // namespace eagre
