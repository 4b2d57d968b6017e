// What the processor can do and the system lets this process use, asked once. An instruction set that is chosen at run time has its flag here.
#pragma once

namespace eagre {

struct Processor {
  // An instruction for CRC-32C.
  bool crc32c = false;
  // All that the sets of kernels of these names are compiled for (CMakeLists.txt).
  bool avx2 = false, avx512 = false;
  // Tile registers for bfloat16. The system gives them to processes that ask, which this has done.
  bool tiles = false;
};

const Processor& processor();

}  // namespace eagre
