// GPUs for JavaScript. packages/backend-cuda is the only caller; all the same, no argument ends the process.
#include <napi.h>

#include <cmath>

#include "compiler.h"
#include "device.h"
#include "group.h"

namespace eagre::cuda {
namespace {

// Runs what may fail, and gives JavaScript the failure: `code` is that of Eagre's errors, `driverError` the driver's name.
template <class F> Napi::Value guarded(const Napi::CallbackInfo& info, F body) {
  const Napi::Env env = info.Env();
  const auto throw_with = [&](const char* code, const char* message, const std::string& name) {
    Napi::Error error = Napi::Error::New(env, message);
    error.Value().Set("code", code);
    if (!name.empty()) error.Value().Set("driverError", name);
    throw error;
  };
  try {
    return body(env);
  } catch (const Failure& failure) {
    throw_with(failure.code, failure.what(), failure.name);
  } catch (const std::bad_alloc&) {
    throw_with("RESOURCE_EXHAUSTED", "no memory on the host", {});
  }
  return env.Undefined();
}

double number(const Napi::CallbackInfo& info, size_t i, double most) {
  const double value = info[i].IsNumber() ? info[i].As<Napi::Number>().DoubleValue() : NAN;
  if (!(value >= 0 && value <= most && value == std::floor(value)))
    throw Failure("INVALID_ARGUMENT", "argument " + std::to_string(i) + " is no integer from 0 to " + std::to_string(most));
  return value;
}
// Addresses and sizes fit into the 53 bits of a number: addresses of GPUs have 49.
uint64_t large(const Napi::CallbackInfo& info, size_t i) { return static_cast<uint64_t>(number(info, i, 9007199254740991.0)); }
uint32_t word(const Napi::CallbackInfo& info, size_t i) { return static_cast<uint32_t>(number(info, i, 4294967295.0)); }

std::string text(const Napi::CallbackInfo& info, size_t i) {
  if (!info[i].IsString()) throw Failure("INVALID_ARGUMENT", "argument " + std::to_string(i) + " is no string");
  return info[i].As<Napi::String>().Utf8Value();
}

// More than any GPU has.
constexpr double kMostSharedBytes = 1 << 20;

struct Span {
  void* data = nullptr;
  size_t size = 0;
};
Span bytes(const Napi::CallbackInfo& info, size_t i) {
  bool is_array = false;
  napi_typedarray_type type;
  Span span;
  napi_is_typedarray(info.Env(), info[i], &is_array);
  if (!is_array || napi_get_typedarray_info(info.Env(), info[i], &type, &span.size, &span.data, nullptr, nullptr) != napi_ok ||
      type != napi_uint8_array)
    throw Failure("INVALID_ARGUMENT", "argument " + std::to_string(i) + " is no Uint8Array");
  return span;
}

std::vector<std::string> list(const Napi::CallbackInfo& info, size_t i) {
  if (!info[i].IsArray()) throw Failure("INVALID_ARGUMENT", "argument " + std::to_string(i) + " is no list");
  const Napi::Array given = info[i].As<Napi::Array>();
  std::vector<std::string> result;
  for (uint32_t k = 0; k < given.Length(); k++) {
    const Napi::Value value = given.Get(k);
    if (!value.IsString()) throw Failure("INVALID_ARGUMENT", "argument " + std::to_string(i) + " is no list of strings");
    result.push_back(value.As<Napi::String>().Utf8Value());
  }
  return result;
}

class JsTransfer : public Napi::ObjectWrap<JsTransfer> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Transfer", {InstanceMethod("isDone", &JsTransfer::is_done), InstanceMethod("finish", &JsTransfer::finish)});
  }
  explicit JsTransfer(const Napi::CallbackInfo& info) : Napi::ObjectWrap<JsTransfer>(info) {}
  void hold(std::unique_ptr<Transfer> transfer) { transfer_ = std::move(transfer); }

 private:
  Transfer& transfer() const {
    if (!transfer_) throw Failure("FAILED_PRECONDITION", "reads are started by devices");
    return *transfer_;
  }
  Napi::Value is_done(const Napi::CallbackInfo& info) {
    return guarded(info, [&](Napi::Env env) { return Napi::Boolean::New(env, transfer().is_done()); });
  }
  Napi::Value finish(const Napi::CallbackInfo& info) {
    return guarded(info, [&](Napi::Env env) {
      Napi::Uint8Array result = Napi::Uint8Array::New(env, transfer().bytes());
      transfer().finish(result.Data());
      return result;
    });
  }
  std::unique_ptr<Transfer> transfer_;
};

struct Classes {
  Napi::FunctionReference transfer, device;
};

