// Hashes of strings as TensorFlow takes them, in 64 bits that wrap around. Each is two integers of 32 bits, as bigints take a hundred times as long.
/** A hash of the bytes from `start` up to `end`. @returns its lower half; `upperHalf()` is the other one. */
export type HashOfBytes = (s: DataView, start: number, end: number) => number;

let upper = 0;
/** The upper half of the hash that was computed last. */
export const upperHalf = (): number => upper;

/** What is carried into the upper half of the sum of two lower ones. */
const carry = (a: number, b: number): number => (((a + b) | 0) >>> 0 < a >>> 0 ? 1 : 0);

/** The upper half of the product of two integers of 32 bits. */
function upperProduct(a: number, b: number): number {
  const a0 = a & 0xffff;
  const a1 = a >>> 16;
  const b0 = b & 0xffff;
  const b1 = b >>> 16;
  const middle = (Math.imul(a1, b0) + (Math.imul(a0, b0) >>> 16)) | 0;
  const other = (Math.imul(a0, b1) + (middle & 0xffff)) | 0;
  return (Math.imul(a1, b1) + (middle >>> 16) + (other >>> 16)) | 0;
}
/** The upper half of the product of two integers of 64 bits. */
const product = (ah: number, al: number, bh: number, bl: number): number =>
  (upperProduct(al, bl) + Math.imul(ah, bl) + Math.imul(al, bh)) | 0;
/** One half of an integer that is rotated to the right by less than 32: the one whose own bits come first. */
const turned = (own: number, other: number, by: number): number => (own >>> by) | (other << (32 - by));

const K0H = 0xc3a5c85c | 0;
const K0L = 0x97cb3127 | 0;
const K1H = 0xb492b66f | 0;
const K1L = 0xbe98f273 | 0;
const K2H = 0x9ae16a3b | 0;
const K2L = 0x2f90404f | 0;

function ofTwo(uh: number, ul: number, vh: number, vl: number, mh: number, ml: number): number {
  let h = product(uh ^ vh, ul ^ vl, mh, ml);
  let l = Math.imul(ul ^ vl, ml) ^ (h >>> 15);
  const xh = vh ^ h;
  const xl = vl ^ l;
  h = product(xh, xl, mh, ml);
  l = Math.imul(xl, ml) ^ (h >>> 15);
  upper = product(h, l, mh, ml);
  return Math.imul(l, ml);
}

function ofFew(s: DataView, at: number, n: number): number {
  const ml = (K2L + 2 * n) | 0;
  const mh = K2H;
  if (n >= 8) {
    const al0 = s.getInt32(at, true);
    const ah0 = s.getInt32(at + 4, true);
    const al = (al0 + K2L) | 0;
    const ah = (ah0 + K2H + carry(al0, K2L)) | 0;
    const bl = s.getInt32(at + n - 8, true);
    const bh = s.getInt32(at + n - 4, true);
    // By 37, which is 32 and 5.
    const rl = turned(bh, bl, 5);
    const rh = turned(bl, bh, 5);
    const cl0 = Math.imul(rl, ml);
    const cl = (cl0 + al) | 0;
    const ch = (product(rh, rl, mh, ml) + ah + carry(cl0, al)) | 0;
    const tl = turned(al, ah, 25);
    const dl0 = (tl + bl) | 0;
    const dh0 = (turned(ah, al, 25) + bh + carry(tl, bl)) | 0;
    return ofTwo(ch, cl, product(dh0, dl0, mh, ml), Math.imul(dl0, ml), mh, ml);
  }
  if (n >= 4) {
    const a = s.getInt32(at, true);
    const low = a << 3;
    return ofTwo((a >>> 29) + carry(low, n), (low + n) | 0, 0, s.getInt32(at + n - 4, true), mh, ml);
  }
  if (n === 0) {
    upper = K2H;
    return K2L;
  }
  const y = s.getUint8(at) + (s.getUint8(at + (n >> 1)) << 8);
  const z = n + (s.getUint8(at + n - 1) << 2);
  const h = product(0, y, K2H, K2L) ^ product(0, z, K0H, K0L);
  const l = Math.imul(y, K2L) ^ Math.imul(z, K0L) ^ (h >>> 15);
  upper = product(h, l, K2H, K2L);
  return Math.imul(l, K2L);
}

