#include "cublas_lt.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace eagre::cuda {
namespace {

constexpr size_t kOldest = 120000, kNext = 140000;
// What NVIDIA advises for Hopper, and for older GPUs.
constexpr uint64_t kWorkspace = uint64_t(32) << 20, kSmallWorkspace = uint64_t(4) << 20;
// The library asks for 4 bytes at times, and refuses those that begin in the midst of others: so much is memory of its own.
constexpr uint64_t kLeastWorkspace = uint64_t(64) << 10, kWorkspaceAlignment = 256;
constexpr int kHopper = 9;
// The first one that works is taken.
constexpr int kProposals = 4;
constexpr uint64_t kMostSize = 0x7fffffff;
constexpr double kMostBytes = 9007199254740991.0;
// The library reads no memory there, it asks how the address is aligned.
constexpr uint64_t kSomewhere = uint64_t(1) << 30;

int type_of(ProductType type) {
  switch (type) {
    case ProductType::kFloat16: return kReal16;
    case ProductType::kBfloat16: return kBrain16;
    case ProductType::kFloat64: return kReal64;
    default: return kReal32;
  }
}
size_t size_of(ProductType type) {
  switch (type) {
    case ProductType::kFloat16:
    case ProductType::kBfloat16: return 2;
    case ProductType::kFloat64: return 8;
    default: return 4;
  }
}
int compute_of(ProductType type) {
  return type == ProductType::kFloat64 ? kCompute64 : type == ProductType::kTensorFloat32 ? kComputeTensorFloat32 : kCompute32;
}

size_t bytes_of(uint64_t batches, uint64_t stride, uint64_t matrix, size_t each) {
  const double elements = static_cast<double>(batches - 1) * static_cast<double>(stride) + static_cast<double>(matrix);
  if (elements * static_cast<double>(each) > kMostBytes) throw Failure("INVALID_ARGUMENT", "a product of more bytes than any memory has");
  return ((batches - 1) * stride + matrix) * each;
}

}  // namespace

const CublasLt& CublasLt::open(const std::string& path) {
  static std::mutex lock;
  static auto& opened = *new std::map<std::string, const CublasLt*>();
  const std::lock_guard<std::mutex> guard(lock);
  const CublasLt*& library = opened[path];
  if (library == nullptr) library = new CublasLt(path);
  return *library;
}

