package gates;

import java.io.IOException;
import org.apache.flink.core.fs.FSDataOutputStream;

/** A file of state: the gate "state" is before it is closed. */
public class GateFile extends FSDataOutputStream {
    private final FSDataOutputStream to;
    private final String path;

    public GateFile(FSDataOutputStream to, String path) {
        this.to = to;
        this.path = path;
    }

    public long getPos() throws IOException {
        return this.to.getPos();
    }

    public void write(int b) throws IOException {
        this.to.write(b);
    }

    public void write(byte[] b, int off, int len) throws IOException {
        this.to.write(b, off, len);
    }

    public void flush() throws IOException {
        this.to.flush();
    }

    public void sync() throws IOException {
        this.to.sync();
    }

    public void close() throws IOException {
        Gate.pass("state", this.path);
        this.to.close();
    }
}
