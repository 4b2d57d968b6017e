// CUDA C++ → an image of a module, by NVIDIA's compiler at run time (NVRTC), where its library is found.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace eagre::cuda {

class Compiler {
 public:
  // The first of the libraries, by path or name, that can be loaded. Failure UNAVAILABLE, which says of each why not.
  static std::shared_ptr<const Compiler> open(const std::vector<std::string>& paths);

  const std::string& path() const { return path_; }
  int major() const { return major_; }
  int minor() const { return minor_; }
  // An image for a GPU of this compute capability (90 for 9.0): machine code, or PTX where the GPU is newer than the compiler.
  // Failure INVALID_ARGUMENT with what the compiler says of the text; UNIMPLEMENTED where it knows no GPU so old.
  std::vector<char> compile(const std::string& text, const std::string& name, int capability) const;

 private:
  explicit Compiler(const std::string& path);
  std::string target(int capability) const;
  void check(int result, const char* function) const;

  std::string path_;
  int major_ = 0, minor_ = 0;
  using Program = struct nvrtcProgram_st*;
  int (*nvrtcVersion)(int*, int*) = nullptr;
  int (*nvrtcCreateProgram)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*nvrtcDestroyProgram)(Program*) = nullptr;
  int (*nvrtcCompileProgram)(Program, int, const char* const*) = nullptr;
  int (*nvrtcGetProgramLogSize)(Program, size_t*) = nullptr;
  int (*nvrtcGetProgramLog)(Program, char*) = nullptr;
  int (*nvrtcGetCUBINSize)(Program, size_t*) = nullptr;
  int (*nvrtcGetCUBIN)(Program, char*) = nullptr;
  int (*nvrtcGetPTXSize)(Program, size_t*) = nullptr;
  int (*nvrtcGetPTX)(Program, char*) = nullptr;
  int (*nvrtcGetNumSupportedArchs)(int*) = nullptr;
  int (*nvrtcGetSupportedArchs)(int*) = nullptr;
  const char* (*nvrtcGetErrorString)(int) = nullptr;
};

}  // namespace eagre::cuda
