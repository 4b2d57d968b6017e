// Concat.
#include "stream.h"
#include "strided.h"

EAGRE_BEGIN
namespace {

// An input: its part of a row of the output.
struct Part {
  const char* data;
  int64_t begin, bytes;
};

// Copies bytes [begin, end) of the output, which are rows of `row` bytes made of `parts`. At most that much at once goes through
// `buffer`, if there is one, and from there past the caches.
struct Rows {
  const Part* parts;
  int64_t count, row;
  char* out;

  void copy(int64_t begin, int64_t end, char* to) const {
    const int64_t first = (begin + row - 1) / row, last = end / row;
    if (first > last) return piece(begin, end, to);
    piece(begin, first * row, to);
    to += first * row - begin;
    for (int64_t k0 = 0; k0 < count; k0 += kBeside) whole(first, last, k0, count - k0 < kBeside ? count - k0 : kBeside, to);
    piece(last * row, end, to + (last - first) * row);
  }

 private:
  static constexpr int64_t kBeside = 32;

  // Parts [k0, k0 + n) of rows [first, last); row `first` begins at `to`.
  void whole(int64_t first, int64_t last, int64_t k0, int64_t n, char* to) const {
    const char* from[kBeside];
    int64_t bytes[kBeside];
    for (int64_t k = 0; k < n; k++) {
      bytes[k] = parts[k0 + k].bytes;
      from[k] = parts[k0 + k].data + first * bytes[k];
    }
    to += parts[k0].begin;
    const int64_t rest = row - (parts[k0 + n - 1].begin + bytes[n - 1] - parts[k0].begin);
    bool alike = true;
    for (int64_t k = 1; k < n; k++) alike &= bytes[k] == bytes[0];
    if (alike) {
      switch (bytes[0]) {
#define X(bytes) case bytes: return copy_alike<bytes>(first, last, from, n, rest, to);
        X(4) X(8) X(12) X(16) X(20) X(24) X(28) X(32) X(48) X(64) X(80) X(96) X(112) X(128)
#undef X
        default: break;
      }
    }
    for (int64_t r = first; r < last; r++, to += rest) {
      for (int64_t k = 0; k < n; k++) {
        copy_bytes(to, from[k], bytes[k]);
        from[k] += bytes[k];
        to += bytes[k];
      }
    }
  }

  // The same for parts of few bytes, whose number the compiler knows.
  template <int bytes>
  static void copy_alike(int64_t first, int64_t last, const char* const* from, int64_t n, int64_t rest, char* to) {
    for (int64_t at = 0; at < (last - first) * bytes; at += bytes, to += rest) {
      for (int64_t k = 0; k < n; k++, to += bytes) std::memcpy(to, from[k] + at, bytes);
    }
  }

  // No more than a row.
  void piece(int64_t begin, int64_t end, char* to) const {
    const int64_t r = begin / row;
    int64_t at = begin % row, left = end - begin, k = 0;
    for (int64_t high = count - 1; k < high;) {
      const int64_t middle = (k + high + 1) / 2;
      if (parts[middle].begin <= at) k = middle;
      else high = middle - 1;
    }
    for (; left > 0; k++) {
      const int64_t skip = at - parts[k].begin, n = min64(parts[k].bytes - skip, left);
      copy_bytes(to, parts[k].data + r * parts[k].bytes + skip, n);
      to += n;
      at += n;
      left -= n;
    }
  }
};

constexpr int64_t kBuffer = 8192;

void run(const Rows& rows, int64_t bytes) {
  const bool streams = bytes >= kStreamBytes;
  parallel_for(bytes, bytes_per_chunk(bytes), [&](int64_t begin, int64_t end) {
    if (!streams) return rows.copy(begin, end, rows.out + begin);
    alignas(64) char buffer[kBuffer];
    for (int64_t at = begin; at < end; at += kBuffer) {
      const int64_t stop = end - at < kBuffer ? end : at + kBuffer;
      rows.copy(at, stop, buffer);
      stream(rows.out + at, buffer, static_cast<size_t>(stop - at));
    }
    stream_end();
  });
}

void concat(Args& a) {
  // The output and the axis come after the inputs, so those are read twice.
  Args inputs = a;
  for (int i = 0; i < a.inputs(); i++) a.tensor();
  Tensor y = a.tensor();
  int64_t axis = a.integer();
  if (axis < 0) axis += y.rank;
  if (axis < 0 || axis >= y.rank) fail(Code::internal, "axis %lld of rank %d", ll(axis), y.rank);
  const int64_t rows = product(y.dims, 0, static_cast<int>(axis));
  const int64_t inner = product(y.dims, static_cast<int>(axis) + 1, y.rank) * static_cast<int64_t>(dtype_size(y.dtype));
  const int64_t row = y.dims[axis] * inner;
  Part* parts = static_cast<Part*>(scratch(0, (inputs.inputs() + 1) * static_cast<int64_t>(sizeof(Part))));
  int64_t count = 0, offset = 0;
  for (int i = 0; i < inputs.inputs(); i++) {
    Tensor x = inputs.tensor();
    const int64_t n = x.rank == y.rank ? x.dims[axis] * inner : -1;
    if (n < 0 || x.size * static_cast<int64_t>(dtype_size(x.dtype)) != rows * n || offset + n > row)
      fail(Code::internal, "input %d does not fit", i);
    if (n > 0) parts[count++] = {x.as<char>(), offset, n};
    offset += n;
  }
  if (offset != row && rows > 0) fail(Code::internal, "the inputs do not fill the output");
  if (rows * row > 0) run({parts, count, row, y.as<char>()}, rows * row);
}

}  // namespace

void register_concat(Registry& r) { r.add("Concat", concat); }
EAGRE_END