/** Integers of 64 bits that longer texts are hashed with, and what is done with them. */
class Registers {
  readonly l: Int32Array<ArrayBuffer> = new Int32Array(16);
  readonly h: Int32Array<ArrayBuffer> = new Int32Array(16);

  /** r = a, which is given. */
  set(r: number, h: number, l: number): void {
    this.h[r] = h;
    this.l[r] = l;
  }
  load(r: number, s: DataView, at: number): void {
    this.l[r] = s.getInt32(at, true);
    this.h[r] = s.getInt32(at + 4, true);
  }
  /** r += the integer at a place. */
  addAt(r: number, s: DataView, at: number): void {
    this.plus(r, s.getInt32(at + 4, true), s.getInt32(at, true));
  }
  /** r += a. */
  plus(r: number, h: number, l: number): void {
    const own = this.l[r];
    this.h[r] += h + carry(own, l);
    this.l[r] = own + l;
  }
  add(r: number, a: number): void {
    this.plus(r, this.h[a], this.l[a]);
  }
  /** r *= a. */
  times(r: number, h: number, l: number): void {
    const own = this.l[r];
    this.h[r] = product(this.h[r], own, h, l);
    this.l[r] = Math.imul(own, l);
  }
  /** Rotates r to the right. */
  turn(r: number, by: number): void {
    const h = by < 32 ? this.h[r] : this.l[r];
    const l = by < 32 ? this.l[r] : this.h[r];
    this.h[r] = turned(h, l, by & 31);
    this.l[r] = turned(l, h, by & 31);
  }
  /** r = rotated(a + b, 43) + rotated(c, 30) + d. */
  joinTurned(r: number, a: number, b: number, c: number, d: number): void {
    this.copy(r, a);
    this.add(r, b);
    this.turn(r, 43);
    this.copy(T, c);
    this.turn(T, 30);
    this.add(r, T);
    this.add(r, d);
  }
  copy(r: number, a: number): void {
    this.h[r] = this.h[a];
    this.l[r] = this.l[a];
  }
  swap(r: number, a: number): void {
    const h = this.h[r];
    const l = this.l[r];
    this.copy(r, a);
    this.set(a, h, l);
  }
  /** What `ofTwo` makes of two of them and a third. */
  two(u: number, v: number, m: number): number {
    const { h, l } = this;
    return ofTwo(h[u], l[u], h[v], l[v], h[m], l[m]);
  }
}
const R = /* @__PURE__ */ new Registers();
// Their names in the paper's program.
const A = 0;
const B = 1;
const C = 2;
const D = 3;
const E = 4;
const F = 5;
const M = 6;
const X = 7;
const Y = 8;
const Z = 9;
const V0 = 10;
const V1 = 11;
const W0 = 12;
const W1 = 13;
const T = 14;

/** Of 17 to 64 bytes. */
function ofSome(s: DataView, at: number, n: number): number {
  const r = R;
  const end = at + n;
  const ml = (K2L + 2 * n) | 0;
  r.set(M, K2H, ml);
  r.load(A, s, at);
  if (n <= 32) r.times(A, K1H, K1L);
  else r.times(A, K2H, K2L);
  r.load(B, s, at + 8);
  r.load(C, s, end - 8);
  r.times(C, K2H, ml);
  r.load(D, s, end - 16);
  r.times(D, K2H, K2L);
  r.joinTurned(Y, A, B, C, D);
  // Z = a + rotated(b + k2, 18) + c
  r.copy(Z, B);
  r.plus(Z, K2H, K2L);
  r.turn(Z, 18);
  r.add(Z, A);
  r.add(Z, C);
  const low = r.two(Y, Z, M);
  if (n <= 32) return low;
  r.set(Z, upper, low);
  r.load(E, s, at + 16);
  r.times(E, K2H, ml);
  r.load(F, s, at + 24);
  r.addAt(Y, s, end - 32);
  r.times(Y, K2H, ml);
  r.addAt(Z, s, end - 24);
  r.times(Z, K2H, ml);
  r.joinTurned(X, E, F, Y, Z);
  // e + rotated(f + a, 18) + g
  r.add(F, A);
  r.turn(F, 18);
  r.add(F, E);
  r.add(F, Y);
  return r.two(X, F, M);
}

