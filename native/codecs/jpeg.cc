// JPEG files by libjpeg-turbo, as TensorFlow calls it: the same values, and the same files.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "codecs.h"
#include "failure.h"

extern "C" {
#include "../third_party/libjpeg-turbo/jpeglib.h"
#include "../third_party/libjpeg-turbo/jerror.h"
}
#include "config/jversion.h"

namespace eagre::codecs {
namespace {

// What libjpeg says, in the order of its numbers.
constexpr const char* kMessages[] = {
#define JMESSAGE(code, text) text,
#include "../third_party/libjpeg-turbo/jerror.h"
};

[[noreturn]] void failed(j_common_ptr info) {
  if (info->err->msg_code == JERR_OUT_OF_MEMORY) no_memory();
  char text[JMSG_LENGTH_MAX];
  info->err->format_message(info, text);
  fail("damaged JPEG file: %s", text);
}
// What can be decoded all the same.
void warned(j_common_ptr info, int level) {
  if (level < 0) info->err->num_warnings++;
}
void silent(j_common_ptr) {}

void text_of(j_common_ptr info, char* text) {
  jpeg_error_mgr& e = *info->err;
  const bool is_known = e.msg_code > 0 && e.msg_code < JMSG_LASTMSGCODE;
  const char* format = kMessages[is_known ? e.msg_code : 0];
  if (!is_known) e.msg_parm.i[0] = e.msg_code;
  const char* first = std::strchr(format, '%');
  const int* i = e.msg_parm.i;
  if (first && first[1] == 's') std::snprintf(text, JMSG_LENGTH_MAX, format, e.msg_parm.s);
  else std::snprintf(text, JMSG_LENGTH_MAX, format, i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7]);
}
void begun(j_common_ptr info) {
  info->err->num_warnings = 0;
  info->err->msg_code = 0;
}

// In the place of `jpeg_std_error`, whose functions print, and end the process.
jpeg_error_mgr* manage(jpeg_error_mgr& errors) {
  errors = {};
  errors.error_exit = failed;
  errors.emit_message = warned;
  errors.output_message = silent;
  errors.format_message = text_of;
  errors.reset_error_mgr = begun;
  return &errors;
}

// The bytes of a file that is in memory. One that ends too early does what it does in TensorFlow: where it ends in the middle of something, that is
// suspended, or, if it is to be recovered, read again from its beginning; elsewhere an end is put behind it, or it is an error.
struct Source {
  jpeg_source_mgr manager;
  bool recovers;
  // How many bytes may be read again: TensorFlow does not end with some files.
  size_t most = 1 << 24;

