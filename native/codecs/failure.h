// How the codecs end early: C++ unwinds the stack, also through libjpeg-turbo's C, which is compiled for it.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <new>

#include "codecs.h"

namespace eagre::codecs {

struct Failure {
  char message[EAGRE_MESSAGE];
};

[[noreturn]] __attribute__((format(printf, 1, 2))) inline void fail(const char* format, ...) {
  Failure failure;
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
    std::snprintf(message, EAGRE_MESSAGE, "%s", failure.message);
    return EAGRE_INVALID;
  } catch (const std::bad_alloc&) {
    std::snprintf(message, EAGRE_MESSAGE, "there is no memory for the picture");
    return EAGRE_NO_MEMORY;
  }
}

inline void check_size(const char* kind, uint64_t width, uint64_t height) {
  if (width * height == 0 || width * height > EAGRE_MOST_PIXELS)
    fail("a %s file of %llu × %llu pixels; expected 1 to %llu", kind, static_cast<unsigned long long>(width),
         static_cast<unsigned long long>(height), EAGRE_MOST_PIXELS);
}

template <class T> T* allocated(void* memory) {
  if (!memory) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

}  // namespace eagre::codecs
