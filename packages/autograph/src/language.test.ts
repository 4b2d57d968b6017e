// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are the programs'
// Programs that use the language in unusual ways mean what they mean without conversion.
import { processorTime } from '../../testing/src/processor-time.ts';
import '@eagre/backend-js';
import * as core from '@eagre/core';
import { constant } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { expect, test } from 'vitest';
import { convert } from './convert.ts';
import { moduleOf, type Plain, values } from './testing/functions.ts';

const tf = { ...core, function: tfFunction };
const user = (body: string, head = ''): Plain =>
  moduleOf(`${head}import * as tf from 'eagre';\n${body}`, 'f', { tf }).f as Plain;
const traced = (fn: Plain): Plain => tfFunction(fn as (...args: never[]) => unknown) as unknown as Plain;

/** Numbers as float32 holds them, and booleans as numbers. */
function near(x: unknown): unknown {
  if (Array.isArray(x)) return x.map(near);
  return typeof x === 'number' || typeof x === 'boolean' ? Number(Number(x).toPrecision(5)) + 0 : x;
}

test.each([
  [
    'v$',
    'const f = (x) => { let v$ = 1; let s = 0; while (v$ < x) { v$ += 1; s = s + v$; } return s + v$; }',
  ],
  [
    't$',
    'const f = (x) => { let t$ = 1, a = 0; for (a of [1,2,3]) { if (a > x) break; t$ += a; } return t$ + a; }',
  ],
  [
    'asi update',
    'const f = (x) => {\n  let y = x\n  y++\n  let z = y\n  y > 2 ? z = 1 : z = 2\n  !(z > 1) && (z = 7)\n  return y + z\n}',
  ],
  ['asi directive', "function f(x) {\n  'use autograph'\n  let y = x\n  if (y > 0) y = -y\n  return y\n}"],
  [
    'template exprs',
    'const f = (x) => { const s = `${[1,2].map((v) => v > 1 ? v : -v).join("")}`; return x + s.length; }',
  ],
  [
    'template cond',
    'const f = (x) => { let k = 0; const s = `${x > 0 ? (k = 1, "a") : "a"}b`; return s.length + k; }',
  ],
  [
    'tagged',
    'const tag = (s, ...v) => v[0] > 1 ? v[0] : v[1]; const f = (x) => tag`a${x}b${x > 2 ? 1 : 5}`;',
  ],
  ['comma if', 'const f = (x) => { if (x += 1, x > 2) return 1; return 2; }'],
  ['comma while', 'const f = (x) => { let i = 0; while (i++, i < 3) x += i; return x; }'],
  ['comma switch', 'const f = (x) => { let k = 0; switch (k = 1, k) { case 1: return x; } return 3; }'],
  ['comma return in if', 'const f = (x) => { let k; if (x > 0) return k = 1, x * 2; return k = 2, x; }'],
  [
    'comma throw',
    'const f = (x) => { let k = 0; try { throw k = 1, new Error("a"); } catch (e) { return e.message.length + k + x; } }',
  ],
  [
    'comma member',
    'const f = (x) => { const o = [1, 2]; let k; o[k = 1, k] += x; o[k = 0, k]++; return o[0] + o[1]; }',
  ],
  ['comma ternary', 'const f = (x) => { let k = 0; return (k = 5, x > 2) ? (k, 1) : (k, 2); }'],
  [
    'hoisted fn uses later const',
    'const f = (x) => { if (x > 2) return 1; const k = 2; function g(v) { return v * k; } return g(x); }',
  ],
  [
    'hoisted fn used before',
    'const f = (x) => { if (g(x) > 2) return 1; let s = 0; function g(v) { return v + h(); } function h() { return 1; } s = g(2); return s; }',
  ],
  [
    'shadow in loop body',
    'const f = (x) => { let s = 0; for (const i of [1,2,3]) { const i = 2; if (x > i) s += i; } return s; }',
  ],
  [
    'catch in branch',
    'const f = (x) => { let y = 0; if (x > 0) { try { throw new Error("a"); } catch (e) { y = e.message.length; } } return y; }',
  ],
  [
    'member of new object',
    'const f = (x) => { let o; if (x > 2) { o = { v: 1 }; o.v = x; } else { o = { v: 2 }; o.v += 1; } return o.v; }',
  ],
  [
    'member of member',
    'const f = (x) => { const t = { }; if (x > 2) { t.o = { v: 1 }; t.o.v = x; } else { t.o = { v: 2 }; t.o.v += 1; } return t.o.v; }',
  ],
  [
    'super.x +=',
    'class A { get x() { return this.k ?? 1; } set x(v) { this.k = v; } } class B extends A { up(x) { super.x += x; super.x++; if (x > 1) super.x = x; return super.x; } } const f = (x) => new B().up(x);',
  ],
  [
    'getter once',
    'const f = (x) => { let n = 0; const o = { get p() { n++; return this.q; }, q: { k: 1 } }; o.p.k++; o.p.k += x; return [n, o.q.k]; }',
  ],
  [
    'class keeps loop var',
    'const f = (x) => { const cs = []; for (let i = 0; i < 3; i++) cs.push(class { v = i; }); let s = 0; for (const c of cs) s += new c().v * x; return s; }',
  ],
  [
    'closure per iteration',
    'const f = (x) => { const fs = []; for (let i = 0; i < 3; i++) { fs.push(() => i * x); } return fs[0]() + fs[2](); }',
  ],
  ['param closure', 'function f(x, g = () => x) { x = x + 1; if (x > 2) x = 9; return g(); }'],
  [
    'tf shadowed',
    'const f = (x) => { const tf = { n: 3, range(k) { return [this.n, k]; } }; let s = 0; for (const i of tf.range(2)) { if (x > i) s += i; } return s; }',
  ],
  ['param ag$', 'const f = (ag$, ag$0 = 1) => { let v = ag$; while (v < 5) v += ag$0; return v; }'],
  [
    'slice push in branch',
    'const f = (x) => { let y = 0; const base = [1, 2]; if (x > 2) { const b = base.slice(); b.push(3); y = b.length; } return y; }',
  ],
  [
    'map set',
    'const f = (x) => { let y = 0; if (x > 2) { const b = new Map(); b.set("a", x); y = b.get("a"); const c = [...b.values()]; c.push(1); y = y + c.length; } return y; }',
  ],
  [
    'labels nested',
    'const f = (x) => { let s = 0; a: for (let i = 0; i < 3; i++) { b: for (let j = 0; j < 3; j++) { if (j === 1) continue b; if (i === 1) continue a; if (i === 2 && j === 2) break a; if (x > j) s += 1; } } return s; };',
  ],
  [
    'label on block',
    'const f = (x) => { let s = 0; a: { if (s === 0) { s = 1; break a; } s = 5; } if (x > 2) s += x; return s; };',
  ],
  [
    'label while with tensor loop inside',
    'const f = (x) => { let s = 0; a: while (s < 3) { s += 1; let k = x; while (k < 10) k = k * 2 + 5; if (s === 2) break a; } return s; };',
  ],
  [
    'switch continue',
    'const f = (x) => { let s = 0; for (let i = 0; i < 4; i++) { switch (i) { case 0: continue; case 1: if (x > 2) s += 1; break; default: { s += 10; if (i === 3) break; s += 100; } } s += 1000; } return s; };',
  ],
  [
    'switch in while by tensor',
    'const f = (x) => { let s = 0; let i = 0; while (i < x) { i += 1; switch (2) { case 1: s = 4; break; case 2: s += 1; } } return s; };',
  ],
  [
    'try in while by tensor',
    'const f = (x) => { let s = 0; let i = 0; while (i < x) { i += 1; try { s += 2; } finally { s += 1; } } return s; };',
  ],
  [
    'early return nested loops',
    'const f = (x) => { for (let i = 0; i < 3; i++) { for (let j = 0; j < 3; j++) { if (x > 2) { if (j === 1) return i * 10 + j; } } } return -1; };',
  ],
  [
    'do while continue',
    'const f = (x) => { let s = 0, i = 0; do { i += 1; if (i === 2) continue; s += i; if (s > x) break; } while (i < 5); return s; };',
  ],
  [
    'for in',
    'const f = (x) => { let s = 0; for (const k in { a: 1, b: 2 }) { if (k === "a") continue; if (x > 2) s += 1; } return s; };',
  ],
  [
    'for in with member',
    'const f = (x) => { const o = {}; for (o.k in { a: 1, b: 2 }) { if (x > 2) { } } return o.k.length; };',
  ],
  [
    'for of member',
    'const f = (x) => { const o = { k: 0 }; let s = 0; for (o.k of [1, 2]) { if (x > o.k) s += o.k; } return s + o.k; };',
  ],
  [
    'for of pattern assign',
    'const f = (x) => { let a, b, s = 0; for ([a, b = 3] of [[1], [2, 5]]) { if (x > a) s += b; } return s + a + b; };',
  ],
  [
    'for of defaults',
    'const f = (x) => { let s = 0; for (const { a = x > 2 ? 1 : 2, ...r } of [{ b: 1 }, { a: 3 }]) s += a + Object.keys(r).length; return s; };',
  ],
  [
    'params destructuring',
    'const g = ({ a = 1, b: [c, d = a > 0 ? 2 : 3] = [5] } = {}, ...[e = 7]) => a + c + d + e; const f = (x) => g({ a: x }) + g() + g({ b: [x, x] }, x);',
  ],
  [
    'getter setter',
    'class A { #v = 0; get v() { return this.#v > 1 ? this.#v : 0; } set v(k) { this.#v = k > 2 ? k * 2 : k; } } const f = (x) => { const a = new A(); a.v = x; a.v += 1; return a.v; }',
  ],
  [
    'super method',
    'class A { m(x) { return x > 1 ? x : -x; } static s(x) { return x > 2 ? 1 : 0; } } class B extends A { m(x) { const g = () => super.m(x); if (x > 2) return g() + 1; return super.m(x); } static s(x) { return super.s(x) + 1; } } const f = (x) => new B().m(x) + B.s(x);',
  ],
  [
    'object super',
    'const f = (x) => { const b = { m(v) { return v > 1 ? 1 : 2; } }; const o = { __proto__: b, m(v) { return super.m(v) * 10; } }; return o.m(x); };',
  ],
  [
    'private methods',
    'class A { #p(x) { return x > 2 ? 1 : 2; } get #q() { return 5; } static #s(x) { return x > 1; } m(x) { if (#p in this && A.#s(x)) return this.#p(x) + this.#q; return 0; } } const f = (x) => new A().m(x);',
  ],
  [
    'static block',
    'class A { static k; static { let s = 0; for (let i = 0; i < 3; i++) s += i; this.k = s > 2 ? 1 : 2; } } const f = (x) => x > 2 ? A.k : A.k + 1;',
  ],
  [
    'fields arrow',
    'class A { low = 2; call = (x) => { if (x > this.low) return x; return this.low; }; static z = (x) => x > 1 ? 1 : 0; } const f = (x) => new A().call(x) + A.z(x);',
  ],
  [
    'computed methods',
    'const k = "m"; class A { [k + "1"](x) { return x > 2 ? 1 : 2; } ["g" + (1 > 2 ? 1 : 2)] = 5; } const f = (x) => new A().m1(x) + new A().g2;',
  ],
  [
    'generator beside',
    'function* gen(x) { for (let i = 0; i < 2; i++) yield x + i; } const f = (x) => { let s = 0; for (const v of gen(2)) { if (x > v) s += v; } return s; }',
  ],
  [
    'optional call',
    'const f = (x) => { const o = { g: (v) => v > 2 ? 1 : 2 }; return o?.g?.(x) + (o.h?.(x) ?? 3) + (null?.[x > 1 ? 0 : 1] ?? 4); };',
  ],
  [
    'nullish assign',
    'const f = (x) => { const o = {}; let y; y ??= x > 2 ? 1 : 2; o.k ??= y; o.k ??= 99; o["z"] ??= 3; return o.k + y + o.z; };',
  ],
  [
    'logical assign',
    'const f = (x) => { let a = 0, b = 1; a ||= x > 2 ? 4 : 5; b &&= x > 2 ? 6 : 7; return a * 10 + b; };',
  ],
  [
    'exponent',
    'const f = (x) => { let y = 2 ** 3 ** 1; y **= 2; return x ** 2 + (-y) ** 2 + (x > 2 ? 2 : 3) ** 2; };',
  ],
  [
    'ops',
    'const f = (x) => { return ("a" in { a: 1 }) + ([] instanceof Array) + (typeof x === "symbol") + (void 0 === undefined) + ~5 + (5 & 3) + (1 << 2) + (x > 2 ? 1 : 0); };',
  ],
  [
    'typeof undeclared',
    'const f = (x) => { return (typeof nope === "undefined" ? 1 : 0) + (x > 2 ? 1 : 0); };',
  ],
  [
    'spread',
    'const f = (x) => { const g = (...a) => a.length > 2 ? a[0] : a[1]; const o = { ...{ a: 1 }, b: x, ...(x === null ? { c: 1 } : {}) }; return g(...[1, 2], ...[3]) + o.a + o.b + Math.max(...[1, 2]); };',
  ],
  [
    'computed member',
    'const f = (x) => { const o = { a1: 1, a2: 2 }; let k = "a"; return o[k + (1 > 2 ? 1 : 2)] + (x > 2 ? o[`${k}1`] : 0); };',
  ],
  [
    'arguments',
    'function g() { let s = 0; for (let i = 0; i < arguments.length; i++) { if (arguments[i] > 2) s += arguments[i]; } const h = () => arguments[0]; return s + h(); } const f = (x) => g(x, 3, 1);',
  ],
  [
    'new.target',
    'function G(x) { if (!new.target) return x > 2 ? 1 : 2; this.x = x; } const f = (x) => G(x) + new G(1).x;',
  ],
  [
    'named fn expr',
    'const f = (x) => { const g = function h(n) { if (n <= 0) return x; return h(n - 1) + 1; }; return g(3); };',
  ],
  [
    'iife',
    'const f = (x) => { const y = (function () { if (x > 2) return 1; return 2; })(); return y + (() => x > 2 ? 1 : 2)(); };',
  ],
  [
    'shadow in block',
    'const f = (x) => { let s = 1; { let s = x; if (s > 2) { let s = 5; s += 1; } else { s = 7; } } if (x > 2) { s = 3; } return s; };',
  ],
  [
    'shadow param in fn',
    'const f = (x) => { let s = 1; const g = (s) => { if (s > 2) s = 9; return s; }; return g(x) * 10 + s; };',
  ],
  [
    'catch shadows',
    'const f = (x) => { let e = 1; try { throw 5; } catch (e) { e = 6; } if (x > 2) e = 3; return e; };',
  ],
  [
    'fn name shadow',
    'const f = (x) => { let s = 0; for (const f of [1, 2]) { s += f; } if (x > 2) s += 1; return s; };',
  ],
  ['crlf', 'const f = (x) => { let y = x;\r\n  if (y > 2)\r\n y = 1;\r\nelse\r\n y = 2;\r\nreturn y\r\n };'],
  [
    'comments',
    'const f = (x) => { /* a */ let y /* b */ = /* c */ x // d\n /* e */ if /* f */ ( /* g */ y /* h */ > /* i */ 2 /* j */ ) /* k */ y // l\n = 1 /* m */; else /* n */ y = 2 // o\n return /* p */ y // q\n };',
  ],
  [
    'asi2',
    'const f = (x) => { let a = x\nlet b = a\n;[a, b] = [b, a]\nif (a > 2) a = 1\nelse a = 2\nreturn a\n+ b\n };',
  ],
  [
    'asi3',
    'const f = (x) => { let y = x\nlet z = [1, 2]\n++y\n--y\ny > 2 && (y = 1)\ny ||= 3\nfor (const v of z) y += v\nwhile (y > 100) y--\ndo y++; while (y < 3)\nreturn y };',
  ],
  [
    'asi5',
    'const f = (x) => { let y = 0\nif (x > 2) y++\nelse y--\nfor (let i = 0; i < 2; i++) y++\nreturn y };',
  ],
  [
    'empty statements',
    'const f = (x) => { ;;; if (x > 2); else x = 3; for (;;) break; while (x > 100); {} ; return x;; };',
  ],
  ['dangling else', 'const f = (x) => { let y = 0; if (x > 0) if (x > 2) y = 1; else y = 2; return y; };'],
  [
    'if without braces nested',
    'const f = (x) => { let y = 0; if (x > 2) for (const v of [1, 2]) if (v > 1) y += v; else y -= v; else while (y < 3) y++; return y; };',
  ],
  [
    'number methods',
    'const f = (x) => { return 1..toFixed(0).length + (5).toString().length + (x > 2 ? 1 : 2); };',
  ],
  [
    'regex and division',
    'const f = (x) => { const s = "a/b".replace(/\\//g, "").length; return x / s / 2 + (x > 2 ? /a/.test("a") : /b/.test("b")); };',
  ],
  ['bigint', 'const f = (x) => { let n = 5n; n += 1n; n++; return Number(n) + (x > 2 ? 1 : 0); };'],
  ['string plus', 'const f = (x) => { let s = "a"; s += "b" + 1 + 2; return s.length + (x > 2 ? 1 : 0); };'],
  [
    'postfix value',
    'const f = (x) => { let i = 0; const a = i++ + i++; const o = { k: 1 }; const b = o.k++ + ++o.k; const arr = [1]; const c = arr[0]++ + --arr[0]; return a + b * 10 + c * 100 + (x > 2 ? i++ : ++i); };',
  ],
  [
    'assign chain',
    'const f = (x) => { let a, b; const o = {}; a = b = o.k = x > 2 ? 1 : 2; a += b -= 1; return a + b + o.k; };',
  ],
  [
    'order of evaluation',
    'const f = (x) => { const log = []; const t = (k, v) => { log.push(k); return v; }; const o = { get a() { return t("a", 1); }, b: 2 }; t("x", o).b += t("y", 5); const z = t("l", 1) + t("r", 2) * t("s", 3); o[t("k", "b")] **= t("w", 2); return log.join("").length + z + o.b + (x > 2 ? 1 : 0); };',
  ],
  [
    'order 2',
    'const f = (x) => { let a = 1; const r = a + (a = 5) + a++ + (a += 2) * a; let q = a; q += (q = 3, q) + q; return r + q * 100 + (x > 2 ? 1 : 0); };',
  ],
  [
    'optional chain push',
    'const f = (x) => { const o = null; o?.list.push(1); const p = { l: [] }; p?.l.push(2, 3); const q = null; const n = q?.xs.map((v) => v).length; return p.l.length + (n ?? 5) + (x > 2 ? 1 : 0); };',
  ],
  [
    'destructure swap member',
    'const f = (x) => { const o = { a: 1, b: 2 }; [o.a, o.b] = [o.b, o.a]; ({ a: o.b, ...o.r } = { a: 7, z: 1 }); if (x > 2) [o.a] = [x]; return o.a * 10 + o.b + o.r.z; };',
  ],
  [
    'assign pattern default',
    'const f = (x) => { let a, b; ({ a = x > 2 ? 1 : 2, b: [b = 3] = [] } = {}); [a, b = a > 1 ? 4 : 5] = [a]; return a * 10 + b; };',
  ],
  [
    'nested fn decl in block',
    'const f = (x) => { let s = 0; if (x > 2) { s = g(); function g() { return 5; } } else { s = h(1); function h(k) { if (k > 0) return h(k - 1) + 1; return 0; } } return s; };',
  ],
  [
    'mutual hoist in rest',
    'const f = (x) => { if (x > 3) return g(1); const k = 3; function g(v) { return v > 0 ? h(v - 1) + 1 : 0; } function h(v) { return v > 0 ? g(v - 1) + 1 : 0; } return g(2) + k; };',
  ],
  [
    'class in rest',
    'const f = (x) => { if (x > 3) return 1; class K { m(v) { return v > 1 ? 1 : 2; } } return new K().m(x); };',
  ],
  [
    'return in switch in loop',
    'const f = (x) => { for (let i = 0; i < 3; i++) { switch (i) { case 1: return 7 + (x > 2 ? 1 : 0); default: } } return 0; };',
  ],
  [
    'loop in switch',
    'const f = (x) => { let s = 0; switch (1) { case 1: for (let i = 0; i < x; i++) { if (i > 1) break; s += i; } break; case 2: s = 9; } return s; };',
  ],
  [
    'loop in try',
    'const f = (x) => { let s = 0; try { for (let i = 0; i < x; i++) { if (i > 1) continue; s += i + 1; } } catch ({ message }) { s = message.length; } finally { s += 1; } return s; };',
  ],
  [
    'catch pattern',
    'const f = (x) => { let s = 0; try { throw { a: 1, b: [2] }; } catch ({ a, b: [c], d = x > 2 ? 1 : 2 }) { s = a + c + d; } return s; };',
  ],
  [
    'rethrow',
    'const f = (x) => { let s = 0; try { try { throw new Error("ab"); } catch (e) { s = 1; throw e; } finally { s += 1; } } catch (e) { s += e.message.length; } return s + (x > 2 ? 1 : 0); };',
  ],
  [
    'catch no param',
    'const f = (x) => { let s = 0; try { null.x; } catch { s = 4; } return s + (x > 2 ? 1 : 0); };',
  ],
  [
    'catch var shadows own',
    'const f = (x) => { let e = 1; try { throw 2; } catch (e) { { let e = 5; } e = 3; } return e + (x > 2 ? 1 : 0); };',
  ],
  [
    'label continue in do',
    'const f = (x) => { let i = 0, s = 0; o: do { i++; for (const v of [1, 2]) { if (v === i) continue o; s += v; } } while (i < 3); return s + (x > 2 ? 1 : 0); };',
  ],
  [
    'label on if and for',
    'const f = (x) => { let s = 0; a: if (s === 0) { for (const v of [1, 2]) { if (v > 1) break a; s += v; } s = 100; } return s + (x > 2 ? 1 : 0); };',
  ],
  [
    'label with tensor loop',
    'const f = (x) => { let s = 0; a: for (const v of [1, 2, 3]) { if (x > v) s += v; } return s; };',
  ],
  [
    'label unlabelled break',
    'const f = (x) => { let s = 0; a: for (const v of [1, 2, 3]) { if (x < v) break; s += v; } return s; };',
  ],
  [
    'let no init in loop',
    'const f = (x) => { let s = 0; for (let i = 0; i < 3; i++) { let k; if (x > i) k = i; else k = 9; s += k; } return s; };',
  ],
  [
    'for let closure by tensor',
    'const f = (x) => { const fs = []; for (const i of [0, 1, 2]) { if (i > 1) continue; fs.push(() => i + x); } let s = 0; for (const g of fs) s += g(); return s; };',
  ],
  [
    'closure over let changed by tensor branch',
    'const f = (x) => { let k = 1; const g = () => k * 2; if (x > 2) k = 5; else { k = 6; } return g(); };',
  ],
  [
    'closure sets',
    'const f = (x) => { let k = 1; const set = (v) => { k = v; }; set(4); if (x > 2) k += 1; return k; };',
  ],
  [
    'while with assignment of inner let',
    'const f = (x) => { let n = x; while (n < 10) { const m = n * 2; let q = m; q += 1; n = q; } return n; };',
  ],
  [
    'object in loop',
    'const f = (x) => { let o = { a: 1, b: { c: 2 } }; let i = 0; while (i < x) { o = { a: o.a + 1, b: { c: o.b.c * 2 } }; i += 1; } return o.a + o.b.c; };',
  ],
  [
    'member in loop nested',
    'const f = (x) => { const o = { b: { c: 2 } }; let i = 0; while (i < x) { o.b.c += 1; o.b.c++; i += 1; } return o.b.c; };',
  ],
  [
    'array elem compound outside',
    'const f = (x) => { const a = [1, 2]; a[0] += x; a[1]++; const i = 1; a[i] -= x; return a[0] * a[1]; };',
  ],
  [
    'in class expr',
    'const f = (x) => { const K = class Z { static m(v) { return v > 2 ? 1 : 2; } }; return K.m(x); };',
  ],
  [
    'sequence in for',
    'const f = (x) => { let s = 0; for (let i = 0, j = 5; i < j, j > 1; i++, --j) { if (x > i) s += j; } return s; };',
  ],
  [
    'void 0 and unary',
    'const f = (x) => { const a = -x, b = +3, c = !0, d = ~~4.5; return a + b + c + d + (-x > -3 ? 1 : 0) - -1; };',
  ],
  ['negative pow', 'const f = (x) => { return (-x) ** 2 - 2 ** -1; };'],
  ['numeric sep', 'const f = (x) => { return 1_000 + 0x1f + .5 + 0b11 + (x > 2 ? 0 : 1); };'],
  [
    'getter on literal',
    'const f = (x) => { const o = { get a() { return x > 2 ? 1 : 2; }, set a(v) { this.z = v > 1 ? v : 0; }, ["c" + 1]: 5, async *g() {}, f() { return this.a; } }; o.a = 3; return o.f() + o.z + o.c1; };',
  ],
  [
    'unicode names',
    'const f = (x) => { const ünï = x; let \\u0061b = ünï > 2 ? 1 : 2; ab += 1; const 𝒳 = ab; return 𝒳 * 10 + ab; };',
  ],
  [
    'param named undefined-like',
    'const f = (x, NaN1 = 1) => { const Infinity1 = x; return Infinity1 > 2 ? NaN1 : 5; };',
  ],
  [
    'generator method',
    'class A { *g(x) { yield x > 2 ? 1 : 2; } } const f = (x) => [...new A().g(5)][0] + (x > 2 ? 1 : 0);',
  ],
  [
    'for of string and map',
    'const f = (x) => { let s = 0; for (const c of "ab") s += c.length; for (const [k, v] of new Map([["a", 1]])) s += k.length + v; for (const v of new Set([1, 2])) { if (x > v) s += v; } return s; };',
  ],
  [
    'iterator closed',
    'const f = (x) => { let closed = 0; const it = { *[Symbol.iterator]() { try { yield 1; yield 2; } finally { closed = 1; } } }; for (const v of it) { if (v > 0) break; } return closed + (x > 2 ? 1 : 0); };',
  ],
  [
    'symbol key',
    'const f = (x) => { const k = Symbol("a"); const o = { [k]: 1 }; o[k] += x; o[k]++; return o[k]; };',
  ],
  [
    'string compare',
    'const f = (x) => { const m = "a"; return (m > "A" ? 1 : 2) + (m === "a" ? 1 : 0) + (x > 2 ? 1 : 0); };',
  ],
  [
    'null object compare',
    'const f = (x) => { const a = null; let b; return (a == b ? 1 : 2) + (a === b ? 1 : 0) + (a > 1 ? 1 : 0) + (x > 2 ? 1 : 0); };',
  ],
  [
    'date minus',
    'const f = (x) => { const a = new Date(5), b = new Date(2); return (a - b) + (a > b ? 1 : 0) + (x > 2 ? 1 : 0); };',
  ],
  [
    'object plus',
    'const f = (x) => { const o = { toString: () => "q" }; return (o + "a").length + (o + 1).length + (x > 2 ? 1 : 0); };',
  ],
  ['ternary chain assign', 'const f = (x) => { let y; x > 2 ? y = 1 : x > 0 ? y = 2 : (y = 3); return y; };'],
  ['logical stmt', 'const f = (x) => { let y = 0; x > 2 && (y = 1); x > 5 || (y += 10); return y; };'],
  [
    'default closure this',
    'class A { k = 2; m(x, g = () => this.k) { if (x > 2) return g(); return this.k + 1; } } const f = (x) => new A().m(x);',
  ],
  [
    'args with default uses earlier',
    'const f = (x, y = x > 2 ? x : 3, z = (() => y + 1)()) => { if (y > 2) y = 1; return y + z; };',
  ],
  ['arrow returning object', 'const g = (x) => ({ v: x > 2 ? 1 : 2 }); const f = (x) => g(x).v;'],
])('%s', (_, body) => {
  const plain = new Function('tf', `'use strict'; ${body}\nreturn f;`)(tf) as Plain;
  const asked = user(body, "'use autograph';\n");
  const others = user(body);
  for (const x of [1, 4]) {
    const expected = near(plain(x));
    expect(near(asked(x))).toEqual(expected);
    expect(near(values(asked(constant(x))))).toEqual(expected);
    expect(near(values(traced(asked)(constant(x))))).toEqual(expected);
    expect(near(others(x))).toEqual(expected);
    expect(near(values(traced(() => others(x))()))).toEqual(expected);
    expect(near(values(traced(others)(constant(x))))).toEqual(expected);
  }
});

