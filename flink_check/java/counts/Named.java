package counts;

import org.apache.flink.api.common.functions.MapFunction;

/** Event n of source s is the number 4 n + s. */
public class Named implements MapFunction {
    private final int source;

    public Named(int source) {
        this.source = source;
    }

    public Object map(Object number) {
        return Long.valueOf(((Long) number).longValue() * 4 + this.source);
    }
}
