// Gather, GatherGrad, GatherNd, ScatterNd, SetRow, OneHot, Nonzero.
#include <cstdlib>
#include <new>

#include "stream.h"
#include "strided.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kAhead = 6, kAheadBytes = 512;  // how many rows ahead one is asked for, and how much of it

// Calls f with a typed pointer to the indices.
template <class F> void visit_indices(const Tensor& t, F&& f) {
  switch (t.dtype) {
    case DType::i32: f(t.as<const int32_t>()); break;
    case DType::i64: f(t.as<const int64_t>()); break;
    default: fail(Code::unimplemented, "indices must be int32 or int64");
  }
}

template <class I> void check_indices(const I* indices, int64_t count, int64_t n) {
  for (int64_t begin = 0; begin < count; begin += 4096) {
    int64_t end = begin + 4096 < count ? begin + 4096 : count;
    bool bad = false;
    for (int64_t i = begin; i < end; i++) bad |= (indices[i] < 0) | (static_cast<int64_t>(indices[i]) >= n);
    if (!bad) continue;
    for (int64_t i = begin; i < end; i++) {
      if (indices[i] < 0 || static_cast<int64_t>(indices[i]) >= n) {
        fail(Code::out_of_range, "indices[%lld] = %lld is not in [0, %lld)", ll(i), ll(indices[i]),
             ll(n));
      }
    }
  }
}

// Integers wrap, which is defined for unsigned ones alone.
template <class T> struct Wrapping { using type = T; };
template <> struct Wrapping<int32_t> { using type = uint32_t; };
template <> struct Wrapping<int64_t> { using type = uint64_t; };
template <class T> inline T add(T a, T b) {
  using U = typename Wrapping<T>::type;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}
template <class H> inline H add_halves(H a, H b) { return from_float<H>(to_float(a) + to_float(b)); }
template <> inline Half add(Half a, Half b) { return add_halves(a, b); }
template <> inline BFloat add(BFloat a, BFloat b) { return add_halves(a, b); }
template <class T> inline T subtract(T a, T b) {
  using U = typename Wrapping<T>::type;
  return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
}

// params [batch, outer, n, inner], indices [batch, count], the other [batch, outer, count, inner].
struct Shape {
  int64_t batch, outer, n, inner, count;
};

Shape gather_shape(const Tensor& params, const Tensor& indices, const Tensor& other, Args& a) {
  int64_t axis = a.integer(), batch_dims = a.integer();
  if (batch_dims < 0 || axis < batch_dims || axis >= params.rank || batch_dims > indices.rank) {
    fail(Code::internal, "axis %lld and batchDims %lld for params of rank %d", ll(axis),
         ll(batch_dims), params.rank);
  }
  const int at = static_cast<int>(axis), shared = static_cast<int>(batch_dims);
  Shape s;
  s.batch = product(params.dims, 0, shared);
  s.outer = product(params.dims, shared, at);
  s.n = params.dims[at];
  s.inner = product(params.dims, at + 1, params.rank);
  s.count = product(indices.dims, shared, indices.rank);
  const int64_t size = s.batch * s.outer * s.count * s.inner;
  if (indices.size != s.batch * s.count || other.size != size) fail(Code::internal, "sizes do not fit");
  return s;
}

