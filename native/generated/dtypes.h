// Printed by tools/print-dtypes.mjs from packages/backend/src/dtype.ts: change the table there, and run it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace eagre {

// Floats of 16 bits, as they are stored: cpu/half.h converts them.
struct Half { uint16_t bits; };
struct BFloat { uint16_t bits; };

// X(name, C++ type, name for people, bytes, kind, dtype in which scalar programs compute): the kind is f floating, i integer with a
// sign, u without, b bool. In the order of their numbers.
#define EAGRE_DTYPES(X) \
  X(f32, float, "float32", 4, 'f', f32) \
  X(f64, double, "float64", 8, 'f', f64) \
  X(i32, int32_t, "int32", 4, 'i', i32) \
  X(i64, int64_t, "int64", 8, 'i', i64) \
  X(u8, uint8_t, "uint8", 1, 'u', u8) \
  X(boolean, bool, "bool", 1, 'b', boolean) \
  X(i8, int8_t, "int8", 1, 'i', i32) \
  X(i16, int16_t, "int16", 2, 'i', i32) \
  X(u16, uint16_t, "uint16", 2, 'u', i32) \
  X(u32, uint32_t, "uint32", 4, 'u', i64) \
  X(u64, uint64_t, "uint64", 8, 'u', u64) \
  X(f16, Half, "float16", 2, 'f', f32) \
  X(bf16, BFloat, "bfloat16", 2, 'f', f32)

// X(name, C++ type) of the numbers that C++ computes with.
#define EAGRE_NUMBERS(X) \
  X(f32, float) \
  X(f64, double) \
  X(i32, int32_t) \
  X(i64, int64_t) \
  X(u8, uint8_t) \
  X(i8, int8_t) \
  X(i16, int16_t) \
  X(u16, uint16_t) \
  X(u32, uint32_t) \
  X(u64, uint64_t)

// X(name, C++ type) of the floats of 16 bits.
#define EAGRE_HALVES(X) \
  X(f16, Half) \
  X(bf16, BFloat)

enum class DType : int32_t {
#define X(name, type, text, bytes, kind, computes_in) name,
  EAGRE_DTYPES(X)
#undef X
};
constexpr int kDTypes = 13;

struct DTypeInfo {
  const char* name;
  unsigned char bytes;
  char kind;
  DType computes_in;
};
inline constexpr DTypeInfo kDTypeInfo[kDTypes] = {
#define X(name, type, text, bytes, kind, computes_in) {text, bytes, kind, DType::computes_in},
    EAGRE_DTYPES(X)
#undef X
};

inline const DTypeInfo& info_of(DType t) { return kDTypeInfo[static_cast<int>(t)]; }
inline size_t dtype_size(DType t) { return info_of(t).bytes; }
// Whether scalar programs compute with it; others they only read, write, choose and cast.
inline bool computes(DType t) { return info_of(t).computes_in == t; }

}  // namespace eagre
