// What an addon's file says of itself: node tools/platforms/binaries.mjs FILE…  It reads ELF, Mach-O and PE, each of 64 bits.
import { readFileSync } from 'node:fs';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

/**
 * What a library says of itself.
 * @param {Buffer} bytes
 * @returns {{ system: string, cpu: string, libraries: string[], imports: string[], exports: string[], unbound?: string[],
 *   versions?: string[], minimum?: string,
 *   signature?: string, protections?: string[] }} `system` is linux, darwin, win32 or unknown; `libraries` that the system loads with it;
 *   `imports` and `exports` are names of symbols; `unbound` those imports that any library may have, as the file names none; `versions` those of symbols of Linux (`GLIBC_2.17`); `minimum` the oldest macOS;
 *   `signature` of a file of macOS (`ad hoc`, `none`); `protections` that a file of Windows asks for
 */
export function describe(bytes) {
  if (bytes.length > 64 && bytes.readUInt32BE(0) === 0x7f454c46) return elf(bytes);
  if (bytes.length > 32 && bytes.readUInt32LE(0) === 0xfeedfacf) return machO(bytes);
  if (bytes.length > 64 && bytes.readUInt16BE(0) === 0x4d5a) return pe(bytes);
  return { system: 'unknown', cpu: 'unknown', libraries: [], imports: [], exports: [] };
}

function textAt(bytes, at) {
  return bytes.toString('latin1', at, bytes.indexOf(0, at));
}

const number64 = (bytes, at) => Number(bytes.readBigUInt64LE(at));

function elf(bytes) {
  const cpu = { 62: 'x64', 183: 'arm64' }[bytes.readUInt16LE(18)] ?? 'unknown';
  const [headers, size, count] = [number64(bytes, 40), bytes.readUInt16LE(58), bytes.readUInt16LE(60)];
  const sections = Array.from({ length: count }, (_, i) => headers + i * size).map((at) => ({
    type: bytes.readUInt32LE(at + 4),
    offset: number64(bytes, at + 24),
    size: number64(bytes, at + 32),
    link: bytes.readUInt32LE(at + 40),
    info: bytes.readUInt32LE(at + 44),
  }));
  const [SHT_DYNAMIC, SHT_DYNSYM, SHT_VERNEED, SHT_VERSYM] = [6, 11, 0x6ffffffe, 0x6fffffff];
  const section = (type) => sections.find((each) => each.type === type);
  const names = (of) => (at) => textAt(bytes, sections[of.link].offset + at);
  const rows = (of, length) =>
    Array.from({ length: Math.floor((of?.size ?? 0) / length) }, (_, i) => of.offset + i * length);

  const dynamic = section(SHT_DYNAMIC);
  const DT_NEEDED = 1;
  const libraries = rows(dynamic, 16)
    .filter((at) => number64(bytes, at) === DT_NEEDED)
    .map((at) => names(dynamic)(number64(bytes, at + 8)));
  const table = section(SHT_DYNSYM);
  const [, ...versionsOf] = rows(section(SHT_VERSYM), 2).map((at) => bytes.readUInt16LE(at) & 0x7fff);
  const symbols = rows(table, 24)
    .slice(1)
    .map((at, i) => ({
      name: names(table)(bytes.readUInt32LE(at)),
      weak: bytes[at + 4] >> 4 === 2,
      defined: bytes.readUInt16LE(at + 6) !== 0,
      // The first two numbers are for those without a version.
      versioned: versionsOf[i] > 1,
    }));
  const versions = [];
  const needed = section(SHT_VERNEED);
  for (let i = 0, at = needed?.offset; i < (needed?.info ?? 0); i++, at += bytes.readUInt32LE(at + 12)) {
    for (
      let k = 0, one = at + bytes.readUInt32LE(at + 8);
      k < bytes.readUInt16LE(at + 2);
      k++, one += bytes.readUInt32LE(one + 12)
    )
      versions.push(names(needed)(bytes.readUInt32LE(one + 8)));
  }
  const imported = symbols.filter(({ defined, weak }) => !defined && !weak);
  const imports = imported.map(({ name }) => name);
  const unbound = imported.filter(({ versioned }) => !versioned).map(({ name }) => name);
  const exports = symbols.filter(({ defined }) => defined).map(({ name }) => name);
  return { system: 'linux', cpu, libraries, imports, exports, unbound, versions };
}