void gather(Args& a) {
  Tensor params = a.tensor(), indices = a.tensor(), y = a.tensor();
  Shape s = gather_shape(params, indices, y, a);
  visit_indices(indices, [&](auto* index) {
    check_indices(index, indices.size, s.n);
    if (y.size == 0) return;
    visit_size(y.dtype, [&](auto tag) {
      using T = decltype(tag);
      const T* from = params.as<T>();
      T* to = y.as<T>();
      const int64_t bytes = s.inner * static_cast<int64_t>(sizeof(T));
      if (s.inner == y.size) {
        // A single row.
        copy_bytes(to, from + static_cast<int64_t>(*index) * s.inner, bytes);
        return;
      }
      const bool lines = bytes % 64 == 0 && reinterpret_cast<uintptr_t>(to) % 64 == 0;
      const bool streams = lines && y.size * static_cast<int64_t>(sizeof(T)) >= kStreamBytes;
      parallel_rows(s.batch * s.outer * s.count, bytes, [&](int64_t b, int64_t e) {
        while (b < e) {
          // The rows of one plane of params.
          int64_t plane = b / s.count, i = b % s.count;
          int64_t end = s.count - i < e - b ? s.count : i + (e - b);
          const auto* at = index + plane / s.outer * s.count;
          const T* rows = from + plane * s.n * s.inner;
          T* out = to + plane * s.count * s.inner;
          b += end - i;
          if (s.inner == 1) {
            for (; i < end; i++) out[i] = rows[at[i]];
            continue;
          }
          for (; i < end && bytes < 64; i++) copy_bytes(out + i * s.inner, rows + static_cast<int64_t>(at[i]) * s.inner, bytes);
          for (; i < end; i++) {
            // Rows lie anywhere: they are asked for before their turn.
            const char* ahead = reinterpret_cast<const char*>(rows + static_cast<int64_t>(at[min64(i + kAhead, end - 1)]) * s.inner);
            for (int64_t k = 0; k < min64(bytes, kAheadBytes); k += 64) __builtin_prefetch(ahead + k);
            const T* row = rows + static_cast<int64_t>(at[i]) * s.inner;
            if (streams) stream(out + i * s.inner, row, static_cast<size_t>(bytes));
            else copy_bytes(out + i * s.inner, row, bytes);
          }
        }
        if (streams) stream_end();
      });
    });
  });
}

// Reads one row by one index.
struct RowLoad : Shortcut {
  int64_t n, bytes;
  int index_at, y_at;  // where their addresses stand
};
inline char* address(double value) { return reinterpret_cast<char*>(static_cast<intptr_t>(value)); }

template <class I> [[gnu::always_inline]] inline int64_t checked_index(const RowLoad& s, const double* block) {
  const I* index = reinterpret_cast<const I*>(address(block[s.index_at]));
  const I at = *index;
  if (at < 0 || static_cast<int64_t>(at) >= s.n) check_indices(index, 1, s.n);
  return static_cast<int64_t>(at);
}

template <class I> void load_row(Shortcut* shortcut, const double* block) {
  const RowLoad& s = *static_cast<const RowLoad*>(shortcut);
  const int64_t at = checked_index<I>(s, block);
  copy_bytes(address(block[s.y_at]), address(block[2]) + at * s.bytes, s.bytes);
}

// A single number, as loops over values have it: what comes next waits for it.
template <class I, class T> void load_number(Shortcut* shortcut, const double* block) {
  const RowLoad& s = *static_cast<const RowLoad*>(shortcut);
  const int64_t at = checked_index<I>(s, block);
  std::memcpy(address(block[s.y_at]), address(block[2]) + at * static_cast<int64_t>(sizeof(T)), sizeof(T));
}

using RunShortcut = void (*)(Shortcut*, const double*);
template <class I> RunShortcut load_of(int64_t bytes) {
  switch (bytes) {
    case 1: return load_number<I, uint8_t>;
    case 2: return load_number<I, uint16_t>;
    case 4: return load_number<I, uint32_t>;
    case 8: return load_number<I, uint64_t>;
    default: return load_row<I>;
  }
}

Shortcut* gather_shortcut(Args& a) {
  const Tensor params = a.tensor(), indices = a.tensor(), y = a.tensor();
  const Shape shape = gather_shape(params, indices, y, a);
  if (shape.batch != 1 || shape.outer != 1 || shape.count != 1 || y.size == 0) return nullptr;
  if (indices.dtype != DType::i32 && indices.dtype != DType::i64) return nullptr;
  void* memory = std::malloc(sizeof(RowLoad));
  if (!memory) return nullptr;
  RowLoad* s = new (memory) RowLoad{};
  s->n = shape.n;
  s->bytes = shape.inner * static_cast<int64_t>(dtype_size(y.dtype));
  s->run = indices.dtype == DType::i32 ? load_of<int32_t>(s->bytes) : load_of<int64_t>(s->bytes);
  s->index_at = 2 + 3 + params.rank;
  s->y_at = s->index_at + 3 + indices.rank;
  return s;
}