/** Takes 32 bytes into two integers. */
function weak(s: DataView, at: number, first: number, second: number): void {
  const r = R;
  r.addAt(first, s, at);
  r.add(second, first);
  r.addAt(second, s, at + 24);
  r.turn(second, 21);
  r.copy(T, first);
  r.addAt(first, s, at + 8);
  r.addAt(first, s, at + 16);
  r.copy(F, first);
  r.turn(F, 44);
  r.add(second, F);
  r.add(second, T);
  r.addAt(first, s, at + 24);
}

/** One round of 64 bytes at a place, multiplied by M. */
function round(s: DataView, at: number, last: boolean): void {
  const r = R;
  const { h, l } = r;
  r.add(X, Y);
  r.add(X, V0);
  r.addAt(X, s, at + 8);
  r.turn(X, 37);
  r.times(X, h[M], l[M]);
  r.add(Y, V1);
  r.addAt(Y, s, at + 48);
  r.turn(Y, 42);
  r.times(Y, h[M], l[M]);
  r.copy(A, W1);
  r.copy(B, V0);
  if (last) {
    r.times(A, 0, 9);
    r.times(B, 0, 9);
  }
  h[X] ^= h[A];
  l[X] ^= l[A];
  r.add(Y, B);
  r.addAt(Y, s, at + 40);
  r.add(Z, W0);
  r.turn(Z, 33);
  r.times(Z, h[M], l[M]);
  // v = weak(s, v1 * m, x + w0)
  r.copy(V0, V1);
  r.times(V0, h[M], l[M]);
  r.copy(V1, X);
  r.add(V1, W0);
  weak(s, at, V0, V1);
  // w = weak(s + 32, z + w1, y + s[16])
  r.copy(W0, W1);
  r.add(W0, Z);
  r.copy(W1, Y);
  r.addAt(W1, s, at + 16);
  weak(s, at + 32, W0, W1);
  r.swap(X, Z);
}

function ofMany(s: DataView, at: number, n: number): number {
  const r = R;
  const { h, l } = r;
  r.set(X, K2H, K2L);
  r.times(X, 0, 81);
  r.addAt(X, s, at);
  r.set(Y, K1H, K1L);
  r.times(Y, 0, 81);
  r.plus(Y, 0, 113);
  r.copy(Z, Y);
  r.times(Z, K2H, K2L);
  r.plus(Z, 0, 113);
  l[Z] ^= h[Z] >>> 15;
  r.times(Z, K2H, K2L);
  for (const i of [V0, V1, W0, W1]) r.set(i, 0, 0);
  r.set(M, K1H, K1L);
  const end = at + n - ((n - 1) % 64) - 1;
  for (let i = at; i < end; i += 64) round(s, i, false);
  r.plus(M, 0, (l[Z] & 0xff) << 1);
  r.plus(W0, 0, (n - 1) & 63);
  r.add(V0, W0);
  r.add(W0, V0);
  round(s, at + n - 64, true);
  // ofTwo(ofTwo(v0, w0) + mixed(y) * k0 + z, ofTwo(v1, w1) + x)
  const first = r.two(V0, W0, M);
  r.add(Z, spare(upper, first));
  l[Y] ^= h[Y] >>> 15;
  r.times(Y, K0H, K0L);
  r.add(Z, Y);
  const second = r.two(V1, W1, M);
  r.add(X, spare(upper, second));
  return r.two(Z, X, M);
}
/** An integer in the register that is free. */
function spare(h: number, l: number): number {
  R.set(T, h, l);
  return T;
}

/** FarmHash's Fingerprint64 (Pike, "FarmHash", 2014). */
export const farmHash: HashOfBytes = (s, start, end) => {
  const n = end - start;
  return n <= 16 ? ofFew(s, start, n) : n <= 64 ? ofSome(s, start, n) : ofMany(s, start, n);
};

