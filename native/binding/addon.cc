// The addon: a table of kernels called through one shared block of numbers, so that a call crosses Node-API with one integer.
#include <napi.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "../runtime/executor.h"
#include "../runtime/pool.h"
#include "../runtime/registry.h"
#include "../runtime/programs.h"

#include <dlfcn.h>

#if defined(__GLIBC__)
#include <malloc.h>
#include <cstdlib>
#endif

namespace {

using namespace eagre;

// One argument block per environment (main thread and each worker have their own).
struct Environment {
  explicit Environment(napi_env e) : env(e) {}
  // An environment that ends does not delete the references that it gave out.
  ~Environment() {
    for (napi_ref r : watched) if (r) napi_delete_reference(env, r);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  napi_env env;
  Napi::Reference<Napi::Float64Array> block;
  const double* data = nullptr;
  size_t length = 0;
  char message[256] = "";
  // The call of a plan that failed.
  uint32_t failed = 0;
  // Weak, by slot; null where nothing is watched.
  std::vector<napi_ref> watched;
};

// setBlock(Float64Array): the memory that arguments are written to.
void set_block(const Napi::CallbackInfo& info) {
  auto* env = info.Env().GetInstanceData<Environment>();
  Napi::Float64Array block = info[0].As<Napi::Float64Array>();
  env->block = Napi::Persistent(block);
  env->data = block.Data();
  env->length = block.ElementLength();
}

// Calls fn: 0, or the code of the KernelError (or other exception) that it threw, whose text lastError() gives.
template <class F> int32_t guarded(Environment* self, F&& fn) {
  try {
    fn();
    return 0;
  } catch (const KernelError& e) {
    std::memcpy(self->message, e.message, sizeof self->message);
    return static_cast<int32_t>(e.code);
  } catch (const std::exception& e) {
    std::snprintf(self->message, sizeof self->message, "%s", e.what());
    return static_cast<int32_t>(Code::internal);
  }
}

// undefined for 0: cheaper than making a number.
napi_value code_or_undefined(napi_env env, int32_t code) {
  if (code == 0) return nullptr;
  napi_value result;
  napi_create_int32(env, code, &result);
  return result;
}

// run(kernel): undefined, or the code of the error whose text lastError() gives. Plain Node-API: the wrapper classes cost as much
// as a small kernel.
napi_value run(napi_env env, napi_callback_info info) {
  size_t argc = 1;
  napi_value argv[1];
  void* raw = nullptr;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  napi_get_instance_data(env, &raw);
  auto* self = static_cast<Environment*>(raw);
  int32_t id = -1;
  napi_get_value_int32(env, argv[0], &id);
  const KernelTable& table = kernels();
  return code_or_undefined(env, guarded(self, [&] {
    if (id < 0 || static_cast<size_t>(id) >= table.size) fail(Code::internal, "no kernel %d", id);
    Args args(self->data, self->data + self->length);
    table.fns[id](args);
  }));
}

// A plan and the array whose memory it reads, owned by an External: freed when that is collected or its environment ends.
struct Prepared {
  explicit Prepared(Napi::Float64Array block)
      : block(Napi::Persistent(block)), executor(std::make_unique<Executor>(block.Data(), block.ElementLength())) {}
  Napi::Reference<Napi::Float64Array> block;
  // Null once dropped.
  std::unique_ptr<Executor> executor;
};
// So that no other addon's External is taken for one.
constexpr napi_type_tag kPrepared = {0x9c1f6d0be2a44f17, 0xb6a3385d7e90c2d1};

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

// preparePlan(Float64Array): a handle for runPlan. The array is kept as long as the handle lives and must not be detached.
Napi::Value prepare_plan(const Napi::CallbackInfo& info) {
  auto* env = info.Env().GetInstanceData<Environment>();
  std::unique_ptr<Prepared> prepared;
  if (!info[0].IsTypedArray() || info[0].As<Napi::TypedArray>().TypedArrayType() != napi_float64_array)
    throw Napi::TypeError::New(info.Env(), "a plan is a Float64Array");
  if (guarded(env, [&] { prepared = std::make_unique<Prepared>(info[0].As<Napi::Float64Array>()); }) != 0)
    throw Napi::Error::New(info.Env(), env->message);
  auto handle = Napi::External<Prepared>::New(info.Env(), prepared.get(), [](Napi::Env, Prepared* p) { delete p; });
  prepared.release();
  handle.TypeTag(&kPrepared);
  return handle;
}

// runPlan(handle, Float64Array | undefined, first, end): undefined, or the code of the error whose text and call lastError() and lastCall() give.
// The array takes the seconds of each call.
napi_value run_plan(napi_env env, napi_callback_info info) {
  size_t argc = 4;
  napi_value argv[4];
  void* raw = nullptr;
  uint32_t first = 0, end = 0;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  napi_get_instance_data(env, &raw);
  napi_get_value_uint32(env, argv[2], &first);
  napi_get_value_uint32(env, argv[3], &end);
  auto* self = static_cast<Environment*>(raw);
  size_t at = 0;
  const int32_t code = guarded(self, [&] {
    const Prepared* prepared = prepared_of(env, argv[0]);
    if (!prepared || !prepared->executor) fail(Code::internal, "no plan");
    const Executor& executor = *prepared->executor;
    napi_typedarray_type type = napi_int8_array;
    size_t room = 0;
    void* seconds = nullptr;
    bool timed = false;
    napi_is_typedarray(env, argv[1], &timed);
    if (timed) {
      napi_get_typedarray_info(env, argv[1], &type, &room, &seconds, nullptr, nullptr);
      if (type != napi_float64_array || room < executor.size()) fail(Code::internal, "no room for the times of %zu calls", executor.size());
    }
    executor.run(static_cast<double*>(seconds), at, first, end);
  });
  self->failed = static_cast<uint32_t>(at);
  return code_or_undefined(env, code);
}

// dropPlan(handle): frees what it holds now; it can run no more.
void drop_plan(const Napi::CallbackInfo& info) {
  if (Prepared* prepared = prepared_of(info.Env(), info[0])) {
    prepared->executor.reset();
    prepared->block.Reset();
  }
}

Napi::Value last_call(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), info.Env().GetInstanceData<Environment>()->failed);
}

