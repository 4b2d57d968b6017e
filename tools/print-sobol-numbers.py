"""Prints the Sobol direction numbers of Joe and Kuo (new-joe-kuo-6), packed: packages/core/src/ops/array/sobol-numbers.ts with those of the
first dimensions, or, with the argument `rest`, packages/core/sobol-numbers.js with those of all others.

They are taken from the header that TensorFlow brings along, whose columns hold the numbers and what their recurrence makes of them. The
primitive polynomial of each dimension is found from these, so nothing is written that does not give TensorFlow's numbers.
Run (needs tensorflow):
python tools/print-sobol-numbers.py > packages/core/src/ops/array/sobol-numbers.ts
python tools/print-sobol-numbers.py rest > packages/core/sobol-numbers.js
"""

import base64
import json
import os
import re
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

LICENSE = """Copyright (c) 2008, Frances Y. Kuo and Stephen Joe. All rights reserved.

Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met:
- Redistributions of source code must retain the above copyright notice, this list of conditions and the following disclaimer.
- Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following disclaimer in the
  documentation and/or other materials provided with the distribution.
- Neither the names of the copyright holders nor the names of the University of New South Wales and the University of Waikato and its contributors
  may be used to endorse or promote products derived from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED
WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDERS BE LIABLE FOR ANY
DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR
SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT
LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF
SUCH DAMAGE.
"""

# The polynomials of degree 1 to 13, and the first dimension, which has none.
DIMENSIONS = 1111
DIGITS = 31
header = os.path.join(os.path.dirname(tf.__file__), "include/external/sobol_data/sobol_data.h")
rows = [[int(v) for v in m.split(",")] for m in re.findall(r"^  \{([^}]*)\}", open(header).read(), re.M)]
assert len(rows) == 21200 and all(len(row) == DIGITS for row in rows)


def follows(degree, inner, m):
    """Whether the numbers after the first `degree` are those of the polynomial with such inner coefficients."""
    for k in range(degree, DIGITS):
        v = m[k - degree] ^ (m[k - degree] << degree)
        for i in range(1, degree):
            if inner >> (degree - 1 - i) & 1:
                v ^= m[k - i] << i
        if v != m[k]:
            return False
    return True


def packed(first, end, degree, last):
    """How many of the dimensions have each degree, and their numbers. `degree` and `last` are of the polynomial before them."""
    bits = []
    counts = []
    for m in rows[first:end]:
        found = None
        while found is None:
            found = next((a for a in range(last + 1, 1 << (degree - 1)) if follows(degree, a, m)), None)
            if found is None:
                degree, last = degree + 1, -1
        last = found
        counts += [0] * (degree - len(counts))
        counts[degree - 1] += 1
        if degree > 1:
            bits.append(format(found, f"0{degree - 1}b"))
        for i in range(1, degree):
            assert m[i] & 1
            bits.append(format(m[i] >> 1, f"0{i}b"))
    text = "".join(bits)
    text += "0" * (-len(text) % 8)
    return counts, base64.b64encode(int(text, 2).to_bytes(len(text) // 8, "big")).decode()


if sys.argv[1:] == ["rest"]:
    # All polynomials of degree 13 come before.
    counts, numbers = packed(DIMENSIONS, len(rows), 14, -1)
    print("// Sobol direction numbers of Joe and Kuo behind those of sobol-numbers.ts, packed as they are. Printed by tools/print-sobol-numbers.py; do not edit.")
    print("// In Node they are read when they are needed. Elsewhere a program that needs them imports this file.")
    print(f"/*\n{LICENSE}*/")
    print("// biome-ignore format: one string")
    print(f'globalThis[Symbol.for("eagre.sobolNumbers")] = {{"counts":{json.dumps(counts)},"numbers":"{numbers}"}};')
    sys.exit()

counts, numbers = packed(1, DIMENSIONS, 1, -1)
print("// Sobol direction numbers of Joe and Kuo, packed. Printed by tools/print-sobol-numbers.py; do not edit.")
print(f"/*\n{LICENSE}*/")
print()
print("/** How many dimensions have a polynomial of degree 1, 2, …, in the order of the dimensions from the second one on. */")
print(f"export const polynomialCounts: readonly number[] = {counts};")
print()
print("/**")
print(" * For each of these dimensions, in base64: the inner coefficients of its polynomial, d − 1 bits for degree d, then of the")
print(" * odd numbers m₂ … m_d (mᵢ < 2ⁱ; m₁ is 1) all but the last bit.")
print(" */")
print("// biome-ignore format: one string")
print(f"export const packedNumbers: string =\n  '{numbers}';")
