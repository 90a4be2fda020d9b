"""Libraries of Python, each behind the same few lines: locks.py LIBRARY. Each tries once, and is used with its defaults."""

import logging
from urllib.parse import quote, urlsplit

from serve import serve

logging.disable()


def redis_py(url):
    import redis

    client = redis.Redis.from_url(url)

    def acquire(name, ttl):
        lock = client.lock(name, timeout=ttl / 1000)
        return lock.release if lock.acquire(blocking=False) else None

    return acquire


def owning(act):
    """Does something about a lock, and says whether it was still its own."""
    import redis

    try:
        return act()
    except redis.exceptions.LockNotOwnedError:
        return False


def redis_py_extends(url):
    import redis

    client = redis.Redis.from_url(url)

    def acquire(name, ttl):
        lock = client.lock(name, timeout=ttl / 1000)
        extend = lambda ttl: owning(lambda: lock.extend(ttl / 1000, replace_ttl=True))
        return (lock.release, extend) if lock.acquire(blocking=False) else None

    return acquire


def redis_py_renews(url):
    """A lock whose holder asks for it again, for as long as at first."""
    import redis

    client = redis.Redis.from_url(url)

    def acquire(name, ttl):
        lock = client.lock(name, timeout=ttl / 1000)
        return (lock.release, lambda _: owning(lock.reacquire)) if lock.acquire(blocking=False) else None

    return acquire


def django_redis(url):
    import django
    from django.conf import settings

    settings.configure(CACHES={"default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": url}})
    django.setup()
    from django.core.cache import cache

    def acquire(name, ttl):
        lock = cache.lock(name, timeout=ttl / 1000)
        return lock.release if lock.acquire(blocking=False) else None

    return acquire


def redis_py_reacquires(url):
    """A lock without an end, whose holder asks for it again."""
    import redis

    client = redis.Redis.from_url(url)

    def acquire(name, _):
        lock = client.lock(name, timeout=0)
        return (lock.release, lock.reacquire) if lock.acquire(blocking=False) else None

    return acquire


def tooz(url, **options):
    from tooz import coordination

    query = "&".join(f"{k}={v}" for k, v in options.items())
    coordinator = coordination.get_coordinator(f"{url}?{query}", b"member")
    coordinator.start()

    def acquire(name, _):
        lock = coordinator.get_lock(name.encode())
        return lock.release if lock.acquire(blocking=False) else None

    return acquire


def tooz_redis(url):
    return tooz(url.removesuffix("/0"), lock_timeout=30)


def tooz_postgres(url):
    at = urlsplit(url)
    return tooz(f"postgresql://{at.username}@{at.hostname}:{at.port}", dbname=at.path[1:])


def tooz_mysql(url):
    at = urlsplit(url)
    return tooz(f"mysql://{at.username}:@{at.hostname}:{at.port}{at.path}")


def etcd3(url):
    import etcd3

    at = urlsplit(url)
    client = etcd3.client(host=at.hostname, port=at.port)

    def acquire(name, ttl):
        lock = client.lock(name, ttl=ttl // 1000)
        return lock.release if lock.acquire(timeout=0) else None

    return acquire


def kazoo(url, make):
    from kazoo.client import KazooClient

    client = KazooClient(hosts=urlsplit(url).netloc, timeout=40)  # a ping in 13 s: in every audit half an hour passes
    client.start()

    def acquire(name, _):
        lock = make(client, "/lock-" + quote(name, safe=""))
        return lock.release if lock.acquire(blocking=False) else None

    return acquire


def kazoo_lock(url):
    return kazoo(url, lambda client, path: client.Lock(path))


def kazoo_semaphore(url):
    return kazoo(url, lambda client, path: client.Semaphore(path, max_leases=1))


serve({
    "redis-py": (redis_py, True),
    "redis-py-extends": (redis_py_extends, True, "extend"),
    "redis-py-renews": (redis_py_renews, True, "extend"),
    "redis-py-reacquires": (redis_py_reacquires, False, "verify"),
    "django-redis": (django_redis, True),
    "tooz-redis": (tooz_redis, True),
    "tooz-postgres": (tooz_postgres, False),
    "tooz-mysql": (tooz_mysql, False),
    "etcd3": (etcd3, True),
    "kazoo-lock": (kazoo_lock, False),
    "kazoo-semaphore": (kazoo_semaphore, False),
})
