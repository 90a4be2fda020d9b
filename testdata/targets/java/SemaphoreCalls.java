import java.util.OptionalInt;

/** Calls of a semaphore: the right one, or one with a bug of WrongSemaphores. */
final class SemaphoreCalls implements Adapter.Calls {
    private final String bug;
    private SlotSemaphore semaphore;

    SemaphoreCalls(String bug) {
        this.bug = bug;
    }

    @Override
    public String result(String method, String call) throws Exception {
        String name = Adapter.text(call, "name");
        switch (method) {
            case "initialize":
                String url = Adapter.text(call, "url");
                semaphore = bug == null ? new SlotSemaphore(url) : WrongSemaphores.BY_BUG.get(bug).apply(url);
                return "{\"name\":\"java example" + (bug == null ? "" : ", " + bug) + "\",\"locks\":[\"semaphore\"],\"operations\":["
                        + "\"acquire\",\"verify\",\"release\",\"create\",\"add\",\"remove\",\"destroy\",\"count\",\"wait\"]}";
            case "acquire":
                OptionalInt slot = semaphore.tryAcquire(name);
                return slot.isPresent() ? "{\"held\":true,\"slot\":" + slot.getAsInt() + "}" : "{\"held\":false}";
            case "verify":
                return "{\"held\":" + semaphore.isHeld(name, Adapter.number(call, "slot")) + "}";
            case "count":
                return "{\"slots\":" + semaphore.count(name) + "}";
            default:
                return change(method, name, call) ? "{}" : null;
        }
    }

    /** Carries out a call that answers nothing: false if there is no such call. */
    private boolean change(String method, String name, String call) throws Exception {
        switch (method) {
            case "release" -> semaphore.release(name, Adapter.number(call, "slot"));
            case "create" -> semaphore.create(name, Adapter.number(call, "slots"));
            case "add" -> semaphore.add(name, Adapter.number(call, "slots"));
            case "remove" -> semaphore.remove(name, Adapter.number(call, "slots"));
            case "destroy" -> semaphore.destroy(name);
            case "wait" -> semaphore.awaitFree(name, Adapter.number(call, "slot"));
            default -> {
                return false;
            }
        }
        return true;
    }
}
