<?php
// Lock libraries of PHP, each behind the same few lines: php locks.php LIBRARY [shared]. Each tries once, or for as long as its lease. A
// store is one of Symfony's Lock component. Its leases are extended, and with shared its locks are taken to read and to write.

require 'Symfony/Component/Lock/autoload.php';

use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Exception\LockExpiredException;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store;

const NO_SUCH_METHOD = -32601;
const UNKNOWN = -32603; // it may have happened

// connect makes a client of a server, which connects again where its connection was lost.
function connect(string $url): Redis
{
    $at = parse_url($url);
    $redis = new Redis();
    $redis->connect($at['host'], $at['port']);

    return $redis;
}

// database is the connection to a database.
function database(string $kind, string $url): PDO
{
    $at = parse_url($url);
    $pdo = new PDO("$kind:host={$at['host']};port={$at['port']};dbname=".substr($at['path'], 1), $at['user'], '');
    $pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);

    return $pdo;
}

// table is a store with a table, which is made where it is not there.
function table(PDO $pdo): Store\PdoStore
{
    $store = new Store\PdoStore($pdo);
    try {
        $store->createTable();
    } catch (Exception $e) {
        // somebody else has made it
    }

    return $store;
}

// Held is a lock that another library's object holds.
final class Held
{
    public function __construct(private Closure $acquires, private Closure $releases)
    {
    }

    public function acquire(): bool
    {
        return ($this->acquires)();
    }

    public function release(): void
    {
        ($this->releases)();
    }
}

// malkusch is a mutex that calls a function while it holds the lock: the call stands still until the lock is given back.
function malkusch(malkusch\lock\mutex\Mutex $mutex): Held
{
    $call = new Fiber(fn () => $mutex->synchronized(fn () => Fiber::suspend()));

    return new Held(function () use ($call) {
        try {
            $call->start();
        } catch (malkusch\lock\exception\TimeoutException $e) {
            return false;
        }

        return true;
    }, fn () => $call->resume());
}

// laravel is a lock of Laravel's cache.
function laravel(Illuminate\Cache\Lock $lock): Held
{
    return new Held(fn () => $lock->get(), fn () => $lock->release());
}

// laravelDatabase is a connection with the table that Laravel's migration makes.
function laravelDatabase(PDO $pdo): Illuminate\Database\Connection
{
    $pdo->exec('CREATE TABLE IF NOT EXISTS cache_locks ("key" varchar(255) PRIMARY KEY, owner varchar(255) NOT NULL, expiration integer NOT NULL)');

    return new Illuminate\Database\PostgresConnection($pdo);
}

// Makers of a lock by its name and its lease in seconds, each of the servers' addresses, and whether it has leases.
$others = [
    'malkusch-redis' => [fn ($urls) => fn ($name, $ttl) => malkusch(new malkusch\lock\mutex\PHPRedisMutex(array_map('connect', $urls), $name, $ttl)), true],
    'malkusch-mysql' => [fn ($urls) => fn ($name) => malkusch(new malkusch\lock\mutex\MySQLMutex(database('mysql', $urls[0]), substr(sha1($name), 0, 20))), false],
    'laravel-redis' => [fn ($urls) => fn ($name, $ttl) => laravel(new Illuminate\Cache\RedisLock(
        new Illuminate\Redis\Connections\PhpRedisConnection(connect($urls[0])), $name, $ttl
    )), true],
    'laravel-database' => [fn ($urls) => fn ($name, $ttl) => laravel(new Illuminate\Cache\DatabaseLock(
        laravelDatabase(database('pgsql', $urls[0])), 'cache_locks', $name, $ttl
    )), true],
];

// A store, whether its locks have leases, and whether it is made for each lock: one on a database does not connect again.
$stores = [
    'redis' => [fn ($urls) => new Store\RedisStore(connect($urls[0])), true, false],
    'combined-redis' => [fn ($urls) => new Store\CombinedStore(
        array_map(fn ($url) => new Store\RedisStore(connect($url)), $urls),
        new Symfony\Component\Lock\Strategy\ConsensusStrategy()
    ), true, false],
    'postgresql' => [fn ($urls) => new Store\PostgreSqlStore(database('pgsql', $urls[0])), false, true],
    'pdo-postgres' => [fn ($urls) => table(database('pgsql', $urls[0])), true, true],
    'pdo-mariadb' => [fn ($urls) => table(database('mysql', $urls[0])), true, true],
];

if ($other = $others[$argv[1]] ?? null) {
    require 'Malkusch/Lock/autoload.php';
    require 'Illuminate/Cache/autoload.php';
    require 'Illuminate/Redis/autoload.php';
    require 'Illuminate/Database/autoload.php';
    [$make, $leases] = $other;
    $each = true;
} else {
    [$make, $leases, $each] = $stores[$argv[1]];
}
$factory = null;
$urls = [];
$held = [];
$shared = 'shared' === ($argv[2] ?? '');

$methods = [
    'initialize' => function (array $p) use (&$factory, &$urls, $make, $leases, $each, $argv, $other, $shared) {
        $urls = $p['urls'] ?? [$p['url']];
        $factory = $each ? null : new LockFactory($make($urls));
        $operations = array_merge(['acquire', 'release'], $leases && !$other && !$shared ? ['extend'] : []);

        return ['name' => implode(' ', array_slice($argv, 1)), 'locks' => ['mutex'], 'operations' => $operations, 'leases' => $leases, 'modes' => $shared];
    },
    'acquire' => function (array $p) use (&$factory, &$held, &$urls, $make, $leases, $other) {
        $lock = $other ? $make($urls)($p['name'], intdiv($p['ttl'] ?? 0, 1000)) : ($factory ?? new LockFactory($make($urls)))->createLock($p['name'], $leases ? $p['ttl'] / 1000 : null, false);
        if (!('read' === ($p['mode'] ?? '') ? $lock->acquireRead(false) : $lock->acquire(false))) {
            return ['held' => false];
        }
        $held[$p['name']] = $lock;

        return ['held' => true, 'slot' => 1];
    },
    'extend' => function (array $p) use (&$held) {
        try {
            $lock = $held[$p['name']] ?? null;
            $lock?->refresh($p['ttl'] / 1000);

            return ['held' => null !== $lock];
        } catch (LockConflictedException|LockExpiredException $e) {
            return ['held' => false];
        }
    },
    'release' => function (array $p) use (&$held) {
        $lock = $held[$p['name']] ?? null;
        unset($held[$p['name']]);
        if ($lock) {
            $lock->release();
        }

        return new stdClass();
    },
];

error_reporting(0);
while ($line = fgets(STDIN)) {
    $call = json_decode($line, true);
    $method = $methods[$call['method']] ?? null;
    try {
        $answer = $method ? ['result' => $method($call['params'])] : ['error' => ['code' => NO_SUCH_METHOD, 'message' => 'no such method']];
    } catch (Throwable $e) {
        $answer = ['error' => ['code' => UNKNOWN, 'message' => get_class($e).': '.$e->getMessage()]];
    }
    fwrite(STDOUT, json_encode(['jsonrpc' => '2.0', 'id' => $call['id']] + $answer)."\n");
}
posix_kill(posix_getpid(), SIGKILL); // the end of input means stop, releasing nothing