class JsDevice : public Napi::ObjectWrap<JsDevice> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Device", {
      InstanceMethod("info", &JsDevice::info), InstanceMethod("freeBytes", &JsDevice::free_bytes),
      InstanceMethod("allocate", &JsDevice::allocate), InstanceMethod("free", &JsDevice::free),
      InstanceMethod("write", &JsDevice::write), InstanceMethod("startRead", &JsDevice::start_read),
      InstanceMethod("copy", &JsDevice::copy), InstanceMethod("copyFrom", &JsDevice::copy_from), InstanceMethod("fill", &JsDevice::fill),
      InstanceMethod("load", &JsDevice::load), InstanceMethod("unload", &JsDevice::unload),
      InstanceMethod("function", &JsDevice::function),
      InstanceMethod("launchAll", &JsDevice::launch_all), InstanceMethod("settle", &JsDevice::settle), InstanceMethod("makeGraph", &JsDevice::make_graph),
      InstanceMethod("launchGraph", &JsDevice::launch_graph), InstanceMethod("dropGraph", &JsDevice::drop_graph),
      InstanceMethod("openProducts", &JsDevice::open_products), InstanceMethod("product", &JsDevice::product),
      InstanceMethod("workspace", &JsDevice::workspace), InstanceMethod("dropProduct", &JsDevice::drop_product),
      InstanceMethod("record", &JsDevice::record), InstanceMethod("isDone", &JsDevice::is_done),
      InstanceMethod("handle", &JsDevice::handle), InstanceMethod("wait", &JsDevice::wait), InstanceMethod("drop", &JsDevice::drop),
      InstanceMethod("synchronize", &JsDevice::synchronize), InstanceMethod("close", &JsDevice::close)});
  }
  // (path of the driver, ordinal)
  explicit JsDevice(const Napi::CallbackInfo& info) : Napi::ObjectWrap<JsDevice>(info) {
    guarded(info, [&](Napi::Env env) {
      device_ = std::make_shared<Device>(Driver::open(text(info, 0)), static_cast<int>(number(info, 1, 1e6)));
      return env.Undefined();
    });
  }
  ~JsDevice() override {
    if (device_) device_->close();
  }
  static const std::shared_ptr<Device>& of(Napi::Env env, const Napi::Value& value) {
    if (!value.IsObject() || !value.As<Napi::Object>().InstanceOf(env.GetInstanceData<Classes>()->device.Value()))
      throw Failure("INVALID_ARGUMENT", "an argument is no device");
    return Unwrap(value.As<Napi::Object>())->device_;
  }

 private:
  template <class F> Napi::Value with(const Napi::CallbackInfo& info, F body) {
    return guarded(info, [&](Napi::Env env) -> Napi::Value {
      body(*device_);
      return env.Undefined();
    });
  }
  template <class F> Napi::Value counted(const Napi::CallbackInfo& info, F body) {
    return guarded(info, [&](Napi::Env env) -> Napi::Value { return Napi::Number::New(env, static_cast<double>(body(*device_))); });
  }

  Napi::Value info(const Napi::CallbackInfo& info) {
    return guarded(info, [&](Napi::Env env) {
      const DeviceInfo& found = device_->info();
      Napi::Object result = Napi::Object::New(env);
      result.Set("name", found.name);
      result.Set("capability", found.compute_major * 10 + found.compute_minor);
      result.Set("multiprocessors", found.multiprocessors);
      result.Set("driverVersion", found.driver_version);
      result.Set("bytes", static_cast<double>(found.bytes));
      result.Set("hasMemoryPools", found.has_memory_pools);
      result.Set("hasGraphs", found.has_graphs);
      result.Set("hasTensorMaps", found.has_tensor_maps);
      return result;
    });
  }
  Napi::Value free_bytes(const Napi::CallbackInfo& info) {
    return counted(info, [](Device& device) { return device.free_bytes(); });
  }
  Napi::Value allocate(const Napi::CallbackInfo& info) {
    return counted(info, [&](Device& device) { return device.allocate(large(info, 0)); });
  }
  Napi::Value free(const Napi::CallbackInfo& info) {
    return with(info, [&](Device& device) { device.free(large(info, 0)); });
  }
  // (to, bytes)
  Napi::Value write(const Napi::CallbackInfo& info) {
    return with(info, [&](Device& device) {
      const Span span = bytes(info, 1);
      device.write(large(info, 0), span.data, span.size);
    });
  }
  // (from, count)
  Napi::Value start_read(const Napi::CallbackInfo& info) {
    return guarded(info, [&](Napi::Env env) {
      auto transfer = device_->start_read(large(info, 0), large(info, 1));
      const Napi::Object object = env.GetInstanceData<Classes>()->transfer.New({});
      JsTransfer::Unwrap(object)->hold(std::move(transfer));
      return object;
    });
  }
  // (to, from, count)
  Napi::Value copy(const Napi::CallbackInfo& info) {
    return with(info, [&](Device& device) { device.copy(large(info, 0), large(info, 1), large(info, 2)); });
  }
  // (to, other device, from, count)
  Napi::Value copy_from(const Napi::CallbackInfo& info) {
    return with(info, [&](Device& device) {
      device.copy_from(large(info, 0), *of(info.Env(), info[1]), large(info, 2), large(info, 3));
    });
  }
  // (to, value, count)
  Napi::Value fill(const Napi::CallbackInfo& info) {
    return with(info, [&](Device& device) { device.fill(large(info, 0), static_cast<uint8_t>(number(info, 1, 255)), large(info, 2)); });
  }
  Napi::Value load(const Napi::CallbackInfo& info) {
    return counted(info, [&](Device& device) {
      const Span span = bytes(info, 0);
      return device.load(span.data, span.size);
    });
  }
  Napi::Value unload(const Napi::CallbackInfo& info) {
    return with(info, [&](Device& device) { device.unload(word(info, 0)); });
  }
  // (module, name, bytes of shared memory)
  Napi::Value function(const Napi::CallbackInfo& info) {
    return counted(info, [&](Device& device) { return device.function(word(info, 0), text(info, 1), static_cast<unsigned>(number(info, 2, kMostSharedBytes))); });
  }
  // (list)
  Napi::Value launch_all(const Napi::CallbackInfo& info) {
    return with(info, [&](Device& device) {
      const Span span = bytes(info, 0);
      device.launch_all(span.data, span.size);
    });
  }
  Napi::Value settle(const Napi::CallbackInfo& info) {
    return with(info, [](Device& device) { device.settle(); });
  }
  // (list)
  Napi::Value make_graph(const Napi::CallbackInfo& info) {
    return counted(info, [&](Device& device) {
      const Span span = bytes(info, 0);
      return device.make_graph(span.data, span.size);
    });
  }
  // (graph, list)
  Napi::Value launch_graph(const Napi::CallbackInfo& info) {
    return guarded(info, [&](Napi::Env env) {
      const Span span = bytes(info, 1);
      return Napi::Boolean::New(env, device_->launch_graph(word(info, 0), span.data, span.size));
    });
  }
  Napi::Value drop_graph(const Napi::CallbackInfo& info) {
    return with(info, [&](Device& device) { device.drop_graph(word(info, 0)); });
  }
  // (paths of the library): what was found.
  Napi::Value open_products(const Napi::CallbackInfo& info) {
    return guarded(info, [&](Napi::Env env) {
      const Products& products = device_->open_products(list(info, 0));
      Napi::Object result = Napi::Object::New(env);
      result.Set("path", products.path());
      result.Set("version", products.version());
      return result;
    });
  }
  // (type, flags: 1 a is transposed, 2 b is, 4 there is a bias, 8 relu; rows, columns, depth, batches, stride of a, stride of b, alignment)
  Napi::Value product(const Napi::CallbackInfo& info) {
    return counted(info, [&](Device& device) {
      const uint32_t flags = static_cast<uint32_t>(number(info, 1, 15));
      return device.product({static_cast<ProductType>(number(info, 0, 4)), (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, (flags & 8) != 0, large(info, 2),
                             large(info, 3), large(info, 4), large(info, 5), large(info, 6), large(info, 7), word(info, 8)});
    });
  }
  Napi::Value workspace(const Napi::CallbackInfo& info) {
    return counted(info, [&](Device& device) { return device.workspace(word(info, 0)); });
  }
  Napi::Value drop_product(const Napi::CallbackInfo& info) {
    return with(info, [&](Device& device) { device.drop_product(word(info, 0)); });
  }
  Napi::Value record(const Napi::CallbackInfo& info) {
    return counted(info, [](Device& device) { return device.record(); });
  }
  Napi::Value is_done(const Napi::CallbackInfo& info) {
    return guarded(info, [&](Napi::Env env) { return Napi::Boolean::New(env, device_->is_done(word(info, 0))); });
  }
  Napi::Value handle(const Napi::CallbackInfo& info) {
    return counted(info, [&](Device& device) { return reinterpret_cast<uint64_t>(device.handle(word(info, 0))); });
  }
  Napi::Value wait(const Napi::CallbackInfo& info) {
    return with(info, [&](Device& device) { device.wait(word(info, 0)); });
  }
  Napi::Value drop(const Napi::CallbackInfo& info) {
    return with(info, [&](Device& device) { device.drop(word(info, 0)); });
  }
  Napi::Value synchronize(const Napi::CallbackInfo& info) {
    return with(info, [](Device& device) { device.synchronize(); });
  }
  Napi::Value close(const Napi::CallbackInfo& info) {
    return with(info, [](Device& device) { device.close(); });
  }

  // Transfers hold it too.
  std::shared_ptr<Device> device_;
};

