// CRC-32C (Castagnoli), as TFRecord files and checkpoints have it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace eagre {

// The CRC of the bytes behind those whose CRC is `previous`: 0 at the beginning.
uint32_t crc32c(const void* bytes, size_t length, uint32_t previous);
// The same by tables, for processors without an instruction for it.
uint32_t crc32c_portable(const void* bytes, size_t length, uint32_t previous);
// The CRC of two parts together: `second` is that of the part behind, of `length` bytes, alone.
uint32_t crc32c_joined(uint32_t first, uint32_t second, size_t length);

}  // namespace eagre
