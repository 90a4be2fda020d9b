package plugin

import (
	"regexp"
	"strings"

	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/redis/resp"
	"github.com/lockproof/lockproof/model/backend"
)

// passing are commands that do not affect other clients. They pass the gate without waiting.
var passing = words("HELLO AUTH PING ECHO SELECT COMMAND INFO READONLY READWRITE SCRIPT|LOAD SCRIPT|EXISTS CLIENT|SETNAME CLIENT|SETINFO " +
	"CLIENT|GETNAME CLIENT|ID CLIENT|INFO CLIENT|NO-EVICT CLIENT|NO-TOUCH CLIENT|TRACKINGINFO LOLWUT ACL|WHOAMI")

// reading are commands that change no key.
var reading = words("GET MGET EXISTS TTL PTTL EXPIRETIME PEXPIRETIME TYPE STRLEN GETRANGE LLEN LRANGE LINDEX LPOS HGET HMGET HGETALL HEXISTS HKEYS " +
	"HVALS HLEN SCARD SMEMBERS SISMEMBER SMISMEMBER ZCARD ZCOUNT ZRANK ZREVRANK ZSCORE ZMSCORE ZRANGE ZRANGEBYSCORE ZREVRANGE " +
	"XLEN XRANGE XREAD KEYS SCAN HSCAN SSCAN ZSCAN TIME DBSIZE RANDOMKEY OBJECT MULTI DISCARD WATCH UNWATCH EVAL_RO EVALSHA_RO " +
	"FCALL_RO SUBSCRIBE PSUBSCRIBE SSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE SUNSUBSCRIBE WAIT PUBSUB")

// making are the commands whose access is [backend.Create], and deleting those whose access is [backend.Delete].
var (
	making   = words("SET SETNX SETEX PSETEX MSET MSETNX HSET HSETNX SADD ZADD LPUSH RPUSH INCR INCRBY XADD")
	deleting = words("DEL UNLINK GETDEL HDEL SREM ZREM LPOP RPOP FLUSHALL FLUSHDB EXPIRE PEXPIRE")
)

// options are arguments that select a variant of a command. They are shown unchanged.
var options = words("NX XX PX EX EXAT PXAT GET KEEPTTL CH INCR LT GT WITHSCORES LIMIT MATCH COUNT BLOCK STREAMS LEFT RIGHT BEFORE AFTER REV BYSCORE " +
	"BYLEX -INF +INF INF TYPE ASYNC SYNC LOAD FLUSH EXISTS IDLE FORCE JUSTID MAXLEN MINID ON OFF SKIP GROUP")

// words splits a text into a set of words.
func words(all string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(all) {
		set[w] = true
	}
	return set
}

// nameOf returns a command's name and, for a command with subcommands, the subcommand.
func nameOf(args []string) string {
	name := strings.ToUpper(args[0])
	switch name {
	case "CLIENT", "SCRIPT", "ACL", "CONFIG", "FUNCTION", "XGROUP", "OBJECT":
		if len(args) > 1 {
			name += "|" + strings.ToUpper(args[1])
		}
	}
	return name
}

// accessOf returns how a command accesses its key.
func accessOf(name string) backend.Access {
	switch {
	case reading[name]:
		return backend.Read
	case making[name]:
		return backend.Create
	case deleting[name]:
		return backend.Delete
	}
	return backend.Opaque
}

// keyless are commands whose first argument is not a key.
var keyless = words("MULTI EXEC DISCARD UNWATCH TIME DBSIZE KEYS SCAN PUBLISH SPUBLISH SUBSCRIBE PSUBSCRIBE SSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE " +
	"SUNSUBSCRIBE FLUSHALL FLUSHDB WAIT QUIT RESET RANDOMKEY XREAD XREADGROUP")

// keyAt returns the index of the first key among a command's arguments; 0 if it has no key.
func keyAt(name string, args []string) int {
	switch {
	case strings.HasPrefix(name, "EVAL"), strings.HasPrefix(name, "FCALL"):
		if len(args) > 3 && args[2] != "0" {
			return 3
		}
		return 0
	case strings.Contains(name, "|"), keyless[name], len(args) < 2:
		return 0
	}
	return 1
}

// shown returns a command as traces show it.
func shown(name string, args []string, n *stream.Names) string {
	key := keyAt(name, args)
	out := []string{strings.ReplaceAll(name, "|", " ")}
	for i := 1 + strings.Count(name, "|"); i < len(args); i++ {
		switch {
		case i == 1 && (strings.HasPrefix(name, "EVALSHA")):
			out = append(out, "script "+args[i][:min(8, len(args[i]))])
		case i == 1 && strings.HasPrefix(name, "EVAL"):
			out = append(out, "script "+digest(args[i])[:8])
		case i == key:
			out = append(out, n.Item(args[i]))
		default:
			out = append(out, plain(args[i], n))
		}
	}
	return strings.Join(out, " ")
}

var (
	number    = regexp.MustCompile(`^[(\[]?[-+]?\d{1,10}$`)
	printable = regexp.MustCompile(`^[!-~ ]{0,80}$`)
)

// plain returns a text as traces show it. It does not change numbers, options and names that contain a lock's name.
// It replaces a value that a client has made up by a number.
func plain(text string, n *stream.Names) string {
	switch {
	case text == "":
		return `""`
	case number.MatchString(text), options[strings.ToUpper(text)]:
		return text
	case n.Own(text) && printable.MatchString(n.Item(text)):
		return n.Item(text)
	}
	return n.Value(text)
}

// said returns a reply as traces show it.
func said(v resp.Value, n *stream.Names) string {
	switch {
	case v.Null:
		return "nil"
	case v.Kind == '+':
		return string(v.Text)
	case v.Kind == '-' || v.Kind == '!':
		return failure(string(v.Text))
	case v.Items != nil || v.Kind == '*':
		var all []string
		for i, item := range v.Items {
			if i == mostShown {
				all = append(all, "…")
				break
			}
			all = append(all, said(item, n))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	return plain(string(v.Text), n)
}

// mostShown is the maximum number of elements of a reply that traces show.
const mostShown = 6

// failure returns an error as traces show it: its code, which is the first word. A short error with the code ERR is
// shown in full.
func failure(text string) string {
	word, rest, _ := strings.Cut(text, " ")
	if word == "ERR" && len(rest) < mostOfError {
		return text
	}
	return word
}

// mostOfError is the length in bytes below which an error with the code ERR is shown in full. The code itself does
// not count.
const mostOfError = 60

// resultOf returns the result that a reply to the named command means, for example a refusal.
func resultOf(name string, v resp.Value) backend.Result {
	switch {
	case v.Kind == '-' || v.Kind == '!':
		return backend.Wrong
	case v.Null && making[name]:
		return backend.Refused
	case v.Null:
		return backend.Absent
	case v.Kind == ':' && string(v.Text) == "0" && deleting[name]:
		return backend.Absent
	case v.Kind == ':' && string(v.Text) == "0" && making[name]:
		return backend.Refused
	}
	return backend.Done
}
