import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The adapter: calls of lockproof, one a line on standard input, become calls of a mutex.
 *
 * <p>Usage: Adapter MUTEX, a class in Mutexes or WrongMutexes.
 */
final class Adapter {
    private static final int UNKNOWN = -32603; // it may have happened
    private static final int NO_SUCH_METHOD = -32601;

    private final String design;
    private Mutex mutex;

    private Adapter(String design) {
        this.design = design;
    }

    public static void main(String[] args) throws IOException {
        Adapter adapter = new Adapter(args[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            System.out.println("{\"jsonrpc\":\"2.0\",\"id\":" + field(line, "id") + "," + adapter.answer(line) + "}");
        }
        Runtime.getRuntime().halt(0); // the end of input means stop, releasing nothing
    }

    private String answer(String call) {
        try {
            String result = result(call);
            return result == null ? error(NO_SUCH_METHOD, "no such method") : "\"result\":" + result;
        } catch (Exception e) {
            return error(UNKNOWN, e.toString());
        }
    }

    private String result(String call) throws Exception {
        String name = field(call, "name");
        switch (field(call, "method")) {
            case "initialize":
                mutex = make(field(call, "url"));
                return "{\"name\":\"java example, " + design + "\",\"locks\":[\"mutex\"],"
                        + "\"operations\":[\"acquire\",\"verify\",\"release\"],\"timeouts\":true}";
            case "acquire":
                String timeout = field(call, "timeout");
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

    private static String error(int code, String message) {
        return "\"error\":{\"code\":" + code + ",\"message\":\"" + message.replaceAll("[\\\\\"\\p{Cntrl}]", " ") + "\"}";
    }

    /** The value of a field, which is a number or a string: calls have no others but options, which are not used. */
    private static String field(String call, String key) {
        Matcher m = Pattern.compile("\"" + key + "\"\\s*:\\s*(?:\"([^\"\\\\]*)\"|(-?\\d+))").matcher(call);
        if (!m.find()) {
            return null;
        }
        return m.group(1) != null ? m.group(1) : m.group(2);
    }
}
