/* What libjpeg-turbo's own build would find out, for 8 bits in a sample. */
#define JPEG_LIB_VERSION 62
#define LIBJPEG_TURBO_VERSION 3.1.0
#define LIBJPEG_TURBO_VERSION_NUMBER 3001000
#define C_ARITH_CODING_SUPPORTED 1
#define D_ARITH_CODING_SUPPORTED 1
#define MEM_SRCDST_SUPPORTED 1
#define WITH_SIMD 1
#ifndef BITS_IN_JSAMPLE
#define BITS_IN_JSAMPLE 8
#endif
#ifdef _WIN32
typedef unsigned char boolean;
#define HAVE_BOOLEAN
typedef short INT16;
typedef signed int INT32;
#define XMD_H
#endif