// Adds rows of so many elements where their indices say: a loop over these would take longer than what it adds.
template <int inner, class T, class I>
void add_short_rows(const I* at, int64_t count, int64_t low, int64_t high, const T* rows, T* out) {
  for (int64_t i = 0; i < count; i++) {
    const int64_t row = at[i];
    if (row < low || row >= high) continue;
    T* sum = out + row * inner;
    for (int k = 0; k < inner; k++) sum[k] = add(sum[k], rows[i * inner + k]);
  }
}

void gather_grad(Args& a) {
  Tensor dy = a.tensor(), indices = a.tensor(), dparams = a.tensor();
  Shape s = gather_shape(dparams, indices, dy, a);
  if (dy.dtype == DType::boolean) fail(Code::unimplemented, "a sum of bool");
  visit_indices(indices, [&](auto* index) {
    check_indices(index, indices.size, s.n);
    if (dparams.size == 0) return;
    visit(dparams.dtype, [&](auto tag) {
      using T = decltype(tag);
      const T* from = dy.as<T>();
      T* to = dparams.as<T>();
      // Each chunk owns some rows of dparams, and adds to them in the order of the indices, so the result is the same for any
      // number of chunks. As every chunk reads all indices of its plane, there are no more than threads.
      const int64_t planes = s.batch * s.outer, threads = thread_count();
      const int64_t work = (s.n + 2 * s.count) * s.inner * static_cast<int64_t>(sizeof(T));
      int64_t parts = planes >= threads ? 1 : work / kMoveBytes;
      parts = parts < 1 ? 1 : parts > threads ? threads : parts;
      const int64_t part = (s.n + parts - 1) / parts;
      parts = (s.n + part - 1) / part;
      parallel_rows(planes * parts, work / parts, [&](int64_t b, int64_t e) {
        for (int64_t unit = b; unit < e; unit++) {
          const int64_t plane = unit / parts, low = unit % parts * part, high = low + part < s.n ? low + part : s.n;
          const auto* at = index + plane / s.outer * s.count;
          const T* rows = from + plane * s.count * s.inner;
          T* out = to + plane * s.n * s.inner;
          std::memset(out + low * s.inner, 0, static_cast<size_t>((high - low) * s.inner) * sizeof(T));
          if (s.inner == 1) {
            // Without a branch, which could not be predicted; what others own goes nowhere.
            T nowhere[16] = {};
            for (int64_t i = 0; i < s.count; i++) {
              T* sum = at[i] >= low && at[i] < high ? out + at[i] : nowhere + i % 16;
              *sum = add(*sum, rows[i]);
            }
            continue;
          }
          if (s.inner <= 4) {
            if (s.inner == 2) add_short_rows<2>(at, s.count, low, high, rows, out);
            else if (s.inner == 3) add_short_rows<3>(at, s.count, low, high, rows, out);
            else add_short_rows<4>(at, s.count, low, high, rows, out);
            continue;
          }
          for (int64_t i = 0; i < s.count; i++) {
            const int64_t row = at[i];
            if (row < low || row >= high) continue;
            T* sum = out + row * s.inner;
            const T* row_dy = rows + i * s.inner;
            for (int64_t k = 0; k < s.inner; k++) sum[k] = add(sum[k], row_dy[k]);
          }
        }
      });
    });
  });
}

// Indices [count, depth] into the first `depth` axes of dims; `inner` elements stay together.
struct Tuples {
  int64_t count, depth, inner;
  int64_t dims[kMaxRank], strides[kMaxRank];
};

Tuples tuples(const Tensor& whole, const Tensor& indices, const Tensor& slices) {
  Tuples t;
  if (indices.rank < 1) fail(Code::internal, "indices must have a last axis");
  t.depth = indices.dims[indices.rank - 1];
  if (t.depth > whole.rank) fail(Code::internal, "%lld indices for rank %d", ll(t.depth), whole.rank);
  t.count = product(indices.dims, 0, indices.rank - 1);
  t.inner = product(whole.dims, static_cast<int>(t.depth), whole.rank);
  if (slices.size != t.count * t.inner) fail(Code::internal, "sizes do not fit");
  int64_t stride = 1;
  for (int64_t i = t.depth - 1; i >= 0; i--) {
    t.dims[i] = whole.dims[i];
    t.strides[i] = stride;
    stride *= whole.dims[i];
  }
  return t;
}