const MH = 0xc6a4a793 | 0;
const ML = 0x5bd1e995 | 0;

/** TensorFlow's own hash, from before FarmHash: MurmurHash64A with the seed 0xDECAFCAFFE. */
export const murmurHash: HashOfBytes = (s, start, end) => {
  const n = end - start;
  let h = 0xde ^ product(0, n, MH, ML);
  let l = (0xcafcaffe | 0) ^ Math.imul(n, ML);
  const whole = end - (n % 8);
  let at = start;
  for (; at < whole; at += 8) {
    const al = s.getInt32(at, true);
    let kh = product(s.getInt32(at + 4, true), al, MH, ML);
    let kl = Math.imul(al, ML) ^ (kh >>> 15);
    kh = product(kh, kl, MH, ML);
    kl = Math.imul(kl, ML);
    h ^= kh;
    l ^= kl;
    h = product(h, l, MH, ML);
    l = Math.imul(l, ML);
  }
  if (at < end) {
    for (let i = 0; at < end; at++, i++) {
      if (i < 4) l ^= s.getUint8(at) << (8 * i);
      else h ^= s.getUint8(at) << (8 * (i - 4));
    }
    h = product(h, l, MH, ML);
    l = Math.imul(l, ML);
  }
  l ^= h >>> 15;
  h = product(h, l, MH, ML);
  l = Math.imul(l, ML);
  upper = h;
  return l ^ (h >>> 15);
};

const lowerOf = (x: bigint): number => Number(BigInt.asIntN(32, x));
const upperOf = (x: bigint): number => lowerOf(x >> 32n);

/** SipHash-2-4 with a key of two integers (Aumasson and Bernstein, 2012). */
export function sipHash([k0, k1]: readonly [bigint, bigint]): HashOfBytes {
  const key = [upperOf(k0), lowerOf(k0), upperOf(k1), lowerOf(k1)] as const;
  return (s, start, end) => {
    let ah = key[0] ^ 0x736f6d65;
    let al = key[1] ^ 0x70736575;
    let bh = key[2] ^ 0x646f7261;
    let bl = key[3] ^ 0x6e646f6d;
    let ch = key[0] ^ 0x6c796765;
    let cl = key[1] ^ 0x6e657261;
    let dh = key[2] ^ 0x74656462;
    let dl = key[3] ^ 0x79746573;
    const n = end - start;
    const whole = end - (n % 8);
    for (let at = start; at <= whole + 8; at += 8) {
      let mh = 0;
      let ml = 0;
      let count = 2;
      if (at < whole) {
        ml = s.getInt32(at, true);
        mh = s.getInt32(at + 4, true);
      } else if (at === whole) {
        mh = n << 24;
        for (let i = at; i < end; i++) {
          if (i - at < 4) ml |= s.getUint8(i) << (8 * (i - at));
          else mh |= s.getUint8(i) << (8 * (i - at - 4));
        }
      } else {
        cl ^= 0xff;
        count = 4;
      }
      dh ^= mh;
      dl ^= ml;
      for (; count > 0; count--) {
        let sum = (al + bl) | 0;
        ah = (ah + bh + (sum >>> 0 < al >>> 0 ? 1 : 0)) | 0;
        al = sum;
        let t = (bh << 13) | (bl >>> 19);
        bl = ((bl << 13) | (bh >>> 19)) ^ al;
        bh = t ^ ah;
        t = ah;
        ah = al;
        al = t;
        sum = (cl + dl) | 0;
        ch = (ch + dh + (sum >>> 0 < cl >>> 0 ? 1 : 0)) | 0;
        cl = sum;
        t = (dh << 16) | (dl >>> 16);
        dl = ((dl << 16) | (dh >>> 16)) ^ cl;
        dh = t ^ ch;
        sum = (al + dl) | 0;
        ah = (ah + dh + (sum >>> 0 < al >>> 0 ? 1 : 0)) | 0;
        al = sum;
        t = (dh << 21) | (dl >>> 11);
        dl = ((dl << 21) | (dh >>> 11)) ^ al;
        dh = t ^ ah;
        sum = (cl + bl) | 0;
        ch = (ch + bh + (sum >>> 0 < cl >>> 0 ? 1 : 0)) | 0;
        cl = sum;
        t = (bh << 17) | (bl >>> 15);
        bl = ((bl << 17) | (bh >>> 15)) ^ cl;
        bh = t ^ ch;
        t = ch;
        ch = cl;
        cl = t;
      }
      ah ^= mh;
      al ^= ml;
    }
    upper = ah ^ bh ^ ch ^ dh;
    return al ^ bl ^ cl ^ dl;
  };
}

