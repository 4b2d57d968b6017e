// Included first by every kernel source. Each source is compiled once per instruction set, inside a namespace of its own;
// EAGRE_ISA is baseline, avx2 or avx512.
#pragma once
#include "../runtime/pool.h"
#include "../runtime/tensor.h"

#define EAGRE_BEGIN namespace eagre { namespace EAGRE_ISA {
#define EAGRE_END } }

// Before a loop whose rounds do not depend on each other.
#if defined(__clang__)
#define EAGRE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define EAGRE_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace eagre { namespace EAGRE_ISA {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// GCC/Clang vectors; the `u` forms load and store from any address.
typedef float vf32 __attribute__((vector_size(kVectorBytes)));
typedef double vf64 __attribute__((vector_size(kVectorBytes)));
typedef int32_t vi32 __attribute__((vector_size(kVectorBytes)));
typedef int64_t vi64 __attribute__((vector_size(kVectorBytes)));
typedef uint32_t vu32 __attribute__((vector_size(kVectorBytes)));
typedef float vf32u __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));
typedef double vf64u __attribute__((vector_size(kVectorBytes), aligned(8), may_alias));
typedef int32_t vi32u __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));
typedef int64_t vi64u __attribute__((vector_size(kVectorBytes), aligned(8), may_alias));
constexpr int kF32 = kVectorBytes / 4;
constexpr int kF64 = kVectorBytes / 8;

inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

// Calls f with a value of the C++ type of a dtype that C++ computes with: visit(t, [&](auto tag) { using T = decltype(tag); ... }).
template <class F> inline void visit(DType t, F&& f) {
  switch (t) {
#define X(name, type, ...) case DType::name: f(type{}); break;
    EAGRE_NUMBERS(X)
    X(boolean, bool)
#undef X
    // Whoever asks for a kernel widens these before.
    default: fail(Code::unimplemented, "no arithmetic of %s", info_of(t).name);
  }
}
// The same by element size alone, for kernels that only move values.
template <class F> inline void visit_size(DType t, F&& f) {
  switch (dtype_size(t)) {
    case 1: f(uint8_t{}); break;
    case 2: f(uint16_t{}); break;
    case 4: f(uint32_t{}); break;
    case 8: f(uint64_t{}); break;
    default: fail(Code::unimplemented, "elements of %zu bytes (%s)", dtype_size(t), info_of(t).name);
  }
}

} }
