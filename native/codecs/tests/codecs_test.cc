// Pictures that are written and read again, and files in which something was changed: each ends with a picture or a message, and reads and writes
// nothing beside its memory (under AddressSanitizer: `pnpm test:sanitize asan`). codecs_test [seed] [files]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../codecs.h"

namespace {

using Bytes = std::vector<uint8_t>;
std::mt19937 draw;
uint32_t below(size_t n) { return static_cast<uint32_t>(draw() % n); }

int failures = 0;
void check(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  failures++;
}

// Pictures that damaged sizes ask for take no more than this.
constexpr size_t kMostBytes = size_t{1} << 26;

void* allocate(void* context, uint32_t height, uint32_t width, uint32_t channels, uint32_t bytes_per_value) {
  const size_t size = static_cast<size_t>(height) * width * channels * bytes_per_value;
  if (size > kMostBytes) return nullptr;
  Bytes& picture = *static_cast<Bytes*>(context);
  picture.assign(size, 0);
  return picture.data();
}

Bytes taken(uint8_t* bytes, size_t size) {
  Bytes copy(bytes, bytes + size);
  eagre_free_bytes(bytes);
  return copy;
}

Bytes values(size_t count) {
  // Smooth parts and noise.
  Bytes v(count);
  for (size_t i = 0; i < count; i++) v[i] = static_cast<uint8_t>(i % 3 == 0 ? draw() : i / 7);
  return v;
}

Bytes jpeg_file() {
  const uint32_t height = 1 + below(40), width = 1 + below(40), channels = below(2) ? 3 : 1;
  const auto flag = [] { return static_cast<int32_t>(below(2)); };
  const EagreJpegOptions options = {static_cast<int32_t>(below(101)), flag(), flag(), flag(), 1 + flag(), 300, 300};
  const Bytes pixels = values(static_cast<size_t>(height) * width * channels);
  const std::string xmp(below(200), 'x');
  uint8_t* bytes = nullptr;
  size_t size = 0;
  char message[EAGRE_MESSAGE];
  const int32_t outcome = eagre_encode_jpeg(pixels.data(), height, width, channels, &options, reinterpret_cast<const uint8_t*>(xmp.data()),
                                            xmp.size(), &bytes, &size, message);
  check(outcome == EAGRE_DONE, "a JPEG file is written");
  return outcome == EAGRE_DONE ? taken(bytes, size) : Bytes();
}

Bytes png_file() {
  const uint32_t height = 1 + below(40), width = 1 + below(40), channels = 1 + below(4), depth = below(2) ? 8 : 16;
  const Bytes pixels = values(static_cast<size_t>(height) * width * channels * depth / 8);
  uint8_t* bytes = nullptr;
  size_t size = 0;
  char message[EAGRE_MESSAGE];
  const int32_t outcome =
      eagre_encode_png(pixels.data(), height, width, channels, depth, static_cast<int32_t>(below(11)) - 1, &bytes, &size, message);
  check(outcome == EAGRE_DONE, "a PNG file is written");
  if (outcome != EAGRE_DONE) return {};
  const Bytes file = taken(bytes, size);
  Bytes again;
  check(eagre_decode_png(file.data(), file.size(), channels, depth, allocate, &again, message) == EAGRE_DONE && again == pixels,
        "a PNG file has what was written");
  return file;
}

void damage(Bytes& file) {
  if (file.empty()) return;
  if (below(4) == 0) {
    file.resize(below(file.size()));
    return;
  }
  for (uint32_t n = 1 + below(8); n > 0 && !file.empty(); n--) {
    // Headers more often than the rest.
    const size_t at = below(below(3) == 0 && file.size() > 200 ? 200 : file.size());
    file[at] = static_cast<uint8_t>(draw());
    if (below(10) == 0) file.erase(file.begin() + static_cast<ptrdiff_t>(at), file.begin() + static_cast<ptrdiff_t>(at + 1 + below(file.size() - at)));
  }
}

// Everything that reads files, with bytes that end where their memory does.
void read_in_all_ways(const Bytes& file) {
  Bytes picture;
  char message[EAGRE_MESSAGE];
  const int32_t colours[] = {0, 1, 3}, ratios[] = {1, 2, 4, 8};
  const auto flag = [] { return static_cast<int32_t>(below(2)); };
  const auto place = [](int32_t least) { return least + static_cast<int32_t>(below(30)); };
  const EagreJpegWishes wishes = {colours[below(3)], ratios[below(4)], flag(),   flag(),   flag(), flag(), place(0), place(0),
                                  place(1),          place(1),         below(3) / 2.0f};
  const auto is_outcome = [](int32_t outcome) { return outcome >= EAGRE_DONE && outcome <= EAGRE_NO_MEMORY; };
  check(is_outcome(eagre_decode_jpeg(file.data(), file.size(), &wishes, allocate, &picture, message)), "an outcome of a JPEG file");
  check(is_outcome(eagre_decode_png(file.data(), file.size(), below(5), below(2) ? 8 : 16, allocate, &picture, message)),
        "an outcome of a PNG file");
  const uint32_t channels[] = {1, 3, 4};
  const int32_t crops = flag(), pads = crops ? 0 : flag();
  const EagreRecipe recipe = {1 + below(40), 1 + below(40), channels[below(3)], flag(), crops, pads};
  std::vector<float> out(static_cast<size_t>(recipe.height) * recipe.width * recipe.channels);
  check(is_outcome(eagre_picture(file.data(), file.size(), &recipe, out.data(), message)), "an outcome of a picture");
}

}  // namespace

int main(int argc, char** argv) {
  draw.seed(argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 1);
  const int files = argc > 2 ? std::atoi(argv[2]) : 4000;
  for (int i = 0; i < files; i++) {
    Bytes file = i % 2 ? jpeg_file() : png_file();
    if (i % 10 != 0) damage(file);
    // A copy of its own, of just this size.
    read_in_all_ways(Bytes(file));
  }
  std::printf("%d files, %d failures\n", files, failures);
  return failures == 0 ? 0 : 1;
}
