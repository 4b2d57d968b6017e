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

constexpr int64_t kList = 24, kBlock = 64;

// How many entries hold the best k of a long row as it is read: a sorted list of few; more wait together for a sort.
inline int64_t room_for(int64_t k) { return k <= kList ? k : 4 * k + kBlock; }

// The first k of n in sorted order; the result is in `best` or in `spare`. Most blocks of a long row hold nothing better than what was
// found so far, and are left after one vectorised comparison.
template <class E, class T> E* select(const T* x, int64_t n, int64_t k, typename E::Key flip, E* best, E* spare) {
  using Key = typename E::Key;
  const bool list = k <= kList;
  const int64_t room = room_for(k);
  int64_t count = list ? k : 4 * k;
  for (int64_t i = 0; i < count; i++) best[i] = E::make(static_cast<Key>(key_of(x[i]) ^ flip), static_cast<uint32_t>(i));
  const int64_t begin = count;
  Key worst;
  // Entries come in the order of their places, and stay so where keys are equal.
  auto sort = [&] {
    E* sorted = sort_entries(best, spare, count);
    if (sorted != best) {
      spare = best;
      best = sorted;
    }
    count = k;
    worst = best[k - 1].key();
  };
  sort();
  for (int64_t b = begin; b < n; b += kBlock) {
    const int64_t here = n - b < kBlock ? n - b : kBlock;
    Key keys[kBlock], least = ~Key{0};
    if (here == kBlock) {
      for (int64_t i = 0; i < kBlock; i++) {
        keys[i] = key_of(x[b + i]) ^ flip;
        least = keys[i] < least ? keys[i] : least;
      }
      // An equal key comes later, so it is worse.
      if (least >= worst) continue;
    } else {
      for (int64_t i = 0; i < here; i++) keys[i] = key_of(x[b + i]) ^ flip;
    }
    if (list) {
      for (int64_t i = 0; i < here; i++) {
        if (keys[i] >= worst) continue;
        E e = E::make(keys[i], static_cast<uint32_t>(b + i));
        int64_t j = k - 1;
        for (; j > 0 && e < best[j - 1]; j--) best[j] = best[j - 1];
        best[j] = e;
        worst = best[k - 1].key();
      }
      continue;
    }
    if (count + here > room) sort();
    // Without branches, which nothing could foresee.
    for (int64_t i = 0; i < here; i++) {
      best[count] = E::make(keys[i], static_cast<uint32_t>(b + i));
      count += keys[i] < worst;
    }
  }
  if (!list) sort();
  return best;
}

template <class T> void top_k_rows(const T* x, T* values, int32_t* indices, int64_t rows, int64_t n, int64_t k, bool descending) {
  using Key = decltype(key_of(T{}));
  using E = typename EntryOf<Key>::type;
  const Key flip = descending ? ~Key{0} : Key{0};
  // About 1 ns an element to select, 5 to sort.
  const bool few = k <= 8 || k * (k <= kList ? 8 : 16) <= n;
  const int64_t grain = few ? 32768 / n : 8192 / n;
  parallel_for(rows, grain < 1 ? 1 : grain, [=](int64_t b, int64_t e) {
    const int64_t entries = few ? room_for(k) : n;
    E* work = static_cast<E*>(scratch(0, entries * static_cast<int64_t>(sizeof(E))));
    E* spare = static_cast<E*>(scratch(1, entries * static_cast<int64_t>(sizeof(E))));
    for (int64_t r = b; r < e; r++) {
      const T* row = x + r * n;
      E* sorted = work;
      if (few) {
        sorted = select(row, n, k, flip, work, spare);
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
