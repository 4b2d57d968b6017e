// Scalar programs over one element, as plans have them in loops: what a tile needs to get ready takes longer than they work.
#pragma once
#include "../runtime/programs.h"
#include "isa.h"

EAGRE_BEGIN

// Of ElementwiseFlat with one element; null for more. Holds nothing of the program.
Shortcut* single_program(Args& a);
EAGRE_END
