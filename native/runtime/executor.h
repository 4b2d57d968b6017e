// Plans: kernel calls and jumps packed one behind the other in a block of doubles that JavaScript keeps and changes between runs.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include "registry.h"

namespace eagre {

// What a step is that calls no kernel, with its arguments. Steps are meant by their numbers; one behind the last ends the run.
enum class Control {
  jump = -1,    // [to]
  // [address, dtype, to...]: to[0] if a bool is true and to[1] if not; to[i] for an int32 i, the last if out of range
  choose = -2,
  push = -3,    // [address, bytes, stack]: puts a copy of so many bytes on a stack
  pop = -4,     // [address, bytes, stack]: takes them off
  stop = -5,    // []: hands over to JavaScript, which goes on with a run from the next step
};

// Bytes that are taken off in the reverse order.
class Stack {
 public:
  void push(const void* from, size_t bytes);
  void pop(void* to, size_t bytes);
  void clear();
  // Kept for what comes.
  size_t bytes() const;
  // Frees the chunk that comes last; there must be one, and nothing on the stack.
  void free_chunk() { chunks_.pop_back(); }

 private:
  struct Chunk {
    std::unique_ptr<char[]> data;
    size_t size, used;
  };
  void grow(size_t bytes);

  std::vector<Chunk> chunks_;
  // Chunks behind this one are empty.
  size_t top_ = 0;
};

class Executor {
 public:
  // The block is [code, owner, length, arguments...] for each step: `code` is a kernel's number or a Control, `length` counts the
  // arguments (of a kernel: tensor.h, Args), `owner` is what the step's time is added to. The block stays where it is; of its
  // contents only addresses may change. Throws KernelError unless the steps fill it exactly and make sense.
  Executor(const double* block, size_t length);

  size_t size() const { return steps_.size(); }
  // One more than the largest owner.
  size_t owners() const { return owners_; }

  enum class Outcome { ended, stopped, cancelled };

  // Runs steps from `at` on, a new run if that is 0. `at` becomes the step that stopped it, that was next when `cancel` was seen, or
  // that threw (a KernelError or another exception). Adds the time of each step to seconds[owner], if given. Stacks are empty when
  // it ends.
  Outcome run(size_t& at, double* seconds, const std::atomic<bool>& cancel);

 private:
  struct Freed {
    void operator()(Shortcut* shortcut) const { std::free(shortcut); }
  };
  struct Step {
    KernelFn fn;  // null for control
    std::unique_ptr<Shortcut, Freed> shortcut;  // or null
    const double* begin;
    const double* end;
    Control control;
    uint32_t owner;
    // The first of its targets and how many, or its stack and how many bytes: as they were when they were checked.
    size_t first, count;
    DType dtype;
  };
  void add_control(Step& step, double code);
  void check_targets() const;
  size_t follow(const Step& step, size_t at);
  size_t move(const Step& step, size_t at);
  void clear();

  std::vector<Step> steps_;
  std::vector<size_t> targets_;
  std::vector<Stack> stacks_;
  size_t owners_ = 0;
};

}  // namespace eagre
