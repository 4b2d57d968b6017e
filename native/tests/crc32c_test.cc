#include "../runtime/crc32c.h"

#include "harness.h"

using namespace eagre;

namespace {

// From the definition, bit by bit.
uint32_t reference(const unsigned char* p, size_t length) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < length; i++) {
    crc ^= p[i];
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
  }
  return ~crc;
}

}  // namespace

int main() {
  CHECK(crc32c("123456789", 9, 0) == 0xe3069283);
  CHECK(crc32c("", 0, 0) == 0);
  Random random(3);
  std::vector<unsigned char> bytes(100000);
  for (auto& byte : bytes) byte = static_cast<unsigned char>(random.below(256));
  for (size_t length : {1, 7, 8, 9, 255, 767, 768, 769, 5000, 24575, 24576, 24577, 50000, 99990}) {
    for (size_t offset : {0, 1, 5}) {
      const unsigned char* p = bytes.data() + offset;
      const uint32_t expected = reference(p, length);
      CHECK(crc32c(p, length, 0) == expected);
      CHECK(crc32c_portable(p, length, 0) == expected);
      const size_t cut = length / 3;
      CHECK(crc32c(p + cut, length - cut, crc32c(p, cut, 0)) == expected);
      CHECK(crc32c_portable(p + cut, length - cut, crc32c_portable(p, cut, 0)) == expected);
      CHECK(crc32c_joined(crc32c(p, cut, 0), crc32c(p + cut, length - cut, 0), length - cut) == expected);
      CHECK(crc32c_joined(expected, crc32c(p, 0, 0), 0) == expected && crc32c_joined(0, expected, length) == expected);
    }
  }
  return finish();
}