  static Source& of(j_decompress_ptr info) { return *reinterpret_cast<Source*>(info->src); }
  static boolean fill(j_decompress_ptr info) {
    static const JOCTET end[] = {0xff, JPEG_EOI};
    Source& source = of(info);
    const size_t again = source.manager.bytes_in_buffer;
    if (again > 0 && !source.recovers) return FALSE;
    const size_t cost = again + 64;
    if (!source.recovers || source.manager.next_input_byte == end || source.most < cost) ERREXIT(info, JERR_FILE_READ);
    source.most -= cost;
    if (again > 0) return TRUE;
    source.manager.next_input_byte = end;
    source.manager.bytes_in_buffer = 2;
    return TRUE;
  }
  static void skip(j_decompress_ptr info, long count) {
    jpeg_source_mgr& manager = of(info).manager;
    if (count <= 0) return;
    if (static_cast<size_t>(count) > manager.bytes_in_buffer) {
      manager.next_input_byte += manager.bytes_in_buffer;
      manager.bytes_in_buffer = 0;
      fill(info);
    } else {
      manager.next_input_byte += count;
      manager.bytes_in_buffer -= count;
    }
  }
  Source(const uint8_t* bytes, size_t size, bool recovers) : manager(), recovers(recovers) {
    manager.next_input_byte = bytes;
    manager.bytes_in_buffer = size;
    manager.init_source = [](j_decompress_ptr) {};
    manager.fill_input_buffer = fill;
    manager.skip_input_data = skip;
    manager.resync_to_restart = jpeg_resync_to_restart;
    manager.term_source = [](j_decompress_ptr) {};
  }
};

struct Decoder : jpeg_decompress_struct {
  jpeg_error_mgr errors;
  Source source;
  Decoder(const uint8_t* bytes, size_t size, bool recovers) : jpeg_decompress_struct(), source(bytes, size, recovers) {
    err = manage(errors);
    jpeg_create_decompress(this);
    src = &source.manager;
  }
  ~Decoder() { jpeg_destroy_decompress(this); }
};

// Cyan, magenta, yellow and black as red, green and blue. Adobe's programs store them the other way round.
void to_rgb(const JSAMPLE* cmyk, uint32_t width, bool is_inverted, uint8_t* out) {
  for (uint32_t i = 0; i < width; i++, cmyk += 4, out += 3)
    for (int c = 0; c < 3; c++)
      out[c] = static_cast<uint8_t>(is_inverted ? cmyk[3] * cmyk[c] / 255 : (255 - cmyk[3]) * (255 - cmyk[c]) / 255);
}

void decode(const uint8_t* bytes, size_t size, const EagreJpegWishes& wishes, EagreAllocate allocate, void* context) {
  if (size == 0) fail("damaged JPEG file: it is empty");
  Decoder info(bytes, size, wishes.try_recover_truncated);
  jpeg_read_header(&info, TRUE);
  check_size("JPEG", info.image_width, info.image_height);
  if (info.data_precision != 8) fail("a JPEG file of %d bits per value: only 8 can be decoded", info.data_precision);
  const uint32_t channels = wishes.channels == 0 ? std::min(info.num_components, 3) : wishes.channels;
  if (channels != 1 && channels != 3) fail("a JPEG file of %u channels: only 1, 3 and 4 can be decoded", channels);
  const bool is_cmyk = channels == 3 && (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK);
  info.out_color_space = channels == 1 ? JCS_GRAYSCALE : is_cmyk ? JCS_CMYK : JCS_RGB;
  info.do_fancy_upsampling = wishes.fancy_upscaling != 0;
  info.scale_num = 1;
  info.scale_denom = wishes.ratio;
  info.dct_method = wishes.accurate ? JDCT_ISLOW : JDCT_IFAST;
  jpeg_calc_output_dimensions(&info);
  uint32_t width = info.output_width, height = info.output_height;
  if (wishes.crops) {
    const int64_t most_x = width, most_y = height;
    if (wishes.y < 0 || wishes.x < 0 || wishes.height <= 0 || wishes.width <= 0 || int64_t{wishes.y} + wishes.height > most_y ||
        int64_t{wishes.x} + wishes.width > most_x)
      fail("cropWindow must be [y, x, height, width] inside of %u × %u pixels", height, width);
  }
  jpeg_start_decompress(&info);
  uint32_t first = 0;
  if (wishes.crops) {
    // It begins with a whole block.
    JDIMENSION x = wishes.x, columns = wishes.width;
    jpeg_crop_scanline(&info, &x, &columns);
    first = jpeg_skip_scanlines(&info, wishes.y);
    width = wishes.width;
    height = wishes.height;
  }
  const size_t stride = static_cast<size_t>(width) * channels;
  uint8_t* out = allocated<uint8_t>(allocate(context, height, width, channels, 1));
  const bool is_direct = !is_cmyk && info.output_width == width;
  std::vector<JSAMPLE> line(is_direct ? 0 : static_cast<size_t>(info.output_width) * (is_cmyk ? 4 : channels));
  const size_t left_out = static_cast<size_t>(info.output_width - width) * (is_cmyk ? 4 : channels);
  while (info.output_scanline < first + height) {
    const uint32_t row = info.output_scanline - first;
    uint8_t* to = out + row * stride;
    if (is_direct) {
      JSAMPROW rows[4];
      const uint32_t count = std::min(4u, height - row);
      for (uint32_t i = 0; i < count; i++) rows[i] = to + i * stride;
      if (jpeg_read_scanlines(&info, rows, count) == 0) break;
    } else {
      JSAMPROW rows[] = {line.data()};
      if (jpeg_read_scanlines(&info, rows, 1) == 0) break;
      if (is_cmyk) to_rgb(line.data() + left_out, width, info.saw_Adobe_marker, to);
      else std::memcpy(to, line.data() + left_out, stride);
    }
  }
  const uint32_t read = info.output_scanline - first;
  if (read < height) {
    if (static_cast<float>(read) / height < std::min(1.0f, wishes.acceptable_fraction))
      fail("damaged JPEG file: it ends after %u of %u rows", read, height);
    std::memset(out + read * stride, 0, (height - read) * stride);
    return;
  }
  // A file that is damaged behind the rectangle is refused, too.
  if (info.output_scanline < info.output_height) jpeg_skip_scanlines(&info, info.output_height - info.output_scanline);
  jpeg_finish_decompress(&info);
}

// Memory for a file that is written, which grows.
struct Destination {
  jpeg_destination_mgr manager = {};
  uint8_t* bytes = nullptr;
  size_t size = 0, room = 0;

