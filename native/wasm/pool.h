#pragma once

namespace eagre {

// What a worker does from when it has come: chunks of others' jobs. Never returns.
[[noreturn]] void serve();

}  // namespace eagre
