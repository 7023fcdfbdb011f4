// The bidding mix of RUBiS on the two schemas that people made for it (examples/rubis). Data and requests are those of
// examples/rubis/generate.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/write_batch.h>

#include "bench/examples.h"
#include "bench/floor.h"
#include "bench/noam_database.h"
#include "noam/base/json_text.h"
#include "noam/model/datum_json.h"
#include "noam/model/instance_json.h"
#include "noam/model/json_text.h"
#include "noam/model/model.h"

namespace noam::bench {
namespace {

using model::Datum;
using Parameters = std::vector<Datum>;

// One statement of a request. The number is its place among the names.
struct Call {
  std::size_t statement = 0;
  Parameters parameters;
};
using Request = std::vector<Call>;

// Each page begins with one of these.
const std::set<std::string, std::less<>> first_of_page{
    "browsing_user", "bid_history_item", "viewed_item",   "items_in_category",
    "user_info",     "register_item",    "register_user", "buyer",
    "item_stock",    "bidder",           "insert_bid",    "commenting_user",
    "user_rating",   "my_account",       "all_regions",   "items_in_region"};

struct Site {
  std::map<std::string, std::vector<Datum::List>> rows;  // by entity
  std::vector<std::string> statements;
  std::vector<Request> requests;
};

JsonText parsed(const std::string& line) {
  auto text = parse_json(line);
  if (!text) throw Failed(text.error().message);
  return std::move(*text);
}

Site read_site(const std::string& folder, const model::Model& model) {
  Site site;
  for (const model::Entity& entity : model.entities) {
    std::ifstream file(folder + "/" + entity.name + ".jsonl");
    for (std::string line; std::getline(file, line);) {
      auto row = model::read_instance_json(model, entity, parsed(line));
      if (!row) throw Failed(row.refusal().reason);
      site.rows[entity.name].push_back(std::move(*row));
    }
  }
  std::map<std::string, std::pair<std::size_t, const std::vector<model::Parameter>*>> known;
  const auto know = [&](const auto& all) {
    for (const auto& one : all) {
      known[one.name] = {site.statements.size(), &one.parameters};
      site.statements.push_back(one.name);
    }
  };
  know(model.queries);
  know(model.commands);
  std::ifstream file(folder + "/requests/bidding.jsonl");
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::parse(line);
    const auto name = json.at("run").get<std::string>();
    Call call{known.at(name).first, {}};
    for (const model::Parameter& parameter : *known.at(name).second) {
      auto value = model::read_json(model, parameter.type, json.at("params").at(parameter.name), parameter.name);
      if (!value) throw Failed(value.refusal().reason);
      call.parameters.push_back(std::move(*value));
    }
    if (first_of_page.contains(name)) site.requests.emplace_back();
    site.requests.back().push_back(std::move(call));
  }
  return site;
}

// --- noam
// ---------------------------------------------------------------------------------------------------------------

class NoamSite {
 public:
  NoamSite(const std::string& folder, const std::string& design)
      : database_(folder, example("rubis/rubis.noam"), design, {}) {
    for (const model::Query& query : database_.model().queries) {
      statements_.push_back(database_.query(query.name));
      is_query_.push_back(true);
    }
    for (const model::Command& command : database_.model().commands) {
      statements_.push_back(database_.command(command.name));
      is_query_.push_back(false);
    }
  }

  [[nodiscard]] const model::Model& model() const { return database_.model(); }

  void load(const Site& site) {
    for (const model::Entity& entity : database_.model().entities) {
      const auto& rows = site.rows.at(entity.name);
      for (std::size_t begin = 0; begin < rows.size(); begin += 1'000) {
        const auto end = std::min(begin + 1'000, rows.size());
        database_.load(entity.name, {rows.begin() + static_cast<std::ptrdiff_t>(begin),
                                     rows.begin() + static_cast<std::ptrdiff_t>(end)});
      }
    }
    database_.reopen();
  }

  void serve(const Call& call, Tally& tally) {
    if (is_query_[call.statement]) {
      tally.answers += database_.ask(statements_[call.statement], call.parameters);
      ++tally.done;
    } else {
      tally.done += database_.run(statements_[call.statement], call.parameters) ? 1 : 0;
    }
  }

  void verify() { database_.verify(); }

 private:
  NoamDatabase database_;
  std::vector<Statement> statements_;
  std::vector<bool> is_query_;
};

// --- By hand
// --------------------------------------------------------------------------------------------------------------

constexpr std::size_t id_bytes = 16;

std::string_view id_of(const Datum& datum) { return datum.as_string(); }
// A key of the maps by which the loader finds what belongs together.
std::string name_of(const Datum& datum) { return std::string(datum.as_string()); }

std::string key(char kind, std::string_view a, std::string_view b = {}, std::string_view c = {}) {
  std::string out;
  out.reserve(1 + a.size() + b.size() + c.size());
  out += kind;
  out += a;
  out += b;
  return out += c;
}

std::string ordered(std::int64_t number) {
  std::string out;
  append_ordered_i64(number, out);
  return out;
}

// An item: what has a fixed width first, so that a change is a change of eight bytes.
struct Item {
  static constexpr std::size_t seller_at = 0;
  static constexpr std::size_t category_at = id_bytes;
  static constexpr std::size_t numbers_at = 2 * id_bytes;
  enum Number : std::uint8_t { InitialPrice, Quantity, ReservePrice, BuyNow, BidCount, MaxBid, StartDate, EndDate };
  static constexpr std::size_t numbers = 8;

