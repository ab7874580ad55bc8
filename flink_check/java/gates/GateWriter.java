package gates;

import java.io.IOException;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.RecoverableFsDataOutputStream;
import org.apache.flink.core.fs.RecoverableWriter;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.core.fs.local.LocalRecoverableWriter;

/** Writes files that appear when they are committed: those of a two-phase sink, and _metadata. */
public class GateWriter extends LocalRecoverableWriter {
    public GateWriter(LocalFileSystem files) {
        super(files);
    }

    public RecoverableFsDataOutputStream open(Path path) throws IOException {
        return new GateStream(super.open(path), path.toString());
    }

    public RecoverableFsDataOutputStream recover(RecoverableWriter.ResumeRecoverable from) throws IOException {
        return new GateStream(super.recover(from), from.toString());
    }

    public RecoverableFsDataOutputStream.Committer recoverForCommit(RecoverableWriter.CommitRecoverable from)
            throws IOException {
        return new GateCommitter(super.recoverForCommit(from), from.toString());
    }
}
