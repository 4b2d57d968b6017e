// NVIDIA's library for products of matrices, found at run time: no header of it is needed to build this.
#pragma once
#include <array>

#include "driver.h"

namespace eagre::cuda {

// The library's own types and numbers, which cublasLt.h, cublas_api.h and library_types.h have alike in versions 12 and 13.
using LtHandle = struct cublasLtContext*;
using LtDescription = struct cublasLtMatmulDescription*;
using LtLayout = struct cublasLtMatrixLayout*;
using LtPreference = struct cublasLtMatmulPreference*;
struct LtAlgorithm {
  uint64_t data[8];
};
struct LtHeuristic {
  LtAlgorithm algorithm;
  size_t workspace;
  int status;
  float waves;
  int reserved[4];
};
static_assert(sizeof(LtHeuristic) == 96, "as cublasLtMatmulHeuristicResult_t");
enum : int { kLtSuccess = 0, kLtAllocationFailed = 3, kLtArchitectureMismatch = 8, kLtNotSupported = 15 };
enum : int { kReal32 = 0, kReal64 = 1, kReal16 = 2, kBrain16 = 14 };
enum : int { kCompute32 = 68, kCompute64 = 70, kComputeTensorFloat32 = 77 };
enum : int { kAsIs = 0, kTransposed = 1 };
enum : unsigned { kEpilogueNone = 1, kEpilogueRelu = 2, kEpilogueBias = 4 };
enum : int { kTransposeFirst = 3, kTransposeSecond = 4, kEpilogue = 7, kBiasPointer = 8 };
enum : int { kBatchCount = 5, kBatchStride = 6 };
enum : int { kMostWorkspace = 1, kReductions = 3, kAlignments = 5 };
// Parts of the depth are added by a kernel of its own, in the type of the sums. The other ways add in the order in which blocks come, or round each part.
enum : unsigned { kReduceInComputeType = 2 };

struct CublasLt {
  size_t (*GetVersion)();
  const char* (*GetStatusName)(int);
  const char* (*GetStatusString)(int);
  int (*Create)(LtHandle*);
  int (*Destroy)(LtHandle);
  int (*MatmulDescCreate)(LtDescription*, int compute, int scale);
  int (*MatmulDescSetAttribute)(LtDescription, int, const void*, size_t);
  int (*MatmulDescDestroy)(LtDescription);
  int (*MatrixLayoutCreate)(LtLayout*, int type, uint64_t rows, uint64_t columns, int64_t leading);
  int (*MatrixLayoutSetAttribute)(LtLayout, int, const void*, size_t);
  int (*MatrixLayoutDestroy)(LtLayout);
  int (*MatmulPreferenceCreate)(LtPreference*);
  int (*MatmulPreferenceSetAttribute)(LtPreference, int, const void*, size_t);
  int (*MatmulPreferenceDestroy)(LtPreference);
  int (*MatmulAlgoGetHeuristic)(LtHandle, LtDescription, LtLayout, LtLayout, LtLayout, LtLayout, LtPreference, int count, LtHeuristic*, int* found);
  int (*Matmul)(LtHandle, LtDescription, const void* alpha, const void* a, LtLayout, const void* b, LtLayout, const void* beta, const void* c, LtLayout, void* d,
                LtLayout, const LtAlgorithm*, void* workspace, size_t bytes, CUstream);

  // A library by path or name, as long as the process. Failure UNAVAILABLE where it is not there, lacks a function, or is no version 12 or 13.
  static const CublasLt& open(const std::string& path);
  // 13.0.2
  std::string version() const;
  int major() const { return static_cast<int>(GetVersion() / 10000); }
  void check(int status, const char* function) const {
    if (status != kLtSuccess) throw failure(status, function);
  }
  Failure failure(int status, const char* function) const;

 private:
  explicit CublasLt(const std::string& path);
};

enum class ProductType : uint32_t { kFloat32, kTensorFloat32, kFloat16, kBfloat16, kFloat64 };

// y = activation(a · b + bias), of matrices in rows: a of [rows, depth], b of [depth, columns], or transposed. The bias has one element for each column.
struct ProductShape {
  ProductType type;
  bool transpose_a, transpose_b, has_bias, has_relu;
  uint64_t rows, columns, depth, batches;
  // Elements from one matrix of the batch to the next; 0 where it is the same. Those of y follow each other.
  uint64_t stride_a, stride_b;
  // Of all addresses.
  uint32_t alignment;
};

class Products;

// A product, with the algorithm that the library has chosen for it.
class Product {
 public:
  ~Product();
  // The bytes that it needs besides, or 0.
  size_t workspace() const { return workspace_; }
  // How many operands a call has, and the bytes of each: a, b, the bias if there is one, y, the workspace if it needs one.
  size_t operands() const { return count_; }
  size_t bytes(size_t operand) const { return bytes_[operand]; }
  // Behind what the stream was told before.
  void run(const CUdeviceptr* operands, CUstream stream) const;

 private:
  friend class Products;
  explicit Product(const Products& products) : products_(products) {}
  const Products& products_;
  LtDescription description_ = nullptr;
  LtLayout first_ = nullptr, second_ = nullptr, result_ = nullptr;
  LtAlgorithm algorithm_{};
  size_t workspace_ = 0, count_ = 0;
  std::array<size_t, 5> bytes_{};
  uint32_t alignment_ = 0;
  bool has_bias_ = false, is_double_ = false;
};

// The library on one GPU, whose context is current at each call.
class Products {
 public:
  // The first of the libraries that works with this driver. Failure UNAVAILABLE, which says of each why not.
  Products(const std::vector<std::string>& paths, int driver_version, int compute_major);
  ~Products() { library_->Destroy(handle_); }
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  const std::string& path() const { return path_; }
  std::string version() const { return library_->version(); }
  // Null where the library has no algorithm. Failure INVALID_ARGUMENT for sizes that no memory has.
  std::unique_ptr<Product> find(const ProductShape& shape) const;

 private:
  friend class Product;
  const CublasLt* library_ = nullptr;
  LtHandle handle_ = nullptr;
  std::string path_;
  uint64_t most_workspace_;
};

}  // namespace eagre::cuda
