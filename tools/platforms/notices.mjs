// What the binaries have of others, beside Eagre's own code, and under which licences: the text of THIRD_PARTY_NOTICES.txt in each package of binaries.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { targets } from './targets.mjs';
import { zig } from './zig.mjs';

/** The file's name, in a package and in a checkout. */
export const notices = 'THIRD_PARTY_NOTICES.txt';
const rule = `\n${'-'.repeat(80)}\n\n`;

/** A file of zig, which brings the libraries along as sources. Of one of C, the comment that it begins with. */
function ofZig(path) {
  const text = readFileSync(join(dirname(zig()), path), 'utf8');
  return path.endsWith('.c') ? /^\/\*+\n?(.*?)\**\*\//s.exec(text)[1] : text;
}

const llvm = (name, folder) => ({
  name,
  says: 'of the LLVM project (Apache-2.0 WITH LLVM-exception)',
  text: () => ofZig(`lib/${folder}/LICENSE.TXT`),
});
/** Each is linked where `zig c++` is: see by ZIG_VERBOSE_LINK=1. */
const ofCompiler = {
  libcxx: llvm('libc++', 'libcxx'),
  libcxxabi: llvm('libc++abi', 'libcxxabi'),
  libunwind: llvm('libunwind', 'libunwind'),
  zig: { name: 'compiler_rt and libzigc', says: 'of zig (MIT)', text: () => ofZig('LICENSE') },
  musl: {
    name: 'musl',
    says: 'mathematical functions in the libraries of zig, and of the C library for WebAssembly (MIT)',
    text: () => ofZig('lib/libc/musl/COPYRIGHT'),
  },
  glibc: {
    name: 'libc_nonshared',
    says: 'of the GNU C Library (LGPL-2.1-or-later, with leave to link it into any program)',
    text: () => ofZig('lib/libc/glibc/stdlib/atexit.c'),
  },
  mingw: {
    name: 'mingw-w64',
    says: 'what a library of Windows begins and ends with (ZPL-2.1)',
    text: () => ofZig('lib/libc/mingw/COPYING'),
  },
  winpthreads: {
    name: 'winpthreads',
    says: 'threads of mingw-w64 (MIT)',
    text: () => ofZig('lib/libc/mingw/winpthreads/mutex.c'),
  },
  gdtoa: {
    name: 'gdtoa',
    says: 'how mingw-w64 reads and writes numbers',
    text: () => ofZig('lib/libc/mingw/gdtoa/gdtoa.c'),
  },
  wasi: {
    name: 'wasi-libc',
    says: 'the C library for WebAssembly',
    text: () =>
      ['LICENSE', 'LICENSE-APACHE-LLVM', 'LICENSE-MIT', 'libc-bottom-half/cloudlibc/LICENSE']
        .map((name) => ofZig(`lib/libc/wasi/${name}`))
        .join('\n'),
  },
};
const nodeAddonApi = {
  name: 'node-addon-api',
  says: 'C++ for Node-API (MIT)',
  text() {
    const native = fileURLToPath(new URL('../../native/package.json', import.meta.url));
    return readFileSync(createRequire(native).resolve('node-addon-api/LICENSE.md'), 'utf8');
  },
};
/** What comes with Eagre's own sources. */
const thirdParty = (folder, ...names) =>
  names
    .map((name) =>
      readFileSync(new URL(`../../native/third_party/${folder}/${name}`, import.meta.url), 'utf8'),
    )
    .join('\n');
const ofCodecs = [
  {
    name: 'libjpeg-turbo',
    says: 'reads and writes JPEG files (IJG and BSD-3-Clause); this software is based in part on the work of the Independent JPEG Group',
    text: () => thirdParty('libjpeg-turbo', 'LICENSE.md', 'README.ijg'),
  },
  {
    name: 'libdeflate',
    says: 'compresses and decompresses PNG files (MIT)',
    text: () => thirdParty('libdeflate', 'COPYING'),
  },
];
/** GCC's libraries may be part of any program that GCC has compiled, and ask nothing for it. */
const gcc = {
  name: 'libstdc++ and libgcc',
  says: 'of GCC (GPL-3.0-or-later WITH GCC-exception-3.1)',
  text: () =>
    'Copyright (C) Free Software Foundation, Inc.\n\n' +
    'These libraries are part of the file because the compiler GCC links them into what it compiles. The GCC Runtime Library Exception gives leave to\n' +
    'pass the result on under terms of one’s own choice: https://www.gnu.org/licenses/gcc-exception-3.1.html\n' +
    'The sources: https://gcc.gnu.org/\n',
};

/** Names of what zig links into the addon of a platform. */
function linkedByZig(target) {
  const { os, libc } = targets[target];
  const every = ['libcxx', 'libcxxabi', 'zig', 'musl'];
  // What unwinds the stack is part of macOS.
  if (os === 'darwin') return every;
  if (os === 'win32') return [...every, 'libunwind', 'mingw', 'winpthreads', 'gdtoa'];
  return [...every, 'libunwind', ...(libc === 'glibc' ? ['glibc'] : [])];
}

function written(parts) {
  const list = parts.map(({ name, says }) => `- ${name}: ${says}`).join('\n');
  // The libraries of LLVM have one licence, but for their name in it.
  const texts = new Map();
  for (const { name, text } of parts) {
    const words = text().trim();
    const key = words.replaceAll(name, '');
    texts.set(key, { words, names: [...(texts.get(key)?.names ?? []), name] });
  }
  const licences = [...texts.values()].map(({ words, names }) => `${names.join(', ')}\n\n${words}\n`);
  return `Beside Eagre's own code (Apache-2.0, see LICENSE), the binaries in this package have parts of:\n\n${list}\n${rule}${licences.join(rule)}`;
}

/** The notices of the addon that zig builds for a platform. */
export const noticesOfZig = (target) =>
  written([nodeAddonApi, ...ofCodecs, ...linkedByZig(target).map((name) => ofCompiler[name])]);

/** Those of the addon that this machine's own compiler builds: on Linux GCC links its libraries into it. */
export const noticesOfOwn = () =>
  written([nodeAddonApi, ...ofCodecs, ...(process.platform === 'linux' ? [gcc] : [])]);

/** Those of the modules of WebAssembly. */
export const noticesOfWasm = () =>
  written([...ofCodecs, ...['wasi', 'musl', 'libcxx', 'libcxxabi', 'zig'].map((name) => ofCompiler[name])]);

/** Notices with those of libraries that lie beside the addon. */
export const withLibraries = (text, libraries) =>
  libraries.length === 0
    ? text
    : `${text}${rule}The libraries beside the addon:\n\n${libraries.map(({ name, licence }) => `${name}\n\n${licence}`).join(rule)}`;
