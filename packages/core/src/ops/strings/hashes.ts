// Hashes of strings as TensorFlow takes them, in 64 bits that wrap around.
import { bytesOf } from './bytes.ts';

const MASK = 0xffffffffffffffffn;
const wrap = (x: bigint): bigint => x & MASK;
const rotated = (x: bigint, by: bigint): bigint => wrap((x >> by) | (x << (64n - by)));
const mixed = (x: bigint): bigint => x ^ (x >> 47n);

const K0 = 0xc3a5c85c97cb3127n;
const K1 = 0xb492b66fbe98f273n;
const K2 = 0x9ae16a3b2f90404fn;

function ofTwo(u: bigint, v: bigint, mul: bigint): bigint {
  const a = mixed(wrap((u ^ v) * mul));
  return wrap(mixed(wrap((v ^ a) * mul)) * mul);
}

function ofFew(s: DataView, n: number): bigint {
  const mul = K2 + BigInt(n) * 2n;
  if (n >= 8) {
    const a = s.getBigUint64(0, true) + K2;
    const b = s.getBigUint64(n - 8, true);
    const c = wrap(rotated(b, 37n) * mul + a);
    const d = wrap((rotated(wrap(a), 25n) + b) * mul);
    return ofTwo(c, d, wrap(mul));
  }
  if (n >= 4) {
    const a = BigInt(s.getUint32(0, true));
    return ofTwo(BigInt(n) + (a << 3n), BigInt(s.getUint32(n - 4, true)), wrap(mul));
  }
  if (n === 0) return K2;
  const y = BigInt(s.getUint8(0)) + (BigInt(s.getUint8(n >> 1)) << 8n);
  const z = BigInt(n) + (BigInt(s.getUint8(n - 1)) << 2n);
  return wrap(mixed(wrap(y * K2) ^ wrap(z * K0)) * K2);
}

/** Of 17 to 64 bytes. */
function ofSome(s: DataView, n: number): bigint {
  const at = (i: number): bigint => s.getBigUint64(i, true);
  const mul = wrap(K2 + BigInt(n) * 2n);
  if (n <= 32) {
    const a = wrap(at(0) * K1);
    const b = at(8);
    const c = wrap(at(n - 8) * mul);
    const d = wrap(at(n - 16) * K2);
    const u = rotated(wrap(a + b), 43n) + rotated(c, 30n) + d;
    return ofTwo(wrap(u), wrap(a + rotated(wrap(b + K2), 18n) + c), mul);
  }
  const a = wrap(at(0) * K2);
  const b = at(8);
  const c = wrap(at(n - 8) * mul);
  const d = wrap(at(n - 16) * K2);
  const y = wrap(rotated(wrap(a + b), 43n) + rotated(c, 30n) + d);
  const z = ofTwo(y, wrap(a + rotated(wrap(b + K2), 18n) + c), mul);
  const e = wrap(at(16) * mul);
  const f = at(24);
  const g = wrap((y + at(n - 32)) * mul);
  const h = wrap((z + at(n - 24)) * mul);
  const u = rotated(wrap(e + f), 43n) + rotated(g, 30n) + h;
  return ofTwo(wrap(u), wrap(e + rotated(wrap(f + a), 18n) + g), mul);
}

type Pair = readonly [bigint, bigint];

function weak(s: DataView, i: number, first: bigint, second: bigint): Pair {
  const at = (k: number): bigint => s.getBigUint64(i + k, true);
  const z = at(24);
  const a = wrap(first + at(0));
  const b = rotated(wrap(second + a + z), 21n);
  const sum = wrap(a + at(8) + at(16));
  return [wrap(sum + z), wrap(b + rotated(sum, 44n) + a)];
}

function ofMany(s: DataView, n: number): bigint {
  const at = (i: number): bigint => s.getBigUint64(i, true);
  let x = 81n;
  let y = wrap(81n * K1 + 113n);
  let z = wrap(mixed(wrap(y * K2 + 113n)) * K2);
  let v: Pair = [0n, 0n];
  let w: Pair = [0n, 0n];
  x = wrap(x * K2 + at(0));
  /** One round at a place. */
  const round = (i: number, mul: bigint, last: boolean): void => {
    x = wrap(rotated(wrap(x + y + v[0] + at(i + 8)), 37n) * mul);
    y = wrap(rotated(wrap(y + v[1] + at(i + 48)), 42n) * mul);
    x ^= last ? wrap(w[1] * 9n) : w[1];
    y = wrap(y + (last ? v[0] * 9n : v[0]) + at(i + 40));
    z = wrap(rotated(wrap(z + w[0]), 33n) * mul);
    v = weak(s, i, wrap(v[1] * mul), wrap(x + w[0]));
    w = weak(s, i + 32, wrap(z + w[1]), wrap(y + at(i + 16)));
    [x, z] = [z, x];
  };
  const end = Math.floor((n - 1) / 64) * 64;
  for (let i = 0; i < end; i += 64) round(i, K1, false);
  const mul = wrap(K1 + ((z & 0xffn) << 1n));
  w = [wrap(w[0] + BigInt((n - 1) & 63)), w[1]];
  v = [wrap(v[0] + w[0]), v[1]];
  w = [wrap(w[0] + v[0]), w[1]];
  round(n - 64, mul, true);
  return ofTwo(wrap(ofTwo(v[0], w[0], mul) + mixed(y) * K0 + z), wrap(ofTwo(v[1], w[1], mul) + x), mul);
}

