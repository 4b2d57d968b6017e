#include "executor.h"

#include <chrono>

namespace eagre {

Executor::Executor(const double* block, size_t length) {
  const KernelTable& table = kernels();
  const double* end = block + length;
  for (const double* p = block; p < end;) {
    if (end - p < 2) fail(Code::internal, "call %zu of a plan ends early", calls_.size());
    const double kernel = p[0], count = p[1];
    // Written so that NaN fails.
    if (!(kernel >= 0 && kernel < static_cast<double>(table.size)))
      fail(Code::internal, "call %zu of a plan is of kernel %g", calls_.size(), kernel);
    p += 2;
    if (!(count >= 0 && count <= static_cast<double>(end - p)))
      fail(Code::internal, "call %zu of a plan has %g arguments of %td", calls_.size(), count, end - p);
    const double* next = p + static_cast<ptrdiff_t>(count);
    calls_.push_back({table.fns[static_cast<size_t>(kernel)], p, next});
    p = next;
  }
}

void Executor::run(double* seconds, size_t& at, size_t first, size_t end) const {
  if (end > calls_.size()) end = calls_.size();
  using Clock = std::chrono::steady_clock;
  Clock::time_point before = seconds ? Clock::now() : Clock::time_point();
  for (at = first; at < end; at++) {
    const Call& call = calls_[at];
    Args args(call.begin, call.end);
    call.fn(args);
    if (!seconds) continue;
    const Clock::time_point after = Clock::now();
    seconds[at] = std::chrono::duration<double>(after - before).count();
    before = after;
  }
}

}  // namespace eagre
