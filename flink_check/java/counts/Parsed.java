package counts;

import org.apache.flink.api.common.functions.MapFunction;

/** A number of a line. */
public class Parsed implements MapFunction {
    public Object map(Object line) {
        return Long.valueOf(((String) line).trim());
    }
}