test.each([
  [
    'a throw that is caught outside of its branch',
    'const f = (x) => { try { if (x > 0) throw new Error("a"); return 1; } catch { return 2; } };',
    'throw in a branch or loop over a tensor',
  ],
  [
    'a return in a try',
    'const f = (x) => { try { if (x > 0) return 1; } catch { return 7; } return 2; };',
    'take jumps out of try',
  ],
  [
    'an error of the library in a branch that is caught outside',
    'const f = (x) => { let y = x; try { if (x > 0) y = x.reshape([7]); } catch { y = 0; } return y; };',
    'do not fit into [7]',
  ],
  [
    'delete',
    'const f = (x) => { const o = { a: 1 }; if (x > 2) delete o.a; return Object.keys(o).length; };',
    'an object of class Object from outside is changed',
  ],
  [
    'a list without end',
    'function* nat() { for (let i = 0; ; i++) yield i; } const f = (x) => { for (const v of nat()) { if (v > x) break; } return x; };',
    'this loop goes on for more than 1000 turns',
  ],
  [
    'recursion',
    'function fact(n) { if (n <= 1) return 1; return n * fact(n - 1); } const f = (x) => fact(x);',
    'a function that calls itself as often as a tensor says',
  ],
  [
    'mutual recursion',
    'const even = (n) => (n < 1 ? 1 : odd(n - 1)); const odd = (n) => (n < 1 ? 0 : even(n - 1)); const f = (x) => even(x);',
    'a function that calls itself as often as a tensor says',
  ],
  [
    'recursion of a traced function',
    'const fact = tf.function((n) => { if (n <= 1) return n; return n * fact(n - 1); }); const f = (x) => fact(x);',
    'a function that calls itself as often as a tensor says',
  ],
])('in a graph, %s is refused by line', (_, body, message) => {
  const f = user(body);
  expect(() => traced(f)(constant(2))).toThrow(message);
  if (!message.startsWith('do not fit')) expect(() => traced(f)(constant(2))).toThrow(/user\.ts:2:\d+/);
});

