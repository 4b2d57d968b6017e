// MapReduce: a scalar program whose results are reduced while their tile is in the first-level cache, and never stored unless asked for.
//
// Runs are cut into the pieces of reduce.cc and reduced by its code, so that the bits are those of the program and then the reduction,
// for any number of threads.
#include <cstring>

#include "program_tile.h"
#include "reducers.h"
#include "stream.h"

EAGRE_BEGIN
namespace {

// Tiles are multiples of every reducer's block.
constexpr int64_t kMinTile = 512;
constexpr int64_t kRunBytes = 384;

// One reduction behind a type: `run` points to a Run<R>, `total` to an R::Total.
struct Reduction {
  void (*clear)(void* run);
  void (*add)(void* run, const void* x, int64_t n);
  void (*end)(void* run, const void* x, int64_t n, void* total);
  // Runs of `width` elements, one behind the other, into y[at] and so on.
  void (*many)(const void* x, int64_t width, int64_t count, void* y, int64_t at);
  void (*combine)(void* total, const void* next);
  void (*store)(const void* total, int64_t width, void* y, int64_t at);
};

template <class Y, bool mean, class Total> inline Y finished(Total total, int64_t width) {
  if constexpr (mean) total /= static_cast<Total>(width);
  return static_cast<Y>(total);
}

template <class R, class Y, bool mean> const Reduction* reduction_of() {
  using T = typename R::Element;
  using Total = typename R::Total;
  static_assert(sizeof(Run<R>) <= kRunBytes && sizeof(Total) <= 8 && kMinTile % Run<R>::kBlock == 0);
  static constexpr Reduction reduction = {
      [](void* run) { *static_cast<Run<R>*>(run) = Run<R>(); },
      [](void* run, const void* x, int64_t n) { static_cast<Run<R>*>(run)->add(static_cast<const T*>(x), n); },
      [](void* run, const void* x, int64_t n, void* total) {
        *static_cast<Total*>(total) = static_cast<Run<R>*>(run)->end(static_cast<const T*>(x), n);
      },
      [](const void* x, int64_t width, int64_t count, void* y, int64_t at) {
        const T* from = static_cast<const T*>(x);
        Y* to = static_cast<Y*>(y) + at;
        for (int64_t i = 0; i < count; i++, from += width) to[i] = finished<Y, mean>(reduce_run<R>(from, width), width);
      },
      [](void* total, const void* next) {
        *static_cast<Total*>(total) = R::combine(*static_cast<Total*>(total), *static_cast<const Total*>(next));
      },
      [](const void* total, int64_t width, void* y, int64_t at) {
        static_cast<Y*>(y)[at] = finished<Y, mean>(*static_cast<const Total*>(total), width);
      }};
  return &reduction;
}

template <template <class> class R> const Reduction* numeric(DType t) {
  switch (t) {
#define X(name, type) case DType::name: return reduction_of<R<MadeFor<R, type>>, MadeFor<R, type>, false>();
    EAGRE_NUMBERS(X)
#undef X
    default: return nullptr;
  }
}

// By the contract's numbers; null where there is none.
const Reduction* find_reduction(int kind, DType t) {
  switch (kind) {
    case 1: return numeric<SumOf>(t);
    case 2:
      if (t == DType::f32) return reduction_of<SumOf<float>, float, true>();
      return t == DType::f64 ? reduction_of<SumOf<double>, double, true>() : nullptr;
    case 3: return numeric<ProdOf>(t);
    case 4: return numeric<MaxOf>(t);
    case 5: return numeric<MinOf>(t);
    case 6: return t == DType::boolean ? reduction_of<AllOf, uint8_t, false>() : nullptr;
    case 7: return t == DType::boolean ? reduction_of<AnyOf, uint8_t, false>() : nullptr;
    default: return nullptr;
  }
}

// An input as the mapped shape sees it: axes innermost first, merged where it has both or repeats over both (stride 0).
struct Source {
  const char* data;
  int64_t item;
  int rank;
  int64_t dims[kMaxRank], strides[kMaxRank];
  int buffer;  // the tile buffer, or -1 where every element is read in its place