  static std::string_view seller(std::string_view item) { return item.substr(seller_at, id_bytes); }
  static std::string_view category(std::string_view item) { return item.substr(category_at, id_bytes); }
  static std::int64_t whole(std::string_view item, Number number) { return Fields(at(item, number)).i64(); }
  static double real(std::string_view item, Number number) { return Fields(at(item, number)).f64(); }
  static std::uint64_t name_bytes(std::string_view item) { return Fields(texts(item)).text_bytes(); }
  // All of it, its id too.
  static std::uint64_t bytes(std::string_view item) {
    Fields fields(item);
    const std::uint64_t references = fields.bytes(2 * id_bytes).size();
    std::uint64_t sum = id_bytes + references;
    for (std::size_t i = 0; i < numbers; ++i) {
      (void)fields.i64();
      sum += 8;
    }
    sum += fields.text_bytes();
    return sum + fields.text_bytes();
  }
  template <typename Value>
  static void set(std::string& item, Number number, Value value) {
    static_assert(sizeof value == 8);
    item.replace(numbers_at + 8 * number, 8, reinterpret_cast<const char*>(&value), 8);
  }

 private:
  static std::string_view at(std::string_view item, Number number) { return item.substr(numbers_at + 8 * number, 8); }
  static std::string_view texts(std::string_view item) { return item.substr(numbers_at + 8 * numbers); }
};

// A user: region, rating, balance, date, five names; in the expert's schema the region's name behind them.
struct User {
  static constexpr std::size_t rating_at = id_bytes;
  static std::string_view region(std::string_view user) { return user.substr(0, id_bytes); }

  struct Texts {
    std::array<std::string_view, 5> all;  // firstname, lastname, nickname, password, email
  };
  static Texts texts(std::string_view user) {
    Fields fields(user.substr(id_bytes + 24));
    Texts out;
    for (std::string_view& text : out.all) text = *fields.text();
    return out;
  }
  static std::string_view nickname(std::string_view user) { return texts(user).all[2]; }
  static std::uint64_t bytes(std::string_view user) {
    std::uint64_t sum = 2 * id_bytes + 24;
    for (const std::string_view text : texts(user).all) sum += text.size();
    return sum;
  }
};

struct Bid {
  std::int64_t qty = 0;
  double bid = 0;
  std::int64_t date = 0;
};

// Both schemas. Kinds of keys that both have:
//   U user, I item, R region
//   r region -> user: nickname    s seller, end_date -> item    c category, end_date -> item
// of the normalized one:
//   C category, B bid, M comment, N purchase
//   a all categories, A all regions, g region, category, end_date -> item, user
//   b item -> bid, u user, date -> bid, m user -> comment, n buyer, date -> purchase
// of the expert's:
//   B item, bid, user: the bid, max_bid, nickname    u user, end_date, bid, item: qty
//   M to_user, comment, item: comment    k comment -> nickname    N buyer, date, purchase, item: qty
//   a all categories: name    A all regions: name
class FloorSite {
 public:
  FloorSite(const std::string& folder, bool expert, const std::vector<std::string>& statements)
      : database_(folder, {}), expert_(expert) {
    static const std::map<std::string, Handler, std::less<>> handlers{
        {"browsing_user", &FloorSite::name_and_password},
        {"all_categories", &FloorSite::all_categories},
        {"bid_history_item", &FloorSite::item_name},
        {"bid_history", &FloorSite::bid_history},
        {"viewed_item", &FloorSite::whole_item},
        {"item_bids", &FloorSite::item_bids},
        {"items_in_category", &FloorSite::items_in_category},
        {"user_info", &FloorSite::whole_user},
        {"user_comments", &FloorSite::user_comments},
        {"register_item", &FloorSite::register_item},
        {"register_user", &FloorSite::register_user},
        {"buyer", &FloorSite::nickname},
        {"item_to_buy", &FloorSite::whole_item},
        {"item_stock", &FloorSite::item_stock},
        {"set_item_stock", &FloorSite::set_item_stock},
        {"insert_buy_now", &FloorSite::insert_buy_now},
        {"bidder", &FloorSite::name_and_password},
        {"item_to_bid_on", &FloorSite::whole_item},
        {"two_bids", &FloorSite::two_bids},
        {"insert_bid", &FloorSite::insert_bid},
        {"item_bidding", &FloorSite::item_bidding},
        {"set_item_bidding", &FloorSite::set_item_bidding},
        {"commenting_user", &FloorSite::name_and_password},
        {"item_to_comment_on", &FloorSite::whole_item},
        {"user_to_comment_on", &FloorSite::whole_user},
        {"user_rating", &FloorSite::user_rating},
        {"set_user_rating", &FloorSite::set_user_rating},
        {"insert_comment", &FloorSite::insert_comment},
        {"my_account", &FloorSite::whole_user},
        {"my_comments", &FloorSite::my_comments},
        {"comment_author", &FloorSite::comment_author},
        {"my_purchases", &FloorSite::my_purchases},
        {"my_sales", &FloorSite::my_sales},
        {"my_bids", &FloorSite::my_bids},
        {"items_in_region", &FloorSite::items_in_region},
        {"all_regions", &FloorSite::all_regions},
    };
    for (const std::string& name : statements) {
      const auto found = handlers.find(name);
      handlers_.push_back(found == handlers.end() ? nullptr : found->second);
    }
  }

