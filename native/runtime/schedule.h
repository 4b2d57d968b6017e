// Orders the instructions of a scalar program into passes over a tile.
#pragma once
#include <vector>

#include "programs.h"

namespace eagre {

struct Schedule {
  std::vector<Pass> passes;
  std::vector<Move> moves;
  int slots;
};

// Of a program whose inputs, instructions and results are there. Instructions that cost little go into chains, as late as somebody
// needs them; the others get a pass each. Sets `Instr::slot`.
Schedule schedule(Program& p);

}  // namespace eagre
