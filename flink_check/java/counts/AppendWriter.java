package counts;

import java.io.FileOutputStream;
import java.io.IOException;
import org.apache.flink.api.connector.sink2.SinkWriter;

public class AppendWriter implements SinkWriter {
    private final FileOutputStream out;

    public AppendWriter(String file) throws IOException {
        this.out = new FileOutputStream(file, true);
    }

    public void write(Object row, SinkWriter.Context context) throws IOException {
        this.out.write((row + "," + System.currentTimeMillis() + "\n").getBytes("UTF-8"));
    }

    public void flush(boolean end) {}

    public void close() throws IOException {
        this.out.close();
    }
}
