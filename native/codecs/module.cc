// The codecs as a module of WebAssembly: as binding.cc, with addresses in its own memory.
#include <cstdlib>
#include <cstring>

#include "../wasm/exceptions.h"
#include "codecs.h"
#include "failure.h"

#define EXPORT(name) extern "C" __attribute__((export_name(name)))

namespace {

char message[EAGRE_MESSAGE] = "";

// What the last call made.
struct {
  uint8_t* data;
  uint32_t bytes, height, width, channels;
} made;

void* allocate_picture(void*, uint32_t height, uint32_t width, uint32_t channels, uint32_t bytes_per_value) {
  const uint64_t bytes = uint64_t{height} * width * channels * bytes_per_value;
  made = {bytes > UINT32_MAX ? nullptr : static_cast<uint8_t*>(std::malloc(static_cast<size_t>(bytes))), static_cast<uint32_t>(bytes), height, width,
          channels};
  return made.data;
}

int32_t decoded(int32_t outcome) {
  if (outcome == EAGRE_DONE) return outcome;
  std::free(made.data);
  made = {};
  return outcome;
}

int32_t encoded(int32_t outcome, uint8_t* bytes, size_t size) {
  if (outcome == EAGRE_DONE) made = {bytes, static_cast<uint32_t>(size), 0, 0, 0};
  return outcome;
}

}  // namespace

namespace eagre {
void no_memory() { codecs::no_memory(); }
}  // namespace eagre

EXPORT("allocate") void* allocate(uint32_t bytes) { return std::malloc(bytes); }
EXPORT("release") void release(void* memory) { std::free(memory); }
EXPORT("lastError") const char* last_error() { return message; }
EXPORT("made") const void* last_made() { return &made; }

EXPORT("decodeJpeg") int32_t decode_jpeg(const uint8_t* file, uint32_t size, const EagreJpegWishes* wishes) {
  made = {};
  return decoded(eagre_decode_jpeg(file, size, wishes, allocate_picture, nullptr, message));
}

EXPORT("decodePng") int32_t decode_png(const uint8_t* file, uint32_t size, uint32_t channels, uint32_t depth) {
  made = {};
  return decoded(eagre_decode_png(file, size, channels, depth, allocate_picture, nullptr, message));
}

EXPORT("encodeJpeg")
int32_t encode_jpeg(const uint8_t* pixels, uint32_t height, uint32_t width, uint32_t channels, const EagreJpegOptions* options, const uint8_t* xmp,
                    uint32_t xmp_size) {
  made = {};
  uint8_t* bytes = nullptr;
  size_t size = 0;
  const int32_t outcome = eagre_encode_jpeg(pixels, height, width, channels, options, xmp, xmp_size, &bytes, &size, message);
  return encoded(outcome, bytes, size);
}

EXPORT("encodePng")
int32_t encode_png(const void* values, uint32_t height, uint32_t width, uint32_t channels, uint32_t depth, int32_t level) {
  made = {};
  uint8_t* bytes = nullptr;
  size_t size = 0;
  const int32_t outcome = eagre_encode_png(values, height, width, channels, depth, level, &bytes, &size, message);
  return encoded(outcome, bytes, size);
}
