#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace noam::tests {

// A client that says exactly what it is told to.
class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{10, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;  // NOLINT
  }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient() { ::close(socket_); }

  [[nodiscard]] bool connected() const { return connected_; }

  // False: the server takes no more.
  bool say(std::string_view what) {
    while (!what.empty()) {
      const ssize_t sent = ::send(socket_, what.data(), what.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      what.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void end() { ::shutdown(socket_, SHUT_WR); }
  void take_little() {
    const int bytes = 4'096;
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  }
  // How much the server takes at the moment.
  std::size_t say_until_full(const std::string& what, std::size_t most) {
    std::size_t all = 0;
    const timeval patience{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    while (all < most) {
      const ssize_t sent = ::send(socket_, what.data(), what.size(), MSG_NOSIGNAL);
      if (sent <= 0) break;
      all += static_cast<std::size_t>(sent);
    }
    return all;
  }

  // What comes until it has this in it; all of it, if the server closes before.
  std::string hear(std::string_view until) {
    while (heard_.find(until) == std::string::npos && more()) {
    }
    const std::size_t end = heard_.find(until);
    if (end == std::string::npos) return std::exchange(heard_, {});
    std::string out = heard_.substr(0, end + until.size());
    heard_.erase(0, out.size());
    return out;
  }
  std::string hear_all() {
    while (more()) {
    }
    return std::exchange(heard_, {});
  }
  // One response whose length is told.
  std::string hear_one() {
    std::string head = hear("\r\n\r\n");
    const std::size_t at = head.find("Content-Length: ");
    if (at == std::string::npos) return head;
    const std::size_t length = std::strtoull(head.c_str() + at + 16, nullptr, 10);
    while (heard_.size() < length && more()) {
    }
    head += heard_.substr(0, length);
    heard_.erase(0, length);
    return head;
  }

 private:
  bool more() {
    std::string piece(65'536, '\0');
    const ssize_t read = ::recv(socket_, piece.data(), piece.size(), 0);
    if (read <= 0) return false;
    heard_.append(piece.data(), static_cast<std::size_t>(read));
    return true;
  }

  int socket_;
  bool connected_ = false;
  std::string heard_;
};

}  // namespace noam::tests