function machO(bytes) {
  const cpu = { 16777223: 'x64', 16777228: 'arm64' }[bytes.readUInt32LE(4)] ?? 'unknown';
  const found = {
    system: 'darwin',
    cpu,
    libraries: [],
    imports: [],
    exports: [],
    unbound: [],
    minimum: 'unknown',
    signature: 'none',
  };
  const [LC_SYMTAB, LC_LOAD_DYLIB, LC_CODE_SIGNATURE, LC_VERSION_MIN, LC_BUILD_VERSION] = [2, 12, 29, 36, 50];
  const version = (packed) => `${packed >> 16}.${(packed >> 8) & 255}`;
  for (let i = 0, at = 32; i < bytes.readUInt32LE(16); i++, at += bytes.readUInt32LE(at + 4)) {
    // The highest bit: the system has to know the command.
    const command = bytes.readUInt32LE(at) & 0x7fffffff;
    if (command === LC_LOAD_DYLIB) found.libraries.push(textAt(bytes, at + bytes.readUInt32LE(at + 8)));
    else if (command === LC_BUILD_VERSION) found.minimum = version(bytes.readUInt32LE(at + 12));
    else if (command === LC_VERSION_MIN) found.minimum = version(bytes.readUInt32LE(at + 8));
    else if (command === LC_CODE_SIGNATURE) found.signature = signatureOf(bytes, bytes.readUInt32LE(at + 8));
    else if (command === LC_SYMTAB) {
      const [symbols, count, names] = [8, 12, 16].map((offset) => bytes.readUInt32LE(at + offset));
      for (let k = 0, one = symbols; k < count; k++, one += 16) {
        const type = bytes[one + 4];
        // Of other libraries' symbols, and of its own those that others see; none of a debugger.
        if ((type & 0xe0) !== 0 || (type & 1) === 0) continue;
        const name = textAt(bytes, names + bytes.readUInt32LE(one)).replace(/^_/, '');
        if ((type & 0x0e) === 0) {
          found.imports.push(name);
          // Else the number of a library is there. (Apple's linker writes 254, zig's none.)
          if ([0, 0xfe].includes(bytes[one + 7])) found.unbound.push(name);
        } else if ((type & 0x10) === 0) found.exports.push(name);
      }
    }
  }
  return found;
}

/** A blob of blobs, in big-endian numbers. */
function signatureOf(bytes, at) {
  const [SUPER_BLOB, CODE_DIRECTORY, AD_HOC] = [0xfade0cc0, 0xfade0c02, 2];
  if (bytes.readUInt32BE(at) !== SUPER_BLOB) return 'damaged';
  const blobs = Array.from(
    { length: bytes.readUInt32BE(at + 8) },
    (_, i) => at + bytes.readUInt32BE(at + 16 + i * 8),
  );
  const directory = blobs.find((blob) => bytes.readUInt32BE(blob) === CODE_DIRECTORY);
  if (directory === undefined) return 'damaged';
  return bytes.readUInt32BE(directory + 12) & AD_HOC ? 'ad hoc' : 'of a name';
}

function pe(bytes) {
  const start = bytes.readUInt32LE(60) + 4;
  const cpu = { 34404: 'x64', 43620: 'arm64' }[bytes.readUInt16LE(start)] ?? 'unknown';
  const optional = start + 20;
  const sections = Array.from(
    { length: bytes.readUInt16LE(start + 2) },
    (_, i) => optional + bytes.readUInt16LE(start + 16) + i * 40,
  );
  const place = (address) => {
    const section = sections.find((at) => {
      const begin = bytes.readUInt32LE(at + 12);
      return (
        address >= begin &&
        address < begin + Math.max(bytes.readUInt32LE(at + 8), bytes.readUInt32LE(at + 16))
      );
    });
    return section === undefined
      ? undefined
      : address - bytes.readUInt32LE(section + 12) + bytes.readUInt32LE(section + 20);
  };
  const directory = (i) => place(bytes.readUInt32LE(optional + 112 + i * 8));
  const libraries = [];
  const imports = [];
  for (let at = directory(1); at !== undefined && bytes.readUInt32LE(at + 12) !== 0; at += 20) {
    libraries.push(textAt(bytes, place(bytes.readUInt32LE(at + 12))));
    const first = place(bytes.readUInt32LE(at) || bytes.readUInt32LE(at + 16));
    for (let one = first; bytes.readBigUInt64LE(one) !== 0n; one += 8)
      // By its number otherwise.
      if (bytes.readBigUInt64LE(one) >> 63n === 0n)
        imports.push(textAt(bytes, place(bytes.readUInt32LE(one)) + 2));
  }
  const table = directory(0);
  const exports =
    table === undefined
      ? []
      : Array.from({ length: bytes.readUInt32LE(table + 24) }, (_, i) =>
          textAt(bytes, place(bytes.readUInt32LE(place(bytes.readUInt32LE(table + 32)) + i * 4))),
        );
  const flags = bytes.readUInt16LE(optional + 70);
  const protections = Object.entries({
    'high entropy addresses': 0x20,
    'dynamic base': 0x40,
    'no execution of data': 0x100,
  })
    .filter(([, bit]) => flags & bit)
    .map(([name]) => name);
  return { system: 'win32', cpu, libraries, imports, exports, protections };
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  for (const file of argv.slice(2)) console.log(file, describe(readFileSync(file)));
}