  void serve(const Call& call, Tally& tally) {
    if (handlers_[call.statement] == nullptr) throw Failed("a statement that nobody wrote by hand");
    (this->*handlers_[call.statement])(call.parameters, tally);
  }

  // Fields as the model has them. Each kind in one batch after the other, what is needed of others before it.
  void load(const Site& site) {
    std::unordered_map<std::string, std::string> region_names;
    std::unordered_map<std::string, std::pair<std::string, std::string>> users;  // region, nickname
    std::unordered_map<std::string, std::pair<std::int64_t, double>> items;      // end_date, max_bid
    rocksdb::WriteBatch batch;
    const auto each = [&](const char* entity, const auto& put) {
      for (const Datum::List& row : site.rows.at(entity)) {
        put(row);
        if (batch.GetDataSize() < 1U << 20U) continue;
        database_.write(batch);
        batch.Clear();
      }
    };
    each("Category", [&](const Datum::List& row) { put_category(row[0].as_string(), row[1].as_string(), batch); });
    each("Region", [&](const Datum::List& row) {
      region_names[name_of(row[0])] = name_of(row[1]);
      put_region(row[0].as_string(), row[1].as_string(), batch);
    });
    each("User", [&](const Datum::List& row) {
      users[name_of(row[0])] = {name_of(row[9]), name_of(row[3])};
      std::array<std::string_view, 5> texts;
      for (std::size_t i = 0; i < 5; ++i) texts[i] = row[1 + i].as_string();
      put_user(id_of(row[0]), id_of(row[9]), row[6].as_int(), row[7].as_double(), row[8].as_int(), texts,
               region_names.at(name_of(row[9])), batch);
    });
    each("Item", [&](const Datum::List& row) {
      items[name_of(row[0])] = {row[10].as_int(), row[8].as_double()};
      std::string item = key(row[11].as_string()[0], std::string_view(row[11].as_string()).substr(1));
      item += row[12].as_string();
      for (const std::size_t field : {3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U}) append_number(row[field], item);
      append_text(row[1].as_string(), item);
      append_text(row[2].as_string(), item);
      put_item(id_of(row[0]), item, users.at(name_of(row[11])).first, batch);
    });
    each("Bid", [&](const Datum::List& row) {
      const auto& [end_date, max_bid] = items.at(name_of(row[5]));
      put_bid(id_of(row[0]), id_of(row[4]), id_of(row[5]), {row[1].as_int(), row[2].as_double(), row[3].as_int()},
              end_date, max_bid, users.at(name_of(row[4])).second, batch);
    });
    each("Comment", [&](const Datum::List& row) {
      put_comment(id_of(row[0]), id_of(row[4]), id_of(row[5]), id_of(row[6]), row[1].as_int(), row[2].as_int(),
                  row[3].as_string(), users.at(name_of(row[4])).second, batch);
    });
    each("BuyNow", [&](const Datum::List& row) {
      put_purchase(id_of(row[0]), id_of(row[3]), id_of(row[4]), row[1].as_int(), row[2].as_int(), batch);
    });
    database_.write(batch);
    database_.reopen();
  }

 private:
  using Handler = void (FloorSite::*)(const Parameters&, Tally&);

  static void append_number(const Datum& number, std::string& out) {
    if (number.is_int())
      append_i64(number.as_int(), out);
    else
      append_f64(number.as_double(), out);
  }

  std::string new_id() {
    Random random(next_id_.fetch_add(1) * 0x9E3779B97F4A7C15U);
    std::string id;
    append_i64(static_cast<std::int64_t>(random.next()), id);
    append_i64(static_cast<std::int64_t>(random.next()), id);
    return id;
  }

  // --- What lies where ---

  void put_category(std::string_view id, std::string_view name, rocksdb::WriteBatch& batch) const {
    std::string value;
    append_text(name, value);
    batch.Put(key('a', id), expert_ ? value : "");
    if (!expert_) batch.Put(key('C', id), value);
  }

