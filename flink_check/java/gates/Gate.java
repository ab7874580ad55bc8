package gates;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;

/** A named point: while the file hold-POINT exists, a thread that comes by notes it in at-POINT and waits. */
public class Gate {
    private static final String FOLDER = System.getProperty("flink_check.gates", "");

    /** Passes the point.  what: the checkpoint, the file, or whatever names the place; null: the thread. */
    public static void pass(String point, String what) {
        if (FOLDER.length() == 0) return;
        File hold = new File(FOLDER, "hold-" + point);
        if (!hold.exists()) return;
        String place = what == null ? Thread.currentThread().getName() : what;
        String line = System.currentTimeMillis() + " " + ProcessHandle.current().pid() + " " + place + "\n";
        try {
            FileOutputStream out = new FileOutputStream(new File(FOLDER, "at-" + point), true);
            out.write(line.getBytes("UTF-8"));
            out.close();
            while (hold.exists()) Thread.sleep(2L);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RuntimeException(e);
        } catch (IOException e) {
            throw new RuntimeException(e);
        }
    }
}
