// Debian's libgloo-dev leaves this header out, though gloo/transport/tcp/context.h and pair.h include it. Of two classes the names are all that is
// needed here; the third one is a member of what pair.h declares, so it has the size and the life of Gloo's.
#pragma once
#include <memory>

namespace gloo {
template <typename T> class NonOwningPtr;
template <typename T> class ShareableNonOwningPtr;
template <typename T> class WeakNonOwningPtr {
  std::weak_ptr<T> held_;
};
}  // namespace gloo
