// Memory that the addon has the system give early; see ../runtime/pages.h.
#pragma once
#include <napi.h>

namespace eagre {

// makePages(array of Uint8Arrays): has the system give their memory now, on another thread, and keeps them meanwhile.
napi_value make_all_pages(napi_env env, napi_callback_info info);

}  // namespace eagre
