// Pictures in files: JPEG and PNG, both ways, and the way from a file to a tensor. A C interface, which no JavaScript engine has to do with.
// Whatever bytes it is given, a function ends with a picture or one of `EagreOutcome`, whose text is in `message`.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum EagreOutcome {
  EAGRE_DONE = 0,
  // What is in the file, or was asked for.
  EAGRE_INVALID = 1,
  EAGRE_NO_MEMORY = 2,
};
enum { EAGRE_MESSAGE = 256 };

// Pictures of more pixels are refused, before anything is allocated by what a header says.
#define EAGRE_MOST_PIXELS (1ull << 27)

// Gives the memory for a picture of so many values, once its size is known; null where there is none.
typedef void* (*EagreAllocate)(void* context, uint32_t height, uint32_t width, uint32_t channels, uint32_t bytes_per_value);

struct EagreJpegWishes {
  // 0 is as many as the file has: 1 or 3.
  int32_t channels;
  // The picture is made smaller so many times: 1, 2, 4 or 8.
  int32_t ratio;
  int32_t fancy_upscaling;
  int32_t try_recover_truncated;
  // The accurate inverse cosine transform in the place of the fast one.
  int32_t accurate;
  // A rectangle, where `crops` is not 0.
  int32_t crops, y, x, height, width;
  // The part of the rows that has to be there where a file ends in the middle of its data; what is missing is 0.
  float acceptable_fraction;
};

struct EagreJpegOptions {
  int32_t quality, progressive, optimize_size, chroma_downsampling;
  // 1 for inches, 2 for centimetres.
  int32_t density_unit, x_density, y_density;
};

int32_t eagre_decode_jpeg(const uint8_t* bytes, size_t size, const struct EagreJpegWishes* wishes, EagreAllocate allocate, void* context,
                          char* message);
// The file's bytes, which `eagre_free_bytes` frees.
int32_t eagre_encode_jpeg(const uint8_t* pixels, uint32_t height, uint32_t width, uint32_t channels, const struct EagreJpegOptions* options,
                          const uint8_t* xmp, size_t xmp_size, uint8_t** bytes, size_t* size, char* message);

// `channels` 0 is as many as the file has, else 1 to 4; values of `depth` bits, 8 or 16.
int32_t eagre_decode_png(const uint8_t* bytes, size_t size, uint32_t channels, uint32_t depth, EagreAllocate allocate, void* context,
                         char* message);
int32_t eagre_encode_png(const void* values, uint32_t height, uint32_t width, uint32_t channels, uint32_t depth, int32_t level, uint8_t** bytes,
                         size_t* size, char* message);

void eagre_free_bytes(uint8_t* bytes);

// What becomes of a picture in a folder.
struct EagreRecipe {
  uint32_t height, width;
  // 1, 3 or 4.
  uint32_t channels;
  // Else the nearest pixel.
  int32_t bilinear;
  int32_t crop_to_aspect_ratio, pad_to_aspect_ratio;
};

// Whether bytes begin as a file that `eagre_picture` takes.
int32_t eagre_is_picture(const uint8_t* bytes, size_t size);
// Decodes a JPEG or PNG file, brings it to the recipe's size and colours, and writes height × width × channels values.
int32_t eagre_picture(const uint8_t* bytes, size_t size, const struct EagreRecipe* recipe, float* out, char* message);

#ifdef __cplusplus
}
#endif
