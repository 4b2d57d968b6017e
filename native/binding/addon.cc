// The addon: a table of kernels called through one shared block of numbers, so that a call crosses Node-API with one integer.
#include <napi.h>

#include <cstring>

#include "../runtime/crc32c.h"
#include "../runtime/library.h"
#include "../runtime/pages.h"
#include "../runtime/pool.h"
#include "../runtime/programs.h"
#include "../runtime/registry.h"
#include "environment.h"
#include "files.h"
#include "plans.h"
#include "runs.h"

namespace eagre {

Environment::Environment(napi_env e) : env(e) {}
Environment::~Environment() {
  for (napi_ref r : watched) if (r) napi_delete_reference(env, r);
}

}  // namespace eagre

namespace {

using namespace eagre;

// setBlock(Float64Array): the memory that arguments are written to.
void set_block(const Napi::CallbackInfo& info) {
  auto* env = environment_of(info);
  Napi::Float64Array block = info[0].As<Napi::Float64Array>();
  env->block = Napi::Persistent(block);
  env->data = block.Data();
  env->length = block.ElementLength();
}

// run(kernel): undefined, or the code of the error whose text lastError() gives.
napi_value run(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  Environment* self = arguments(env, info, 1, argv);
  int32_t id = -1;
  napi_get_value_int32(env, argv[0], &id);
  const KernelTable& table = kernels();
  return code_or_undefined(env, guarded(self->message, [&] {
    if (id < 0 || static_cast<size_t>(id) >= table.size) fail(Code::internal, "no kernel %d", id);
    Args args(self->data, self->data + self->length);
    table.fns[id](args);
  }));
}

Napi::Value last_step(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), environment_of(info)->step);
}

Napi::Value last_error(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), environment_of(info)->message);
}

// addressOf(ArrayBuffer): where its bytes are. Kernels are about to fill those of a large one, and go through them from then on.
Napi::Value address_of(const Napi::CallbackInfo& info) {
  Napi::ArrayBuffer buffer = info[0].As<Napi::ArrayBuffer>();
  constexpr size_t kLarge = 4 << 20;
  if (buffer.ByteLength() >= kLarge) prefer_large_pages(buffer.Data(), static_cast<int64_t>(buffer.ByteLength()));
  return Napi::Number::New(info.Env(), static_cast<double>(reinterpret_cast<uintptr_t>(buffer.Data())));
}

// compileProgram(Float64Array): the number by which the Elementwise kernel knows the program.
Napi::Value compile(const Napi::CallbackInfo& info) {
  Napi::Float64Array code = info[0].As<Napi::Float64Array>();
  try {
    return Napi::Number::New(info.Env(), compile_program(code.Data(), code.ElementLength()));
  } catch (const KernelError& e) {
    throw Napi::Error::New(info.Env(), e.message);
  }
}

// releaseProgram(number): gives back one reference that compileProgram has given.
Napi::Value release(const Napi::CallbackInfo& info) {
  try {
    release_program(info[0].As<Napi::Number>().Int32Value());
    return info.Env().Undefined();
  } catch (const KernelError& e) {
    throw Napi::Error::New(info.Env(), e.message);
  }
}

Napi::Value threads(const Napi::CallbackInfo& info) {
  if (info.Length() > 0 && info[0].IsNumber()) return Napi::Number::New(info.Env(), set_thread_count(info[0].As<Napi::Number>().Int32Value()));
  return Napi::Number::New(info.Env(), thread_count());
}

Napi::Value jobs(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), job_count()); }

// crc32c(Uint8Array, previous): the CRC-32C of the bytes behind those whose CRC is `previous`.
napi_value crc(napi_env env, napi_callback_info info) {
  size_t argc = 2, length = 0;
  napi_value argv[2], result;
  void* bytes = nullptr;
  uint32_t previous = 0;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  if (napi_get_typedarray_info(env, argv[0], nullptr, &length, &bytes, nullptr, nullptr) != napi_ok) {
    napi_throw_type_error(env, nullptr, "crc32c takes a Uint8Array");
    return nullptr;
  }
  napi_get_value_uint32(env, argv[1], &previous);
  napi_create_uint32(env, crc32c(bytes, length, previous), &result);
  return result;
}

