#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "noam/base/result.h"
#include "noam/server/log.h"
#include "noam/server/service.h"

// A service on a port, by HTTP/1.1.
namespace noam::server {

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;  // 0: one that is free
  std::size_t threads = 0;    // that serve connections; 0: as many as the machine has cores
  std::size_t workers = 64;   // statements that wait for the store, at the same time
  std::size_t max_connections = 20'000;
  std::size_t max_header_bytes = std::size_t{16} << 10U;
  std::size_t max_body_bytes = std::size_t{8} << 20U;
  std::size_t max_pending_bytes = std::size_t{1} << 20U;  // answers of a batch that the client does not read
  std::chrono::seconds idle_timeout{75};                  // between requests
  std::chrono::seconds header_timeout{15};
  std::chrono::seconds body_timeout{60};
  std::chrono::seconds write_timeout{60};
  std::chrono::seconds grace{20};  // after stop(), for what runs
};

class Server {
 public:
  // Listens. Service and log must outlive it.
  static Result<std::unique_ptr<Server>> listen(Service& service, RequestLog& log, const ServerOptions& options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  [[nodiscard]] std::uint16_t port() const;
  // Serves until stop() was called and what ran then has ended.
  void run();
  // From any thread: takes no more requests.
  void stop();

 private:
  struct Network;
  explicit Server(std::unique_ptr<Network> network);

  std::unique_ptr<Network> network_;
};

}  // namespace noam::server
