// How the codecs end early: C++ unwinds the stack, also through libjpeg-turbo's C, which is compiled for it.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>

#include "codecs.h"

namespace eagre::codecs {

struct Failure {
  EagreOutcome outcome;
  char message[EAGRE_MESSAGE];
};

constexpr char kNoMemory[] = "there is no memory for the picture";

[[noreturn]] inline void no_memory() {
  Failure failure = {EAGRE_NO_MEMORY, ""};
  std::memcpy(failure.message, kNoMemory, sizeof kNoMemory);
  throw failure;
}

[[noreturn]] __attribute__((format(printf, 1, 2))) inline void fail(const char* format, ...) {
  Failure failure;
  failure.outcome = EAGRE_INVALID;
  va_list values;
  va_start(values, format);
  std::vsnprintf(failure.message, sizeof failure.message, format, values);
  va_end(values);
  throw failure;
}

// Runs what may fail, and says how it went.
template <class Body> int32_t outcome(char* message, Body body) noexcept {
  try {
    body();
    return EAGRE_DONE;
  } catch (const Failure& failure) {
    std::memcpy(message, failure.message, EAGRE_MESSAGE);
    return failure.outcome;
#if !defined(__wasm__)
    // There `new` throws a Failure, too (wasm/exceptions.cc).
  } catch (const std::bad_alloc&) {
    std::memcpy(message, kNoMemory, sizeof kNoMemory);
    return EAGRE_NO_MEMORY;
#endif
  }
}

inline void check_size(const char* kind, uint64_t width, uint64_t height) {
  if (width * height == 0 || width * height > EAGRE_MOST_PIXELS)
    fail("a %s file of %llu × %llu pixels; expected 1 to %llu", kind, static_cast<unsigned long long>(width),
         static_cast<unsigned long long>(height), EAGRE_MOST_PIXELS);
}

template <class T> T* allocated(void* memory) {
  if (!memory) no_memory();
  return static_cast<T*>(memory);
}

}  // namespace eagre::codecs
