// TopK.
#include "strided.h"

EAGRE_BEGIN
namespace {

// Unsigned keys in the order of the values: NaN above all, -0 like 0.
inline uint32_t key_of(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  bits = v == 0 ? 0 : bits;
  uint32_t key = bits ^ (static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) | 0x80000000u);
  return v != v ? 0xffffffffu : key;
}
inline uint64_t key_of(double v) {
  uint64_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  bits = v == 0 ? 0 : bits;
  uint64_t key = bits ^ (static_cast<uint64_t>(static_cast<int64_t>(bits) >> 63) | 0x8000000000000000u);
  return v != v ? ~uint64_t{0} : key;
}
inline uint32_t key_of(int32_t v) { return static_cast<uint32_t>(v) ^ 0x80000000u; }
inline uint64_t key_of(int64_t v) { return static_cast<uint64_t>(v) ^ 0x8000000000000000u; }
inline uint32_t key_of(int8_t v) { return key_of(int32_t{v}); }
inline uint32_t key_of(int16_t v) { return key_of(int32_t{v}); }
inline uint32_t key_of(uint8_t v) { return v; }
inline uint32_t key_of(uint16_t v) { return v; }
inline uint32_t key_of(uint32_t v) { return v; }
inline uint64_t key_of(uint64_t v) { return v; }
inline uint32_t key_of(bool v) { return v; }

// A key with the place it came from. No two are equal, so sorted order is the stable order, whatever the algorithm.
struct Entry32 {
  using Key = uint32_t;
  uint64_t bits;
  static Entry32 make(Key key, uint32_t index) { return {static_cast<uint64_t>(key) << 32 | index}; }
  Key key() const { return static_cast<Key>(bits >> 32); }
  uint32_t index() const { return static_cast<uint32_t>(bits); }
  bool operator<(const Entry32& o) const { return bits < o.bits; }
};
struct Entry64 {
  using Key = uint64_t;
  uint64_t k;
  uint32_t i;
  static Entry64 make(Key key, uint32_t index) { return {key, index}; }
  Key key() const { return k; }
  uint32_t index() const { return i; }
  bool operator<(const Entry64& o) const { return k < o.k || (k == o.k && i < o.i); }
};
template <class K> struct EntryOf;
template <> struct EntryOf<uint32_t> { using type = Entry32; };
template <> struct EntryOf<uint64_t> { using type = Entry64; };

template <class E> void insertion_sort(E* v, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    E e = v[i];
    int64_t j = i;
    for (; j > 0 && e < v[j - 1]; j--) v[j] = v[j - 1];
    v[j] = e;
  }
}

// Sorts by key; entries of equal keys stay in order, so these must come in the order of their places. Least significant digit
// first; digits that all keys share are skipped.
// Returns v or spare, whichever holds the result.
template <class E> E* radix_sort(E* v, E* spare, int64_t n) {
  using Key = typename E::Key;
  constexpr int digits = static_cast<int>(sizeof(Key));
  uint32_t counts[digits][256] = {};
  for (int64_t i = 0; i < n; i++) {
    Key key = v[i].key();
    for (int d = 0; d < digits; d++) counts[d][key >> (8 * d) & 255]++;
  }
  for (int d = 0; d < digits; d++) {
    if (counts[d][v[0].key() >> (8 * d) & 255] == n) continue;
    uint32_t sum = 0;
    for (uint32_t& c : counts[d]) {
      uint32_t here = c;
      c = sum;
      sum += here;
    }
    for (int64_t i = 0; i < n; i++) spare[counts[d][v[i].key() >> (8 * d) & 255]++] = v[i];
    E* other = v;
    v = spare;
    spare = other;
  }
  return v;
}

template <class E> E* sort_entries(E* v, E* spare, int64_t n) {
  if (n > 48) return radix_sort(v, spare, n);
  insertion_sort(v, n);
  return v;
}

