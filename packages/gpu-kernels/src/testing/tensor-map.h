// What stands for a tensor map of the driver where kernels run on a processor. The fake driver makes it too, and refuses what the driver refuses.
#pragma once
#include <cstddef>
#include <cstdint>

struct alignas(64) tc_map {
  uint64_t memory, sizes[3], strides[2];
  uint32_t box[3], type;
  // Whether it was made.
  uint32_t magic;
};
static_assert(sizeof(tc_map) == 128, "a tensor map has 128 bytes");

namespace shim {

constexpr uint32_t kMap = 0x7a9;
enum : uint32_t { kFloat16 = 6, kBfloat16 = 9, kTensorFloat32 = 11 };
inline unsigned elementBytes(uint32_t type) { return type == kTensorFloat32 ? 4 : 2; }

/** As `cuTensorMapEncodeTiled`, of those of three axes whose lines are turned around as lines of 128 bytes. @returns why it is refused */
inline const char* makeMap(tc_map* map, uint32_t type, uint32_t rank, uint64_t memory, const uint64_t* sizes, const uint64_t* strides, const uint32_t* box, int swizzle) {
  if (rank != 3 || swizzle != 3) return "a tensor map of another form";
  if (type != kFloat16 && type != kBfloat16 && type != kTensorFloat32) return "a tensor map of another type";
  if (memory % 16 != 0) return "a tensor map of memory that begins at no multiple of 16 bytes";
  const uint64_t element = elementBytes(type);
  for (int i = 0; i < 3; i++) {
    if (sizes[i] == 0 || sizes[i] > uint64_t(1) << 32) return "a tensor map of a size that is 0 or too large";
    if (box[i] == 0 || box[i] > 256) return "a tensor map with a box of a size that is 0 or more than 256";
  }
  for (int i = 0; i < 2; i++) {
    if (strides[i] % 16 != 0 || strides[i] >> 40 != 0) return "a tensor map with a stride that is no multiple of 16 bytes, or too long";
    if (strides[i] < (i == 0 ? sizes[0] * element : sizes[1] * strides[0])) return "a tensor map whose lines lie over each other";
  }
  if (box[0] * element % 16 != 0) return "a tensor map with a box that is no multiple of 16 bytes";
  if (box[0] * element > 128) return "a tensor map with a box whose lines are longer than what is turned around";
  *map = {memory, {sizes[0], sizes[1], sizes[2]}, {strides[0], strides[1]}, {box[0], box[1], box[2]}, type, kMap};
  return nullptr;
}

}  // namespace shim