function bytesView(text: string): DataView {
  const { buffer, byteOffset, byteLength } = bytesOf(text);
  return new DataView(buffer, byteOffset, byteLength);
}

/** FarmHash's Fingerprint64 of a text's bytes (Pike, "FarmHash", 2014). */
export function fingerprint64(text: string): bigint {
  return fingerprintOfBytes(bytesOf(text));
}
/** FarmHash's Fingerprint64 of bytes. */
export function fingerprintOfBytes({ buffer, byteOffset, byteLength }: Uint8Array): bigint {
  const s = new DataView(buffer, byteOffset, byteLength);
  const n = s.byteLength;
  return n <= 16 ? ofFew(s, n) : n <= 64 ? ofSome(s, n) : ofMany(s, n);
}

/** One fingerprint of two: TensorFlow's FingerprintCat64. */
export function joinedFingerprints(first: bigint, second: bigint): bigint {
  const mul = MULTIPLIER;
  const both = wrap((first ^ mul ^ wrap(mixed(wrap(second * mul)) * mul)) * mul);
  return mixed(wrap(mixed(both) * mul));
}

/** SipHash-2-4 of a text's bytes with a key of two integers (Aumasson and Bernstein, 2012). */
export function keyedHash(text: string, [k0, k1]: readonly [bigint, bigint]): bigint {
  const s = bytesView(text);
  const n = s.byteLength;
  let [v0, v1] = [wrap(k0) ^ 0x736f6d6570736575n, wrap(k1) ^ 0x646f72616e646f6dn];
  let [v2, v3] = [wrap(k0) ^ 0x6c7967656e657261n, wrap(k1) ^ 0x7465646279746573n];
  const rounds = (count: number): void => {
    for (let i = 0; i < count; i++) {
      v0 = wrap(v0 + v1);
      v1 = rotated(v1, 51n) ^ v0;
      v0 = rotated(v0, 32n);
      v2 = wrap(v2 + v3);
      v3 = rotated(v3, 48n) ^ v2;
      v0 = wrap(v0 + v3);
      v3 = rotated(v3, 43n) ^ v0;
      v2 = wrap(v2 + v1);
      v1 = rotated(v1, 47n) ^ v2;
      v2 = rotated(v2, 32n);
    }
  };
  const take = (m: bigint): void => {
    v3 ^= m;
    rounds(2);
    v0 ^= m;
  };
  for (let i = 0; i + 8 <= n; i += 8) take(s.getBigUint64(i, true));
  let last = BigInt(n & 0xff) << 56n;
  for (let i = n - (n % 8); i < n; i++) last |= BigInt(s.getUint8(i)) << BigInt(8 * (i % 8));
  take(last);
  v2 ^= 0xffn;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

const MULTIPLIER = 0xc6a4a7935bd1e995n;

/** TensorFlow's own hash of a text's bytes, from before FarmHash: MurmurHash64A with the seed 0xDECAFCAFFE. */
export function plainHash(text: string): bigint {
  const s = bytesView(text);
  const n = s.byteLength;
  let h = wrap(0xdecafcaffen ^ wrap(BigInt(n) * MULTIPLIER));
  const whole = n - (n % 8);
  for (let i = 0; i < whole; i += 8) {
    const k = mixed(wrap(s.getBigUint64(i, true) * MULTIPLIER));
    h = wrap((h ^ wrap(k * MULTIPLIER)) * MULTIPLIER);
  }
  if (whole < n) {
    for (let i = whole; i < n; i++) h ^= BigInt(s.getUint8(i)) << BigInt(8 * (i - whole));
    h = wrap(h * MULTIPLIER);
  }
  return mixed(wrap(mixed(h) * MULTIPLIER));
}
