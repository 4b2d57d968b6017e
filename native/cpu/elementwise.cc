// Elementwise and ElementwiseFlat: scalar programs mapped over tensors, in tiles whose values stay in the first-level cache.
#include <cstring>

#include "program_single.h"
#include "program_tile.h"
#include "stream.h"

#if defined(__AVX512F__)
namespace eagre { namespace avx2 {
void elementwise(Args& a);
void elementwise_flat(Args& a);
void fill_row_functions();
} }
#endif

EAGRE_BEGIN
namespace {

constexpr int64_t kMinTile = 256;
// Below this many elements in a row, a tile takes whole rows.
constexpr int64_t kShortRow = 128;
constexpr int64_t kCacheBytes = 1 << 20;  // what no cache of one core holds
constexpr int64_t kWholeRow = 1 << 14;  // elements of a piece, where a row needs no tile

inline int64_t grain_for(int64_t cost) {
  int64_t grain = (int64_t{1} << 17) / (3 + cost);
  return grain < kMaxTile ? kMaxTile : grain / kMaxTile * kMaxTile;
}

enum class Source {
  in_place,   // every element in order: read where it lies
  copied,     // the same, but an output writes over it: copied into a tile first
  single,     // one element for all: splat once
  pattern,    // one row for all rows (short rows): repeated once
  gathered,   // rows or single elements by strides (short rows): gathered for every tile
  row,        // a row of its own place (long rows): read where it lies
  row_single, // one element a row (long rows): splat when the row changes
};

// A call, ready to run in chunks on any thread.
struct Plan {
  const Program* program;
  ProgramTile code;
  const char* in[kMaxProgramInputs];
  char* out[kMaxProgramOutputs];
  Source source[kMaxProgramInputs];
  int buffer[kMaxProgramInputs];       // the tile buffer of an input that is not read in place
  bool direct[kMaxProgramOutputs];     // its instruction writes straight into the output
  bool streamed[kMaxProgramOutputs];   // large: leaves by streaming stores
  bool streams;                        // any of them
  unsigned may_stream;                 // those that need not go through the tile then
  int buffers;
  int64_t stride;                      // bytes between tile buffers
  int64_t tile;
  int64_t size;
  // Broadcasting: the collapsed outer dimensions, the inner one, and every input's strides in elements.
  int outer;
  int64_t inner;
  int64_t dims[kMaxRank];
  int64_t strides[kMaxProgramInputs][kMaxRank];
  int64_t inner_stride[kMaxProgramInputs];

