#include "runs.h"

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <mutex>

#include "environment.h"

namespace eagre {
namespace {

// Of all environments, and never destroyed: a thread may still be leaving them when its environment is gone.
struct Shared {
  std::mutex mutex;
  std::condition_variable finished;
};
Shared& shared() {
  static Shared* s = new Shared();
  return *s;
}

}  // namespace

int32_t number_of(Executor::Outcome outcome) {
  switch (outcome) {
    case Executor::Outcome::ended: return 0;
    case Executor::Outcome::stopped: return kStopped;
    case Executor::Outcome::cancelled: return kCancelled;
  }
  return 0;
}

struct Runs::Run final : Task {
  Executor* executor;
  size_t at;
  Run** place;
  napi_ref owner = nullptr, done = nullptr;
  napi_threadsafe_function wake;
  std::atomic<bool> cancelled{false};
  int32_t result = 0;
  char message[256] = "";
  // Guarded by the shared mutex.
  bool finished = false;

  void run() override {
    const int32_t code = guarded(message, [this] { result = number_of(executor->run(at, nullptr, cancelled)); });
    if (code != 0) result = code;
    finish();
  }

  void finish() {
    Shared& s = shared();
    // Within the lock: the environment, which waits for `finished`, must not take the handle away before.
    std::lock_guard<std::mutex> lock(s.mutex);
    napi_call_threadsafe_function(wake, nullptr, napi_tsfn_nonblocking);
    finished = true;
    s.finished.notify_all();
  }
};

Runs::Runs(napi_env env) : env_(env) {
  napi_value name;
  napi_create_string_utf8(env, "eagre", NAPI_AUTO_LENGTH, &name);
  const napi_status made =
      napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, nullptr, this, settle_finished, &wake_);
  if (made != napi_ok) fail(Code::resource_exhausted, "no handle to wake the event loop");
  napi_unref_threadsafe_function(env, wake_);
  // Hooks run last to first, so this one before that of the handle.
  napi_add_env_cleanup_hook(env, end_all, this);
}

Runs::~Runs() = default;

void Runs::start(Executor& executor, size_t first, napi_value owner, napi_value done, Run*& place) {
  auto run = std::make_unique<Run>();
  run->executor = &executor;
  run->at = first;
  run->place = &place;
  run->wake = wake_;
  Run& started = *run;
  all_.push_back(std::move(run));
  try {
    start_task(started);
  } catch (...) {
    all_.pop_back();
    throw;
  }
  napi_create_reference(env_, owner, 1, &started.owner);
  napi_create_reference(env_, done, 1, &started.done);
  if (all_.size() == 1) napi_ref_threadsafe_function(env_, wake_);
  place = &started;
}

void Runs::cancel(Run& run) {
  run.cancelled.store(true, std::memory_order_relaxed);
  if (!withdraw_task(run)) return;
  run.result = kCancelled;
  run.finish();
}

// The environment ends, and with it the memory that kernels use: waits for those that have begun.
void Runs::end_all(void* data) {
  auto* self = static_cast<Runs*>(data);
  for (auto& run : self->all_) cancel(*run);
  {
    Shared& s = shared();
    std::unique_lock<std::mutex> lock(s.mutex);
    s.finished.wait(lock, [self] {
      return std::all_of(self->all_.begin(), self->all_.end(), [](const auto& run) { return run->finished; });
    });
  }
  for (auto& run : self->all_) self->settle(*run, nullptr);
  self->all_.clear();
}

// On the environment's own thread. Without an environment there is nobody to tell, and `self` is gone.
void Runs::settle_finished(napi_env env, napi_value, void* data, void*) {
  if (!env) return;
  auto* self = static_cast<Runs*>(data);
  std::vector<std::unique_ptr<Run>> finished;
  {
    std::lock_guard<std::mutex> lock(shared().mutex);
    const auto first =
        std::stable_partition(self->all_.begin(), self->all_.end(), [](const auto& run) { return !run->finished; });
    std::move(first, self->all_.end(), std::back_inserter(finished));
    self->all_.erase(first, self->all_.end());
  }
  if (self->all_.empty() && !finished.empty()) napi_unref_threadsafe_function(env, self->wake_);
  for (auto& run : finished) self->settle(*run, env);
}

void Runs::settle(Run& run, napi_env call_into) {
  *run.place = nullptr;
  napi_value done = nullptr;
  if (call_into) napi_get_reference_value(env_, run.done, &done);
  napi_delete_reference(env_, run.done);
  napi_delete_reference(env_, run.owner);
  if (!done) return;
  napi_value receiver, args[3];
  napi_get_undefined(call_into, &receiver);
  if (run.result == 0) args[0] = receiver;
  else napi_create_int32(call_into, run.result, &args[0]);
  napi_create_double(call_into, static_cast<double>(run.at), &args[1]);
  napi_create_string_utf8(call_into, run.message, NAPI_AUTO_LENGTH, &args[2]);
  napi_call_function(call_into, receiver, done, 3, args, nullptr);
}

}  // namespace eagre