  void put_region(std::string_view id, std::string_view name, rocksdb::WriteBatch& batch) const {
    std::string value;
    append_text(name, value);
    batch.Put(key('A', id), expert_ ? value : "");
    batch.Put(key('R', id), value);
  }

  void put_user(std::string_view id, std::string_view region, std::int64_t rating, double balance, std::int64_t date,
                const std::array<std::string_view, 5>& texts, std::string_view region_name,
                rocksdb::WriteBatch& batch) const {
    std::string value(region);
    append_i64(rating, value);
    append_f64(balance, value);
    append_i64(date, value);
    for (const std::string_view text : texts) append_text(text, value);
    if (expert_) append_text(region_name, value);
    batch.Put(key('U', id), value);
    std::string nickname;
    append_text(texts[2], nickname);
    batch.Put(key('r', region, id), nickname);
  }

  void put_item(std::string_view id, const std::string& item, std::string_view region,
                rocksdb::WriteBatch& batch) const {
    batch.Put(key('I', id), item);
    put_item_paths(id, item, region, batch);
  }

  void put_item_paths(std::string_view id, const std::string& item, std::string_view region,
                      rocksdb::WriteBatch& batch) const {
    const std::string end_date = ordered(Item::whole(item, Item::EndDate));
    batch.Put(key('s', Item::seller(item), end_date, id), "");
    batch.Put(key('c', Item::category(item), end_date, id), "");
    if (!expert_) batch.Put(region_path(id, item, region), "");
  }

  void delete_item_paths(std::string_view id, const std::string& item, std::string_view region,
                         rocksdb::WriteBatch& batch) const {
    const std::string end_date = ordered(Item::whole(item, Item::EndDate));
    batch.Delete(key('s', Item::seller(item), end_date, id));
    batch.Delete(key('c', Item::category(item), end_date, id));
    if (!expert_) batch.Delete(region_path(id, item, region));
  }

  static std::string region_path(std::string_view id, const std::string& item, std::string_view region) {
    std::string path = key('g', region, Item::category(item));
    append_ordered_i64(Item::whole(item, Item::EndDate), path);
    path += id;
    return path += Item::seller(item);
  }

  void put_bid(std::string_view id, std::string_view user, std::string_view item, const Bid& bid, std::int64_t end_date,
               double max_bid, std::string_view nickname, rocksdb::WriteBatch& batch) const {
    std::string value;
    if (!expert_) {
      value += user;
      value += item;
    }
    append_i64(bid.qty, value);
    append_f64(bid.bid, value);
    append_i64(bid.date, value);
    if (expert_) {
      append_f64(max_bid, value);
      append_text(nickname, value);
      batch.Put(key('B', item, id, user), value);
      std::string qty;
      append_i64(bid.qty, qty);
      batch.Put(key('u', user, ordered(end_date), id) += item, qty);
    } else {
      batch.Put(key('B', id), value);
      batch.Put(key('b', item, id), "");
      batch.Put(key('u', user, ordered(bid.date), id), "");
    }
  }

  void put_comment(std::string_view id, std::string_view from, std::string_view to, std::string_view item,
                   std::int64_t rating, std::int64_t date, std::string_view comment, std::string_view nickname,
                   rocksdb::WriteBatch& batch) const {
    std::string value(from);
    if (!expert_) {
      value += to;
      value += item;
    }
    append_i64(rating, value);
    append_i64(date, value);
    append_text(comment, value);
    if (expert_) {
      batch.Put(key('M', to, id, item), value);
      std::string author;
      append_text(nickname, author);
      batch.Put(key('k', id), author);
    } else {
      batch.Put(key('M', id), value);
      batch.Put(key('m', to, id), "");
    }
  }

  void put_purchase(std::string_view id, std::string_view buyer, std::string_view item, std::int64_t qty,
                    std::int64_t date, rocksdb::WriteBatch& batch) const {
    std::string value;
    if (expert_) {
      append_i64(qty, value);
      batch.Put(key('N', buyer, ordered(date), id) += item, value);
      return;
    }
    value += buyer;
    value += item;
    append_i64(qty, value);
    append_i64(date, value);
    batch.Put(key('N', id), value);
    batch.Put(key('n', buyer, ordered(date), id), "");
  }

  // --- Reading ---

  // Answers of one entry, and of one that is not there: nothing.
  template <typename Take>
  void one(char kind, const Datum& id, Tally& tally, const Take& take) const {
    rocksdb::PinnableSlice found;
    if (database_.read(key(kind, id_of(id)), found)) tally.answers += take(found.ToStringView());
    ++tally.done;
  }

  std::string_view must_have(char kind, std::string_view id, const HeldSnapshot& at,
                             rocksdb::PinnableSlice& out) const {
    if (!database_.read(key(kind, id), out, at.get())) throw Failed(fmt::format("an entry {} is missing", kind));
    return out.ToStringView();
  }

