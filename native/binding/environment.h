// What the addon keeps for each backend that opened it.
#pragma once
#include <napi.h>

#include <memory>
#include <vector>

#include "../runtime/guarded.h"

namespace eagre {

class Runs;
struct Prepared;

// Plans by their numbers; null where one is free.
struct Plans {
  std::vector<Prepared*> all;
  std::vector<uint32_t> free;
};

struct Environment {
  explicit Environment(napi_env e);
  // An environment that ends does not delete the references that it gave out.
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  napi_env env;
  Napi::Reference<Napi::Float64Array> block;
  const double* data = nullptr;
  size_t length = 0;
  char message[256] = "";
  // The step at which a plan stopped or failed.
  uint32_t step = 0;
  // Weak, by slot; null where nothing is watched.
  std::vector<napi_ref> watched;
  // Shared with the plans, which take themselves out and may be there longer.
  std::shared_ptr<Plans> plans = std::make_shared<Plans>();
  // Those that run in the background; null before the first.
  std::unique_ptr<Runs> runs;
};

// undefined for 0: cheaper than making a number.
inline napi_value code_or_undefined(napi_env env, int32_t code) {
  if (code == 0) return nullptr;
  napi_value result;
  napi_create_int32(env, code, &result);
  return result;
}

// Plain Node-API: the wrapper classes cost as much as a small kernel. The functions of an opened addon carry its environment.
inline Environment* arguments(napi_env env, napi_callback_info info, size_t count, napi_value* values) {
  void* data = nullptr;
  napi_get_cb_info(env, info, &count, values, nullptr, &data);
  return static_cast<Environment*>(data);
}
inline Environment* environment_of(const Napi::CallbackInfo& info) { return static_cast<Environment*>(info.Data()); }

}  // namespace eagre
