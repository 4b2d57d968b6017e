// HashTexts: FarmHash's Fingerprint64 (Pike, 2014), MurmurHash64A as TensorFlow seeds it, and SipHash-2-4 (Aumasson and Bernstein, 2012).
// packages/backend/src/hashes.ts has the same in halves of 32 bits.
#include <cstring>

#include "isa.h"

EAGRE_BEGIN
namespace {

using Byte = unsigned char;
constexpr uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

uint64_t word(const Byte* s) {
  uint64_t v;
  __builtin_memcpy(&v, s, 8);
  return v;
}
uint32_t half_word(const Byte* s) {
  uint32_t v;
  __builtin_memcpy(&v, s, 4);
  return v;
}
// Rotated to the right.
uint64_t turned(uint64_t v, int by) { return v >> by | v << (64 - by); }
uint64_t mixed(uint64_t v) { return v ^ v >> 47; }

uint64_t of_two(uint64_t u, uint64_t v, uint64_t m) { return mixed((v ^ mixed((u ^ v) * m)) * m) * m; }

uint64_t of_few(const Byte* s, uint64_t n) {
  const uint64_t m = k2 + 2 * n;
  if (n >= 8) {
    const uint64_t a = word(s) + k2, b = word(s + n - 8);
    return of_two(turned(b, 37) * m + a, (turned(a, 25) + b) * m, m);
  }
  if (n >= 4) return of_two(n + (static_cast<uint64_t>(half_word(s)) << 3), half_word(s + n - 4), m);
  if (n == 0) return k2;
  const uint64_t y = s[0] + (static_cast<uint64_t>(s[n >> 1]) << 8), z = n + (static_cast<uint64_t>(s[n - 1]) << 2);
  return mixed((y * k2) ^ (z * k0)) * k2;
}

// Of 17 to 64 bytes.
uint64_t of_some(const Byte* s, uint64_t n) {
  const uint64_t m = k2 + 2 * n, a = word(s) * (n <= 32 ? k1 : k2), b = word(s + 8), c = word(s + n - 8) * m, d = word(s + n - 16) * k2;
  const uint64_t y = turned(a + b, 43) + turned(c, 30) + d, z = of_two(y, a + turned(b + k2, 18) + c, m);
  if (n <= 32) return z;
  const uint64_t e = word(s + 16) * m, f = word(s + 24), g = (y + word(s + n - 32)) * m, h = (z + word(s + n - 24)) * m;
  return of_two(turned(e + f, 43) + turned(g, 30) + h, e + turned(f + a, 18) + g, m);
}

struct Two {
  uint64_t first, second;
};
// Takes 32 bytes into two integers.
Two weak(const Byte* s, uint64_t a, uint64_t b) {
  a += word(s);
  b = turned(b + a + word(s + 24), 21);
  const uint64_t c = a;
  a += word(s + 8) + word(s + 16);
  b += turned(a, 44);
  return {a + word(s + 24), b + c};
}

uint64_t of_many(const Byte* s, uint64_t n) {
  uint64_t x = 81 * k2 + word(s), y = 81 * k1 + 113, z = mixed(y * k2 + 113) * k2, m = k1;
  Two v = {0, 0}, w = {0, 0};
  const Byte* const end = s + (n - 1) / 64 * 64;
  const Byte* const last = s + n - 64;
  const auto round = [&](const Byte* p, uint64_t times) {
    x = turned(x + y + v.first + word(p + 8), 37) * m;
    y = turned(y + v.second + word(p + 48), 42) * m;
    x ^= w.second * times;
    y += v.first * times + word(p + 40);
    z = turned(z + w.first, 33) * m;
    v = weak(p, v.second * m, x + w.first);
    w = weak(p + 32, z + w.second, y + word(p + 16));
    const uint64_t other = z;
    z = x;
    x = other;
  };
  for (const Byte* p = s; p != end; p += 64) round(p, 1);
  m = k1 + ((z & 0xff) << 1);
  w.first += (n - 1) & 63;
  v.first += w.first;
  w.first += v.first;
  round(last, 9);
  return of_two(of_two(v.first, w.first, m) + mixed(y) * k0 + z, of_two(v.second, w.second, m) + x, m);
}

uint64_t farm(const Byte* s, uint64_t n) { return n <= 16 ? of_few(s, n) : n <= 64 ? of_some(s, n) : of_many(s, n); }

// The bytes that are left, fewer than 8.
uint64_t rest(const Byte* s, uint64_t n) {
  uint64_t v = 0;
  for (uint64_t i = 0; i < n; i++) v |= static_cast<uint64_t>(s[i]) << (8 * i);
  return v;
}

uint64_t murmur(const Byte* s, uint64_t n) {
  constexpr uint64_t m = 0xc6a4a7935bd1e995;
  uint64_t h = 0xdecafcaffe ^ (n * m);
  for (; n >= 8; n -= 8, s += 8) {
    const uint64_t k = word(s) * m;
    h = (h ^ (mixed(k) * m)) * m;
  }
  if (n > 0) h = (h ^ rest(s, n)) * m;
  return mixed(mixed(h) * m);
}

uint64_t sip(const Byte* s, uint64_t n, uint64_t key0, uint64_t key1) {
  uint64_t a = key0 ^ 0x736f6d6570736575, b = key1 ^ 0x646f72616e646f6d, c = key0 ^ 0x6c7967656e657261, d = key1 ^ 0x7465646279746573;
  const auto rounds = [&](int count) {
    for (; count > 0; count--) {
      a += b, b = turned(b, 51) ^ a, a = turned(a, 32);
      c += d, d = turned(d, 48) ^ c;
      a += d, d = turned(d, 43) ^ a;
      c += b, b = turned(b, 47) ^ c, c = turned(c, 32);
    }
  };
  const auto take = [&](uint64_t v) {
    d ^= v;
    rounds(2);
    a ^= v;
  };
  const uint64_t size = n;
  for (; n >= 8; n -= 8, s += 8) take(word(s));
  take(size << 56 | rest(s, n));
  c ^= 0xff;
  rounds(4);
  return a ^ b ^ c ^ d;
}

void hash_texts(Args& a) {
  const Tensor bytes = a.tensor(), starts = a.tensor(), y = a.tensor();
  const int64_t hash = a.integer();
  const uint64_t count = static_cast<uint64_t>(a.integer());
  uint64_t key[2];
  for (uint64_t& k : key) {
    const auto low = static_cast<uint32_t>(a.integer());
    k = static_cast<uint64_t>(static_cast<uint32_t>(a.integer())) << 32 | low;
  }
  if (hash < 0 || hash > 2) fail(Code::internal, "the hash %lld", static_cast<long long>(hash));
  if (bytes.dtype != DType::u8 || starts.dtype != DType::i32 || y.dtype != DType::i64 || starts.size != y.size + 1) {
    fail(Code::internal, "texts of other dtypes or sizes");
  }
  const int32_t* at = starts.as<int32_t>();
  for (int64_t i = 0; i <= y.size; i++) {
    if (at[i] < (i == 0 ? 0 : at[i - 1]) || at[i] > bytes.size) fail(Code::out_of_range, "a text begins at %d of %lld bytes", at[i], static_cast<long long>(bytes.size));
  }
  parallel_for(y.size, 1024, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) {
      const Byte* s = bytes.as<Byte>() + at[i];
      const auto n = static_cast<uint64_t>(at[i + 1] - at[i]);
      const uint64_t h = hash == 0 ? farm(s, n) : hash == 1 ? murmur(s, n) : sip(s, n, key[0], key[1]);
      y.as<int64_t>()[i] = static_cast<int64_t>(count == 0 ? h : h % count);
    }
  });
}

}  // namespace

void register_hash_texts(Registry& r) { r.add("HashTexts", hash_texts); }
EAGRE_END