test('recursion without end is refused at once where the same branch was part of a graph before', () => {
  const f = user(
    'let deep = false; const fact = (n) => (n <= 1 ? n : deep ? n * fact(n - 1) : n); const f = (x, d) => { deep = d; return fact(x); };',
  );
  expect(values(traced((x: unknown) => f(x, false))(constant(2)))).toBe(2);
  const refused = (): void =>
    expect(() => traced((x: unknown) => f(x, true))(constant(2))).toThrow('calls itself');
  expect(processorTime(refused)).toBeLessThan(20_000);
});

test('an array that extends Array', () => {
  const f = user(
    'class S extends Array { push(v) { if (v > 2) return super.push(v); return 0; } } const f = (x) => { const s = new S(); s.push(x); return s.length; };',
  );
  expect([1, 4].map((x) => f(x))).toEqual([0, 1]);
});

test('functions in namespaces and in parameters of constructors', () => {
  const source = `import * as tf from 'eagre';
namespace Inner { export const f = tf.function((x: tf.Tensor) => (x.greater(0) ? x : x.neg())); }
class A { constructor(readonly low = (x: tf.Tensor) => (x.less(0) ? 1 : 2)) {} }`;
  const { code } = convert(source, { filename: 'user.ts' });
  expect(code.match(/ag\$\.ifExp/g)?.length).toBe(2);
  expect(
    convert(`import 'eagre'; declare namespace N { const x: 1; } declare module 'm' { function f(): 1; }`)
      .map,
  ).toBeNull();
});

