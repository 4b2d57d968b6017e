// Plans of one environment that run in the background.
#pragma once
#include <napi.h>

#include <atomic>
#include <memory>
#include <vector>

#include "../runtime/background.h"
#include "../runtime/executor.h"

namespace eagre {

// What became of running a plan, as JavaScript is told: 0, one of these, or an error's code.
constexpr int32_t kStopped = -1, kCancelled = -2;

int32_t number_of(Executor::Outcome outcome);

class Runs {
 public:
  // Made at the first run: so that its end comes before that of the handle by which it wakes the environment.
  explicit Runs(napi_env env);
  ~Runs();
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  struct Run;
  // Runs an executor from a step on; `owner` is kept until `done` was called, `run` is null from then on.
  void start(Executor& executor, size_t first, napi_value owner, napi_value done, Run*& run);
  static void cancel(Run& run);

 private:
  static void end_all(void* self);
  static void settle_finished(napi_env env, napi_value, void* self, void*);
  void settle(Run& run, napi_env call_into);

  napi_env env_;
  napi_threadsafe_function wake_ = nullptr;
  // Those that were started and not settled.
  std::vector<std::unique_ptr<Run>> all_;
};

}  // namespace eagre