  bool single() const { return rank == 1 && strides[0] == 0; }
  int64_t position(int64_t at) const {
    int64_t r = 0;
    for (int d = 0; d < rank - 1; d++) {
      r += at % dims[d] * strides[d];
      at /= dims[d];
    }
    return r + at * strides[rank - 1];
  }
};

struct Output {
  char* data;
  int value;    // of the program
  int64_t item;
  bool direct;  // its instruction writes straight into the output
  bool streamed;
};

struct Reduced {
  const Reduction* how;
  char* data;
  int value;
};

// A call, ready to run on any thread.
struct Job {
  ProgramTile code;
  int64_t size, width, tile, stride;
  int sources, outputs, reduced, buffers;
  bool streams;
  Source source[kMaxProgramInputs];
  Output output[kMaxProgramOutputs];
  Reduced reduce[kMaxProgramOutputs];
};

// One thread's view of a job: tile after tile.
class Tiles {
 public:
  explicit Tiles(const Job& job) : job_(job), memory_(static_cast<char*>(scratch(0, job.buffers * job.stride))) {
    const Program& program = *job.code.program;
    for (int i = 0; i < program.instrs; i++) {
      const Instr& in = program.code[i];
      if (in.slot < 0) continue;
      char* at = memory_ + in.slot * job.stride;
      values_[program.inputs + i] = at;
      if (in.op == static_cast<int>(Op::constant)) fill_constant(at, in, job.tile);
    }
    for (int j = 0; j < job.sources; j++) {
      held_[j] = -1;
      if (job.source[j].single()) values_[j] = splatted(j, 0);
    }
  }

  // Elements [at, at + n) of the mapped shape, n at most a tile.
  void run(int64_t at, int64_t n) {
    for (int j = 0; j < job_.sources; j++) bind(j, at, n);
    for (int k = 0; k < job_.outputs; k++) {
      const Output& o = job_.output[k];
      if (o.direct) values_[o.value] = o.data + at * o.item;
    }
    job_.code.run(values_, n);
    for (int k = 0; k < job_.outputs; k++) {
      const Output& o = job_.output[k];
      if (o.direct) continue;
      char* to = o.data + at * o.item;
      if (o.streamed) stream(to, values_[o.value], static_cast<size_t>(n * o.item));
      else std::memcpy(to, values_[o.value], static_cast<size_t>(n * o.item));
    }
  }

  // What reduction k reduces of the tile.
  const void* result(int k) const { return values_[job_.reduce[k].value]; }

  // The totals of elements [at, at + n), which are one run or a piece of it.
  void reduce(int64_t at, int64_t n, uint64_t* totals) {
    for (int k = 0; k < job_.reduced; k++) job_.reduce[k].how->clear(runs_[k]);
    for (; n > job_.tile; at += job_.tile, n -= job_.tile) {
      run(at, job_.tile);
      for (int k = 0; k < job_.reduced; k++) job_.reduce[k].how->add(runs_[k], result(k), job_.tile);
    }
    run(at, n);
    for (int k = 0; k < job_.reduced; k++) job_.reduce[k].how->end(runs_[k], result(k), n, totals + k);
  }

  // Runs [begin, end), several a tile where they are short.
  void reduce_runs(int64_t begin, int64_t end) {
    const int64_t width = job_.width, together = job_.tile / width;
    if (together < 2) {
      uint64_t totals[kMaxProgramOutputs];
      for (int64_t i = begin; i < end; i++) {
        reduce(i * width, width, totals);
        store(totals, i);
      }
      return;
    }
    for (int64_t i = begin; i < end; i += together) {
      const int64_t count = end - i < together ? end - i : together;
      run(i * width, count * width);
      for (int k = 0; k < job_.reduced; k++) {
        const Reduced& r = job_.reduce[k];
        r.how->many(result(k), width, count, r.data, i);
      }
    }
  }

  void store(const uint64_t* totals, int64_t at) const {
    for (int k = 0; k < job_.reduced; k++) job_.reduce[k].how->store(totals + k, job_.width, job_.reduce[k].data, at);
  }

