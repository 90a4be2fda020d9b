import java.util.concurrent.TimeUnit;

/** Calls of a mutex, a class in Mutexes or WrongMutexes. */
final class MutexCalls implements Adapter.Calls {
    private final String design;
    private Mutex mutex;

    MutexCalls(String design) {
        this.design = design;
    }

    @Override
    public String result(String method, String call) throws Exception {
        String name = Adapter.text(call, "name");
        switch (method) {
            case "initialize":
                mutex = make(Adapter.text(call, "url"));
                return "{\"name\":\"java example, " + design + "\",\"locks\":[\"mutex\"],"
                        + "\"operations\":[\"acquire\",\"verify\",\"release\"],\"timeouts\":true}";
            case "acquire":
                String timeout = Adapter.text(call, "timeout");
                boolean got = timeout == null
                        ? mutex.tryLock(name) : mutex.tryLock(name, Long.parseLong(timeout), TimeUnit.MILLISECONDS);
                return got ? "{\"held\":true,\"slot\":1}" : "{\"held\":false}";
            case "verify":
                return "{\"held\":" + mutex.isHeld(name) + "}";
            case "release":
                mutex.unlock(name);
                return "{}";
            default:
                return null;
        }
    }

    private Mutex make(String url) throws ReflectiveOperationException {
        Class<?> type;
        try {
            type = Class.forName("Mutexes$" + design);
        } catch (ClassNotFoundException e) {
            type = Class.forName("WrongMutexes$" + design);
        }
        return (Mutex) type.getDeclaredConstructor(String.class).newInstance(url);
    }
}
