#include "plans.h"

#include "../runtime/executor.h"
#include "../runtime/programs.h"
#include "environment.h"
#include "runs.h"

#include <vector>

namespace eagre {
namespace {

// The scalar programs that a plan calls.
struct Programs {
  Programs() = default;
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;
  ~Programs() { release(); }
  void release() {
    for (const int id : ids) release_program(id);
    ids.clear();
  }
  std::vector<int> ids;
};

}  // namespace

// A plan and the array whose memory it reads: freed when its owner is collected or its environment ends.
struct Prepared {
  Prepared(std::shared_ptr<Plans> known, Napi::Float64Array array)
      : plans(std::move(known)), block(Napi::Persistent(array)), executor(std::make_unique<Executor>(array.Data(), array.ElementLength())) {
    if (plans->free.empty()) {
      plans->free.push_back(static_cast<uint32_t>(plans->all.size()));
      plans->all.push_back(nullptr);
    }
    number = plans->free.back();
    plans->free.pop_back();
    plans->all[number] = this;
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared() {
    plans->all[number] = nullptr;
    plans->free.push_back(number);
  }
  std::shared_ptr<Plans> plans;
  uint32_t number;
  Napi::Reference<Napi::Float64Array> block;
  Programs programs;
  // Null once dropped.
  std::unique_ptr<Executor> executor;
  // Its run in the background.
  Runs::Run* run = nullptr;
};

namespace {

// For runs that nobody can cancel.
const std::atomic<bool> never{false};

// Null for what is no plan's number.
Prepared* prepared_of(const Environment& env, napi_value number) {
  uint32_t i = 0;
  if (napi_get_value_uint32(env.env, number, &i) != napi_ok || i >= env.plans->all.size()) return nullptr;
  return env.plans->all[i];
}

// One that can run.
Prepared& ready(const Environment& env, napi_value number) {
  Prepared* prepared = prepared_of(env, number);
  if (!prepared || !prepared->executor) fail(Code::internal, "no plan");
  if (prepared->run) fail(Code::internal, "a plan was run while it runs");
  return *prepared;
}

}  // namespace

Napi::Value prepare_plan(const Napi::CallbackInfo& info) {
  Environment* env = environment_of(info);
  std::unique_ptr<Prepared> prepared;
  if (!info[0].IsObject()) throw Napi::TypeError::New(info.Env(), "the owner of a plan is an object");
  if (!info[1].IsTypedArray() || info[1].As<Napi::TypedArray>().TypedArrayType() != napi_float64_array)
    throw Napi::TypeError::New(info.Env(), "a plan is a Float64Array");
  if (guarded(env->message, [&] { prepared = std::make_unique<Prepared>(env->plans, info[1].As<Napi::Float64Array>()); }) != 0)
    throw Napi::Error::New(info.Env(), env->message);
  if (info[2].IsArray()) {
    const Napi::Array programs = info[2].As<Napi::Array>();
    for (uint32_t i = 0; i < programs.Length(); i++)
      prepared->programs.ids.push_back(static_cast<Napi::Value>(programs[i]).As<Napi::Number>().Int32Value());
  }
  const uint32_t number = prepared->number;
  info[0].As<Napi::Object>().AddFinalizer([](Napi::Env, Prepared* p) { delete p; }, prepared.get());
  prepared.release();
  return Napi::Number::New(info.Env(), number);
}

napi_value run_plan(napi_env env, napi_callback_info info) {
  napi_value argv[3];
  uint32_t first = 0;
  Environment* self = arguments(env, info, 3, argv);
  napi_get_value_uint32(env, argv[2], &first);
  size_t at = first;
  int32_t result = 0;
  const int32_t code = guarded(self->message, [&] {
    Executor& executor = *ready(*self, argv[0]).executor;
    napi_typedarray_type type = napi_int8_array;
    size_t room = 0;
    void* seconds = nullptr;
    bool timed = false;
    napi_is_typedarray(env, argv[1], &timed);
    if (timed) {
      napi_get_typedarray_info(env, argv[1], &type, &room, &seconds, nullptr, nullptr);
      if (type != napi_float64_array || room < executor.owners()) fail(Code::internal, "no room for the times of %zu calls", executor.owners());
    }
    result = number_of(executor.run(at, static_cast<double*>(seconds), never));
  });
  self->step = static_cast<uint32_t>(at);
  return code_or_undefined(env, code != 0 ? code : result);
}

napi_value start_plan(napi_env env, napi_callback_info info) {
  napi_value argv[4];
  uint32_t first = 0;
  Environment* self = arguments(env, info, 4, argv);
  napi_get_value_uint32(env, argv[2], &first);
  return code_or_undefined(env, guarded(self->message, [&] {
    Prepared& prepared = ready(*self, argv[1]);
    if (!self->runs) self->runs = std::make_unique<Runs>(env);
    self->runs->start(*prepared.executor, first, argv[0], argv[3], prepared.run);
  }));
}

napi_value cancel_plan(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  const Environment* self = arguments(env, info, 1, argv);
  Prepared* prepared = prepared_of(*self, argv[0]);
  if (prepared && prepared->run) Runs::cancel(*prepared->run);
  return nullptr;
}

void drop_plan(const Napi::CallbackInfo& info) {
  Prepared* prepared = prepared_of(*environment_of(info), info[0]);
  if (!prepared) return;
  if (prepared->run) throw Napi::Error::New(info.Env(), "a plan was dropped while it runs");
  prepared->executor.reset();
  prepared->programs.release();
  prepared->block.Reset();
}

}  // namespace eagre
