// The library that this code is in.
#pragma once

namespace eagre {

// Keeps it in the process until that ends, whoever closes it: the threads of the pool run its code until then, but Node unloads an addon
// with the last worker that loaded it.
void stay_loaded();

}  // namespace eagre
