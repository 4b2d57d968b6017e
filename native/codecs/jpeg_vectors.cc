// The inner loops of libjpeg-turbo in vectors, for all processors: what its own assembler does on some of them, to the bit. They are found by the
// interface for that (jsimd.h). What is not here is done by its C.
#include <cstdio>

#include "vectors.h"

#define JPEG_INTERNALS
extern "C" {
#include "../third_party/libjpeg-turbo/jinclude.h"
#include "../third_party/libjpeg-turbo/jpeglib.h"
#include "../third_party/libjpeg-turbo/jdct.h"
#include "../third_party/libjpeg-turbo/jsimd.h"
#include "../third_party/libjpeg-turbo/jsimddct.h"
}

#define EAGRE_INLINE inline __attribute__((always_inline))

namespace eagre::codecs {
namespace {

EAGRE_INLINE void transpose(I16* v) {
  I16 a[8];
  I32 b[8];
  for (int i = 0; i < 4; i++) {
    a[2 * i] = low(v[2 * i], v[2 * i + 1]);
    a[2 * i + 1] = high(v[2 * i], v[2 * i + 1]);
  }
  for (int i = 0; i < 2; i++) {
    b[4 * i] = low((I32)a[4 * i], (I32)a[4 * i + 2]);
    b[4 * i + 1] = high((I32)a[4 * i], (I32)a[4 * i + 2]);
    b[4 * i + 2] = low((I32)a[4 * i + 1], (I32)a[4 * i + 3]);
    b[4 * i + 3] = high((I32)a[4 * i + 1], (I32)a[4 * i + 3]);
  }
  for (int i = 0; i < 4; i++) {
    v[2 * i] = (I16)low((U64)b[i], (U64)b[i + 4]);
    v[2 * i + 1] = (I16)high((U64)b[i], (U64)b[i + 4]);
  }
}

// Rows of eight numbers around 0 as samples. They stand in columns.
EAGRE_INLINE void store_columns(I16* v, JSAMPARRAY rows, JDIMENSION column) {
  transpose(v);
  for (int i = 0; i < 8; i += 2) {
    const U64 both = (U64)((U8)narrow(v[i], v[i + 1]) ^ (U8{} + uint8_t{128}));
    const uint64_t x = both[0], y = both[1];
    std::memcpy(rows[i] + column, &x, 8);
    std::memcpy(rows[i + 1] + column, &y, 8);
  }
}

EAGRE_INLINE bool are_zero(const JCOEF* block) {
  I16 any = load<I16>(block + 8);
  for (int i = 2; i < 8; i++) any |= load<I16>(block + 8 * i);
  const U64 both = (U64)any;
  return (both[0] | both[1]) == 0;
}

// ---- the fast inverse transform: the AA&N algorithm in 16 bits

EAGRE_INLINE I16 times_fast(I16 x, int constant) { return times_high(x << 2, all(constant << 6)); }

EAGRE_INLINE void inverse_fast(I16* v) {
  const I16 even0 = v[0] + v[4], even1 = v[0] - v[4];
  const I16 even3 = v[2] + v[6], even2 = times_fast(v[2] - v[6], 362) - even3;
  const I16 t0 = even0 + even3, t3 = even0 - even3, t1 = even1 + even2, t2 = even1 - even2;
  const I16 z13 = v[5] + v[3], z10 = v[5] - v[3], z11 = v[1] + v[7], z12 = v[1] - v[7];
  const I16 t7 = z11 + z13;
  const I16 z5 = times_fast(z10 + z12, 473);
  // -2.613 is -1.613 - 1, since constants are below 2.
  const I16 t6 = times_fast(z10, 256 - 669) - z10 + z5 - t7;
  const I16 t5 = times_fast(z11 - z13, 362) - t6;
  const I16 t4 = times_fast(z12, 277) - z5 + t5;
  v[0] = t0 + t7;
  v[7] = t0 - t7;
  v[1] = t1 + t6;
  v[6] = t1 - t6;
  v[2] = t2 + t5;
  v[5] = t2 - t5;
  v[4] = t3 + t4;
  v[3] = t3 - t4;
}

// ---- the accurate transforms: the LL&M algorithm, whose products have 32 bits

struct Wide {
  I32 low, high;
};
// Numbers that stand by turns, times two constants, and the sum.
struct Pairs {
  I16 low, high;
  EAGRE_INLINE Pairs(I16 a, I16 b) : low(codecs::low(a, b)), high(codecs::high(a, b)) {}
  EAGRE_INLINE Wide times(int a, int b) const {
    const int16_t p = static_cast<int16_t>(a), q = static_cast<int16_t>(b);
    const I16 factors = {p, q, p, q, p, q, p, q};
    return {pairs(low, factors), pairs(high, factors)};
  }
};
EAGRE_INLINE Wide operator+(Wide a, Wide b) { return {a.low + b.low, a.high + b.high}; }
EAGRE_INLINE Wide operator-(Wide a, Wide b) { return {a.low - b.low, a.high - b.high}; }
template <int bits> EAGRE_INLINE I16 rounded(Wide a) {
  return narrow((a.low + (1 << (bits - 1))) >> bits, (a.high + (1 << (bits - 1))) >> bits);
}
// Times 2^13.
EAGRE_INLINE Wide scaled(I16 a) { return {(I32)low(I16{}, a) >> 3, (I32)high(I16{}, a) >> 3}; }

struct Odd {
  Wide t0, t1, t2, t3;
};
// The odd part of both transforms.
EAGRE_INLINE Odd odd_part(I16 a0, I16 a1, I16 a2, I16 a3) {
  const Pairs z(a0 + a2, a1 + a3), outer(a0, a3), inner(a1, a2);
  const Wide z3 = z.times(9633 - 16069, 9633), z4 = z.times(9633, 9633 - 3196);
  return {outer.times(2446 - 7373, -7373) + z3, inner.times(16819 - 20995, -20995) + z4, inner.times(-20995, 25172 - 20995) + z3,
          outer.times(-7373, 12299 - 7373) + z4};
}

template <int bits> EAGRE_INLINE void inverse_accurate(I16* v) {
  const Pairs even(v[2], v[6]);
  const Wide t2 = even.times(4433, 4433 - 15137), t3 = even.times(4433 + 6270, 4433);
  const Wide t0 = scaled(v[0] + v[4]), t1 = scaled(v[0] - v[4]);
  const Wide e0 = t0 + t3, e3 = t0 - t3, e1 = t1 + t2, e2 = t1 - t2;
  const Odd odd = odd_part(v[7], v[5], v[3], v[1]);
  v[0] = rounded<bits>(e0 + odd.t3);
  v[7] = rounded<bits>(e0 - odd.t3);
  v[1] = rounded<bits>(e1 + odd.t2);
  v[6] = rounded<bits>(e1 - odd.t2);
  v[2] = rounded<bits>(e2 + odd.t1);
  v[5] = rounded<bits>(e2 - odd.t1);
  v[3] = rounded<bits>(e3 + odd.t0);
  v[4] = rounded<bits>(e3 - odd.t0);
}

template <bool is_first> EAGRE_INLINE void forward_accurate(I16* v) {
  constexpr int bits = is_first ? 11 : 15;
  const I16 t0 = v[0] + v[7], t7 = v[0] - v[7], t1 = v[1] + v[6], t6 = v[1] - v[6];
  const I16 t2 = v[2] + v[5], t5 = v[2] - v[5], t3 = v[3] + v[4], t4 = v[3] - v[4];
  const I16 e0 = t0 + t3, e3 = t0 - t3, e1 = t1 + t2, e2 = t1 - t2;
  v[0] = is_first ? (e0 + e1) << 2 : (e0 + e1 + 2) >> 2;
  v[4] = is_first ? (e0 - e1) << 2 : (e0 - e1 + 2) >> 2;
  const Pairs even(e3, e2);
  v[2] = rounded<bits>(even.times(4433 + 6270, 4433));
  v[6] = rounded<bits>(even.times(4433, 4433 - 15137));
  const Odd odd = odd_part(t4, t5, t6, t7);
  v[7] = rounded<bits>(odd.t0);
  v[5] = rounded<bits>(odd.t1);
  v[3] = rounded<bits>(odd.t2);
  v[1] = rounded<bits>(odd.t3);
}

// ---- colours

// 16 pixels of three bytes, taken apart and put together.
struct Pixels {
  U8 r, g, b;
};
#if defined(__SSSE3__) || !defined(__SSE2__)
EAGRE_INLINE Pixels load_pixels(const JSAMPLE* from) {
  const U8 x = load<U8>(from), y = load<U8>(from + 16), z = load<U8>(from + 32);
  const U8 r = EAGRE_LANES(x, y, 0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0);
  const U8 g = EAGRE_LANES(x, y, 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 0, 0, 0, 0, 0);
  const U8 b = EAGRE_LANES(x, y, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0, 0, 0, 0, 0, 0);
  return {EAGRE_LANES(r, z, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29),
          EAGRE_LANES(g, z, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 18, 21, 24, 27, 30),
          EAGRE_LANES(b, z, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 19, 22, 25, 28, 31)};
}
EAGRE_INLINE void store_pixels(JSAMPLE* to, Pixels p) {
  const U8 x = EAGRE_LANES(p.r, p.g, 0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5);
  const U8 y = EAGRE_LANES(p.r, p.g, 21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26);
  const U8 z = EAGRE_LANES(p.r, p.g, 0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0);
  store(to, EAGRE_LANES(x, p.b, 0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15));
  store(to + 16, EAGRE_LANES(y, p.b, 0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15));
  store(to + 32, EAGRE_LANES(z, p.b, 26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31));
}
#else
EAGRE_INLINE Pixels load_pixels(const JSAMPLE* from) {
  JSAMPLE planes[3][16];
  for (int i = 0; i < 16; i++)
    for (int c = 0; c < 3; c++) planes[c][i] = from[3 * i + c];
  return {load<U8>(planes[0]), load<U8>(planes[1]), load<U8>(planes[2])};
}
EAGRE_INLINE void store_pixels(JSAMPLE* to, Pixels p) {
  JSAMPLE planes[3][16];
  store(planes[0], p.r);
  store(planes[1], p.g);
  store(planes[2], p.b);
  for (int i = 0; i < 16; i++)
    for (int c = 0; c < 3; c++) to[3 * i + c] = planes[c][i];
}
#endif

struct Colours {
  I16 r, g, b;
};
EAGRE_INLINE Colours rgb_of(I16 y, I16 cb, I16 cr) {
  // 1.402 is 1 + 0.402, 1.772 is 2 - 0.228, and 0.71414 is 1 - 0.28586: the rest is below a half of 2^16.
  const I16 red = cr + ((times_high(cr + cr, all(26345)) + 1) >> 1);
  const I16 blue = cb + cb + ((times_high(cb + cb, all(-14942)) + 1) >> 1);
  const Wide sum = Pairs(cb, cr).times(-22554, 18734);
  const I16 green = narrow((sum.low + 32768) >> 16, (sum.high + 32768) >> 16) - cr;
  return {y + red, y + green, y + blue};
}

EAGRE_INLINE void ycc_to_rgb(const JSAMPLE* y, const JSAMPLE* cb, const JSAMPLE* cr, JSAMPLE* out) {
  const U8 ys = load<U8>(y), cbs = load<U8>(cb), crs = load<U8>(cr);
  const Colours a = rgb_of(low_of(ys), low_of(cbs) - 128, low_of(crs) - 128);
  const Colours b = rgb_of(high_of(ys), high_of(cbs) - 128, high_of(crs) - 128);
  store_pixels(out, {narrow_unsigned(a.r, b.r), narrow_unsigned(a.g, b.g), narrow_unsigned(a.b, b.b)});
}

EAGRE_INLINE I16 upper(Wide a) { return narrow(a.low >> 16, a.high >> 16); }
EAGRE_INLINE Wide plus(Wide a, int x) { return {a.low + x, a.high + x}; }
// Times 2^15.
EAGRE_INLINE Wide halved(I16 a) { return {(I32)low(I16{}, a) >> 1, (I32)high(I16{}, a) >> 1}; }

EAGRE_INLINE I16 luma(I16 r, I16 g, I16 b) {
  // 0.587 is 0.337 + 0.25, since constants are below a half.
  return upper(plus(Pairs(r, g).times(19595, 38470 - 16384) + Pairs(b, g).times(7471, 16384), 32768));
}
constexpr int kMiddle = (128 << 16) + 32767;

EAGRE_INLINE void rgb_to_ycc(const JSAMPLE* in, JSAMPLE* y, JSAMPLE* cb, JSAMPLE* cr) {
  const Pixels p = load_pixels(in);
  I16 out[3][2];
  for (int half = 0; half < 2; half++) {
    const auto part = [half](U8 x) { return half == 0 ? low_of(x) : high_of(x); };
    const I16 r = part(p.r), g = part(p.g), b = part(p.b);
    out[0][half] = luma(r, g, b);
    out[1][half] = upper(plus(Pairs(r, g).times(-11059, -21709) + halved(b), kMiddle));
    out[2][half] = upper(plus(Pairs(g, b).times(-27439, -5329) + halved(r), kMiddle));
  }
  store(y, bytes_of(out[0][0], out[0][1]));
  store(cb, bytes_of(out[1][0], out[1][1]));
  store(cr, bytes_of(out[2][0], out[2][1]));
}

// Calls `body` with the beginnings of blocks of 16 that cover `count`, which may overlap at the end; `rest` where there are fewer.
template <class Body, class Rest> EAGRE_INLINE void blocks(JDIMENSION count, Body body, Rest rest) {
  if (count < 16) {
    rest();
    return;
  }
  JDIMENSION i = 0;
  for (; i + 16 <= count; i += 16) body(i);
  if (i < count) body(count - 16);
}

// Where there are few: on copies.
template <int channels> struct Few {
  JSAMPLE bytes[16 * channels] = {};
  Few() = default;
  Few(const JSAMPLE* from, JDIMENSION count) { std::memcpy(bytes, from, count * channels); }
  void give(JSAMPLE* to, JDIMENSION count) const { std::memcpy(to, bytes, count * channels); }
};

// A sample three times, and one of the next.
EAGRE_INLINE I16 three(I16 a, I16 b) { return a + a + a + b; }

}  // namespace
}  // namespace eagre::codecs

