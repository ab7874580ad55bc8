package gates;

import java.io.IOException;
import java.net.URI;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.core.fs.local.LocalRecoverableWriter;

/** The local file system under gate:///..., with points at which it can be held. */
public class GateFileSystem extends LocalFileSystem {
    public URI getUri() {
        return URI.create("gate:///");
    }

    public FSDataOutputStream create(Path path, FileSystem.WriteMode mode) throws IOException {
        return new GateFile(super.create(path, mode), path.toString());
    }

    public LocalRecoverableWriter createRecoverableWriter() {
        return new GateWriter(this);
    }
}
