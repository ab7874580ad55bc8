package gates;

import java.io.IOException;
import org.apache.flink.core.fs.RecoverableFsDataOutputStream;
import org.apache.flink.core.fs.RecoverableWriter;

/** Of _metadata: the checkpoint becomes complete.  Of anything else: the two-phase sink commits a file. */
public class GateCommitter implements RecoverableFsDataOutputStream.Committer {
    private final RecoverableFsDataOutputStream.Committer to;
    private final String path;

    public GateCommitter(RecoverableFsDataOutputStream.Committer to, String path) {
        this.to = to;
        this.path = path;
    }

    public void commit() throws IOException {
        Gate.pass("before-" + this.point(), this.path);
        this.to.commit();
        Gate.pass("after-" + this.point(), this.path);
    }

    /** FileSink commits by this one, in normal operation as well. */
    public void commitAfterRecovery() throws IOException {
        Gate.pass("before-" + this.point(), this.path);
        this.to.commitAfterRecovery();
        Gate.pass("after-" + this.point(), this.path);
    }

    public RecoverableWriter.CommitRecoverable getRecoverable() {
        return this.to.getRecoverable();
    }

    private String point() {
        return this.path.indexOf("_metadata") >= 0 ? "complete" : "commit";
    }
}
