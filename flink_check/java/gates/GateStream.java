package gates;

import java.io.IOException;
import org.apache.flink.core.fs.RecoverableFsDataOutputStream;
import org.apache.flink.core.fs.RecoverableWriter;

/** A file that appears when it is committed, by a GateCommitter. */
public class GateStream extends RecoverableFsDataOutputStream {
    private final RecoverableFsDataOutputStream to;
    private final String path;

    public GateStream(RecoverableFsDataOutputStream to, String path) {
        this.to = to;
        this.path = path;
    }

    public RecoverableWriter.ResumeRecoverable persist() throws IOException {
        return this.to.persist();
    }

    public RecoverableFsDataOutputStream.Committer closeForCommit() throws IOException {
        return new GateCommitter(this.to.closeForCommit(), this.path);
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
        this.to.close();
    }
}
