// The Huffman codes of one block of a JPEG file, which take most of the time of writing it: libjpeg-turbo asks for them by jsimd.h, since it has
// assembler for some processors. The same bits as its C. Zeros are passed over by counting bits of a mask, not looked at one by one.
#include <array>
#include <cstdio>
#include <cstdlib>

#include "vectors.h"

#define JPEG_INTERNALS
extern "C" {
#include "../third_party/libjpeg-turbo/jinclude.h"
#include "../third_party/libjpeg-turbo/jpeglib.h"
#include "../third_party/libjpeg-turbo/jerror.h"
#include "../third_party/libjpeg-turbo/jsimd.h"
}

namespace eagre::codecs {
namespace {

// As jchuff.c has it.
struct WorkingState {
  JOCTET* next_output_byte;
  size_t free_in_buffer;
  // The lowest bits of `put_buffer`, all but `free_bits`, are not written yet.
  uint64_t put_buffer;
  int free_bits;
  int last_dc_val[MAX_COMPS_IN_SCAN];
  j_compress_ptr cinfo;
};

// The place in a block of its k-th number in the order of the file: a zigzag (ITU-T T.81, figure A.6).
constexpr std::array<uint8_t, 64> zigzag() {
  std::array<uint8_t, 64> places = {};
  int row = 0, column = 0;
  for (uint8_t& place : places) {
    place = static_cast<uint8_t>(8 * row + column);
    // Along a diagonal, up and down by turns; at an edge along it.
    const bool is_upwards = (row + column) % 2 == 0;
    int& ahead = is_upwards ? column : row;
    int& back = is_upwards ? row : column;
    if (ahead == 7) back++;
    else {
      ahead++;
      if (back > 0) back--;
    }
  }
  return places;
}
constexpr std::array<uint8_t, 64> kPlaces = zigzag();

// For each row of a block and each mask of its numbers: the mask in the order of the file. Made when it is first used: pages would fetch 16 kB.
struct Masks {
  uint64_t of[8][256] = {};
  Masks() {
    for (int k = 0; k < 64; k++)
      for (int mask = 0; mask < 256; mask++)
        if (mask >> kPlaces[k] % 8 & 1) of[kPlaces[k] / 8][mask] |= uint64_t{1} << k;
  }
};

uint64_t nonzero(const JCOEF* block) {
  static const Masks masks;
  uint64_t mask = 0;
  for (int row = 0; row < 8; row += 2) {
    const uint32_t zeros = bits_of((U8)(narrow(load<I16>(block + 8 * row), load<I16>(block + 8 * row + 8)) == I8{}));
    mask |= masks.of[row][~zeros & 255] | masks.of[row + 1][~zeros >> 8 & 255];
  }
  return mask;
}

struct Bits {
  uint64_t put;
  int free;
  JOCTET* to;

  // `size` of at most 32.
  void add(uint64_t code, int size) {
    free -= size;
    if (free >= 0) {
      put = put << size | code;
      return;
    }
    put = put << (size + free) | code >> -free;
    write();
    free += 64;
    put = code;
  }
  // Behind a byte of ones stands a zero.
  void write() {
    const uint64_t bytes = __builtin_bswap64(put);
    if ((bytes & 0x8080808080808080u & ~(bytes + 0x0101010101010101u)) == 0) {
      std::memcpy(to, &bytes, 8);
      to += 8;
      return;
    }
    for (int i = 56; i >= 0; i -= 8) {
      const JOCTET byte = static_cast<JOCTET>(put >> i);
      *to++ = byte;
      if (byte == 0xff) *to++ = 0;
    }
  }
};

// How many bits the size of a number takes.
int bits_in(int magnitude) { return magnitude == 0 ? 0 : 32 - __builtin_clz(static_cast<unsigned>(magnitude)); }

constexpr auto kOnes = [] {
  std::array<uint32_t, 17> ones = {};
  for (int bits = 0; bits < 17; bits++) ones[bits] = (uint32_t{1} << bits) - 1;
  return ones;
}();

// A code, and the number that follows it in `bits` bits: below 0 it is less by 1.
void add(Bits& out, const c_derived_tbl& table, int symbol, int value, int bits) {
  const uint64_t rest = static_cast<uint32_t>(value + (value >> 31)) & kOnes[bits];
  out.add(static_cast<uint64_t>(table.ehufco[symbol]) << bits | rest, table.ehufsi[symbol] + bits);
}

// The numbers of 8-bit samples have no more; differences of two have one more.
constexpr int kMostBits = 10;

}  // namespace
}  // namespace eagre::codecs

using namespace eagre::codecs;

extern "C" {

int jsimd_can_huff_encode_one_block(void) { return 1; }
JOCTET* jsimd_huff_encode_one_block(void* state_ptr, JOCTET* buffer, JCOEFPTR block, int last, c_derived_tbl* dc, c_derived_tbl* ac) {
  WorkingState& state = *static_cast<WorkingState*>(state_ptr);
  Bits out = {state.put_buffer, state.free_bits, buffer};
  const int difference = block[0] - last, size = bits_in(std::abs(difference));
  if (size > kMostBits + 1) ERREXIT(state.cinfo, JERR_BAD_DCT_COEF);
  add(out, *dc, size, difference, size);
  int before = 0;
  uint64_t left = nonzero(block) & ~uint64_t{1};
  while (left != 0) {
    const int k = __builtin_ctzll(left);
    left &= left - 1;
    int zeros = k - before - 1;
    before = k;
    for (; zeros >= 16; zeros -= 16) out.add(ac->ehufco[0xf0], ac->ehufsi[0xf0]);
    const int value = block[kPlaces[k]], bits = bits_in(std::abs(value));
    if (bits > kMostBits) ERREXIT(state.cinfo, JERR_BAD_DCT_COEF);
    add(out, *ac, zeros << 4 | bits, value, bits);
  }
  // The end of the block.
  if (before < 63) out.add(ac->ehufco[0], ac->ehufsi[0]);
  state.put_buffer = out.put;
  state.free_bits = out.free;
  return out.to;
}
}
