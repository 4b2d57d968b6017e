#include "pages.h"

#include <memory>
#include <vector>

#include "../runtime/pages.h"
#include "environment.h"

namespace eagre {
namespace {

struct Pages {
  struct Range {
    void* begin;
    int64_t length;
  };
  std::vector<Range> ranges;
  // To the array with the blocks.
  napi_ref blocks = nullptr;
  napi_async_work work = nullptr;
};

void run(napi_env, void* data) {
  for (const auto& [begin, length] : static_cast<Pages*>(data)->ranges) make_pages(begin, length);
}

void done(napi_env env, napi_status, void* data) {
  const std::unique_ptr<Pages> pages(static_cast<Pages*>(data));
  napi_delete_reference(env, pages->blocks);
  napi_delete_async_work(env, pages->work);
}

// A copy, which nobody takes a block out of.
napi_value copy_of(napi_env env, napi_value blocks, std::vector<Pages::Range>& ranges) {
  uint32_t count = 0;
  napi_value copy = nullptr;
  if (napi_get_array_length(env, blocks, &count) != napi_ok || napi_create_array_with_length(env, count, &copy) != napi_ok) return nullptr;
  for (uint32_t i = 0; i < count; i++) {
    napi_value block;
    napi_typedarray_type type;
    void* begin = nullptr;
    size_t length = 0;
    if (napi_get_element(env, blocks, i, &block) != napi_ok ||
        napi_get_typedarray_info(env, block, &type, &length, &begin, nullptr, nullptr) != napi_ok || type != napi_uint8_array ||
        napi_set_element(env, copy, i, block) != napi_ok)
      return nullptr;
    ranges.push_back({begin, static_cast<int64_t>(length)});
  }
  return copy;
}

}  // namespace

napi_value make_all_pages(napi_env env, napi_callback_info info) {
  size_t argc = 1;
  napi_value argv[1], name;
  napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
  std::unique_ptr<Pages> pages;
  napi_value copy = nullptr;
  char message[256];
  const int32_t code = guarded(message, [&] {
    pages = std::make_unique<Pages>();
    copy = copy_of(env, argv[0], pages->ranges);
  });
  if (code != 0 || copy == nullptr) {
    bool thrown = false;
    napi_is_exception_pending(env, &thrown);
    if (!thrown) napi_throw_type_error(env, nullptr, code != 0 ? message : "makePages takes an array of Uint8Arrays");
    return nullptr;
  }
  // It is only a wish, so where it cannot be begun, nothing is done.
  napi_create_string_utf8(env, "makePages", NAPI_AUTO_LENGTH, &name);
  if (napi_create_reference(env, copy, 1, &pages->blocks) != napi_ok) return nullptr;
  if (napi_create_async_work(env, nullptr, name, run, done, pages.get(), &pages->work) != napi_ok) {
    napi_delete_reference(env, pages->blocks);
    return nullptr;
  }
  if (napi_queue_async_work(env, pages->work) == napi_ok) pages.release();
  else {
    napi_delete_reference(env, pages->blocks);
    napi_delete_async_work(env, pages->work);
  }
  return nullptr;
}

}  // namespace eagre
