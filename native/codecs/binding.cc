// The codecs for JavaScript. packages/data is the only caller; all the same, no argument ends the process.
#include <node_api.h>

#include <cstring>
#include <exception>
#include <memory>

#include "../runtime/library.h"
#include "codecs.h"
#include "reading.h"

namespace eagre::codecs {
namespace {

struct Span {
  void* data = nullptr;
  size_t size = 0;
};

bool span_of(napi_env env, napi_value value, napi_typedarray_type wanted, Span& span) {
  bool is_array = false;
  napi_typedarray_type type;
  return napi_is_typedarray(env, value, &is_array) == napi_ok && is_array &&
         napi_get_typedarray_info(env, value, &type, &span.size, &span.data, nullptr, nullptr) == napi_ok && type == wanted;
}

bool integer_of(napi_env env, napi_value value, int32_t least, int32_t most, int32_t& out) {
  napi_valuetype type = napi_undefined;
  return napi_typeof(env, value, &type) == napi_ok && type == napi_number && napi_get_value_int32(env, value, &out) == napi_ok && out >= least &&
         out <= most;
}

napi_value refuse(napi_env env, const char* what) {
  bool thrown = false;
  napi_is_exception_pending(env, &thrown);
  if (!thrown) napi_throw_type_error(env, nullptr, what);
  return nullptr;
}

// The result of a codec, or its failure.
napi_value given(napi_env env, int32_t outcome, const char* message, napi_value result) {
  bool thrown = false;
  napi_is_exception_pending(env, &thrown);
  if (thrown) return nullptr;
  if (outcome == EAGRE_DONE) return result;
  napi_throw_error(env, outcome == EAGRE_NO_MEMORY ? "RESOURCE_EXHAUSTED" : "INVALID_ARGUMENT", message);
  return nullptr;
}

// Memory of JavaScript for a picture, whose size is written down.
struct Target {
  napi_env env;
  int32_t* shape;
  napi_value array = nullptr;
};

void* allocate(void* context, uint32_t height, uint32_t width, uint32_t channels, uint32_t bytes_per_value) {
  Target& target = *static_cast<Target*>(context);
  const size_t values = static_cast<size_t>(height) * width * channels;
  napi_value buffer;
  void* data = nullptr;
  if (napi_create_arraybuffer(target.env, values * bytes_per_value, &data, &buffer) != napi_ok) return nullptr;
  const napi_typedarray_type type = bytes_per_value == 1 ? napi_uint8_array : napi_uint16_array;
  if (napi_create_typedarray(target.env, type, values, buffer, 0, &target.array) != napi_ok) return nullptr;
  target.shape[0] = static_cast<int32_t>(height);
  target.shape[1] = static_cast<int32_t>(width);
  target.shape[2] = static_cast<int32_t>(channels);
  return data;
}

// A file's bytes, which are freed.
napi_value bytes_of(napi_env env, uint8_t* bytes, size_t size) {
  napi_value buffer, result = nullptr;
  void* data = nullptr;
  if (napi_create_arraybuffer(env, size, &data, &buffer) == napi_ok) {
    std::memcpy(data, bytes, size);
    napi_create_typedarray(env, napi_uint8_array, size, buffer, 0, &result);
  }
  eagre_free_bytes(bytes);
  return result;
}

// (file, wishes as EagreJpegWishes has them, of which the last is the bits of a float, shape that is written): a Uint8Array.
napi_value decode_jpeg(napi_env env, napi_callback_info info) {
  size_t argc = 3;
  napi_value argv[3];
  Span file, wishes, shape;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  if (!span_of(env, argv[0], napi_uint8_array, file) || !span_of(env, argv[1], napi_int32_array, wishes) || wishes.size != 11 ||
      !span_of(env, argv[2], napi_int32_array, shape) || shape.size != 3)
    return refuse(env, "decodeJpeg takes a Uint8Array, eleven wishes, and room for three sizes");
  const int32_t* w = static_cast<const int32_t*>(wishes.data);
  const bool is_sensible = (w[0] == 0 || w[0] == 1 || w[0] == 3) && (w[1] == 1 || w[1] == 2 || w[1] == 4 || w[1] == 8);
  if (!is_sensible) return refuse(env, "decodeJpeg makes 0, 1 or 3 channels, 1, 2, 4 or 8 times smaller");
  EagreJpegWishes wished;
  static_assert(sizeof wished == 11 * sizeof(int32_t), "the wishes are eleven numbers");
  std::memcpy(&wished, w, sizeof wished);
  Target target = {env, static_cast<int32_t*>(shape.data)};
  char message[EAGRE_MESSAGE];
  const int32_t outcome = eagre_decode_jpeg(static_cast<uint8_t*>(file.data), file.size, &wished, allocate, &target, message);
  return given(env, outcome, message, target.array);
}

// The sizes of a picture of so many values; false where they make no sense.
bool sizes_of(napi_env env, const napi_value* argv, size_t values, int32_t most_channels, int32_t& height, int32_t& width, int32_t& channels) {
  return integer_of(env, argv[0], 1, 0x7fffffff, height) && integer_of(env, argv[1], 1, 0x7fffffff, width) &&
         integer_of(env, argv[2], 1, most_channels, channels) && static_cast<uint64_t>(height) * static_cast<uint64_t>(width) <= EAGRE_MOST_PIXELS &&
         static_cast<uint64_t>(height) * static_cast<uint64_t>(width) * static_cast<uint64_t>(channels) == values;
}

// (pixels, height, width, channels, options as EagreJpegOptions has them, metadata): the file.
napi_value encode_jpeg(napi_env env, napi_callback_info info) {
  size_t argc = 6;
  napi_value argv[6];
  Span pixels, options, xmp;
  int32_t height, width, channels;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  if (!span_of(env, argv[0], napi_uint8_array, pixels) || !sizes_of(env, argv + 1, pixels.size, 3, height, width, channels) || channels == 2 ||
      !span_of(env, argv[4], napi_int32_array, options) || options.size != 7 || !span_of(env, argv[5], napi_uint8_array, xmp))
    return refuse(env, "encodeJpeg takes a Uint8Array, its height, width, and 1 or 3 channels, seven options, and metadata");
  EagreJpegOptions chosen;
  static_assert(sizeof chosen == 7 * sizeof(int32_t), "the options are seven numbers");
  std::memcpy(&chosen, options.data, sizeof chosen);
  uint8_t* bytes = nullptr;
  size_t size = 0;
  char message[EAGRE_MESSAGE];
  const int32_t outcome = eagre_encode_jpeg(static_cast<uint8_t*>(pixels.data), height, width, channels, &chosen,
                                            static_cast<uint8_t*>(xmp.data), xmp.size, &bytes, &size, message);
  return given(env, outcome, message, outcome == EAGRE_DONE ? bytes_of(env, bytes, size) : nullptr);
}

// (file, channels, bits of a value, shape that is written): a Uint8Array or a Uint16Array.
napi_value decode_png(napi_env env, napi_callback_info info) {
  size_t argc = 4;
  napi_value argv[4];
  Span file, shape;
  int32_t channels, depth;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  if (!span_of(env, argv[0], napi_uint8_array, file) || !integer_of(env, argv[1], 0, 4, channels) || !integer_of(env, argv[2], 8, 16, depth) ||
      depth % 8 != 0 || !span_of(env, argv[3], napi_int32_array, shape) || shape.size != 3)
    return refuse(env, "decodePng takes a Uint8Array, 0 to 4 channels, 8 or 16 bits, and room for three sizes");
  Target target = {env, static_cast<int32_t*>(shape.data)};
  char message[EAGRE_MESSAGE];
  const int32_t outcome = eagre_decode_png(static_cast<uint8_t*>(file.data), file.size, channels, depth, allocate, &target, message);
  return given(env, outcome, message, target.array);
}

// (values, height, width, channels, level): the file.
napi_value encode_png(napi_env env, napi_callback_info info) {
  size_t argc = 5;
  napi_value argv[5];
  Span values;
  int32_t height, width, channels, level;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  const bool is_short = span_of(env, argv[0], napi_uint8_array, values);
  if ((!is_short && !span_of(env, argv[0], napi_uint16_array, values)) || !sizes_of(env, argv + 1, values.size, 4, height, width, channels) ||
      !integer_of(env, argv[4], -1, 9, level))
    return refuse(env, "encodePng takes a Uint8Array or a Uint16Array, its height, width, and 1 to 4 channels, and a level from -1 to 9");
  uint8_t* bytes = nullptr;
  size_t size = 0;
  char message[EAGRE_MESSAGE];
  const int32_t outcome = eagre_encode_png(values.data, height, width, channels, is_short ? 8 : 16, level, &bytes, &size, message);
  return given(env, outcome, message, outcome == EAGRE_DONE ? bytes_of(env, bytes, size) : nullptr);
}

// A reading with the memory that it reads into, which JavaScript holds by a handle.
struct Held {
  std::shared_ptr<Reading> reading;
  napi_ref target = nullptr;

