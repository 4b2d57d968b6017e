// Products of tiles by a module of their own (relaxed.cc), which an engine without relaxed SIMD would refuse.
#pragma once
#include <cstdint>

namespace eagre {

enum class Product : int32_t { f32, f64, narrow_f32, narrow_f64 };
// Of a Tile of cpu/gemm_micro.h: what tile_product and narrow_product do.
using RelaxedProduct = void (*)(Product kind, const void* tile, int32_t rows, int32_t across);

// Null where there is no such module.
#if defined(__wasm__)
extern RelaxedProduct relaxed_product;
#else
constexpr RelaxedProduct relaxed_product = nullptr;
#endif

}  // namespace eagre