  static Destination& of(j_compress_ptr info) { return *reinterpret_cast<Destination*>(info->dest); }
  void grow(size_t used) {
    if (room > SIZE_MAX / 2) no_memory();
    const size_t more = std::max<size_t>(2 * room, 1 << 16);
    // What cannot grow stays, and is freed with this.
    uint8_t* grown = allocated<uint8_t>(std::realloc(bytes, more));
    bytes = grown;
    manager.next_output_byte = bytes + used;
    manager.free_in_buffer = more - used;
    room = more;
  }
  Destination() {
    manager.init_destination = [](j_compress_ptr info) { of(info).grow(0); };
    manager.empty_output_buffer = [](j_compress_ptr info) -> boolean {
      of(info).grow(of(info).room);
      return TRUE;
    };
    manager.term_destination = [](j_compress_ptr info) { of(info).size = of(info).room - of(info).manager.free_in_buffer; };
  }
  ~Destination() { std::free(bytes); }
};

struct Encoder : jpeg_compress_struct {
  jpeg_error_mgr errors;
  Destination destination;
  Encoder() : jpeg_compress_struct() {
    err = manage(errors);
    jpeg_create_compress(this);
    dest = &destination.manager;
  }
  ~Encoder() { jpeg_destroy_compress(this); }
};

}  // namespace
}  // namespace eagre::codecs

using namespace eagre::codecs;

int32_t eagre_decode_jpeg(const uint8_t* bytes, size_t size, const EagreJpegWishes* wishes, EagreAllocate allocate, void* context, char* message) {
  return outcome(message, [&] { decode(bytes, size, *wishes, allocate, context); });
}

int32_t eagre_encode_jpeg(const uint8_t* pixels, uint32_t height, uint32_t width, uint32_t channels, const EagreJpegOptions* options,
                          const uint8_t* xmp, size_t xmp_size, uint8_t** bytes, size_t* size, char* message) {
  return outcome(message, [&] {
    if (std::max(width, height) > JPEG_MAX_DIMENSION)
      fail("a picture of %u × %u pixels: JPEG files have at most %ld in a row or column", width, height, JPEG_MAX_DIMENSION);
    Encoder info;
    info.image_width = width;
    info.image_height = height;
    info.input_components = static_cast<int>(channels);
    info.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info);
    if (options->optimize_size) info.optimize_coding = TRUE;
    info.density_unit = static_cast<UINT8>(options->density_unit);
    info.X_density = static_cast<UINT16>(options->x_density);
    info.Y_density = static_cast<UINT16>(options->y_density);
    jpeg_set_quality(&info, options->quality, TRUE);
    if (options->progressive) jpeg_simple_progression(&info);
    if (!options->chroma_downsampling)
      for (int i = 0; i < info.num_components; i++) info.comp_info[i].h_samp_factor = info.comp_info[i].v_samp_factor = 1;
    jpeg_start_compress(&info, TRUE);
    if (xmp_size > 0) {
      // With its end.
      static const char name[] = "http://ns.adobe.com/xap/1.0/";
      if (xmp_size + sizeof name > 65533) fail("metadata of %zu bytes, which are more than fit into a JPEG file", xmp_size);
      std::vector<JOCTET> content(name, name + sizeof name);
      content.insert(content.end(), xmp, xmp + xmp_size);
      jpeg_write_marker(&info, JPEG_APP0 + 1, content.data(), static_cast<unsigned>(content.size()));
    }
    while (info.next_scanline < height) {
      JSAMPROW rows[8];
      const uint32_t count = std::min(8u, height - info.next_scanline);
      for (uint32_t i = 0; i < count; i++)
        rows[i] = const_cast<JSAMPROW>(pixels) + static_cast<size_t>(info.next_scanline + i) * width * channels;
      jpeg_write_scanlines(&info, rows, count);
    }
    jpeg_finish_compress(&info);
    *bytes = info.destination.bytes;
    *size = info.destination.size;
    info.destination.bytes = nullptr;
  });
}

void eagre_free_bytes(uint8_t* bytes) { std::free(bytes); }
