// Collectives by Gloo, over its TCP transport.
#pragma once
#include "mesh.h"

namespace eagre::distribute {

class GlooMesh : public MessageMesh {
 public:
  // @throws gloo::Exception
  GlooMesh(int rank, int size, Milliseconds timeout);
  ~GlooMesh() override;
  std::vector<std::vector<char>> addresses() const override { return std::vector<std::vector<char>>(size_); }
  // Gloo's own way to connect asks nobody who he is, so it gets sockets that are connected.
  int channels() const override { return 1; }
  void take(int rank, int channel, int socket) override;
  void connect(const std::vector<std::vector<char>>&) override {}
  std::string plain(const std::string& message) const override;
  void abort(const std::string& reason) override;
  int rank_in(const std::string& message) const override;

 protected:
  void combine(Element element, Reduction reduction, void* data, size_t count, const Call& call) override;
  void combine_at(int root, Element element, Reduction reduction, void* in, void* out, size_t count, const Call& call) override;
  void broadcast(void* data, size_t bytes, int root, const Call& call) override;
  void gather(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) override;
  void exchange(void* in, void* out, const std::vector<size_t>& counts, size_t size, const Call& call) override;
  void barrier(const Call& call) override;

 private:
  struct Pair;
  struct Transport;
  struct Context;
  template <class Options> void set_call(Options& options, const Call& call) const;
  std::shared_ptr<Context> context_;
  std::vector<std::string> peers_;
};

}  // namespace eagre::distribute
