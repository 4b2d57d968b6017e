// Sums, minima and maxima of two ranks' elements, by dtype. 16-bit floats are added in float32.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace eagre::distribute {

// In the order of `dtypes` in packages/distribute/src/engine/native-engine.ts. `bytes` can be moved, but not reduced.
enum class Element : uint8_t { f32, f64, f16, bf16, i32, i64, bytes };
enum class Reduction : uint8_t { sum, mean, min, max };

size_t size_of(Element element);
inline bool is_16_bit(Element element) { return element == Element::f16 || element == Element::bf16; }

// out[i] = a[i] ∘ b[i]; `out` may be `a` or `b`. A mean adds; `divide` follows at the end.
using Reducer = void (*)(void* out, const void* a, const void* b, size_t count);
// Null for `bytes`.
Reducer reducer_of(Element element, Reduction reduction);
// x[i] /= ranks, for floats.
void divide(Element element, void* x, size_t count, int ranks);

// out[i] = parts[0][i] ∘ parts[1][i] ∘ …, in this order. 16-bit floats are rounded once, at the end; a mean is divided here.
void reduce_in_order(Element element, Reduction reduction, void* out, const std::vector<const void*>& parts, size_t count);

}  // namespace eagre::distribute