class JsGroup : public Napi::ObjectWrap<JsGroup> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Group", {InstanceMethod("allReduce", &JsGroup::all_reduce), InstanceMethod("close", &JsGroup::close)});
  }
  // (devices)
  explicit JsGroup(const Napi::CallbackInfo& info) : Napi::ObjectWrap<JsGroup>(info) {
    guarded(info, [&](Napi::Env env) {
      const Napi::Array given = array(info[0]);
      std::vector<std::shared_ptr<Device>> devices;
      for (uint32_t i = 0; i < given.Length(); i++) devices.push_back(JsDevice::of(env, given.Get(i)));
      group_ = std::make_unique<Group>(std::move(devices));
      return env.Undefined();
    });
  }

 private:
  static Napi::Array array(const Napi::Value& value) {
    if (!value.IsArray()) throw Failure("INVALID_ARGUMENT", "an argument is no list");
    return value.As<Napi::Array>();
  }
  static uint64_t whole(const Napi::Value& value, double most) {
    const double given = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : NAN;
    if (!(given >= 0 && given <= most && given == std::floor(given))) throw Failure("INVALID_ARGUMENT", "a list has something else than numbers");
    return static_cast<uint64_t>(given);
  }
  static std::vector<CUdeviceptr> addresses(const Napi::Value& value) {
    const Napi::Array given = array(value);
    std::vector<CUdeviceptr> result;
    for (uint32_t i = 0; i < given.Length(); i++) result.push_back(whole(given.Get(i), 9007199254740991.0));
    return result;
  }
  // (list of [type, count, from, to])
  Napi::Value all_reduce(const Napi::CallbackInfo& info) {
    return guarded(info, [&](Napi::Env env) {
      const Napi::Array given = array(info[0]);
      std::vector<GroupSum> sums;
      for (uint32_t i = 0; i < given.Length(); i++) {
        const Napi::Array one = array(given.Get(i));
        sums.push_back({static_cast<NcclType>(whole(one.Get(0u), 9)), static_cast<size_t>(whole(one.Get(1u), 9007199254740991.0)), addresses(one.Get(2u)),
                        addresses(one.Get(3u))});
      }
      group_->all_reduce(sums);
      return env.Undefined();
    });
  }
  Napi::Value close(const Napi::CallbackInfo& info) {
    return guarded(info, [&](Napi::Env env) {
      group_->close();
      return env.Undefined();
    });
  }

  std::unique_ptr<Group> group_;
};

