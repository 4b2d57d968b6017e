// Prints what else is told by the table of dtypes, packages/backend/src/dtype.ts: the header of native code, native/generated/dtypes.h,
// and what files say of dtypes, packages/formats/src/arrays/dtypes.ts. With --check it fails where one of them is another one.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const table = 'packages/backend/src/dtype.ts';

const { outputText } = ts.transpileModule(readFileSync(at(table), 'utf8'), {
  compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
});
const { dtypeTraits, numericDTypes } = await import(`data:text/javascript,${encodeURIComponent(outputText)}`);

const dtypes = numericDTypes.map((name) => dtypeTraits[name]);
dtypes.forEach(({ name, code }, i) => {
  if (code !== i) throw new Error(`${name} has the code ${code}; numbers must follow each other, so ${i}`);
});

// Files keep complex numbers, of which kernels get the parts.
const kept = [...dtypes, dtypeTraits.complex64, dtypeTraits.complex128];

const kinds = { float: 'f', int: 'i', uint: 'u', bool: 'b' };
// Values of 16 bits are read into float32, as JavaScript has no array for them.
const arrayOf = (dtype) => (isHalf(dtype) ? 'Float32Array' : dtype.array.name);
const isHalf = ({ kind, bytes }) => kind === 'float' && bytes === 2;
const lines = (of) => of.join(' \\\n');
const row = ({ name, native, nativeType, bytes, kind, computesIn }) =>
  `  X(${native}, ${nativeType}, "${name}", ${bytes}, '${kinds[kind]}', ${dtypeTraits[computesIn].native})`;

const header = `// Printed by tools/print-dtypes.mjs from ${table}: change the table there, and run it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace eagre {

// Floats of 16 bits, as they are stored: cpu/half.h converts them.
struct Half { uint16_t bits; };
struct BFloat { uint16_t bits; };

// X(name, C++ type, name for people, bytes, kind, dtype in which scalar programs compute): the kind is f floating, i integer with a
// sign, u without, b bool. In the order of their numbers.
#define EAGRE_DTYPES(X) \\
${lines(dtypes.map(row))}

// X(name, C++ type) of the numbers that C++ computes with.
#define EAGRE_NUMBERS(X) \\
${lines(dtypes.filter((dtype) => dtype.kind !== 'bool' && !isHalf(dtype)).map(({ native, nativeType }) => `  X(${native}, ${nativeType})`))}

// X(name, C++ type) of the floats of 16 bits.
#define EAGRE_HALVES(X) \\
${lines(dtypes.filter(isHalf).map(({ native, nativeType }) => `  X(${native}, ${nativeType})`))}

enum class DType : int32_t {
#define X(name, type, text, bytes, kind, computes_in) name,
  EAGRE_DTYPES(X)
#undef X
};
constexpr int kDTypes = ${dtypes.length};

struct DTypeInfo {
  const char* name;
  unsigned char bytes;
  char kind;
  DType computes_in;
};
inline constexpr DTypeInfo kDTypeInfo[kDTypes] = {
#define X(name, type, text, bytes, kind, computes_in) {text, bytes, kind, DType::computes_in},
    EAGRE_DTYPES(X)
#undef X
};

inline const DTypeInfo& info_of(DType t) { return kDTypeInfo[static_cast<int>(t)]; }
inline size_t dtype_size(DType t) { return info_of(t).bytes; }
// Whether scalar programs compute with it; others they only read, write, choose and cast.
inline bool computes(DType t) { return info_of(t).computes_in == t; }

}  // namespace eagre
`;

const formats = `// Printed by tools/print-dtypes.mjs from ${table}: change the table there, and run it.

/**
 * The typed array that holds each dtype's elements; \`bool\` is one byte (0 or 1) per element, floats of 16 bits are widened,
 * and of complex numbers there are both parts.
 */
export interface DataOf {
${kept.map((dtype) => `  ${dtype.name}: ${arrayOf(dtype)};`).join('\n')}
}

/** What is known of a dtype in files. */
export interface FileDType<A = DataOf[keyof DataOf]> {
  /** Of an element. */
  readonly bytes: number;
  /** How many numbers of \`array\` an element is: two of a complex one. */
  readonly parts: number;
  readonly array: {
    readonly name: string;
    new (buffer: ArrayBufferLike, byteOffset: number, length: number): A;
    new (length: number): A;
  };
  /** The number in TensorFlow's \`types.proto\`. */
  readonly tensorflow: number;
  readonly safetensors: string;
  readonly numpy: string;
}

/** What is known of each dtype in files. */
export const FILE_DTYPES: { readonly [D in keyof DataOf]: FileDType<DataOf[D]> } = {
${kept
  .map(
    (dtype) =>
      `  ${dtype.name}: { bytes: ${dtype.bytes}, parts: ${dtype.kind === 'complex' ? 2 : 1}, array: ${arrayOf(dtype)}, tensorflow: ${dtype.tensorflow}, safetensors: '${dtype.safetensors}', numpy: '${dtype.numpy}' },`,
  )
  .join('\n')}
};
`;

const files = [
  ['native/generated/dtypes.h', header],
  ['packages/formats/src/arrays/dtypes.ts', formats],
];
let differ = false;
for (const [path, text] of files) {
  if (!process.argv.includes('--check')) writeFileSync(at(path), text);
  else if (readFileSync(at(path), 'utf8') !== text) {
    console.error(`${path} is not what ${table} says; run: node tools/print-dtypes.mjs`);
    differ = true;
  }
}
if (differ) process.exit(1);