template <class E> void sift_down(E* heap, int64_t n, int64_t i) {
  E e = heap[i];
  for (;;) {
    int64_t child = 2 * i + 1;
    if (child >= n) break;
    if (child + 1 < n && heap[child] < heap[child + 1]) child++;
    if (!(e < heap[child])) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = e;
}

// The first k of n in sorted order, by the best k so far: a sorted list for few, a heap with the worst on top for more. Most
// blocks of a long row hold nothing better and are left after one vectorised comparison.
template <class E, class T> void select(const T* x, int64_t n, int64_t k, typename E::Key flip, E* best) {
  using Key = typename E::Key;
  constexpr int64_t kList = 24, kBlock = 64;
  const bool list = k <= kList;
  for (int64_t i = 0; i < k; i++) best[i] = E::make(static_cast<Key>(key_of(x[i]) ^ flip), static_cast<uint32_t>(i));
  if (list) {
    insertion_sort(best, k);
  } else {
    for (int64_t i = k / 2 - 1; i >= 0; i--) sift_down(best, k, i);
  }
  Key worst = best[list ? k - 1 : 0].key();
  for (int64_t b = k; b < n; b += kBlock) {
    const int64_t count = n - b < kBlock ? n - b : kBlock;
    Key keys[kBlock], least = ~Key{0};
    if (count == kBlock) {
      for (int64_t i = 0; i < kBlock; i++) {
        keys[i] = key_of(x[b + i]) ^ flip;
        least = keys[i] < least ? keys[i] : least;
      }
      // An equal key comes later, so it is worse.
      if (least >= worst) continue;
    } else {
      for (int64_t i = 0; i < count; i++) keys[i] = key_of(x[b + i]) ^ flip;
    }
    for (int64_t i = 0; i < count; i++) {
      if (keys[i] >= worst) continue;
      E e = E::make(keys[i], static_cast<uint32_t>(b + i));
      if (list) {
        int64_t j = k - 1;
        for (; j > 0 && e < best[j - 1]; j--) best[j] = best[j - 1];
        best[j] = e;
        worst = best[k - 1].key();
      } else {
        best[0] = e;
        sift_down(best, k, 0);
        worst = best[0].key();
      }
    }
  }
  if (list) return;
  for (int64_t i = k - 1; i > 0; i--) {
    E e = best[0];
    best[0] = best[i];
    best[i] = e;
    sift_down(best, i, 0);
  }
}

template <class T> void top_k_rows(const T* x, T* values, int32_t* indices, int64_t rows, int64_t n, int64_t k, bool descending) {
  using Key = decltype(key_of(T{}));
  using E = typename EntryOf<Key>::type;
  const Key flip = descending ? ~Key{0} : Key{0};
  const bool few = k <= 8 || k * 8 <= n;
  // About 1 ns an element to select, 10 to sort.
  const int64_t grain = few ? 32768 / n : 4096 / n;
  parallel_for(rows, grain < 1 ? 1 : grain, [=](int64_t b, int64_t e) {
    const int64_t entries = few ? k : n;
    E* work = static_cast<E*>(scratch(0, entries * static_cast<int64_t>(sizeof(E))));
    E* spare = few ? nullptr : static_cast<E*>(scratch(1, entries * static_cast<int64_t>(sizeof(E))));
    for (int64_t r = b; r < e; r++) {
      const T* row = x + r * n;
      E* sorted = work;
      if (few) {
        select(row, n, k, flip, work);
      } else {
        for (int64_t i = 0; i < n; i++) work[i] = E::make(static_cast<Key>(key_of(row[i]) ^ flip), static_cast<uint32_t>(i));
        sorted = sort_entries(work, spare, n);
      }
      for (int64_t i = 0; i < k; i++) {
        indices[r * k + i] = static_cast<int32_t>(sorted[i].index());
        values[r * k + i] = row[sorted[i].index()];
      }
    }
  });
}

void top_k(Args& a) {
  Tensor x = a.tensor(), values = a.tensor(), indices = a.tensor();
  const bool descending = a.flag();
  if (x.rank < 1 || values.rank != x.rank || values.dtype != x.dtype || indices.size != values.size) {
    fail(Code::internal, "shapes do not fit");
  }
  if (indices.dtype != DType::i32) fail(Code::unimplemented, "indices must be int32");
  const int64_t n = x.dims[x.rank - 1], k = values.dims[x.rank - 1], rows = product(x.dims, 0, x.rank - 1);
  if (k > n || values.size != rows * k) fail(Code::internal, "%lld of %lld", ll(k), ll(n));
  if (n > INT32_MAX) fail(Code::unimplemented, "an axis of %lld elements", ll(n));
  if (values.size == 0) return;
  visit(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    top_k_rows(x.as<T>(), values.as<T>(), indices.as<int32_t>(), rows, n, k, descending);
  });
}

}  // namespace

void register_sort(Registry& r) { r.add("TopK", top_k); }
EAGRE_END