// Row numbers of all tuples, checked, in scratch memory.
template <class I> const int64_t* tuple_rows(const Tuples& t, const I* indices) {
  if (t.depth == 0 && t.inner == 0) return nullptr;  // nothing to move, however many
  auto* rows = static_cast<int64_t*>(scratch(0, t.count * 8));
  for (int64_t i = 0; i < t.count; i++) {
    int64_t row = 0;
    for (int64_t k = 0; k < t.depth; k++) {
      int64_t at = indices[i * t.depth + k];
      if (at < 0 || at >= t.dims[k]) {
        fail(Code::out_of_range, "index %lld of tuple %lld is not in [0, %lld)", ll(at), ll(i),
             ll(t.dims[k]));
      }
      row += at * t.strides[k];
    }
    rows[i] = row;
  }
  return rows;
}

void gather_nd(Args& a) {
  Tensor params = a.tensor(), indices = a.tensor(), y = a.tensor();
  Tuples t = tuples(params, indices, y);
  visit_indices(indices, [&](auto* index) {
    const int64_t* rows = tuple_rows(t, index);
    if (y.size == 0) return;
    visit_size(y.dtype, [&](auto tag) {
      using T = decltype(tag);
      const T* from = params.as<T>();
      T* to = y.as<T>();
      const int64_t bytes = t.inner * static_cast<int64_t>(sizeof(T));
      parallel_rows(t.count, bytes, [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; i++) copy_bytes(to + i * t.inner, from + rows[i] * t.inner, bytes);
      });
    });
  });
}

// max and min keep a NaN of either side, as the scalar operations do.
template <class T> inline T larger(T a, T b) { return a > b || a != a ? a : b; }
template <class T> inline T smaller(T a, T b) { return a < b || a != a ? a : b; }

template <class T, class F> void combine(const Tuples& t, const int64_t* rows, const T* updates, T* y, F f) {
  // Long slices are cut into columns, so that the order of updates stays in every chunk.
  parallel_for(t.inner, 16384, [&](int64_t b, int64_t e) {
    for (int64_t i = 0; i < t.count; i++) {
      T* to = y + rows[i] * t.inner;
      const T* from = updates + i * t.inner;
      for (int64_t k = b; k < e; k++) to[k] = f(to[k], from[k]);
    }
  });
}

void scatter_nd(Args& a) {
  Tensor base = a.tensor(), indices = a.tensor(), updates = a.tensor(), y = a.tensor();
  const int64_t mode = a.integer();
  Tuples t = tuples(base, indices, updates);
  if (y.size != base.size) fail(Code::internal, "sizes differ");
  if (mode != 0 && y.dtype == DType::boolean) fail(Code::unimplemented, "arithmetic of bool");
  visit_indices(indices, [&](auto* index) {
    const int64_t* rows = tuple_rows(t, index);
    if (y.size == 0) return;
    if (y.data != base.data) parallel_copy(y.data, base.data, y.size * static_cast<int64_t>(dtype_size(y.dtype)));
    if (mode == 0) {
      visit_size(y.dtype, [&](auto tag) {
        using T = decltype(tag);
        combine(t, rows, updates.as<T>(), y.as<T>(), [](T, T u) { return u; });
      });
      return;
    }
    visit(y.dtype, [&](auto tag) {
      using T = decltype(tag);
      const T* from = updates.as<T>();
      T* to = y.as<T>();
      switch (mode) {
        case 1: combine(t, rows, from, to, [](T v, T u) { return add(v, u); }); break;
        case 2: combine(t, rows, from, to, [](T v, T u) { return subtract(v, u); }); break;
        case 3: combine(t, rows, from, to, [](T v, T u) { return larger(v, u); }); break;
        case 4: combine(t, rows, from, to, [](T v, T u) { return smaller(v, u); }); break;
        default: fail(Code::internal, "mode %lld", ll(mode));
      }
    });
  });
}

