#include "files.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "crc32c.h"
#include "file_calls.h"
#include "pages.h"
#include "pool.h"

namespace eagre {
namespace {

// Stays in a core's cache between reading and summing up. What is read nowhere takes as much of each thread's scratch memory.
constexpr int64_t kPiece = 256 << 10;
// So many are shared among the threads at once.
constexpr size_t kPieces = 1024;
// Of so many ranges at most: the system takes 1024 pieces of memory in one call, POSIX grants 16.
constexpr int kParts = 16;

// The bytes of ranges that adjoin, from within one on.
struct Piece {
  int64_t offset, length;
  // The first range, by its place in the order of offsets, and how much of it stands before the piece.
  size_t first;
  int64_t skipped;
  // The CRC of what it has of the first range, if that begins before.
  uint32_t crc;
  bool whole;
};

class Reader {
 public:
  Reader(int file, const FileRange* ranges, size_t count, int64_t* crcs) : file_(file), ranges_(ranges), crcs_(crcs) {
    std::fill(crcs, crcs + count, -1);
    const int64_t size = file_size(file);
    if (size < 0) return;
    order_.reserve(count);
    for (size_t i = 0; i < count; i++) {
      const auto [offset, length, target] = ranges[i];
      if (offset < 0 || length < 0 || length > size || offset > size - length) continue;
      if (length > 0) order_.push_back(i);
      else crcs[i] = 0;
    }
    std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      return ranges[a].offset != ranges[b].offset ? ranges[a].offset < ranges[b].offset : a < b;
    });
  }

  // Has the system prepare for it.
  void begin() const {
    if (order_.empty()) return;
    for (const size_t range : order_) prefer_large_pages(ranges_[range].target, ranges_[range].length);
    if (at(order_.size() - 1).offset + at(order_.size() - 1).length - at(0).offset > kPiece) expect_sequential_reads(file_);
  }

  // Adds so many pieces, or all that are left.
  void cut(std::vector<Piece>& pieces, size_t most) {
    for (; most > 0 && next_ < order_.size(); most--) pieces.push_back(cut());
  }

  void run() {
    begin();
    std::vector<Piece> pieces;
    pieces.reserve(kPieces);
    while (next_ < order_.size()) {
      pieces.clear();
      cut(pieces, kPieces);
      parallel_for(static_cast<int64_t>(pieces.size()), 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) read(pieces[static_cast<size_t>(i)]);
      });
      for (const Piece& piece : pieces) join(piece);
    }
  }

  // Threads share nothing here: a range begins in one piece only, which gives it its first CRC.
  void read(Piece& piece) const {
    FilePart parts[kParts];
    int count = 0;
    each(piece, [&](size_t place, int64_t skipped, int64_t done, int64_t length) {
      unsigned char* target = at(place).target;
      target = target ? target + skipped : static_cast<unsigned char*>(scratch(0, kPiece)) + done;
      parts[count++] = {target, static_cast<size_t>(length)};
    });
    FilePart rest[kParts];
    std::copy(parts, parts + count, rest);
    piece.whole = fill(piece.offset, rest, count);
    if (!piece.whole) return;
    const FilePart* part = parts;
    each(piece, [&](size_t place, int64_t skipped, int64_t, int64_t) {
      const uint32_t crc = crc32c(part->iov_base, part->iov_len, 0);
      part++;
      if (skipped == 0) crcs_[order_[place]] = crc;
      else piece.crc = crc;
    });
  }

  // In the order of the file.
  void join(const Piece& piece) const {
    each(piece, [&](size_t place, int64_t skipped, int64_t, int64_t length) {
      int64_t& crc = crcs_[order_[place]];
      if (!piece.whole) crc = -1;
      else if (skipped > 0 && crc >= 0) crc = crc32c_joined(static_cast<uint32_t>(crc), piece.crc, static_cast<size_t>(length));
    });
  }

 private:
  const FileRange& at(size_t place) const { return ranges_[order_[place]]; }

  // The next piece: as long as may be, up to a gap or something that was in it already.
  Piece cut() {
    Piece piece{at(next_).offset + skipped_, 0, next_, skipped_, 0, false};
    for (int parts = 0; parts < kParts && next_ < order_.size() && piece.length < kPiece; parts++) {
      const FileRange& range = at(next_);
      if (range.offset + skipped_ != piece.offset + piece.length) break;
      const int64_t length = std::min(range.length - skipped_, kPiece - piece.length);
      piece.length += length;
      skipped_ += length;
      if (skipped_ < range.length) break;
      next_++;
      skipped_ = 0;
    }
    return piece;
  }

  // Calls fn(place of the range, bytes of it before the piece, bytes of the piece before it, its bytes in the piece) for each.
  template <class F> void each(const Piece& piece, F&& fn) const {
    int64_t skipped = piece.skipped, done = 0;
    for (size_t place = piece.first; done < piece.length; place++, skipped = 0) {
      const int64_t length = std::min(at(place).length - skipped, piece.length - done);
      fn(place, skipped, done, length);
      done += length;
    }
  }

  bool fill(int64_t offset, FilePart* parts, int count) const {
    for (;;) {
      int64_t got = read_at(file_, parts, count, offset);
      if (got <= 0) return false;
      offset += got;
      while (count > 0 && static_cast<size_t>(got) >= parts->iov_len) {
        got -= static_cast<int64_t>(parts->iov_len);
        parts++;
        count--;
      }
      if (count == 0) return true;
      parts->iov_base = static_cast<unsigned char*>(parts->iov_base) + got;
      parts->iov_len -= static_cast<size_t>(got);
    }
  }

  const int file_;
  const FileRange* const ranges_;
  int64_t* const crcs_;
  // Of the ranges that are in the file and not empty, by their offsets.
  std::vector<size_t> order_;
  size_t next_ = 0;
  int64_t skipped_ = 0;
};

}  // namespace

void read_ranges(int file, const FileRange* ranges, size_t count, int64_t* crcs) { Reader(file, ranges, count, crcs).run(); }

struct RangeReading::State {
  State(int file, std::vector<FileRange> given) : ranges(std::move(given)), crcs(ranges.size()), reader(file, ranges.data(), ranges.size(), crcs.data()) {
    reader.cut(pieces, SIZE_MAX);
    reader.begin();
  }

  void help(bool reads) {
    for (;;) {
      const size_t i = next.fetch_add(1);
      if (i >= pieces.size()) return;
      if (reads && !stopped) reader.read(pieces[i]);
      if (done.fetch_add(1) + 1 < pieces.size()) continue;
      const std::lock_guard lock(mutex);
      all_done.notify_all();
    }
  }

  void wait() {
    std::unique_lock lock(mutex);
    all_done.wait(lock, [&] { return done == pieces.size(); });
  }

  const std::vector<FileRange> ranges;
  std::vector<int64_t> crcs;
  Reader reader;
  std::vector<Piece> pieces;
  std::atomic<size_t> next{0}, done{0};
  std::atomic<bool> stopped{false};
  bool joined = false;
  std::mutex mutex;
  std::condition_variable all_done;
};

RangeReading::RangeReading(int file, std::vector<FileRange> ranges) : state_(new State(file, std::move(ranges))) {}
RangeReading::~RangeReading() = default;

void RangeReading::help() { state_->help(true); }

std::vector<int64_t> RangeReading::finish() {
  state_->help(true);
  state_->wait();
  if (!state_->joined)
    for (const Piece& piece : state_->pieces) state_->reader.join(piece);
  state_->joined = true;
  return state_->crcs;
}

void RangeReading::stop() {
  state_->stopped = true;
  state_->help(false);
  state_->wait();
}

}  // namespace eagre
