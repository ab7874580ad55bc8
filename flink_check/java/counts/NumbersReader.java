package counts;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.core.io.InputStatus;

/** Reads the one split of Numbers.  It never blocks its task: a marker does not wait for the next number. */
public class NumbersReader implements SourceReader {
    private final SourceReaderContext context;
    private final Pace pace;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    private CompletableFuture available = new CompletableFuture();
    private String split;
    private long next;
    private long last;
    private boolean atEnd;

    public NumbersReader(SourceReaderContext context, Pace pace) {
        this.context = context;
        this.pace = pace;
    }

    public void start() {
        if (this.split == null) this.context.sendSplitRequest();
    }

    public InputStatus pollNext(ReaderOutput output) throws Exception {
        if (this.split == null) return this.atEnd ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
        long wait = this.pace.missing(this.next);
        if (wait > 0) {
            this.available = new CompletableFuture();
            this.clock.schedule(new Completion(this.available), wait, TimeUnit.MILLISECONDS);
            return InputStatus.NOTHING_AVAILABLE;
        }
        output.collect(Long.valueOf(this.next));
        if (this.next == this.last) {
            this.split = null;
            this.available = new CompletableFuture();
            this.context.sendSplitRequest();
            return InputStatus.NOTHING_AVAILABLE;
        }
        this.next++;
        return InputStatus.MORE_AVAILABLE;
    }

    public CompletableFuture isAvailable() {
        return this.available;
    }

    public List snapshotState(long checkpoint) {
        if (this.split == null) return Collections.EMPTY_LIST;
        return Collections.singletonList(
            new NumberSequenceSource.NumberSequenceSplit(this.split, this.next, this.last));
    }

    public void addSplits(List splits) {
        NumberSequenceSource.NumberSequenceSplit one = (NumberSequenceSource.NumberSequenceSplit) splits.get(0);
        this.split = one.splitId();
        this.next = one.from();
        this.last = one.to();
        this.available.complete(null);
    }

    public void notifyNoMoreSplits() {
        this.atEnd = true;
        this.available.complete(null);
    }

    public void close() {
        this.clock.shutdownNow();
    }
}
