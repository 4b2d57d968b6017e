// Files and memory at the same time: what Node does one after the other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace eagre {

// A part of a file, and memory of its length for its bytes; null: they are wanted nowhere.
struct FileRange {
  int64_t offset;
  int64_t length;
  unsigned char* target;
};

// Reads ranges of an open file, in any order and number, and gives the CRC-32C of each: -1 where not all of it could be read, because the file
// ends before, is no regular one, the system refuses, or cannot read at offsets. The target may then have any bytes. The pool's threads read
// and sum up a piece each, of one large range or of many small ones that adjoin, so that the disk and the processors work at the same time.
// Throws std::bad_alloc, or KernelError(resource_exhausted).
void read_ranges(int file, const FileRange* ranges, size_t count, int64_t* crcs);

// The same, begun by one thread while others do something else. Ranges have targets, which must stay until `finish` or `stop` has returned.
class RangeReading {
 public:
  // Throws std::bad_alloc.
  RangeReading(int file, std::vector<FileRange> ranges);
  ~RangeReading();
  // Reads pieces until there are none left that nobody reads.
  void help();
  // Helps, waits for the others, and gives the CRCs.
  std::vector<int64_t> finish();
  // Has nothing more read, and waits for what others are reading.
  void stop();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace eagre