  size_t item(int value) const { return dtype_size(program->dtype_of(value)); }
};

void prepare_code(Plan& p) {
  const Program& code = *p.program;
  p.code.program = p.program;
  prepare_tile(p.code);
  p.may_stream = p.code.may_stream();
  p.streams = false;
  for (int k = 0; k < code.outputs; k++) {
    int v = code.results[k];
    p.direct[k] = v >= code.inputs && code.code[v - code.inputs].op != static_cast<int>(Op::constant);
    for (int j = 0; j < k; j++) {
      if (code.results[j] == v) p.direct[k] = false;
    }
    p.streamed[k] = p.direct[k] && p.size * static_cast<int64_t>(p.item(v)) >= kStreamBytes;
    if (p.streamed[k]) p.direct[k] = false;
    p.streams |= p.streamed[k];
  }
}

// With several outputs, one may be written before another instruction has read the input that shares its memory.
bool overwritten(const Plan& p, int input, int64_t bytes) {
  const Program& code = *p.program;
  if (code.outputs < 2) return false;
  for (int k = 0; k < code.outputs; k++) {
    int64_t out_bytes = p.size * static_cast<int64_t>(p.item(code.results[k]));
    if (p.in[input] < p.out[k] + out_bytes && p.out[k] < p.in[input] + bytes) return true;
  }
  return false;
}

// Gives tile buffers to the inputs that need them and picks the tile's length.
void prepare_buffers(Plan& p, bool short_rows) {
  const Program& code = *p.program;
  p.buffers = code.slots;
  int64_t item = code.slot_bytes;
  for (int j = 0; j < code.inputs; j++) {
    if (p.source[j] == Source::in_place || p.source[j] == Source::row) continue;
    p.buffer[j] = p.buffers++;
    int64_t bytes = static_cast<int64_t>(p.item(j));
    if (bytes > item) item = bytes;
  }
  // Streaming stores come in bursts at the end of a tile; half of one is soon through.
  p.tile = p.streams ? kMaxTile / 2 : kMaxTile;
  while (p.tile > kMinTile && p.tile * item * p.buffers > kTileBytes) p.tile /= 2;
  if (short_rows) p.tile = p.tile / p.inner * p.inner;
  if (p.tile > p.size) p.tile = p.size;
  // An odd number of lines apart, so that buffers do not share their cache sets.
  p.stride = (p.tile * item / 64 | 1) * 64 + 128;
}

// The addresses of values that stay the same for all tiles of a chunk; fills constants.
void bind(const Plan& p, char* memory, const void** values) {
  const Program& code = *p.program;
  for (int i = 0; i < code.instrs; i++) {
    const Instr& in = code.code[i];
    if (in.slot < 0) continue;
    void* at = memory + in.slot * p.stride;
    values[code.inputs + i] = at;
    if (in.op == static_cast<int>(Op::constant)) fill_constant(at, in, p.tile);
  }
  for (int j = 0; j < code.inputs; j++) {
    if (p.source[j] != Source::in_place && p.source[j] != Source::row) values[j] = memory + p.buffer[j] * p.stride;
    if (p.source[j] == Source::single) splat_bytes(const_cast<void*>(values[j]), p.in[j], p.item(j), p.tile);
    if (p.source[j] == Source::pattern) {
      size_t row = static_cast<size_t>(p.inner) * p.item(j);
      for (int64_t r = 0; r < p.tile / p.inner; r++)
        std::memcpy(static_cast<char*>(const_cast<void*>(values[j])) + r * row, p.in[j], row);
    }
  }
}

// The addresses that change from tile to tile. Returns the outputs that leave without going through the tile.
inline unsigned bind_tile(const Plan& p, char* memory, const void** values, int64_t at, int64_t n) {
  const Program& code = *p.program;
  for (int j = 0; j < code.inputs; j++) {
    const char* from = p.in[j] + at * static_cast<int64_t>(p.item(j));
    if (p.source[j] == Source::in_place) values[j] = from;
    else if (p.source[j] == Source::copied) std::memcpy(const_cast<void*>(values[j]), from, static_cast<size_t>(n) * p.item(j));
  }
  unsigned streamed = 0;
  for (int k = 0; k < code.outputs; k++) {
    if (!p.direct[k] && !p.streamed[k]) continue;
    const int v = code.results[k];
    char* to = p.out[k] + at * static_cast<int64_t>(p.item(v));
    if (p.direct[k]) {
      values[v] = to;
    } else if ((p.may_stream >> k & 1) && reinterpret_cast<uintptr_t>(to) % kVectorBytes == 0) {
      values[v] = to;
      streamed |= 1u << k;
    } else {
      values[v] = memory + code.code[v - code.inputs].slot * p.stride;
    }
  }
  return streamed;
}

inline void run_tile(const Plan& p, const void** values, int64_t at, int64_t n, unsigned streamed) {
  p.code.run(values, n, streamed);
  const Program& code = *p.program;
  for (int k = 0; k < code.outputs; k++) {
    if (p.direct[k] || (streamed >> k & 1)) continue;
    size_t item = p.item(code.results[k]);
    char* to = p.out[k] + at * static_cast<int64_t>(item);
    const void* from = values[code.results[k]];
    if (p.streamed[k]) stream(to, from, static_cast<size_t>(n) * item);
    else if (to != from) std::memmove(to, from, static_cast<size_t>(n) * item);
  }
}

// How many elements from `at` to the next tile, so that tiles begin where streaming stores may.
inline int64_t first_tile(const Plan& p, int64_t at) {
  for (int k = 0; k < p.program->outputs; k++) {
    if (!p.streamed[k] || !(p.may_stream >> k & 1)) continue;
    int64_t past = static_cast<int64_t>((reinterpret_cast<uintptr_t>(p.out[k]) / 4 + static_cast<uintptr_t>(at)) % kF32);
    return p.tile - past;
  }
  return p.tile;
}

// Asks for what the tile at `at` reads: the processor would only ask once the tile before is done.
inline void prefetch_tile(const Plan& p, int64_t at, int64_t end) {
  const int64_t n = end - at < p.tile ? end - at : p.tile;
  for (int j = 0; j < p.program->inputs; j++) {
    if (p.source[j] != Source::in_place) continue;
    const int64_t item = static_cast<int64_t>(p.item(j));
    const char* from = p.in[j] + at * item;
    for (int64_t b = 0; b < n * item; b += 64) __builtin_prefetch(from + b);
  }
}

// All inputs have the outputs' size, or one element.
void run_flat(const Plan& p) {
  // What leaves by streaming stores goes faster in small chunks: 10 million additions take 3.0 ms, and 5.0 ms in large ones.
  const int64_t few = p.streams ? 0 : few_chunks(p.size) / kMaxTile * kMaxTile;
  const int64_t grain = grain_for(p.code.cost) * (p.streams ? 8 : 1);
  parallel_for(p.size, max64(few, grain), [&p](int64_t begin, int64_t end) {
    const void* values[kMaxProgramValues];
    char* memory = static_cast<char*>(scratch(0, p.buffers * p.stride));
    bind(p, memory, values);
    for (int64_t at = begin, n = first_tile(p, begin); at < end; at += n, n = p.tile) {
      if (n > end - at) n = end - at;
      const unsigned streamed = bind_tile(p, memory, values, at, n);
      if (p.streams) prefetch_tile(p, at + n, end);
      run_tile(p, values, at, n, streamed);
    }
    if (p.streams) stream_end();
  });
}

// The first element of an input that a row reads.
inline int64_t row_offset(const Plan& p, int input, int64_t row) {
  int64_t offset = 0;
  for (int d = p.outer - 1; d > 0 && row > 0; d--) {
    offset += row % p.dims[d] * p.strides[input][d];
    row /= p.dims[d];
  }
  return offset + row * p.strides[input][0];
}

// One element a row, into rows of so few elements that a loop over each costs more than they do.
template <int inner, class T> inline void repeat_elements(const T* x, int64_t stride, int64_t count, T* y) {
  for (int64_t r = 0; r < count; r++) {
    T v = x[r * stride];
    for (int i = 0; i < inner; i++) y[r * inner + i] = v;
  }
}

template <class T> void gather_rows(const Plan& p, int input, int64_t row, int64_t count, void* to) {
  const T* x = reinterpret_cast<const T*>(p.in[input]);
  T* y = static_cast<T*>(to);
  const int64_t* strides = p.strides[input];
  int64_t index[kMaxRank], offset = 0, rest = row;
  for (int d = p.outer - 1; d >= 0; d--) {
    index[d] = rest % p.dims[d];
    rest /= p.dims[d];
    offset += index[d] * strides[d];
  }
  int64_t inner = p.inner, step = p.inner_stride[input];
  if (p.outer == 1 && step == 0 && inner <= 4) {
    if (inner == 2) repeat_elements<2>(x + offset, strides[0], count, y);
    else if (inner == 3) repeat_elements<3>(x + offset, strides[0], count, y);
    else repeat_elements<4>(x + offset, strides[0], count, y);
    return;
  }
  for (int64_t r = 0; r < count; r++, y += inner) {
    if (step == 0) {
      T v = x[offset];
      for (int64_t i = 0; i < inner; i++) y[i] = v;
    } else {
      for (int64_t i = 0; i < inner; i++) y[i] = x[offset + i];
    }
    for (int d = p.outer - 1; d >= 0; d--) {
      offset += strides[d];
      if (++index[d] < p.dims[d]) break;
      offset -= strides[d] * p.dims[d];
      index[d] = 0;
    }
  }
}

void run_short_rows(const Plan& p) {
  const Program& code = *p.program;
  int64_t tile_rows = p.tile / p.inner, row_count = p.size / p.inner;
  int64_t grain = grain_for(p.code.cost + 5) / p.inner / tile_rows * tile_rows;
  parallel_for(row_count, grain < tile_rows ? tile_rows : grain, [&](int64_t begin, int64_t end) {
    const void* values[kMaxProgramValues];
    char* memory = static_cast<char*>(scratch(0, p.buffers * p.stride));
    bind(p, memory, values);
    for (int64_t row = begin; row < end; row += tile_rows) {
      int64_t count = end - row < tile_rows ? end - row : tile_rows, at = row * p.inner, n = count * p.inner;
      const unsigned streamed = bind_tile(p, memory, values, at, n);
      for (int j = 0; j < code.inputs; j++) {
        if (p.source[j] != Source::gathered) continue;
        visit_size(code.input_dtypes[j],
                   [&](auto tag) { gather_rows<decltype(tag)>(p, j, row, count, const_cast<void*>(values[j])); });
      }
      run_tile(p, values, at, n, streamed);
    }
    if (p.streams) stream_end();
  });
}

void run_long_rows(const Plan& p) {
  const Program& code = *p.program;
  int64_t per_row = (p.inner + p.tile - 1) / p.tile;
  int64_t grain = grain_for(p.code.cost) / (p.inner < p.tile ? p.inner : p.tile);
  parallel_for(p.size / p.inner * per_row, grain < 1 ? 1 : grain, [&](int64_t begin, int64_t end) {
    const void* values[kMaxProgramValues];
    const char* row_start[kMaxProgramInputs];
    char* memory = static_cast<char*>(scratch(0, p.buffers * p.stride));
    bind(p, memory, values);
    int64_t last_row = -1;
    for (int64_t unit = begin; unit < end; unit++) {
      int64_t row = unit / per_row, column = unit % per_row * p.tile;
      int64_t n = p.inner - column < p.tile ? p.inner - column : p.tile, at = row * p.inner + column;
      if (row != last_row) {
        for (int j = 0; j < code.inputs; j++) {
          if (p.source[j] != Source::row && p.source[j] != Source::row_single) continue;
          const char* start = p.in[j] + row_offset(p, j, row) * static_cast<int64_t>(p.item(j));
          if (p.source[j] == Source::row_single && (last_row < 0 || start != row_start[j])) {
            splat_bytes(const_cast<void*>(values[j]), start, p.item(j), p.tile);
          }
          row_start[j] = start;
        }
        last_row = row;
      }
      const unsigned streamed = bind_tile(p, memory, values, at, n);
      for (int j = 0; j < code.inputs; j++) {
        if (p.source[j] == Source::row) values[j] = row_start[j] + column * static_cast<int64_t>(p.item(j));
      }
      run_tile(p, values, at, n, streamed);
    }
    if (p.streams) stream_end();
  });
}

// One instruction on rows in their place: without tiles, as there is nothing between.
void run_whole_rows(const Plan& p, const Instr& op) {
  const RowFn fn = row_function(op);
  int arg[3];
  for (int k = 0; k < 3; k++) arg[k] = op.args[k] < 0 ? op.args[0] : op.args[k];
  const int64_t piece = p.inner < kWholeRow ? p.inner : kWholeRow, per_row = (p.inner + piece - 1) / piece;
  const int64_t units = p.size / p.inner * per_row, out_item = static_cast<int64_t>(dtype_size(op.dtype));
  const int64_t grain = grain_for(p.code.cost) / piece;
  parallel_for(units, max64(few_chunks(units), max64(grain, 1)), [&](int64_t begin, int64_t end) {
    int64_t row = begin / per_row, column = begin % per_row * piece;
    for (int64_t unit = begin; unit < end; unit++) {
      const int64_t at = row * p.inner + column, n = min64(p.inner - column, piece);
      const char* from[kMaxProgramInputs];
      for (int j = 0; j < p.program->inputs; j++) {
        const int64_t first = p.source[j] == Source::row ? row_offset(p, j, row) + column : at;
        from[j] = p.in[j] + first * static_cast<int64_t>(p.item(j));
      }
      fn(from[arg[0]], from[arg[1]], from[arg[2]], p.out[0] + at * out_item, n);
      column += piece;
      if (column >= p.inner) row++, column = 0;
    }
  });
}

// Right-aligned strides (0 where an input repeats), neighbouring dimensions merged where every input agrees.
void collapse(Plan& p, const Tensor* inputs, const Tensor& y) {
  const Program& code = *p.program;
  int rank = 0;
  int64_t dims[kMaxRank], running[kMaxProgramInputs];
  for (int j = 0; j < code.inputs; j++) {
    running[j] = 1;
    if (inputs[j].rank > y.rank) fail(Code::internal, "input %d has rank %d, the output %d", j, inputs[j].rank, y.rank);
  }
  // Innermost first; turned around at the end.
  int64_t strides[kMaxProgramInputs][kMaxRank];
  for (int d = y.rank - 1; d >= 0; d--) {
    int64_t n = y.dims[d], next[kMaxProgramInputs];
    bool merge = rank > 0;
    for (int j = 0; j < code.inputs; j++) {
      int own = d - (y.rank - inputs[j].rank);
      int64_t m = own < 0 ? 1 : inputs[j].dims[own];
      if (m != n && m != 1) {
        fail(Code::internal, "input %d does not broadcast: %lld against %lld", j, static_cast<long long>(m),
             static_cast<long long>(n));
      }
      next[j] = m == 1 ? 0 : running[j];
      running[j] *= m;
      if (rank > 0 && next[j] != strides[j][rank - 1] * dims[rank - 1]) merge = false;
    }
    if (n == 1) continue;
    if (merge) {
      dims[rank - 1] *= n;
      continue;
    }
    for (int j = 0; j < code.inputs; j++) strides[j][rank] = next[j];
    dims[rank++] = n;
  }
  if (rank == 0) {
    for (int j = 0; j < code.inputs; j++) strides[j][0] = 0;
    dims[rank++] = 1;
  }
  p.inner = dims[0];
  p.outer = rank - 1;
  for (int j = 0; j < code.inputs; j++) {
    p.inner_stride[j] = strides[j][0];
    for (int d = 0; d < p.outer; d++) p.strides[j][d] = strides[j][rank - 1 - d];
  }
  for (int d = 0; d < p.outer; d++) p.dims[d] = dims[rank - 1 - d];
}

// One instruction whose operands are the inputs (in any order, perhaps one several times).
bool single_step(const Program& code) {
  if (code.instrs != 1 || code.outputs != 1 || code.results[0] != code.inputs) return false;
  return code.code[0].op != static_cast<int>(Op::constant);
}

// Whether memory is waited for rather than the processor. Some processors read and write faster there in two halves than in one
// vector of AVX-512: 10 million additions take 2.5 ms, and 3.0 ms in whole vectors.
[[maybe_unused]] bool waits_for_memory(const Program& code, int64_t size) {
  int64_t bytes = 0, cost = 0;
  for (int j = 0; j < code.inputs; j++) bytes += size * static_cast<int64_t>(dtype_size(code.input_dtypes[j]));
  for (int k = 0; k < code.outputs; k++) bytes += size * static_cast<int64_t>(dtype_size(code.dtype_of(code.results[k])));
  if (bytes < kCacheBytes) return false;
  for (int i = 0; i < code.instrs; i++) {
    if (code.code[i].op != static_cast<int>(Op::constant)) cost += cost_of(code.code[i]);
  }
  return cost <= 2;
}

}  // namespace

