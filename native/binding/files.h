// What the addon does with open files; see ../runtime/files.h.
#pragma once
#include <napi.h>

namespace eagre {

// readRanges(file, Float64Array of offsets and lengths by turns, array of Uint8Arrays of just these lengths or undefined): reads parts of a file
// into the arrays, or nowhere. Gives a Float64Array of their CRC-32Cs; -1 where not all of one could be read.
napi_value read_parts(napi_env env, napi_callback_info info);

// beginRanges(file, Float64Array, array of Uint8Arrays): the same, begun on another thread, which keeps the arrays. The file must stay open, and
// nobody may use the arrays, until finishRanges has returned. Gives what that takes.
napi_value begin_parts(napi_env env, napi_callback_info info);

// finishRanges(reading, reads): reads what is left, with the other thread, and gives the CRC-32Cs; without `reads` only waits for what is being
// read, and gives undefined.
napi_value finish_parts(napi_env env, napi_callback_info info);

// beginSync(file, offset, length): has the system begin to bring a part of a file to the disk.
napi_value begin_part(napi_env env, napi_callback_info info);

}  // namespace eagre
