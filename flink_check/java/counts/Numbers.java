package counts;

import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;

/** The numbers 0, 1, 2, ... at a pace, read by one reader, which a checkpoint takes back to where it was. */
public class Numbers extends NumberSequenceSource {
    private final Pace pace;

    public Numbers(long numbers, Pace pace) {
        super(0L, numbers - 1L);
        this.pace = pace;
    }

    public SourceReader createReader(SourceReaderContext context) {
        return new NumbersReader(context, this.pace);
    }
}
