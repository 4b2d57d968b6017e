/* What libjpeg-turbo's own build would find out of the compiler: GCC or Clang. */
#define BUILD ""
#define HIDDEN __attribute__((visibility("hidden")))
#undef inline
#define INLINE __inline__ __attribute__((always_inline))
#define THREAD_LOCAL __thread
#define PACKAGE_NAME "libjpeg-turbo"
#define VERSION "3.1.0"
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#if __SIZEOF_SIZE_T__ == __SIZEOF_LONG__
#define HAVE_BUILTIN_CTZL 1
#endif
#if defined(__has_attribute)
#if __has_attribute(fallthrough)
#define FALLTHROUGH __attribute__((fallthrough));
#else
#define FALLTHROUGH
#endif
#else
#define FALLTHROUGH
#endif
#ifndef BITS_IN_JSAMPLE
#define BITS_IN_JSAMPLE 8
#endif
#undef C_ARITH_CODING_SUPPORTED
#undef D_ARITH_CODING_SUPPORTED
#undef WITH_SIMD
#if BITS_IN_JSAMPLE == 8
#define C_ARITH_CODING_SUPPORTED 1
#define D_ARITH_CODING_SUPPORTED 1
#define WITH_SIMD 1
#endif
/* A setting of the environment has no say. */
#define NO_GETENV 1