  void name_and_password(const Parameters& given, Tally& tally) {
    one('U', given[0], tally, [](std::string_view user) {
      const User::Texts texts = User::texts(user);
      return texts.all[2].size() + texts.all[3].size();
    });
  }
  void nickname(const Parameters& given, Tally& tally) {
    one('U', given[0], tally, [](std::string_view user) { return User::nickname(user).size(); });
  }
  void whole_user(const Parameters& given, Tally& tally) { one('U', given[0], tally, User::bytes); }
  void user_rating(const Parameters& given, Tally& tally) {
    one('U', given[0], tally, [](std::string_view user) {
      (void)Fields(user.substr(User::rating_at)).i64();
      return 8U;
    });
  }
  void item_name(const Parameters& given, Tally& tally) { one('I', given[0], tally, Item::name_bytes); }
  void whole_item(const Parameters& given, Tally& tally) { one('I', given[0], tally, Item::bytes); }
  void item_stock(const Parameters& given, Tally& tally) {
    one('I', given[0], tally, [](std::string_view item) {
      (void)Item::whole(item, Item::Quantity);
      (void)Item::whole(item, Item::BidCount);
      (void)Item::whole(item, Item::EndDate);
      return 24U;
    });
  }
  void item_bidding(const Parameters& given, Tally& tally) {
    one('I', given[0], tally, [](std::string_view item) {
      (void)Item::whole(item, Item::BidCount);
      (void)Item::real(item, Item::MaxBid);
      return 16U;
    });
  }

  void all_categories(const Parameters& /*given*/, Tally& tally) { all_names('a', 'C', tally); }
  void all_regions(const Parameters& /*given*/, Tally& tally) { all_names('A', 'R', tally); }
  void all_names(char list, char kind, Tally& tally) const {
    const HeldSnapshot moment(database_);
    rocksdb::PinnableSlice found;
    walk(database_, std::string_view(&list, 1), moment.get(), [&](std::string_view id, std::string_view value) {
      tally.answers += id.size() + Fields(expert_ ? value : must_have(kind, id, moment, found)).text_bytes();
      return true;
    });
    ++tally.done;
  }

  // Every bid on an item: its id, who made it, and itself; of the expert's schema the nickname, too.
  template <typename Take>
  void each_bid(std::string_view item, const HeldSnapshot& moment, const Take& take) const {
    rocksdb::PinnableSlice found;
    walk(database_, key(expert_ ? 'B' : 'b', item), moment.get(), [&](std::string_view id, std::string_view value) {
      Fields fields(expert_ ? value : must_have('B', id, moment, found));
      const std::string_view user = expert_ ? id.substr(id_bytes) : fields.bytes(id_bytes);
      if (!expert_) (void)fields.bytes(id_bytes);
      Bid bid;
      bid.qty = fields.i64();
      bid.bid = fields.f64();
      bid.date = fields.i64();
      std::optional<std::string_view> nickname;
      if (expert_) {
        (void)fields.f64();
        nickname = fields.text();
      }
      take(user, bid, nickname);
      return true;
    });
  }

  void bid_history(const Parameters& given, Tally& tally) {
    const HeldSnapshot moment(database_);
    rocksdb::PinnableSlice found;
    std::vector<std::pair<std::int64_t, std::uint64_t>> rows;  // date, bytes
    each_bid(id_of(given[0]), moment,
             [&](std::string_view user, const Bid& bid, std::optional<std::string_view> nickname) {
               const std::size_t name =
                   nickname ? nickname->size() : User::nickname(must_have('U', user, moment, found)).size();
               rows.emplace_back(bid.date, 3 * id_bytes + name + 24);
             });
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& row : rows) tally.answers += row.second;
    ++tally.done;
  }

  void item_bids(const Parameters& given, Tally& tally) {
    const HeldSnapshot moment(database_);
    each_bid(id_of(given[0]), moment,
             [&](std::string_view /*user*/, const Bid& /*bid*/, const std::optional<std::string_view>& /*nickname*/) {
               tally.answers += 3 * id_bytes + 24;
             });
    ++tally.done;
  }

  void two_bids(const Parameters& given, Tally& tally) {
    const HeldSnapshot moment(database_);
    std::vector<Bid> bids;
    each_bid(id_of(given[0]), moment,
             [&](std::string_view /*user*/, const Bid& bid, const std::optional<std::string_view>& /*nickname*/) {
               bids.push_back(bid);
             });
    const std::size_t count = std::min<std::size_t>(2, bids.size());
    std::partial_sort(bids.begin(), bids.begin() + static_cast<std::ptrdiff_t>(count), bids.end(),
                      [](const Bid& a, const Bid& b) { return a.bid < b.bid; });
    tally.answers += count * 16;
    ++tally.done;
  }

