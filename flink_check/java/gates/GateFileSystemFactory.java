package gates;

import java.net.URI;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemFactory;

/** Of addresses gate:///... */
public class GateFileSystemFactory implements FileSystemFactory {
    public String getScheme() {
        return "gate";
    }

    public FileSystem create(URI uri) {
        return new GateFileSystem();
    }
}