// (path of the driver): how many GPUs it has.
Napi::Value count_devices(const Napi::CallbackInfo& info) {
  return guarded(info, [&](Napi::Env env) { return Napi::Number::New(env, Driver::open(text(info, 0))->devices()); });
}

// (paths of the compiler): what was found.
Napi::Value find_compiler(const Napi::CallbackInfo& info) {
  return guarded(info, [&](Napi::Env env) {
    const auto compiler = Compiler::open(list(info, 0));
    Napi::Object result = Napi::Object::New(env);
    result.Set("path", compiler->path());
    result.Set("version", std::to_string(compiler->major()) + "." + std::to_string(compiler->minor()));
    return result;
  });
}

// (paths of the compiler, text, name for messages, compute capability): an image.
Napi::Value compile(const Napi::CallbackInfo& info) {
  return guarded(info, [&](Napi::Env env) {
    const auto image = Compiler::open(list(info, 0))->compile(text(info, 1), text(info, 2), static_cast<int>(number(info, 3, 1000)));
    Napi::Uint8Array result = Napi::Uint8Array::New(env, image.size());
    std::copy(image.begin(), image.end(), reinterpret_cast<char*>(result.Data()));
    return result;
  });
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  auto* classes = new Classes();
  const Napi::Function transfer = JsTransfer::define(env);
  classes->transfer = Napi::Persistent(transfer);
  env.SetInstanceData(classes);
  const Napi::Function device = JsDevice::define(env);
  classes->device = Napi::Persistent(device);
  exports.Set("Device", device);
  exports.Set("Group", JsGroup::define(env));
  exports.Set("countDevices", Napi::Function::New(env, count_devices));
  exports.Set("findCompiler", Napi::Function::New(env, find_compiler));
  exports.Set("compile", Napi::Function::New(env, compile));
  return exports;
}

}  // namespace
}  // namespace eagre::cuda

static Napi::Object init(Napi::Env env, Napi::Object exports) { return eagre::cuda::init(env, exports); }
NODE_API_MODULE(eagre_cuda, init)
