// How errors of kernels reach JavaScript.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>

#include "tensor.h"

namespace eagre {

// Calls fn: 0, or the code of the KernelError (or other exception) that it threw, whose text is then in `message`.
template <class F> int32_t guarded(char (&message)[256], F&& fn) {
  try {
    fn();
    return 0;
  } catch (const KernelError& e) {
    std::memcpy(message, e.message, sizeof message);
    return static_cast<int32_t>(e.code);
#if !defined(__wasm__)
    // There nothing else is thrown (wasm/exceptions.cc).
  } catch (const std::bad_alloc&) {
    std::snprintf(message, sizeof message, "no memory");
    return static_cast<int32_t>(Code::resource_exhausted);
  } catch (const std::exception& e) {
    std::snprintf(message, sizeof message, "%s", e.what());
    return static_cast<int32_t>(Code::internal);
#endif
  }
}

}  // namespace eagre