  static std::uint64_t listed(std::string_view item) {
    const std::uint64_t name = Item::name_bytes(item);
    (void)Item::real(item, Item::InitialPrice);
    (void)Item::real(item, Item::MaxBid);
    (void)Item::whole(item, Item::BidCount);
    (void)Item::whole(item, Item::EndDate);
    return id_bytes + name + 32;
  }

  void items_in_category(const Parameters& given, Tally& tally) {
    const HeldSnapshot moment(database_);
    rocksdb::PinnableSlice found;
    std::size_t rows = 0;
    walk(
        database_, key('c', id_of(given[0])), moment.get(),
        [&](std::string_view path, std::string_view /*nothing*/) {
          tally.answers += listed(must_have('I', path.substr(8), moment, found));
          return ++rows < 25;
        },
        ordered(given[1].as_int()));
    ++tally.done;
  }

  void items_in_region(const Parameters& given, Tally& tally) {
    const HeldSnapshot moment(database_);
    rocksdb::PinnableSlice found;
    std::size_t rows = 0;
    if (!expert_) {
      walk(
          database_, key('g', id_of(given[0]), id_of(given[1])), moment.get(),
          [&](std::string_view path, std::string_view /*nothing*/) {
            tally.answers += listed(must_have('I', path.substr(8, id_bytes), moment, found));
            return ++rows < 25;
          },
          ordered(given[2].as_int()));
      ++tally.done;
      return;
    }
    std::unordered_set<std::string> users;
    walk(database_, key('r', id_of(given[0])), moment.get(), [&](std::string_view user, std::string_view /*nickname*/) {
      users.emplace(user);
      return true;
    });
    walk(
        database_, key('c', id_of(given[1])), moment.get(),
        [&](std::string_view path, std::string_view /*nothing*/) {
          const std::string_view item = must_have('I', path.substr(8), moment, found);
          if (!users.contains(std::string(Item::seller(item)))) return true;
          tally.answers += listed(item);
          return ++rows < 25;
        },
        ordered(given[2].as_int()));
    ++tally.done;
  }

  // Every comment that a user received: three references, rating, date and text; without the references of 9.
  void comments(std::string_view user, std::size_t references, Tally& tally) const {
    const HeldSnapshot moment(database_);
    rocksdb::PinnableSlice found;
    walk(database_, key(expert_ ? 'M' : 'm', user), moment.get(), [&](std::string_view id, std::string_view value) {
      Fields fields(expert_ ? value : must_have('M', id, moment, found));
      (void)fields.bytes(expert_ ? id_bytes : 3 * id_bytes);
      (void)fields.i64();
      (void)fields.i64();
      tally.answers += (1 + references) * id_bytes + 16 + fields.text_bytes();
      return true;
    });
    ++tally.done;
  }
  void user_comments(const Parameters& given, Tally& tally) { comments(id_of(given[0]), 0, tally); }
  void my_comments(const Parameters& given, Tally& tally) { comments(id_of(given[0]), 3, tally); }

  void comment_author(const Parameters& given, Tally& tally) {
    const HeldSnapshot moment(database_);
    rocksdb::PinnableSlice found;
    if (database_.read(key(expert_ ? 'k' : 'M', id_of(given[0])), found, moment.get())) {
      const std::string_view value = found.ToStringView();
      if (expert_) {
        tally.answers += Fields(value).text_bytes();
      } else {
        const std::string author(value.substr(0, id_bytes));
        tally.answers += User::nickname(must_have('U', author, moment, found)).size();
      }
    }
    ++tally.done;
  }

  void my_purchases(const Parameters& given, Tally& tally) {
    const HeldSnapshot moment(database_);
    rocksdb::PinnableSlice found;
    walk(
        database_, key(expert_ ? 'N' : 'n', id_of(given[0])), moment.get(),
        [&](std::string_view path, std::string_view value) {
          std::string item;
          if (expert_) {
            item = path.substr(8 + id_bytes);
            (void)Fields(value).i64();
          } else {
            item = must_have('N', path.substr(8), moment, found).substr(id_bytes, id_bytes);
          }
          tally.answers += 3 * id_bytes + 16 + Item::bytes(must_have('I', item, moment, found));
          return true;
        },
        ordered(given[1].as_int()));
    ++tally.done;
  }

  void my_sales(const Parameters& given, Tally& tally) {
    const HeldSnapshot moment(database_);
    rocksdb::PinnableSlice found;
    walk(
        database_, key('s', id_of(given[0])), moment.get(),
        [&](std::string_view path, std::string_view /*nothing*/) {
          tally.answers += Item::bytes(must_have('I', path.substr(8), moment, found));
          return true;
        },
        ordered(given[1].as_int()));
    ++tally.done;
  }

