#include "files.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "../runtime/file_calls.h"
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

napi_value doubles(napi_env env, const std::vector<int64_t>& values) {
  napi_value buffer, result = nullptr;
  void* out = nullptr;
  if (napi_create_arraybuffer(env, values.size() * sizeof(double), &out, &buffer) != napi_ok) return nullptr;
  std::copy(values.begin(), values.end(), static_cast<double*>(out));
  napi_create_typedarray(env, napi_float64_array, values.size(), buffer, 0, &result);
  return result;
}

// What another thread reads, with the memory that it reads into.
struct Reading {
  std::shared_ptr<RangeReading> ranges;
  napi_ref targets = nullptr;
  napi_async_work work = nullptr;
};

void help(napi_env, void* data) { static_cast<Reading*>(data)->ranges->help(); }

void ended(napi_env env, napi_status, void* data) {
  const std::unique_ptr<Reading> reading(static_cast<Reading*>(data));
  // Not begun, where the process ends: whoever finishes then reads all.
  napi_delete_reference(env, reading->targets);
  napi_delete_async_work(env, reading->work);
}

// The views, in an array that nobody takes one out of.
napi_value copy_of(napi_env env, napi_value targets) {
  uint32_t count = 0;
  napi_value copy = nullptr, target = nullptr;
  if (napi_get_array_length(env, targets, &count) != napi_ok || napi_create_array_with_length(env, count, &copy) != napi_ok) return nullptr;
  for (uint32_t i = 0; i < count; i++)
    if (napi_get_element(env, targets, i, &target) != napi_ok || napi_set_element(env, copy, i, target) != napi_ok) return nullptr;
  return copy;
}

using Shared = std::shared_ptr<RangeReading>;

}  // namespace

napi_value begin_parts(napi_env env, napi_callback_info info) {
  size_t argc = 3;
  napi_value argv[3], name, handle = nullptr;
  int32_t file = -1;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  napi_value copy = copy_of(env, argv[2]);
  std::unique_ptr<Reading> reading;
  std::unique_ptr<Shared> shared;
  char message[256];
  bool sensible = false, thrown = false;
  const int32_t code = guarded(message, [&] {
    std::vector<FileRange> ranges;
    sensible = copy && napi_get_value_int32(env, argv[0], &file) == napi_ok && file >= 0 && ranges_of(env, argv[1], copy, ranges);
    if (!sensible) return;
    reading = std::make_unique<Reading>();
    reading->ranges = std::make_shared<RangeReading>(file, std::move(ranges));
    shared = std::make_unique<Shared>(reading->ranges);
  });
  napi_is_exception_pending(env, &thrown);
  if (thrown) return nullptr;
  if (code != 0) napi_throw_error(env, nullptr, message);
  else if (!sensible) napi_throw_type_error(env, nullptr, "beginRanges takes a file, offsets and lengths, and a Uint8Array of each length");
  if (code != 0 || !sensible) return nullptr;
  const auto gone = [](napi_env, void* data, void*) { delete static_cast<Shared*>(data); };
  if (napi_create_external(env, shared.get(), gone, nullptr, &handle) != napi_ok) return nullptr;
  shared.release();
  // Where no other thread can begin, whoever finishes reads all.
  napi_create_string_utf8(env, "beginRanges", NAPI_AUTO_LENGTH, &name);
  if (napi_create_reference(env, copy, 1, &reading->targets) != napi_ok) return handle;
  if (napi_create_async_work(env, nullptr, name, help, ended, reading.get(), &reading->work) == napi_ok) {
    if (napi_queue_async_work(env, reading->work) == napi_ok) {
      reading.release();
      return handle;
    }
    napi_delete_async_work(env, reading->work);
  }
  napi_delete_reference(env, reading->targets);
  return handle;
}

napi_value finish_parts(napi_env env, napi_callback_info info) {
  size_t argc = 2;
  napi_value argv[2], undefined = nullptr;
  napi_valuetype type = napi_undefined;
  bool reads = false;
  void* data = nullptr;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  napi_typeof(env, argv[0], &type);
  if (type != napi_external || napi_get_value_external(env, argv[0], &data) != napi_ok || napi_get_value_bool(env, argv[1], &reads) != napi_ok) {
    napi_throw_type_error(env, nullptr, "finishRanges takes what beginRanges gave, and whether to read");
    return nullptr;
  }
  RangeReading& ranges = **static_cast<Shared*>(data);
  if (reads) {
    char message[256];
    std::vector<int64_t> crcs;
    const int32_t code = guarded(message, [&] { crcs = ranges.finish(); });
    if (code == 0) return doubles(env, crcs);
    // Nobody may read any more when this returns.
    ranges.stop();
    napi_throw_error(env, nullptr, message);
    return nullptr;
  }
  ranges.stop();
  napi_get_undefined(env, &undefined);
  return undefined;
}

napi_value read_parts(napi_env env, napi_callback_info info) {
  size_t argc = 3;
  napi_value argv[3];
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
  return doubles(env, crcs);
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
