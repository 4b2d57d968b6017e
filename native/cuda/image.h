// The driver is told where an image begins, not where it ends. So what is cut short is refused before.
#pragma once
#include <cstddef>

namespace eagre::cuda {

// Failure INVALID_ARGUMENT unless it is a whole cubin, a whole fatbin, or text of PTX.
void check_image(const void* image, size_t bytes);

}  // namespace eagre::cuda