Napi::Value last_error(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), info.Env().GetInstanceData<Environment>()->message);
}

Napi::Value address_of(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(reinterpret_cast<uintptr_t>(info[0].As<Napi::ArrayBuffer>().Data())));
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

Napi::Value threads(const Napi::CallbackInfo& info) {
  if (info.Length() > 0 && info[0].IsNumber()) return Napi::Number::New(info.Env(), set_thread_count(info[0].As<Napi::Number>().Int32Value()));
  return Napi::Number::New(info.Env(), thread_count());
}

Napi::Value jobs(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), job_count()); }

// watch(object, slot): watches an object under a number, instead of the one that had it.
napi_value watch(napi_env env, napi_callback_info info) {
  size_t argc = 2;
  napi_value argv[2];
  void* raw = nullptr;
  uint32_t slot = 0;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  napi_get_instance_data(env, &raw);
  auto& watched = static_cast<Environment*>(raw)->watched;
  napi_get_value_uint32(env, argv[1], &slot);
  if (slot >= watched.size()) watched.resize(slot + 1 + slot / 2, nullptr);
  if (watched[slot]) napi_delete_reference(env, watched[slot]);
  napi_create_reference(env, argv[0], 0, &watched[slot]);
  return nullptr;
}

// collected(Uint32Array): writes the slots whose objects V8 has collected, each once, until the array is full; returns how many. A
// weak handle of Node-API is empty right after the collection, also of young objects only, that took its object.
napi_value collected(napi_env env, napi_callback_info info) {
  size_t argc = 1, room = 0;
  napi_value argv[1], result;
  void *raw = nullptr, *out = nullptr;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  napi_get_instance_data(env, &raw);
  napi_get_typedarray_info(env, argv[0], nullptr, &room, &out, nullptr, nullptr);
  auto& watched = static_cast<Environment*>(raw)->watched;
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

// Freed pages stay in the process up to a cap: touching fresh ones costs more than most kernels (18 ms for 40 MB, 0.56 ms warm).
void keep_pages() {
#if defined(__GLIBC__)
  const char* off = std::getenv("EAGRE_KEEP_PAGES");
  if (off && !std::strcmp(off, "0")) return;
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

// The threads of the pool run this code until the process ends, but Node unloads an addon with the last worker that loaded it.
void stay_loaded() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&stay_loaded), &self)) dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new Environment(env));
  stay_loaded();
  keep_pages();
  const KernelTable& table = kernels();
  Napi::Array names = Napi::Array::New(env, table.size);
  for (size_t i = 0; i < table.size; i++) names[static_cast<uint32_t>(i)] = Napi::String::New(env, table.names[i]);
  exports["kernels"] = names;
  exports["isa"] = Napi::String::New(env, table.isa);
  exports["setBlock"] = Napi::Function::New(env, set_block);
  exports["lastError"] = Napi::Function::New(env, last_error);
  exports["lastCall"] = Napi::Function::New(env, last_call);
  exports["preparePlan"] = Napi::Function::New(env, prepare_plan);
  exports["dropPlan"] = Napi::Function::New(env, drop_plan);
  exports["addressOf"] = Napi::Function::New(env, address_of);
  exports["compileProgram"] = Napi::Function::New(env, compile);
  exports["threads"] = Napi::Function::New(env, threads);
  exports["jobs"] = Napi::Function::New(env, jobs);
  const auto plain = [&](const char* name, napi_callback callback) {
    napi_value function;
    napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function);
    exports[name] = Napi::Value(env, function);
  };
  plain("run", run);
  plain("runPlan", run_plan);
  plain("watch", watch);
  plain("collected", collected);
  return exports;
}

}  // namespace

NODE_API_MODULE(eagre, init)
