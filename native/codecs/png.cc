// PNG files (ISO/IEC 15948), over libdeflate.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "../third_party/libdeflate/libdeflate.h"
#include "codecs.h"
#include "failure.h"
#include "vectors.h"

namespace eagre::codecs {
namespace {

struct Freer {
  void operator()(void* memory) const { std::free(memory); }
  void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
  void operator()(libdeflate_compressor* c) const { libdeflate_free_compressor(c); }
};
using Memory = std::unique_ptr<uint8_t, Freer>;
// Bytes whose values nobody needs at first.
Memory memory_of(uint64_t size) { return Memory(allocated<uint8_t>(size > SIZE_MAX ? nullptr : std::malloc(static_cast<size_t>(size)))); }

constexpr uint8_t kSignature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
enum Color { kGrey = 0, kRgb = 2, kPalette = 3, kGreyAlpha = 4, kRgba = 6 };

uint32_t word(const uint8_t* at) { return uint32_t{at[0]} << 24 | at[1] << 16 | at[2] << 8 | at[3]; }
void put_word(uint8_t* at, uint32_t x) {
  for (int i = 0; i < 4; i++) at[i] = static_cast<uint8_t>(x >> (24 - 8 * i));
}

struct Bytes {
  const uint8_t* data = nullptr;
  size_t size = 0;
  // What is missing is 0.
  uint32_t operator[](size_t i) const { return i < size ? data[i] : 0; }
};

struct File {
  uint32_t width, height, depth, color;
  bool is_interlaced;
  Bytes palette, transparency;
  std::vector<Bytes> data;
  size_t data_size = 0;

