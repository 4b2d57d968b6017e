#include "driver.h"

#include <dlfcn.h>

#include <map>
#include <mutex>

namespace eagre::cuda {

void* open_library(const std::string& path) {
  // Never closed: libraries of drivers have threads of their own.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    throw Failure("UNAVAILABLE", reason != nullptr ? reason : path + " cannot be loaded");
  }
  return library;
}

void* find_symbol(void* library, const char* name) { return dlsym(library, name); }

std::shared_ptr<const Driver> Driver::open(const std::string& path) {
  static std::mutex lock;
  static auto& opened = *new std::map<std::string, std::shared_ptr<const Driver>>();
  const std::lock_guard<std::mutex> guard(lock);
  auto& driver = opened[path];
  // One that could not start is tried again: the kernel's module may be there by then.
  if (driver == nullptr) driver.reset(new Driver(path));
  return driver;
}

Driver::Driver(const std::string& path) {
  void* library = open_library(path);
#define FIND(name) name = reinterpret_cast<decltype(name)>(find_symbol(library, #name))
#define FUNCTION(name, arguments) \
  if ((FIND(name)) == nullptr) throw Failure("UNAVAILABLE", path + " has no " #name ": the driver is too old, or no driver of CUDA");
#define OPTIONAL(name, arguments) FIND(name);
#include "driver_functions.def"
#undef FUNCTION
#undef OPTIONAL
#undef FIND
  check(cuInit(0), "cuInit");
}

int Driver::devices() const {
  int count = 0;
  check(cuDeviceGetCount(&count), "cuDeviceGetCount");
  return count;
}

int Driver::version() const {
  int version = 0;
  check(cuDriverGetVersion(&version), "cuDriverGetVersion");
  return version;
}

bool ends_context(CUresult result) {
  switch (result) {
    case kDeinitialized:
    case kUncorrectableEcc:
    case kIllegalAddress:
    case kLaunchTimeout:
    case kContextDestroyed:
    case kAssert:
      return true;
    default:
      // A stack, an instruction, an alignment, an address space, a program counter, a launch that failed.
      return result >= kHardwareStack && result <= kLaunchFailed;
  }
}

static const char* code_of(CUresult result) {
  if (ends_context(result)) return "UNAVAILABLE";
  switch (result) {
    case kOutOfMemory:
    case kLaunchOutOfResources:
      return "RESOURCE_EXHAUSTED";
    case kInvalidValue:
    case kInvalidImage:
    case kInvalidPtx:
      return "INVALID_ARGUMENT";
    case kNotFound:
    case kInvalidDevice:
      return "NOT_FOUND";
    case kNoBinaryForGpu:
    case kUnsupportedPtx:
    case kJitCompilerNotFound:
    case kNotSupported:
      return "UNIMPLEMENTED";
    case kNotInitialized:
    case kStubLibrary:
    case kDeviceUnavailable:
    case kNoDevice:
    case kOperatingSystem:
    case kSystemNotReady:
    case kSystemDriverMismatch:
      return "UNAVAILABLE";
    default:
      return "UNKNOWN";
  }
}

Failure Driver::failure(CUresult result, const char* function) const {
  const char *name = nullptr, *text = nullptr;
  // Errors that are newer than the driver have neither.
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  const std::string named = name != nullptr ? name : "CUDA_ERROR_" + std::to_string(result);
  const std::string said = text != nullptr ? std::string(text) + " (" + named + ")" : named;
  return Failure(code_of(result), std::string(function) + ": " + said, named, result);
}

}  // namespace eagre::cuda
