// From the bytes of a picture to the values of a tensor: decoded, cut, resized. The same numbers as packages/data/src/images/picture.ts computes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "codecs.h"
#include "failure.h"

namespace eagre::codecs {
namespace {

bool is_jpeg(const uint8_t* bytes, size_t size) { return size >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff; }
bool is_png(const uint8_t* bytes, size_t size) { return size >= 8 && std::memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0; }

struct Picture {
  std::unique_ptr<uint8_t[]> data;
  uint32_t height = 0, width = 0, channels = 0;
};

void* allocate(void* context, uint32_t height, uint32_t width, uint32_t channels, uint32_t) {
  Picture& picture = *static_cast<Picture*>(context);
  picture.height = height;
  picture.width = width;
  picture.channels = channels;
  picture.data.reset(new (std::nothrow) uint8_t[static_cast<size_t>(height) * width * channels]);
  return picture.data.get();
}

Picture decoded(const uint8_t* bytes, size_t size) {
  Picture picture;
  char message[EAGRE_MESSAGE];
  const EagreJpegWishes wishes = {0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1.0f};
  const int32_t outcome = is_png(bytes, size) ? eagre_decode_png(bytes, size, 0, 8, allocate, &picture, message)
                                              : eagre_decode_jpeg(bytes, size, &wishes, allocate, &picture, message);
  if (outcome == EAGRE_NO_MEMORY) no_memory();
  if (outcome != EAGRE_DONE) fail("%s", message);
  return picture;
}

// So many channels: colours from grey, grey by the weights of BT.601, alpha 255 where there is none.
Picture with_channels(Picture picture, uint32_t channels) {
  const uint32_t from = picture.channels;
  if (from == channels) return picture;
  Picture out;
  const uint8_t* in = picture.data.get();
  uint8_t* to = static_cast<uint8_t*>(allocate(&out, picture.height, picture.width, channels, 1));
  if (!to) no_memory();
  const size_t pixels = static_cast<size_t>(picture.height) * picture.width;
  for (size_t i = 0; i < pixels; i++, in += from, to += channels) {
    const uint8_t r = in[0], g = from < 3 ? r : in[1], b = from < 3 ? r : in[2];
    if (channels == 1) {
      *to = from < 3 ? r : static_cast<uint8_t>(std::floor(0.299 * r + 0.587 * g + 0.114 * b + 0.5));
      continue;
    }
    to[0] = r;
    to[1] = g;
    to[2] = b;
    if (channels == 4) to[3] = from % 2 == 0 ? in[from - 1] : 255;
  }
  return out;
}

struct Box {
  uint32_t top, left, height, width;
};

// The largest rectangle of the target's proportions, in the middle.
Box cropped(const Picture& p, double height, double width) {
  Box box = {0, 0, 0, 0};
  box.height = static_cast<uint32_t>(std::max(1.0, std::min<double>(p.height, std::trunc(p.width * height / width))));
  box.width = static_cast<uint32_t>(std::max(1.0, std::min<double>(p.width, std::trunc(p.height * width / height))));
  box.top = (p.height - box.height) / 2;
  box.left = (p.width - box.width) / 2;
  return box;
}

// Where the whole picture, made smaller or larger, stands in the middle of the target.
Box fitted(const Picture& p, double height, double width) {
  const double ratio = std::max(p.width / width, p.height / height);
  const double exact_height = p.height / ratio, exact_width = p.width / ratio;
  const auto size = [](double x) { return static_cast<uint32_t>(std::max(1.0, std::floor(x))); };
  const auto place = [](double x) { return static_cast<uint32_t>(std::max(0.0, std::floor(x / 2))); };
  return {place(height - exact_height), place(width - exact_width), size(exact_height), size(exact_width)};
}

struct Sample {
  uint32_t low, high;
  double part;
};

std::vector<Sample> samples(uint32_t out, uint32_t from, bool bilinear) {
  const double scale = static_cast<double>(from) / out;
  std::vector<Sample> list(out);
  for (uint32_t i = 0; i < out; i++) {
    if (!bilinear) {
      const uint32_t at = std::min(static_cast<uint32_t>((i + 0.5) * scale), from - 1);
      list[i] = {at, at, 0};
      continue;
    }
    const double at = (i + 0.5) * scale - 0.5, floor = std::floor(at);
    list[i] = {static_cast<uint32_t>(std::max(floor, 0.0)), static_cast<uint32_t>(std::min<double>(std::ceil(at), from - 1)), at - floor};
  }
  return list;
}

// A row brought to another width.
template <uint32_t channels> void across(const uint8_t* row, const std::vector<Sample>& xs, double* out) {
  for (const Sample& x : xs)
    for (uint32_t c = 0; c < channels; c++) {
      const double a = row[x.low * channels + c], b = row[x.high * channels + c];
      *out++ = a + (b - a) * x.part;
    }
}

template <uint32_t channels> void resize(const Picture& p, const Box& from, const Box& to, const EagreRecipe& recipe, float* out) {
  const bool bilinear = recipe.bilinear != 0;
  const std::vector<Sample> ys = samples(to.height, from.height, bilinear), xs = samples(to.width, from.width, bilinear);
  const size_t count = static_cast<size_t>(to.width) * channels;
  // The rows that were brought to the width last, and which they are.
  std::vector<double> rows[] = {std::vector<double>(count), std::vector<double>(count)};
  int64_t held[] = {-1, -1};
  const auto row = [&](uint32_t y, uint32_t other) -> const double* {
    for (int i = 0; i < 2; i++)
      if (held[i] == y) return rows[i].data();
    const int i = held[0] == other ? 1 : 0;
    held[i] = y;
    across<channels>(p.data.get() + (static_cast<size_t>(y + from.top) * p.width + from.left) * channels, xs, rows[i].data());
    return rows[i].data();
  };
  for (uint32_t y = 0; y < to.height; y++) {
    const Sample& s = ys[y];
    const double *top = row(s.low, s.high), *bottom = row(s.high, s.low);
    float* at = out + (static_cast<size_t>(y + to.top) * recipe.width + to.left) * channels;
    for (size_t i = 0; i < count; i++) at[i] = static_cast<float>(top[i] + (bottom[i] - top[i]) * s.part);
  }
}

void picture(const uint8_t* bytes, size_t size, const EagreRecipe& recipe, float* out) {
  const Picture p = with_channels(decoded(bytes, size), recipe.channels);
  const Box from = recipe.crop_to_aspect_ratio ? cropped(p, recipe.height, recipe.width) : Box{0, 0, p.height, p.width};
  Box to = {0, 0, recipe.height, recipe.width};
  if (recipe.pad_to_aspect_ratio) {
    to = fitted(p, recipe.height, recipe.width);
    std::memset(out, 0, sizeof(float) * recipe.height * recipe.width * recipe.channels);
  }
  if (recipe.channels == 1) resize<1>(p, from, to, recipe, out);
  else if (recipe.channels == 3) resize<3>(p, from, to, recipe, out);
  else resize<4>(p, from, to, recipe, out);
}

}  // namespace
}  // namespace eagre::codecs

using namespace eagre::codecs;

int32_t eagre_is_picture(const uint8_t* bytes, size_t size) { return is_jpeg(bytes, size) || is_png(bytes, size); }

int32_t eagre_picture(const uint8_t* bytes, size_t size, const EagreRecipe* recipe, float* out, char* message) {
  return outcome(message, [&] { picture(bytes, size, *recipe, out); });
}
