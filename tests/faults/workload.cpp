#include "tests/faults/workload.h"

#include <chrono>
#include <utility>

#include <gtest/gtest.h>

#include "noam/language/diagnostics.h"
#include "noam/language/source.h"
#include "noam/model/command_id.h"
#include "tests/compiled.h"
#include "tests/support.h"

namespace noam::tests::faults {

namespace {

constexpr std::size_t users_of_writer = 3;
constexpr std::size_t tweets_of_writer = 8;

std::string user_name(std::size_t writer, std::size_t user) {
  return "user" + std::to_string(writer) + std::to_string(user);
}

std::string counter_name(std::size_t writer) { return "counter" + std::to_string(writer); }

constexpr const char* shared_counter = "all";

}  // namespace

std::string microblog_text() {
  return read_file(source_dir() / "examples/microblog/microblog.noam") + R"(
// Once and twice are not the same here.
entity Counter { name: text key   value: int = 0   trail: list<text> }
entity Note { id: uuid key auto   author: User inverse notes   body: text }

command leave($username) { delete User[$username] }
command make_counter($name) { insert Counter { name: $name } }
command count_up($name) { update Counter[$name] { value: value + 1 } }
command count_and_say($name, $other, $what) {
  update Counter[$name] { value: value + 1 }
  append $what to Counter[$name].trail
  update Counter[$other] { value: value + 1000 }
}
command take_note($author, $body) { insert Note { author: $author, body: $body } }
command drop_notes($author) { delete Note n where n.author = $author limit 3 }

query all_users { select u from User u }
query all_tweets { select t from Tweet t }
query all_counters { select c from Counter c order by c.name }
query notes_of($username) { select n.id, n.body from User u, u.notes n where u.username = $username order by n.body }
query note_numbers { select u.username, count(u.notes) as notes from User u order by notes desc, u.username }
)";
}

std::string new_command_id(Random& random) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return model::make_command_id(std::chrono::duration_cast<std::chrono::milliseconds>(now).count(), random.next(),
                                random.next())
      .text();
}

Json request(const std::string& name, Json params) { return {{"run", name}, {"params", std::move(params)}}; }

namespace {

Json change_by_chance(Random& random, std::size_t writer) {
  const std::string mine = user_name(writer, random.below(users_of_writer));
  const std::string other = user_name(random.below(writer_count), random.below(users_of_writer));
  const std::size_t tweet = writer * tweets_of_writer + random.below(tweets_of_writer);
  const std::size_t any_tweet = random.below(writer_count * tweets_of_writer);
  const std::size_t chance = random.below(100);
  if (chance < 2) return request("leave", {{"username", mine}});
  if (chance < 8) return request("register", {{"username", mine}, {"id", writer * 10 + mine.back() - '0'}});
  if (chance < 25) {
    static const std::vector<std::string> contents{"good morning", "good night", "hello", "morning, all"};
    return request("post", {{"id", tweet},
                            {"author", mine},
                            {"at", "2024-05-01T12:00:00.00" + std::to_string(random.below(4)) + "Z"},
                            {"content", random.pick(contents)},
                            {"language", "en"}});
  }
  if (chance < 31) return request("delete_tweet", {{"id", tweet}});
  if (chance < 41) return request("follow", {{"follower", mine}, {"followed", other}});
  if (chance < 46) return request("unfollow", {{"follower", mine}, {"followed", other}});
  if (chance < 56) return request("like", {{"username", mine}, {"tweet", any_tweet}});
  if (chance < 60) return request("unlike", {{"username", mine}, {"tweet", any_tweet}});
  if (chance < 66) return request("share", {{"username", mine}, {"tweet", any_tweet}});
  if (chance < 69) return request("unshare", {{"username", mine}, {"tweet", any_tweet}});
  if (chance < 80) return request("count_up", {{"name", random.chance(50) ? shared_counter : counter_name(writer)}});
  if (chance < 88)
    return request("count_and_say", {{"name", counter_name(writer)},
                                     {"other", shared_counter},
                                     {"what", std::to_string(random.below(1'000'000))}});
  if (chance < 96)
    return request("take_note", {{"author", mine}, {"body", "note " + std::to_string(random.below(1'000'000))}});
  return request("drop_notes", {{"author", mine}});
}

}  // namespace

Json command_by_chance(Random& random, std::size_t writer) {
  Json out = change_by_chance(random, writer);
  out["id"] = new_command_id(random);
  return out;
}

std::vector<Json> first_commands(Random& random) {
  std::vector<Json> out;
  out.push_back(request("make_counter", {{"name", shared_counter}}));
  for (std::size_t writer = 0; writer < writer_count; ++writer) {
    out.push_back(request("make_counter", {{"name", counter_name(writer)}}));
    for (std::size_t user = 0; user < users_of_writer; ++user)
      out.push_back(request("register", {{"username", user_name(writer, user)}, {"id", writer * 10 + user}}));
  }
  for (Json& one : out) one["id"] = new_command_id(random);
  return out;
}

std::vector<Json> all_questions() {
  std::vector<Json> out{request("all_users"), request("all_tweets"), request("all_counters"), request("note_numbers")};
  for (std::size_t writer = 0; writer < writer_count; ++writer) {
    for (std::size_t user = 0; user < users_of_writer; ++user) {
      const std::string name = user_name(writer, user);
      for (const char* query : {"newest", "most_liked", "numbers", "followers_of", "followed_by", "notes_of"})
        out.push_back(request(query, {{"username", name}}));
      out.push_back(request("posts_of", {{"author", name}}));
    }
  }
  for (const char* words : {"morning", "good", "hello", "good night"})
    out.push_back(request("most_liked_with", {{"words", words}}));
  return out;
}

Result<Opened> open(const std::shared_ptr<const model::Model>& model, const std::string& design,
                    const std::string& folder, stores::Existing existing, rocksdb::Env* env, std::size_t table_bytes) {
  stores::RocksdbOptions options;
  options.env = env;
  options.existing = existing;
  options.cache_bytes = std::size_t{4} << 20U;
  options.table_bytes = table_bytes;
  Opened out;
  NOAM_ASSIGN_OR_RETURN(out.store, stores::open_rocksdb_store(folder, options));
  NOAM_ASSIGN_OR_RETURN(out.session, open_session(model, design, *out.store));
  return out;
}

std::string differences(runtime::Session& session) {
  const auto found = session.verify();
  if (!found) return found.error().message;
  std::string text;
  for (const runtime::Difference& difference : found->differences)
    text += difference.collection + ": " + difference.what + "\n";
  return text;
}

}  // namespace noam::tests::faults