  // Nobody reads into the memory any more.
  void let_go(napi_env env) {
    if (target) napi_delete_reference(env, target);
    target = nullptr;
  }
};

bool texts_of(napi_env env, napi_value list, std::vector<std::string>& texts) {
  bool is_array = false;
  uint32_t count = 0;
  if (napi_is_array(env, list, &is_array) != napi_ok || !is_array || napi_get_array_length(env, list, &count) != napi_ok) return false;
  texts.resize(count);
  for (uint32_t i = 0; i < count; i++) {
    napi_value text;
    napi_valuetype type = napi_undefined;
    size_t length = 0;
    if (napi_get_element(env, list, i, &text) != napi_ok || napi_typeof(env, text, &type) != napi_ok || type != napi_string ||
        napi_get_value_string_utf8(env, text, nullptr, 0, &length) != napi_ok)
      return false;
    texts[i].resize(length + 1);
    if (napi_get_value_string_utf8(env, text, &texts[i][0], length + 1, &length) != napi_ok) return false;
    texts[i].resize(length);
  }
  return true;
}

// (paths, recipe as EagreRecipe has it, Float32Array for all of them): a handle. Other threads begin.
napi_value begin_pictures(napi_env env, napi_callback_info info) {
  size_t argc = 3;
  napi_value argv[3], handle = nullptr;
  Span recipe, out;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  const char* const usage = "beginPictures takes paths, a recipe of six numbers, and a Float32Array that the pictures fill";
  try {
    std::vector<std::string> paths;
    if (!texts_of(env, argv[0], paths) || !span_of(env, argv[1], napi_int32_array, recipe) || recipe.size != 6 ||
        !span_of(env, argv[2], napi_float32_array, out))
      return refuse(env, usage);
    const int32_t* r = static_cast<const int32_t*>(recipe.data);
    if (r[0] < 1 || r[1] < 1 || (r[2] != 1 && r[2] != 3 && r[2] != 4)) return refuse(env, usage);
    const EagreRecipe wished = {static_cast<uint32_t>(r[0]), static_cast<uint32_t>(r[1]), static_cast<uint32_t>(r[2]), r[3], r[4], r[5]};
    // As doubles, which hold it.
    if (static_cast<double>(r[0]) * r[1] * r[2] * static_cast<double>(paths.size()) != static_cast<double>(out.size)) return refuse(env, usage);
    auto held = std::make_unique<Held>();
    held->reading = std::make_shared<Reading>(std::move(paths), wished, static_cast<float*>(out.data));
    if (napi_create_reference(env, argv[2], 1, &held->target) != napi_ok) return refuse(env, usage);
    const auto gone = [](napi_env env, void* data, void*) {
      Held* held = static_cast<Held*>(data);
      held->reading->stop();
      held->let_go(env);
      delete held;
    };
    if (napi_create_external(env, held.get(), gone, nullptr, &handle) != napi_ok) {
      held->let_go(env);
      return refuse(env, usage);
    }
    start(held.release()->reading);
    return handle;
  } catch (const std::exception&) {
    napi_throw_error(env, "RESOURCE_EXHAUSTED", "there is no memory for the paths");
    return nullptr;
  }
}

// (handle, whether the pictures are wanted): an Int32Array of those files of which none could be made.
napi_value finish_pictures(napi_env env, napi_callback_info info) {
  size_t argc = 2;
  napi_value argv[2], buffer, result = nullptr;
  napi_valuetype type = napi_undefined;
  void* data = nullptr;
  bool wanted = false;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  napi_typeof(env, argv[0], &type);
  if (type != napi_external || napi_get_value_external(env, argv[0], &data) != napi_ok || napi_get_value_bool(env, argv[1], &wanted) != napi_ok)
    return refuse(env, "finishPictures takes what beginPictures gave, and whether they are wanted");
  Held& held = *static_cast<Held*>(data);
  std::vector<int32_t> failed;
  try {
    if (wanted) failed = held.reading->finish();
    else held.reading->stop();
  } catch (const std::exception&) {
    held.reading->stop();
    held.let_go(env);
    napi_throw_error(env, "RESOURCE_EXHAUSTED", "there is no memory for the result");
    return nullptr;
  }
  held.let_go(env);
  void* out = nullptr;
  if (napi_create_arraybuffer(env, failed.size() * sizeof(int32_t), &out, &buffer) != napi_ok) return nullptr;
  if (!failed.empty()) std::memcpy(out, failed.data(), failed.size() * sizeof(int32_t));
  napi_create_typedarray(env, napi_int32_array, failed.size(), buffer, 0, &result);
  return result;
}

}  // namespace

napi_value init(napi_env env, napi_value exports) {
  // Its threads outlive the worker that started them.
  stay_loaded();
  const struct {
    const char* name;
    napi_callback call;
  } functions[] = {{"decodeJpeg", decode_jpeg}, {"encodeJpeg", encode_jpeg},       {"decodePng", decode_png},
                   {"encodePng", encode_png},   {"beginPictures", begin_pictures}, {"finishPictures", finish_pictures}};
  for (const auto& [name, call] : functions) {
    napi_value function;
    if (napi_create_function(env, name, NAPI_AUTO_LENGTH, call, nullptr, &function) != napi_ok) return nullptr;
    napi_set_named_property(env, exports, name, function);
  }
  return exports;
}

}  // namespace eagre::codecs

static napi_value init(napi_env env, napi_value exports) { return eagre::codecs::init(env, exports); }
NAPI_MODULE(eagre_codecs, init)
