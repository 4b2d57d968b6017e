// Any lanes of two vectors of unsigned integers, by constant numbers; GCC has Clang's builtin only since version 12.
#pragma once

#if defined(__clang__)
#define EAGRE_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define EAGRE_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, decltype((a) + (b)){__VA_ARGS__})
#endif
