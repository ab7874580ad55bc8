package counts;

import org.apache.flink.api.java.functions.KeySelector;

/** The key of an event: its number modulo the number of keys, whatever its source. */
public class ByKey implements KeySelector {
    private final long keys;

    public ByKey(long keys) {
        this.keys = keys;
    }

    public Object getKey(Object event) {
        return Long.valueOf(((Long) event).longValue() / 4 % this.keys);
    }
}