  void my_bids(const Parameters& given, Tally& tally) {
    const HeldSnapshot moment(database_);
    rocksdb::PinnableSlice found;
    const std::int64_t date = given[1].as_int();
    walk(
        database_, key('u', id_of(given[0])), moment.get(),
        [&](std::string_view path, std::string_view /*value*/) {
          const std::string id(expert_ ? path.substr(8 + id_bytes)
                                       : must_have('B', path.substr(8), moment, found).substr(id_bytes, id_bytes));
          const std::string_view item = must_have('I', id, moment, found);
          if (Item::whole(item, Item::EndDate) >= date) tally.answers += Item::bytes(item);
          return true;
        },
        expert_ ? ordered(date) : std::string());
    ++tally.done;
  }

  // --- Commands: whoever reads what he then changes holds its latch. Users and regions never go, and keep their names.
  // ---

  void register_item(const Parameters& given, Tally& tally) {
    const std::string id = new_id();
    std::string item(id_of(given[8]));
    item += id_of(given[9]);
    append_f64(given[2].as_double(), item);
    append_i64(given[3].as_int(), item);
    append_f64(given[4].as_double(), item);
    append_f64(given[5].as_double(), item);
    append_i64(0, item);
    append_f64(0, item);
    append_i64(given[6].as_int(), item);
    append_i64(given[7].as_int(), item);
    append_text(given[0].as_string(), item);
    append_text(given[1].as_string(), item);
    rocksdb::PinnableSlice seller;
    std::string region;
    if (!expert_ && database_.read(key('U', id_of(given[8])), seller)) region = User::region(seller.ToStringView());
    rocksdb::WriteBatch batch;
    put_item(id, item, region, batch);
    database_.write(batch);
    ++tally.done;
  }

  void register_user(const Parameters& given, Tally& tally) {
    std::array<std::string_view, 5> texts;
    for (std::size_t i = 0; i < 5; ++i) texts[i] = given[i].as_string();
    rocksdb::PinnableSlice region;
    std::string region_name;
    if (expert_ && database_.read(key('R', id_of(given[6])), region)) region_name = *Fields(region).text();
    rocksdb::WriteBatch batch;
    put_user(new_id(), id_of(given[6]), 0, 0, given[5].as_int(), texts, region_name, batch);
    database_.write(batch);
    ++tally.done;
  }

  void set_item_stock(const Parameters& given, Tally& tally) {
    const std::string_view id = id_of(given[0]);
    const std::int64_t end_date = given[3].as_int();
    const std::lock_guard latch(database_.latch(id));
    rocksdb::PinnableSlice found;
    if (!database_.read(key('I', id), found)) return;
    const std::string before = found.ToString();
    std::string item = before;
    Item::set(item, Item::Quantity, given[1].as_int());
    Item::set(item, Item::BidCount, given[2].as_int());
    Item::set(item, Item::EndDate, end_date);
    rocksdb::WriteBatch batch;
    batch.Put(key('I', id), item);
    const std::int64_t old_end_date = Item::whole(before, Item::EndDate);
    if (old_end_date != end_date) {
      std::string region;
      if (!expert_ && database_.read(key('U', Item::seller(item)), found)) region = User::region(found.ToStringView());
      delete_item_paths(id, before, region, batch);
      put_item_paths(id, item, region, batch);
      if (expert_) {
        walk(database_, key('B', id), nullptr, [&](std::string_view path, std::string_view value) {
          const std::string_view bid = path.substr(0, id_bytes);
          const std::string_view user = path.substr(id_bytes);
          batch.Delete(key('u', user, ordered(old_end_date), bid) += id);
          std::string qty;
          append_i64(Fields(value).i64(), qty);
          batch.Put(key('u', user, ordered(end_date), bid) += id, qty);
          return true;
        });
      }
    }
    database_.write(batch);
    ++tally.done;
  }

  void set_item_bidding(const Parameters& given, Tally& tally) {
    const std::string_view id = id_of(given[0]);
    const double max_bid = given[2].as_double();
    const std::lock_guard latch(database_.latch(id));
    rocksdb::PinnableSlice found;
    if (!database_.read(key('I', id), found)) return;
    std::string item = found.ToString();
    const double before = Item::real(item, Item::MaxBid);
    Item::set(item, Item::BidCount, given[1].as_int());
    Item::set(item, Item::MaxBid, max_bid);
    rocksdb::WriteBatch batch;
    batch.Put(key('I', id), item);
    if (expert_ && before != max_bid) {
      walk(database_, key('B', id), nullptr, [&](std::string_view path, std::string_view value) {
        std::string bid(value);
        bid.replace(24, 8, reinterpret_cast<const char*>(&max_bid), 8);
        batch.Put(key('B', id, path), bid);
        return true;
      });
    }
    database_.write(batch);
    ++tally.done;
  }