using namespace eagre::codecs;

extern "C" {

int jsimd_can_idct_ifast(void) { return 1; }
void jsimd_idct_ifast(j_decompress_ptr, jpeg_component_info* compptr, JCOEFPTR block, JSAMPARRAY rows, JDIMENSION column) {
  const IFAST_MULT_TYPE* factors = static_cast<IFAST_MULT_TYPE*>(compptr->dct_table);
  I16 v[8];
  if (are_zero(block)) {
    // All rows are the first one.
    const I16 first = load<I16>(block) * load<I16>(factors);
    for (int i = 0; i < 8; i++) v[i] = first;
  } else {
    for (int i = 0; i < 8; i++) v[i] = load<I16>(block + 8 * i) * load<I16>(factors + 8 * i);
    inverse_fast(v);
  }
  transpose(v);
  inverse_fast(v);
  for (int i = 0; i < 8; i++) v[i] >>= 5;
  store_columns(v, rows, column);
}

int jsimd_can_idct_islow(void) { return 1; }
void jsimd_idct_islow(j_decompress_ptr, jpeg_component_info* compptr, JCOEFPTR block, JSAMPARRAY rows, JDIMENSION column) {
  const ISLOW_MULT_TYPE* factors = static_cast<ISLOW_MULT_TYPE*>(compptr->dct_table);
  I16 v[8];
  if (are_zero(block)) {
    const I16 first = (load<I16>(block) * load<I16>(factors)) << 2;
    for (int i = 0; i < 8; i++) v[i] = first;
  } else {
    for (int i = 0; i < 8; i++) v[i] = load<I16>(block + 8 * i) * load<I16>(factors + 8 * i);
    inverse_accurate<11>(v);
  }
  transpose(v);
  inverse_accurate<18>(v);
  store_columns(v, rows, column);
}

int jsimd_can_fdct_islow(void) { return 1; }
void jsimd_fdct_islow(DCTELEM* data) {
  I16 v[8];
  for (int i = 0; i < 8; i++) v[i] = load<I16>(data + 8 * i);
  transpose(v);
  forward_accurate<true>(v);
  transpose(v);
  forward_accurate<false>(v);
  for (int i = 0; i < 8; i++) store(data + 8 * i, v[i]);
}

int jsimd_can_convsamp(void) { return 1; }
void jsimd_convsamp(JSAMPARRAY rows, JDIMENSION column, DCTELEM* out) {
  for (int i = 0; i < 8; i++) {
    uint64_t bytes;
    std::memcpy(&bytes, rows[i] + column, 8);
    store(out + 8 * i, low_of((U8)U64{bytes, 0}) - 128);
  }
}

int jsimd_can_quantize(void) { return 1; }
void jsimd_quantize(JCOEFPTR out, DCTELEM* divisors, DCTELEM* in) {
  for (int i = 0; i < 64; i += 8) {
    const I16 x = load<I16>(in + i), sign = x >> 15;
    const U16 magnitude = (U16)((x ^ sign) - sign) + load<U16>(divisors + 64 + i);
    const I16 y = (I16)times_high(times_high(magnitude, load<U16>(divisors + i)), load<U16>(divisors + 128 + i));
    store(out + i, (y ^ sign) - sign);
  }
}

int jsimd_can_ycc_rgb(void) { return 1; }
void jsimd_ycc_rgb_convert(j_decompress_ptr cinfo, JSAMPIMAGE in, JDIMENSION row, JSAMPARRAY out, int count) {
  const JDIMENSION width = cinfo->output_width;
  for (; count > 0; count--, row++, out++) {
    const JSAMPLE *y = in[0][row], *cb = in[1][row], *cr = in[2][row];
    blocks(
      width, [&](JDIMENSION i) { ycc_to_rgb(y + i, cb + i, cr + i, *out + 3 * i); },
      [&] {
        Few<3> rgb;
        ycc_to_rgb(Few<1>(y, width).bytes, Few<1>(cb, width).bytes, Few<1>(cr, width).bytes, rgb.bytes);
        rgb.give(*out, width);
      });
  }
}

int jsimd_can_rgb_ycc(void) { return 1; }
void jsimd_rgb_ycc_convert(j_compress_ptr cinfo, JSAMPARRAY in, JSAMPIMAGE out, JDIMENSION row, int count) {
  const JDIMENSION width = cinfo->image_width;
  for (; count > 0; count--, row++, in++) {
    JSAMPLE *y = out[0][row], *cb = out[1][row], *cr = out[2][row];
    blocks(
      width, [&](JDIMENSION i) { rgb_to_ycc(*in + 3 * i, y + i, cb + i, cr + i); },
      [&] {
        Few<1> a, b, c;
        rgb_to_ycc(Few<3>(*in, width).bytes, a.bytes, b.bytes, c.bytes);
        a.give(y, width);
        b.give(cb, width);
        c.give(cr, width);
      });
  }
}

int jsimd_can_h2v2_fancy_upsample(void) { return 1; }
void jsimd_h2v2_fancy_upsample(j_decompress_ptr cinfo, jpeg_component_info* compptr, JSAMPARRAY in, JSAMPARRAY* out_ptr) {
  JSAMPARRAY out = *out_ptr;
  const JDIMENSION width = compptr->downsampled_width;
  for (int row = 0; row < cinfo->max_v_samp_factor; row++) {
    const JSAMPLE *near = in[row / 2], *far = in[row % 2 == 0 ? row / 2 - 1 : row / 2 + 1];
    JSAMPLE* to = out[row];
    const auto sum = [&](JDIMENSION i) { return near[i] * 3 + far[i]; };
    const auto one = [&](JDIMENSION i) {
      const int left = sum(i == 0 ? 0 : i - 1), right = sum(i + 1 == width ? i : i + 1);
      to[2 * i] = static_cast<JSAMPLE>((sum(i) * 3 + left + 8) >> 4);
      to[2 * i + 1] = static_cast<JSAMPLE>((sum(i) * 3 + right + 7) >> 4);
    };
    one(0);
    JDIMENSION i = 1;
    for (; i + 17 <= width; i += 16) {
      I16 even[2], odd[2];
      const auto sums = [&](JDIMENSION at, bool is_high) {
        const U8 a = load<U8>(near + at), b = load<U8>(far + at);
        return is_high ? three(high_of(a), high_of(b)) : three(low_of(a), low_of(b));
      };
      for (int half = 0; half < 2; half++) {
        const I16 middle = sums(i, half), left = sums(i - 1, half), right = sums(i + 1, half);
        even[half] = (three(middle, left) + 8) >> 4;
        odd[half] = (three(middle, right) + 7) >> 4;
      }
      const U8 a = bytes_of(even[0], even[1]), b = bytes_of(odd[0], odd[1]);
      store(to + 2 * i, low(a, b));
      store(to + 2 * i + 16, high(a, b));
    }
    for (; i < width; i++) one(i);
  }
}

int jsimd_can_h2v1_fancy_upsample(void) { return 1; }
void jsimd_h2v1_fancy_upsample(j_decompress_ptr cinfo, jpeg_component_info* compptr, JSAMPARRAY in, JSAMPARRAY* out_ptr) {
  JSAMPARRAY out = *out_ptr;
  const JDIMENSION width = compptr->downsampled_width;
  for (int row = 0; row < cinfo->max_v_samp_factor; row++) {
    const JSAMPLE* from = in[row];
    JSAMPLE* to = out[row];
    const auto one = [&](JDIMENSION i) {
      to[2 * i] = static_cast<JSAMPLE>(i == 0 ? from[0] : (from[i] * 3 + from[i - 1] + 1) >> 2);
      to[2 * i + 1] = static_cast<JSAMPLE>(i + 1 == width ? from[i] : (from[i] * 3 + from[i + 1] + 2) >> 2);
    };
    one(0);
    JDIMENSION i = 1;
    for (; i + 17 <= width; i += 16) {
      const U8 middle = load<U8>(from + i), left = load<U8>(from + i - 1), right = load<U8>(from + i + 1);
      const U8 a = bytes_of((three(low_of(middle), low_of(left)) + 1) >> 2, (three(high_of(middle), high_of(left)) + 1) >> 2);
      const U8 b = bytes_of((three(low_of(middle), low_of(right)) + 2) >> 2, (three(high_of(middle), high_of(right)) + 2) >> 2);
      store(to + 2 * i, low(a, b));
      store(to + 2 * i + 16, high(a, b));
    }
    for (; i < width; i++) one(i);
  }
}

int jsimd_can_h2v2_downsample(void) { return 1; }
void jsimd_h2v2_downsample(j_compress_ptr cinfo, jpeg_component_info* compptr, JSAMPARRAY in, JSAMPARRAY out) {
  const JDIMENSION columns = compptr->width_in_blocks * 8, width = cinfo->image_width;
  for (int row = 0; row < cinfo->max_v_samp_factor; row++)
    if (2 * columns > width) std::memset(in[row] + width, in[row][width - 1], 2 * columns - width);
  // Rounded up and down in turn.
  const I16 bias = {1, 2, 1, 2, 1, 2, 1, 2};
  const auto sums = [](U8 x) { return (I16)((U16)x & 255) + (I16)((U16)x >> 8); };
  for (int row = 0; row < compptr->v_samp_factor; row++) {
    const JSAMPLE *a = in[2 * row], *b = in[2 * row + 1];
    for (JDIMENSION i = 0; i < columns; i += 8) {
      const I16 x = (sums(load<U8>(a + 2 * i)) + sums(load<U8>(b + 2 * i)) + bias) >> 2;
      const uint64_t bytes = ((U64)bytes_of(x, x))[0];
      std::memcpy(out[row] + i, &bytes, 8);
    }
  }
}

// The loops that are left to C.
int jsimd_can_fdct_ifast(void) { return 0; }
void jsimd_fdct_ifast(DCTELEM*) {}
int jsimd_can_idct_2x2(void) { return 0; }
void jsimd_idct_2x2(j_decompress_ptr, jpeg_component_info*, JCOEFPTR, JSAMPARRAY, JDIMENSION) {}
int jsimd_can_idct_4x4(void) { return 0; }
void jsimd_idct_4x4(j_decompress_ptr, jpeg_component_info*, JCOEFPTR, JSAMPARRAY, JDIMENSION) {}
int jsimd_can_rgb_gray(void) { return 0; }
void jsimd_rgb_gray_convert(j_compress_ptr, JSAMPARRAY, JSAMPIMAGE, JDIMENSION, int) {}
int jsimd_can_ycc_rgb565(void) { return 0; }
void jsimd_ycc_rgb565_convert(j_decompress_ptr, JSAMPIMAGE, JDIMENSION, JSAMPARRAY, int) {}
int jsimd_can_h2v1_downsample(void) { return 0; }
void jsimd_h2v1_downsample(j_compress_ptr, jpeg_component_info*, JSAMPARRAY, JSAMPARRAY) {}
int jsimd_can_h2v2_upsample(void) { return 0; }
void jsimd_h2v2_upsample(j_decompress_ptr, jpeg_component_info*, JSAMPARRAY, JSAMPARRAY*) {}
int jsimd_can_h2v1_upsample(void) { return 0; }
void jsimd_h2v1_upsample(j_decompress_ptr, jpeg_component_info*, JSAMPARRAY, JSAMPARRAY*) {}
// The library asks for it on ARM alone.
int jsimd_can_h1v2_fancy_upsample(void) { return 0; }
void jsimd_h1v2_fancy_upsample(j_decompress_ptr, jpeg_component_info*, JSAMPARRAY, JSAMPARRAY*) {}
int jsimd_can_h2v2_merged_upsample(void) { return 0; }
void jsimd_h2v2_merged_upsample(j_decompress_ptr, JSAMPIMAGE, JDIMENSION, JSAMPARRAY) {}
int jsimd_can_h2v1_merged_upsample(void) { return 0; }
void jsimd_h2v1_merged_upsample(j_decompress_ptr, JSAMPIMAGE, JDIMENSION, JSAMPARRAY) {}
int jsimd_can_encode_mcu_AC_first_prepare(void) { return 0; }
void jsimd_encode_mcu_AC_first_prepare(const JCOEF*, const int*, int, int, UJCOEF*, size_t*) {}
int jsimd_can_encode_mcu_AC_refine_prepare(void) { return 0; }
int jsimd_encode_mcu_AC_refine_prepare(const JCOEF*, const int*, int, int, UJCOEF*, size_t*) { return 0; }

// Samples of 12 bits need the library a second time: such files are refused.
#define EAGRE_REFUSED(name, cinfo_ptr, ...) \
  void name(cinfo_ptr cinfo __VA_ARGS__) { ERREXIT1(cinfo, JERR_BAD_PRECISION, cinfo->data_precision); }
EAGRE_REFUSED(j12init_c_coef_controller, j_compress_ptr, , boolean)
EAGRE_REFUSED(j12init_c_main_controller, j_compress_ptr, , boolean)
EAGRE_REFUSED(j12init_c_prep_controller, j_compress_ptr, , boolean)
EAGRE_REFUSED(j12init_color_converter, j_compress_ptr)
EAGRE_REFUSED(j12init_downsampler, j_compress_ptr)
EAGRE_REFUSED(j12init_forward_dct, j_compress_ptr)
EAGRE_REFUSED(j12init_d_coef_controller, j_decompress_ptr, , boolean)
EAGRE_REFUSED(j12init_d_main_controller, j_decompress_ptr, , boolean)
EAGRE_REFUSED(j12init_d_post_controller, j_decompress_ptr, , boolean)
EAGRE_REFUSED(j12init_color_deconverter, j_decompress_ptr)
EAGRE_REFUSED(j12init_inverse_dct, j_decompress_ptr)
EAGRE_REFUSED(j12init_merged_upsampler, j_decompress_ptr)
EAGRE_REFUSED(j12init_upsampler, j_decompress_ptr)
}