void set_row(Args& a) {
  Tensor x = a.tensor(), index = a.tensor(), row = a.tensor(), y = a.tensor();
  const int64_t mode = a.integer();
  if (x.rank < 1 || index.size != 1 || y.size != x.size || x.size != x.dims[0] * row.size) fail(Code::internal, "sizes do not fit");
  if (mode < 0 || mode > 1) fail(Code::internal, "mode %lld", ll(mode));
  int64_t at = 0;
  visit_indices(index, [&](auto* p) { at = *p; });
  if (at < 0 || at >= x.dims[0]) fail(Code::out_of_range, "index %lld is not in [0, %lld)", ll(at), ll(x.dims[0]));
  const int64_t item = static_cast<int64_t>(dtype_size(y.dtype));
  if (y.data != x.data) parallel_copy(y.data, x.data, y.size * item);
  if (mode == 0) {
    parallel_copy(y.as<char>() + at * row.size * item, row.data, row.size * item);
    return;
  }
  const auto add_row = [&](auto tag) {
    using T = decltype(tag);
    T* to = y.as<T>() + at * row.size;
    const T* from = row.as<T>();
    parallel_for(row.size, 16384, [&](int64_t b, int64_t e) {
      for (int64_t k = b; k < e; k++) to[k] = add(to[k], from[k]);
    });
  };
  switch (y.dtype) {
#define X(name, type) case DType::name: add_row(type{}); break;
    EAGRE_NUMBERS(X)
    EAGRE_HALVES(X)
#undef X
    default: fail(Code::unimplemented, "a sum of %s", info_of(y.dtype).name);
  }
}

// Writes a row, where that is in the time of one thread.
struct RowStore : Shortcut {
  int64_t n, bytes;
  int index_at, row_at, y_at;  // where their addresses stand
};

template <class I> void store_row(Shortcut* shortcut, const double* block) {
  const RowStore& s = *static_cast<const RowStore*>(shortcut);
  const int64_t at = *reinterpret_cast<const I*>(address(block[s.index_at]));
  if (at < 0 || at >= s.n) fail(Code::out_of_range, "index %lld is not in [0, %lld)", ll(at), ll(s.n));
  const char* x = address(block[2]);
  char* y = address(block[s.y_at]);
  if (y != x) parallel_copy(y, x, s.n * s.bytes);
  copy_bytes(y + at * s.bytes, address(block[s.row_at]), s.bytes);
}

Shortcut* set_row_shortcut(Args& a) {
  const Tensor x = a.tensor(), index = a.tensor(), row = a.tensor(), y = a.tensor();
  const int64_t bytes = row.size * static_cast<int64_t>(dtype_size(y.dtype));
  if (a.integer() != 0 || bytes == 0 || bytes > kMoveBytes) return nullptr;
  if (x.rank < 1 || index.size != 1 || y.size != x.size || x.size != x.dims[0] * row.size) return nullptr;
  if (index.dtype != DType::i32 && index.dtype != DType::i64) return nullptr;
  void* memory = std::malloc(sizeof(RowStore));
  if (!memory) return nullptr;
  RowStore* s = new (memory) RowStore{};
  s->run = index.dtype == DType::i32 ? store_row<int32_t> : store_row<int64_t>;
  s->n = x.dims[0];
  s->bytes = bytes;
  s->index_at = 2 + 3 + x.rank;
  s->row_at = s->index_at + 3 + index.rank;
  s->y_at = s->row_at + 3 + row.rank;
  return s;
}

