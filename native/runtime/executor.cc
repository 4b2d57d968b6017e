#include "executor.h"

#include <chrono>
#include <cstring>
#include <new>

// Keeps a compiler from replacing a branch by arithmetic.
#if defined(__GNUC__)
#define EAGRE_BRANCH() __asm__ volatile("")
#else
#define EAGRE_BRANCH()
#endif

namespace eagre {
namespace {

// Chunks double from the one size to the other; what is larger gets a chunk of its own.
constexpr size_t kFirstChunk = 4 << 10, kLargestChunk = 4 << 20;
// What the stacks of a plan keep from run to run.
constexpr size_t kKeptBytes = size_t{64} << 20;
constexpr double kMaxStacks = 1 << 20, kMaxBytes = 0x1p53;

// Written so that NaN fails.
bool whole(double value, double low, double high) {
  return value >= low && value <= high && value == static_cast<double>(static_cast<int64_t>(value));
}

// Addresses are below 2^63: one instruction for each.
void* address(double value) { return reinterpret_cast<void*>(static_cast<intptr_t>(value)); }

// What is wrong with arguments is for the kernel to say, when the step is done.
Shortcut* shortcut_of(ShortcutFn fn, const double* begin, const double* end) {
  if (!fn) return nullptr;
  try {
    Args args(begin, end);
    return fn(args);
  } catch (const KernelError&) {
    return nullptr;
  }
}

}  // namespace

void Stack::push(const void* from, size_t bytes) {
  if (bytes == 0) return;
  if (chunks_.empty() || chunks_[top_].size - chunks_[top_].used < bytes) grow(bytes);
  Chunk& chunk = chunks_[top_];
  std::memcpy(chunk.data.get() + chunk.used, from, bytes);
  chunk.used += bytes;
}

void Stack::pop(void* to, size_t bytes) {
  if (bytes == 0) return;
  while (top_ > 0 && chunks_[top_].used == 0) top_--;
  const size_t used = chunks_.empty() ? 0 : chunks_[top_].used;
  if (used < bytes) fail(Code::internal, "%zu bytes are taken off a stack that ends with %zu", bytes, used);
  Chunk& chunk = chunks_[top_];
  chunk.used -= bytes;
  std::memcpy(to, chunk.data.get() + chunk.used, bytes);
}

void Stack::grow(size_t bytes) {
  const size_t next = chunks_.empty() || chunks_[top_].used == 0 ? top_ : top_ + 1;
  if (next < chunks_.size() && chunks_[next].size >= bytes) {
    top_ = next;
    return;
  }
  size_t size = next == 0 ? kFirstChunk : 2 * chunks_[next - 1].size;
  if (size > kLargestChunk) size = kLargestChunk;
  if (size < bytes) size = bytes;
  Chunk chunk{std::unique_ptr<char[]>(new (std::nothrow) char[size]), size, 0};
  if (!chunk.data) fail(Code::resource_exhausted, "no memory for %zu bytes of a stack", size);
  if (next < chunks_.size()) chunks_[next] = std::move(chunk);
  else chunks_.push_back(std::move(chunk));
  top_ = next;
}

void Stack::clear() {
  for (Chunk& chunk : chunks_) chunk.used = 0;
  top_ = 0;
}

size_t Stack::bytes() const {
  size_t sum = 0;
  for (const Chunk& chunk : chunks_) sum += chunk.size;
  return sum;
}

Executor::Executor(const double* block, size_t length) {
  const KernelTable& table = kernels();
  const double* end = block + length;
  for (const double* p = block; p < end;) {
    const size_t number = steps_.size();
    if (end - p < 3) fail(Code::internal, "step %zu of a plan ends early", number);
    const double code = p[0], owner = p[1], count = p[2];
    if (!whole(code, static_cast<double>(Control::stop), static_cast<double>(table.size) - 1))
      fail(Code::internal, "step %zu of a plan is of kernel %g", number, code);
    if (!whole(owner, 0, UINT32_MAX - 1)) fail(Code::internal, "step %zu of a plan belongs to %g", number, owner);
    p += 3;
    if (!whole(count, 0, static_cast<double>(end - p)))
      fail(Code::internal, "step %zu of a plan has %g arguments of %td", number, count, end - p);
    Step step{};
    step.owner = static_cast<uint32_t>(owner);
    step.begin = p;
    step.end = p += static_cast<ptrdiff_t>(count);
    if (code < 0) add_control(step, code);
    else {
      step.fn = table.fns[static_cast<size_t>(code)];
      step.shortcut.reset(shortcut_of(table.shortcuts[static_cast<size_t>(code)], step.begin, step.end));
    }
    if (owners_ <= step.owner) owners_ = size_t{step.owner} + 1;
    steps_.push_back(std::move(step));
  }
  check_targets();
}

void Executor::add_control(Step& step, double code) {
  const size_t number = steps_.size(), count = static_cast<size_t>(step.end - step.begin);
  step.control = static_cast<Control>(static_cast<int>(code));
  const bool jumps = step.control == Control::jump, chooses = step.control == Control::choose;
  const bool moves = step.control == Control::push || step.control == Control::pop;
  const size_t wanted = jumps ? 1 : chooses || moves ? 3 : 0;
  if (chooses ? count < wanted : count != wanted)
    fail(Code::internal, "step %zu of a plan has %zu arguments, not %zu", number, count, wanted);
  if (jumps || chooses) {
    if (chooses) {
      const double dtype = step.begin[1];
      if (dtype != static_cast<double>(DType::boolean) && dtype != static_cast<double>(DType::i32))
        fail(Code::internal, "step %zu of a plan goes by a value of dtype %g", number, dtype);
      step.dtype = static_cast<DType>(static_cast<int32_t>(dtype));
      if (step.dtype == DType::boolean && count != 4)
        fail(Code::internal, "step %zu of a plan has %zu targets for a bool", number, count - 2);
    }
    step.first = targets_.size();
    // What is out of range is found in check_targets, when the number of steps is known.
    for (const double* to = step.begin + (jumps ? 0 : 2); to < step.end; to++)
      targets_.push_back(whole(*to, 0, UINT32_MAX) ? static_cast<size_t>(*to) : SIZE_MAX);
    step.count = targets_.size() - step.first;
  } else if (moves) {
    const double bytes = step.begin[1], stack = step.begin[2];
    if (!whole(bytes, 0, kMaxBytes)) fail(Code::internal, "step %zu of a plan moves %g bytes", number, bytes);
    if (!whole(stack, 0, kMaxStacks - 1)) fail(Code::internal, "step %zu of a plan has stack %g", number, stack);
    step.first = static_cast<size_t>(stack);
    step.count = static_cast<size_t>(bytes);
    if (stacks_.size() <= step.first) stacks_.resize(step.first + 1);
  }
}

void Executor::check_targets() const {
  for (size_t number = 0; number < steps_.size(); number++) {
    const Step& step = steps_[number];
    if (step.fn || (step.control != Control::jump && step.control != Control::choose)) continue;
    const double* given = step.end - step.count;
    for (size_t i = 0; i < step.count; i++) {
      if (targets_[step.first + i] > steps_.size())
        fail(Code::internal, "step %zu of a plan goes to %g of %zu", number, given[i], steps_.size());
    }
  }
}

// The step after a step of control.
inline size_t Executor::follow(const Step& step, size_t at) {
  // Of every turn of a loop: processors guess a branch better than a place in a table.
  if (step.control == Control::choose) {
    const void* selector = address(*step.begin);
    if (step.dtype == DType::boolean) {
      // A branch, which is guessed: computed from the value, all steps that follow would wait for it.
      const size_t* to = &targets_[step.first];
      if (*static_cast<const unsigned char*>(selector)) {
        EAGRE_BRANCH();
        return to[0];
      }
      return to[1];
    }
    int32_t i;
    std::memcpy(&i, selector, sizeof i);
    return targets_[step.first + (i < 0 || static_cast<size_t>(i) >= step.count ? step.count - 1 : static_cast<size_t>(i))];
  }
  if (step.control == Control::jump) return targets_[step.first];
  return move(step, at);
}

size_t Executor::move(const Step& step, size_t at) {
  switch (step.control) {
    case Control::push: stacks_[step.first].push(address(*step.begin), step.count); break;
    case Control::pop: stacks_[step.first].pop(address(*step.begin), step.count); break;
    default: break;
  }
  return at + 1;
}

void Executor::clear() {
  size_t bytes = 0;
  for (Stack& stack : stacks_) {
    stack.clear();
    bytes += stack.bytes();
    while (bytes > kKeptBytes && stack.bytes() > 0) {
      bytes -= stack.bytes();
      stack.free_chunk();
      bytes += stack.bytes();
    }
  }
}

Executor::Outcome Executor::run(size_t& at, double* seconds, const std::atomic<bool>& cancel) {
  struct Cleared {
    Executor* executor;
    ~Cleared() {
      if (executor) executor->clear();
    }
  } cleared{stacks_.empty() ? nullptr : this};
  // Left full by a run that stopped and never went on.
  if (at == 0 && cleared.executor) clear();

  using Clock = std::chrono::steady_clock;
  Clock::time_point before = seconds ? Clock::now() : Clock::time_point();
  const size_t size = steps_.size();
  while (at < size) {
    if (cancel.load(std::memory_order_relaxed)) return Outcome::cancelled;
    const Step& step = steps_[at];
    size_t next = at + 1;
    if (step.shortcut) {
      step.shortcut->run(step.shortcut.get(), step.begin);
    } else if (step.fn) {
      Args args(step.begin, step.end);
      step.fn(args);
    } else if (step.control == Control::stop) {
      cleared.executor = nullptr;
      return Outcome::stopped;
    } else {
      next = follow(step, at);
    }
    at = next;
    if (!seconds) continue;
    const Clock::time_point after = Clock::now();
    seconds[step.owner] += std::chrono::duration<double>(after - before).count();
    before = after;
  }
  return Outcome::ended;
}

}  // namespace eagre
