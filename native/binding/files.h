// What the addon does with open files; see ../runtime/files.h.
#pragma once
#include <napi.h>

namespace eagre {

// readRanges(file, Float64Array of offsets and lengths by turns, array of Uint8Arrays of just these lengths or undefined): reads parts of a file
// into the arrays, or nowhere. Gives a Float64Array of their CRC-32Cs; -1 where not all of one could be read.
napi_value read_parts(napi_env env, napi_callback_info info);

// beginSync(file, offset, length): has the system begin to bring a part of a file to the disk.
napi_value begin_part(napi_env env, napi_callback_info info);

}  // namespace eagre