void elementwise(Args& a) {
  [[maybe_unused]] Args whole = a;
  Tensor inputs[kMaxProgramInputs], outputs[kMaxProgramOutputs];
  if (a.inputs() > kMaxProgramInputs || a.outputs() > kMaxProgramOutputs) {
    fail(Code::unimplemented, "a scalar program of %d inputs and %d outputs", a.inputs(), a.outputs());
  }
  for (int j = 0; j < a.inputs(); j++) inputs[j] = a.tensor();
  for (int k = 0; k < a.outputs(); k++) outputs[k] = a.tensor();
  Plan p;
  const Program& code = program(static_cast<int>(a.integer()));
  if (code.inputs != a.inputs() || code.outputs != a.outputs())
    fail(Code::internal, "a scalar program of other inputs or outputs");
  p.program = &code;
  p.size = outputs[0].size;
#if defined(__AVX512F__)
  if (waits_for_memory(code, p.size)) return avx2::elementwise(whole);
#endif
  for (int k = 0; k < code.outputs; k++) {
    if (outputs[k].size != p.size || outputs[k].dtype != code.dtype_of(code.results[k])) {
      fail(Code::internal, "output %d differs from the program's", k);
    }
    p.out[k] = outputs[k].as<char>();
  }
  for (int j = 0; j < code.inputs; j++) {
    if (inputs[j].dtype != code.input_dtypes[j]) fail(Code::internal, "input %d has another dtype than the program's", j);
    p.in[j] = inputs[j].as<char>();
  }
  if (p.size == 0) return;
  collapse(p, inputs, outputs[0]);
  prepare_code(p);
  bool short_rows = p.outer > 0 && p.inner < kShortRow;
  for (int j = 0; j < code.inputs; j++) {
    if (inputs[j].size == p.size) {
      bool copy = overwritten(p, j, p.size * static_cast<int64_t>(p.item(j)));
      p.source[j] = copy ? Source::copied : Source::in_place;
    } else if (inputs[j].size == 1) {
      p.source[j] = Source::single;
    } else if (!short_rows) {
      p.source[j] = p.inner_stride[j] == 0 ? Source::row_single : Source::row;
    } else {
      p.source[j] = p.inner_stride[j] != 0 && inputs[j].size == p.inner ? Source::pattern : Source::gathered;
    }
  }
  prepare_buffers(p, short_rows);
  bool in_place = single_step(code) && !p.streams;
  for (int j = 0; j < code.inputs; j++) in_place = in_place && (p.source[j] == Source::in_place || p.source[j] == Source::row);
  if (p.outer == 0) run_flat(p);
  else if (in_place) run_whole_rows(p, code.code[0]);
  else if (short_rows) run_short_rows(p);
  else run_long_rows(p);
}

