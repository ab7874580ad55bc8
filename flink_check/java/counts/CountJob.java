package counts;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;

/** Numbered events, a running count for each key, two sinks.  The arguments are NAME=VALUE, as job.py gives them. */
public class CountJob {
    public static void main(String[] words) throws Exception {
        Map named = new HashMap();
        for (int i = 0; i < words.length; i++) {
            int at = words[i].indexOf('=');
            named.put(words[i].substring(0, at), words[i].substring(at + 1));
        }
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        int sources = Integer.parseInt(text(named, "sources"));
        DataStream all = null;
        for (int i = 0; i < sources; i++) {
            Numbers numbers = new Numbers(Long.parseLong(text(named, "events")), pace(named, i));
            DataStream one;
            if (named.containsKey("port")) {
                int port = Integer.parseInt(text(named, "port"));
                DataStreamSource lines = env.socketTextStream("127.0.0.1", port);
                lines.name("source" + i).uid("source" + i).slotSharingGroup("outer");
                one = lines.map(new Parsed(), Types.LONG)
                    .setParallelism(1).uid("parsed" + i).name("parsed" + i).slotSharingGroup("outer");
            } else {
                DataStreamSource read =
                    env.fromSource(numbers, WatermarkStrategy.noWatermarks(), "source" + i, Types.LONG);
                read.setParallelism(1).uid("source" + i).slotSharingGroup("outer");
                one = read;
            }
            DataStream stream = ((SingleOutputStreamOperator) one.map(new Named(i), Types.LONG))
                .setParallelism(1).uid("named" + i).name("named" + i).slotSharingGroup("outer");
            all = all == null ? stream : all.union(new DataStream[] {stream});
        }
        SingleOutputStreamOperator counted = all
            .keyBy(new ByKey(Long.parseLong(text(named, "keys"))), Types.LONG)
            .process(new Count(Long.parseLong(text(named, "busy_ns"))), Types.STRING);
        counted.name("count").uid("count").slotSharingGroup("inner");
        counted.setParallelism(Integer.parseInt(text(named, "parallelism")));
        counted.sinkTo(new AppendSink(text(named, "folder") + "/append.csv"))
            .name("append").uid("append").slotSharingGroup("outer").setParallelism(1);
        FileSink files = FileSink
            .forRowFormat(new Path(text(named, "files")), new SimpleStringEncoder("UTF-8"))
            .withRollingPolicy(OnCheckpointRollingPolicy.build())
            .build();
        counted.sinkTo(files)
            .name("files").uid(text(named, "files_uid")).slotSharingGroup("outer").setParallelism(1);
        env.executeAsync("count");
    }

    private static Pace pace(Map named, int source) {
        if (!named.containsKey("rate")) return new Pace(text(named, "folder") + "/allowed-" + source, 0L, 0.0);
        return new Pace("", Long.parseLong(text(named, "start_ms")), Double.parseDouble(text(named, "rate")));
    }

    private static String text(Map named, String name) {
        String found = (String) named.get(name);
        if (found == null) throw new IllegalArgumentException("no argument " + name + "=");
        return found;
    }
}