 private:
  // A tile of the input's element at `position`.
  char* splatted(int j, int64_t position) {
    const Source& s = job_.source[j];
    char* to = memory_ + s.buffer * job_.stride;
    if (held_[j] != position) splat_bytes(to, s.data + position * s.item, s.item, job_.tile);
    held_[j] = position;
    return to;
  }

  void bind(int j, int64_t at, int64_t n) {
    const Source& s = job_.source[j];
    if (s.buffer < 0) {
      values_[j] = s.data + at * s.item;
      return;
    }
    if (s.single()) return;
    const int64_t inner = s.dims[0];
    int64_t offset = at % inner;
    if (offset + n <= inner) {
      const int64_t position = s.position(at);
      values_[j] = s.strides[0] == 0 ? splatted(j, position) : s.data + position * s.item;
      return;
    }
    char* to = memory_ + s.buffer * job_.stride;
    values_[j] = to;
    held_[j] = -1;
    for (int64_t done = 0; done < n; offset = 0) {
      const int64_t count = inner - offset < n - done ? inner - offset : n - done;
      const char* from = s.data + s.position(at + done) * s.item;
      if (s.strides[0] == 0) splat_bytes(to + done * s.item, from, s.item, count);
      else std::memcpy(to + done * s.item, from, static_cast<size_t>(count * s.item));
      done += count;
    }
  }

  const Job& job_;
  char* memory_;
  const void* values_[kMaxProgramValues];
  int64_t held_[kMaxProgramInputs];
  alignas(64) char runs_[kMaxProgramOutputs][kRunBytes];
};

void run_job(const Job& job) {
  const int64_t runs = job.size / job.width, pieces = (job.width + kPiece - 1) / kPiece;
  const int64_t grain = (int64_t{1} << 17) / (4 + job.code.cost);
  if (pieces == 1) {
    parallel_for(runs, grain / job.width + 1, [&](int64_t b, int64_t e) {
      Tiles tiles(job);
      tiles.reduce_runs(b, e);
      if (job.streams) stream_end();
    });
    return;
  }
  const int count = job.reduced;
  uint64_t* totals = static_cast<uint64_t*>(scratch(1, runs * pieces * count * static_cast<int64_t>(sizeof(uint64_t))));
  parallel_for(runs * pieces, grain / kPiece + 1, [&](int64_t b, int64_t e) {
    Tiles tiles(job);
    for (int64_t i = b; i < e; i++) {
      const int64_t begin = i % pieces * kPiece, n = job.width - begin < kPiece ? job.width - begin : kPiece;
      tiles.reduce(i / pieces * job.width + begin, n, totals + i * count);
    }
    if (job.streams) stream_end();
  });
  for (int64_t i = 0; i < runs; i++) {
    uint64_t* first = totals + i * pieces * count;
    for (int k = 0; k < count; k++) {
      const Reduced& r = job.reduce[k];
      for (int64_t p = 1; p < pieces; p++) r.how->combine(first + k, first + p * count + k);
      r.how->store(first + k, job.width, r.data, i);
    }
  }
}

Source source_of(const Tensor& x, const int64_t* dims, int rank, int input) {
  Source s;
  s.data = x.as<char>();
  s.item = static_cast<int64_t>(dtype_size(x.dtype));
  s.rank = 0;
  s.buffer = -1;
  if (x.rank > rank) fail(Code::internal, "input %d has rank %d, the mapped shape %d", input, x.rank, rank);
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; d--) {
    const int own = d - (rank - x.rank);
    const int64_t m = own < 0 ? 1 : x.dims[own];
    if (m != dims[d] && m != 1) {
      fail(Code::internal, "input %d does not broadcast: %lld against %lld", input, static_cast<long long>(m),
           static_cast<long long>(dims[d]));
    }
    if (dims[d] == 1) continue;
    const bool repeated = m == 1;
    if (s.rank > 0 && (s.strides[s.rank - 1] == 0) == repeated) {
      s.dims[s.rank - 1] *= dims[d];
    } else {
      s.dims[s.rank] = dims[d];
      s.strides[s.rank++] = repeated ? 0 : stride;
    }
    stride *= m;
  }
  if (s.rank == 0) s.rank = 1, s.dims[0] = 1, s.strides[0] = 1;
  return s;
}

