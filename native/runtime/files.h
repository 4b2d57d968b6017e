// Files and memory at the same time: what Node does one after the other.
#pragma once
#include <cstdint>

namespace eagre {

// Reads `length` bytes at `offset` of an open file into `target`, or nowhere where that is null, and gives their CRC-32C. The pool's threads
// read and sum up a piece each, so that the disk and the processors work at the same time. False where not all could be read: the file ends
// before, is no regular one, the system refuses, or cannot read at offsets. `target` may then have any bytes.
bool read_range(int file, int64_t offset, int64_t length, unsigned char* target, uint32_t& crc);

// Has the system begin to bring bytes that were written to the disk, without waiting for the end; nothing where it cannot be asked.
void begin_sync(int file, int64_t offset, int64_t length);

}  // namespace eagre