namespace {

inline void* address(Args& a) { return reinterpret_cast<void*>(static_cast<uintptr_t>(a.number())); }

// Copies few bytes, most often those of one number.
inline void copy_few(void* to, const void* from, size_t bytes) {
  if (bytes == 4) std::memcpy(to, from, 4);
  else if (bytes == 1) std::memcpy(to, from, 1);
  else if (bytes == 8) std::memcpy(to, from, 8);
  else std::memmove(to, from, bytes);
}

// One tile, on this thread: what a call of few elements costs is getting ready. Several outputs leave when all are made, since one may
// lie where another instruction still reads.
bool run_small(const Program& code, Args& a, int64_t size) {
  const bool several = code.outputs > 1;
  // Inputs that are outputs as well are kept beside the results, which may be narrower.
  const int64_t stride = (size * (several ? 8 : code.slot_bytes) + 63) / 64 * 64;
  const int64_t bytes = stride * (code.slots + (several ? code.outputs : 0));
  if (size > kMaxTile || bytes > kTileBytes) return false;
  const void* values[kMaxProgramValues];
  void* out[kMaxProgramOutputs];
  for (int j = 0; j < code.inputs; j++) values[j] = address(a);
  for (int k = 0; k < code.outputs; k++) out[k] = address(a);
  // To find a thread's own memory takes as long as to add two numbers.
  alignas(64) char few[2048];
  char* memory = bytes <= static_cast<int64_t>(sizeof few) ? few : static_cast<char*>(scratch(0, bytes));
  for (int i = 0; i < code.instrs; i++) {
    const Instr& in = code.code[i];
    if (in.slot < 0) continue;
    void* at = memory + in.slot * stride;
    values[code.inputs + i] = at;
    if (in.op == static_cast<int>(Op::constant)) fill_constant(at, in, size);
  }
  const int first = code.results[0];
  const bool direct = !several && first >= code.inputs && code.code[first - code.inputs].op != static_cast<int>(Op::constant);
  if (direct) values[first] = out[0];
  ProgramTile tile;
  tile.program = &code;
  prepare_tile(tile);
  tile.run(values, size);
  if (direct) return true;
  const void* from[kMaxProgramOutputs];
  for (int k = 0; k < code.outputs; k++) {
    const int v = code.results[k];
    from[k] = values[v];
    if (!several || v >= code.inputs) continue;
    char* kept = memory + (code.slots + k) * stride;
    copy_few(kept, values[v], static_cast<size_t>(size) * dtype_size(code.dtype_of(v)));
    from[k] = kept;
  }
  for (int k = 0; k < code.outputs; k++)
    copy_few(out[k], from[k], static_cast<size_t>(size) * dtype_size(code.dtype_of(code.results[k])));
  return true;
}

}  // namespace