  void insert_bid(const Parameters& given, Tally& tally) {
    const std::string_view item_id = id_of(given[0]);
    rocksdb::WriteBatch batch;
    std::unique_lock<std::mutex> latch;
    std::int64_t end_date = 0;
    double max_bid = 0;
    rocksdb::PinnableSlice user;
    std::string_view nickname;
    if (expert_) {
      latch = std::unique_lock(database_.latch(item_id));
      rocksdb::PinnableSlice item;
      if (database_.read(key('I', item_id), item)) {
        end_date = Item::whole(item.ToStringView(), Item::EndDate);
        max_bid = Item::real(item.ToStringView(), Item::MaxBid);
      }
      if (database_.read(key('U', id_of(given[1])), user)) nickname = User::nickname(user.ToStringView());
    }
    put_bid(new_id(), id_of(given[1]), item_id, {given[2].as_int(), given[3].as_double(), given[4].as_int()}, end_date,
            max_bid, nickname, batch);
    database_.write(batch);
    ++tally.done;
  }

  void insert_buy_now(const Parameters& given, Tally& tally) {
    rocksdb::WriteBatch batch;
    put_purchase(new_id(), id_of(given[1]), id_of(given[0]), given[2].as_int(), given[3].as_int(), batch);
    database_.write(batch);
    ++tally.done;
  }

  void set_user_rating(const Parameters& given, Tally& tally) {
    const std::string_view id = id_of(given[0]);
    const std::int64_t rating = given[1].as_int();
    const std::lock_guard latch(database_.latch(id));
    rocksdb::PinnableSlice found;
    if (!database_.read(key('U', id), found)) return;
    std::string user = found.ToString();
    user.replace(User::rating_at, 8, reinterpret_cast<const char*>(&rating), 8);
    rocksdb::WriteBatch batch;
    batch.Put(key('U', id), user);
    database_.write(batch);
    ++tally.done;
  }

  void insert_comment(const Parameters& given, Tally& tally) {
    rocksdb::PinnableSlice user;
    std::string_view nickname;
    if (expert_ && database_.read(key('U', id_of(given[0])), user)) nickname = User::nickname(user.ToStringView());
    rocksdb::WriteBatch batch;
    put_comment(new_id(), id_of(given[0]), id_of(given[1]), id_of(given[2]), given[3].as_int(), given[4].as_int(),
                given[5].as_string(), nickname, batch);
    database_.write(batch);
    ++tally.done;
  }

  FloorDatabase database_;
  bool expert_;
  std::vector<Handler> handlers_;
  std::atomic<std::uint64_t> next_id_ = 1;
};

}  // namespace

std::vector<Row> bench_rubis(const Settings& settings) {
  const std::size_t users = settings.quick ? 20 : 2'000;
  const std::size_t slice = settings.quick ? 300 : 2'000;  // requests
  const auto repetitions = static_cast<std::size_t>(settings.repetitions) + 1;
  constexpr std::array<unsigned, 2> thread_counts{1, 2};
  const Folder data(settings.folder);
  const std::string generate = fmt::format("python3 {} {} {} {}", example("rubis/generate"), data.path(), users,
                                           slice * repetitions * thread_counts.size());
  if (std::system(generate.c_str()) != 0) throw Failed("examples/rubis/generate failed");

  std::vector<Row> rows;
  Site site;
  for (const char* design : {"normalized17", "expert13"}) {
    const Folder folder(settings.folder);
    NoamSite noam(folder.path() + "/noam", design);
    if (site.requests.empty()) site = read_site(data.path(), noam.model());
    noam.load(site);
    FloorSite floor(folder.path() + "/floor", design == std::string_view("expert13"), site.statements);
    floor.load(site);

    std::size_t next = 0;
    for (const unsigned threads : thread_counts) {
      std::size_t begin = 0;
      Cell cell;
      cell.benchmark = "rubis";
      cell.workload = "bidding";
      cell.design = design;
      cell.size = fmt::format("{} users", grouped(users));
      cell.threads = threads;
      cell.operations = slice;
      cell.same_answers = threads == 1;
      cell.prepare = [&](std::uint64_t /*seed*/) {
        begin = next;
        next += slice;
      };
      // Each thread takes its share of the slice, in order.
      const auto serves = [&, threads](auto& rival) {
        return [&, threads](unsigned thread) {
          Tally tally;
          const std::size_t share = slice / threads;
          for (std::size_t i = 0; i < share; ++i)
            for (const Call& call : site.requests.at(begin + thread * share + i)) rival.serve(call, tally);
          return tally;
        };
      };
      cell.rivals = {{"noam", serves(noam), true}, {"floor", serves(floor), true}};
      measure_into(rows, cell, settings);
      if (threads != 1) continue;
      // After the writes of one thread: every read once more, one by one.
      for (std::size_t i = 0; i < std::min<std::size_t>(site.requests.size(), 300); ++i) {
        for (const Call& call : site.requests[i]) {
          if (call.statement >= noam.model().queries.size()) continue;
          Tally a;
          Tally b;
          noam.serve(call, a);
          floor.serve(call, b);
          if (a != b)
            throw Failed(fmt::format("rubis, {}: {} answers {} bytes, by hand {}", design,
                                     site.statements[call.statement], a.answers, b.answers));
        }
      }
    }
    if (settings.quick) noam.verify();
  }
  return rows;
}

}  // namespace noam::bench
