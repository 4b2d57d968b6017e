#include "crc32c.h"

#include <cstring>

#include "processor.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <nmmintrin.h>
#if defined(__clang__)
#define EAGRE_CRC_TARGET __attribute__((target("sse4.2,crc32")))
#else
#define EAGRE_CRC_TARGET __attribute__((target("sse4.2")))
#endif
#elif defined(__aarch64__)
#include <arm_acle.h>
#define EAGRE_CRC_TARGET __attribute__((target("+crc")))
#endif

namespace eagre {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected: the lowest bit is x^31

struct Tables {
  // [k][b]: the byte b with k zero bytes behind it.
  uint32_t of[8][256];
  Tables() {
    for (uint32_t b = 0; b < 256; b++) {
      uint32_t crc = b;
      for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ kPolynomial : crc >> 1;
      of[0][b] = crc;
    }
    for (int k = 1; k < 8; k++)
      for (uint32_t b = 0; b < 256; b++) of[k][b] = of[k - 1][b] >> 8 ^ of[0][of[k - 1][b] & 255];
  }
};

uint32_t load32(const unsigned char* p) {
  return uint32_t(p[0]) | uint32_t(p[1]) << 8 | uint32_t(p[2]) << 16 | uint32_t(p[3]) << 24;
}

// The product of two polynomials modulo the CRC's.
uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
    if (a & bit) product ^= b;
    b = b & 1 ? b >> 1 ^ kPolynomial : b >> 1;
  }
  return product;
}

struct Squares {
  // [k]: x^(8 * 2^k).
  uint32_t of[64];
  Squares() {
    of[0] = 1u << 23;
    for (int k = 1; k < 64; k++) of[k] = multiply(of[k - 1], of[k - 1]);
  }
};

// x^(8 bytes): a product with it moves a CRC over so many zero bytes.
uint32_t power_of(size_t bytes) {
  static const Squares squares;
  uint32_t power = 1u << 31;
  for (const uint32_t* square = squares.of; bytes; bytes >>= 1, square++)
    if (bytes & 1) power = multiply(power, *square);
  return power;
}

#if defined(EAGRE_CRC_TARGET)

// The same product, byte by byte from tables.
struct Shift {
  uint32_t of[4][256];
  explicit Shift(size_t bytes) {
    const uint32_t power = power_of(bytes);
    for (int k = 0; k < 4; k++)
      for (uint32_t b = 0; b < 256; b++) of[k][b] = multiply(power, b << 8 * k);
  }
  uint32_t operator()(uint64_t crc) const {
    return of[0][crc & 255] ^ of[1][crc >> 8 & 255] ^ of[2][crc >> 16 & 255] ^ of[3][crc >> 24 & 255];
  }
};

uint64_t load64(const unsigned char* p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

#if defined(__aarch64__)
EAGRE_CRC_TARGET inline uint64_t step64(uint64_t crc, uint64_t word) { return __crc32cd(static_cast<uint32_t>(crc), word); }
EAGRE_CRC_TARGET inline uint64_t step8(uint64_t crc, unsigned char byte) { return __crc32cb(static_cast<uint32_t>(crc), byte); }
#else
EAGRE_CRC_TARGET inline uint64_t step64(uint64_t crc, uint64_t word) { return _mm_crc32_u64(crc, word); }
EAGRE_CRC_TARGET inline uint64_t step8(uint64_t crc, unsigned char byte) { return _mm_crc32_u8(static_cast<uint32_t>(crc), byte); }
#endif

// The instruction takes three cycles, and one can begin in each: three parts at once, joined by shifts.
EAGRE_CRC_TARGET const unsigned char* three_parts(const unsigned char* p, size_t& length, uint64_t& crc, size_t part, const Shift& shift) {
  for (; length >= 3 * part; length -= 3 * part, p += 3 * part) {
    uint64_t second = 0, third = 0;
    for (size_t i = 0; i < part; i += 8) {
      crc = step64(crc, load64(p + i));
      second = step64(second, load64(p + part + i));
      third = step64(third, load64(p + 2 * part + i));
    }
    crc = shift(shift(crc) ^ second) ^ third;
  }
  return p;
}

EAGRE_CRC_TARGET uint32_t crc32c_instruction(const unsigned char* p, size_t length, uint32_t previous) {
  constexpr size_t kLong = 8192, kShort = 256;
  static const Shift over_long(kLong), over_short(kShort);
  uint64_t crc = ~previous;
  p = three_parts(p, length, crc, kLong, over_long);
  p = three_parts(p, length, crc, kShort, over_short);
  for (; length >= 8; length -= 8, p += 8) crc = step64(crc, load64(p));
  for (; length; length--) crc = step8(crc, *p++);
  return ~static_cast<uint32_t>(crc);
}

#endif

}  // namespace

uint32_t crc32c_portable(const void* bytes, size_t length, uint32_t previous) {
  static const Tables tables;
  const auto& of = tables.of;
  const unsigned char* p = static_cast<const unsigned char*>(bytes);
  uint32_t crc = ~previous;
  for (; length >= 8; length -= 8, p += 8) {
    const uint32_t low = load32(p) ^ crc, high = load32(p + 4);
    crc = of[7][low & 255] ^ of[6][low >> 8 & 255] ^ of[5][low >> 16 & 255] ^ of[4][low >> 24] ^
          of[3][high & 255] ^ of[2][high >> 8 & 255] ^ of[1][high >> 16 & 255] ^ of[0][high >> 24];
  }
  for (; length; length--) crc = of[0][(crc ^ *p++) & 255] ^ crc >> 8;
  return ~crc;
}

uint32_t crc32c_joined(uint32_t first, uint32_t second, size_t length) { return multiply(power_of(length), first) ^ second; }

uint32_t crc32c(const void* bytes, size_t length, uint32_t previous) {
#if defined(EAGRE_CRC_TARGET)
  if (processor().crc32c) return crc32c_instruction(static_cast<const unsigned char*>(bytes), length, previous);
#endif
  return crc32c_portable(bytes, length, previous);
}

}  // namespace eagre