void elementwise_flat(Args& a) {
  [[maybe_unused]] Args whole = a;
  int n_in = a.inputs(), n_out = a.outputs();
  const Program& code = program(static_cast<int>(a.integer()));
  if (code.inputs != n_in || code.outputs != n_out) fail(Code::internal, "a scalar program of other inputs or outputs");
  int64_t size = a.integer();
#if defined(__AVX512F__)
  if (waits_for_memory(code, size)) return avx2::elementwise_flat(whole);
#endif
  int64_t out_bytes = size * static_cast<int64_t>(dtype_size(code.dtype_of(code.results[0])));
  if (single_step(code) && out_bytes < kStreamBytes) {
    const char* in[kMaxProgramInputs];
    for (int j = 0; j < n_in; j++) in[j] = static_cast<char*>(address(a));
    char* out = static_cast<char*>(address(a));
    const Instr& op = code.code[0];
    RowFn fn = row_function(op);
    int arg[3] = {op.args[0], op.args[1] < 0 ? op.args[0] : op.args[1], op.args[2] < 0 ? op.args[0] : op.args[2]};
    int64_t grain = grain_for(cost_of(op));
    if (size <= grain) {
      fn(in[arg[0]], in[arg[1]], in[arg[2]], out, size);
      return;
    }
    int64_t item[3], out_item = static_cast<int64_t>(dtype_size(op.dtype));
    for (int k = 0; k < 3; k++) item[k] = static_cast<int64_t>(dtype_size(code.input_dtypes[arg[k]]));
    parallel_for(size, grain, [&](int64_t b, int64_t e) {
      fn(in[arg[0]] + b * item[0], in[arg[1]] + b * item[1], in[arg[2]] + b * item[2], out + b * out_item, e - b);
    });
    return;
  }
  if (run_small(code, a, size)) return;
  Plan p;
  p.program = &code;
  p.size = size;
  for (int j = 0; j < n_in; j++) p.in[j] = static_cast<char*>(address(a));
  for (int k = 0; k < n_out; k++) p.out[k] = static_cast<char*>(address(a));
  if (size <= 0) return;
  prepare_code(p);
  for (int j = 0; j < n_in; j++) {
    p.source[j] = overwritten(p, j, size * static_cast<int64_t>(p.item(j))) ? Source::copied : Source::in_place;
  }
  prepare_buffers(p, false);
  run_flat(p);
}

void register_elementwise(Registry& r) {
  fill_row_functions();
#if defined(__AVX512F__)
  avx2::fill_row_functions();
#endif
  r.add("Elementwise", elementwise);
  r.add("ElementwiseFlat", elementwise_flat, single_program);
}
EAGRE_END
