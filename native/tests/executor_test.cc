// Plans: steps packed in one block run in order, jump and keep what they put on stacks; errors say where they arose, and malformed
// blocks are refused.
#include "../runtime/executor.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <thread>

#include "../runtime/background.h"
#include "../runtime/programs.h"
#include "harness.h"

using namespace eagre;

namespace {

double kernel_id(const char* name) {
  const KernelTable& table = kernels();
  for (size_t i = 0; i < table.size; i++) if (!std::strcmp(table.names[i], name)) return static_cast<double>(i);
  return -1;
}

double address(const void* p) { return static_cast<double>(reinterpret_cast<uintptr_t>(p)); }

using Outcome = Executor::Outcome;

void append(std::vector<double>& block, const char* kernel, std::vector<double> args, double owner = 0) {
  block.insert(block.end(), {kernel_id(kernel), owner, static_cast<double>(args.size())});
  block.insert(block.end(), args.begin(), args.end());
}

void append(std::vector<double>& block, Control control, std::vector<double> args, double owner = 0) {
  block.insert(block.end(), {static_cast<double>(control), owner, static_cast<double>(args.size())});
  block.insert(block.end(), args.begin(), args.end());
}

const std::atomic<bool> never{false};

// From `at` on; the error's code, or Code::ok.
Code run(Executor& executor, size_t& at, double* seconds = nullptr, Outcome* outcome = nullptr) {
  try {
    const Outcome found = executor.run(at, seconds, never);
    if (outcome) *outcome = found;
    return Code::ok;
  } catch (const KernelError& e) {
    return e.code;
  }
}

Code run(Executor& executor) {
  size_t at = 0;
  return run(executor, at);
}

// x + x as a scalar program.
int doubling() {
  const double code[] = {1, 0, 1, static_cast<double>(static_cast<int>(Op::add)), 0, 0, 0, -1, 0, 1, 1};
  return compile_program(code, sizeof code / sizeof *code);
}

Code prepare(const std::vector<double>& block) {
  try {
    Executor executor(block.data(), block.size());
    return Code::ok;
  } catch (const KernelError& e) {
    return e.code;
  }
}

// Steps on int32 scalars: y = x + c, y = x < c.
struct Scalars {
  int plus, less;
  explicit Scalars(double by, double limit) {
    const double i32 = 2, boolean = 5;
    const double constant = static_cast<double>(static_cast<int>(Op::constant));
    const double add = static_cast<double>(static_cast<int>(Op::add)), lt = static_cast<double>(static_cast<int>(Op::lt));
    const double sum[] = {1, i32, 2, constant, i32, -1, -1, -1, by, add, i32, 0, 1, -1, 0, 1, 2};
    plus = compile_program(sum, sizeof sum / sizeof *sum);
    const double compare[] = {1, i32, 2, constant, i32, -1, -1, -1, limit, lt, boolean, 0, 1, -1, 0, 1, 2};
    less = compile_program(compare, sizeof compare / sizeof *compare);
  }
  static void flat(std::vector<double>& block, int program, const void* x, const void* y, double owner) {
    append(block, "ElementwiseFlat", {1, 1, static_cast<double>(program), 1, address(x), address(y)}, owner);
  }
};

void runs_in_order() {
  Array<float> x({4}, {1, 2, 3, 4}), y({4}), z({4}), other({4}, {5, 6, 7, 8});
  std::vector<double> block;
  const double program = doubling();
  append(block, "ElementwiseFlat", {1, 1, program, 4, address(x.data()), address(y.data())}, 2);
  // In place, and behind it a copy.
  append(block, "ElementwiseFlat", {1, 1, program, 4, address(y.data()), address(y.data())}, 2);
  append(block, "Copy", {1, 1, address(y.data()), 0, 1, 4, address(z.data()), 0, 1, 4}, 7);
  Executor executor(block.data(), block.size());
  CHECK(executor.size() == 3 && executor.owners() == 8);
  size_t at = 0;
  CHECK(run(executor, at) == Code::ok && at == 3);
  CHECK(same(z, Array<float>({4}, {4, 8, 12, 16})));
  // What changes in the block counts.
  block[7] = address(other.data());
  double seconds[8] = {0, 0, 1000, 0, 0, 0, 0, 0};
  at = 0;
  CHECK(run(executor, at, seconds) == Code::ok && at == 3);
  CHECK(same(z, Array<float>({4}, {20, 24, 28, 32})));
  // Added to what is there.
  CHECK(seconds[2] > 1000 && seconds[2] < 1060);
  CHECK(seconds[7] > 0 && seconds[7] < 60);
  CHECK(seconds[0] == 0 && seconds[1] == 0);
}

void says_where_it_failed() {
  Array<float> params({3, 1}, {1, 2, 3}), y({1, 1});
  Array<int32_t> index({1}, {3});
  std::vector<double> block;
  append(block, "Fill", {0, 1, address(y.data()), 0, 2, 1, 1, 7});
  append(block, "Gather", {2, 1, address(params.data()), 0, 2, 3, 1, address(index.data()), 2, 1, 1, address(y.data()), 0, 2, 1, 1, 0, 0});
  append(block, "Fill", {0, 1, address(y.data()), 0, 2, 1, 1, 9});
  Executor executor(block.data(), block.size());
  for (int i = 0; i < 2; i++) {
    size_t at = 0;
    CHECK(run(executor, at) == Code::out_of_range);
    CHECK(at == 1);
    CHECK(y[0] == 7);
  }
  index[0] = 2;
  size_t at = 0;
  CHECK(run(executor, at) == Code::ok);
  CHECK(at == 3 && y[0] == 9);
}

// for (i = 0; i < limit; i++) sum += 3, then one of three fills.
struct Loop {
  int32_t i = 0, sum = 0, choice = 0, limit;
  bool holds = false;
  float result = 0;
  std::vector<double> block;

