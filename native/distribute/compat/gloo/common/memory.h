// Debian's libgloo-dev leaves this header out, though gloo/transport/tcp/context.h includes it. The names are all that is needed here.
#pragma once
#include <memory>

namespace gloo {
template <typename T> class WeakNonOwningPtr;
template <typename T> class NonOwningPtr;
template <typename T> class ShareableNonOwningPtr;
}  // namespace gloo
