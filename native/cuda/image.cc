#include "image.h"

#include <cstring>

#include "driver.h"

namespace eagre::cuda {

namespace {

// A cubin is an ELF file of 64 bits; these are the offsets of what tells its extent.
constexpr char kElf[] = {0x7f, 'E', 'L', 'F', 2, 1};
constexpr size_t kElfHeader = 64, kSectionHeader = 64, kSegmentHeader = 56;
constexpr uint32_t kNoBits = 8;
constexpr uint32_t kFatbin = 0xba55ed50;

struct Bytes {
  const char* data;
  size_t size;
  template <class T> T at(size_t offset) const {
    T value;
    std::memcpy(&value, data + offset, sizeof value);
    return value;
  }
  bool holds(uint64_t offset, uint64_t count) const { return offset <= size && count <= size - offset; }
};

bool is_whole_elf(const Bytes& elf) {
  if (elf.size < kElfHeader) return false;
  const auto segments = elf.at<uint64_t>(32), sections = elf.at<uint64_t>(40);
  const auto segment_size = elf.at<uint16_t>(54), segment_count = elf.at<uint16_t>(56);
  const auto section_size = elf.at<uint16_t>(58), section_count = elf.at<uint16_t>(60);
  if (segment_count > 0 && (segment_size != kSegmentHeader || !elf.holds(segments, uint64_t(segment_count) * segment_size))) return false;
  if (section_count == 0 || section_size != kSectionHeader || !elf.holds(sections, uint64_t(section_count) * section_size)) return false;
  for (uint16_t i = 0; i < segment_count; i++) {
    const size_t header = segments + i * kSegmentHeader;
    if (!elf.holds(elf.at<uint64_t>(header + 8), elf.at<uint64_t>(header + 32))) return false;
  }
  for (uint16_t i = 0; i < section_count; i++) {
    const size_t header = sections + i * kSectionHeader;
    if (elf.at<uint32_t>(header + 4) != kNoBits && !elf.holds(elf.at<uint64_t>(header + 24), elf.at<uint64_t>(header + 32))) return false;
  }
  return true;
}

bool is_whole_fatbin(const Bytes& fatbin) {
  return fatbin.size >= 16 && fatbin.holds(fatbin.at<uint16_t>(6), fatbin.at<uint64_t>(8));
}

bool is_ptx(const Bytes& text) {
  const std::string all(text.data, text.size);
  return all.find('\0') == std::string::npos && all.find(".version") != std::string::npos && all.find(".target") != std::string::npos;
}

}  // namespace

void check_image(const void* image, size_t bytes) {
  const Bytes all{static_cast<const char*>(image), bytes};
  bool whole;
  if (bytes >= sizeof kElf && std::memcmp(image, kElf, sizeof kElf) == 0) whole = is_whole_elf(all);
  else if (bytes >= 4 && all.at<uint32_t>(0) == kFatbin) whole = is_whole_fatbin(all);
  else whole = is_ptx(all);
  if (!whole) throw Failure("INVALID_ARGUMENT", "a module of " + std::to_string(bytes) + " bytes is no whole cubin, fatbin or PTX");
}

}  // namespace eagre::cuda
