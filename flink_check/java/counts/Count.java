package counts;

import gates.Gate;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** The running count of a key; each event keeps the operator busy for the given nanoseconds. */
public class Count extends KeyedProcessFunction implements CheckpointedFunction, CheckpointListener {
    private static final long IDLE_NS = 1000000L;
    private final long busy;
    private transient ValueState count;
    private transient long free;
    private transient long ended;

    public Count(long busy) {
        this.busy = busy;
    }

    public void open(OpenContext context) throws Exception {
        this.count = this.getRuntimeContext().getState(new ValueStateDescriptor("count", Types.LONG));
        this.free = System.nanoTime();
        this.ended = this.free;
    }

    public void processElement(Object event, KeyedProcessFunction.Context context, Collector out)
            throws Exception {
        if (this.busy > 0) this.work();
        Long old = (Long) this.count.value();
        Long next = Long.valueOf(old == null ? 1L : old.longValue() + 1L);
        this.count.update(next);
        long name = ((Long) event).longValue();
        out.collect((name % 4) + "," + (name / 4) + "," + context.getCurrentKey() + "," + next);
    }

    public void snapshotState(FunctionSnapshotContext context) {
        Gate.pass("snapshot", "checkpoint " + context.getCheckpointId());
    }

    public void initializeState(FunctionInitializationContext context) {
        Gate.pass("restore", context.isRestored() ? "restored" : "empty");
    }

    public void notifyCheckpointComplete(long id) {
        Gate.pass("informed", "checkpoint " + id);
    }

    public void notifyCheckpointAborted(long id) {}

    /** Waits until the event is done.  A wait that took too long is made good, unless the operator is idle then. */
    private void work() {
        long now = System.nanoTime();
        if (now - this.ended > IDLE_NS) this.free = Math.max(this.free, now);
        this.free += this.busy;
        while ((now = System.nanoTime()) < this.free) LockSupport.parkNanos(this.free - now);
        this.ended = now;
    }
}