void one_hot(Args& a) {
  Tensor indices = a.tensor(), y = a.tensor();
  int64_t axis = a.integer();
  double on = a.number(), off = a.number();
  if (axis < 0) axis += y.rank;
  if (axis < 0 || axis >= y.rank) fail(Code::internal, "axis %lld of rank %d", ll(axis), y.rank);
  const int64_t depth = y.dims[axis], outer = product(y.dims, 0, static_cast<int>(axis));
  const int64_t inner = product(y.dims, static_cast<int>(axis) + 1, y.rank);
  if (indices.size != outer * inner) fail(Code::internal, "sizes do not fit");
  if (y.size == 0) return;
  auto write = [&](auto* index) {
    visit_size(y.dtype, [&](auto tag) {
      using T = decltype(tag);
      T* to = y.as<T>();
      const T yes = bits_of<T>(y.dtype, on), no = bits_of<T>(y.dtype, off);
      const int64_t plane = depth * inner;
      parallel_rows(outer, plane * static_cast<int64_t>(sizeof(T)), [&](int64_t b, int64_t e) {
        for (int64_t i = b * plane; i < e * plane; i++) to[i] = no;
        for (int64_t r = b; r < e; r++) {
          for (int64_t k = 0; k < inner; k++) {
            int64_t at = static_cast<int64_t>(index[r * inner + k]);
            if (at >= 0 && at < depth) to[r * plane + at * inner + k] = yes;
          }
        }
      });
    });
  };
  if (indices.dtype == DType::u8) {
    write(indices.as<const uint8_t>());
  } else {
    visit_indices(indices, write);
  }
}

// The coordinates of what is not 0 among elements b … e - 1, which are written from `to` to `end`. Each is written, and kept or not, as
// branches on random values cost more.
template <class T> void nonzero_rows(const Tensor& x, const T* in, int64_t b, int64_t e, int64_t* to, const int64_t* end) {
  const int rank = x.rank;
  const int64_t inner = x.dims[rank - 1];
  int64_t index[kMaxRank], rest = b;
  for (int k = rank - 1; k >= 0; k--) {
    index[k] = rest % x.dims[k];
    rest /= x.dims[k];
  }
  for (int64_t i = b; i < e && to < end;) {
    const int64_t stop = min64(e, i + inner - index[rank - 1]);
    int64_t column = index[rank - 1];
    if (rank == 1) {
      for (; i < stop && to < end; i++, column++) {
        *to = column;
        to += in[i] != T(0);
      }
    } else {
      for (; i < stop && to < end; i++, column++) {
        for (int k = 0; k < rank - 1; k++) to[k] = index[k];
        to[rank - 1] = column;
        to += in[i] != T(0) ? rank : 0;
      }
    }
    index[rank - 1] = 0;
    for (int k = rank - 2; k >= 0; k--) {
      if (++index[k] < x.dims[k]) break;
      index[k] = 0;
    }
  }
}

void nonzero(Args& a) {
  Tensor x = a.tensor(), y = a.tensor();
  if (y.dtype != DType::i64 || y.rank != 2 || y.dims[1] != x.rank) fail(Code::internal, "the output must be int64 [n, rank]");
  constexpr int64_t kChunk = 1 << 16;
  const int64_t chunks = (x.size + kChunk - 1) / kChunk;
  auto* counts = static_cast<int64_t*>(scratch(0, chunks * 8));
  visit(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* in = x.as<T>();
    int64_t* out = y.as<int64_t>();
    parallel_for(x.size, kChunk, [&](int64_t b, int64_t e) {
      int64_t n = 0;
      for (int64_t i = b; i < e; i++) n += in[i] != T(0);
      counts[b / kChunk] = n;
    });
    int64_t total = 0;
    for (int64_t c = 0; c < chunks; c++) {
      int64_t n = counts[c];
      counts[c] = total;
      total += n;
    }
    if (total != y.dims[0]) fail(Code::internal, "%lld elements are not 0, %lld expected", ll(total), ll(y.dims[0]));
    if (x.rank == 0) return;
    parallel_for(x.size, kChunk, [&](int64_t b, int64_t e) {
      int64_t* to = out + counts[b / kChunk] * x.rank;
      const int64_t next = b / kChunk + 1;
      nonzero_rows(x, in, b, e, to, out + (next < chunks ? counts[next] : total) * x.rank);
    });
  });
}

}  // namespace

void register_gather(Registry& r) {
  r.add("Gather", gather, gather_shortcut);
  r.add("GatherGrad", gather_grad);
  r.add("GatherNd", gather_nd);
  r.add("ScatterNd", scatter_nd);
  r.add("SetRow", set_row, set_row_shortcut);
  r.add("OneHot", one_hot);
  r.add("Nonzero", nonzero);
}
EAGRE_END
