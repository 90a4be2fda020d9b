package redis

// Script is the Lua text of a script, and "" for a Redis command. KEYS[1] is the lock's key. ARGV are the attempt's ID,
// its priority, the lease in milliseconds, 1 or 0 for Equal and for Keep, and the IDs in Also.
func (m Method) Script() string { return scripts[m] }

// live is the beginning of the repaired protocol's scripts: it finds the claims whose leases have not ended. The lease
// of a claim is a separate key, since Redis can expire keys, but not parts of a value.
const live = `
local live, top = {}, nil
for id, p in string.gmatch(redis.call('GET', KEYS[1]) or '', '(%S+):(%d+)') do
  if redis.call('EXISTS', KEYS[1] .. '.' .. id) == 1 then
    top = top or {id, tonumber(p)}
    live[#live + 1] = id .. ':' .. p
  end
end
`

var scripts = [methods]string{
	Steal: `
local was = redis.call('GET', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
local mine, lease = tonumber(ARGV[2]), tonumber(ARGV[3])
if was then
  local p = tonumber(string.match(was, ':(%d+)$'))
  if p > mine or (p == mine and ARGV[4] == '0') then return {0, was} end
  if ARGV[5] == '1' and left > lease then lease = left end
end
redis.call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[2], 'PX', lease)
return {1, was or ''}`,
	Release: `
local was = redis.call('GET', KEYS[1])
if not was or string.match(was, '^(.*):%d+$') ~= ARGV[1] then return {0, ''} end
redis.call('DEL', KEYS[1])
return {1, ''}`,
	Extend: `
local was = redis.call('GET', KEYS[1])
if not was or string.match(was, '^(.*):%d+$') ~= ARGV[1] then return {0, ''} end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {1, ''}`,
	Claiming: live + `
local mine, lease = tonumber(ARGV[2]), tonumber(ARGV[3])
local rest = table.concat(live, ' ')
if top and top[2] >= mine then return {0, rest} end
redis.call('SET', KEYS[1] .. '.' .. ARGV[1], '1', 'PX', lease)
local left = redis.call('PTTL', KEYS[1])
table.insert(live, 1, ARGV[1] .. ':' .. ARGV[2])
redis.call('SET', KEYS[1], table.concat(live, ' '), 'PX', math.max(lease, left))
return {1, rest}`,
	Unclaim: `
local was = redis.call('DEL', KEYS[1] .. '.' .. ARGV[1])
for i = 6, #ARGV do redis.call('DEL', KEYS[1] .. '.' .. ARGV[i]) end` + live + `
if #live == 0 then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], table.concat(live, ' '), 'KEEPTTL') end
return {was, ''}`,
	Prolong: live + `
if not top or top[1] ~= ARGV[1] then return {0, ''} end
redis.call('PEXPIRE', KEYS[1] .. '.' .. ARGV[1], ARGV[3])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return {1, ''}`,
	Look: live + `
return {1, table.concat(live, ' ')}`,
}
