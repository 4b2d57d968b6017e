// Functions of scalars in the subset of WGSL. They are built of operations that devices round alike; the devices' own sin, exp, … differ by
// thousands of units in the last place. Numbers that are infinite or NaN are made from bits of a variable, since WGSL allows no such constants,
// and are found by their bits, since compilers may assume that there are none.
import { narrowFunctions } from '../language/syntax.ts';

const functions: Readonly<Record<string, string>> = {
  fNaN: 'fn fNaN() -> f32 { var b = 0x7fc00000u; return bitcast<f32>(b); }',
  fInf: 'fn fInf() -> f32 { var b = 0x7f800000u; return bitcast<f32>(b); }',
  isNaN: 'fn isNaN(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }',
  isInf: 'fn isInf(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u; }',
  isFinite: 'fn isFinite(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u; }',
  fNeg: 'fn fNeg(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ 0x80000000u); }',
  fAbs: 'fn fAbs(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0x7fffffffu); }',
  // The size of x with the sign of s.
  fCopySign: `fn fCopySign(x: f32, s: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(s) & 0x80000000u)); }`,
  fSign: `fn fSign(x: f32) -> f32 {
    if (isNaN(x) || x == 0.0) { return x; }
    return fCopySign(1.0, x); }`,
  fMin: `fn fMin(a: f32, b: f32) -> f32 {
    if (isNaN(a)) { return a; } if (isNaN(b)) { return b; }
    if (a == b) { return bitcast<f32>(bitcast<u32>(a) | bitcast<u32>(b)); }
    return select(b, a, a < b); }`,
  fMax: `fn fMax(a: f32, b: f32) -> f32 {
    if (isNaN(a)) { return a; } if (isNaN(b)) { return b; }
    if (a == b) { return bitcast<f32>(bitcast<u32>(a) & bitcast<u32>(b)); }
    return select(b, a, a > b); }`,
  fRound: 'fn fRound(x: f32) -> f32 { return fCopySign(round(x), x); }',
  fSqrt: `fn fSqrt(x: f32) -> f32 {
    if (x == 0.0 || isNaN(x)) { return x; } if (x < 0.0) { return fNaN(); } return sqrt(x); }`,
  fRsqrt: 'fn fRsqrt(x: f32) -> f32 { return fDiv(1.0, fSqrt(x)); }',
  // Divisions by zero and of infinite numbers may give anything in WGSL.
  fDiv: `fn fDiv(a: f32, b: f32) -> f32 {
    if (isFinite(a) && isFinite(b) && b != 0.0) { return a / b; }
    if (isNaN(a)) { return a; } if (isNaN(b)) { return b; }
    let s = bitcast<f32>(bitcast<u32>(a) ^ bitcast<u32>(b));
    if (isInf(a)) { if (isInf(b)) { return fNaN(); } return fCopySign(fInf(), s); }
    if (isInf(b)) { return fCopySign(0.0, s); }
    if (a == 0.0) { return fNaN(); }
    return fCopySign(fInf(), s); }`,
  fFloorDiv:
    'fn fFloorDiv(a: f32, b: f32) -> f32 { let q = fDiv(a, b); if (!isFinite(q)) { return q; } return floor(q); }',
  // Exact for quotients below 2^23, which long division in parts would need beyond.
  fMod: `fn fMod(a: f32, b: f32) -> f32 {
    if (isNaN(a) || isNaN(b) || isInf(a) || b == 0.0) { return fNaN(); }
    if (isInf(b)) { if (a == 0.0 || (a < 0.0) == (b < 0.0)) { return a; } return b; }
    let size = fAbs(b);
    var rest = fAbs(a);
    for (var i = 0u; i < 40u && rest >= size; i++) {
      var part = trunc(rest / size);
      if (part >= 8388608.0) {
        var scale = size;
        for (var k = 0u; k < 254u && scale * 8388608.0 <= rest; k++) { scale = scale * 2.0; }
        part = trunc(rest / scale);
        rest = fma(-part, scale, rest);
        if (rest < 0.0) { rest = rest + scale; }
      } else {
        rest = fma(-part, size, rest);
        if (rest < 0.0) { rest = rest + size; }
      }
    }
    let r = fCopySign(rest, a);
    if (rest != 0.0 && (a < 0.0) != (b < 0.0)) { return r + b; }
    return r; }`,
  fPow2: 'fn fPow2(n: i32) -> f32 { return bitcast<f32>(u32(n + 127) << 23u); }',
  // Without branches: what is beyond its range is computed as something within, and then left out.
  fExp: `fn fExp(x: f32) -> f32 {
    let y = clamp(select(x, 0.0, isNaN(x)), -104.0, 88.7228394);
    let n = round(y * 1.44269504); let r = fma(n, -0.693359375, y); let s = fma(n, 2.12194440e-4, r);
    var p = 1.9875691500e-4; p = fma(p, s, 1.3981999507e-3); p = fma(p, s, 8.3334519073e-3); p = fma(p, s, 4.1665795894e-2);
    p = fma(p, s, 1.6666665459e-1); p = fma(p, s, 5.0000001201e-1); p = fma(p, s * s, s) + 1.0;
    let k = i32(n); let h = k / 2; let e = p * fPow2(h) * fPow2(k - h);
    return select(select(select(e, 0.0, x < -104.0), fInf(), x > 88.7228394), x, isNaN(x)); }`,
  // Of what is not above 0. Results too small for whole numbers of 24 bits are 0, as GPUs may have them.
  fExpBelow: `fn fExpBelow(x: f32) -> f32 {
    let n = round(x * 1.44269504); let r = fma(n, -0.693359375, x); let s = fma(n, 2.12194440e-4, r);
    var p = 1.9875691500e-4; p = fma(p, s, 1.3981999507e-3); p = fma(p, s, 8.3334519073e-3); p = fma(p, s, 4.1665795894e-2);
    p = fma(p, s, 1.6666665459e-1); p = fma(p, s, 5.0000001201e-1); p = fma(p, s * s, s) + 1.0;
    return select(p * fPow2(i32(max(n, -126.0))), 0.0, x < -87.0); }`,
  fExpm1: `fn fExpm1(x: f32) -> f32 {
    if (fAbs(x) < 0.35) {
      var p = 2.4801587e-5; p = fma(p, x, 1.9841270e-4); p = fma(p, x, 1.3888889e-3); p = fma(p, x, 8.3333333e-3);
      p = fma(p, x, 4.1666667e-2); p = fma(p, x, 1.6666667e-1); p = fma(p, x, 0.5); return fma(p, x * x, x); }
    return fExp(x) - 1.0; }`,
  fLog: `fn fLog(x: f32) -> f32 {
    let b0 = bitcast<u32>(x);
    if (isNaN(x) || b0 == 0x7f800000u) { return x; }
    if ((b0 & 0x7fffffffu) == 0u) { return fNeg(fInf()); }
    if (b0 > 0x7fffffffu) { return fNaN(); }
    let tiny = x < 1.17549435e-38; let b = bitcast<u32>(select(x, x * 8388608.0, tiny));
    var e = i32(b >> 23u) - 126 - select(0, 23, tiny); var m = bitcast<f32>((b & 0x7fffffu) | 0x3f000000u);
    if (m < 0.707106781) { e = e - 1; m = m + m; }
    m = m - 1.0; let z = m * m; let f = f32(e);
    var p = 7.0376836292e-2; p = fma(p, m, -1.1514610310e-1); p = fma(p, m, 1.1676998740e-1); p = fma(p, m, -1.2420140846e-1);
    p = fma(p, m, 1.4249322787e-1); p = fma(p, m, -1.6668057665e-1); p = fma(p, m, 2.0000714765e-1); p = fma(p, m, -2.4999993993e-1);
    p = fma(p, m, 3.3333331174e-1); p = p * m * z; p = fma(f, -2.12194440e-4, p); p = fma(-0.5, z, p);
    return fma(f, 0.693359375, m + p); }`,
  // ln(1 + m) for m between √½ − 1 and √2 − 1.
  fLogNear: `fn fLogNear(m: f32) -> f32 { let z = m * m;
    var p = 7.0376836292e-2; p = fma(p, m, -1.1514610310e-1); p = fma(p, m, 1.1676998740e-1); p = fma(p, m, -1.2420140846e-1);
    p = fma(p, m, 1.4249322787e-1); p = fma(p, m, -1.6668057665e-1); p = fma(p, m, 2.0000714765e-1); p = fma(p, m, -2.4999993993e-1);
    p = fma(p, m, 3.3333331174e-1); return m + fma(-0.5, z, p * m * z); }`,
  // Without the usual correction by x − ((1 + x) − 1), which compilers take for 0.
  fLog1p: `fn fLog1p(x: f32) -> f32 {
    if (x == 0.0) { return x; } if (x > -0.2928 && x < 0.4142) { return fLogNear(x); } return fLog(1.0 + x); }`,
  // The rest of x by quarters of a turn, in three parts of π/2: good to some 10^5.
  fQuarter: 'fn fQuarter(x: f32) -> f32 { return round(x * 0.636619772); }',
  fReduced: `fn fReduced(x: f32, n: f32) -> f32 {
    var r = fma(n, -1.5703125, x); r = fma(n, -4.837512969970703e-4, r); return fma(n, -7.549789954891882e-8, r); }`,
  fSinPart: `fn fSinPart(r: f32) -> f32 { let z = r * r;
    var p = -1.9515295891e-4; p = fma(p, z, 8.3321608736e-3); p = fma(p, z, -1.6666654611e-1); return fma(p * z, r, r); }`,
  fCosPart: `fn fCosPart(r: f32) -> f32 { let z = r * r;
    var p = 2.443315711809948e-5; p = fma(p, z, -1.388731625493765e-3); p = fma(p, z, 4.166664568298827e-2); return fma(p * z, z, fma(-0.5, z, 1.0)); }`,
  fSin: `fn fSin(x: f32) -> f32 {
    if (!isFinite(x)) { return fNaN(); }
    let n = fQuarter(x); let r = fReduced(x, n); let q = i32(n) & 3;
    let y = select(fSinPart(r), fCosPart(r), (q & 1) != 0); if (x == 0.0) { return x; } return select(y, -y, q >= 2); }`,
  fCos: `fn fCos(x: f32) -> f32 {
    if (!isFinite(x)) { return fNaN(); }
    let n = fQuarter(x); let r = fReduced(x, n); let q = i32(n) & 3;
    let y = select(fCosPart(r), fSinPart(r), (q & 1) != 0); return select(y, -y, q == 1 || q == 2); }`,
  fTan: `fn fTan(x: f32) -> f32 {
    if (!isFinite(x)) { return fNaN(); } if (x == 0.0) { return x; }
    let n = fQuarter(x); let r = fReduced(x, n); let s = fSinPart(r); let c = fCosPart(r);
    if ((i32(n) & 1) != 0) { return fDiv(-c, s); } return fDiv(s, c); }`,
  fAtan: `fn fAtan(x: f32) -> f32 {
    if (isNaN(x)) { return x; }
    let a = fAbs(x); var y = 0.0; var t = a;
    if (a > 2.414213562) { y = 1.570796327; if (isInf(a)) { t = 0.0; } else { t = -1.0 / a; } }
    else if (a > 0.414213562) { y = 0.785398163; t = (a - 1.0) / (a + 1.0); }
    let z = t * t; var p = 8.05374449538e-2; p = fma(p, z, -1.38776856032e-1); p = fma(p, z, 1.99777106478e-1); p = fma(p, z, -3.33329491539e-1);
    return fCopySign(y + fma(p * z, t, t), x); }`,
  fAtan2: `fn fAtan2(y: f32, x: f32) -> f32 {
    if (isNaN(x)) { return x; } if (isNaN(y)) { return y; }
    let back = bitcast<u32>(x) > 0x7fffffffu;
    if (isInf(x) && isInf(y)) { return fCopySign(select(0.785398163, 2.356194490, back), y); }
    if (y == 0.0) { return fCopySign(select(0.0, 3.141592654, back), y); }
    let t = fAtan(fDiv(fAbs(y), fAbs(x)));
    return fCopySign(select(t, 3.141592654 - t, back), y); }`,
  fAsinPart: `fn fAsinPart(a: f32, z: f32) -> f32 {
    var p = 4.2163199048e-2; p = fma(p, z, 2.4181311049e-2); p = fma(p, z, 4.5470025998e-2); p = fma(p, z, 7.4953002686e-2); p = fma(p, z, 1.6666752422e-1);
    return fma(p * z, a, a); }`,
  fAsin: `fn fAsin(x: f32) -> f32 {
    let a = fAbs(x); if (isNaN(x)) { return x; } if (a > 1.0) { return fNaN(); }
    if (a > 0.5) { let z = 0.5 * (1.0 - a); let s = sqrt(z); return fCopySign(1.570796327 - 2.0 * fAsinPart(s, z), x); }
    return fCopySign(fAsinPart(a, a * a), x); }`,
  fAcos: `fn fAcos(x: f32) -> f32 {
    let a = fAbs(x); if (isNaN(x)) { return x; } if (a > 1.0) { return fNaN(); }
    if (a > 0.5) { let z = 0.5 * (1.0 - a); let y = 2.0 * fAsinPart(sqrt(z), z); return select(y, 3.141592654 - y, x < 0.0); }
    return 1.570796327 - fCopySign(fAsinPart(a, a * a), x); }`,
  fSinh: `fn fSinh(x: f32) -> f32 {
    let a = fAbs(x); if (!isFinite(x)) { return x; }
    if (a > 88.0) { let h = fExp(0.5 * a); return fCopySign(0.5 * h * h, x); }
    let e = fExpm1(a); return fCopySign(0.5 * (e + e / (e + 1.0)), x); }`,
  fCosh: `fn fCosh(x: f32) -> f32 {
    let a = fAbs(x); if (!isFinite(x)) { return a; }
    if (a > 88.0) { let h = fExp(0.5 * a); return 0.5 * h * h; }
    let e = fExp(a); return 0.5 * e + 0.5 / e; }`,
  // exp(2|x|) − 1 as 2ⁿ · (exp(s) − 1) + 2ⁿ − 1, which is as exact near 0, where n is 0.
  fTanh: `fn fTanh(x: f32) -> f32 {
    let y = 2.0 * select(min(fAbs(x), 10.0), 0.0, isNaN(x));
    let n = round(y * 1.44269504); let r = fma(n, -0.693359375, y); let s = fma(n, 2.12194440e-4, r);
    var p = 1.9875691500e-4; p = fma(p, s, 1.3981999507e-3); p = fma(p, s, 8.3334519073e-3); p = fma(p, s, 4.1665795894e-2);
    p = fma(p, s, 1.6666665459e-1); p = fma(p, s, 5.0000001201e-1); p = fma(p, s * s, s);
    let scale = fPow2(i32(n)); let e = fma(scale, p, scale - 1.0);
    return select(fCopySign(e / (e + 2.0), x), x, isNaN(x)); }`,
  fAsinh: `fn fAsinh(x: f32) -> f32 {
    let a = fAbs(x); if (!isFinite(x)) { return x; }
    if (a > 1.0e9) { return fCopySign(fLog(a) + 0.693147181, x); }
    let z = a * a; return fCopySign(fLog1p(a + z / (1.0 + sqrt(z + 1.0))), x); }`,
  fAcosh: `fn fAcosh(x: f32) -> f32 {
    if (isNaN(x) || bitcast<u32>(x) == 0x7f800000u) { return x; } if (x < 1.0) { return fNaN(); }
    if (x > 1.0e9) { return fLog(x) + 0.693147181; }
    let t = x - 1.0; return fLog1p(t + sqrt(2.0 * t + t * t)); }`,
  fAtanh: `fn fAtanh(x: f32) -> f32 {
    let a = fAbs(x); if (isNaN(x) || x == 0.0) { return x; } if (a > 1.0) { return fNaN(); } if (a == 1.0) { return fCopySign(fInf(), x); }
    return fCopySign(0.5 * fLog1p(2.0 * a / (1.0 - a)), x); }`,
  fSigmoid: `fn fSigmoid(x: f32) -> f32 {
    let e = fExp(-fAbs(x)); return select(select(1.0, e, x < 0.0) / (1.0 + e), x, isNaN(x)); }`,
  fSoftplus: `fn fSoftplus(x: f32) -> f32 {
    if (isNaN(x)) { return x; } if (x > 30.0) { return x; } return max(x, 0.0) + fLog1p(fExp(-fAbs(x))); }`,
  // erf as x · P(x²) near 0; erfc as exp(−x²)/x · P(1/x²) in two ranges (the polynomials of Cephes).
  fErfNear: `fn fErfNear(x: f32) -> f32 { let z = x * x;
    var p = 7.853861353153693e-5; p = fma(p, z, -8.010193625184903e-4); p = fma(p, z, 5.188327685732524e-3); p = fma(p, z, -2.685381193529856e-2);
    p = fma(p, z, 1.128358514861418e-1); p = fma(p, z, -3.761262582423300e-1); p = fma(p, z, 1.128379165726710); return x * p; }`,
  fErfcTail: `fn fErfcTail(a: f32) -> f32 {
    if (a > 10.1) { return 0.0; }
    let head = trunc(a * 16.0) * 0.0625; let e = fExp(-head * head) * fExp(-(a - head) * (a + head));
    let q = 1.0 / a; let y = q * q; var p = 0.0;
    if (a < 2.0) {
      p = 2.326819970068386e-2; p = fma(p, y, -1.387039388740657e-1); p = fma(p, y, 3.687424674597105e-1); p = fma(p, y, -5.824733027278666e-1);
      p = fma(p, y, 6.210004621745983e-1); p = fma(p, y, -4.944515323274145e-1); p = fma(p, y, 3.404879937665872e-1); p = fma(p, y, -2.741127028184656e-1); p = fma(p, y, 5.638259427386472e-1);
    } else {
      p = -1.047766399936249e+1; p = fma(p, y, 1.297719955372516e+1); p = fma(p, y, -7.495518717768503); p = fma(p, y, 2.921019019210786);
      p = fma(p, y, -1.015265279202700); p = fma(p, y, 4.218463358204948e-1); p = fma(p, y, -2.820767439740514e-1); p = fma(p, y, 5.641895067754075e-1);
    }
    return e * q * p; }`,
  fErf: `fn fErf(x: f32) -> f32 {
    if (isNaN(x)) { return x; } let a = fAbs(x); if (a < 1.0) { return fErfNear(x); } return fCopySign(1.0 - fErfcTail(a), x); }`,
  fErfc: `fn fErfc(x: f32) -> f32 {
    if (isNaN(x)) { return x; } let a = fAbs(x); if (a < 1.0) { return 1.0 - fErfNear(x); } let t = fErfcTail(a); return select(t, 2.0 - t, x < 0.0); }`,
  // Giles, Approximating the erfinv function, 2012: single precision.
  fErfinv: `fn fErfinv(x: f32) -> f32 {
    let a = fAbs(x); if (isNaN(x) || x == 0.0) { return x; } if (a > 1.0) { return fNaN(); } if (a == 1.0) { return fCopySign(fInf(), x); }
    var w = -fLog((1.0 - a) * (1.0 + a)); var p = 0.0;
    if (w < 5.0) { w = w - 2.5;
      p = 2.81022636e-08; p = fma(p, w, 3.43273939e-07); p = fma(p, w, -3.5233877e-06); p = fma(p, w, -4.39150654e-06); p = fma(p, w, 0.00021858087);
      p = fma(p, w, -0.00125372503); p = fma(p, w, -0.00417768164); p = fma(p, w, 0.246640727); p = fma(p, w, 1.50140941);
    } else { w = sqrt(w) - 3.0;
      p = -0.000200214257; p = fma(p, w, 0.000100950558); p = fma(p, w, 0.00134934322); p = fma(p, w, -0.00367342844); p = fma(p, w, 0.00573950773);
      p = fma(p, w, -0.0076224613); p = fma(p, w, 0.00943887047); p = fma(p, w, 1.00167406); p = fma(p, w, 2.83297682); }
    return p * x; }`,
  // x^y as 2^(y · log2 |x|), whose logarithm is kept in two parts.
  // The normal number between -2 and 2 of a word, by Wichura's algorithm AS 241: the distance of the word from the nearer end is exact.
  fTruncated: `fn fTruncated(word: u32) -> f32 {
    let q = (f32(bitcast<i32>(word ^ 0x80000000u)) + 0.5) * 2.2223678792445957e-10;
    if (fAbs(q) <= 0.425) {
      let r = fma(-q, q, 0.180625);
      var n = 2509.0809287301227; n = fma(n, r, 33430.57558358813); n = fma(n, r, 67265.7709270087); n = fma(n, r, 45921.95393154987); n = fma(n, r, 13731.69376550946); n = fma(n, r, 1971.5909503065513); n = fma(n, r, 133.14166789178438); n = fma(n, r, 3.3871328727963665);
      var d = 5226.495278852854; d = fma(d, r, 28729.085735721943); d = fma(d, r, 39307.89580009271); d = fma(d, r, 21213.794301586597); d = fma(d, r, 5394.196021424751); d = fma(d, r, 687.1870074920579); d = fma(d, r, 42.31333070160091); d = fma(d, r, 1.0);
      return fDiv(q * n, d); }
    let end = select(word, 4294967295u - word, q > 0.0); let s = fSqrt(-fLog(fma(f32(end) + 0.5, 2.2223678792445957e-10, 0.02275013194817921))) - 1.6;
    var m = 0.0007745450142783414; m = fma(m, s, 0.022723844989269184); m = fma(m, s, 0.2417807251774506); m = fma(m, s, 1.2704582524523684); m = fma(m, s, 3.6478483247632045); m = fma(m, s, 5.769497221460691); m = fma(m, s, 4.630337846156546); m = fma(m, s, 1.4234371107496835);
    var e = 1.0507500716444169e-9; e = fma(e, s, 0.0005475938084995345); e = fma(e, s, 0.015198666563616457); e = fma(e, s, 0.14810397642748008); e = fma(e, s, 0.6897673349851); e = fma(e, s, 1.6763848301838038); e = fma(e, s, 2.053191626637759); e = fma(e, s, 1.0);
    let tail = min(fDiv(m, e), 2.0); return select(tail, -tail, q < 0.0); }`,
  fPow: `fn fPow(x: f32, y: f32) -> f32 {
    if (y == 0.0 || x == 1.0) { return 1.0; } if (isNaN(x)) { return x; } if (isNaN(y)) { return y; }
    let a = fAbs(x); let whole = isInf(y) || trunc(y) == y; let h = y * 0.5;
    let odd = isFinite(y) && whole && fAbs(y) < 16777216.0 && trunc(h) != h; let flip = odd && bitcast<u32>(x) > 0x7fffffffu;
    if (isInf(y)) { if (a == 1.0) { return 1.0; } if ((a > 1.0) == (y > 0.0)) { return fInf(); } return 0.0; }
    if (a == 0.0 || isInf(a)) { let big = (a == 0.0) == (y < 0.0); let v = select(0.0, fInf(), big); return select(v, fNeg(v), flip); }
    if (x < 0.0 && !whole) { return fNaN(); }
    let tiny = a < 1.17549435e-38; let b = bitcast<u32>(select(a, a * 8388608.0, tiny));
    var e = i32(b >> 23u) - 126 - select(0, 23, tiny); var m = bitcast<f32>((b & 0x7fffffu) | 0x3f000000u);
    if (m < 0.707106781) { e = e - 1; m = m + m; }
    let t = m - 1.0; let d = m + 1.0; let s = t / d; let sl = fma(-s, d, t) / d - s * ((m - d + 1.0) / d); let z = s * s;
    var p = 0.22222222; p = fma(p, z, 0.28571429); p = fma(p, z, 0.4); p = fma(p, z, 0.66666667);
    let r = fma(p * z, s, 2.0 * sl); let lh = 2.0 * s; let f = f32(e);
    let ph = lh * 1.44269504; let pl = fma(lh, 1.44269504, -ph) + lh * 1.925963033e-8 + r * 1.44269504;
    let hi = f + ph; let low = (f - hi) + ph + pl;
    let q = y * hi; let ql = fma(y, hi, -q) + y * low;
    var v = 0.0;
    if (q >= 128.5) { v = fInf(); } else if (q > -151.0) {
      let n = round(q); let w = (q - n) + ql; let g = fExp2Part(w); let k = i32(n); let k2 = k / 2; v = g * fPow2(k2) * fPow2(k - k2); }
    return select(v, fNeg(v), flip); }`,
  fExp2Part: `fn fExp2Part(w: f32) -> f32 {
    var p = 1.535336188e-4; p = fma(p, w, 1.339887440e-3); p = fma(p, w, 9.618437357e-3); p = fma(p, w, 5.550332548e-2); p = fma(p, w, 2.402264791e-1); p = fma(p, w, 6.931472028e-1); return fma(p, w, 1.0); }`,
  fToI: `fn fToI(x: f32) -> i32 {
    if (isNaN(x)) { return 0; } if (x >= 2147483648.0) { return 2147483647; } if (x <= -2147483648.0) { return -2147483647 - 1; } return i32(x); }`,
  // To an unsigned byte.
  fToByte:
    'fn fToByte(x: f32) -> u32 { if (!(x > 0.0)) { return 0u; } if (x >= 255.0) { return 255u; } return u32(x); }',
  // Integers wrap, which C++ knows of those without a sign only.
  iAdd: 'fn iAdd(a: i32, b: i32) -> i32 { return bitcast<i32>(bitcast<u32>(a) + bitcast<u32>(b)); }',
  iSub: 'fn iSub(a: i32, b: i32) -> i32 { return bitcast<i32>(bitcast<u32>(a) - bitcast<u32>(b)); }',
  iMul: 'fn iMul(a: i32, b: i32) -> i32 { return bitcast<i32>(bitcast<u32>(a) * bitcast<u32>(b)); }',
  iNeg: 'fn iNeg(a: i32) -> i32 { return bitcast<i32>(0u - bitcast<u32>(a)); }',
  iAbs: 'fn iAbs(a: i32) -> i32 { return select(a, iNeg(a), a < 0); }',
  iSign: 'fn iSign(a: i32) -> i32 { return select(select(0, 1, a > 0), -1, a < 0); }',
  // By zero gives zero: who calls it says so. The quotient of the lowest integer and −1 wraps.
  iDiv: 'fn iDiv(a: i32, b: i32) -> i32 { if (b == 0) { return 0; } if (b == -1) { return iNeg(a); } return a / b; }',
  iRem: 'fn iRem(a: i32, b: i32) -> i32 { if (b == 0 || b == -1) { return 0; } return a % b; }',
  iFloorDiv: `fn iFloorDiv(a: i32, b: i32) -> i32 {
    let q = iDiv(a, b); if (iRem(a, b) != 0 && (a < 0) != (b < 0)) { return q - 1; } return q; }`,
  iMod: 'fn iMod(a: i32, b: i32) -> i32 { let r = iRem(a, b); if (r != 0 && (r < 0) != (b < 0)) { return r + b; } return r; }',
  iPow: `fn iPow(x: i32, y: i32) -> i32 {
    var r = 1u; var b = bitcast<u32>(x); for (var k = y; k > 0; k = k / 2) { if ((k & 1) != 0) { r = r * b; } b = b * b; } return bitcast<i32>(r); }`,
  iShl: `fn iShl(x: i32, y: i32) -> i32 {
    if (y <= 0) { return x; } if (y > 31) { return 0; } return bitcast<i32>(bitcast<u32>(x) << u32(y)); }`,
  iShr: 'fn iShr(x: i32, y: i32) -> i32 { return x >> u32(clamp(y, 0, 31)); }',
  uDiv: 'fn uDiv(a: u32, b: u32) -> u32 { if (b == 0u) { return 0u; } return a / b; }',
  uRem: 'fn uRem(a: u32, b: u32) -> u32 { if (b == 0u) { return 0u; } return a % b; }',
  uPow: `fn uPow(x: u32, y: u32) -> u32 {
    var r = 1u; var b = x; for (var k = y; k > 0u; k = k / 2u) { if ((k & 1u) != 0u) { r = r * b; } b = b * b; } return r; }`,
  uShl: 'fn uShl(x: u32, y: u32) -> u32 { if (y > 31u) { return 0u; } return x << y; }',
  uShr: 'fn uShr(x: u32, y: u32) -> u32 { if (y > 31u) { return 0u; } return x >> y; }',
  // Floats of 16 bits, by their bits. Rounded half to even.
  halfToF: `fn halfToF(h: u32) -> f32 {
    let s = (h & 0x8000u) << 16u; let e = (h >> 10u) & 31u; let m = h & 0x3ffu;
    if (e == 31u) { var b = s | 0x7f800000u | (m << 13u); return bitcast<f32>(b); }
    if (e == 0u) { return fCopySign(f32(m) * 5.9604644775390625e-8, bitcast<f32>(s | 0x3f800000u)); }
    return bitcast<f32>(s | ((e + 112u) << 23u) | (m << 13u)); }`,
  fToHalf: `fn fToHalf(x: f32) -> u32 {
    let b = bitcast<u32>(x); let s = (b >> 16u) & 0x8000u; let a = b & 0x7fffffffu;
    if (a > 0x7f800000u) { return s | 0x7e00u; } if (a >= 0x477ff000u) { return s | 0x7c00u; }
    if (a < 0x38800000u) { return s | u32(round(bitcast<f32>(a) * 16777216.0)); }
    return s | ((a - 0x38000000u + 0xfffu + ((a >> 13u) & 1u)) >> 13u); }`,
  bfloatToF: 'fn bfloatToF(h: u32) -> f32 { var b = h << 16u; return bitcast<f32>(b); }',
  fToBfloat: `fn fToBfloat(x: f32) -> u32 {
    let b = bitcast<u32>(x); let high = b >> 16u;
    return select((b + 0x7fffu + (high & 1u)) >> 16u, high | 0x40u, (b & 0x7fffffffu) > 0x7f800000u); }`,
  // The words of a float64, low first, as a float32.
  doubleToF: `fn doubleToF(low: u32, high: u32) -> f32 {
    let s = high & 0x80000000u; let e = i32((high >> 20u) & 2047u) - 1023; let rest = low & 0x1fffffffu;
    var m = ((high & 0xfffffu) << 3u) | (low >> 29u);
    if (e == 1024) { var b = s | 0x7f800000u | m | select(0u, 1u, rest != 0u); return bitcast<f32>(b); }
    if (e < -126) { return bitcast<f32>(s); }
    if (rest > 0x10000000u || (rest == 0x10000000u && (m & 1u) != 0u)) { m = m + 1u; }
    if (e > 127) { var b = s | 0x7f800000u; return bitcast<f32>(b); }
    var bits = (u32(e + 127) << 23u) + m; return bitcast<f32>(s | bits); }`,
  // The words of a float64 that is this float32; those too small for 24 bits are 0, as in `doubleToF`.
  doubleLow:
    'fn doubleLow(x: f32) -> u32 { let b = bitcast<u32>(x); return select((b & 7u) << 29u, 0u, (b & 0x7f800000u) == 0u); }',
  doubleHigh: `fn doubleHigh(x: f32) -> u32 {
    let b = bitcast<u32>(x); let s = b & 0x80000000u; let e = (b >> 23u) & 255u;
    if (e == 0u) { return s; }
    return s | (select(e + 896u, 2047u, e == 255u) << 20u) | ((b & 0x7fffffu) >> 3u); }`,
  // Integers of 64 bits as two words, the lower first. Those of floats are the nearest to zero; too large ones are the largest, NaN is 0.
  longLess: `fn longLess(al: u32, ah: u32, bl: u32, bh: u32) -> bool {
    if (ah == bh) { return al < bl; } return bitcast<i32>(ah) < bitcast<i32>(bh); }`,
  longNegHigh: 'fn longNegHigh(low: u32, high: u32) -> u32 { return ~high + u32(low == 0u); }',
  // Rounded once: the upper 32 bits of its size, with the rest as the lowest of them, in parts that need no rounding, for which GPUs have no rule.
  longToF: `fn longToF(low: u32, high: u32) -> f32 {
    let s = high > 0x7fffffffu;
    var l = select(low, 0u - low, s); var h = select(high, longNegHigh(low, high), s);
    var scale = 1.0;
    if (h == 0u) { h = l; } else {
      scale = 4294967296.0;
      for (var i = 0u; i < 32u && h < 0x80000000u; i++) { h = (h << 1u) | (l >> 31u); l = l << 1u; scale = scale * 0.5; }
      h = h | u32(l != 0u);
    }
    return select(scale, -scale, s) * (f32(h & 0xffffff00u) + f32(h & 255u)); }`,
  fToLongLow: `fn fToLongLow(x: f32) -> u32 {
    if (isNaN(x)) { return 0u; }
    if (fAbs(x) >= 9223372036854775808.0) { return select(0u, 0xffffffffu, x > 0.0); }
    let size = trunc(fAbs(x)); let low = u32(size - floor(size / 4294967296.0) * 4294967296.0);
    return select(low, 0u - low, x < 0.0); }`,
  fToLongHigh: `fn fToLongHigh(x: f32) -> u32 {
    if (isNaN(x)) { return 0u; }
    if (fAbs(x) >= 9223372036854775808.0) { return select(0x80000000u, 0x7fffffffu, x > 0.0); }
    let high = u32(fAbs(x) / 4294967296.0);
    return select(high, longNegHigh(fToLongLow(fAbs(x)), high), x < 0.0); }`,
  // The upper half of the product of two words.
  mulHigh: `fn mulHigh(a: u32, b: u32) -> u32 {
    let al = a & 0xffffu; let ah = a >> 16u; let bl = b & 0xffffu; let bh = b >> 16u;
    let m = ah * bl + ((al * bl) >> 16u); let n = al * bh + (m & 0xffffu); return ah * bh + (m >> 16u) + (n >> 16u); }`,
};

const NAMES = new RegExp(`\\b(${Object.keys(functions).join('|')})\\(`, 'g');

/** Puts the functions of this file that some text calls before it, each behind those that it calls itself. */
export function withMath(text: string): string {
  const order: string[] = [];
  const seen = new Set<string>();
  const visit = (inner: string): void => {
    for (const [, name] of inner.matchAll(NAMES)) {
      if (seen.has(name)) continue;
      seen.add(name);
      visit(functions[name]);
      order.push(name);
    }
  };
  visit(text);
  // What printers call where elements of 16 bits are read and written.
  for (const [dtype, { load, store }] of Object.entries(narrowFunctions))
    if (text.includes(`array<${dtype}>`)) visit(`${load}() ${store}()`);
  return `${order.map((name) => functions[name]).join('\n')}\n${text}`;
}