test('lines keep their ends, and what stands ahead stays ahead', () => {
  const { code } = convert(
    "#!/usr/bin/env node\r\n'use strict'\r\nimport * as tf from 'eagre'\r\nexport const f = (x) => x > 0\r\n",
  );
  expect(code.startsWith("#!/usr/bin/env node\r\n'use strict'\r\nimport")).toBe(true);
  expect(convert("\uFEFFimport 'eagre';\nexport const f = (x) => x > 0;").code).toContain(
    'ag$.conversion.on',
  );
});

test('a module may have a namespace of its own with the name of the helpers', () => {
  const source = `import * as ag$ from './mine.js';\nimport 'eagre';\nexport const f = (x) => x > ag$.low;`;
  const once = convert(source);
  expect(once.code).toContain('ag$$.conversion.on');
  expect(convert(once.code).map).toBeNull();
  const other = convert(source, { runtime: '#helpers' });
  expect(convert(other.code, { runtime: '#helpers' }).map).toBeNull();
});

test('code that is nested too deep says so', () => {
  const sum = Array.from({ length: 20_000 }, (_, i) => `x${i}`).join(' + ');
  const source = `import 'eagre';\nexport const f = (x) => ${sum} > 2 ? 1 : 2;`;
  expect(() => convert(source, { filename: 'deep.ts' })).toThrow('deep.ts:1:1: code here is nested too deep');
});
