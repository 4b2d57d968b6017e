// What a module throws where there is no memory.
#pragma once

namespace eagre {
[[noreturn]] void no_memory();
}
