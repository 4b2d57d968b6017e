// A module with the products of tiles alone, by fused multiply-add. It runs in the memory of the other module, on its stack, and has neither data nor
// tables: so functions are called here, not looked up.
#include "relaxed.h"

#include "../cpu/gemm_micro.cc"

EAGRE_BEGIN
namespace {

// A function each: engines spill registers of larger ones.
template <class T, int R, int N> __attribute__((noinline)) void one_tile(const Tile<T>& t) { micro<T, R, N>(t); }
template <class T, int R> __attribute__((noinline)) void one_narrow(const Tile<T>& t) { narrow<T, R, 1>(t); }

template <class T, int R = kTileRows> void any_tile(const Tile<T>& t, int rows, int vectors) {
  if (rows == R) {
    if constexpr (R <= kWideRows) {
      if (vectors == 4) return one_tile<T, R, 4>(t);
      if (vectors == 3) return one_tile<T, R, 3>(t);
    }
    return vectors == 2 ? one_tile<T, R, 2>(t) : one_tile<T, R, 1>(t);
  }
  if constexpr (R > 1) any_tile<T, R - 1>(t, rows, vectors);
}

static_assert(kNarrowColumns == 1);
template <class T, int R = kNarrowRows> void any_narrow(const Tile<T>& t, int rows) {
  if (rows == R) return one_narrow<T, R>(t);
  if constexpr (R > 1) any_narrow<T, R - 1>(t, rows);
}

}  // namespace
EAGRE_END

extern "C" __attribute__((export_name("product"))) void product(eagre::Product kind, const void* tile, int32_t rows, int32_t across) {
  using namespace eagre::EAGRE_ISA;
  const auto& f32 = *static_cast<const Tile<float>*>(tile);
  const auto& f64 = *static_cast<const Tile<double>*>(tile);
  switch (kind) {
    case eagre::Product::f32: return any_tile(f32, rows, across);
    case eagre::Product::f64: return any_tile(f64, rows, across);
    case eagre::Product::narrow_f32: return any_narrow(f32, rows);
    case eagre::Product::narrow_f64: return any_narrow(f64, rows);
  }
}
