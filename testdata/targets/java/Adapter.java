import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The adapter: calls of lockproof, one a line on standard input, become calls of a lock.
 *
 * <p>Usage: Adapter MUTEX, a class in Mutexes or WrongMutexes, or Adapter semaphore [BUG], a bug in WrongSemaphores.
 */
final class Adapter {
    private static final int FAILED = -32000; // this certainly had no effect
    private static final int UNKNOWN = -32603; // it may have happened
    private static final int NO_SUCH_METHOD = -32601;

    /** What calls come to: a result, or null if there is no such method. */
    interface Calls {
        String result(String method, String call) throws Exception;
    }

    private Adapter() {}

    public static void main(String[] args) throws IOException {
        Calls calls = args[0].equals("semaphore")
                ? new SemaphoreCalls(args.length > 1 ? args[1] : null) : new MutexCalls(args[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            System.out.println("{\"jsonrpc\":\"2.0\",\"id\":" + text(line, "id") + "," + answer(calls, line) + "}");
        }
        Runtime.getRuntime().halt(0); // the end of input means stop, releasing nothing
    }

    private static String answer(Calls calls, String call) {
        try {
            String result = calls.result(text(call, "method"), call);
            return result == null ? error(NO_SUCH_METHOD, "no such method") : "\"result\":" + result;
        } catch (SlotSemaphore.BusyException e) {
            return error(FAILED, e.getMessage());
        } catch (Exception e) {
            return error(UNKNOWN, e.toString());
        }
    }

    private static String error(int code, String message) {
        return "\"error\":{\"code\":" + code + ",\"message\":\"" + message.replaceAll("[\\\\\"\\p{Cntrl}]", " ") + "\"}";
    }

    /** The value of a field, which is a number or a string: calls have no others but options, which are not used. */
    static String text(String call, String key) {
        Matcher m = Pattern.compile("\"" + key + "\"\\s*:\\s*(?:\"([^\"\\\\]*)\"|(-?\\d+))").matcher(call);
        if (!m.find()) {
            return null;
        }
        return m.group(1) != null ? m.group(1) : m.group(2);
    }

    static int number(String call, String key) {
        return Integer.parseInt(text(call, key));
    }
}