void prepare_buffers(Job& job) {
  const Program& program = *job.code.program;
  job.buffers = program.slots;
  int64_t item = program.slot_bytes;
  for (int j = 0; j < job.sources; j++) {
    Source& s = job.source[j];
    if (s.rank == 1 && s.strides[0] != 0) continue;
    s.buffer = job.buffers++;
    if (s.item > item) item = s.item;
  }
  job.tile = kMaxTile;
  while (job.tile > kMinTile && job.tile * item * job.buffers > kTileBytes) job.tile /= 2;
  // An odd number of lines apart, so that buffers do not share their cache sets.
  job.stride = (job.tile * item / 64 | 1) * 64 + 128;
}

void map_reduce(Args& a) {
  if (a.inputs() > kMaxProgramInputs || a.outputs() > kMaxProgramOutputs)
    fail(Code::unimplemented, "a scalar program of %d inputs and %d outputs", a.inputs(), a.outputs());
  Tensor inputs[kMaxProgramInputs], outputs[kMaxProgramOutputs];
  for (int j = 0; j < a.inputs(); j++) inputs[j] = a.tensor();
  for (int k = 0; k < a.outputs(); k++) outputs[k] = a.tensor();
  int length = 0;
  const double* encoding = a.numbers(length);
  const Program& code = program(encoding, static_cast<size_t>(length));
  int64_t dims[kMaxRank], kinds[kMaxProgramOutputs];
  const int rank = a.list(dims, kMaxRank);
  Job job;
  job.width = a.integer();
  const int kind_count = a.list(kinds, kMaxProgramOutputs);
  if (code.inputs != a.inputs() || code.outputs != a.outputs() || kind_count != code.outputs)
    fail(Code::internal, "a scalar program of other inputs or outputs");
  job.size = 1;
  for (int d = 0; d < rank; d++) job.size *= dims[d];
  if (job.width < 1 || job.size % job.width != 0) {
    fail(Code::internal, "runs of %lld among %lld elements", static_cast<long long>(job.width), static_cast<long long>(job.size));
  }
  job.outputs = job.reduced = 0;
  job.streams = false;
  for (int k = 0; k < code.outputs; k++) {
    const int value = code.results[k];
    const DType t = code.dtype_of(value);
    const int64_t size = kinds[k] == 0 ? job.size : job.size / job.width, item = static_cast<int64_t>(dtype_size(t));
    if (outputs[k].size != size || outputs[k].dtype != t) fail(Code::internal, "output %d differs from the program's", k);
    if (kinds[k] != 0) {
      const Reduction* how = find_reduction(static_cast<int>(kinds[k]), t);
      if (!how) fail(Code::unimplemented, "no reduction %d of dtype %d", static_cast<int>(kinds[k]), static_cast<int>(t));
      job.reduce[job.reduced++] = {how, outputs[k].as<char>(), value};
      continue;
    }
    bool direct = value >= code.inputs && code.code[value - code.inputs].op != static_cast<int>(Op::constant);
    for (int m = 0; m < job.outputs; m++) direct &= job.output[m].value != value;
    const bool streamed = direct && size * item >= kStreamBytes;
    job.streams |= streamed;
    job.output[job.outputs++] = {outputs[k].as<char>(), value, item, direct && !streamed, streamed};
  }
  job.sources = code.inputs;
  for (int j = 0; j < code.inputs; j++) {
    if (inputs[j].dtype != code.input_dtypes[j]) fail(Code::internal, "input %d has another dtype than the program's", j);
    job.source[j] = source_of(inputs[j], dims, rank, j);
  }
  if (job.size == 0) return;
  job.code.program = &code;
  prepare_tile(job.code);
  prepare_buffers(job);
  run_job(job);
}

}  // namespace

void register_map_reduce(Registry& r) { r.add("MapReduce", map_reduce); }
EAGRE_END
