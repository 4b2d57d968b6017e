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

// A plan and the array whose memory it reads, owned by an External: freed when that is collected or its environment ends.
struct Prepared {
  explicit Prepared(Napi::Float64Array block)
      : block(Napi::Persistent(block)), executor(std::make_unique<Executor>(block.Data(), block.ElementLength())) {}
  Napi::Reference<Napi::Float64Array> block;
  Programs programs;
  // Null once dropped.
  std::unique_ptr<Executor> executor;
  // Its run in the background.
  Runs::Run* run = nullptr;
};
// So that no other addon's External is taken for one.
constexpr napi_type_tag kPrepared = {0x9c1f6d0be2a44f17, 0xb6a3385d7e90c2d1};

// For runs that nobody can cancel.
const std::atomic<bool> never{false};

// Null for what is no handle of a plan. The type first: to check the tag of undefined throws into JavaScript.
Prepared* prepared_of(napi_env env, napi_value handle) {
  napi_valuetype type = napi_undefined;
  bool tagged = false;
  void* data = nullptr;
  napi_typeof(env, handle, &type);
  if (type != napi_external || napi_check_object_type_tag(env, handle, &kPrepared, &tagged) != napi_ok || !tagged) return nullptr;
  napi_get_value_external(env, handle, &data);
  return static_cast<Prepared*>(data);
}

// One that can run.
Prepared& ready(napi_env env, napi_value handle) {
  Prepared* prepared = prepared_of(env, handle);
  if (!prepared || !prepared->executor) fail(Code::internal, "no plan");
  if (prepared->run) fail(Code::internal, "a plan was run while it runs");
  return *prepared;
}

}  // namespace

Napi::Value prepare_plan(const Napi::CallbackInfo& info) {
  Environment* env = environment_of(info);
  std::unique_ptr<Prepared> prepared;
  if (!info[0].IsTypedArray() || info[0].As<Napi::TypedArray>().TypedArrayType() != napi_float64_array)
    throw Napi::TypeError::New(info.Env(), "a plan is a Float64Array");
  if (guarded(env->message, [&] { prepared = std::make_unique<Prepared>(info[0].As<Napi::Float64Array>()); }) != 0)
    throw Napi::Error::New(info.Env(), env->message);
  if (info[1].IsArray()) {
    const Napi::Array programs = info[1].As<Napi::Array>();
    for (uint32_t i = 0; i < programs.Length(); i++)
      prepared->programs.ids.push_back(static_cast<Napi::Value>(programs[i]).As<Napi::Number>().Int32Value());
  }
  auto handle = Napi::External<Prepared>::New(info.Env(), prepared.get(), [](Napi::Env, Prepared* p) { delete p; });
  prepared.release();
  handle.TypeTag(&kPrepared);
  return handle;
}

napi_value run_plan(napi_env env, napi_callback_info info) {
  napi_value argv[3];
  uint32_t first = 0;
  Environment* self = arguments(env, info, 3, argv);
  napi_get_value_uint32(env, argv[2], &first);
  size_t at = first;
  int32_t result = 0;
  const int32_t code = guarded(self->message, [&] {
    Executor& executor = *ready(env, argv[0]).executor;
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
  napi_value argv[3];
  uint32_t first = 0;
  Environment* self = arguments(env, info, 3, argv);
  napi_get_value_uint32(env, argv[1], &first);
  return code_or_undefined(env, guarded(self->message, [&] {
    Prepared& prepared = ready(env, argv[0]);
    if (!self->runs) self->runs = std::make_unique<Runs>(env);
    self->runs->start(*prepared.executor, first, argv[0], argv[2], prepared.run);
  }));
}

napi_value cancel_plan(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  arguments(env, info, 1, argv);
  Prepared* prepared = prepared_of(env, argv[0]);
  if (prepared && prepared->run) Runs::cancel(*prepared->run);
  return nullptr;
}

void drop_plan(const Napi::CallbackInfo& info) {
  Prepared* prepared = prepared_of(info.Env(), info[0]);
  if (!prepared) return;
  if (prepared->run) throw Napi::Error::New(info.Env(), "a plan was dropped while it runs");
  prepared->executor.reset();
  prepared->programs.release();
  prepared->block.Reset();
}

}  // namespace eagre