/** The halves of a hash as one integer. */
export const wholeHash = (h: number, l: number): bigint => (BigInt(h >>> 0) << 32n) | BigInt(l >>> 0);

/** One fingerprint of two: TensorFlow's FingerprintCat64. The lower half; `upperHalf()` is the other one. */
export function joinedHalves(ah: number, al: number, bh: number, bl: number): number {
  let h = product(bh, bl, MH, ML);
  let l = Math.imul(bl, ML) ^ (h >>> 15);
  h = product(h, l, MH, ML) ^ ah ^ MH;
  l = Math.imul(l, ML) ^ al ^ ML;
  let th = product(h, l, MH, ML);
  let tl = Math.imul(l, ML) ^ (th >>> 15);
  h = product(th, tl, MH, ML);
  th = h;
  tl = Math.imul(tl, ML) ^ (h >>> 15);
  upper = th;
  return tl;
}

/** One fingerprint of two: TensorFlow's FingerprintCat64. */
export function joinedFingerprints(first: bigint, second: bigint): bigint {
  const lower = joinedHalves(upperOf(first), lowerOf(first), upperOf(second), lowerOf(second));
  return wholeHash(upper, lower);
}

// Up to so many buckets a remainder times 2³², or 2¹⁶, is exact.
const FEW = 2 ** 21;
const MANY = 2 ** 37;
const rest = (x: number, n: number): number => {
  const r = x - Math.floor(x / n) * n;
  return r < 0 ? r + n : r >= n ? r - n : r;
};

/** The remainder of a hash. */
export function remainderOf(h: number, l: number, n: number): number {
  if (n <= FEW) return rest(rest(h >>> 0, n) * 2 ** 32 + (l >>> 0), n);
  if (n > MANY) return Number(wholeHash(h, l) % BigInt(n));
  return rest(rest(rest(h >>> 0, n) * 2 ** 16 + (l >>> 16), n) * 2 ** 16 + (l & 0xffff), n);
}
/** The remainder of a hash, whose upper half was computed last. */
export const remainder = (l: number, n: number): number => remainderOf(upper, l, n);

/**
 * A hash of texts: FarmHash's Fingerprint64, TensorFlow's own from before it (MurmurHash64A), or SipHash-2-4 with a key of two integers.
 * HashTexts has the numbers of these names (native/cpu/hash_texts.cc has the same list).
 */
export type TextHash = 'farm' | 'murmur' | readonly [bigint, bigint];
/** Names of hashes of texts, in the order of their numbers. */
export const textHashes = ['farm', 'murmur', 'sip'] as const;

/** The attributes of HashTexts that say which hash. */
export function hashAttributes(
  hash: TextHash,
): Readonly<Record<'hash' | 'key0' | 'key1' | 'key2' | 'key3', number>> {
  const [k0, k1] = typeof hash === 'string' ? [0n, 0n] : hash;
  return {
    hash: textHashes.indexOf(typeof hash === 'string' ? hash : 'sip'),
    key0: lowerOf(k0),
    key1: upperOf(k0),
    key2: lowerOf(k1),
    key3: upperOf(k1),
  };
}

/** What computes a hash of texts. */
export const hashOfTexts = (hash: TextHash): HashOfBytes =>
  hash === 'farm' ? farmHash : hash === 'murmur' ? murmurHash : sipHash(hash);
/** What HashTexts in JavaScript computes with: the ops that call it say so, since a page without them is not to have the code of hashes. */
export const hashing: { of: typeof hashOfTexts | null } = { of: null };