  uint32_t channels() const { return color == kRgb ? 3 : color == kGreyAlpha ? 2 : color == kRgba ? 4 : 1; }
  bool is_transparent() const { return transparency.data != nullptr; }
};

bool has_depth(uint32_t color, uint32_t depth) {
  if (depth == 8) return color <= 6 && color != 1 && color != 5;
  if (depth == 16) return color == kGrey || color == kRgb || color == kGreyAlpha || color == kRgba;
  return (depth == 1 || depth == 2 || depth == 4) && (color == kGrey || color == kPalette);
}

File read_chunks(const uint8_t* bytes, size_t size) {
  if (size < sizeof kSignature || std::memcmp(bytes, kSignature, sizeof kSignature) != 0)
    fail("damaged PNG file: it does not begin as one");
  File file = {};
  const uint8_t* header = nullptr;
  for (size_t at = 8;;) {
    if (size - at < 12) fail("damaged PNG file: it ends too early");
    const uint32_t length = word(bytes + at);
    const uint8_t* name = bytes + at + 4;
    const auto is = [name](const char* other) { return std::memcmp(name, other, 4) == 0; };
    if (length > size - at - 12) fail("damaged PNG file: the chunk %.4s ends too early", reinterpret_cast<const char*>(name));
    const Bytes content = {name + 4, length};
    const bool is_known = is("IHDR") || is("PLTE") || is("tRNS") || is("IDAT") || is("IEND");
    if (is_known && libdeflate_crc32(0, name, length + size_t{4}) != word(content.data + length))
      fail("damaged PNG file: the checksum of the chunk %.4s is wrong", reinterpret_cast<const char*>(name));
    if (!is_known && (name[0] & 0x20) == 0)
      fail("damaged PNG file: the chunk %.4s is not known", reinterpret_cast<const char*>(name));
    if (is("IHDR") && length == 13) header = content.data;
    else if (is("PLTE")) file.palette = content;
    else if (is("tRNS")) file.transparency = content;
    else if (is("IDAT")) {
      file.data.push_back(content);
      file.data_size += length;
    } else if (is("IEND")) break;
    at += size_t{12} + length;
  }
  if (!header) fail("damaged PNG file: it has no header");
  file.width = word(header);
  file.height = word(header + 4);
  file.depth = header[8];
  file.color = header[9];
  file.is_interlaced = header[12] == 1;
  if (!has_depth(file.color, file.depth) || header[10] != 0 || header[11] != 0)
    fail("damaged PNG file: colours of the type %u do not have %u bits", file.color, file.depth);
  check_size("PNG", file.width, file.height);
  if (file.color == kPalette && !file.palette.data) fail("damaged PNG file: it has no palette");
  return file;
}

// The first pixel and the steps of a pass, and how many pixels it has.
struct Pass {
  uint32_t x, y, dx, dy, width, height;
};

size_t bytes_of_row(uint32_t width, uint32_t bits) { return static_cast<size_t>((uint64_t{width} * bits + 7) / 8); }

std::vector<Pass> passes_of(const File& file) {
  static constexpr uint32_t kPasses[][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  if (!file.is_interlaced) return {{0, 0, 1, 1, file.width, file.height}};
  std::vector<Pass> passes;
  for (const auto& [x, y, dx, dy] : kPasses)
    if (x < file.width && y < file.height)
      passes.push_back({x, y, dx, dy, (file.width - x + dx - 1) / dx, (file.height - y + dy - 1) / dy});
  return passes;
}

// What the data unpack to: so many bytes. What follows does not matter.
Memory inflated(const File& file, size_t size) {
  Memory joined;
  const uint8_t* in = file.data.empty() ? nullptr : file.data[0].data;
  if (file.data.size() > 1) {
    joined = memory_of(file.data_size);
    size_t at = 0;
    for (const Bytes& part : file.data) {
      std::memcpy(joined.get() + at, part.data, part.size);
      at += part.size;
    }
    in = joined.get();
  }
  // The chunks have checksums, so that of zlib tells nothing more.
  if (file.data_size < 2) fail("damaged PNG file: it has too little data");
  if ((in[0] & 15) != 8 || in[0] >> 4 > 7 || (in[0] * 256 + in[1]) % 31 != 0 || (in[1] & 0x20) != 0)
    fail("damaged PNG file: its data are not compressed by zlib");
  // So small a part of a file cannot be so much.
  if (size / 1100 > file.data_size) fail("damaged PNG file: it has too little data");
  // A repetition, of 258 bytes at most, that does not fit any more begins behind the end.
  constexpr size_t kMost = 258;
  Memory out = memory_of(size + kMost);
  const std::unique_ptr<libdeflate_decompressor, Freer> decompressor(libdeflate_alloc_decompressor());
  if (!decompressor) no_memory();
  size_t used = 0, made = 0;
  const libdeflate_result result =
    libdeflate_deflate_decompress_ex(decompressor.get(), in + 2, file.data_size - 2, out.get(), size + kMost, &used, &made);
  if (result == LIBDEFLATE_BAD_DATA) fail("damaged PNG file: its data cannot be decompressed");
  if (result == LIBDEFLATE_SUCCESS && made < size) fail("damaged PNG file: it has too little data");
  return out;
}

// ---- filters

template <int n> inline I16 load_pixel(const uint8_t* from) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, from, n);
  return low_of((U8)U64{bytes, 0});
}
template <int n> inline void store_pixel(uint8_t* to, I16 pixel) {
  const uint64_t bytes = ((U64)bytes_of(pixel, pixel))[0];
  std::memcpy(to, &bytes, n);
}
inline I16 magnitude(I16 x) { return x < 0 ? -x : x; }
inline I16 paeth(I16 a, I16 b, I16 c) {
  const I16 x = b - c, y = a - c;
  const I16 pa = magnitude(x), pb = magnitude(y), pc = magnitude(x + y);
  return (pa <= pb) & (pa <= pc) ? a : pb <= pc ? b : c;
}

// Pixels of `n` bytes that are guessed from those at the left, above, and between these.
template <int n, class Guess> inline void unfilter_pixels(uint8_t* row, const uint8_t* above, size_t size, Guess guess) {
  I16 left = {}, corner = {};
  for (size_t i = 0; i < size; i += n) {
    const I16 up = load_pixel<n>(above + i);
    left = (load_pixel<n>(row + i) + guess(left, up, corner)) & 255;
    corner = up;
    store_pixel<n>(row + i, left);
  }
}

template <int n> void unfilter_row(int kind, uint8_t* row, const uint8_t* above, size_t size) {
  if (kind == 1) unfilter_pixels<n>(row, above, size, [](I16 left, I16, I16) { return left; });
  else if (kind == 3) unfilter_pixels<n>(row, above, size, [](I16 left, I16 up, I16) { return (left + up) >> 1; });
  else unfilter_pixels<n>(row, above, size, paeth);
}

void unfilter(uint8_t* rows, size_t row_bytes, uint32_t height, size_t step) {
  const std::vector<uint8_t> zeros(row_bytes);
  const uint8_t* above = zeros.data();
  for (uint32_t y = 0; y < height; y++) {
    uint8_t* row = rows + y * (row_bytes + 1);
    const int kind = *row++;
    if (kind > 4) fail("damaged PNG file: there is no filter %d", kind);
    if (kind == 2)
      for (size_t i = 0; i < row_bytes; i++) row[i] = static_cast<uint8_t>(row[i] + above[i]);
    else if (kind != 0) switch (step) {
      case 1: unfilter_row<1>(kind, row, above, row_bytes); break;
      case 2: unfilter_row<2>(kind, row, above, row_bytes); break;
      case 3: unfilter_row<3>(kind, row, above, row_bytes); break;
      case 4: unfilter_row<4>(kind, row, above, row_bytes); break;
      case 6: unfilter_row<6>(kind, row, above, row_bytes); break;
      default: unfilter_row<8>(kind, row, above, row_bytes);
    }
    above = row;
  }
}

// ---- colours

struct Pixel {
  uint32_t r, g, b, a;
};

uint32_t value_at(const uint8_t* row, size_t i, uint32_t depth) {
  if (depth == 8) return row[i];
  if (depth == 16) return row[2 * i] << 8 | row[2 * i + 1];
  const size_t bit = i * depth;
  return row[bit >> 3] >> (8 - depth - (bit & 7)) & ((1u << depth) - 1);
}

// A pixel of a row, of 8 or 16 bits for each value.
Pixel pixel_at(const File& file, const uint8_t* row, size_t i) {
  const uint32_t depth = file.depth, top = depth == 16 ? 0xffff : 0xff;
  // As in TensorFlow, also of few bits, where that is not opaque.
  const uint32_t full = (1u << depth) - 1;
  const uint32_t channels = file.channels();
  const uint32_t first = value_at(row, i * channels, depth);
  if (file.color == kPalette) {
    const uint32_t alpha = !file.is_transparent() ? full : first < file.transparency.size ? file.transparency[first] : 0xff;
    return {file.palette[3 * first], file.palette[3 * first + 1], file.palette[3 * first + 2], alpha};
  }
  const auto value = [&](uint32_t c) { return value_at(row, i * channels + c, depth); };
  // Grey of few bits fills 8.
  const uint32_t scale = depth < 8 ? 0xff / full : 1;
  const bool has_colors = channels > 2;
  Pixel pixel = {first * scale, (has_colors ? value(1) : first) * scale, (has_colors ? value(2) : first) * scale, full};
  if (channels % 2 == 0) pixel.a = value(channels - 1);
  else if (file.is_transparent()) {
    bool is_clear = true;
    for (uint32_t c = 0; c < channels; c++)
      is_clear = is_clear && value(c) == (file.transparency[2 * c] << 8 | file.transparency[2 * c + 1]);
    pixel.a = is_clear ? 0 : top;
  }
  return pixel;
}

// libpng's weights, in parts of 32768.
uint32_t grey(const Pixel& p, bool is_deep) {
  if (p.r == p.g && p.g == p.b) return p.r;
  const uint32_t sum = 9797 * p.r + 19234 * p.g + (32768 - 9797 - 19234) * p.b;
  return (is_deep ? sum + 16384 : sum) >> 15;
}

template <class T> void convert(const File& file, const Pass& pass, const uint8_t* row, T* out, uint32_t channels) {
  const bool is_deep = file.depth == 16;
  const uint32_t shift = is_deep && sizeof(T) == 1 ? 8 : 0;
  // Values of 8 bits fill 16 by standing there twice.
  const uint32_t scale = !is_deep && sizeof(T) == 2 ? 257 : 1;
  const auto give = [&](uint32_t x) { return static_cast<T>((x >> shift) * scale); };
  T* to = out + static_cast<size_t>(pass.x) * channels;
  for (size_t i = 0; i < pass.width; i++, to += static_cast<size_t>(pass.dx) * channels) {
    const Pixel p = pixel_at(file, row, i);
    if (channels < 3) to[0] = give(grey(p, is_deep));
    else {
      to[0] = give(p.r);
      to[1] = give(p.g);
      to[2] = give(p.b);
    }
    if (channels % 2 == 0) to[channels - 1] = give(p.a);
  }
}

template <class T> void convert_all(const File& file, const uint8_t* raw, const std::vector<Pass>& passes, T* out, uint32_t channels) {
  const uint32_t bits = file.channels() * file.depth;
  // Also where colours of bytes are wanted as they are.
  const bool is_same = sizeof(T) == 1 && file.depth == 8 && file.color != kPalette && channels == file.channels() && !file.is_interlaced;
  for (const Pass& pass : passes) {
    const size_t row_bytes = bytes_of_row(pass.width, bits);
    for (uint32_t y = 0; y < pass.height; y++, raw += row_bytes + 1) {
      T* to = out + static_cast<size_t>(pass.y + y * pass.dy) * file.width * channels;
      if (is_same) std::memcpy(to, raw + 1, row_bytes);
      else convert(file, pass, raw + 1, to, channels);
    }
  }
}

void decode(const uint8_t* bytes, size_t size, uint32_t wished, uint32_t depth, EagreAllocate allocate, void* context) {
  const File file = read_chunks(bytes, size);
  const std::vector<Pass> passes = passes_of(file);
  const uint32_t bits = file.channels() * file.depth;
  size_t total = 0;
  for (const Pass& pass : passes) total += pass.height * (bytes_of_row(pass.width, bits) + 1);
  const Memory raw = inflated(file, total);
  uint8_t* at = raw.get();
  for (const Pass& pass : passes) {
    const size_t row_bytes = bytes_of_row(pass.width, bits);
    unfilter(at, row_bytes, pass.height, std::max(1u, bits / 8));
    at += pass.height * (row_bytes + 1);
  }
  const uint32_t stored = file.color == kPalette ? (file.is_transparent() ? 4 : 3) : file.channels();
  const uint32_t channels = wished == 0 ? stored : wished;
  void* out = allocated<void>(allocate(context, file.height, file.width, channels, depth / 8));
  if (depth == 16) convert_all(file, raw.get(), passes, static_cast<uint16_t*>(out), channels);
  else convert_all(file, raw.get(), passes, static_cast<uint8_t*>(out), channels);
}

// ---- writing

// The row by each filter, and which of them leaves the smallest differences.
class Filters {
 public:
  Filters(size_t row_bytes, size_t step) : size_(row_bytes), step_(step), tried_(memory_of(5 * (uint64_t{row_bytes} + 1))) {}