  explicit Loop(int32_t n) : limit(n) {
    const Scalars step(1, n), three(3, 0);
    append(block, "Fill", {0, 1, address(&i), 2, 0, 0}, 0);
    append(block, "Fill", {0, 1, address(&sum), 2, 0, 0}, 1);
    Scalars::flat(block, step.less, &i, &holds, 2);                       // 2
    append(block, Control::choose, {address(&holds), 5, 4, 7}, 2);        // 3
    Scalars::flat(block, step.plus, &i, &i, 2);                           // 4
    Scalars::flat(block, three.plus, &sum, &sum, 2);                      // 5
    append(block, Control::jump, {2}, 2);                                 // 6
    append(block, Control::choose, {address(&choice), 2, 8, 10, 12}, 3);  // 7
    append(block, "Fill", {0, 1, address(&result), 0, 0, 10}, 3);         // 8
    append(block, Control::jump, {13}, 3);
    append(block, "Fill", {0, 1, address(&result), 0, 0, 20}, 3);  // 10
    append(block, Control::jump, {13}, 3);
    append(block, "Fill", {0, 1, address(&result), 0, 0, 30}, 3);  // 12
  }
};

void jumps() {
  for (int32_t n : {0, 1, 1000}) {
    Loop loop(n);
    Executor executor(loop.block.data(), loop.block.size());
    CHECK(executor.size() == 13 && executor.owners() == 4);
    const int32_t choices[] = {0, 1, 2, 3, -1, INT32_MIN, INT32_MAX};
    for (int32_t choice : choices) {
      loop.choice = choice;
      double seconds[4] = {};
      size_t at = 0;
      Outcome outcome = Outcome::stopped;
      CHECK(run(executor, at, seconds, &outcome) == Code::ok);
      CHECK(at == 13 && outcome == Outcome::ended);
      CHECK(loop.i == n && loop.sum == 3 * n && !loop.holds);
      CHECK(loop.result == (choice == 0 ? 10 : choice == 1 ? 20 : 30));
      for (double s : seconds) CHECK(s > 0 && s < 60);
    }
  }
  // A bool of any bits but 0 is true.
  unsigned char truth = 2;
  float y = 0;
  std::vector<double> block;
  append(block, Control::choose, {address(&truth), 5, 1, 2});
  append(block, "Fill", {0, 1, address(&y), 0, 0, 1});
  Executor executor(block.data(), block.size());
  CHECK(run(executor) == Code::ok && y == 1);
}

// What `n` turns put on a stack comes back in the reverse order; `bytes` of it each.
void stacks(int64_t n, int64_t elements) {
  const Scalars up(1, static_cast<double>(n)), down(-1, 0);
  int32_t i = 0;
  bool holds = false;
  Array<int32_t> value({elements}), sum({n, elements});
  const double bytes = static_cast<double>(elements) * 4, size = static_cast<double>(elements);
  std::vector<double> block;
  append(block, "Fill", {0, 1, address(&i), 2, 0, 0});
  Scalars::flat(block, up.less, &i, &holds, 0);                  // 1
  append(block, Control::choose, {address(&holds), 5, 3, 8});
  append(block, "Fill", {0, 1, address(value.data()), 2, 1, size, 0});  // 3
  append(block, "Elementwise", {2, 1, address(value.data()), 2, 1, size, address(&i), 2, 0, address(value.data()), 2, 1, size, 0});
  append(block, Control::push, {address(value.data()), bytes, 1});
  Scalars::flat(block, up.plus, &i, &i, 0);
  append(block, Control::jump, {1});
  append(block, "Fill", {0, 1, address(&i), 2, 0, 0});           // 8
  Scalars::flat(block, up.less, &i, &holds, 0);                  // 9
  append(block, Control::choose, {address(&holds), 5, 11, 15});
  append(block, Control::pop, {address(value.data()), bytes, 1});
  const double rows = static_cast<double>(n), all = address(sum.data());
  append(block, "SetRow", {3, 1, all, 2, 2, rows, size, address(&i), 2, 0, address(value.data()), 2, 1, size, all, 2, 2, rows, size, 0});
  Scalars::flat(block, up.plus, &i, &i, 0);
  append(block, Control::jump, {9});
  // The program of step 4 is x + y.
  const double i32 = 2, add = static_cast<double>(static_cast<int>(Op::add));
  const double code[] = {2, i32, i32, 1, add, i32, 0, 1, -1, 0, 1, 2};
  const double program = compile_program(code, sizeof code / sizeof *code);
  for (size_t at = 0, number = 0; at < block.size(); at += 3 + static_cast<size_t>(block[at + 2]), number++) {
    if (number == 4) block[at + 2 + static_cast<size_t>(block[at + 2])] = program;
  }
  Executor executor(block.data(), block.size());
  for (int turn = 0; turn < 3; turn++) {
    for (int64_t k = 0; k < sum.size; k++) sum[k] = -1;
    CHECK(run(executor) == Code::ok);
    bool right = sum.intact();
    for (int64_t k = 0; k < sum.size; k++) right &= sum[k] == n - 1 - k / elements;
    CHECK(right);
  }
}

void stacks_end_empty() {
  int32_t value = 5;
  double zero = 0;
  Array<float> table({2, 1}), y({1, 1});
  Array<int32_t> index({1}, {7});
  std::vector<double> block;
  append(block, Control::push, {address(&value), 4, 0});
  append(block, Control::stop, {});
  append(block, "Gather", {2, 1, address(table.data()), 0, 2, 2, 1, address(index.data()), 2, 1, 1, address(y.data()), 0, 2, 1, 1, 0, 0});
  append(block, Control::pop, {address(&value), 4, 0});
  append(block, Control::pop, {address(&value), 4, 0});
  append(block, Control::pop, {address(&zero), 0, 0});
  Executor executor(block.data(), block.size());
  Outcome outcome = Outcome::ended;
  size_t at = 0;
  // Stopped, and what is on the stack is there after that; the kernel's error then empties it.
  CHECK(run(executor, at, nullptr, &outcome) == Code::ok && outcome == Outcome::stopped && at == 1);
  at = 2;
  CHECK(run(executor, at) == Code::out_of_range && at == 2);
  at = 3;
  CHECK(run(executor, at) == Code::internal && at == 3);
  // A run that went on right: the second pop finds nothing.
  index[0] = 1;
  at = 0;
  CHECK(run(executor, at) == Code::ok && at == 1);
  value = 6;
  at = 2;
  CHECK(run(executor, at) == Code::internal && at == 4 && value == 5);
  // Started anew, or ended from behind the last step, in the middle: nothing is left of it.
  for (size_t from : {size_t(0), executor.size()}) {
    at = 0;
    CHECK(run(executor, at) == Code::ok && at == 1);
    at = from;
    CHECK(run(executor, at, nullptr, &outcome) == Code::ok && outcome == (from == 0 ? Outcome::stopped : Outcome::ended));
    at = 3;
    CHECK(run(executor, at) == Code::internal && at == (from == 0 ? 4 : 3));
  }

  // Memory that does not exist is an error, not the end. (Sanitizers end the process.)
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  std::vector<double> vast;
  append(vast, Control::push, {address(&value), 0x1p50, 0});
  Executor large(vast.data(), vast.size());
  CHECK(run(large) == Code::resource_exhausted);
#endif
}

// A push of something else in between, larger than what a chunk has left.
void stacks_take_all_sizes() {
  Stack stack;
  Random random(23);
  std::vector<std::vector<unsigned char>> pushed;
  for (int i = 0; i < 20000; i++) {
    if (pushed.empty() || random.below(5) < 3) {
      const int64_t size = random.below(100) == 0 ? random.below(200000) : random.below(50);
      std::vector<unsigned char> bytes(static_cast<size_t>(size), static_cast<unsigned char>(random.below(256)));
      stack.push(bytes.data(), bytes.size());
      pushed.push_back(std::move(bytes));
    } else {
      std::vector<unsigned char> bytes(pushed.back().size());
      stack.pop(bytes.data(), bytes.size());
      CHECK(bytes == pushed.back());
      pushed.pop_back();
    }
  }
  CHECK(stack.bytes() > 0);
  stack.clear();
  Code code = Code::ok;
  char byte;
  try {
    stack.pop(&byte, 1);
  } catch (const KernelError& e) {
    code = e.code;
  }
  CHECK(code == Code::internal);
}

struct Endless final : Task {
  std::vector<double> block;
  std::unique_ptr<Executor> executor;
  int32_t i = 0;
  std::atomic<bool> cancel{false};
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  Outcome outcome = Outcome::ended;
  size_t at = 0;

