#include "noam/targets/redis/library.h"

namespace noam::targets::redis {

const std::string_view library_code = R"lua(
-- Keys as texts and as bytes that sort as their values do.

-- What bytes begin with that stand for a value.
local tag = {
  absent = '\2', no = '\3', yes = '\4', float = '\32', negative = '\40', zero = '\41', positive = '\42', text = '\48',
  list = '\56'
}

local function malformed(name, what)
  error({err = name .. ': not ' .. what})
end

local function hexadecimal(bytes)
  return (bytes:gsub('.', function(c) return string.format('%02x', c:byte()) end))
end

local function escaped(text)
  if text == '' then return '%=' end
  return (text:gsub('[%%:{}]', function(c) return string.format('%%%02X', c:byte()) end))
end

local function unescaped(text)
  if text == '%=' then return '' end
  return (text:gsub('%%(%x%x)', function(digits) return string.char(tonumber(digits, 16)) end))
end

local function split(text)
  local parts = {}
  for part in (text .. ':'):gmatch('([^:]*):') do parts[#parts + 1] = part end
  return parts
end

-- An int of 64 bits, given as digits, without going through a double.
local function whole(name, text)
  local sign, digits = text:match('^(-?)(%d+)$')
  local largest = sign == '-' and '9223372036854775808' or '9223372036854775807'
  local canonical = digits and (digits == '0' and sign == '' or digits:sub(1, 1) ~= '0')
  if not canonical or #digits > #largest or (#digits == #largest and digits > largest) then
    malformed(name, 'an int of 64 bits')
  end
  return sign == '-', digits
end

-- Base 256, the highest byte first, as few as it takes.
local function bytes_of(digits)
  local out = {}
  while digits ~= '' do
    local quotient, rest = {}, 0
    for i = 1, #digits do
      local value = rest * 10 + digits:byte(i) - 48
      quotient[#quotient + 1] = string.char(48 + math.floor(value / 256))
      rest = value % 256
    end
    out[#out + 1] = rest
    digits = table.concat(quotient):gsub('^0+', '')
  end
  local text = {}
  for i = #out, 1, -1 do text[#text + 1] = string.char(out[i]) end
  return table.concat(text)
end

local function complement(bytes)
  return (bytes:gsub('.', function(c) return string.char(255 - c:byte()) end))
end

local function ordered_int(negative, digits)
  local bytes = digits == '0' and '' or bytes_of(digits)
  if not negative then return string.char(0x14 + #bytes) .. bytes end
  return string.char(0x14 - #bytes) .. complement(bytes)
end

local function days_since_1970(year, month, day)
  if month <= 2 then year = year - 1 end
  local era = math.floor(year / 400)
  local of_era = year - era * 400
  local of_year = math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  return era * 146097 + of_era * 365 + math.floor(of_era / 4) - math.floor(of_era / 100) + of_year - 719468
end

local function ordered_number(number)
  return ordered_int(number < 0, string.format('%.0f', math.abs(number)))
end

local function calendar_days(name, what, year, month, day)
  if not year then malformed(name, what) end
  local days = days_since_1970(tonumber(year), tonumber(month), tonumber(day))
  local first = days_since_1970(tonumber(year), tonumber(month), 1)
  local next_month = tonumber(month) % 12 + 1
  local next_first = days_since_1970(tonumber(year) + (next_month == 1 and 1 or 0), next_month, 1)
  if year == '0000' or tonumber(month) < 1 or tonumber(month) > 12 or days < first or days >= next_first then
    malformed(name, what)
  end
  return days
end

local function timestamp_milliseconds(name, text)
  local what = 'a timestamp such as 2024-02-29T23:59:59.999Z'
  local year, month, day, hour, minute, second, thousandths =
    text:match('^(%d%d%d%d)%-(%d%d)%-(%d%d)T(%d%d):(%d%d):(%d%d)%.(%d%d%d)Z$')
  local days = calendar_days(name, what, year, month, day)
  if tonumber(hour) > 23 or tonumber(minute) > 59 or tonumber(second) > 59 then malformed(name, what) end
  return ((days * 24 + tonumber(hour)) * 60 + tonumber(minute)) * 60000 + tonumber(second) * 1000 +
    tonumber(thousandths)
end

local function date_days(name, text)
  return calendar_days(name, 'a date such as 2024-02-29', text:match('^(%d%d%d%d)%-(%d%d)%-(%d%d)$'))
end

local function raw(digits)
  return (digits:gsub('%x%x', function(pair) return string.char(tonumber(pair, 16)) end))
end

local function uuid_bytes(name, text)
  local pattern = '^' .. ('%x'):rep(8) .. ('%-' .. ('%x'):rep(4)):rep(3) .. '%-' .. ('%x'):rep(12) .. '$'
  if not text:match(pattern) or text:match('%u') then malformed(name, 'a uuid in small letters') end
  return raw((text:gsub('-', '')))
end

local function inet_bytes(name, text)
  local what = 'an address as RFC 5952 writes it'
  local function four(part)
    local out = {}
    for number in part:gmatch('%d+') do
      if tonumber(number) > 255 then malformed(name, what) end
      out[#out + 1] = string.char(tonumber(number))
    end
    return table.concat(out)
  end
  if text:match('^%d+%.%d+%.%d+%.%d+$') then return '\4' .. four(text) end
  local last = text:match('%d+%.%d+%.%d+%.%d+$')
  if last then text = text:sub(1, -#last - 1) .. hexadecimal(four(last):sub(1, 2)) .. ':' .. hexadecimal(four(last):sub(3)) end
  local function groups(part)
    local out = {}
    for group in part:gmatch('[^:]+') do
      if not group:match('^%x%x?%x?%x?$') then malformed(name, what) end
      out[#out + 1] = raw(('0'):rep(4 - #group) .. group)
    end
    return table.concat(out)
  end
  local front, back = text:match('^(.-)::(.*)$')
  local bytes
  if front then
    front, back = groups(front), groups(back)
    bytes = front .. ('\0'):rep(16 - #front - #back) .. back
  else
    bytes = groups(text)
  end
  if #bytes ~= 16 then malformed(name, what) end
  return '\6' .. bytes
end

local function decimal_parts(name, text)
  local sign, before, after = text:match('^(-?)(%d+)%.?(%d*)$')
  local canonical = before and (before == '0' or before:sub(1, 1) ~= '0') and after:sub(-1) ~= '0' and
    (after ~= '' or not text:find('%.'))
  if not canonical or text == '-0' then malformed(name, 'a decimal without needless zeros') end
  return sign == '-', before, after
end

local function ordered_decimal(name, text)
  local negative, before, after = decimal_parts(name, text)
  if text == '0' then return tag.zero end
  local digits = before .. after
  local zeros = #digits:match('^0*')
  local exponent = #before - zeros
  digits = digits:sub(zeros + 1):gsub('0+$', '')
  local out = {struct.pack('>I4', exponent + 2147483648)}
  for i = 1, #digits, 2 do
    local pair = digits:sub(i, i + 1)
    if #pair == 1 then pair = pair .. '0' end
    out[#out + 1] = string.char(tonumber(pair) + 1)
  end
  out[#out + 1] = '\0'
  local bytes = table.concat(out)
  return negative and tag.negative .. complement(bytes) or tag.positive .. bytes
end

local function ordered_float(name, text)
  local number = tonumber(text)
  if not number or number ~= number or number == math.huge or number == -math.huge then malformed(name, 'a float') end
  local bytes = struct.pack('>d', number)
  if bytes:byte(1) >= 128 then return tag.float .. complement(bytes) end
  return tag.float .. string.char(bytes:byte(1) + 128) .. bytes:sub(2)
end

local function ordered_text(text)
  return tag.text .. text:gsub('%z', '\0\255') .. '\0\1'
end

local encoders = {
  bool = function(name, text)
    if text ~= 'true' and text ~= 'false' then malformed(name, 'true or false') end
    return text == 'true' and tag.yes or tag.no
  end,
  int = function(name, text) return ordered_int(whole(name, text)) end,
  float = ordered_float,
  decimal = ordered_decimal,
  text = function(_, text) return ordered_text(text) end,
  bytes = function(name, text)
    if #text % 2 == 1 or text:match('[^0-9a-f]') then malformed(name, 'bytes in hexadecimal digits') end
    return ordered_text(raw(text))
  end,
  timestamp = function(name, text) return ordered_number(timestamp_milliseconds(name, text)) end,
  date = function(name, text) return ordered_number(date_days(name, text)) end,
  uuid = function(name, text) return ordered_text(uuid_bytes(name, text)) end,
  timeuuid = function(name, text)
    local bytes = uuid_bytes(name, text)
    return ordered_text(bytes:sub(7, 8) .. bytes:sub(5, 6) .. bytes:sub(1, 4) .. bytes:sub(9))
  end,
  inet = function(name, text) return ordered_text(inet_bytes(name, text)) end,
}

-- A part of a key: of one text as it is given, of a reference by several parts as they are joined.
local function ordered(part, text)
  local bytes
  if text == nil then
    bytes = tag.absent
  elseif #part.kinds == 1 then
    bytes = encoders[part.kinds[1]](part.name, text)
  else
    local leaves = split(text)
    if #leaves ~= #part.kinds then malformed(part.name, #part.kinds .. ' parts joined with :') end
    bytes = tag.list
    for i, leaf in ipairs(leaves) do bytes = bytes .. encoders[part.kinds[i]](part.name, unescaped(leaf)) end
    bytes = bytes .. '\0'
  end
  return part.descending and complement(bytes) or bytes
end

local function joined(family, args)
  if family.plain then return args[family.key[1].name] end
  local out = {}
  for i, part in ipairs(family.key) do
    local text = args[part.name]
    out[i] = text == nil and '%-' or #part.kinds == 1 and escaped(text) or text
  end
  return table.concat(out, ':')
end

-- Of the parts that are given; absent ones of a whole key are absent.
local function bytes_of_key(family, args, count)
  local out = {}
  for i = 1, count do out[i] = ordered(family.key[i], args[family.key[i].name]) end
  return table.concat(out)
end

local function member_of(family, args)
  local bytes = bytes_of_key(family, args, #family.key)  -- which checks the parts, too
  if family.natural then return joined(family, args) end
  return hexadecimal(bytes) .. ':' .. joined(family, args)
end

-- The parts of an entry's key, from its text.
local function parts_of(family, text)
  local out = {}
  if family.plain then
    out[family.key[1].name] = text
    return out
  end
  local leaves, at = split(text), 1
  for _, part in ipairs(family.key) do
    if leaves[at] == '%-' then
      at = at + 1
    elseif #part.kinds == 1 then
      out[part.name] = unescaped(leaves[at])
      at = at + 1
    else
      out[part.name] = table.concat(leaves, ':', at, at + #part.kinds - 1)
      at = at + #part.kinds
    end
  end
  return out
end

-- Values.

local function is_json(text) return (pcall(cjson.decode, text)) end

local function check_value(column, text)
  local kind = column.kind
  if kind == 'raw' or kind == 'text' then return end
  if kind == 'json' then
    if not is_json(text) then malformed(column.name, 'JSON') end
    return
  end
  encoders[kind](column.name, text)
end

-- The sum of two decimals, digit by digit: exact.
local function digits_less(a, b)
  return #a < #b or (#a == #b and a < b)
end

local function combine(a, b, sign)
  local out, carry = {}, 0
  for i = 0, math.max(#a, #b) do
    local x = i < #a and a:byte(#a - i) - 48 or 0
    local y = i < #b and b:byte(#b - i) - 48 or 0
    local value = x + sign * y + carry
    carry = math.floor(value / 10)
    table.insert(out, 1, string.char(48 + value % 10))
  end
  return (table.concat(out):gsub('^0+(%d)', '%1'))
end

local function add_decimals(name, a, b)
  local a_negative, a_before, a_after = decimal_parts(name, a)
  local b_negative, b_before, b_after = decimal_parts(name, b)
  local places = math.max(#a_after, #b_after)
  local function aligned(before, after)
    return ((before .. after .. ('0'):rep(places - #after)):gsub('^0+(%d)', '%1'))
  end
  local x, y = aligned(a_before, a_after), aligned(b_before, b_after)
  local negative, sum = a_negative, nil
  if a_negative == b_negative then
    sum = combine(x, y, 1)
  elseif digits_less(x, y) then
    negative, sum = b_negative, combine(y, x, -1)
  else
    sum = combine(x, y, -1)
  end
  sum = ('0'):rep(places + 1 - #sum) .. sum
  local before, after = sum:sub(1, #sum - places), sum:sub(#sum - places + 1):gsub('0+$', '')
  local text = after == '' and before or before .. '.' .. after
  return negative and text ~= '0' and '-' .. text or text
end

-- Calls. Everything is checked before the first write.

local function arguments_of(family, kind, given)
  local known = {}
  for _, part in ipairs(family.key) do known[part.name] = true end
  if kind ~= 'erase' then
    for _, column in ipairs(family.columns) do
      known[column.name] = kind ~= 'append' or column.list
      if kind == 'change' then known[column.name .. '_absent'] = column.optional end
    end
  end
  if family.version and kind ~= 'insert' then known.noam_version = true end
  if #given % 2 == 1 then error({err = 'arguments are names and values'}) end
  local args = {}
  for i = 1, #given, 2 do
    if not known[given[i]] then error({err = 'unknown argument ' .. given[i]}) end
    args[given[i]] = given[i + 1]
  end
  for _, part in ipairs(family.key) do
    if args[part.name] == nil and not part.optional then error({err = 'missing ' .. part.name}) end
  end
  return args
end

local function check_columns(family, kind, args)
  for _, column in ipairs(family.columns) do
    local text = args[column.name]
    if text ~= nil then
      if kind == 'add' then
        decimal_parts(column.name, text)
      else
        check_value(column, text)
      end
      if kind == 'append' and not text:match('^%s*%[') then malformed(column.name, 'a list of elements') end
    elseif not column.optional and (kind == 'insert' or kind == 'put') then
      error({err = 'missing ' .. column.name})
    end
  end
end

local function field_of(family, field, entry)
  if family.shape == 'fields' then return field end
  if family.single then return entry end
  return field .. '[' .. entry .. ']'
end

-- One thing to do: which keys, which entry.
local function make_call(family, kind, keys, given)
  if #keys ~= family.keys then error({err = 'it takes ' .. family.keys .. ' keys'}) end
  local call = {family = family, kind = kind, args = arguments_of(family, kind, given)}
  call.hash = family.hash and keys[1] or nil
  call.order = family.shape == 'ordered' and keys[family.hash and 2 or 1] or nil
  if #family.key > 0 then
    call.member = member_of(family, call.args)
    call.entry = joined(family, call.args)
  end
  if family.version then
    call.head = family.version.other_key and keys[#keys] or keys[1]
    call.version = family.version.field
    if family.version.parts > 0 then
      local parts = {}
      for i = 1, family.version.parts do parts[i] = family.key[i] end
      local head = {key = parts, plain = family.version.plain}
      call.version = call.version .. '[' .. joined(head, call.args) .. ']'
    end
  end
  check_columns(family, kind, call.args)
  return call
end

-- Nothing where it may be done, else the answer. `heads` are the aggregates that all calls together change.
local function check_version(call, heads)
  local id = call.head .. '\0' .. call.version
  local known = heads[id]
  local current = redis.call('HGET', call.head, call.version)
  if call.kind == 'insert' then
    if current or known then return {'refused', 'exists'} end
    heads[id] = {key = call.head, field = call.version}
    heads[#heads + 1] = heads[id]
    return nil
  end
  local expected = call.args.noam_version
  if expected == nil and call.kind ~= 'append' then error({err = 'missing noam_version'}) end
  if not current then
    if not known then return {'refused', 'absent'} end
    if expected ~= nil and expected ~= '0' then return {'conflict', '0'} end
  elseif expected ~= nil and expected ~= current then
    return {'conflict', current}
  end
  if not known then
    heads[id] = {key = call.head, field = call.version}
    heads[#heads + 1] = heads[id]
  end
  if call.kind == 'erase' and call.family.head then heads[id].erased = true end
  return nil
end

local function check_call(call, heads)
  if call.version then
    local answer = check_version(call, heads)
    if answer then return answer end
  end
  return nil
end

local function erase_entry(family, hash, order, entry, member)
  for _, column in ipairs(family.columns) do redis.call('HDEL', hash, field_of(family, column.field, entry)) end
  if family.marker then redis.call('HDEL', hash, field_of(family, family.marker, entry)) end
  if order then redis.call('ZREM', order, member) end
end

local function entry_of(family, member)
  return family.natural and member or member:match('^%x*:(.*)$')
end

-- Of an ordered family with a limit, what is beyond it goes.
local function trim(call)
  local family = call.family
  if not family.limit then return end
  for _, member in ipairs(redis.call('ZRANGE', call.order, family.limit, -1)) do
    erase_entry(family, call.hash, call.order, entry_of(family, member), member)
  end
end

local function there(call)
  local family = call.family
  if family.marker then redis.call('HSET', call.hash, field_of(family, family.marker, call.entry), '1') end
  if call.order then redis.call('ZADD', call.order, 0, call.member) end
end

local writers = {}

function writers.put(call)
  for _, column in ipairs(call.family.columns) do
    local field, text = field_of(call.family, column.field, call.entry), call.args[column.name]
    if text == nil then
      redis.call('HDEL', call.hash, field)
    else
      redis.call('HSET', call.hash, field, text)
    end
  end
  there(call)
  trim(call)
end

writers.insert = writers.put

-- Of an entry that is there, the columns that are given: others stay as they are.
function writers.change(call)
  if call.order and not redis.call('ZSCORE', call.order, call.member) then return end
  for _, column in ipairs(call.family.columns) do
    local field, text = field_of(call.family, column.field, call.entry), call.args[column.name]
    if text ~= nil then
      redis.call('HSET', call.hash, field, text)
    elseif call.args[column.name .. '_absent'] then
      redis.call('HDEL', call.hash, field)
    end
  end
end

function writers.append(call)
  for _, column in ipairs(call.family.columns) do
    local text = call.args[column.name]
    if text ~= nil then
      local field = field_of(call.family, column.field, call.entry)
      local before = redis.call('HGET', call.hash, field) or '[]'
      local inner, more = before:match('^%s*%[(.-)%s*%]%s*$'), text:match('^%s*%[(.-)%s*%]%s*$')
      local between = inner:match('%S') and more:match('%S') and ',' or ''
      redis.call('HSET', call.hash, field, '[' .. inner .. between .. more .. ']')
    end
  end
end

function writers.add(call)
  local family = call.family
  for _, column in ipairs(family.columns) do
    local field, text = field_of(family, column.field, call.entry), call.args[column.name] or '0'
    local before = redis.call('HGET', call.hash, field) or '0'
    -- Doubles are near enough to tell what HINCRBY can hold; sums beyond that are exact, too.
    if column.kind == 'int' and math.abs(tonumber(before)) + math.abs(tonumber(text)) < 9.2e18 then
      redis.call('HINCRBY', call.hash, field, text)
    else
      redis.call('HSET', call.hash, field, add_decimals(column.name, before, text))
    end
  end
  there(call)
  local weight = family.weight and redis.call('HGET', call.hash, field_of(family, family.weight, call.entry))
  if weight and tonumber(weight) <= 0 then erase_entry(family, call.hash, call.order, call.entry, call.member) end
end

function writers.erase(call)
  erase_entry(call.family, call.hash, call.order, call.entry, call.member)
end

-- All of the calls, or none: then the answer names the one that stood against it.
local function run(calls)
  local heads = {}
  for _, call in ipairs(calls) do
    local answer = check_call(call, heads)
    if answer then
      if #calls > 1 then answer[3] = call.name end
      return answer
    end
  end
  for _, call in ipairs(calls) do writers[call.kind](call) end
  local answer = {'applied'}
  for _, head in ipairs(heads) do
    if head.erased then
      redis.call('HDEL', head.key, head.field)
      answer[#answer + 1] = '0'
    else
      answer[#answer + 1] = tostring(redis.call('HINCRBY', head.key, head.field, 1))
    end
  end
  return answer
end

-- What a function that fails answers: an error, with nothing written.
local function guarded(body)
  return function(keys, argv)
    local good, answer = pcall(body, keys, argv)
    if good then return answer end
    local text = type(answer) == 'table' and answer.err or tostring(answer)
    return {err = text:match('^%u+ ') and text or 'ERR ' .. text}
  end
end

local function single(name, family, kind)
  return guarded(function(keys, argv)
    local call = make_call(family, kind, keys, argv)
    call.name = name
    return run({call})
  end)
end

-- Several calls: for each the name of its function, how many keys, how many arguments, and these.
local function together()
  local function find(name)
    for _, call in ipairs(calls) do
      if call.name == name and call.kind ~= 'read' then return call end
    end
    return nil
  end
  return guarded(function(keys, argv)
    local made, key, at = {}, 1, 1
    while at <= #argv do
      local known = find(argv[at])
      local key_count, argument_count = tonumber(argv[at + 1]), tonumber(argv[at + 2])
      if not known or not key_count or not argument_count then
        error({err = 'no call: ' .. tostring(argv[at])})
      end
      local its_keys, its_arguments = {}, {}
      for i = 1, key_count do its_keys[i] = keys[key + i - 1] end
      for i = 1, argument_count do its_arguments[i] = argv[at + 2 + i] end
      local call = make_call(families[known.family], known.kind, its_keys, its_arguments)
      call.name = argv[at]
      made[#made + 1] = call
      key, at = key + key_count, at + 3 + argument_count
    end
    if key ~= #keys + 1 then error({err = 'some keys belong to no call'}) end
    return run(made)
  end)
end

-- Reading entries in the order of their keys. Parts of the key that are given are a prefix; the part after them may
-- have bounds: <part>_from and <part>_to, or, without the bound itself, <part>_after and <part>_before.

local function reading_arguments(family, given)
  local args, bounds = {}, {}
  if #given % 2 == 1 then error({err = 'arguments are names and values'}) end
  for i = 1, #given, 2 do args[given[i]] = given[i + 1] end
  local count = 0
  for i, part in ipairs(family.key) do
    local absent = args[part.name .. '_absent'] ~= nil
    if args[part.name] == nil and not absent then break end
    args[part.name .. '_absent'] = nil
    count = i
  end
  local part = family.key[count + 1]
  if part then
    for _, bound in ipairs({'from', 'after', 'to', 'before'}) do
      bounds[bound] = args[part.name .. '_' .. bound]
      args[part.name .. '_' .. bound] = nil
    end
  end
  local limit, reverse = args.noam_limit, args.noam_reverse
  args.noam_limit, args.noam_reverse = nil, nil
  for name in pairs(args) do
    local known = false
    for i = 1, count do known = known or family.key[i].name == name end
    if not known then error({err = 'unknown argument ' .. name}) end
  end
  if limit and not limit:match('^%d+$') then malformed('noam_limit', 'a number') end
  return args, count, bounds, limit and tonumber(limit) or nil, reverse ~= nil and reverse ~= '0'
end

-- The range of members, as hexadecimal digits: from `low` on, and below `high`. `g` is beyond all digits.
local function range_of(family, args, count, bounds)
  local prefix = hexadecimal(bytes_of_key(family, args, count))
  local low, high = prefix, prefix .. 'g'
  local part = family.key[count + 1]
  if not part or not next(bounds) then return low, high end
  local function at(text) return prefix .. hexadecimal(ordered(part, text)) end
  local from, after, to, before = bounds.from, bounds.after, bounds.to, bounds.before
  -- What is absent lies within no bounds.
  if part.descending then
    high = at(nil)
    if from then high = at(from) .. 'g' elseif after then high = at(after) end
    if to then low = at(to) elseif before then low = at(before) .. 'g' end
  else
    low = at(nil) .. 'g'
    if from then low = at(from) elseif after then low = at(after) .. 'g' end
    if to then high = at(to) .. 'g' elseif before then high = at(before) end
  end
  return low, high
end

local function natural_range(family, args, count, bounds)
  if count == 1 then return '[' .. args[family.key[1].name], '[' .. args[family.key[1].name] end
  local low, high = '-', '+'
  if bounds.from then low = '[' .. bounds.from elseif bounds.after then low = '(' .. bounds.after end
  if bounds.to then high = '[' .. bounds.to elseif bounds.before then high = '(' .. bounds.before end
  return low, high
end

local function read_ordered(family, order, args, count, bounds, limit, reverse)
  local low, high
  if family.natural then
    low, high = natural_range(family, args, count, bounds)
  else
    low, high = range_of(family, args, count, bounds)
    low, high = '[' .. low, '(' .. high
  end
  local command = {'ZRANGE', order, low, high, 'BYLEX'}
  if reverse then command = {'ZRANGE', order, high, low, 'BYLEX', 'REV'} end
  if limit then
    for _, word in ipairs({'LIMIT', '0', tostring(limit)}) do command[#command + 1] = word end
  end
  local entries = {}
  for i, member in ipairs(redis.call(unpack(command))) do entries[i] = entry_of(family, member) end
  return entries
end

-- Elements lie in their block's hash in no order.
local function read_elements(family, hash, args, count, bounds, limit, reverse)
  local low, high = range_of(family, args, count, bounds)
  local before = (family.marker or family.columns[1].field) .. '['
  local found = {}
  for _, field in ipairs(redis.call('HKEYS', hash)) do
    if field:sub(1, #before) == before then
      local entry = field:sub(#before + 1, -2)
      local bytes = hexadecimal(bytes_of_key(family, parts_of(family, entry), #family.key))
      if bytes >= low and bytes < high then found[#found + 1] = {bytes = bytes, entry = entry} end
    end
  end
  table.sort(found, function(a, b)
    if reverse then return a.bytes > b.bytes end
    return a.bytes < b.bytes
  end)
  local entries = {}
  for i = 1, math.min(#found, limit or #found) do entries[i] = found[i].entry end
  return entries
end

-- A list of entries, each a list of names and values; what is absent is left out.
local function reading(family)
  return guarded(function(keys, argv)
    local hash = family.hash and keys[1] or nil
    local args, count, bounds, limit, reverse = reading_arguments(family, argv)
    local entries
    if family.shape == 'ordered' then
      entries = read_ordered(family, keys[family.hash and 2 or 1], args, count, bounds, limit, reverse)
    else
      entries = read_elements(family, hash, args, count, bounds, limit, reverse)
    end
    local out = {}
    for i, entry in ipairs(entries) do
      local row, parts = {}, parts_of(family, entry)
      local function add(name, text)
        if text then
          row[#row + 1] = name
          row[#row + 1] = text
        end
      end
      for _, part in ipairs(family.key) do add(part.name, parts[part.name]) end
      for _, column in ipairs(family.columns) do
        add(column.name, redis.call('HGET', hash, field_of(family, column.field, entry)))
      end
      if family.head then add('noam_version', redis.call('HGET', hash, family.version.field .. '[' .. entry .. ']')) end
      out[i] = row
    end
    return out
  end)
end

-- While a library is loaded, Lua's own functions are not there yet.
for i = 1, #calls do
  local call = calls[i]
  if call.kind == 'read' then
    redis.register_function({
      function_name = call.name, callback = reading(families[call.family]), flags = {'no-writes'}
    })
  else
    redis.register_function(call.name, single(call.name, families[call.family], call.kind))
  end
end
redis.register_function(library .. '_together', together())
)lua";

}  // namespace noam::targets::redis