  const uint8_t* best(const uint8_t* row, const uint8_t* above, bool is_first) {
    // In front of a row, and of the one above, are zeros.
    const uint8_t *left = row - step_, *corner = above - step_;
    int best = 0;
    uint64_t least = ~uint64_t{0};
    for (int kind = 0; kind < 5; kind++) {
      // Without a row above they are one of the others.
      if (is_first && kind > 1) break;
      uint8_t* out = tried_.get() + kind * (size_ + 1);
      *out++ = static_cast<uint8_t>(kind);
      switch (kind) {
        case 0: std::memcpy(out, row, size_); break;
        case 1: each(out, [&](size_t i) { return row[i] - left[i]; }); break;
        case 2: each(out, [&](size_t i) { return row[i] - above[i]; }); break;
        case 3: each(out, [&](size_t i) { return row[i] - ((left[i] + above[i]) >> 1); }); break;
        default: by_paeth(out, row, left, above, corner);
      }
      const uint64_t sum = sum_of(out);
      if (sum < least) {
        least = sum;
        best = kind;
      }
    }
    return tried_.get() + best * (size_ + 1);
  }

 private:
  template <class F> void each(uint8_t* out, F value) const {
    for (size_t i = 0; i < size_; i++) out[i] = static_cast<uint8_t>(value(i));
  }
  void by_paeth(uint8_t* out, const uint8_t* row, const uint8_t* left, const uint8_t* above, const uint8_t* corner) const {
    size_t i = 0;
    for (; i + 16 <= size_; i += 16) {
      const U8 a = load<U8>(left + i), b = load<U8>(above + i), c = load<U8>(corner + i);
      const U8 guess = bytes_of(paeth(low_of(a), low_of(b), low_of(c)), paeth(high_of(a), high_of(b), high_of(c)));
      store(out + i, load<U8>(row + i) - guess);
    }
    for (; i < size_; i++) {
      const int x = above[i] - corner[i], y = left[i] - corner[i];
      const int pa = std::abs(x), pb = std::abs(y), pc = std::abs(x + y);
      out[i] = static_cast<uint8_t>(row[i] - (pa <= pb && pa <= pc ? left[i] : pb <= pc ? above[i] : corner[i]));
    }
  }
  // As distances from 0 on a circle.
  uint64_t sum_of(const uint8_t* row) const {
    uint64_t sum = 0;
    for (size_t i = 0; i < size_;) {
      uint32_t part = 0;
      const size_t end = std::min(size_, i + (size_t{1} << 20));
      for (; i < end; i++) part += static_cast<uint8_t>(row[i] < 128 ? row[i] : 256 - row[i]);
      sum += part;
    }
    return sum;
  }
  size_t size_, step_;
  Memory tried_;
};

uint8_t* put_chunk(uint8_t* at, const char* name, const uint8_t* content, size_t size) {
  put_word(at, static_cast<uint32_t>(size));
  std::memcpy(at + 4, name, 4);
  if (size > 0 && content != at + 8) std::memcpy(at + 8, content, size);
  put_word(at + 8 + size, libdeflate_crc32(0, at + 4, size + 4));
  return at + 12 + size;
}

Memory encode(const void* values, uint32_t height, uint32_t width, uint32_t channels, uint32_t depth, int32_t level, size_t* size) {
  const size_t step = channels * depth / 8, row_bytes = static_cast<size_t>(width) * step;
  const Memory raw = memory_of(height * (row_bytes + 1));
  // Two rows, which take turns, with a pixel of zeros in front of each.
  std::vector<uint8_t> rows[] = {std::vector<uint8_t>(row_bytes + step), std::vector<uint8_t>(row_bytes + step)};
  Filters filters(row_bytes, step);
  for (uint32_t y = 0; y < height; y++) {
    uint8_t* row = rows[y % 2].data() + step;
    if (depth == 8) std::memcpy(row, static_cast<const uint8_t*>(values) + y * row_bytes, row_bytes);
    else {
      const uint16_t* from = static_cast<const uint16_t*>(values) + y * (row_bytes / 2);
      for (size_t i = 0; i < row_bytes / 2; i++) {
        row[2 * i] = static_cast<uint8_t>(from[i] >> 8);
        row[2 * i + 1] = static_cast<uint8_t>(from[i]);
      }
    }
    std::memcpy(raw.get() + y * (row_bytes + 1), filters.best(row, rows[(y + 1) % 2].data() + step, y == 0), row_bytes + 1);
  }
  const std::unique_ptr<libdeflate_compressor, Freer> compressor(libdeflate_alloc_compressor(level < 0 ? 6 : level));
  if (!compressor) no_memory();
  const size_t total = height * (row_bytes + 1), bound = libdeflate_zlib_compress_bound(compressor.get(), total);
  Memory file = memory_of(bound + 100);
  uint8_t header[13] = {};
  put_word(header, width);
  put_word(header + 4, height);
  header[8] = static_cast<uint8_t>(depth);
  constexpr uint8_t kColors[] = {kGrey, kGreyAlpha, kRgb, kRgba};
  header[9] = kColors[channels - 1];
  uint8_t* at = file.get();
  std::memcpy(at, kSignature, sizeof kSignature);
  at = put_chunk(at + sizeof kSignature, "IHDR", header, sizeof header);
  const size_t packed = libdeflate_zlib_compress(compressor.get(), raw.get(), total, at + 8, bound);
  if (packed == 0 || packed > 0x7fffffff) fail("a picture of %u × %u pixels is too large for a PNG file", width, height);
  at = put_chunk(at, "IDAT", at + 8, packed);
  at = put_chunk(at, "IEND", nullptr, 0);
  *size = static_cast<size_t>(at - file.get());
  return file;
}

}  // namespace
}  // namespace eagre::codecs

using namespace eagre::codecs;

int32_t eagre_decode_png(const uint8_t* bytes, size_t size, uint32_t channels, uint32_t depth, EagreAllocate allocate, void* context,
                         char* message) {
  return outcome(message, [&] { decode(bytes, size, channels, depth, allocate, context); });
}

int32_t eagre_encode_png(const void* values, uint32_t height, uint32_t width, uint32_t channels, uint32_t depth, int32_t level, uint8_t** bytes,
                         size_t* size, char* message) {
  return outcome(message, [&] { *bytes = encode(values, height, width, channels, depth, level, size).release(); });
}