CublasLt::CublasLt(const std::string& path) {
  void* library = open_library(path);
#define FIND(name)                                                                              \
  name = reinterpret_cast<decltype(name)>(find_symbol(library, "cublasLt" #name));              \
  if (name == nullptr) throw Failure("UNAVAILABLE", path + " has no cublasLt" #name)
  FIND(GetVersion);
  const size_t found = GetVersion();
  if (found < kOldest || found >= kNext) throw Failure("UNAVAILABLE", path + " is cuBLASLt " + version() + ": it must be 12 or 13");
  FIND(GetStatusName);
  FIND(GetStatusString);
  FIND(Create);
  FIND(Destroy);
  FIND(MatmulDescCreate);
  FIND(MatmulDescSetAttribute);
  FIND(MatmulDescDestroy);
  FIND(MatrixLayoutCreate);
  FIND(MatrixLayoutSetAttribute);
  FIND(MatrixLayoutDestroy);
  FIND(MatmulPreferenceCreate);
  FIND(MatmulPreferenceSetAttribute);
  FIND(MatmulPreferenceDestroy);
  FIND(MatmulAlgoGetHeuristic);
  FIND(Matmul);
#undef FIND
}

std::string CublasLt::version() const {
  const size_t found = GetVersion();
  return std::to_string(found / 10000) + "." + std::to_string(found / 100 % 100) + "." + std::to_string(found % 100);
}

Failure CublasLt::failure(int status, const char* function) const {
  const char *name = GetStatusName(status), *text = GetStatusString(status);
  const std::string named = name != nullptr ? name : "CUBLAS_STATUS_" + std::to_string(status);
  const char* code = status == kLtAllocationFailed ? "RESOURCE_EXHAUSTED" : status == kLtNotSupported ? "UNIMPLEMENTED" : "INTERNAL";
  return Failure(code, std::string("cublasLt") + function + ": " + (text != nullptr ? std::string(text) + " (" + named + ")" : named), named);
}

Products::Products(const std::vector<std::string>& paths, int driver_version, int compute_major)
    : most_workspace_(compute_major >= kHopper ? kWorkspace : kSmallWorkspace) {
  std::string reasons;
  for (const std::string& path : paths) {
    try {
      const CublasLt& library = CublasLt::open(path);
      // Within a major version of CUDA a library works with older drivers, too.
      if (library.major() > driver_version / 1000)
        throw Failure("UNAVAILABLE", path + " is cuBLASLt " + library.version() + ", which is newer than the driver's CUDA " + std::to_string(driver_version / 1000));
      library.check(library.Create(&handle_), "Create");
      library_ = &library;
      path_ = path;
      return;
    } catch (const Failure& failure) {
      reasons += std::string(reasons.empty() ? "" : "; ") + failure.what();
    }
  }
  throw Failure("UNAVAILABLE", reasons);
}

// In columns, as the library has matrices, ours are transposed: yᵀ = bᵀ · aᵀ, so that b comes first, and the bias is along the rows.
std::unique_ptr<Product> Products::find(const ProductShape& shape) const {
  const auto& [type, transpose_a, transpose_b, has_bias, has_relu, rows, columns, depth, batches, stride_a, stride_b, alignment] = shape;
  for (const uint64_t size : {rows, columns, depth, batches})
    if (size == 0 || size > kMostSize) throw Failure("INVALID_ARGUMENT", "a size of a product is 0 or too large");
  if (type > ProductType::kFloat64) throw Failure("INVALID_ARGUMENT", "a product of no such type");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) throw Failure("INVALID_ARGUMENT", "an alignment that is no power of two");
  const CublasLt& lt = *library_;
  const size_t each = size_of(type);
  std::unique_ptr<Product> product(new Product(*this));
  product->has_bias_ = has_bias;
  product->is_double_ = type == ProductType::kFloat64;
  product->alignment_ = alignment;
  const auto add = [&](size_t bytes) { product->bytes_[product->count_++] = bytes; };
  add(bytes_of(batches, stride_a, rows * depth, each));
  add(bytes_of(batches, stride_b, depth * columns, each));
  if (has_bias) add(columns * each);
  add(bytes_of(batches, rows * columns, rows * columns, each));

  lt.check(lt.MatmulDescCreate(&product->description_, compute_of(type), type_of(type == ProductType::kFloat64 ? type : ProductType::kFloat32)), "MatmulDescCreate");
  const auto describe = [&](int attribute, const auto& value) {
    lt.check(lt.MatmulDescSetAttribute(product->description_, attribute, &value, sizeof value), "MatmulDescSetAttribute");
  };
  describe(kTransposeFirst, int32_t{transpose_b ? kTransposed : kAsIs});
  describe(kTransposeSecond, int32_t{transpose_a ? kTransposed : kAsIs});
  uint32_t epilogue = 0;
  if (has_relu) epilogue |= kEpilogueRelu;
  if (has_bias) epilogue |= kEpilogueBias;
  describe(kEpilogue, epilogue == 0 ? uint32_t{kEpilogueNone} : epilogue);
  if (has_bias) describe(kBiasPointer, uint64_t{kSomewhere + alignment});

  const auto lay_out = [&, type = type, batches = batches](LtLayout* layout, uint64_t down, uint64_t across, uint64_t stride) {
    lt.check(lt.MatrixLayoutCreate(layout, type_of(type), down, across, static_cast<int64_t>(down)), "MatrixLayoutCreate");
    const int32_t count = static_cast<int32_t>(batches);
    const int64_t step = static_cast<int64_t>(stride);
    if (batches == 1) return;
    lt.check(lt.MatrixLayoutSetAttribute(*layout, kBatchCount, &count, sizeof count), "MatrixLayoutSetAttribute");
    lt.check(lt.MatrixLayoutSetAttribute(*layout, kBatchStride, &step, sizeof step), "MatrixLayoutSetAttribute");
  };
  lay_out(&product->first_, transpose_b ? depth : columns, transpose_b ? columns : depth, stride_b);
  lay_out(&product->second_, transpose_a ? rows : depth, transpose_a ? depth : rows, stride_a);
  lay_out(&product->result_, columns, rows, rows * columns);

  LtPreference preference = nullptr;
  lt.check(lt.MatmulPreferenceCreate(&preference), "MatmulPreferenceCreate");
  struct End {
    const CublasLt& lt;
    LtPreference preference;
    ~End() { lt.MatmulPreferenceDestroy(preference); }
  } end{lt, preference};
  const auto prefer = [&](int attribute, const auto& value) {
    lt.check(lt.MatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value), "MatmulPreferenceSetAttribute");
  };
  prefer(kMostWorkspace, most_workspace_);
  prefer(kReductions, uint32_t{kReduceInComputeType});
  // Of a, b, c and d.
  for (int i = 0; i < 4; i++) prefer(kAlignments + i, alignment);

  LtHeuristic proposals[kProposals];
  int found = 0;
  const int status = lt.MatmulAlgoGetHeuristic(handle_, product->description_, product->first_, product->second_, product->result_, product->result_, preference,
                                               kProposals, proposals, &found);
  if (status == kLtNotSupported || status == kLtArchitectureMismatch) return nullptr;
  lt.check(status, "MatmulAlgoGetHeuristic");
  for (int i = 0; i < found; i++) {
    if (proposals[i].status != kLtSuccess || proposals[i].workspace > most_workspace_) continue;
    product->algorithm_ = proposals[i].algorithm;
    if (proposals[i].workspace > 0) add(product->workspace_ = std::max<size_t>(proposals[i].workspace, kLeastWorkspace));
    return product;
  }
  return nullptr;
}

Product::~Product() {
  const CublasLt& lt = *products_.library_;
  for (const LtLayout layout : {first_, second_, result_})
    if (layout != nullptr) lt.MatrixLayoutDestroy(layout);
  if (description_ != nullptr) lt.MatmulDescDestroy(description_);
}

void Product::run(const CUdeviceptr* operands, CUstream stream) const {
  const CublasLt& lt = *products_.library_;
  for (size_t i = 0; i < count_; i++)
    if (operands[i] % (workspace_ > 0 && i == count_ - 1 ? kWorkspaceAlignment : alignment_) != 0)
      throw Failure("INVALID_ARGUMENT", "an operand of a product is not aligned as was said");
  if (has_bias_) lt.check(lt.MatmulDescSetAttribute(description_, kBiasPointer, &operands[2], sizeof operands[2]), "MatmulDescSetAttribute");
  const float one = 1, none = 0;
  const double wide_one = 1, wide_none = 0;
  const void *alpha = &one, *beta = &none;
  if (is_double_) {
    alpha = &wide_one;
    beta = &wide_none;
  }
  const auto at = [&](size_t i) { return reinterpret_cast<void*>(operands[i]); };
  void* const y = at(has_bias_ ? 3 : 2);
  lt.check(lt.Matmul(products_.handle_, description_, alpha, at(1), first_, at(0), second_, beta, y, result_, y, result_, &algorithm_,
                     workspace_ > 0 ? at(count_ - 1) : nullptr, workspace_, stream),
           "Matmul");
}

}  // namespace eagre::cuda
