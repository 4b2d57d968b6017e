#include "files.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "../runtime/files.h"
#include "environment.h"

namespace eagre {
namespace {

// As many bytes of a file; beyond, doubles leave integers out.
bool is_size(double v) { return v >= 0 && v <= 9007199254740992 && v == std::floor(v); }

// Ranges from what JavaScript gives, until it goes on; false where that makes no sense.
bool ranges_of(napi_env env, napi_value places, napi_value targets, std::vector<FileRange>& ranges) {
  napi_valuetype given = napi_null;
  napi_typeof(env, targets, &given);
  const bool nowhere = given == napi_undefined;
  uint32_t count = 0;
  if (!nowhere && napi_get_array_length(env, targets, &count) != napi_ok) return false;
  // All before any memory is looked at: to get an element may run code, which could take memory away.
  std::vector<napi_value> arrays(count);
  for (uint32_t i = 0; i < count; i++) {
    if (napi_get_element(env, targets, i, &arrays[i]) != napi_ok) return false;
  }
  napi_typedarray_type type;
  size_t numbers = 0;
  void* data = nullptr;
  if (napi_get_typedarray_info(env, places, &type, &numbers, &data, nullptr, nullptr) != napi_ok) return false;
  if (type != napi_float64_array || numbers % 2 || (!nowhere && numbers / 2 != count)) return false;
  ranges.resize(numbers / 2);
  const double* place = static_cast<const double*>(data);
  for (size_t i = 0; i < ranges.size(); i++, place += 2) {
    if (!is_size(place[0]) || !is_size(place[1])) return false;
    size_t room = 0;
    void* target = nullptr;
    if (!nowhere) {
      if (napi_get_typedarray_info(env, arrays[i], &type, &room, &target, nullptr, nullptr) != napi_ok) return false;
      if (type != napi_uint8_array || static_cast<double>(room) != place[1]) return false;
    }
    ranges[i] = {static_cast<int64_t>(place[0]), static_cast<int64_t>(place[1]), static_cast<unsigned char*>(target)};
  }
  return true;
}

}  // namespace

napi_value read_parts(napi_env env, napi_callback_info info) {
  size_t argc = 3;
  napi_value argv[3], buffer, result;
  int32_t file = -1;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  std::vector<FileRange> ranges;
  std::vector<int64_t> crcs;
  char message[256];
  bool sensible = false, thrown = false;
  const int32_t code = guarded(message, [&] {
    sensible = napi_get_value_int32(env, argv[0], &file) == napi_ok && file >= 0 && ranges_of(env, argv[1], argv[2], ranges);
    crcs.resize(ranges.size());
  });
  napi_is_exception_pending(env, &thrown);
  if (thrown) return nullptr;
  if (code != 0) {
    napi_throw_error(env, nullptr, message);
    return nullptr;
  }
  if (!sensible) {
    napi_throw_type_error(env, nullptr, "readRanges takes a file, offsets and lengths, and a Uint8Array of each length or nothing");
    return nullptr;
  }
  // Without the memory for pieces, nothing is read.
  if (guarded(message, [&] { read_ranges(file, ranges.data(), ranges.size(), crcs.data()); }) != 0) std::fill(crcs.begin(), crcs.end(), -1);
  void* out = nullptr;
  if (napi_create_arraybuffer(env, crcs.size() * sizeof(double), &out, &buffer) != napi_ok) return nullptr;
  std::copy(crcs.begin(), crcs.end(), static_cast<double*>(out));
  napi_create_typedarray(env, napi_float64_array, crcs.size(), buffer, 0, &result);
  return result;
}

napi_value begin_part(napi_env env, napi_callback_info info) {
  size_t argc = 3;
  napi_value argv[3];
  int32_t file = -1;
  int64_t offset = -1, length = -1;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  if (napi_get_value_int32(env, argv[0], &file) == napi_ok && napi_get_value_int64(env, argv[1], &offset) == napi_ok &&
      napi_get_value_int64(env, argv[2], &length) == napi_ok)
    begin_sync(file, offset, length);
  return nullptr;
}

}  // namespace eagre
