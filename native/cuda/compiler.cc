#include "compiler.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "driver.h"

namespace eagre::cuda {

namespace {
constexpr int kCompilation = 6;
}

std::shared_ptr<const Compiler> Compiler::open(const std::vector<std::string>& paths) {
  static std::mutex lock;
  static auto& opened = *new std::map<std::string, std::shared_ptr<const Compiler>>();
  const std::lock_guard<std::mutex> guard(lock);
  std::string reasons;
  for (const std::string& path : paths) {
    auto& compiler = opened[path];
    try {
      if (compiler == nullptr) compiler.reset(new Compiler(path));
      return compiler;
    } catch (const Failure& failure) {
      reasons += std::string(reasons.empty() ? "" : "; ") + failure.what();
    }
  }
  throw Failure("UNAVAILABLE", reasons);
}

Compiler::Compiler(const std::string& path) : path_(path) {
  void* library = open_library(path);
#define FIND(name) \
  if ((name = reinterpret_cast<decltype(name)>(find_symbol(library, #name))) == nullptr) throw Failure("UNAVAILABLE", path + " has no " #name)
  FIND(nvrtcVersion);
  FIND(nvrtcCreateProgram);
  FIND(nvrtcDestroyProgram);
  FIND(nvrtcCompileProgram);
  FIND(nvrtcGetProgramLogSize);
  FIND(nvrtcGetProgramLog);
  FIND(nvrtcGetCUBINSize);
  FIND(nvrtcGetCUBIN);
  FIND(nvrtcGetPTXSize);
  FIND(nvrtcGetPTX);
  FIND(nvrtcGetNumSupportedArchs);
  FIND(nvrtcGetSupportedArchs);
  FIND(nvrtcGetErrorString);
#undef FIND
  check(nvrtcVersion(&major_, &minor_), "nvrtcVersion");
}

void Compiler::check(int result, const char* function) const {
  if (result == 0) return;
  const char* text = nvrtcGetErrorString(result);
  throw Failure("UNKNOWN", std::string(function) + ": " + (text != nullptr ? text : std::to_string(result)));
}

std::string Compiler::target(int capability) const {
  int count = 0;
  check(nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> known(static_cast<size_t>(std::max(count, 0)));
  if (count > 0) check(nvrtcGetSupportedArchs(known.data()), "nvrtcGetSupportedArchs");
  int best = 0;
  for (const int each : known) {
    // GPUs of 9.0 have instructions that no other has: "a" allows them, and binds the machine code to these GPUs, as it is anyway.
    if (each == capability) return "sm_" + std::to_string(capability) + (capability == 90 ? "a" : "");
    if (each < capability) best = std::max(best, each);
  }
  if (best == 0)
    throw Failure("UNIMPLEMENTED", path_ + " compiles for no GPU of compute capability " + std::to_string(capability / 10) + "." +
                                       std::to_string(capability % 10) + ": the GPU is too old for it");
  // The driver compiles PTX for GPUs that are newer.
  return "compute_" + std::to_string(best);
}

std::vector<char> Compiler::compile(const std::string& text, const std::string& name, int capability) const {
  const std::string architecture = target(capability);
  Program program = nullptr;
  check(nvrtcCreateProgram(&program, text.c_str(), name.c_str(), 0, nullptr, nullptr), "nvrtcCreateProgram");
  struct End {
    const Compiler* compiler;
    Program* program;
    ~End() { compiler->nvrtcDestroyProgram(program); }
  } end{this, &program};
  // Products are not contracted into sums: kernels that want that ask for it by name, and agree with the other backends so.
  const std::string options[] = {"--gpu-architecture=" + architecture, "--std=c++17", "--fmad=false"};
  const char* given[] = {options[0].c_str(), options[1].c_str(), options[2].c_str()};
  const int result = nvrtcCompileProgram(program, 3, given);
  if (result == kCompilation) {
    size_t size = 0;
    std::string log;
    if (nvrtcGetProgramLogSize(program, &size) == 0 && size > 1) {
      log.resize(size);
      if (nvrtcGetProgramLog(program, &log[0]) != 0) log.clear();
      log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
    }
    throw Failure("INVALID_ARGUMENT", "the compiler refuses " + name + ": " + log);
  }
  check(result, "nvrtcCompileProgram");
  const bool machine = architecture[0] == 's';
  size_t size = 0;
  check((machine ? nvrtcGetCUBINSize : nvrtcGetPTXSize)(program, &size), machine ? "nvrtcGetCUBINSize" : "nvrtcGetPTXSize");
  std::vector<char> image(size);
  check((machine ? nvrtcGetCUBIN : nvrtcGetPTX)(program, image.data()), machine ? "nvrtcGetCUBIN" : "nvrtcGetPTX");
  // PTX comes with the zero behind it.
  if (!machine && !image.empty() && image.back() == '\0') image.pop_back();
  return image;
}

}  // namespace eagre::cuda
