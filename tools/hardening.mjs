// What protects an addon of Linux whose code has a mistake: node tools/hardening.mjs FILE…  It ends with 1 where something is missing.
import { readFileSync } from 'node:fs';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';

const [PT_DYNAMIC, PT_GNU_STACK, PT_GNU_RELRO] = [2, 0x6474e551, 0x6474e552];
const [DT_NULL, DT_BIND_NOW, DT_FLAGS, DT_FLAGS_1] = [0, 24, 30, 0x6ffffffb];

/**
 * What is missing in an ELF file of 64 bits.
 * @param {Buffer} bytes
 * @returns {string[]} a line for each
 */
export function unprotected(bytes) {
  const [at, size, count] = [
    Number(bytes.readBigUInt64LE(32)),
    bytes.readUInt16LE(54),
    bytes.readUInt16LE(56),
  ];
  const segments = Array.from({ length: count }, (_, i) => at + i * size).map((header) => ({
    type: bytes.readUInt32LE(header),
    flags: bytes.readUInt32LE(header + 4),
    offset: Number(bytes.readBigUInt64LE(header + 8)),
    bytes: Number(bytes.readBigUInt64LE(header + 32)),
  }));
  const segment = (type) => segments.find((s) => s.type === type);
  const bound = entriesOf(bytes, segment(PT_DYNAMIC)).some(
    ([tag, value]) =>
      tag === DT_BIND_NOW || (tag === DT_FLAGS && value & 8) || (tag === DT_FLAGS_1 && value & 1),
  );
  // Names of functions lie between zeros.
  const text = bytes.toString('latin1');
  const stack = segment(PT_GNU_STACK);
  return [
    [segment(PT_GNU_RELRO) !== undefined, 'its tables of addresses can be written (-z relro)'],
    [bound, 'functions of libraries are found at their first call (-z now)'],
    [stack !== undefined && (stack.flags & 1) === 0, 'its stack can hold code (-z noexecstack)'],
    [
      // Of the C library, or the addon's own (native/binding/stack_guard.cc).
      text.includes('\0__stack_chk_fail\0') || text.includes('*** stack smashing detected ***'),
      'nothing guards the stack (-fstack-protector-strong)',
    ],
    [
      !text.includes('\0GLIBC_') || /\0__\w+_chk\0/.test(text),
      'functions of the C library do not check sizes (-D_FORTIFY_SOURCE=2)',
    ],
  ].flatMap(([is, what]) => (is ? [] : [what]));
}

function entriesOf(bytes, dynamic) {
  const entries = [];
  for (let at = dynamic?.offset ?? 0, end = at + (dynamic?.bytes ?? 0); at < end; at += 16) {
    const tag = Number(bytes.readBigInt64LE(at));
    if (tag === DT_NULL) break;
    // All flags that count are in the low half.
    entries.push([tag, bytes.readUInt32LE(at + 8)]);
  }
  return entries;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const found = argv
    .slice(2)
    .flatMap((file) => unprotected(readFileSync(file)).map((what) => `${file}: ${what}`));
  if (found.length > 0) console.error(found.join('\n'));
  exit(found.length > 0 ? 1 : 0);
}
