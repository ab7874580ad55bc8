package counts;

import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;

/** Which numbers exist by now: those below the number in a file, or those that are due by the clock. */
public class Pace implements Serializable {
    private final String file;
    private final long start;
    private final double rate;

    /** file: of the allowance, "" for the clock, by which number n is due at start (ms) + n / rate (1/s). */
    public Pace(String file, long start, double rate) {
        this.file = file;
        this.start = start;
        this.rate = rate;
    }

    /** The milliseconds until it is worth while to ask for the number again; 0: it exists. */
    public long missing(long number) throws IOException {
        if (this.file.length() > 0) return number < this.allowed() ? 0L : 2L;
        double due = this.start + 1000.0 * number / this.rate - System.currentTimeMillis();
        return due <= 0 ? 0L : (long) Math.ceil(due);
    }

    private long allowed() throws IOException {
        Path path = Paths.get(this.file, new String[0]);
        try {
            return Long.parseLong(new String(Files.readAllBytes(path), StandardCharsets.UTF_8).trim());
        } catch (NoSuchFileException e) {
            return 0L;
        }
    }
}
