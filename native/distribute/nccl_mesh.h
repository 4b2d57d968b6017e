// Collectives by NCCL, between GPUs of NVIDIA, one of each process. The library and the driver are found when they are first needed.
#pragma once
#include <functional>

#include "../cuda/nccl.h"
#include "mesh.h"

namespace eagre::distribute {

// What NCCL does not add up as this engine promises (16-bit floats, in the order of ranks, NaN in minima and maxima), the ranks exchange by it and add
// up themselves. The communicator does not block, so that `abort` and the time are noticed.
class NcclMesh : public PolledMesh {
 public:
  // To come together may take `timeout`. @throws SetupError where there is no NCCL, no driver or no GPU
  NcclMesh(int rank, int size, Milliseconds timeout);
  ~NcclMesh() override;
  // Rank 0 has the number under which all find each other.
  std::vector<std::vector<char>> addresses() const override;
  // The places of the GPUs on the bus of the machine, in the driver's order.
  std::string gpus() const override;
  // @throws SetupError where there is no such GPU
  void prepare(int gpu) override;
  void connect(const std::vector<std::vector<char>>& addresses) override;
  void finish() override;

 protected:
  bool combines(Element element, Reduction reduction) const override;
  void combine(Element element, Reduction reduction, void* data, size_t count, const Call& call) override;
  void combine_at(int root, Element element, Reduction reduction, void* in, void* out, size_t count, const Call& call) override;
  void broadcast(void* data, size_t bytes, int root, const Call& call) override;
  void gather(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) override;
  void exchange(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) override;
  // What all have agreed on, all have come to.
  void barrier(const Call&) override {}
  void run_on_gpu(const Operation& operation, const Call& call) override;
  void agree(const Layout& layout, uint64_t sequence, const Call& call) override;
  void break_off() override;

 private:
  // A piece on its way to the GPU and back: memory of the host that the GPU reaches, memory of the GPU, and how far it is.
  struct Slot {
    char *in = nullptr, *out = nullptr;
    cuda::CUdeviceptr gpu_in = 0, gpu_out = 0;
    cuda::CUevent given = nullptr, computed = nullptr, taken = nullptr;
  };
  // What goes through the GPU in pieces. Both `give` and `taken` may be 0 bytes.
  struct Pieces {
    size_t count;
    // Fills a piece, and gives its bytes.
    std::function<size_t(size_t piece, char* in)> give;
    // Tells NCCL what to do, and gives the code of the last call.
    std::function<int(size_t piece, void* in, void* out)> compute;
    // How many bytes come back.
    std::function<size_t(size_t piece)> taken;
    std::function<void(size_t piece, const char* out)> take;
  };
  static constexpr size_t kSlots = 3;
  void open_gpu();
  void close_gpu();
  void enter();
  void run(const Pieces& pieces, const char* what, const Call& call);
  // Whether NCCL works on the last call still.
  bool is_in_progress(const char* what);
  void settle(int code, const char* what, const Call& call);
  void wait(cuda::CUevent event, const char* what, const Call& call);
  void check(cuda::CUresult result, const char* function);
  [[noreturn]] void fail(int code, const char* what);
  bool is_quiet() const;

  std::shared_ptr<const cuda::Driver> driver_;
  const cuda::Nccl& nccl_;
  const Milliseconds timeout_;
  std::vector<std::string> gpus_;
  std::vector<char> id_;
  cuda::CUdevice device_ = 0;
  cuda::CUcontext context_ = nullptr;
  // Copies to the GPU, NCCL's work, and copies back, each in its order.
  cuda::CUstream in_ = nullptr, work_ = nullptr, out_ = nullptr;
  Slot slots_[kSlots];
  void* comm_ = nullptr;
};

}  // namespace eagre::distribute
