// log Γ(x) for x above 0, by Stirling's series beyond 10 and the recurrence below, the same to the last bit as in TypeScript:
// packages/backend/src/log-gamma.ts; change both or neither. That of special.h is for all numbers.
#pragma once
#include <cmath>

#include "isa.h"

EAGRE_BEGIN
namespace {

constexpr double kTurn = 6.283185307179586;

inline double log_gamma_of_positive(double x) {
  double z = x, product = 1;
  while (z < 10) product *= z, z += 1;
  const double inverse = 1 / (z * z);
  const double series =
      ((((((-691.0 / 360360) * inverse + 1.0 / 1188) * inverse - 1.0 / 1680) * inverse + 1.0 / 1260) * inverse - 1.0 / 360) *
           inverse +
       1.0 / 12) /
      z;
  return (z - 0.5) * std::log(z) - z + 0.5 * std::log(kTurn) + series - std::log(product);
}

}  // namespace
EAGRE_END