// watch(object, slot): watches an object under a number, instead of the one that had it.
napi_value watch(napi_env env, napi_callback_info info) {
  napi_value argv[2];
  uint32_t slot = 0;
  auto& watched = arguments(env, info, 2, argv)->watched;
  napi_get_value_uint32(env, argv[1], &slot);
  if (slot >= watched.size()) watched.resize(slot + 1 + slot / 2, nullptr);
  if (watched[slot]) napi_delete_reference(env, watched[slot]);
  napi_create_reference(env, argv[0], 0, &watched[slot]);
  return nullptr;
}

// collected(Uint32Array): writes the slots whose objects V8 has collected, each once, until the array is full; returns how many. A
// weak handle of Node-API is empty right after the collection, also of young objects only, that took its object.
napi_value collected(napi_env env, napi_callback_info info) {
  size_t room = 0;
  napi_value argv[1], result;
  void* out = nullptr;
  auto& watched = arguments(env, info, 1, argv)->watched;
  napi_get_typedarray_info(env, argv[0], nullptr, &room, &out, nullptr, nullptr);
  uint32_t found = 0;
  for (uint32_t slot = 0; slot < watched.size() && found < room; slot++) {
    if (!watched[slot]) continue;
    napi_value object = nullptr;
    napi_get_reference_value(env, watched[slot], &object);
    if (object) continue;
    napi_delete_reference(env, watched[slot]);
    watched[slot] = nullptr;
    static_cast<uint32_t*>(out)[found++] = slot;
  }
  napi_create_uint32(env, found, &result);
  return result;
}

// open(): the functions, with an argument block and watched objects of their own. A backend opens the addon for itself, since the
// package may be in a process more than once: two versions of it, or modules that a test runner has loaded anew.
Napi::Value open(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  auto& all = *env.GetInstanceData<std::vector<std::unique_ptr<Environment>>>();
  all.push_back(std::make_unique<Environment>(env));
  void* own = all.back().get();
  const KernelTable& table = kernels();
  Napi::Object opened = Napi::Object::New(env);
  Napi::Array names = Napi::Array::New(env, table.size);
  for (size_t i = 0; i < table.size; i++) names[static_cast<uint32_t>(i)] = Napi::String::New(env, table.names[i]);
  opened["kernels"] = names;
  opened["isa"] = Napi::String::New(env, table.isa);
  opened["setBlock"] = Napi::Function::New(env, set_block, "setBlock", own);
  opened["lastError"] = Napi::Function::New(env, last_error, "lastError", own);
  opened["lastStep"] = Napi::Function::New(env, last_step, "lastStep", own);
  opened["preparePlan"] = Napi::Function::New(env, prepare_plan, "preparePlan", own);
  opened["dropPlan"] = Napi::Function::New(env, drop_plan, "dropPlan", own);
  opened["addressOf"] = Napi::Function::New(env, address_of);
  opened["compileProgram"] = Napi::Function::New(env, compile);
  opened["releaseProgram"] = Napi::Function::New(env, release);
  opened["threads"] = Napi::Function::New(env, threads);
  opened["jobs"] = Napi::Function::New(env, jobs);
  const auto plain = [&](const char* name, napi_callback callback) {
    napi_value function;
    napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, own, &function);
    opened[name] = Napi::Value(env, function);
  };
  plain("run", run);
  plain("runPlan", run_plan);
  plain("startPlan", start_plan);
  plain("cancelPlan", cancel_plan);
  plain("crc32c", crc);
  plain("readRanges", read_parts);
  plain("beginSync", begin_part);
  plain("beginRanges", begin_parts);
  plain("finishRanges", finish_parts);
  plain("watch", watch);
  plain("collected", collected);
  return opened;
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new std::vector<std::unique_ptr<Environment>>());
  stay_loaded();
  keep_freed_pages();
  exports["open"] = Napi::Function::New(env, open);
  return exports;
}

}  // namespace

NODE_API_MODULE(eagre, init)
