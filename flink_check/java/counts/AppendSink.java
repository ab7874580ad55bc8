package counts;

import java.io.IOException;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/** A sink that appends each row at once, with the time in milliseconds: at least once. */
public class AppendSink implements Sink {
    private final String file;

    public AppendSink(String file) {
        this.file = file;
    }

    public SinkWriter createWriter(WriterInitContext context) throws IOException {
        return new AppendWriter(this.file);
    }
}