  Endless() {
    const Scalars one(1, 0);
    Scalars::flat(block, one.plus, &i, &i, 0);
    append(block, Control::jump, {0});
    executor = std::make_unique<Executor>(block.data(), block.size());
  }
  void run() override {
    outcome = executor->run(at, nullptr, cancel);
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
    ended.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    ended.wait(lock, [this] { return done; });
  }
};

void cancels_in_the_background() {
  // More than there are threads: the last ones wait, and can be taken back.
  Endless tasks[6];
  for (Endless& task : tasks) start_task(task);
  // Kernels with threads of their own give the same meanwhile.
  Array<float> x({1 << 20}, 1), y({1 << 20});
  for (int turn = 0; turn < 20; turn++) {
    CHECK(Call().in(x).out(y).run("Copy") == Code::ok);
    CHECK(y[0] == 1 && y[y.size - 1] == 1);
  }
  int waiting = 0;
  for (int k = 5; k >= 0; k--) {
    if (withdraw_task(tasks[k])) {
      waiting++;
      tasks[k].done = true;
    } else {
      tasks[k].cancel.store(true);
      tasks[k].wait();
      CHECK(tasks[k].outcome == Outcome::cancelled);
      CHECK(!withdraw_task(tasks[k]));
    }
  }
  CHECK(waiting >= 2);
  Endless last;
  last.cancel.store(true);
  start_task(last);
  last.wait();
  CHECK(last.outcome == Outcome::cancelled && last.at == 0 && last.i == 0);
}

void refuses_malformed_blocks() {
  const double size = static_cast<double>(kernels().size), nan = std::numeric_limits<double>::quiet_NaN();
  const double jump = -1, choose = -2, push = -3, pop = -4, stop = -5;
  CHECK(prepare({}) == Code::ok);
  CHECK(prepare({0, 0, 0}) == Code::ok);
  for (double code : {size, -6.0, nan, 0.5, 1e300}) CHECK(prepare({code, 0, 0}) == Code::internal);
  for (double owner : {-1.0, nan, 0.5, 1e300, 4294967295.0}) CHECK(prepare({0, owner, 0}) == Code::internal);
  for (double length : {1.0, -1.0, nan, 1e300, 0.5}) CHECK(prepare({0, 0, length}) == Code::internal);
  CHECK(prepare({0, 0, 0.5, 1}) == Code::internal);
  CHECK(prepare({0}) == Code::internal && prepare({0, 0}) == Code::internal);
  CHECK(prepare({0, 0, 1, 1, 0}) == Code::internal);

  CHECK(prepare({stop, 0, 0}) == Code::ok && prepare({stop, 0, 1, 0}) == Code::internal);
  CHECK(prepare({jump, 0, 1, 0}) == Code::ok && prepare({jump, 0, 1, 1}) == Code::ok);
  CHECK(prepare({jump, 0, 0}) == Code::internal && prepare({jump, 0, 2, 0, 0}) == Code::internal);
  for (double to : {2.0, -1.0, nan, 0.5, 1e300}) {
    CHECK(prepare({jump, 0, 1, to}) == Code::internal);
    CHECK(prepare({choose, 0, 4, 0, 5, 0, to}) == Code::internal);
    CHECK(prepare({choose, 0, 4, 0, 2, to, 0}) == Code::internal);
  }
  CHECK(prepare({choose, 0, 4, 0, 5, 0, 1}) == Code::ok && prepare({choose, 0, 3, 0, 2, 1}) == Code::ok);
  CHECK(prepare({choose, 0, 2, 0, 2}) == Code::internal);
  CHECK(prepare({choose, 0, 3, 0, 5, 0}) == Code::internal && prepare({choose, 0, 5, 0, 5, 0, 0, 0}) == Code::internal);
  for (double dtype : {0.0, 1.0, 3.0, 4.0, nan, -1.0}) CHECK(prepare({choose, 0, 4, 0, dtype, 0, 0}) == Code::internal);
  for (double move : {push, pop}) {
    CHECK(prepare({move, 0, 3, 0, 8, 1000}) == Code::ok);
    CHECK(prepare({move, 0, 2, 0, 8}) == Code::internal && prepare({move, 0, 4, 0, 8, 0, 0}) == Code::internal);
    for (double bad : {-1.0, nan, 0.5, 1e300}) {
      CHECK(prepare({move, 0, 3, 0, bad, 0}) == Code::internal);
      CHECK(prepare({move, 0, 3, 0, 8, bad}) == Code::internal);
    }
  }
  // Arguments that end early are found when the call runs.
  std::vector<double> block;
  append(block, "Fill", {0, 1});
  append(block, "Fill", {});
  Executor executor(block.data(), block.size());
  size_t at = 0;
  CHECK(run(executor, at) == Code::internal && at == 0);
  at = 1;
  CHECK(run(executor, at) == Code::internal && at == 1);
}

}  // namespace

int main() {
  runs_in_order();
  says_where_it_failed();
  jumps();
  stacks(5, 1);
  stacks(3000, 7);
  stacks(20, 300000);
  stacks(3, 0);
  stacks_end_empty();
  stacks_take_all_sizes();
  cancels_in_the_background();
  refuses_malformed_blocks();
  return finish();
}
